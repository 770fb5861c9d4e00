//! The gap between two tokens: its default, and the edit that produces it.

use super::*;

impl<'t> Layout<'t> {
    /// Places a token after the previous one, with `gap` between them.
    pub(super) fn place(&mut self, gap: Gap, token: Token<'t>) {
        let range = TextRange::new(self.last_end, token.start());
        let after_cr = self.last_end > TextSize::new(0)
            && self.text.as_bytes().get(usize::from(self.last_end) - 1) == Some(&b'\r');
        let newline = if after_cr { "\n" } else { self.newline };
        match gap {
            Gap::Keep => {
                let there = &self.text[std::ops::Range::<usize>::from(range)];
                match there.rsplit_once('\n') {
                    Some((_, last)) => self.column = last.len(),
                    None => self.column += there.len(),
                }
            }
            Gap::Glue | Gap::Auto => self.replace(range, ""),
            Gap::Space => {
                self.replace(range, " ");
                self.column += 1;
            }
            Gap::Line { keep } => {
                let there = &self.text[std::ops::Range::<usize>::from(range)];
                let blank = keep && there.bytes().filter(|&b| b == b'\n').count() > 1;
                self.line(range, newline, blank);
            }
            Gap::Blank => self.line(range, newline, true),
        }
        self.last_end = token.range().end();
        let text = token.text();
        match text.rsplit_once('\n') {
            Some((_, last)) => self.column = last.chars().count(),
            None if text.is_ascii() => self.column += text.len(),
            None => self.column += text.chars().count(),
        }
    }

    pub(super) fn indent_text(&self) -> String {
        " ".repeat(self.indent.min(MAX_INDENT))
    }

    pub(super) fn line(&mut self, range: TextRange, newline: &str, blank: bool) {
        let there = &self.text[std::ops::Range::<usize>::from(range)];
        let indent = self.indent.min(MAX_INDENT);
        let head = newline.len() + if blank { self.newline.len() } else { 0 };
        let same = there.len() == head + indent
            && there.starts_with(newline)
            && (!blank || there[newline.len()..].starts_with(self.newline))
            && there.as_bytes()[head..].iter().all(|&b| b == b' ');
        if !same {
            let second = if blank { self.newline } else { "" };
            self.edits.push((range, format!("{newline}{second}{:indent$}", "")));
        }
        self.column = indent;
    }

    pub(super) fn replace(&mut self, range: TextRange, with: &str) {
        if self.text.get(std::ops::Range::<usize>::from(range)) != Some(with) {
            self.edits.push((range, with.to_owned()));
        }
    }

    /// Returns the default gap between the previous token and one of `kind` in a node of kind
    /// `parent`.
    pub(super) fn between(&self, kind: SyntaxKind, parent: SyntaxKind) -> Gap {
        let Some(last) = self.last else { return Gap::Glue };
        match (last, kind) {
            // `;;` of TVM 0.6.
            (SEMICOLON, SEMICOLON) => Gap::Keep,
            (_, COMMA | SEMICOLON | CARET | R_PAREN | R_BRACK) => Gap::Glue,
            (L_PAREN | L_BRACK, _) => Gap::Glue,
            (COMMA | SEMICOLON, _) => Gap::Space,
            (_, DOT) | (DOT, _) => Gap::Glue,
            (_, COLON) if parent == TYPE_PARAM || parent == CONSTRUCTOR => Gap::Space,
            (_, COLON) => Gap::Glue,
            (COLON, _) => Gap::Space,
            (_, EQ) if parent == ATTR => Gap::Glue,
            (EQ, _) if self.in_attr(parent) => Gap::Glue,
            (_, QUESTION) if parent == MATCH_EXPR => Gap::Glue,
            (LT, _) | (_, LT) | (_, GT)
                if matches!(parent, TYPE_PARAM_LIST | TYPE_ARG_LIST | NAMED_TYPE) =>
            {
                Gap::Glue
            }
            (LT, _) if parent != INFIX_EXPR && self.text_before_is_glued() => Gap::Glue,
            (HASH, L_BRACK) => Gap::Glue,
            // `- 1` and `-1` differ.
            (MINUS, _) | (_, MINUS) if parent == LITERAL => Gap::Keep,
            (MINUS, INT | FLOAT) => Gap::Keep,
            (_, INT | FLOAT) if parent == LITERAL && self.text_before_is_glued() => Gap::Keep,
            (_, L_BRACK) if matches!(parent, TENSOR_TYPE | NAMED_TYPE | META_EXPR | META_TYPE) => {
                Gap::Glue
            }
            (REF_KW | REF_READ_KW | REF_WRITE_KW, L_PAREN) => Gap::Glue,
            (IDENT, L_PAREN)
                if matches!(
                    parent,
                    DIM | CONSTRUCTOR_PAT | CONSTANT_EXPR | ATTR_OPAQUE | REF_TYPE
                ) =>
            {
                Gap::Glue
            }
            (L_BRACE, _) if matches!(parent, VIRTUAL_DEVICE | ATTR_MAP) => Gap::Glue,
            (L_BRACE, _) if self.in_attr(parent) || parent == NAME => Gap::Glue,
            (_, R_BRACE) if matches!(parent, VIRTUAL_DEVICE | ATTR_MAP) => Gap::Glue,
            _ => Gap::Space,
        }
    }

    /// Returns true if a token in a node of this kind that follows `=` is the value of an
    /// attribute.
    pub(super) fn in_attr(&self, parent: SyntaxKind) -> bool {
        // `Layout::statement` sets the space after the `=` of a statement.
        !matches!(parent, LET_STMT | GRAPH_STMT | VERSION)
    }

    pub(super) fn is_before_digit(&self, token: Token<'_>) -> bool {
        let next = self.text.as_bytes().get(usize::from(token.range().end()));
        next.is_some_and(u8::is_ascii_digit)
    }

    pub(super) fn text_before_is_glued(&self) -> bool {
        let rest = &self.text[usize::from(self.last_end)..];
        !rest.starts_with([' ', '\t', '\r', '\n'])
    }
}
