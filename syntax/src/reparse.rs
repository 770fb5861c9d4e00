//! Incremental reparse after an edit.
//!
//! The unit is a run of statements in a block, or of definitions in a file: the run touched by the
//! edit is parsed with some lookahead after it, and replaces the old one if the parser stops
//! exactly at its end. A parameter of a definition is a unit too, because the header of a network
//! has hundreds of them on one line.
//!
//! ```text
//! let %a = add(%x, %y);      clean: ends in its own `;`, without errors
//! let %b = multiply(%a, ▮);  the run of an edit at ▮
//! let %c = nn.relu(%b);
//! ```
//!
//! Soundness: after a statement that ends in its own `;`, the state of the parser is its initial
//! one. A parse that begins after such a statement and stops at the start of another one therefore
//! produces the same nodes as a full parse. Where that does not hold (an open comment, a statement
//! that continues after the run, errors of an enclosing statement), the unit is widened to the
//! enclosing block and finally to the file.

mod part;

use rowan::{NodeOrToken, TextRange, TextSize};

use part::{Part, SyntaxElement, element_after, element_before, parent_of};

use crate::{
    Parse, SyntaxError, SyntaxErrorKind, SyntaxKind, SyntaxNode, SyntaxToken, directives,
    grammar::{self, mistakes::MAX_LOOKAHEAD},
    input::Input,
    interner::Interner,
    lexer::{TensorTypes, lex},
    parser::Parser,
    reuse::reuse_each,
    source::Source,
    tensors,
};

/// A replacement in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The replaced range, in offsets of the old text.
    pub range: TextRange,
    /// The new text of the range.
    pub insert: String,
}

impl Edit {
    /// Returns the edit from the first to the last difference between two texts.
    pub fn between(before: &str, after: &str) -> Edit {
        let common = |pairs: &mut dyn Iterator<Item = (char, char)>| {
            pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum::<usize>()
        };
        let start = common(&mut before.chars().zip(after.chars()));
        let (old, new) = (&before[start..], &after[start..]);
        let tail = common(&mut old.chars().rev().zip(new.chars().rev()));
        let range = TextRange::at((start as u32).into(), ((old.len() - tail) as u32).into());
        Edit { range, insert: new[..new.len() - tail].to_owned() }
    }

    /// Applies the edit to `text`. The range must be inside the text, on character boundaries.
    pub fn apply(&self, text: &mut String) {
        text.replace_range(std::ops::Range::<usize>::from(self.range), &self.insert);
    }

    /// Returns the number of bytes by which the edit lengthens the text.
    pub fn delta(&self) -> i64 {
        self.insert.len() as i64 - i64::from(u32::from(self.range.len()))
    }
}

/// A run of children to reparse.
struct Run {
    parent: SyntaxNode,
    /// The first element, or the one after an empty run.
    first: SyntaxElement,
    /// The last element; `None` if the run is empty.
    last: Option<SyntaxElement>,
    /// The range of the children, in old offsets.
    range: TextRange,
    /// The end of the text visible to the parser, in old offsets.
    lookahead_end: TextSize,
    /// True if the next child is a node.
    before_node: bool,
}

impl Run {
    /// Returns the end of the last significant token, in old offsets.
    fn last_token_end(&self) -> TextSize {
        let last = self.last.clone().or_else(|| element_before(&self.first));
        let elements = std::iter::successors(last, element_before);
        let mut elements = elements.take_while(|e| e.text_range().start() >= self.range.start());
        let last = elements.find(|e| !e.kind().is_trivia());
        last.map_or(self.range.start(), |last| last.text_range().end())
    }
}

impl Parse {
    /// Returns the parse of `text`, which is the result of `edit` on the text of this parse.
    ///
    /// The result equals `parse_with(text, self.limits())`. The cost is proportional to the edited run,
    /// or to the whole text where [`Parse::reparse_part`] returns `None`.
    pub fn reparse(&self, text: &dyn Source, edit: &Edit) -> Parse {
        self.reparse_part(text, edit)
            .unwrap_or_else(|| crate::parse_with(&text.whole(), self.limits).reusing(self))
    }

