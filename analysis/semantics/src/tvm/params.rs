//! Type parameters, kinds, type arguments and relations, which TVM's text format cannot express.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use syntax::{
    Node, SyntaxKind, TextRange,
    ast::{self, AstNode},
};
use types::{DTypeTerm, Dim, Kind, Param, ParamId, ShapeTerm, Symbol, Type};

use super::{
    Edit,
    types::view_at,
    uses::{self, Usage},
};
use crate::{
    body::*,
    db::{Db, SourceFile},
    diagnostic::{Code, Diagnostic},
    infer::mentions,
};

/// Returns the diagnostic for a list of type parameters that TVM cannot read: `<t : Type>`, `<s :
/// Shape>`.
pub(super) fn type_params(
    db: &dyn Db,
    file: SourceFile,
    root: Node<'_>,
    list: Node<'_>,
) -> Diagnostic {
    let params = list.children().filter_map(ast::TypeParam::cast);
    let other = params.clone().find(|param| {
        let kind = param.kind().and_then(|kind| Kind::parse(kind.text()));
        kind.is_some_and(|(kind, _)| kind != Kind::Type)
    });
    let Some(other) = other else {
        return Diagnostic::new(
            Code::TvmTypeParameters,
            list.range(),
            "TVM writes type parameters in square brackets, without kinds: `[t]`",
        )
        .fix("Write the type parameters in square brackets", brackets(list));
    };
    let diagnostic = Diagnostic::new(
        Code::TvmKind,
        other.range(),
        "TVM's type parameters are of kind `Type` only: no shapes, sizes or data types",
    );
    match instantiated(db, file, root, list) {
        Some(edits) => diagnostic.fix("Write the type of its calls", edits),
        None => diagnostic.help(
            "TVM has no functions over all shapes: write one for each type of its calls, or \
             `fn[t](%x: t)` if any type is valid",
        ),
    }
}

/// `<t : Type>` to `[t]`
fn brackets(list: Node<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    for token in list.tokens() {
        match token.kind() {
            SyntaxKind::LT => edits.push((token.range(), "[".to_owned())),
            SyntaxKind::GT => edits.push((token.range(), "]".to_owned())),
            _ => {}
        }
    }
    for param in list.children().filter_map(ast::TypeParam::cast) {
        if let (Some(name), Some(_)) = (param.name(), param.node().token(SyntaxKind::COLON)) {
            edits.push((TextRange::new(name.range().end(), param.range().end()), String::new()));
        }
    }
    edits
}

/// Returns the removal of type arguments, if the arguments of the call determine them.
pub(super) fn type_args(
    db: &dyn Db,
    file: SourceFile,
    range: TextRange,
    list: Option<Node<'_>>,
) -> Option<Vec<Edit>> {
    let list = list?;
    let view = view_at(db, file, range)?;
    // The type arguments directly follow the callee.
    let number = view.unit_at(list.start())?;
    let end = |call: &CallData| view.place(number, call.callee_range).end();
    let mut calls = view.unit(number).calls.iter();
    let call = calls.find(|call| !call.type_args.is_empty() && end(call) == list.start())?;
    let func = match &call.callee {
        Callee::Expr(callee) => view.ty(ExprRef { unit: number, expr: *callee }).clone(),
        Callee::Name(name) => view.types.constructor(name)?.1.ty.clone(),
        Callee::Operator(_) => return None,
    };
    let func = func.signature()?;
    let mut given = func.type_params.iter().take(call.type_args.len());
    let params = func.func.params();
    let decided =
        given.all(|param| params.iter().any(|ty| mentions(ty, std::slice::from_ref(param))));
    (decided && call.args.len() == params.len()).then(|| vec![(list.range(), String::new())])
}

