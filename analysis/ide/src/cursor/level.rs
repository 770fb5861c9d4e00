//! The state of the backward scan inside one pair of brackets.

use syntax::{SyntaxKind, Token};

use super::{CallSite, Callee};

/// The tokens directly inside a bracket, collected backwards from the cursor.
#[derive(Default)]
pub(super) struct Level<'t> {
    pub(super) commas: usize,
    pub(super) written: Vec<String>,
    pub(super) attribute: Option<String>,
    pub(super) arrow: bool,
    /// The number of tokens of the current argument.
    pub(super) tokens: usize,
    /// The token of the current argument if it is a variable.
    pub(super) variable: Option<Token<'t>>,
    /// The number of tokens between the start of the argument at the cursor and the cursor.
    pub(super) own: Option<usize>,
    /// The arguments, the last first; the token of each one that is a variable.
    pub(super) variables: Vec<Option<Token<'t>>>,
}

impl<'t> Level<'t> {
    pub(super) fn token(&mut self, token: Token<'t>) {
        self.tokens += 1;
        self.variable = matches!(token.kind(), SyntaxKind::LOCAL | SyntaxKind::GRAPH)
            .then_some(token)
            .filter(|_| self.tokens == 1);
    }

    pub(super) fn bracket(&mut self) {
        self.tokens += 2;
        self.variable = None;
    }

    pub(super) fn end_segment(&mut self) {
        self.own.get_or_insert(self.tokens);
        self.variables.push(self.variable.take().filter(|_| self.tokens == 1));
        self.tokens = 0;
    }

    pub(super) fn comma(&mut self) {
        self.end_segment();
        self.commas += 1;
    }

    pub(super) fn attr(&mut self, name: &str) {
        self.tokens += 2;
        if self.commas == 0 {
            self.attribute = Some(name.to_owned());
        } else {
            self.written.push(name.to_owned());
        }
    }

    pub(super) fn arrow_free(&self) -> bool {
        !self.arrow && self.own.unwrap_or(self.tokens) == 0
    }

    pub(super) fn call(&mut self, callee: Callee<'t>) -> CallSite<'t> {
        self.end_segment();
        let mut variables = std::mem::take(&mut self.variables);
        variables.reverse();
        variables.pop();
        CallSite {
            callee,
            argument: self.commas,
            written: std::mem::take(&mut self.written),
            attribute: self.attribute.take(),
            variables,
        }
    }
}
