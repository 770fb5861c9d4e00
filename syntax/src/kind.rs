//! The table of token and node kinds.
//!
//! All properties of a kind (its name in messages, keyword, trivia) are derived from this table, so
//! that a new kind is one new row.

/// Declares [`SyntaxKind`]: trivia, tokens with a fixed spelling, keywords, other tokens, nodes.
macro_rules! kinds {
    (
        trivia { $($trivia:ident $trivia_name:literal,)* }
        punct { $($punct:ident $punct_text:tt,)* }
        keyword { $($keyword:ident $keyword_text:tt,)* }
        token { $($token:ident $token_name:literal,)* }
        node { $($node:ident $node_name:literal,)* }
    ) => {
        /// The kind of a token or node in the tree.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        #[expect(non_camel_case_types, reason = "kinds are spelled as the grammar spells them")]
        #[allow(missing_docs, clippy::allow_attributes, reason = "each kind is described in the table")]
        pub enum SyntaxKind {
            $($trivia,)*
            $($punct,)*
            $($keyword,)*
            $($token,)*
            $($node,)*
        }

        impl SyntaxKind {
            /// Every kind, in the order of the table.
            pub const ALL: &'static [SyntaxKind] = &[
                $(Self::$trivia,)* $(Self::$punct,)* $(Self::$keyword,)* $(Self::$token,)* $(Self::$node,)*
            ];

            /// Returns the name of the kind in messages: `` `;` ``, `a local variable`, `a call`.
            pub fn describe(self) -> &'static str {
                match self {
                    $(Self::$trivia => $trivia_name,)*
                    $(Self::$punct => concat!("`", $punct_text, "`"),)*
                    $(Self::$keyword => concat!("`", $keyword_text, "`"),)*
                    $(Self::$token => $token_name,)*
                    $(Self::$node => $node_name,)*
                }
            }

            /// Returns true for white space and comments, which are invisible to the grammar.
            pub fn is_trivia(self) -> bool {
                matches!(self, $(Self::$trivia)|*)
            }

            /// Returns true for tokens with a fixed spelling.
            pub fn is_fixed(self) -> bool {
                matches!(self, $(Self::$punct)|* | $(Self::$keyword)|*)
            }

            /// Returns true for the reserved words of TVM's text format.
            pub fn is_keyword(self) -> bool {
                matches!(self, $(Self::$keyword)|*)
            }

            /// Returns the keyword spelled `text`.
            pub fn from_keyword(text: &str) -> Option<SyntaxKind> {
                match text {
                    $($keyword_text => Some(Self::$keyword),)*
                    _ => None,
                }
            }

            /// Returns true for nodes, false for tokens.
            pub fn is_node(self) -> bool {
                matches!(self, $(Self::$node)|*)
            }
        }

        /// Names a fixed token by its spelling: `T![;]`, `T![let]`.
        #[macro_export]
        macro_rules! T {
            $([$punct_text] => { $crate::SyntaxKind::$punct };)*
            $([$keyword_text] => { $crate::SyntaxKind::$keyword };)*
        }
    };
}

