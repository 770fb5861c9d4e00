//! The arguments that follow the cursor, for ranking completions in a call that is complete:
//! in `add($0, %y)` the argument has to fit `%y`.

use syntax::{Node, SyntaxKind, T, TextSize, Token};

/// The maximal number of tokens to scan.
const MAX_TOKENS: usize = 400;

/// The arguments and attributes between the cursor and the closing parenthesis of the call.
#[derive(Default)]
pub(super) struct Lookahead<'t> {
    /// The arguments; the token of each one that is a variable.
    pub(super) arguments: Vec<Option<Token<'t>>>,
    /// The names of the attributes.
    pub(super) attributes: Vec<&'t str>,
}

/// Returns the arguments of the call whose `(` is the first token after `offset`.
pub(super) fn arguments_of_call(root: Node<'_>, offset: TextSize) -> Option<Lookahead<'_>> {
    let mut tokens = tokens_from(root, offset);
    tokens.next().filter(|token| token.kind() == T!["("])?;
    rest(tokens)
}

/// Returns the arguments that follow the one at `offset`, if the call is closed.
pub(super) fn arguments_after(root: Node<'_>, offset: TextSize) -> Option<Lookahead<'_>> {
    let mut lookahead = rest(tokens_from(root, offset))?;
    // The first one is the rest of the argument at `offset`.
    if !lookahead.arguments.is_empty() {
        lookahead.arguments.remove(0);
    }
    Some(lookahead)
}

/// Splits the tokens before the closing parenthesis at commas.
fn rest<'t>(tokens: impl Iterator<Item = Token<'t>>) -> Option<Lookahead<'t>> {
    let mut lookahead = Lookahead::default();
    let mut segment: Vec<Token<'t>> = Vec::new();
    let mut depth = 0u32;
    for token in tokens {
        match token.kind() {
            T!["("] | T!["["] => depth += 1,
            T![")"] if depth == 0 => {
                if !segment.is_empty() || !lookahead.arguments.is_empty() {
                    lookahead.add(&segment);
                }
                return Some(lookahead);
            }
            T![")"] | T!["]"] => depth = depth.checked_sub(1)?,
            T![","] if depth == 0 => {
                lookahead.add(&segment);
                segment.clear();
                continue;
            }
            // The end of the statement: the call is not closed.
            T![";"] | T!["}"] | T!["let"] | T!["def"] => return None,
            _ => {}
        }
        segment.push(token);
    }
    None
}

impl<'t> Lookahead<'t> {
    fn add(&mut self, segment: &[Token<'t>]) {
        match segment {
            [name, equals, ..] if equals.kind() == T!["="] => self.attributes.push(name.text()),
            [only] if matches!(only.kind(), SyntaxKind::LOCAL | SyntaxKind::GRAPH) => {
                self.arguments.push(Some(*only));
            }
            _ => self.arguments.push(None),
        }
    }
}

/// Returns the tokens after `offset` that are not trivia.
fn tokens_from(root: Node<'_>, mut offset: TextSize) -> impl Iterator<Item = Token<'_>> {
    let all = std::iter::from_fn(move || {
        let token = root.token_at(offset)?;
        offset = token.range().end();
        Some(token)
    });
    all.take(MAX_TOKENS).filter(|token| !token.kind().is_trivia())
}

#[cfg(test)]
mod tests {
    use syntax::{Node, TextSize};

    use super::{Lookahead, arguments_after, arguments_of_call};

    fn render(lookahead: Option<Lookahead<'_>>) -> String {
        let Some(lookahead) = lookahead else { return "open".to_owned() };
        let arguments: Vec<&str> = lookahead
            .arguments
            .iter()
            .map(|token| token.map_or("…", |token| token.text()))
            .collect();
        format!("({}) {}", arguments.join(", "), lookahead.attributes.join(" "))
            .trim_end()
            .to_owned()
    }

    #[test]
    fn lookahead_finds_arguments_of_closed_calls() {
        let at = |text: &str| TextSize::new(text.find("$0").expect("a cursor") as u32);
        let call = |text: &str| {
            let parse = syntax::parse(&text.replace("$0", ""));
            render(arguments_of_call(Node::root(&parse.green), at(text)))
        };
        assert_eq!(call("def @f() { $0(%x, add(%x, %y), %2, axis=[1, 2]) }"), "(%x, …, %2) axis");
        assert_eq!(call("def @f() { $0() }"), "()");
        assert_eq!(call("def @f() { $0 (%x }"), "open");
        assert_eq!(call("def @f() { $0 }"), "open");
        let after = |text: &str| {
            let parse = syntax::parse(&text.replace("$0", ""));
            render(arguments_after(Node::root(&parse.green), at(text)))
        };
        assert_eq!(after("def @f() { add($0, %y) }"), "(%y)");
        assert_eq!(after("def @f() { add(%x, $0) }"), "()");
        assert_eq!(after("def @f() { sum(add(%x, %a)$0, axis=1) }"), "() axis");
        assert_eq!(after("def @f() { %0 = add($0\n %1 = add(%x, %y); %1 }"), "open");
    }
}