    /// Like [`Parse::reparse`], but returns `None` if a full parse is necessary.
    pub fn reparse_part(&self, text: &dyn Source, edit: &Edit) -> Option<Parse> {
        let root = self.syntax();
        if !root.text_range().contains_range(edit.range) {
            return None;
        }
        // Any later quote may close an unclosed string, and any line may decide that lines are quoted.
        if self.is_suspect {
            return None;
        }
        if self.errors.iter().any(|e| matches!(e.kind, SyntaxErrorKind::UnclosedString)) {
            return None;
        }
        let around = match root.covering_element(edit.range) {
            NodeOrToken::Node(node) => node,
            NodeOrToken::Token(token) => token.parent()?,
        };
        for node in around.ancestors() {
            let run = match node.kind() {
                SyntaxKind::BLOCK if self.is_independent(&node) => {
                    // Parses the next statement, too, if an error at the end of the run may be about
                    // it: `add(` without an argument, before another line.
                    self.statement_run(&node, edit.range).and_then(|run| {
                        let wider = TextRange::new(edit.range.start(), run.range.end());
                        match self.may_miss_token(&run) {
                            true => self.statement_run(&node, wider),
                            false => Some(run),
                        }
                    })
                }
                SyntaxKind::PARAM_LIST => self.param_run(&node, edit),
                SyntaxKind::SOURCE_FILE => self.item_run(&node, edit),
                _ => None,
            };
            if let Some(parse) = run.and_then(|run| self.parse_run(text, edit, &run)) {
                return Some(parse);
            }
        }
        None
    }

    /// Returns true if the statement or definition around the block has no error outside the block.
    /// Recovery from such an error could depend on the content of the block.
    fn is_independent(&self, block: &SyntaxNode) -> bool {
        let is_unit = |n: &SyntaxNode| {
            n.kind().is_stmt()
                || n.kind().is_item()
                || n.parent().is_none_or(|p| p.kind() == SyntaxKind::BLOCK)
        };
        let inside = block.text_range();
        let Some(unit) = block.ancestors().skip(1).find(is_unit) else { return false };
        // The error about skipped tokens may be outside the unit, at the end of the line before it.
        let skipped = block
            .ancestors()
            .take_while(|n| *n != unit)
            .filter_map(|n| n.parent())
            .any(|n| n.children().any(|child| child.kind() == SyntaxKind::ERROR));
        if skipped {
            return false;
        }
        let unit = unit.text_range();
        !self.errors.iter().any(|e| {
            let is_inside = inside.contains_range(e.range) && e.range.start() < inside.end();
            !e.kind.is_compat() && unit.contains_range(e.range) && !is_inside
        })
    }

    /// Returns true if an error, such as one about two brackets, is partly in a range and partly outside of it. Whether it
    /// is reported depends on both parts.
    fn has_error_across(&self, range: TextRange) -> bool {
        self.errors.iter().any(|e| {
            let part = e.range.intersect(range).filter(|part| !part.is_empty());
            part.is_some_and(|part| part != e.range && part != range)
        })
    }

