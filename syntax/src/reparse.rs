//! Follows an edit without parsing the whole text again.
//!
//! The unit is a run of statements in a block, or a run of definitions in a file: the run that the
//! edit touches is parsed with the tokens behind it in sight, and takes its place in the tree if
//! the parser arrives exactly at its end. A parameter of a definition is a unit of its own, for the
//! header of a network holds hundreds on one line. What makes that sound: a statement that ends in its own
//! `;` leaves no trace in the parser, so a parse that begins behind one and ends at the start of
//! another makes the same nodes as a parse from the top. Where that cannot be shown (an open
//! comment, a statement that runs into the next, errors of an enclosing statement), the unit grows
//! to the enclosing block, and in the end to the file.

use rowan::{NodeOrToken, TextRange, TextSize};

use crate::{
    Parse, ParseLimits, SyntaxError, SyntaxErrorKind, SyntaxKind, SyntaxNode, SyntaxToken,
    adopt::adopt_each,
    grammar,
    interner::Interner,
    lexer::{TensorTypes, lex},
    parser::{Input, Parser},
};

type SyntaxElement = NodeOrToken<SyntaxNode, SyntaxToken>;

/// A replacement in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced, in offsets of the old text.
    pub range: TextRange,
    /// What takes its place.
    pub insert: String,
}

impl Edit {
    /// Applies the edit to `text`. The range must lie in the text, on character boundaries.
    pub fn apply(&self, text: &mut String) {
        text.replace_range(std::ops::Range::<usize>::from(self.range), &self.insert);
    }

    /// How many bytes longer the edit makes the text.
    pub fn delta(&self) -> i64 {
        self.insert.len() as i64 - i64::from(u32::from(self.range.len()))
    }
}

/// A run of children that is parsed anew.
struct Run {
    parent: SyntaxNode,
    /// Children of the parent, by index.
    children: std::ops::Range<usize>,
    /// Their text, in old offsets.
    range: TextRange,
    /// Where the text that the parser may look at ends, in old offsets.
    sight: TextSize,
    /// Another child follows that is a node.
    before_statement: bool,
}

impl Run {
    /// Where the last of its tokens ends that is no white space or comment, in old offsets.
    fn last_token_end(&self) -> TextSize {
        let green = self.parent.green();
        let run = green.children().skip(self.children.start).take(self.children.len());
        let behind = run.rev().take_while(|child| SyntaxKind::of(child.kind()).is_trivia());
        self.range.end() - behind.map(|child| child.text_len()).sum::<TextSize>()
    }
}

impl Parse {
    /// The parse of `text`, which came out of this parse's text by `edit`.
    ///
    /// Equal to `parse_with(text, limits)`, at the cost of the part that the edit touches.
    pub fn reparse(&self, text: &str, edit: &Edit, limits: ParseLimits) -> Parse {
        self.reparse_part(text, edit, limits)
            .unwrap_or_else(|| crate::parse_with(text, limits).sharing(self))
    }

    /// As [`Parse::reparse`], and `None` where the whole text has to be parsed.
    pub fn reparse_part(&self, text: &str, edit: &Edit, limits: ParseLimits) -> Option<Parse> {
        let root = self.syntax();
        if !root.text_range().contains_range(edit.range) {
            return None;
        }
        // An open string ends where a later quote closes it.
        if self.errors.iter().any(|e| e.kind == SyntaxErrorKind::UnclosedString) {
            return None;
        }
        let around = match root.covering_element(edit.range) {
            NodeOrToken::Node(node) => node,
            NodeOrToken::Token(token) => token.parent()?,
        };
        for node in around.ancestors() {
            let run = match node.kind() {
                SyntaxKind::BLOCK if self.is_independent(&node) => self.statement_run(&node, edit),
                SyntaxKind::PARAM_LIST => self.param_run(&node, edit),
                SyntaxKind::SOURCE_FILE => self.item_run(&node, edit),
                _ => None,
            };
            if let Some(parse) = run.and_then(|run| self.parse_run(text, edit, limits, &run)) {
                return Some(parse);
            }
        }
        None
    }

