//! Comments that allow findings.
//!
//! ```text
//! // relay: allow-file(unused-parameter)
//! def @main(%x: float32, %y: float32) {
//!   // relay: allow(unused-binding)
//!   let %a = %x;
//!   let %b = %x; // relay: allow(unused-binding, stale-type-comment) kept for the exporter
//!   %x
//! }
//! ```
//!
//! The parse keeps the places where such comments may be: a file without them costs nothing here.

use operators::similar;
use rustc_hash::FxHashSet;
use syntax::{Node, Parse, SyntaxKind, TextRange, TextSize, Token};

use super::findings::{invalid_allow, unused_allow};
use crate::diagnostic::{Code, Diagnostic, Lint};

/// The comments of a file that allow findings.
#[derive(Default, PartialEq)]
pub(crate) struct Allows {
    comments: Vec<Comment>,
    /// Comments that cannot be understood, and codes that cannot be allowed.
    invalid: Vec<Diagnostic>,
}

/// A comment that allows findings.
#[derive(PartialEq)]
struct Comment {
    /// The range to remove with its last code: the comment, and the white space that belongs to it.
    whole: TextRange,
    /// The range of the comment itself.
    range: TextRange,
    /// The ranges that it covers.
    covered: Vec<TextRange>,
    codes: Vec<AllowedCode>,
}

/// A code in a comment.
#[derive(PartialEq)]
struct AllowedCode {
    code: Code,
    /// The range of the code.
    range: TextRange,
    /// The range to remove: the code and a comma next to it.
    removed: TextRange,
}

/// A code, and a range in which its findings are allowed.
pub(crate) type AllowedRange = (Code, TextRange);

impl Allows {
    /// Reads the comments of a file.
    pub(super) fn of(parse: &Parse) -> Allows {
        let mut allows = Allows::default();
        let root = Node::root(&parse.green);
        let mut last = None;
        for &at in &parse.directives {
            let Some(token) = root.token_at(at) else { continue };
            let Some(content) = content(token) else { continue };
            // Only the beginning of a comment is a directive.
            if last != Some(token.start()) && token.start() + content.start == at {
                last = Some(token.start());
                allows.read(root, token, content);
            }
        }
        allows
    }

    /// Returns true if there are no such comments.
    pub(super) fn is_empty(&self) -> bool {
        self.comments.is_empty()
    }

    /// Returns the allowed ranges inside `whole`, from its start.
    pub(super) fn within(&self, whole: TextRange) -> Vec<AllowedRange> {
        let common = |(code, range): AllowedRange| {
            let common = range.intersect(whole).filter(|common| !common.is_empty())?;
            Some((code, common - whole.start()))
        };
        self.ranges().filter_map(common).collect()
    }

