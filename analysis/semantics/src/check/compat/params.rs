//! Type parameters, their kinds, type arguments and relations: what TVM's text has no words for.

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
    uses::{self, Used},
};
use crate::{
    body::*,
    db::{Db, SourceFile},
    diagnostic::Diagnostic,
    scope::Binding,
    view::{Spot, View},
};

/// A list of type parameters that is not TVM's: `<t : Type>`, `<s : Shape>`.
pub(super) fn type_params(
    db: &dyn Db,
    file: SourceFile,
    root: Node<'_>,
    list: Node<'_>,
) -> Diagnostic {
    let params = list.children().filter_map(ast::TypeParam::cast);
    let other = params.clone().find(|param| {
        let kind = param.kind().and_then(|kind| Kind::parse(kind.text()));
        kind.is_some_and(|kind| kind != Kind::Type)
    });
    let Some(other) = other else {
        return Diagnostic::new(
            "tvm-type-parameters",
            list.range(),
            "TVM writes type parameters in brackets, without kinds: `[t]`",
        )
        .fix("Write the type parameters in brackets", brackets(list));
    };
    let diagnostic = Diagnostic::new(
        "tvm-kind",
        other.range(),
        "TVM's type parameters stand for whole types, not for shapes, sizes or data types",
    );
    match at_one_shape(db, file, root, list) {
        Some(edits) => diagnostic.fix("Write the one type that it is called with", edits),
        None => diagnostic.help(
            "TVM has no function over all shapes: write one for each type that it is called \
             with, or `fn[t](%x: t)` where any type will do",
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

/// Type arguments can go where the arguments decide the type parameters as well.
pub(super) fn type_args(
    db: &dyn Db,
    file: SourceFile,
    range: TextRange,
    list: Option<Node<'_>>,
) -> Option<Vec<Edit>> {
    let list = list?;
    let view = view_at(db, file, range)?;
    // Nothing stands between a callee and its type arguments.
    let number = view.unit_at(list.start())?;
    let end = |call: &CallData| view.place(number, call.callee_range).end();
    let mut calls = view.unit(number).calls.iter();
    let call = calls.find(|call| !call.type_args.is_empty() && end(call) == list.start())?;
    let func = match &call.callee {
        Callee::Expr(callee) => view.ty(Spot { unit: number, expr: *callee }).clone(),
        Callee::Name(name) => {
            let (_, constructor) = view.types.constructor(name)?;
            constructor.ty.clone()
        }
        Callee::Operator(_) => return None,
    };
    let func = func.signature()?;
    let mut given = func.type_params.iter().take(call.type_args.len());
    let params = func.func.params();
    let decided = given.all(|param| params.iter().any(|ty| mentions(ty, param)));
    (decided && call.args.len() == params.len()).then(|| vec![(list.range(), String::new())])
}

/// Returns true if a type parameter occurs in a type.
fn mentions(ty: &Type, param: &Param) -> bool {
    let mut found = false;
    let _same = ty.rename_params(&mut |used| {
        found |= used == param;
        None
    });
    found
}

/// The type parameter that a size is.
fn param_of(dim: &Dim) -> Option<&Param> {
    match dim {
        Dim::Symbol(symbol) => match &**symbol {
            Symbol::Param(param) => Some(param),
            _ => None,
        },
        _ => None,
    }
}

/// A `where` clause can go where the types that are written say as much.
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
        SyntaxKind::FN_EXPR => holds(view.ty(function_at(&view, around.range())?))?,
        _ => false,
    };
    let before = around.children().take_while(|node| node.start() < own.start()).last()?;
    let gone = TextRange::new(before.range().end(), own.end()) + view.def.start(db);
    decided.then(|| vec![(gone, String::new())])
}

/// The function expression that stands at `range` of the definition.
fn function_at(view: &View<'_>, range: TextRange) -> Option<Spot> {
    let number =
        view.body.starts.partition_point(|&start| start <= range.start()).checked_sub(1)?;
    let unit = view.unit(number);
    let expr = unit.exprs.iter().enumerate().position(|(i, expr)| {
        matches!(expr, Expr::Fn(_)) && unit.ranges[i] + view.body.starts[number] == range
    })?;
    Some(Spot { unit: number, expr: ExprId(expr as u32) })
}

/// Where a function over shapes or data types is called at one type only: that type in the place
/// of the parameters.
fn at_one_shape(
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
            (func, uses::of_global(db, view.module, view.def.name(db)))
        }
        SyntaxKind::FN_EXPR => {
            let value = function_at(&view, around.range() - view.def.start(db))?;
            let unit = view.unit(value.unit);
            let binder = unit.bound_to(value.expr)?;
            let binding = Binding { unit: value.unit as u32, binder };
            (view.ty(value).clone(), uses::of_variable(&view, binding))
        }
        _ => return None,
    };
    let Used::Alike(instance) = used else { return None };
    let signature = func.signature()?;
    let func = &signature.func;
    if instance.args.len() != func.params().len() || !signature.constraints.is_empty() {
        return None;
    }
    let mut meaning = Meaning { params: &signature.type_params, texts: FxHashMap::default() };
    let pairs = func.params().iter().zip(&instance.args).chain([(func.ret(), &instance.ret)]);
    for (ty, at) in pairs {
        meaning.learn(ty, at)?;
    }
    let by_name = meaning.by_name(list)?;
    let mut edits = vec![shortened(list, &by_name)];
    occurrences(around, list, &by_name, &mut edits)?;
    // The type arguments of its calls have nothing left to say.
    for place in places {
        let call =
            root.path_to(place).into_iter().rev().find(|n| n.kind() == SyntaxKind::CALL_EXPR);
        let given = call.and_then(|call| call.child(SyntaxKind::TYPE_ARG_LIST));
        edits.extend(given.map(|list| (list.range(), String::new())));
    }
    Some(edits)
}