    /// Returns true if there is an error at an opening bracket before the run, from which the parser may have looked for the
    /// closing one in the run: `%x[` is a mistake up to the closing bracket if there is one.
    fn has_bracket_before(&self, run: &Run) -> bool {
        let is_before =
            |e: &&SyntaxError| !e.kind.is_compat() && e.range.start() < run.range.start();
        if !self.errors.iter().any(|e| is_before(&e)) {
            return false;
        }
        let root = self.syntax();
        let tokens = root.token_at_offset(run.range.start()).left_biased();
        let tokens = std::iter::successors(tokens, SyntaxToken::prev_token);
        let first = tokens.filter(|token| !token.kind().is_trivia()).take(MAX_LOOKAHEAD).last();
        let start = first.map_or(TextSize::new(0), |token| token.text_range().start());
        self.errors.iter().filter(is_before).filter(|e| e.range.end() >= start).any(|e| {
            [e.range.start(), e.range.end()].into_iter().any(|at| {
                let token = root.token_at_offset(at).right_biased();
                let mut tokens = std::iter::successors(token, SyntaxToken::next_token);
                let token = tokens.find(|token| !token.kind().is_trivia());
                token.is_some_and(|token| {
                    use SyntaxKind::{L_BRACE, L_BRACK, L_PAREN, LT};
                    matches!(token.kind(), L_BRACK | L_PAREN | L_BRACE | LT)
                })
            })
        })
    }

    /// Returns true if a node follows the run, and an error about a missing token between the two may
    /// belong to it: such an error is reported after the previous token.
    fn may_miss_token(&self, run: &Run) -> bool {
        let trivia = TextRange::new(run.last_token_end(), run.range.end());
        let is_missing = |e: &SyntaxError| {
            e.range.is_empty() && !e.kind.is_compat() && trivia.contains_inclusive(e.range.start())
        };
        run.before_node && self.errors.iter().any(is_missing)
    }

    /// Returns the statements of `block` touched by an edit of `edited`.
    fn statement_run(&self, block: &SyntaxNode, edited: TextRange) -> Option<Run> {
        let open = block.first_token().filter(|t| t.kind() == SyntaxKind::L_BRACE)?;
        let close = block.last_token().filter(|t| t.kind() == SyntaxKind::R_BRACE)?;
        let inside = TextRange::new(open.text_range().end(), close.text_range().start());
        if close.parent().as_ref() != Some(block) || !inside.contains_range(edited) {
            return None;
        }
        run(block, edited, |stmt| {
            // The end of a broken statement depends on the text after its `;`. The error about its
            // first token may be at the end of the line before.
            let before = std::iter::successors(stmt.first_token(), SyntaxToken::prev_token)
                .skip(1)
                .find(|token| !token.kind().is_trivia());
            let start = before.map_or(TextSize::new(0), |token| token.text_range().end());
            let range = TextRange::new(start, stmt.text_range().end());
            let is_broken =
                || self.errors.iter().any(|e| !e.kind.is_compat() && range.contains_range(e.range));
            stmt.kind().is_stmt()
                && stmt.last_token().is_some_and(|t| t.kind() == SyntaxKind::SEMICOLON)
                && !stmt.children().any(|n| n.kind() == SyntaxKind::ERROR)
                && !is_broken()
        })
    }

    /// Returns the parameter of a definition touched by the edit, with adjacent trivia, or `None`
    /// if the parameter list has any error.
    fn param_run(&self, list: &SyntaxNode, edit: &Edit) -> Option<Run> {
        let whole = list.text_range();
        let has_errors = self
            .errors
            .iter()
            .any(|e| e.range.intersect(whole).is_some() || whole.contains_range(e.range));
        if list.parent()?.kind() != SyntaxKind::FN_DEF || has_errors {
            return None;
        }
        let is_separator = |e: &SyntaxElement| {
            matches!(e.kind(), SyntaxKind::COMMA | SyntaxKind::L_PAREN | SyntaxKind::R_PAREN)
        };
        let mut children = list.children_with_tokens();
        let param = children.find(|child| {
            let range = child.text_range();
            range.start() < edit.range.start() && edit.range.end() < range.end()
        })?;
        if param.kind() != SyntaxKind::PARAM {
            return None;
        }
        let (mut first, mut last) = (param.clone(), param);
        while let Some(before) = first.prev_sibling_or_token().filter(|e| !is_separator(e)) {
            first = before;
        }
        while let Some(after) = last.next_sibling_or_token().filter(|e| !is_separator(e)) {
            last = after;
        }
        let range = TextRange::new(first.text_range().start(), last.text_range().end());
        let file_end = list.ancestors().last()?.text_range().end();
        Some(Run {
            parent: list.clone(),
            first,
            last: Some(last),
            range,
            lookahead_end: (range.end() + TextSize::new(400)).min(file_end),
            before_node: false,
        })
    }

