//! What stands behind the cursor: the rest of the call that a name or an argument belongs to.

use syntax::{Node, SyntaxKind, T, TextSize, Token};

/// The most tokens that are looked at.
const MAX_TOKENS: usize = 400;

/// Arguments and attributes behind the cursor, up to the bracket that closes their call.
#[derive(Default)]
pub(super) struct Ahead<'t> {
    /// The arguments, each with its token if it is a plain variable.
    pub(super) arguments: Vec<Option<Token<'t>>>,
    /// The names of the attributes.
    pub(super) attributes: Vec<&'t str>,
}

/// The arguments of the call whose `(` is the first token from `offset` on.
pub(super) fn arguments_of_call(root: Node<'_>, offset: TextSize) -> Option<Ahead<'_>> {
    let mut tokens = tokens_from(root, offset);
    tokens.next().filter(|token| token.kind() == T!["("])?;
    rest(tokens)
}

/// What follows the argument that the cursor stands in, where its call is closed.
pub(super) fn arguments_behind(root: Node<'_>, offset: TextSize) -> Option<Ahead<'_>> {
    let mut ahead = rest(tokens_from(root, offset))?;
    // The first is what is left of the argument itself.
    if !ahead.arguments.is_empty() {
        ahead.arguments.remove(0);
    }
    Some(ahead)
}

/// Splits what stands in front of the closing bracket at its commas.
fn rest<'t>(tokens: impl Iterator<Item = Token<'t>>) -> Option<Ahead<'t>> {
    let mut ahead = Ahead::default();
    let mut segment: Vec<Token<'t>> = Vec::new();
    let mut depth = 0u32;
    for token in tokens {
        match token.kind() {
            T!["("] | T!["["] => depth += 1,
            T![")"] if depth == 0 => {
                if !segment.is_empty() || !ahead.arguments.is_empty() {
                    ahead.add(&segment);
                }
                return Some(ahead);
            }
            T![")"] | T!["]"] => depth = depth.checked_sub(1)?,
            T![","] if depth == 0 => {
                ahead.add(&segment);
                segment.clear();
                continue;
            }
            // The statement ends, or what follows is none: the call is not closed.
            T![";"] | T!["}"] | T!["let"] | T!["def"] => return None,
            _ => {}
        }
        segment.push(token);
    }
    None
}

impl<'t> Ahead<'t> {
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

/// The significant tokens from `offset` on.
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

    use super::{Ahead, arguments_behind, arguments_of_call};

    fn shown(ahead: Option<Ahead<'_>>) -> String {
        let Some(ahead) = ahead else { return "open".to_owned() };
        let arguments: Vec<&str> =
            ahead.arguments.iter().map(|token| token.map_or("…", |token| token.text())).collect();
        format!("({}) {}", arguments.join(", "), ahead.attributes.join(" ")).trim_end().to_owned()
    }

    #[test]
    fn the_rest_of_a_call() {
        let at = |text: &str| TextSize::new(text.find("$0").expect("a cursor") as u32);
        let call = |text: &str| {
            let parse = syntax::parse(&text.replace("$0", ""));
            shown(arguments_of_call(Node::root(&parse.green), at(text)))
        };
        assert_eq!(call("def @f() { $0(%x, add(%x, %y), %2, axis=[1, 2]) }"), "(%x, …, %2) axis");
        assert_eq!(call("def @f() { $0() }"), "()");
        assert_eq!(call("def @f() { $0 (%x }"), "open");
        assert_eq!(call("def @f() { $0 }"), "open");
        let behind = |text: &str| {
            let parse = syntax::parse(&text.replace("$0", ""));
            shown(arguments_behind(Node::root(&parse.green), at(text)))
        };
        assert_eq!(behind("def @f() { add($0, %y) }"), "(%y)");
        assert_eq!(behind("def @f() { add(%x, $0) }"), "()");
        assert_eq!(behind("def @f() { sum(add(%x, %a)$0, axis=1) }"), "() axis");
        assert_eq!(behind("def @f() { %0 = add($0\n %1 = add(%x, %y); %1 }"), "open");
    }
}