    /// Nothing is wrong in the statement or definition around the block, outside of the block: its
    /// recovery could depend on what stands inside.
    fn is_independent(&self, block: &SyntaxNode) -> bool {
        let is_unit = |n: &SyntaxNode| {
            n.kind().is_stmt()
                || n.kind().is_item()
                || n.parent().is_none_or(|p| p.kind() == SyntaxKind::BLOCK)
        };
        let inside = block.text_range();
        let Some(unit) = block.ancestors().skip(1).find(is_unit) else { return false };
        // The error of what was skipped may be at the end of the line before.
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

    /// The statements of `block` that the edit touches.
    fn statement_run(&self, block: &SyntaxNode, edit: &Edit) -> Option<Run> {
        let open = block.first_token().filter(|t| t.kind() == SyntaxKind::L_BRACE)?;
        let close = block.last_token().filter(|t| t.kind() == SyntaxKind::R_BRACE)?;
        let inside = TextRange::new(open.text_range().end(), close.text_range().start());
        if close.parent().as_ref() != Some(block) || !inside.contains_range(edit.range) {
            return None;
        }
        run(block, edit, |stmt| {
            // Where a broken statement ends depends on what follows its `;`. The error of its first
            // word may be at the end of the line before.
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

    /// The parameter of a definition that the edit touches, with the white space and comments on
    /// both sides. Where anything is wrong among the parameters, they are read as a whole.
    fn param_run(&self, list: &SyntaxNode, edit: &Edit) -> Option<Run> {
        let whole = list.text_range();
        let is_sound = !self
            .errors
            .iter()
            .any(|e| e.range.intersect(whole).is_some() || whole.contains_range(e.range));
        if list.parent()?.kind() != SyntaxKind::FN_DEF || !is_sound {
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
        let far = list.ancestors().last()?.text_range().end();
        Some(Run {
            parent: list.clone(),
            children: first.index()..last.index() + 1,
            range,
            sight: (range.end() + TextSize::new(400)).min(far),
            before_statement: false,
        })
    }

    /// The definitions that the edit touches, where only definitions are touched.
    fn item_run(&self, file: &SyntaxNode, edit: &Edit) -> Option<Run> {
        let is_definition =
            |n: &SyntaxNode| matches!(n.kind(), SyntaxKind::FN_DEF | SyntaxKind::TYPE_DEF);
        let run = run(file, edit, |item| {
            // A broken item could have swallowed part of the one behind it.
            (item.kind() == SyntaxKind::VERSION || is_definition(item))
                && !self
                    .errors
                    .iter()
                    .any(|e| !e.kind.is_compat() && item.text_range().contains_range(e.range))
        })?;
        let touched = file.children().skip_while(|n| n.index() < run.children.start);
        let mut touched = touched.take_while(|n| n.index() < run.children.end);
        // The first item of a file is read by other rules, lines of a log before it set aside, and
        // so is what follows an expression.
        let mut before = file.children().take_while(|n| n.index() < run.children.start);
        let after_first = before.any(|n| n.kind() != SyntaxKind::BANNER_ITEM);
        (after_first && touched.all(|n| is_definition(&n))).then_some(run)
    }

    fn parse_run(&self, text: &str, edit: &Edit, limits: ParseLimits, run: &Run) -> Option<Parse> {
        // What is missing is said behind the token before, and may be missing from what follows.
        let behind = TextRange::new(run.last_token_end(), run.range.end());
        let is_missing = |e: &SyntaxError| {
            e.range.is_empty() && !e.kind.is_compat() && behind.contains_inclusive(e.range.start())
        };
        if run.before_statement && self.errors.iter().any(is_missing) {
            return None;
        }
        let delta = edit.delta();
        let start = usize::from(run.range.start());
        let len = (i64::from(u32::from(run.range.len())) + delta) as usize;
        let mut sight = (i64::from(u32::from(run.sight)) + delta) as usize;
        while !text.is_char_boundary(sight) {
            sight += 1;
        }
        let part = text.get(start..sight)?;
        // A byte order mark is one at the beginning of a file alone.
        if part.starts_with('\u{FEFF}') {
            return None;
        }

        let mut tokens = lex(part, TensorTypes::Whole);
        if tokens.open_ended.is_some_and(|start| (start as usize) < len) {
            return None;
        }
        let boundary = match tokens.ends.binary_search(&(len as u32)) {
            _ if len == 0 => 0,
            Ok(token) => token + 1,
            Err(_) => return None,
        };
        let mut found = std::mem::take(&mut tokens.errors);
        let at_line_start = text[..start].ends_with('\n');
        let input = Input::fragment(part, tokens, at_line_start);
        let stop = input.first_significant_from(boundary);
        if stop == 0 && !run.before_statement {
            // The block may have lost its last expression.
            return None;
        }
        let parent = run.parent.green();
        // What stands before and behind, too: something new is made of what stands around it.
        let around = parent.children().skip(run.children.start.saturating_sub(2));
        let known = Interner::knowing(around.take(run.children.len() + 4));
        let mut parser = Parser::new(input, limits, known);
        parser.end_tree_at(boundary);
        let lines = run.parent.kind() == SyntaxKind::BLOCK && on_lines(&run.parent);
        let is_param = run.parent.kind() == SyntaxKind::PARAM_LIST;
        if run.children.start == 1 && !is_param && lines != parser.on_new_line(0) {
            // The layout of a block decides how its statements recover.
            return None;
        }
        let arrived = match run.parent.kind() {
            SyntaxKind::BLOCK => grammar::statement_fragment(&mut parser, stop, lines),
            SyntaxKind::PARAM_LIST => grammar::param_fragment(&mut parser, stop),
            _ => grammar::item_fragment(&mut parser, stop),
        };
        let nesting = parser.deepest() as usize + 2 * run.parent.ancestors().count();
        if !arrived
            || parser.saw_end() && sight < text.len()
            || parser.saw_outside() && start > 0
            || nesting >= limits.depth as usize
        {
            return None;
        }
        let parsed = parser.finish();
        found.retain(|e| usize::from(e.range.end()) <= len);
        found.extend(parsed.errors);
        if found.iter().any(|e| e.kind == SyntaxErrorKind::TooDeep) {
            return None;
        }
        if is_param && !found.is_empty() {
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
        let old = parent.children().skip(run.children.start).take(run.children.len());
        // A definition of thousands of statements may have been read anew for one of them.
        let new: Vec<_> = adopt_each(old, fragment.children()).collect();
        let green = parent.splice_children(run.children.clone(), new);
        Some(Parse {
            green: run.parent.replace_with(green),
            errors: self.shifted_errors(run.range, delta, found),
        })
    }

    /// The errors outside `replaced` moved by `delta`, and `found`, whose offsets count from the
    /// start of the run.
    fn shifted_errors(
        &self,
        replaced: TextRange,
        delta: i64,
        found: Vec<SyntaxError>,
    ) -> Vec<SyntaxError> {
        let shift = |o: TextSize| {
            if o >= replaced.end() {
                TextSize::new((i64::from(u32::from(o)) + delta) as u32)
            } else {
                o
            }
        };
        // The error at the `{` of `fn ({}` ends where an `@` is typed, and stays as it is.
        let is_before = |r: TextRange| !r.is_empty() && r.end() <= replaced.start();
        let shift = |r: TextRange| match is_before(r) {
            true => r,
            false => TextRange::new(shift(r.start()), shift(r.end())),
        };
        // What a statement misses at its end is reported at the brace behind it.
        let at_brace = |e: &SyntaxError| {
            e.range.start() == replaced.end()
                && matches!(e.kind, SyntaxErrorKind::Expected { found: SyntaxKind::R_BRACE, .. })
        };
        let keep = |r: TextRange| {
            let behind =
                r.start() >= replaced.end() && !(r.start() == replaced.end() && r.is_empty());
            behind || !replaced.contains_range(r)
        };
        let kept = self.errors.iter().filter(|e| keep(e.range) && !at_brace(e));
        let mut errors: Vec<_> = kept
            .map(|e| SyntaxError { range: shift(e.range), kind: e.kind.clone().moved(shift) })
            .collect();
        let place = |r: TextRange| r + replaced.start();
        errors.extend(
            found
                .into_iter()
                .map(|e| SyntaxError { range: place(e.range), kind: e.kind.moved(place) }),
        );
        errors
    }
}

/// The children of `parent` that the edit touches, back to behind one that is `clean`, and with
/// the white space on both sides.
fn run(parent: &SyntaxNode, edit: &Edit, clean: impl Fn(&SyntaxNode) -> bool) -> Option<Run> {
    let child_of = |token: SyntaxToken| -> Option<SyntaxElement> {
        if token.parent().as_ref() == Some(parent) {
            return Some(token.into());
        }
        token.parent_ancestors().find(|n| n.parent().as_ref() == Some(parent)).map(Into::into)
    };
    let is_gap = |e: &SyntaxElement| e.kind().is_trivia();
    let is_brace =
        |e: &SyntaxElement| matches!(e.kind(), SyntaxKind::L_BRACE | SyntaxKind::R_BRACE);

    let left = parent.token_at_offset(edit.range.start()).left_biased()?;
    let mut first = child_of(left)?;
    if first.kind() == SyntaxKind::L_BRACE {
        first = first.next_sibling_or_token()?;
    }
    let right = parent.token_at_offset(edit.range.end()).right_biased()?;
    let mut last = child_of(right)?;
    if last.index() < first.index() {
        // The edit stands between a brace and what follows it.
        last = first.clone();
    }
    while let Some(before) = first.prev_sibling_or_token() {
        let stop = is_brace(&before)
            || before
                .as_node()
                .is_some_and(|n| clean(n) && n.text_range().end() < edit.range.start());
        if stop {
            break;
        }
        first = before;
    }
    while let Some(after) = last.next_sibling_or_token() {
        // What was skipped after a broken expression belongs to it.
        let belongs =
            is_gap(&after) || matches!(after.kind(), SyntaxKind::ERROR | SyntaxKind::SEMICOLON);
        if last.kind() == SyntaxKind::R_BRACE || is_brace(&after) || !belongs {
            break;
        }
        last = after;
    }
    // An empty run in front of the closing brace.
    let empty = last.kind() == SyntaxKind::R_BRACE;
    let end = if empty { last.text_range().start() } else { last.text_range().end() };
    if empty && edit.range.end() > end {
        return None;
    }
    let start = first.text_range().start().min(end);
    let next = if empty { Some(last.clone()) } else { last.next_sibling_or_token() };
    let far = parent.ancestors().last()?.text_range().end();
    let sight = match &next {
        // One more statement in sight, or a few lines behind the block.
        Some(NodeOrToken::Node(node)) => node.text_range().end() + TextSize::new(80),
        Some(NodeOrToken::Token(token)) => token.text_range().end() + TextSize::new(400),
        None => far,
    };
    let before_statement = matches!(next, Some(NodeOrToken::Node(_)));
    let until = if empty { last.index() } else { last.index() + 1 };
    Some(Run {
        parent: parent.clone(),
        children: first.index().min(until)..until,
        range: TextRange::new(start, end),
        sight: sight.min(end + TextSize::new(20_000)).min(far),
        before_statement,
    })
}

/// Whether the block's first statement is on a line of its own.
fn on_lines(block: &SyntaxNode) -> bool {
    block
        .children_with_tokens()
        .skip(1)
        .take_while(|e| e.kind().is_trivia())
        .any(|e| e.kind() == SyntaxKind::WHITESPACE && e.to_string().contains('\n'))
}
