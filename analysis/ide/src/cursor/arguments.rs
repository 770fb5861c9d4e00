//! Calls around the cursor and their arguments.

use syntax::{Node, NodeOrToken, SyntaxKind, TextSize, Token};

/// A call around the cursor.
#[derive(Debug)]
pub(crate) struct CallSite<'t> {
    /// The callee.
    pub(crate) callee: CalleeSyntax<'t>,
    /// The arguments before the one at the cursor.
    pub(crate) before: Arguments<'t>,
    /// The index of the argument at the cursor, counting attributes.
    pub(crate) argument: usize,
    /// The attribute whose value contains the cursor.
    pub(crate) attribute: Option<&'t str>,
    /// The arguments after the one at the cursor, if the parentheses are closed.
    pub(crate) after: Option<Arguments<'t>>,
}

/// The callee of a call.
#[derive(Debug)]
pub(crate) enum CalleeSyntax<'t> {
    /// An operator or a constructor: `nn.conv2d`.
    Name(String),
    /// `@f`
    Global(Token<'t>),
    /// `%f`
    Variable(Token<'t>),
    /// An expression that ends at this offset.
    Expr(TextSize),
}

/// Some arguments of a call.
#[derive(Debug, Default)]
pub(crate) struct Arguments<'t> {
    /// The arguments without attributes; the name of each one that is a variable.
    pub(crate) variables: Vec<Option<&'t str>>,
    /// The names of the attributes.
    pub(crate) attributes: Vec<&'t str>,
}

impl<'t> CallSite<'t> {
    /// Returns the call if `list` is its list of arguments.
    pub(super) fn new(call: Node<'t>, list: Node<'t>, cursor: TextSize) -> Option<CallSite<'t>> {
        let callee = call.children().next().filter(|_| list.kind() == SyntaxKind::ARG_LIST)?;
        let (segments, closed) = segments(list);
        let argument = segments.partition_point(|segment| segment.start < cursor).checked_sub(1)?;
        let (before, rest) = segments.split_at(argument);
        let here = rest.first()?;
        Some(CallSite {
            callee: CalleeSyntax::new(callee)?,
            before: Arguments::new(before),
            argument,
            attribute: here.attribute.filter(|name| name.range().end() < cursor).map(Token::text),
            after: closed.then(|| Arguments::new(&rest[1..])),
        })
    }
}

impl<'t> CalleeSyntax<'t> {
    fn new(node: Node<'t>) -> Option<CalleeSyntax<'t>> {
        Some(match node.kind() {
            SyntaxKind::NAME_REF => {
                let tokens = node.tokens().filter(|token| !token.kind().is_trivia());
                CalleeSyntax::Name(tokens.map(Token::text).collect())
            }
            SyntaxKind::GLOBAL_REF => CalleeSyntax::Global(node.first_token()?),
            SyntaxKind::LOCAL_REF | SyntaxKind::GRAPH_REF => {
                CalleeSyntax::Variable(node.first_token()?)
            }
            _ => CalleeSyntax::Expr(node.range().end()),
        })
    }
}

impl<'t> Arguments<'t> {
    /// Returns the arguments of a list, if its parentheses are closed.
    pub(super) fn of(list: Node<'t>) -> Option<Arguments<'t>> {
        let (segments, closed) = segments(list);
        let is_empty = |segment: &Segment<'_>| segment.nodes.is_empty();
        let is_none = segments.len() == 1 && segments.iter().all(is_empty);
        closed.then(|| if is_none { Arguments::default() } else { Arguments::new(&segments) })
    }

    fn new(segments: &[Segment<'t>]) -> Arguments<'t> {
        let mut arguments = Arguments::default();
        for segment in segments {
            match segment.attribute {
                Some(name) => arguments.attributes.push(name.text()),
                None => arguments.variables.push(segment.variable()),
            }
        }
        arguments
    }
}

/// The part of a list of arguments between two commas. Where a comma is missing, it has more than
/// one node.
struct Segment<'t> {
    start: TextSize,
    nodes: Vec<Node<'t>>,
    /// The name of the attribute.
    attribute: Option<Token<'t>>,
}

impl<'t> Segment<'t> {
    fn variable(&self) -> Option<&'t str> {
        let [node] = self.nodes[..] else { return None };
        matches!(node.kind(), SyntaxKind::LOCAL_REF | SyntaxKind::GRAPH_REF)
            .then(|| node.first_token().map(Token::text))?
    }

    fn at(start: TextSize) -> Self {
        Segment { start, nodes: Vec::new(), attribute: None }
    }
}

/// Splits a list at its commas. Returns true with the parts if the list is closed.
fn segments(list: Node<'_>) -> (Vec<Segment<'_>>, bool) {
    let mut segments = vec![Segment::at(list.start())];
    let mut closed = false;
    let is_comma = |node: Node<'_>| {
        node.kind() == SyntaxKind::ERROR && node.token(SyntaxKind::COMMA).is_some()
    };
    for element in list.elements() {
        let Some(segment) = segments.last_mut() else { break };
        match element {
            NodeOrToken::Token(token) => match token.kind() {
                SyntaxKind::COMMA => segments.push(Segment::at(token.start())),
                SyntaxKind::R_PAREN => closed = true,
                _ => {}
            },
            // A comma without an argument before it: `add(, %x)`.
            NodeOrToken::Node(node) if is_comma(node) => {
                segments.push(Segment::at(node.start()));
            }
            NodeOrToken::Node(node) => {
                if node.kind() == SyntaxKind::ATTR {
                    segment.attribute = node.first_token();
                }
                segment.nodes.push(node);
            }
        }
    }
    (segments, closed)
}