    /// Returns the ranges in which findings are allowed.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = AllowedRange> {
        self.comments.iter().flat_map(|comment| {
            let codes = comment.codes.iter().map(|allowed| allowed.code);
            codes.flat_map(|code| comment.covered.iter().map(move |&range| (code, range)))
        })
    }

    /// Returns true if a comment allows findings of `code` at `at`.
    pub(super) fn allow(&self, code: Code, at: TextSize) -> bool {
        self.ranges().any(|(allowed, range)| allowed == code && range.contains(at))
    }

    /// Removes the findings that are allowed, and reports comments without effect.
    pub(super) fn apply(&self, found: &mut Vec<Diagnostic>) {
        if self.comments.is_empty() && self.invalid.is_empty() {
            return;
        }
        // The starts of the codes in comments that allow a finding.
        let mut used: FxHashSet<TextSize> = FxHashSet::default();
        found.retain(|d| {
            let covers = |comment: &&Comment| {
                comment.covered.iter().any(|range| range.contains(d.range.start()))
            };
            let codes = self.comments.iter().filter(covers).flat_map(|comment| &comment.codes);
            let mut is_allowed = false;
            for allowed in codes.filter(|allowed| allowed.code == d.code) {
                used.insert(allowed.range.start());
                is_allowed = true;
            }
            !is_allowed
        });
        // Lints are not computed next to errors.
        let has_errors = found.iter().any(|d| !d.code.has_level());
        let mut own = self.invalid.clone();
        if !has_errors {
            own.extend(self.comments.iter().flat_map(|comment| comment.unused(&used)));
        }
        found.extend(own);
        found.sort_by_key(|d| d.range.start());
    }

    fn refuse(&mut self, range: TextRange, message: impl Into<String>) {
        self.invalid.push(invalid_allow::report(range, message));
    }

    /// Reads a comment whose content begins with `relay: allow`.
    fn read(&mut self, root: Node<'_>, token: Token<'_>, content: Content<'_>) {
        let text = content.text;
        let range = token.range();
        let word = text.find("allow").unwrap_or_default() + "allow".len();
        let (is_file, word) = match text[word..].strip_prefix("-file") {
            Some(_) => (true, word + "-file".len()),
            None => (false, word),
        };
        let rest = &text[word..];
        let is_word_longer =
            rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
        let list = rest.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')'));
        let Some((list, _)) = list.filter(|_| !is_word_longer) else {
            // `relay: allows …` is prose.
            if !is_word_longer || rest.contains('(') {
                self.refuse(range, "this comment allows nothing: no codes in parentheses");
            }
            return;
        };
        if is_file && !is_at_top(root, token) {
            let message = "`allow-file` must precede the first definition of the file";
            self.refuse(range, message);
            return;
        }
        // The offset of the list in the file.
        let start = range.start() + content.start + offset_in(text, list);
        let mut codes: Vec<AllowedCode> = Vec::new();
        for part in list.split(',') {
            let name = part.trim();
            let at = start + offset_in(list, name);
            let name_range = TextRange::at(at, TextSize::of(name));
            match Code::from_name(name).map(Lint::new) {
                Some(Ok(lint)) => codes.push(AllowedCode {
                    code: lint.code(),
                    range: name_range,
                    removed: removed(list, part, start),
                }),
                Some(Err(error)) => {
                    self.invalid.push(invalid_allow::without_level(name_range, error));
                }
                None if name.is_empty() => {
                    self.refuse(range, "this comment allows nothing: a code is missing");
                }
                None => {
                    let near = nearest_code(name);
                    self.invalid.push(invalid_allow::unknown(name_range, name, near));
                }
            }
        }
        let covered = match is_file {
            true => vec![root.range()],
            false => covered(root, token),
        };
        self.comments.push(Comment { whole: whole(root, token), range, covered, codes });
    }
}

impl Comment {
    /// Returns the diagnostics for codes without findings. `used` holds the starts of the others.
    fn unused(&self, used: &FxHashSet<TextSize>) -> Vec<Diagnostic> {
        // The findings of a run are not those of the text.
        let is_unused = |a: &&AllowedCode| {
            !used.contains(&a.range.start()) && !a.code.name().starts_with("run-")
        };
        let unused: Vec<&AllowedCode> = self.codes.iter().filter(is_unused).collect();
        match unused.as_slice() {
            [] => Vec::new(),
            all if all.len() == self.codes.len() => {
                vec![unused_allow::report(self.range, all.iter().map(|a| a.code), self.whole)]
            }
            some => {
                some.iter().map(|a| unused_allow::report(a.range, [a.code], a.removed)).collect()
            }
        }
    }
}

/// The content of a comment, without its delimiters and the white space after them.
#[derive(Clone, Copy)]
struct Content<'t> {
    text: &'t str,
    /// The offset of the content in the comment.
    start: TextSize,
}