/// Returns the removal of a `where` clause, if the annotations imply it.
pub(super) fn where_clause(
    db: &dyn Db,
    file: SourceFile,
    clause: Option<Node<'_>>,
) -> Option<Vec<Edit>> {
    let clause = clause?;
    let view = view_at(db, file, clause.range())?;
    let holds = |ty: &Type| {
        let func = ty.signature()?;
        Some(func.constraints.is_empty() && ty.is_closed() && !ty.has_error())
    };
    let node = view.def.node(db);
    let own = clause.range() - view.def.start(db);
    let path = node.path_to(own);
    let around = path.iter().rev().nth(1)?;
    let decided = match around.kind() {
        SyntaxKind::FN_DEF => holds(view.inference.signature.as_ref()?)?,
        SyntaxKind::FN_EXPR => holds(view.ty(view.function_at(around.range())?))?,
        _ => false,
    };
    let before = around.children().take_while(|node| node.start() < own.start()).last()?;
    let removed = TextRange::new(before.range().end(), own.end()) + view.def.start(db);
    decided.then(|| vec![(removed, String::new())])
}

/// Returns the edits that replace the type parameters of a function by the single type of its
/// calls.
fn instantiated(
    db: &dyn Db,
    file: SourceFile,
    root: Node<'_>,
    list: Node<'_>,
) -> Option<Vec<Edit>> {
    let view = view_at(db, file, list.range())?;
    let path = root.path_to(list.range());
    let around = *path.iter().rev().nth(1)?;
    let (func, (used, places)) = match around.kind() {
        SyntaxKind::FN_DEF => {
            let func = view.inference.signature.clone()?;
            let (used, places) = uses::of_global(db, view.module, view.def.name(db));
            let places = places.into_iter().map(|(def, range)| range + def.start(db));
            (func, (used, places.collect()))
        }
        SyntaxKind::FN_EXPR => {
            let value = view.function_at(around.range() - view.def.start(db))?;
            let unit = view.unit(value.unit);
            let binder = unit.bound_to(value.expr)?;
            let binding = LocalRef { unit: value.unit, binder };
            (view.ty(value).clone(), uses::of_variable(&view, binding))
        }
        _ => return None,
    };
    let Usage::Uniform(instance) = used else { return None };
    let signature = func.signature()?;
    let func = &signature.func;
    if instance.args.len() != func.params().len() || !signature.constraints.is_empty() {
        return None;
    }
    let mut instantiation =
        Instantiation { params: &signature.type_params, texts: FxHashMap::default() };
    let pairs = func.params().iter().zip(&instance.args).chain([(func.ret(), &instance.ret)]);
    for (ty, at) in pairs {
        instantiation.match_type(ty, at)?;
    }
    let by_name = instantiation.by_name(list)?;
    let mut edits = vec![without_params(list, &by_name)];
    replace_params(around, list, &by_name, &mut edits)?;
    // Its calls need no type arguments any more.
    for place in places {
        let call =
            root.path_to(place).into_iter().rev().find(|n| n.kind() == SyntaxKind::CALL_EXPR);
        let given = call.and_then(|call| call.child(SyntaxKind::TYPE_ARG_LIST));
        edits.extend(given.map(|list| (list.range(), String::new())));
    }
    Some(edits)
}

/// The text of each type parameter at the single type of the calls of a function.
struct Instantiation<'f> {
    params: &'f [Param],
    texts: FxHashMap<ParamId, String>,
}

