//! Lowering of types.
//!
//! A type name is lowered to the data type of that name without a lookup; the list of type uses of
//! the unit is checked against the module later, so that a unit does not depend on the module.

use smol_str::SmolStr;
use syntax::{
    Node, SyntaxKind, TextRange,
    ast::{self, AstNode},
};
use types::{
    Constraint, DTypeTerm, DataType, Dim, Kind, Op, Param, PolyType, Releases, Shape, ShapeTerm,
    SymbolId, Type, TypeArg, open_tensor,
};

use super::{Lowerer, scope::Names};
use crate::{
    body::{ProblemKind, TypeUse, WhereRelation, WrittenAttr},
    relations,
};

impl Lowerer {
    pub(super) fn ty(&mut self, node: Node<'_>) -> Type {
        let Some(ty) = ast::Type::cast(node) else { return Type::Error };
        match ty {
            ast::Type::TensorType(tensor) => self.once(node, |this| this.tensor_type(tensor)),
            ast::Type::TupleType(tuple) => self
                .once(node, |this| Type::tuple(tuple.fields().map(|field| this.ty(field.node())))),
            ast::Type::FnType(func) => self.fn_type(func),
            ast::Type::NamedType(named) => self.named_type(named),
            ast::Type::RefType(reference) => {
                let inner = reference.inner().map_or(Type::Error, |inner| self.ty(inner.node()));
                Type::reference(inner)
            }
            ast::Type::HoleType(_) => Type::Hole,
            ast::Type::MetaType(_) => Type::Error,
        }
    }

    /// Lowers a shared node of the tree once, if its type does not depend on the context.
    fn once(&mut self, node: Node<'_>, read: impl FnOnce(&mut Self) -> Type) -> Type {
        let green = std::ptr::from_ref(node.green());
        if let Some(known) = self.shared.types.get(&green) {
            return known.clone();
        }
        let before = (self.unit.problems.len(), self.unit.type_uses.len());
        let ty = read(self);
        if before == (self.unit.problems.len(), self.unit.type_uses.len()) && is_plain(&ty) {
            self.shared.types.insert(green, ty.clone());
        }
        ty
    }

    fn fn_type(&mut self, func: ast::FnType<'_>) -> Type {
        let outer = self.type_params.len();
        let mut type_params = Vec::new();
        let mut names = Names::default();
        for param in func.type_params().into_iter().flat_map(ast::TypeParamList::params) {
            let Some(name) = param.name() else { continue };
            self.unique_param(func.type_params(), name, &type_params, &mut names);
            let kind = param.kind().and_then(|k| Kind::parse(k.text())).unwrap_or_default();
            type_params.push(self.declare_param(name.text(), kind));
        }
        let params = func.params().into_iter().flat_map(ast::TupleType::fields);
        let params: Vec<Type> = params.map(|ty| self.ty(ty.node())).collect();
        let ret = func.ret().and_then(ast::RetType::ty);
        let ret = ret.map_or(Type::Error, |ty| self.ty(ty.node()));
        let relations = func.where_clause().into_iter().flat_map(ast::WhereClause::relations);
        let constraints =
            relations.filter_map(|relation| self.constraint(relation, &params, &ret)).collect();
        self.type_params.truncate(outer);
        PolyType::close(&type_params, constraints, &Type::func(params, ret))
    }

    /// Lowers `Broadcast` after a function type. Its default arguments are the parameters and the
    /// result.
    fn constraint(
        &mut self,
        relation: ast::Relation<'_>,
        params: &[Type],
        ret: &Type,
    ) -> Option<Constraint> {
        let WhereRelation { relation, args } = self.relation(relation)?;
        let all = || params.iter().chain([ret]).cloned().collect();
        Some(Constraint { relation, args: args.map_or_else(all, Into::into) })
    }

    /// Lowers a relation of a `where` clause: `Broadcast`, or `transpose(t1, t2, axes=[1, 0])` with
    /// the name and the attributes of an operator.
    pub(super) fn relation(&mut self, relation: ast::Relation<'_>) -> Option<WhereRelation> {
        let node = relation.node();
        let tokens = || node.tokens().filter(|token| !token.kind().is_trivia());
        let name: SmolStr = tokens().map(|token| token.text()).collect::<String>().into();
        let range = tokens().map(|token| token.range()).reduce(TextRange::cover)?;
        let args = relation.args();
        let written: Vec<WrittenAttr> = args
            .into_iter()
            .flat_map(|args| args.node().children().filter_map(ast::Attr::cast))
            .map(|attr| self.written_attr(attr))
            .collect();
        let args = args.map(|args| args.fields().map(|ty| self.ty(ty.node())).collect());
        let operator = match relations::named(&name, &written) {
            Some(relations::RelationName::Operator(operator)) => operator,
            Some(relations::RelationName::Projection(index)) => {
                return Some(WhereRelation { relation: relations::projection(index).key(), args });
            }
            None => {
                self.problem(range, ProblemKind::UnknownRelation(name));
                return None;
            }
        };
        let mut relation = operator.plain_relation()?.key();
        if !written.is_empty() {
            let at = self.range(range);
            let mut releases = Releases::ALL;
            let (attrs, fits) = self.bind_attrs(operator, &written, false, at, None, &mut releases);
            if !fits {
                return None;
            }
            relation.attrs = attrs;
        }
        Some(WhereRelation { relation, args })
    }