/// Returns the content of a comment, `None` for other tokens.
fn content(token: Token<'_>) -> Option<Content<'_>> {
    if !matches!(
        token.kind(),
        SyntaxKind::LINE_COMMENT | SyntaxKind::HASH_COMMENT | SyntaxKind::BLOCK_COMMENT
    ) {
        return None;
    }
    let comment = token.text();
    // A block comment that is not closed is an error.
    let text = match comment.strip_prefix("/*") {
        Some(text) => text.strip_suffix("*/"),
        None => comment.strip_prefix("//").or_else(|| comment.strip_prefix('#')),
    }?;
    let text = text.trim();
    Some(Content { text, start: offset_in(comment, text) })
}

/// Returns the offset of `part` in the text of which it is a part.
fn offset_in(text: &str, part: &str) -> TextSize {
    TextSize::new((part.as_ptr() as usize - text.as_ptr() as usize) as u32)
}

/// Returns the range of a part of a list with one of the commas next to it; `start` is the offset of
/// the list.
fn removed(list: &str, part: &str, start: TextSize) -> TextRange {
    let from = usize::from(offset_in(list, part));
    let to = from + part.len();
    let (from, to) = match from {
        // White space after the comma goes with it.
        0 => match list[to..].strip_prefix(',') {
            Some(rest) => (from, list.len() - rest.trim_start().len()),
            None => (from, to),
        },
        _ => (from - 1, to),
    };
    TextRange::new(start + TextSize::new(from as u32), start + TextSize::new(to as u32))
}

/// Returns the code whose name is most similar to `name` among those that have a level.
pub fn nearest_code(name: &str) -> Option<Code> {
    let codes = Code::ALL.iter().filter(|code| code.has_level()).map(|code| code.name());
    similar::nearest(name, codes).and_then(Code::from_name)
}

/// Returns true if a comment precedes the first definition; a version header may precede it.
fn is_at_top(root: Node<'_>, comment: Token<'_>) -> bool {
    let first = root.children().find(|child| child.kind() != SyntaxKind::VERSION);
    first.is_none_or(|first| first.start() > comment.start())
}

/// The place of a comment on its line.
struct Line<'t> {
    /// The last token on the line before the comment that is not trivia.
    before: Option<Token<'t>>,
    /// The start of the line.
    start: TextSize,
}

/// Returns the place of a comment on its line.
fn line<'t>(root: Node<'t>, comment: Token<'t>) -> Line<'t> {
    let mut before = None;
    let mut start = comment.start();
    while let Some(last) = start.checked_sub(TextSize::new(1)) {
        let Some(token) = root.token_at(last) else { break };
        if let Some(at) = token.text().rfind('\n') {
            let is_space = token.kind().is_trivia();
            start =
                if is_space { token.start() + TextSize::new(at as u32 + 1) } else { token.start() };
            break;
        }
        if !token.kind().is_trivia() && before.is_none() {
            before = Some(token);
        }
        start = token.start();
    }
    Line { before, start }
}

/// Returns the ranges that a comment covers.
fn covered(root: Node<'_>, comment: Token<'_>) -> Vec<TextRange> {
    let line = line(root, comment);
    let Some(before) = line.before else {
        let next = root.token_from(comment.range().end());
        return next.map(|next| first_from(root, next)).into_iter().collect();
    };
    let mut covered = vec![TextRange::new(line.start, comment.start())];
    // `if (%c) { // relay: allow(…)` covers the line and not the block.
    if before.kind() != SyntaxKind::L_BRACE {
        let path = root.path_to(before.range());
        let statement = path.iter().rev().find(|node| node.kind().is_stmt());
        covered.extend(statement.map(|statement| statement.range()));
    }
    covered
}

/// Returns the range of the definition, statement or part of one that begins with `token`.
fn first_from(root: Node<'_>, token: Token<'_>) -> TextRange {
    let path = root.path_to(token.range());
    let starts = || path.iter().skip(1).filter(|node| significant_start(**node) == token.start());
    // All statements of a bare expression are in one item.
    let is_def = |n: &&Node<'_>| n.kind().is_item() && n.kind() != SyntaxKind::EXPR_ITEM;
    let found = starts().find(is_def).or_else(|| starts().find(|node| node.kind().is_stmt()));
    let found = found.or_else(|| starts().find(|node| node.kind() != SyntaxKind::EXPR_ITEM));
    found.map_or(token.range(), |node| node.range())
}

/// Returns the start of the first token of a node that is not trivia.
fn significant_start(node: Node<'_>) -> TextSize {
    node.first_token().map_or(node.start(), |token| token.start())
}

