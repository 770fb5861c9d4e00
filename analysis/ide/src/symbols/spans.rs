//! The names of the framework's program that `span=` comments tell, as workspace symbols.

use rustc_hash::FxHashSet;
use syntax::{
    Node, NodeOrToken, Parse, SyntaxKind, TextRange, TextSize,
    ast::{self, AstNode},
};

use super::{SymbolEntry, SymbolKind};
use crate::shapes::layer;

/// The maximal number of names of a file.
const MAX_SPANS: usize = 1 << 14;

/// Returns the names in the comments of a syntax tree, each at the first binding that comes from there. It runs no
/// query, so that the tree need not be kept.
pub fn listed_spans(parse: &Parse) -> Vec<SymbolEntry> {
    let mut found = Vec::new();
    for item in Node::root(&parse.green).children() {
        let name = ast::FnDef::cast(item).and_then(|def| def.name());
        let of = name.map(|name| name.text().into_owned());
        let mut seen = FxHashSet::default();
        for (_, name, place) in spans_in(item) {
            if found.len() == MAX_SPANS {
                return found;
            }
            if seen.insert(name.clone()) {
                let range = TextRange::empty(place);
                found.push(SymbolEntry { name, kind: SymbolKind::Layer, range, of: of.clone() });
            }
        }
    }
    found
}

/// Returns the comments of an item that name something, in order: the start of each, the name, and the start of the
/// statement around it, or of what precedes it.
fn spans_in(item: Node<'_>) -> Vec<(TextSize, String, TextSize)> {
    let mut found = Vec::new();
    let mut stack: Vec<(Node<'_>, Option<TextSize>)> = vec![(item, None)];
    while let Some((node, around)) = stack.pop() {
        let statement = around.or_else(|| node.kind().is_stmt().then(|| node.start()));
        let mut before = node.start();
        for element in node.elements() {
            match element {
                NodeOrToken::Node(child) => {
                    before = child.start();
                    stack.push((child, statement));
                }
                NodeOrToken::Token(token) if token.kind() == SyntaxKind::BLOCK_COMMENT => {
                    let Some((_, span)) = token.text().rsplit_once("span=") else { continue };
                    let name = layer(span.trim_end_matches("*/").trim());
                    if !name.is_empty() {
                        found.push((token.start(), name, statement.unwrap_or(before)));
                    }
                }
                NodeOrToken::Token(_) => {}
            }
        }
    }
    found.sort_by_key(|(start, ..)| *start);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_the_framework_leads_to_its_first_binding() {
        let text = "\
def @main(%x: Tensor[(2, 4), float32]) {
  %0 = tanh(%x) /* ty=Tensor[(2, 4), float32] span=aten::tanh_0:0:0 */;
  let %a = exp(%0) /* span=encoder/exp:0:0 */;
  let %b = exp(%a) /* span=encoder/exp:0:0 */;
  add(%b, %a) /* ty=Tensor[(2, 4), float32] span=aten::add_1:0:0 */
}
";
        let parse = syntax::parse(text);
        let found = listed_spans(&parse);
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|symbol| (symbol.name.as_str(), &text[usize::from(symbol.range.start())..][..8]))
            .collect();
        let expected = [
            ("aten::tanh_0", "%0 = tan"),
            ("encoder/exp", "let %a ="),
            ("aten::add_1", "add(%b, "),
        ];
        assert_eq!(found, expected);
        let parse = syntax::parse("def @f( { /* span= */ %0 = /* span=a */");
        assert!(listed_spans(&parse).iter().all(|symbol| symbol.name == "a"));
    }
}