    /// Lowers `float32`, `List[A]` or `A`.
    fn named_type(&mut self, named: ast::NamedType<'_>) -> Type {
        let Some(name) = named.name() else { return Type::Error };
        let text = name.text();
        let args: Vec<Type> = named.args().map(|arg| self.type_arg(arg.node())).collect();
        let opening = [SyntaxKind::L_BRACK, SyntaxKind::LT];
        let with_brackets = opening.iter().any(|&kind| named.node().token(kind).is_some());
        if let Some(param) = self.type_param(text) {
            if with_brackets {
                self.problem(named.range(), ProblemKind::ParamWithArgs(param.clone()));
            }
            if param.kind() == Kind::Type {
                return Type::Param(param);
            }
            self.problem(name.range(), ProblemKind::Kind { param, expected: Kind::Type });
            return Type::Error;
        }
        if !with_brackets && is_dtype_name(text) {
            return match DataType::parse(text) {
                Some(dtype) => Type::scalar(dtype),
                None => {
                    self.problem(name.range(), ProblemKind::UnknownDType(text.into()));
                    Type::Error
                }
            };
        }
        if let Some(dtype) = custom_dtype(named) {
            return Type::scalar(dtype);
        }
        let args: Box<[Type]> = args.into();
        self.type_use(text, args.clone(), Kind::Type, name.range());
        Type::adt(text, args)
    }

    /// Notes the use of a name that is not a type parameter.
    fn type_use(&mut self, name: &str, args: Box<[Type]>, expected: Kind, range: TextRange) {
        let range = self.range(range);
        self.unit.type_uses.push(TypeUse { name: name.into(), args, expected, range });
    }