kinds! {
    trivia {
        WHITESPACE "white space",
        LINE_COMMENT "a line comment",
        // The manual's comments: `# text`, where no `[` follows.
        HASH_COMMENT "a `#` comment",
        BLOCK_COMMENT "a comment",
    }
    punct {
        L_PAREN "(",
        R_PAREN ")",
        L_BRACK "[",
        R_BRACK "]",
        L_BRACE "{",
        R_BRACE "}",
        COMMA ",",
        SEMICOLON ";",
        COLON ":",
        COLON_EQ ":=",
        DOT ".",
        EQ "=",
        EQ2 "==",
        NEQ "!=",
        LT "<",
        LE "<=",
        GT ">",
        GE ">=",
        PLUS "+",
        MINUS "-",
        STAR "*",
        SLASH "/",
        AMP2 "&&",
        PIPE2 "||",
        THIN_ARROW "->",
        FAT_ARROW "=>",
        CARET "^",
        QUESTION "?",
        BANG "!",
        HASH "#",
        PERCENT "%",
        AT "@",
    }
    keyword {
        LET_KW "let",
        FN_KW "fn",
        DEF_KW "def",
        IF_KW "if",
        ELSE_KW "else",
        TYPE_KW "type",
        MATCH_KW "match",
        EXTERN_KW "extern",
        FREE_VAR_KW "free_var",
        REF_KW "ref",
        REF_READ_KW "ref_read",
        REF_WRITE_KW "ref_write",
        TRUE_KW "True",
        FALSE_KW "False",
    }
    token {
        // `%x`, `%resnet/conv1`, `%aten::linear_3.bias`
        LOCAL "a local variable",
        // `%12`
        GRAPH "a graph variable",
        // `@main`
        GLOBAL "a global name",
        // `add`, `nn.conv2d`, `float32`, `Cons`
        IDENT "a name",
        INT "an integer",
        FLOAT "a number",
        STRING "a string",
        // `'main'`: a global in an attribute, as TVM prints it without metadata.
        QUOTED_NAME "a quoted name",
        // `meta[relay.Constant][0]`
        META_REF "a metadata reference",
        // `#[metadata] { … }` to the end of the module, as one token.
        METADATA "the metadata section",
        // A log line between two printed modules.
        BANNER "a log line",
        // A TIR function in a module, as one token.
        TIR_TEXT "a TIR function",
        // A tensor type as TVM prints it: a composite token of the lexer. In a tree it is the
        // TENSOR_TYPE node of its separate tokens; see `crate::tensors`.
        TENSOR_TEXT "a tensor type",
        // `...` and `…`, where somebody cut the text.
        CUT "a place where the text was cut",
        UNKNOWN "an unknown character",
        END_OF_FILE "the end of the file",
    }
    node {
        SOURCE_FILE "a file",
        VERSION "a version header",
        FN_DEF "a function definition",
        TYPE_DEF "a type definition",
        EXPR_ITEM "a bare expression",
        METADATA_ITEM "a metadata section",
        TIR_ITEM "a TIR function",
        BANNER_ITEM "a log line",
        ERROR "an error",

        CONSTRUCTOR_LIST "a constructor list",
        CONSTRUCTOR "a constructor",
        TYPE_PARAM_LIST "a type parameter list",
        TYPE_PARAM "a type parameter",
        PARAM_LIST "a parameter list",
        PARAM "a parameter",
        VIRTUAL_DEVICE "a virtual device",
        RET_TYPE "a return type",
        WHERE_CLAUSE "a `where` clause",
        RELATION "a type relation",
        NAME "a name",

        BLOCK "a block",
        CHUNK "statements",
        LET_STMT "a `let` binding",
        GRAPH_STMT "a graph binding",
        FREE_VAR_STMT "a `free_var` declaration",
        EXPR_STMT "an expression statement",

        LITERAL "a literal",
        LOCAL_REF "a local variable",
        GRAPH_REF "a graph variable",
        GLOBAL_REF "a global name",
        NAME_REF "a name",
        META_EXPR "a metadata reference",
        CONSTANT_EXPR "a constant",
        PAREN_EXPR "a parenthesised expression",
        TUPLE_EXPR "a tuple",
        PROJ_EXPR "a tuple projection",
        CALL_EXPR "a call",
        TYPE_ARG_LIST "a type argument list",
        ARG_LIST "an argument list",
        INFIX_EXPR "an operator expression",
        IF_EXPR "an `if` expression",
        MATCH_EXPR "a `match` expression",
        ARM_LIST "a list of match arms",
        ARM "a match arm",
        FN_EXPR "a function expression",
        BLOCK_EXPR "a block",
        REF_EXPR "a reference",
        REF_READ_EXPR "a read of a reference",
        REF_WRITE_EXPR "a write to a reference",

        ATTR "an attribute",
        ATTR_LIST "an attribute list",
        ATTR_MAP "an attribute map",
        ATTR_OPAQUE "an attribute value",

        WILDCARD_PAT "a wildcard pattern",
        VAR_PAT "a variable pattern",
        CONSTRUCTOR_PAT "a constructor pattern",
        TUPLE_PAT "a tuple pattern",

        TENSOR_TYPE "a tensor type",
        SHAPE "a shape",
        DIM "a dimension",
        TUPLE_TYPE "a tuple type",
        FN_TYPE "a function type",
        NAMED_TYPE "a type name",
        REF_TYPE "a reference type",
        HOLE_TYPE "an omitted type",
        META_TYPE "a metadata reference",
    }
}

impl SyntaxKind {
    /// Returns true for the items of a file.
    pub fn is_item(self) -> bool {
        use SyntaxKind::*;
        matches!(
            self,
            VERSION
                | FN_DEF
                | TYPE_DEF
                | EXPR_ITEM
                | METADATA_ITEM
                | TIR_ITEM
                | BANNER_ITEM
                | ERROR
        )
    }

    /// Returns true for the statements of a block.
    pub fn is_stmt(self) -> bool {
        use SyntaxKind::*;
        matches!(self, LET_STMT | GRAPH_STMT | FREE_VAR_STMT | EXPR_STMT)
    }

    /// Returns the kind of a green node or token.
    #[inline]
    pub fn of(raw: rowan::SyntaxKind) -> SyntaxKind {
        SyntaxKind::from_raw(raw.0)
    }

    fn from_raw(raw: u16) -> SyntaxKind {
        // This crate creates no other raw kinds; if one appears, an error node beats a panic.
        Self::ALL.get(usize::from(raw)).copied().unwrap_or(SyntaxKind::ERROR)
    }
}

/// The language type that parameterises rowan's trees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Relay {}

impl rowan::Language for Relay {
    type Kind = SyntaxKind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> SyntaxKind {
        SyntaxKind::from_raw(raw.0)
    }

    fn kind_to_raw(kind: SyntaxKind) -> rowan::SyntaxKind {
        rowan::SyntaxKind(kind as u16)
    }
}

impl From<SyntaxKind> for rowan::SyntaxKind {
    fn from(kind: SyntaxKind) -> Self {
        rowan::SyntaxKind(kind as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_kinds_round_trip() {
        for &kind in SyntaxKind::ALL {
            assert_eq!(SyntaxKind::from_raw(kind as u16), kind);
        }
        assert_eq!(SyntaxKind::from_raw(u16::MAX), SyntaxKind::ERROR);
    }

    #[test]
    fn fixed_tokens_are_described_by_their_spelling() {
        assert_eq!(T![";"].describe(), "`;`");
        assert_eq!(T!["let"].describe(), "`let`");
        assert_eq!(SyntaxKind::from_keyword("ref_write"), Some(T!["ref_write"]));
    }
}