impl Instantiation<'_> {
    /// Binds the parameters in `ty` so that it equals `at`. `None` on a conflict.
    fn match_type(&mut self, ty: &Type, at: &Type) -> Option<()> {
        // Visiting shared parts repeatedly is slow.
        if ty.weight() > 1_000 {
            return None;
        }
        match (ty, at) {
            (Type::OpenTensor(open), Type::Tensor(tensor)) => {
                if let DTypeTerm::Param(param) = &open.dtype {
                    self.bind(param.id(), tensor.dtype.to_string())?;
                }
                match &open.shape {
                    ShapeTerm::Param(param) => {
                        let dims: Vec<String> = tensor.shape.iter().map(Dim::to_string).collect();
                        self.bind(param.id(), format!("({})", dims.join(", ")))
                    }
                    ShapeTerm::Dims(dims) => self.match_dims(dims, &tensor.shape),
                    ShapeTerm::Bound(_) | ShapeTerm::Var(_) | ShapeTerm::Unknown => None,
                }
            }
            (Type::Tensor(ty), Type::Tensor(at)) => self.match_dims(&ty.shape, &at.shape),
            (Type::Tuple(fields), Type::Tuple(at)) => self.match_all(fields, at),
            (Type::Func(func), Type::Func(at)) => {
                self.match_all(func.params(), at.params())?;
                self.match_type(func.ret(), at.ret())
            }
            (Type::Ref(ty), Type::Ref(at)) => self.match_type(ty.inner(), at.inner()),
            (Type::Adt(adt), Type::Adt(at)) => self.match_all(adt.args(), at.args()),
            // Parameters of kind `Type` are kept.
            (Type::Param(_), _) => Some(()),
            _ => None,
        }
    }

    fn match_all(&mut self, types: &[Type], at: &[Type]) -> Option<()> {
        if types.len() != at.len() {
            return None;
        }
        types.iter().zip(at).try_for_each(|(ty, at)| self.match_type(ty, at))
    }

    fn match_dims(&mut self, dims: &[Dim], at: &[Dim]) -> Option<()> {
        if dims.len() != at.len() {
            return None;
        }
        dims.iter().zip(at).try_for_each(|(dim, at)| {
            let Dim::Symbol(symbol) = dim else { return Some(()) };
            let Symbol::Param(param) = &**symbol else { return None };
            self.bind(param.id(), at.to_string())
        })
    }

    fn bind(&mut self, id: ParamId, text: String) -> Option<()> {
        let known = self.texts.entry(id).or_insert_with(|| text.clone());
        (*known == text).then_some(())
    }

    /// Returns the texts by the names of the parameters in `list`; `None` if one of them is
    /// unknown.
    fn by_name(&self, list: Node<'_>) -> Option<FxHashMap<SmolStr, String>> {
        let declared = list.children().filter_map(ast::TypeParam::cast).count();
        let params = self.params.iter().take(declared);
        params
            .filter(|param| param.kind() != Kind::Type)
            .map(|param| Some((param.name().clone(), self.texts.get(&param.id())?.clone())))
            .collect()
    }
}

/// Returns the edit that removes the given parameters from the list.
fn without_params(list: Node<'_>, removed: &FxHashMap<SmolStr, String>) -> Edit {
    let params = list.children().filter_map(ast::TypeParam::cast);
    let names = params.filter_map(|param| param.name()).map(|name| name.text());
    let kept: Vec<&str> = names.filter(|name| !removed.contains_key(*name)).collect();
    let text = if kept.is_empty() { String::new() } else { format!("[{}]", kept.join(", ")) };
    (list.range(), text)
}

/// Adds the edits that replace the parameters in the function; `None` if an inner list shadows one.
fn replace_params(
    function: Node<'_>,
    list: Node<'_>,
    by_name: &FxHashMap<SmolStr, String>,
    edits: &mut Vec<Edit>,
) -> Option<()> {
    let mut replace = |token: Option<syntax::Token<'_>>| {
        if let Some(token) = token
            && let Some(text) = by_name.get(token.text())
        {
            edits.push((token.range(), text.clone()));
        }
    };
    for node in function.descendants() {
        match node.kind() {
            SyntaxKind::SHAPE | SyntaxKind::DIM => replace(node.token(SyntaxKind::IDENT)),
            SyntaxKind::TENSOR_TYPE => {
                let dtype = ast::TensorType::cast(node).and_then(ast::TensorType::dtype);
                replace(dtype.and_then(ast::NamedType::name));
            }
            // An inner parameter of the same name.
            SyntaxKind::TYPE_PARAM_LIST if node.start() != list.start() => {
                let mut inner = node.children().filter_map(ast::TypeParam::cast);
                let hides = |param: ast::TypeParam<'_>| {
                    param.name().is_some_and(|name| by_name.contains_key(name.text()))
                };
                if inner.any(hides) {
                    return None;
                }
            }
            _ => {}
        }
    }
    Some(())
}