    /// Lowers an argument of a data type or of a generic function: a type, or a shape, a size or the
    /// name of a parameter of any kind.
    pub(super) fn type_arg(&mut self, node: Node<'_>) -> Type {
        if let Some(shape) = ast::Shape::cast(node) {
            return Type::argument(TypeArg::Shape(ShapeTerm::Dims(self.dims(shape))));
        }
        if node.kind() == SyntaxKind::DIM {
            return Type::argument(TypeArg::Dim(self.dim(node)));
        }
        if let Some(param) = self.param_of_other_kind(node) {
            return Type::argument(param.as_arg());
        }
        // `(n, m)` is a shape if these are sizes.
        if let Some(tuple) = ast::TupleType::cast(node) {
            let size = |ty: ast::Type<'_>| {
                let param = self.param_of_other_kind(ty.node())?;
                (param.kind() == Kind::ShapeVar).then(|| Dim::param(param))
            };
            let sizes: Option<Shape> = tuple.fields().map(size).collect();
            if let Some(sizes) = sizes.filter(|sizes| !sizes.is_empty()) {
                return Type::argument(TypeArg::Shape(ShapeTerm::Dims(sizes)));
            }
        }
        self.ty(node)
    }

    /// Returns the type parameter that a name refers to, if it is not of the kind `Type`.
    fn param_of_other_kind(&self, node: Node<'_>) -> Option<Param> {
        let named = ast::NamedType::cast(node)?;
        let param = self.type_param(named.name()?.text())?;
        (param.kind() != Kind::Type && named.args().next().is_none()).then_some(param)
    }

    fn type_param(&self, name: &str) -> Option<Param> {
        self.type_params.get(name).cloned()
    }

    /// Lowers `Tensor[(1, ?, n), float32]` or `Tensor[s, bt]`.
    fn tensor_type(&mut self, tensor: ast::TensorType<'_>) -> Type {
        let shape = match tensor.shape() {
            Some(shape) => self.shape_term(shape),
            None => return Type::Error,
        };
        let Some(named) = tensor.dtype() else { return Type::Error };
        let Some(name) = named.name() else { return Type::Error };
        let dtype = if let Some(param) = self.type_param(name.text()) {
            if param.kind() != Kind::BaseType {
                self.problem(name.range(), ProblemKind::Kind { param, expected: Kind::BaseType });
                return Type::Error;
            }
            DTypeTerm::Param(param)
        } else {
            match custom_dtype(named).or_else(|| DataType::parse(name.text())) {
                Some(dtype) if !dtype.is_void() => DTypeTerm::Known(dtype),
                _ => {
                    let kind = ProblemKind::UnknownDType(name.text().into());
                    self.problem(name.range(), kind);
                    return Type::Error;
                }
            }
        };
        match shape {
            Some(shape) => open_tensor(shape, dtype),
            None => Type::Error,
        }
    }

    fn shape_term(&mut self, shape: ast::Shape<'_>) -> Option<ShapeTerm> {
        let Some(name) = shape.node().token(SyntaxKind::IDENT) else {
            return Some(ShapeTerm::Dims(self.dims(shape)));
        };
        let Some(param) = self.type_param(name.text()) else {
            self.type_use(name.text(), Box::default(), Kind::Shape, name.range());
            return None;
        };
        if param.kind() != Kind::Shape {
            self.problem(name.range(), ProblemKind::Kind { param, expected: Kind::Shape });
            return None;
        }
        Some(ShapeTerm::Param(param))
    }

    pub(super) fn dims(&mut self, shape: ast::Shape<'_>) -> Shape {
        shape.dims().map(|dim| self.dim(dim.node())).collect()
    }

    /// The parser bounds the recursion.
    fn dim(&mut self, dim: Node<'_>) -> Dim {
        let mut parts = dim.children().filter(|node| node.kind() == SyntaxKind::DIM);
        if let Some(first) = parts.next() {
            let Some(second) = parts.next() else { return self.dim(first) };
            let op = dim.tokens().find_map(|token| match token.kind() {
                SyntaxKind::PLUS => Some(Op::Add),
                SyntaxKind::MINUS => Some(Op::Sub),
                SyntaxKind::STAR => Some(Op::Mul),
                SyntaxKind::SLASH => Some(Op::FloorDiv),
                SyntaxKind::PERCENT => Some(Op::FloorMod),
                SyntaxKind::IDENT if token.text() == "max" => Some(Op::Max),
                SyntaxKind::IDENT if token.text() == "min" => Some(Op::Min),
                _ => None,
            });
            let (a, b) = (self.dim(first), self.dim(second));
            return op.map_or(Dim::Any, |op| Dim::apply(op, &a, &b));
        }
        let negative = dim.token(SyntaxKind::MINUS).is_some();
        for token in dim.tokens() {
            match token.kind() {
                SyntaxKind::QUESTION => return Dim::Any,
                SyntaxKind::INT => {
                    let (digits, suffix) = syntax::int_parts(token.text());
                    let size = digits.parse::<i64>().unwrap_or(i64::MAX);
                    let size = if negative { -size } else { size };
                    if size < 0 {
                        self.problem(dim.range(), ProblemKind::NegativeDim(size));
                    }
                    let wide = suffix == "64" || i32::try_from(size).is_err();
                    return Dim::Known { size, wide };
                }
                SyntaxKind::META_REF => return meta_dim(token.text()),
                SyntaxKind::IDENT => return self.dim_param(token.text(), token.range()),
                _ => {}
            }
        }
        Dim::Any
    }

    fn dim_param(&mut self, name: &str, range: TextRange) -> Dim {
        match self.type_param(name) {
            Some(param) if param.kind() == Kind::ShapeVar => Dim::param(param),
            Some(param) => {
                self.problem(range, ProblemKind::Kind { param, expected: Kind::ShapeVar });
                Dim::Any
            }
            None => {
                self.type_use(name, Box::default(), Kind::ShapeVar, range);
                Dim::Any
            }
        }
    }
}

/// Returns `meta[tir.Var][0]` as a symbolic size, which is resolved in the metadata section later.
fn meta_dim(text: &str) -> Dim {
    match meta_parts(text) {
        Some((key, index)) => Dim::symbol(text, meta_symbol(&key, index)),
        None => Dim::Any,
    }
}

/// Returns the identity of the symbolic size at an entry of the metadata section.
pub fn meta_symbol(key: &str, index: u32) -> SymbolId {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    (key, index).hash(&mut hasher);
    SymbolId::of_entry(hasher.finish() as u32)
}

/// Returns the key and the index of `meta[relay.Constant][0]`.
pub(crate) fn meta_parts(text: &str) -> Option<(SmolStr, u32)> {
    let (key, rest) = text.strip_prefix("meta[")?.split_once(']')?;
    let index = rest.strip_prefix('[')?.strip_suffix(']')?;
    Some((key.trim().into(), index.trim().parse().ok()?))
}

/// Returns the data type `custom[posit]8`, which is several tokens.
fn custom_dtype(named: ast::NamedType<'_>) -> Option<DataType> {
    if named.name()?.text() != "custom" {
        return None;
    }
    let tokens = named.node().tokens().filter(|token| !token.kind().is_trivia());
    DataType::parse(&tokens.map(|token| token.text()).collect::<String>())
}

/// Returns true if a type consists of numbers and data types alone.
fn is_plain(ty: &Type) -> bool {
    match ty {
        Type::Tuple(fields) => fields.iter().all(is_plain),
        ty => ty.as_tensor().is_some_and(|tensor| tensor.elements().is_some()),
    }
}

/// Returns true for names that TVM reads as scalar types in any position of a type.
fn is_dtype_name(name: &str) -> bool {
    ["int", "uint", "float", "bool", "bfloat"].iter().any(|prefix| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'x'))
    })
}
