//! The trees of printed tensor types, which the lexer reads as one composite token each.
//!
//! A module of 14,506 lines has 18,504 tensor types, of which four are distinct. Each of these is
//! split into its separate tokens and parsed by the grammar once, before the text that contains it, so
//! that the builder of the tree only looks it up. The tree is that of the separate tokens.

use crate::{
    ParseLimits, grammar,
    input::Input,
    interner::Interner,
    lexer::{TensorTypes, Tokens, lex},
    parser::Parser,
};

/// Adds the trees of the tensor types among the tokens of `text` to the interner, and their numbers
/// to the tokens.
pub(crate) fn intern<'t>(
    text: &'t str,
    tokens: &mut Tokens,
    mut interner: Interner<'t>,
) -> Interner<'t> {
    for token in &mut tokens.tensors {
        let text = &text[token.start as usize..token.end as usize];
        token.tree = match interner.find_tensor(text) {
            Some(tree) => tree,
            None => {
                let input = Input::new(text, lex(text, TensorTypes::Spelled));
                let mut parser = Parser::new(input, ParseLimits::default(), interner);
                grammar::types::tensor_type(&mut parser);
                let parsed = parser.finish();
                interner = parsed.interner;
                interner.insert_tensor(text, parsed.green)
            }
        };
    }
    interner
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Parse, SyntaxKind, parse_tokens};

    #[test]
    fn printed_type_has_the_tree_of_its_separate_tokens() {
        let ty = "Tensor[(1, ?, 64), float32]";
        let text = format!(
            "type Pair[A] {{ P(A, {ty}) }}\n\
             def @main(%x: {ty} /* ty={ty} */, %f: fn ({ty}) -> ({ty}, {ty})) -> List[{ty}] {{\n  \
             let %y: {ty} = %f(%x).0;\n  let %g = fn (%z: {ty}) -> {ty} {{ %z }};\n  \
             @id<{ty}>(%g(%y));\n  free_var %w: ref({ty});\n  Cons(%w, Nil)\n}}\n"
        );
        let parsed = |types: TensorTypes| -> (Parse, bool) {
            let tokens = lex(&text, types);
            let has_composite = tokens.kinds.contains(&SyntaxKind::TENSOR_TEXT);
            let limits = ParseLimits::default();
            (parse_tokens(&text, tokens, limits, grammar::source_file), has_composite)
        };
        let (whole, spelled) = (parsed(TensorTypes::Whole), parsed(TensorTypes::Spelled));
        assert!(whole.1 && !spelled.1);
        assert_eq!(whole.0, spelled.0);
    }
}