    /// Returns the definitions touched by the edit, or `None` if it touches other items.
    fn item_run(&self, file: &SyntaxNode, edit: &Edit) -> Option<Run> {
        let is_definition =
            |n: &SyntaxNode| matches!(n.kind(), SyntaxKind::FN_DEF | SyntaxKind::TYPE_DEF);
        let run = run(file, edit.range, |item| {
            // A broken item may contain the beginning of the next one.
            (item.kind() == SyntaxKind::VERSION || is_definition(item))
                && !self
                    .errors
                    .iter()
                    .any(|e| !e.kind.is_compat() && item.text_range().contains_range(e.range))
        })?;
        let start = |n: &SyntaxNode| n.text_range().start();
        let touched = file.children().skip_while(|n| start(n) < run.range.start());
        let mut touched = touched.take_while(|n| start(n) < run.range.end());
        // Other rules apply to the first item after any log lines and to items after an expression.
        let mut before = file.children().take_while(|n| start(n) < run.range.start());
        let after_first = before.any(|n| n.kind() != SyntaxKind::BANNER_ITEM);
        (after_first && touched.all(|n| is_definition(&n))).then_some(run)
    }

    fn parse_run(&self, text: &dyn Source, edit: &Edit, run: &Run) -> Option<Parse> {
        if self.may_miss_token(run)
            || self.has_error_across(run.range)
            || self.has_bracket_before(run)
        {
            return None;
        }
        let delta = edit.delta();
        let start = usize::from(run.range.start());
        let len = (i64::from(u32::from(run.range.len())) + delta) as usize;
        let lookahead_end = (i64::from(u32::from(run.lookahead_end)) + delta) as usize;
        let lookahead_end = text.boundary_from(lookahead_end);
        let part = text.part(start..lookahead_end)?;
        let part = &*part;
        // The lexer would take it for a byte order mark, which only the start of a file can have.
        if part.starts_with('\u{FEFF}') {
            return None;
        }

        let mut tokens = lex(part, TensorTypes::Whole);
        if tokens.is_suspect || tokens.open_ended.is_some_and(|start| (start as usize) < len) {
            return None;
        }
        let boundary = match tokens.ends.binary_search(&(len as u32)) {
            _ if len == 0 => 0,
            Ok(token) => token + 1,
            Err(_) => return None,
        };
        let mut errors = std::mem::take(&mut tokens.errors);
        let parent = run.parent.green();
        let replaced = Part::new(&run.parent, &run.first, run.last.as_ref());
        // Seed the interner with the neighbours too: a new statement often resembles them.
        let around = replaced.elements(&parent).skip(replaced.before.len().saturating_sub(2));
        let interner = Interner::seeded(around.take(replaced.count + 4));
        let interner = tensors::intern(part, &mut tokens, interner);
        let before = start.checked_sub(1).and_then(|before| text.part(before..start));
        let at_line_start = before.is_some_and(|before| before == "\n");
        let input = Input::fragment(part, tokens, at_line_start);
        let stop = input.first_significant_from(boundary);
        if stop == 0 && !run.before_node {
            // The edit may have removed the tail expression of the block.
            return None;
        }
        let mut parser = Parser::new(input, self.limits, interner);
        parser.end_tree_at(boundary);
        let lines = run.parent.kind() == SyntaxKind::BLOCK && on_lines(&run.parent);
        let is_param = run.parent.kind() == SyntaxKind::PARAM_LIST;
        let is_second =
            element_before(&run.first).is_some_and(|first| element_before(&first).is_none());
        if is_second && !is_param && lines != parser.on_new_line(0) {
            // Error recovery depends on the layout of the block.
            return None;
        }
        let is_in_sync = match run.parent.kind() {
            SyntaxKind::BLOCK => grammar::statement_fragment(&mut parser, stop, lines),
            SyntaxKind::PARAM_LIST => grammar::param_fragment(&mut parser, stop),
            _ => grammar::item_fragment(&mut parser, stop),
        };
        let nesting = parser.deepest() as usize + 2 * run.parent.ancestors().count();
        if !is_in_sync
            || parser.saw_end() && lookahead_end < text.byte_len()
            || parser.saw_start() && start > 0
            || nesting >= self.limits.depth as usize
        {
            return None;
        }
        let parsed = parser.finish();
        if parsed.is_suspect {
            return None;
        }
        errors.retain(|e| usize::from(e.range.end()) <= len);
        if parsed.retain(&mut errors) {
            return None;
        }
        errors.extend(parsed.errors);
        if errors.iter().any(|e| matches!(e.kind, SyntaxErrorKind::TooDeep))
            || is_param && !errors.is_empty()
        {
            return None;
        }
        let fragment = parsed.green;
        if usize::from(fragment.text_len()) != len {
            return None;
        }
        if run.parent.kind() == SyntaxKind::SOURCE_FILE
            && fragment.children().filter_map(NodeOrToken::into_node).any(|n| {
                !matches!(SyntaxKind::of(n.kind()), SyntaxKind::FN_DEF | SyntaxKind::TYPE_DEF)
            })
        {
            return None;
        }
        let old = replaced.elements(&parent).skip(replaced.before.len()).take(replaced.count);
        // The run may be a definition of thousands of statements of which one has changed.
        let new: Vec<_> = reuse_each(old, fragment.children()).collect();
        let mut green = replaced.with(&parent, new);
        // `replace_with` of rowan counts the children of each ancestor that it copies.
        let mut node = run.parent.clone();
        while let Some(parent) = parent_of(&node) {
            let element = NodeOrToken::Node(node);
            let part = Part::new(&parent, &element, Some(&element));
            green = part.with(&parent.green(), vec![green.into()]);
            node = parent;
        }
        Some(Parse {
            green,
            errors: self.merged_errors(run.range, delta, errors),
            directives: directives::update(&self.directives, text, edit.range, edit.insert.len()),
            limits: self.limits,
            is_suspect: false,
            is_pasted: false,
        })
    }

