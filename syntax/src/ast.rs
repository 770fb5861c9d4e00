//! The typed syntax tree, generated from one table.
//!
//! Each row names a type, its node kind and its accessors. All accessors return options, because
//! the tree of a broken text may lack any child. Like [`Node`], the types are two words in size and
//! own no memory.

use crate::{Node, NodeOrToken, SyntaxKind, Token};

/// A typed view of a node.
pub trait AstNode<'t>: Copy {
    /// Returns true if [`AstNode::cast`] accepts nodes of this kind.
    fn can_cast(kind: SyntaxKind) -> bool;
    /// Returns the typed view of `node` if it is of the right kind.
    fn cast(node: Node<'t>) -> Option<Self>;
    /// Returns the untyped node.
    fn node(self) -> Node<'t>;
    /// Returns the byte range of the node.
    fn range(self) -> crate::TextRange {
        self.node().range()
    }
}

fn nth<'t, N: AstNode<'t>>(node: Node<'t>, n: usize) -> Option<N> {
    node.children().filter_map(N::cast).nth(n)
}

macro_rules! ast {
    ($($(#[$doc:meta])* $name:ident = $kind:ident {
        $($arity:ident $field:ident: $child:ident $([$n:literal])?,)*
    })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name<'t>(Node<'t>);

            impl<'t> AstNode<'t> for $name<'t> {
                fn can_cast(kind: SyntaxKind) -> bool {
                    kind == SyntaxKind::$kind
                }
                fn cast(node: Node<'t>) -> Option<Self> {
                    Self::can_cast(node.kind()).then_some(Self(node))
                }
                fn node(self) -> Node<'t> {
                    self.0
                }
            }

            impl<'t> $name<'t> {
                $(ast!(@field $arity $field $child $($n)?);)*
            }
        )*

        #[cfg(test)]
        const KINDS: &[SyntaxKind] = &[$(SyntaxKind::$kind,)*];
    };
    (@field one $field:ident $child:ident) => { ast!(@field one $field $child 0); };
    (@field one $field:ident $child:ident $n:literal) => {
        #[doc = concat!("Returns the [`", stringify!($child), "`] child with index ", $n, ".")]
        pub fn $field(self) -> Option<$child<'t>> { nth(self.0, $n) }
    };
    (@field many $field:ident $child:ident) => {
        #[doc = concat!("Returns the [`", stringify!($child), "`] children in order.")]
        pub fn $field(self) -> impl Iterator<Item = $child<'t>> + Clone {
            self.0.children().filter_map($child::cast)
        }
    };
    (@field token $field:ident $child:ident) => {
        #[doc = concat!("Returns the first `", stringify!($child), "` token.")]
        pub fn $field(self) -> Option<Token<'t>> { self.0.token(SyntaxKind::$child) }
    };
}

macro_rules! ast_enum {
    ($($(#[$doc:meta])* $name:ident = $($variant:ident)|*;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            #[allow(missing_docs, clippy::allow_attributes, reason = "the types are documented")]
            pub enum $name<'t> { $($variant($variant<'t>),)* }

            impl<'t> AstNode<'t> for $name<'t> {
                fn can_cast(kind: SyntaxKind) -> bool {
                    $($variant::can_cast(kind))||*
                }
                fn cast(node: Node<'t>) -> Option<Self> {
                    $(if let Some(it) = $variant::cast(node) { return Some(Self::$variant(it)); })*
                    None
                }
                fn node(self) -> Node<'t> {
                    match self { $(Self::$variant(it) => it.node(),)* }
                }
            }
        )*
    };
}

