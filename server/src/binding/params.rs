//! Edits of a list of parameters that keep its comments, line breaks and attributes.

use ide::edit::{Edits, line_break};
use syntax::{Node, NodeOrToken, SyntaxKind, TextRange, TextSize};

/// A list of parameters, and of the attributes after them.
pub(super) struct ParamList<'t> {
    /// The code of the module.
    code: &'t str,
    /// The range between the parentheses.
    inside: TextRange,
    entries: Vec<Entry>,
}

/// A parameter or an attribute with the comments about it: those after it, and those before it that
/// are not about the one before.
struct Entry {
    is_param: bool,
    /// The start, with the comments before it.
    start: TextSize,
    /// The start of the parameter or attribute.
    name: TextSize,
    /// The end, with the block comments after it: the place of the comma.
    end: TextSize,
    /// True if a comment that extends to the end of its line follows, before a comma or after it.
    ends_line: bool,
    /// The comma, with the white space before it.
    comma: Option<TextRange>,
    /// The end, with the comma and all comments.
    whole: TextSize,
}

impl<'t> ParamList<'t> {
    /// Reads the list of a function at `start` of the code; `None` if the function has none.
    pub(super) fn new(code: &'t str, function: Node<'_>, start: TextSize) -> Option<ParamList<'t>> {
        let list = function.child(SyntaxKind::PARAM_LIST)?;
        let open = list.token(SyntaxKind::L_PAREN)?.range().end() + start;
        let close = list.token(SyntaxKind::R_PAREN)?.start() + start;
        let mut entries: Vec<Entry> = Vec::new();
        // The comments before the next entry.
        let mut before: Option<TextSize> = None;
        let mut is_same_line = true;
        for element in list.elements() {
            let range = match element {
                NodeOrToken::Node(node) => node.range() + start,
                // A comment ends before the line break, of which it has the first byte on Windows.
                NodeOrToken::Token(token) => {
                    let length = TextSize::of(token.text().trim_end_matches('\r'));
                    TextRange::at(token.start() + start, length)
                }
            };
            match element {
                NodeOrToken::Node(node) => {
                    entries.push(Entry {
                        is_param: node.kind() == SyntaxKind::PARAM,
                        start: before.take().unwrap_or(range.start()),
                        name: range.start(),
                        end: range.end(),
                        ends_line: false,
                        comma: None,
                        whole: range.end(),
                    });
                    is_same_line = true;
                }
                NodeOrToken::Token(token) => match (token.kind(), entries.last_mut()) {
                    (SyntaxKind::WHITESPACE, _) => is_same_line &= !token.text().contains('\n'),
                    (SyntaxKind::COMMA, Some(last)) => {
                        last.comma = Some(TextRange::new(last.whole, range.end()));
                        last.whole = range.end();
                        is_same_line = true;
                    }
                    (SyntaxKind::BLOCK_COMMENT, Some(last)) if last.comma.is_none() => {
                        last.end = if last.ends_line { last.end } else { range.end() };
                        last.whole = range.end();
                    }
                    (SyntaxKind::LINE_COMMENT | SyntaxKind::HASH_COMMENT, Some(last))
                        if before.is_none() && (last.comma.is_none() || is_same_line) =>
                    {
                        last.ends_line = true;
                        last.whole = range.end();
                    }
                    (
                        SyntaxKind::BLOCK_COMMENT
                        | SyntaxKind::LINE_COMMENT
                        | SyntaxKind::HASH_COMMENT,
                        _,
                    ) => before = before.or(Some(range.start())),
                    _ => {}
                },
            }
        }
        Some(ParamList { code, inside: TextRange::new(open, close), entries })
    }

    /// Returns the edits that remove the parameters for whose number `is_removed` is true, with the
    /// comments about them.
    pub(super) fn without(&self, is_removed: impl Fn(usize) -> bool) -> Edits {
        let mut params = 0..;
        let is_gone = |entry: &Entry| entry.is_param && params.next().is_some_and(&is_removed);
        let gone: Vec<bool> = self.entries.iter().map(is_gone).collect();
        let Some(last_kept) = gone.iter().rposition(|&gone| !gone) else {
            return vec![(self.inside, String::new())];
        };
        let mut edits = Edits::new();
        for (pair, _) in self.entries.windows(2).zip(&gone).filter(|(_, gone)| **gone) {
            if pair[0].start < self.entries[last_kept].start {
                edits.push((TextRange::new(pair[0].start, pair[1].start), String::new()));
            }
        }
        // What follows the last one goes with the comma before it.
        if let (true, Some(last)) = (last_kept + 1 < gone.len(), self.entries.last()) {
            let kept = &self.entries[last_kept];
            if let (Some(comma), None) = (kept.comma, last.comma) {
                edits.push((comma, String::new()));
            }
            edits.push((TextRange::new(kept.whole, last.whole), String::new()));
        }
        edits
    }

    /// Returns the edits that add parameters after the others.
    pub(super) fn with(&self, added: &[String]) -> Edits {
        let Some(last) = self.entries.iter().rfind(|entry| entry.is_param) else {
            let comma = if self.entries.is_empty() { "" } else { ", " };
            let place = self.entries.first().map_or(self.inside.start(), |entry| entry.start);
            return vec![(TextRange::empty(place), added.join(", ") + comma)];
        };
        let gap = self.gap(last);
        let between = format!(",{gap}");
        let added = added.join(&between);
        match (last.comma, last.ends_line) {
            // A comma follows what is added, as it did.
            (Some(_), _) => vec![(TextRange::empty(last.whole), format!("{gap}{added},"))],
            (None, false) => vec![(TextRange::empty(last.whole), between + &added)],
            (None, true) => vec![
                (TextRange::empty(last.end), ",".to_owned()),
                (TextRange::empty(last.whole), gap + &added),
            ],
        }
    }

    /// Returns the white space between the last parameter and the next one: a line break where it
    /// begins a line, or a comment ends its line.
    fn gap(&self, last: &Entry) -> String {
        let head = self.code.get(..usize::from(last.name)).unwrap_or_default();
        let line = head.rsplit_once('\n').map_or(head, |(_, line)| line);
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        match last.ends_line || indent.len() == line.len() {
            true => format!("{}{indent}", line_break(self.code)),
            false => " ".to_owned(),
        }
    }
}