    /// Returns the errors outside `replaced`, shifted by `delta`, and the `new` ones, whose offsets
    /// are relative to the start of the run.
    fn merged_errors(
        &self,
        replaced: TextRange,
        delta: i64,
        new: Vec<SyntaxError>,
    ) -> Vec<SyntaxError> {
        let shift = |o: TextSize| {
            if o >= replaced.end() {
                TextSize::new((i64::from(u32::from(o)) + delta) as u32)
            } else {
                o
            }
        };
        // An error that ends where the edit begins, such as the one at the `{` of `fn ({▮}`, is not
        // shifted.
        let is_before = |r: TextRange| !r.is_empty() && r.end() <= replaced.start();
        let shift = |r: TextRange| match is_before(r) {
            true => r,
            false => TextRange::new(shift(r.start()), shift(r.end())),
        };
        // An error of the last statement may be reported at the brace after it.
        let at_brace = |e: &SyntaxError| {
            e.range.start() == replaced.end()
                && matches!(e.kind, SyntaxErrorKind::Expected { found: SyntaxKind::R_BRACE, .. })
        };
        let keep = |r: TextRange| {
            let is_after =
                r.start() >= replaced.end() && !(r.start() == replaced.end() && r.is_empty());
            is_after || !replaced.contains_range(r)
        };
        let kept = self.errors.iter().filter(|e| keep(e.range) && !at_brace(e));
        let mut errors: Vec<_> = kept
            .map(|e| SyntaxError { range: shift(e.range), kind: e.kind.clone().map_ranges(shift) })
            .collect();
        let absolute = |r: TextRange| r + replaced.start();
        errors.extend(
            new.into_iter().map(|e| SyntaxError {
                range: absolute(e.range),
                kind: e.kind.map_ranges(absolute),
            }),
        );
        errors
    }
}