ast! {
    /// A whole file.
    SourceFile = SOURCE_FILE { many items: Item, }
    /// `#[version = "0.0.5"]`
    Version = VERSION { token string: STRING, }
    /// `def @f(…) { … }`
    FnDef = FN_DEF {
        one name: Name, one type_params: TypeParamList, one params: ParamList, one ret: RetType,
        one where_clause: WhereClause, one body: Block, one external: MetaExpr,
    }
    /// `type T[A] { … }`, `extern type T`
    TypeDef = TYPE_DEF {
        one name: Name, one type_params: TypeParamList, one constructors: ConstructorList,
        token extern_token: EXTERN_KW,
    }
    /// A bare expression instead of definitions: `%0 = add(1, 2); %0`
    ExprItem = EXPR_ITEM { one block: Block, }
    /// `#[metadata] …`
    MetadataItem = METADATA_ITEM { token text: METADATA, }
    /// A TIR function, kept as one token.
    TirItem = TIR_ITEM { token text: TIR_TEXT, }
    /// A log line between two printed modules.
    BannerItem = BANNER_ITEM { token text: BANNER, }
    /// Tokens skipped by error recovery.
    ErrorNode = ERROR {}

    /// `{ Cons(A, List[A]), Nil }`
    ConstructorList = CONSTRUCTOR_LIST { many constructors: Constructor, }
    /// `Cons(A, List[A])`
    Constructor = CONSTRUCTOR { one name: Name, one fields: TupleType, one ret: RetType, }
    /// `[A, B]`
    TypeParamList = TYPE_PARAM_LIST { many params: TypeParam, }
    /// `A`, `s : Shape`
    TypeParam = TYPE_PARAM {}
    /// `(%x: T, axis=1)`
    ParamList = PARAM_LIST { many params: Param, many attrs: Attr, }
    /// `%x: T`
    Param = PARAM { one name: Name, one device: VirtualDevice, one ty: Type, }
    /// `{virtual_device=…}`
    VirtualDevice = VIRTUAL_DEVICE { many attrs: Attr, }
    /// `-> T`
    RetType = RET_TYPE { one ty: Type, }
    /// `where Broadcast`
    WhereClause = WHERE_CLAUSE { many relations: Relation, }
    /// `Broadcast(a, b, c)`
    Relation = RELATION { one args: TupleType, }
    /// The name at a definition, a binding or an attribute.
    Name = NAME {}

    /// Statements and a tail expression, in braces or bare: `let %x = 1; %x`
    Block = BLOCK { many stmts: Stmt, }
    /// `let %x: T = e;`
    LetStmt = LET_STMT { one name: Name, one ty: Type, one value: BlockOrExpr, }
    /// `%0 = e;`
    GraphStmt = GRAPH_STMT { one name: Name, one value: Expr, }
    /// `free_var %x: T;`
    FreeVarStmt = FREE_VAR_STMT { one name: Name, one ty: Type, }
    /// `e;`
    ExprStmt = EXPR_STMT { one expr: Expr, }

    /// `1`, `1.5f16`, `True`, and in attributes `"NCHW"`.
    Literal = LITERAL {}
    /// `%x`
    LocalRef = LOCAL_REF { token name: LOCAL, }
    /// `%0`
    GraphRef = GRAPH_REF { token name: GRAPH, }
    /// `@f`
    GlobalRef = GLOBAL_REF { token name: GLOBAL, }
    /// An operator or a constructor: `nn.relu`, `Cons`
    NameRef = NAME_REF {}
    /// `meta[relay.Constant][0]`
    MetaExpr = META_EXPR { token text: META_REF, }
    /// `Constant(1, (10, 10), float32)`
    ConstantExpr = CONSTANT_EXPR { one value: Literal, one shape: Shape, one dtype: Type, }
    /// `(e)`
    ParenExpr = PAREN_EXPR { one inner: BlockOrExpr, }
    /// `(a, b)`
    TupleExpr = TUPLE_EXPR { many fields: BlockOrExpr, }
    /// `%t.0`
    ProjExpr = PROJ_EXPR { one tuple: Expr, token index: INT, }
    /// `f(%x)`
    CallExpr = CALL_EXPR { one callee: Expr, one type_args: TypeArgList, one args: ArgList, }
    /// `<(10, 10), float32>`
    TypeArgList = TYPE_ARG_LIST { many args: TypeArg, }
    /// `(%a, %b, axis=1)`
    ArgList = ARG_LIST { many args: BlockOrExpr, many attrs: Attr, }
    /// `a + b`
    InfixExpr = INFIX_EXPR { one left: Expr, one right: Expr[1], }
    /// `if (c) { a } else { b }`
    IfExpr = IF_EXPR { one cond: Expr, one then: BlockOrExpr[1], one otherwise: BlockOrExpr[2], }
    /// `match (e) { … }`
    MatchExpr = MATCH_EXPR { one scrutinee: Expr, one arms: ArmList, token partial: QUESTION, }
    /// `{ A => a, B => b }`
    ArmList = ARM_LIST { many arms: Arm, }
    /// `A(%x) => e`
    Arm = ARM { one pattern: Pattern, one body: BlockOrExpr, }
    /// `fn (%x) { … }`
    FnExpr = FN_EXPR {
        one type_params: TypeParamList, one params: ParamList, one ret: RetType,
        one where_clause: WhereClause, one body: Block,
    }
    /// `{ … }` as an expression.
    BlockExpr = BLOCK_EXPR { one block: Block, }
    /// `ref(e)`
    RefExpr = REF_EXPR { one value: BlockOrExpr, }
    /// `ref_read(r)`
    RefReadExpr = REF_READ_EXPR { one reference: BlockOrExpr, }
    /// `ref_write(r, e)`
    RefWriteExpr = REF_WRITE_EXPR { one reference: BlockOrExpr, one value: BlockOrExpr[1], }

    /// `name=value`
    Attr = ATTR { one name: Name, one value: AttrValue, }
    /// `[1, 2]`
    AttrList = ATTR_LIST { many values: AttrValue, }
    /// `{a=1}`
    AttrMap = ATTR_MAP { many entries: Attr, }
    /// A value that TVM prints but does not parse: `VirtualDevice(device_type=1)`, `'main'`
    AttrOpaque = ATTR_OPAQUE {}

    /// `_`
    WildcardPat = WILDCARD_PAT {}
    /// `%x: T`
    VarPat = VAR_PAT { one name: Name, one ty: Type, }
    /// `Cons(%x, _)`
    ConstructorPat = CONSTRUCTOR_PAT { one name: NameRef, many fields: Pattern, }
    /// `(%a, _)`
    TuplePat = TUPLE_PAT { many fields: Pattern, }

    /// `Tensor[(1, 64), float32]`
    TensorType = TENSOR_TYPE { one shape: Shape, one dtype: NamedType, }
    /// `(1, ?, n)`, or a shape variable
    Shape = SHAPE { many dims: Dim, }
    /// `1`, `?`, `n`
    Dim = DIM {}
    /// `(A, B)`
    TupleType = TUPLE_TYPE { many fields: Type, }
    /// `fn (A) -> B`
    FnType = FN_TYPE {
        one type_params: TypeParamList, one params: TupleType, one ret: RetType,
        one where_clause: WhereClause,
    }
    /// `float32`, `List[A]`
    NamedType = NAMED_TYPE { token name: IDENT, many args: TypeArg, }
    /// `ref(T)`
    RefType = REF_TYPE { one inner: Type, }
    /// `_`
    HoleType = HOLE_TYPE {}
    /// `meta[…][0]` as a type.
    MetaType = META_TYPE { token text: META_REF, }
}