/// Returns the range to remove with a comment: its line if it has one of its own, and otherwise the
/// white space before it.
fn whole(root: Node<'_>, comment: Token<'_>) -> TextRange {
    let (start, end) = (comment.start(), comment.range().end());
    let before = start.checked_sub(TextSize::new(1)).and_then(|last| root.token_at(last));
    let before_text = space_of(before);
    let after_text = space_of(root.token_at(end));
    let is_own_line = line(root, comment).before.is_none();
    let line_end = after_text.find('\n');
    if is_own_line && let Some(line_end) = line_end {
        let indent = before_text.len() - before_text.rfind('\n').map_or(0, |at| at + 1);
        let start = start - TextSize::new(indent as u32);
        return TextRange::new(start, end + TextSize::new(line_end as u32 + 1));
    }
    let blanks = before_text.len() - before_text.trim_end_matches([' ', '\t']).len();
    TextRange::new(start - TextSize::new(blanks as u32), end)
}

/// Returns the text of white space, and an empty text for other tokens.
fn space_of(token: Option<Token<'_>>) -> &str {
    token.filter(|token| token.kind() == SyntaxKind::WHITESPACE).map_or("", Token::text)
}

#[cfg(test)]
mod tests {
    use syntax::ParseLimits;

    use super::*;
    use crate::{Database, Level, Levels, Severity, apply, check_file};

    fn checked(text: &str) -> Vec<Diagnostic> {
        let db = Database::new();
        let file = db.add_file(text, ParseLimits::default());
        check_file(&db, file).to_vec()
    }

    /// Returns the codes from warnings on, and those about comments, with the texts of their ranges.
    fn found(text: &str) -> Vec<(Code, &str)> {
        let of_comment = |code| matches!(code, Code::UnusedAllow | Code::InvalidAllow);
        let found = checked(text).into_iter();
        let found = found.filter(|d| d.severity >= Severity::Warning || of_comment(d.code));
        found.map(|d| (d.code, &text[std::ops::Range::<usize>::from(d.range)])).collect()
    }

    /// Applies all fixes of comments.
    fn fixed(text: &str) -> String {
        let found = checked(text);
        let of_comment = |d: &&Diagnostic| matches!(d.code, Code::UnusedAllow | Code::InvalidAllow);
        apply(text, found.iter().filter(of_comment).filter_map(|d| d.fixes.first()))
    }

    const UNUSED: &str = "let %a = %x;";

    #[test]
    fn comments_cover_what_follows_or_their_line() {
        let body = |before: &str, after: &str| {
            format!("def @f(%x: int32) {{\n  {before}{UNUSED}{after}\n  let %b = %x;\n  %x\n}}\n")
        };
        let allow = "relay: allow(unused-binding)";
        let only_b = [(Code::UnusedBinding, "%b")];
        assert_eq!(found(&body(&format!("// {allow}\n  "), "")), only_b);
        assert_eq!(found(&body(&format!("# {allow}\n\n  // more\n  "), "")), only_b);
        assert_eq!(found(&body(&format!("/* {allow} */ "), "")), only_b);
        assert_eq!(found(&body("", &format!(" // {allow} for the exporter"))), only_b);
        assert_eq!(found(&body("", " /* relay:allow( unused-binding ) */")), only_b);
        let all = body("", "");
        assert_eq!(found(&all).len(), 2);
        assert_eq!(found(&format!("// {allow}\n{all}")), []);
        assert_eq!(found(&format!("// relay: allow-file(unused-binding)\n{all}")), []);
        let version =
            format!("#[version = \"0.0.5\"]\n// relay: allow-file(unused-binding)\n{all}");
        assert_eq!(found(&version), []);
        let several = format!("def @g(%x: int32) {{ %x }}\n{all}");
        let several = format!("// {allow}\n{several}");
        let unused = found(&several);
        assert_eq!(unused.len(), 3, "the definition after it is another one: {unused:?}");
    }