/// Returns the children of `parent` touched by the edit, extended to the left up to a `clean` child
/// and by the adjacent white space.
fn run(parent: &SyntaxNode, edited: TextRange, clean: impl Fn(&SyntaxNode) -> bool) -> Option<Run> {
    let whole = parent.text_range();
    let byte = TextSize::new(1);
    // A binary search, where `token_at_offset` visits every child.
    let child_at = |offset: TextSize| {
        let range = TextRange::at(offset, byte);
        match parent.child_or_token_at_range(range)? {
            NodeOrToken::Node(chunk) if chunk.kind() == SyntaxKind::CHUNK => {
                chunk.child_or_token_at_range(range)
            }
            child => Some(child),
        }
    };
    let is_gap = |e: &SyntaxElement| e.kind().is_trivia();
    let is_brace =
        |e: &SyntaxElement| matches!(e.kind(), SyntaxKind::L_BRACE | SyntaxKind::R_BRACE);

    if whole.is_empty() {
        return None;
    }
    let (from, to) = (edited.start(), edited.end());
    let mut first = child_at(if from > whole.start() { from - byte } else { from })?;
    if first.kind() == SyntaxKind::L_BRACE {
        first = element_after(&first)?;
    }
    let mut last = child_at(if to < whole.end() { to } else { to - byte })?;
    if last.text_range().start() < first.text_range().start() {
        // The edit is between a brace and the child after it.
        last = first.clone();
    }
    while let Some(before) = element_before(&first) {
        let stop = is_brace(&before)
            || before.as_node().is_some_and(|n| clean(n) && n.text_range().end() < edited.start());
        if stop {
            break;
        }
        first = before;
    }
    while let Some(after) = element_after(&last) {
        // Tokens skipped after a broken expression belong to it.
        let belongs =
            is_gap(&after) || matches!(after.kind(), SyntaxKind::ERROR | SyntaxKind::SEMICOLON);
        if last.kind() == SyntaxKind::R_BRACE || is_brace(&after) || !belongs {
            break;
        }
        last = after;
    }
    // An empty run before the closing brace.
    let empty = last.kind() == SyntaxKind::R_BRACE;
    let end = if empty { last.text_range().start() } else { last.text_range().end() };
    if empty && edited.end() > end {
        return None;
    }
    let start = first.text_range().start().min(end);
    let next = if empty { Some(last.clone()) } else { element_after(&last) };
    let file_end = parent.ancestors().last()?.text_range().end();
    let lookahead_end = match &next {
        // One more statement, or a few lines after the block.
        Some(NodeOrToken::Node(node)) => node.text_range().end() + TextSize::new(80),
        Some(NodeOrToken::Token(token)) => token.text_range().end() + TextSize::new(400),
        None => file_end,
    };
    let before_node = matches!(next, Some(NodeOrToken::Node(_)));
    Some(Run {
        parent: parent.clone(),
        last: if !empty {
            Some(last)
        } else if last != first {
            element_before(&last)
        } else {
            None
        },
        first,
        range: TextRange::new(start, end),
        lookahead_end: lookahead_end.min(end + TextSize::new(20_000)).min(file_end),
        before_node,
    })
}

/// Returns true if the first statement of the block is on a line of its own.
fn on_lines(block: &SyntaxNode) -> bool {
    let open = block.first_child_or_token();
    std::iter::successors(open, element_after)
        .skip(1)
        .take_while(|e| e.kind().is_trivia())
        .any(|e| e.kind() == SyntaxKind::WHITESPACE && e.to_string().contains('\n'))
}