ast_enum! {
    /// An item of a file.
    Item = Version | FnDef | TypeDef | ExprItem | MetadataItem | TirItem | BannerItem | ErrorNode;
    /// A statement of a block.
    Stmt = LetStmt | GraphStmt | FreeVarStmt | ExprStmt;
    /// An expression.
    Expr = Literal | LocalRef | GraphRef | GlobalRef | NameRef | MetaExpr | ConstantExpr
        | ParenExpr | TupleExpr | ProjExpr | CallExpr | InfixExpr | IfExpr | MatchExpr | FnExpr
        | BlockExpr | RefExpr | RefReadExpr | RefWriteExpr;
    /// An expression, or a block without braces as in `(let %x = 1; %x)`.
    BlockOrExpr = Block | Literal | LocalRef | GraphRef | GlobalRef | NameRef | MetaExpr
        | ConstantExpr | ParenExpr | TupleExpr | ProjExpr | CallExpr | InfixExpr | IfExpr
        | MatchExpr | FnExpr | BlockExpr | RefExpr | RefReadExpr | RefWriteExpr;
    /// A pattern of a `match` arm.
    Pattern = WildcardPat | VarPat | ConstructorPat | TuplePat;
    /// A type.
    Type = TensorType | TupleType | FnType | NamedType | RefType | HoleType | MetaType;
    /// An argument of a type or a call: a type, a shape or a size.
    TypeArg = TensorType | TupleType | FnType | NamedType | RefType | HoleType | MetaType | Shape
        | Dim;
    /// The value of an attribute.
    AttrValue = Literal | AttrList | AttrMap | AttrOpaque | MetaExpr | NameRef | LocalRef | GraphRef
        | GlobalRef | ParenExpr | TupleExpr | FnExpr | IfExpr | MatchExpr | BlockExpr | RefExpr
        | RefReadExpr | RefWriteExpr | ConstantExpr;
}