/// What type parameters stand for at the one type that a function is called with, in TVM's text.
struct Meaning<'f> {
    params: &'f [Param],
    texts: FxHashMap<ParamId, String>,
}

impl Meaning<'_> {
    /// What the parameters in `ty` stand for where it is `at`. Nothing, where two places disagree.
    fn learn(&mut self, ty: &Type, at: &Type) -> Option<()> {
        // Walks take shared parts apart.
        if ty.weight() > 1_000 {
            return None;
        }
        match (ty, at) {
            (Type::OpenTensor(open), Type::Tensor(tensor)) => {
                if let DTypeTerm::Param(param) = &open.dtype {
                    self.note(param.id(), tensor.dtype.to_string())?;
                }
                match &open.shape {
                    ShapeTerm::Param(param) => {
                        let dims: Vec<String> = tensor.shape.iter().map(Dim::to_string).collect();
                        self.note(param.id(), format!("({})", dims.join(", ")))
                    }
                    ShapeTerm::Dims(dims) => self.learn_dims(dims, &tensor.shape),
                    ShapeTerm::Bound(_) | ShapeTerm::Var(_) | ShapeTerm::Unknown => None,
                }
            }
            (Type::Tensor(ty), Type::Tensor(at)) => self.learn_dims(&ty.shape, &at.shape),
            (Type::Tuple(fields), Type::Tuple(at)) => self.learn_all(fields, at),
            (Type::Func(func), Type::Func(at)) => {
                self.learn_all(func.params(), at.params())?;
                self.learn(func.ret(), at.ret())
            }
            (Type::Ref(ty), Type::Ref(at)) => self.learn(ty.inner(), at.inner()),
            (Type::Adt(adt), Type::Adt(at)) => self.learn_all(adt.args(), at.args()),
            // Whole types stay parameters.
            (Type::Param(_), _) => Some(()),
            _ => None,
        }
    }

    fn learn_all(&mut self, types: &[Type], at: &[Type]) -> Option<()> {
        if types.len() != at.len() {
            return None;
        }
        types.iter().zip(at).try_for_each(|(ty, at)| self.learn(ty, at))
    }

    fn learn_dims(&mut self, dims: &[Dim], at: &[Dim]) -> Option<()> {
        if dims.len() != at.len() {
            return None;
        }
        dims.iter().zip(at).try_for_each(|(dim, at)| {
            if !matches!(dim, Dim::Symbol(_)) {
                return Some(());
            }
            self.note(param_of(dim)?.id(), at.to_string())
        })
    }

    fn note(&mut self, id: ParamId, text: String) -> Option<()> {
        let known = self.texts.entry(id).or_insert_with(|| text.clone());
        (*known == text).then_some(())
    }

    /// By the names of the parameters in `list`. Nothing, where one of them is not known.
    fn by_name(&self, list: Node<'_>) -> Option<FxHashMap<SmolStr, String>> {
        let declared = list.children().filter_map(ast::TypeParam::cast).count();
        let params = self.params.iter().take(declared);
        params
            .filter(|param| param.kind() != Kind::Type)
            .map(|param| Some((param.name().clone(), self.texts.get(&param.id())?.clone())))
            .collect()
    }
}

/// The list with only the parameters that stand for whole types.
fn shortened(list: Node<'_>, gone: &FxHashMap<SmolStr, String>) -> Edit {
    let params = list.children().filter_map(ast::TypeParam::cast);
    let names = params.filter_map(|param| param.name()).map(|name| name.text());
    let kept: Vec<&str> = names.filter(|name| !gone.contains_key(*name)).collect();
    let text = if kept.is_empty() { String::new() } else { format!("[{}]", kept.join(", ")) };
    (list.range(), text)
}

/// The places where the parameters stand in the function.
fn occurrences(
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
            // Another parameter of the name, further in.
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