    #[test]
    fn statements_of_several_lines_are_covered() {
        let text = |first: &str, last: &str| {
            format!("def @f(%x: int32) {{\n  let %a = add(%x,{first}\n    %x);{last}\n  %x\n}}\n")
        };
        let allow = " // relay: allow(unused-binding)";
        assert_eq!(found(&text("", allow)), []);
        assert_eq!(found(&text(allow, "")), []);
        let block =
            "def @f(%x: int32) { // relay: allow(unused-binding)\n  let %a = %x;\n  %x\n}\n";
        let codes: Vec<Code> = found(block).into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, [Code::UnusedAllow, Code::UnusedBinding], "a brace ends what it covers");
        let bare = "let %a = 1;\n// relay: allow(unused-binding)\nlet %b = 2;\n3\n";
        assert_eq!(found(bare), [(Code::UnusedBinding, "%a")]);
        let param =
            "def @f(\n  // relay: allow(unused-parameter)\n  %x: int32,\n  %y: int32) { 1 }\n";
        let hints = checked(param).into_iter().filter(|d| d.code == Code::UnusedParameter);
        assert_eq!(hints.count(), 1);
    }

    #[test]
    fn unused_codes_are_reported_and_removed() {
        let text = "def @f(%x: int32) {\n  // relay: allow(unused-binding)\n  %x\n}\n";
        assert_eq!(found(text), [(Code::UnusedAllow, "// relay: allow(unused-binding)")]);
        assert_eq!(fixed(text), "def @f(%x: int32) {\n  %x\n}\n");
        let trailing = "def @f(%x: int32) {\n  %x // relay: allow(unused-binding)\n}\n";
        assert_eq!(fixed(trailing), "def @f(%x: int32) {\n  %x\n}\n");
        for (codes, wanted) in [
            ("unused-binding, stale-type-comment", "unused-binding"),
            ("stale-type-comment, unused-binding", "unused-binding"),
            ("negative-size,unused-binding, unreachable-arm", "unused-binding"),
        ] {
            let with = |codes: &str| {
                format!("def @f(%x: int32) {{\n  {UNUSED} // relay: allow({codes})\n  %x\n}}\n")
            };
            assert_eq!(fixed(&with(codes)), with(wanted));
        }
        let wrong = text.replace("  %x\n", "  %z\n");
        assert_eq!(found(&wrong), [(Code::UnknownVariable, "%z")], "no hint next to an error");
    }

    #[test]
    fn codes_that_cannot_be_allowed_are_reported() {
        let with = |comment: &str| format!("{comment}\ndef @f(%x: int32) {{ %x }}\n");
        for (comment, place) in [
            ("// relay: allow(unused-bindin)", "unused-bindin"),
            ("// relay: allow(type-mismatch)", "type-mismatch"),
            ("// relay: allow()", "// relay: allow()"),
            ("// relay: allow unused-binding", "// relay: allow unused-binding"),
            ("// relay: allow-all(unused-binding)", "// relay: allow-all(unused-binding)"),
        ] {
            let text = with(comment);
            let found = found(&text);
            let is_reported =
                |(code, at): &(Code, &str)| *code == Code::InvalidAllow && at.starts_with(place);
            assert!(found.iter().any(is_reported), "{comment}: {found:?}");
        }
        for prose in
            ["// relay: allows for more", "// see relay: allow(x)", "%x // \"relay: allow\""]
        {
            let text = with(prose);
            let found = found(&text).into_iter();
            assert_eq!(found.filter(|(code, _)| *code == Code::InvalidAllow).count(), 0, "{prose}");
        }
        assert_eq!(
            fixed(&with("// relay: allow(unused-bindin)")),
            with("// relay: allow(unused-binding)")
        );
        let late = "def @f(%x: int32) { %x }\n// relay: allow-file(unused-binding)\n";
        assert_eq!(found(late).len(), 1);
    }

    #[test]
    fn levels_apply_after_comments() {
        let text = format!(
            "def @f(%x: int32) {{\n  {UNUSED}\n  let %b = %x; // relay: allow(unused-binding)\n  %x\n}}\n"
        );
        let mut db = Database::new();
        let file = db.add_file(&text, ParseLimits::default());
        let lint = Lint::new(Code::UnusedBinding).expect("it has a level");
        let mut levels = Levels::default();
        levels.set(lint, Level::Report(Severity::Error));
        db.set_levels(file, &levels);
        let found = |db: &Database| -> Vec<(Code, Severity)> {
            let found = check_file(db, file);
            let mut found: Vec<_> = found.iter().map(|d| (d.code, d.severity)).collect();
            found.retain(|(code, _)| !code.is_tvm());
            found
        };
        assert_eq!(found(&db), [(Code::UnusedBinding, Severity::Error)]);
        levels.set(lint, Level::Allow);
        db.set_levels(file, &levels);
        assert_eq!(
            found(&db),
            [],
            "a comment for a code that relay.toml allows is not reported as unused"
        );
    }
}