impl<'t> Block<'t> {
    /// Returns the tail expression, the value of the block.
    pub fn tail(self) -> Option<Expr<'t>> {
        self.0.children().rev().find_map(Expr::cast)
    }
}

impl<'t> TypeParam<'t> {
    /// Returns the parameter's name.
    pub fn name(self) -> Option<Token<'t>> {
        self.0.token(SyntaxKind::IDENT)
    }

    /// Returns the declared kind: `Type`, `Shape`, `ShapeVar` or `BaseType`.
    pub fn kind(self) -> Option<Token<'t>> {
        self.0.tokens().filter(|t| t.kind() == SyntaxKind::IDENT).nth(1)
    }
}

impl<'t> InfixExpr<'t> {
    /// Returns the operator between the operands.
    pub fn operator(self) -> Option<Token<'t>> {
        self.0.tokens().find(|t| !t.kind().is_trivia())
    }
}

impl<'t> NameRef<'t> {
    /// Returns the name with its dots and without white space: `nn.conv2d`.
    pub fn text(self) -> std::borrow::Cow<'t, str> {
        joined(self.0)
    }
}

impl<'t> Name<'t> {
    /// Returns the whole name with its sigil: `%x`, `%input.1`, `@main`, `axis`.
    pub fn text(self) -> std::borrow::Cow<'t, str> {
        joined(self.0)
    }
}

fn joined(node: Node<'_>) -> std::borrow::Cow<'_, str> {
    // Fast path: most names are one token.
    let mut elements = node.parts();
    if let (Some(NodeOrToken::Token(name)), None) = (elements.next(), elements.next()) {
        return name.text().into();
    }
    let mut tokens = node.tokens().filter(|t| !t.kind().is_trivia());
    let first = tokens.next().map_or("", Token::text);
    match tokens.next() {
        None => first.into(),
        Some(second) => {
            let mut text = format!("{first}{}", second.text());
            tokens.for_each(|t| text.push_str(t.text()));
            text.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_kind_has_one_type() {
        // Chunks are hidden.
        let is_visible = |k: &SyntaxKind| k.is_node() && *k != SyntaxKind::CHUNK;
        let nodes: Vec<_> = SyntaxKind::ALL.iter().copied().filter(is_visible).collect();
        let mut typed = KINDS.to_vec();
        typed.sort();
        assert_eq!(typed, nodes);
    }
}
