//! Details of the type at the cursor, for a panel that follows it.
//!
//! In contrast to a hover, the panel has room for the type over several lines, the origin of each
//! size, the variables that the expression uses, and the expected type. It is requested at every
//! cursor move, so that a size is followed over a bounded number of expressions only; [`crate::why`]
//! has no such bound.

mod expected;
mod letters;
mod pretty;

use rustc_hash::FxHashSet;
use semantics::{
    Db, DefKind, ExprRef, SourceFile, Step, Trail, View,
    body::{Callee, Expr, LocalRef, UnitId},
    global, global_type, trail_of,
};
use syntax::{SyntaxKind, TextRange, TextSize};
use types::{TensorType, Type};

pub use expected::ExpectedType;

use crate::{
    elements::{self, Elements},
    hover::type_text,
    lookups::{bindings_of, function_of, header_names, value_names},
    place::{Place, Symbol, place_at},
    words,
};
use letters::Letters;

/// The maximal number of expressions to follow for the origins of all axes together.
const MAX_STEPS: usize = 64;
/// The number of expressions that may be followed for any axis.
const MIN_STEPS: usize = 3;
/// The maximal number of tensors.
const MAX_TENSORS: usize = 16;
/// The maximal number of axes of a tensor.
const MAX_AXES: usize = 16;
/// The maximal number of variables.
const MAX_VARIABLES: usize = 24;
/// The maximal length of [`TypeInfo::source`], in characters.
const MAX_SOURCE_LEN: usize = 60;

/// The details of the type of an expression, a variable or a definition.
#[derive(Clone, PartialEq, Debug)]
pub struct TypeInfo {
    /// The range of the expression or name.
    pub range: TextRange,
    /// The text of the expression, truncated.
    pub source: String,
    /// The kind: `graph variable`, ``call of `nn.relu` ``.
    pub kind: String,
    /// The type over several lines, with one field of a tuple or parameter of a function per line.
    pub lines: Vec<String>,
    /// The tensors in the type.
    pub tensors: Vec<TensorInfo>,
    /// The variables that the expression uses.
    pub context: Vec<Variable>,
    /// The type that the context of the expression expects.
    pub expected: Option<ExpectedType>,
    /// The elements of the constant of the metadata section that the expression is.
    pub elements: Option<Elements>,
}

/// A tensor of a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorInfo {
    /// The part of the type: `field 0`, `%x`, `result`, or empty for the whole type.
    pub part: String,
    /// The type of the tensor.
    pub ty: String,
    /// The size if it is known: `64 elements, 256 bytes`.
    pub amount: Option<String>,
    /// The axes, the outermost first.
    pub axes: Vec<AxisInfo>,
    /// True if axes were omitted.
    pub is_cut: bool,
}

/// An axis of a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AxisInfo {
    /// The size: a number, `?`, or a symbol.
    pub size: String,
    /// The letter of the axis in the layout of the operator: `N`, `C`, `4c`.
    pub letter: Option<String>,
    /// The step that set the size or changed it last.
    pub source: Option<Step>,
    /// The origin of the size before it was changed, as far as it was followed.
    pub origin: Option<Step>,
}

/// A variable with its type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// The name with its sigil.
    pub name: String,
    /// The type on one line.
    pub ty: String,
    /// The range of the binder.
    pub range: TextRange,
}

/// Returns the details of the type at `offset`, or `None` if nothing there has a type.
pub fn type_at(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<TypeInfo> {
    let place = place_at(db, file, offset)?;
    if place.token.kind().is_trivia() {
        return None;
    }
    match place.symbol(db) {
        Some((Symbol::Local(binding), range)) => {
            let view = place.view.as_ref()?;
            let range = range + place.start(db);
            Some(of_variable(view, binding, place.expr_of(range - place.start(db)), range))
        }
        Some((Symbol::Global(name), range)) => {
            let expr_ref = place.expr_of(range);
            of_global(db, &place, &name, expr_ref, range + place.start(db))
        }
        Some((Symbol::Type(_) | Symbol::TypeParam { .. }, _)) => of_declaration(&place),
        _ => match place.expr() {
            Some(expr_ref) => Some(of_expr(place.view.as_ref()?, expr_ref)),
            None => of_declaration(&place),
        },
    }
}

/// Describes the variable whose declaration contains the token, such as its annotation.
fn of_declaration(place: &Place<'_>) -> Option<TypeInfo> {
    let view = place.view.as_ref()?;
    let declaration = place.path.iter().rev().find(|node| {
        matches!(
            node.kind(),
            SyntaxKind::PARAM
                | SyntaxKind::LET_STMT
                | SyntaxKind::GRAPH_STMT
                | SyntaxKind::FREE_VAR_STMT
        )
    })?;
    let name = declaration.child(SyntaxKind::NAME)?.range().start() + place.start(view.db);
    let number = view.unit_at(name)?;
    let mut found = bindings_of(number, view.unit(number)).map(|(binding, _)| binding);
    let binding = found.find(|binding| view.binding_range(*binding).start() == name)?;
    Some(of_variable(view, binding, None, view.binding_range(binding)))
}

/// Describes a variable at its binder or at the use `used`.
fn of_variable(
    view: &View<'_>,
    binding: LocalRef,
    used: Option<ExprRef>,
    range: TextRange,
) -> TypeInfo {
    let binder = view.binder(binding);
    let value = view.value(binding);
    let ty = used.map_or_else(|| view.binding_type(binding), |expr_ref| view.ty(expr_ref));
    let expr_ref = used.or(value);
    let subject = expr_ref.map_or(TypeSubject::Declared(binding), TypeSubject::Value);
    let names = value.map(|value| names_of_value(view, value)).unwrap_or_default();
    TypeInfo {
        range,
        source: binder.name.to_string(),
        kind: words::binder(binder.kind).to_owned(),
        lines: pretty::lines(ty, &names),
        tensors: tensors(view, ty, subject),
        context: value.map(|value| variables(view, value)).unwrap_or_default(),
        expected: expr_ref.and_then(|expr_ref| expected::expected(view, expr_ref)),
        elements: value.and_then(|value| elements::of_expr(view, value)),
    }
}

fn of_expr(view: &View<'_>, expr_ref: ExprRef) -> TypeInfo {
    let ty = view.ty(expr_ref);
    let range = view.range(expr_ref);
    TypeInfo {
        range,
        source: source(view, range),
        kind: kind(view, expr_ref),
        lines: pretty::lines(ty, &names_of_value(view, expr_ref)),
        tensors: tensors(view, ty, TypeSubject::Value(expr_ref)),
        context: variables(view, expr_ref),
        expected: expected::expected(view, expr_ref),
        elements: elements::of_expr(view, expr_ref),
    }
}

/// Describes a global function at its definition or at a use.
fn of_global(
    db: &dyn Db,
    place: &Place<'_>,
    name: &str,
    expr_ref: Option<ExprRef>,
    range: TextRange,
) -> Option<TypeInfo> {
    let (def, from_prelude) = global(db, place.module, name)?;
    let here = place.view.as_ref();
    let general = global_type(db, def)?;
    let ty = here.zip(expr_ref).map(|(view, expr_ref)| view.ty(expr_ref).clone());
    let ty = ty.filter(Type::is_function).unwrap_or(general);
    let view = View::new(db, def).filter(|_| def.kind(db) == DefKind::Fn);
    let names = view.as_ref().map_or_else(Vec::new, |view| header_names(&view.body));
    // The ranges of steps refer to this file, so that a definition in another file has none.
    let is_here = def.file(db) == place.def.file(db);
    let tensors = match view.as_ref().filter(|_| is_here) {
        Some(view) => tensors(view, &ty, TypeSubject::Header),
        None => Vec::new(),
    };
    Some(TypeInfo {
        range,
        source: name.to_owned(),
        kind: if from_prelude { "function of the prelude" } else { "function" }.to_owned(),
        lines: pretty::lines(&ty, &names),
        tensors,
        context: Vec::new(),
        expected: here
            .zip(expr_ref)
            .and_then(|(view, expr_ref)| expected::expected(view, expr_ref)),
        elements: None,
    })
}

/// Returns the first line of an expression, truncated.
fn source(view: &View<'_>, range: TextRange) -> String {
    // The text of a function may be as large as the file, so that it is not copied.
    let is_long = range.len() > TextSize::new(4 * MAX_SOURCE_LEN as u32);
    let text = if is_long { first_token(view, range) } else { view.text(range) };
    let mut lines = text.lines();
    let line = lines.next().unwrap_or_default();
    let cut = line.char_indices().nth(MAX_SOURCE_LEN).map(|(at, _)| at);
    let whole = cut.is_none() && lines.next().is_none() && !is_long;
    let line = &line[..cut.unwrap_or(line.len())];
    if whole { line.to_owned() } else { format!("{}…", line.trim_end()) }
}

/// Returns the first token of an expression.
fn first_token(view: &View<'_>, range: TextRange) -> String {
    let at = range.start().checked_sub(view.def.start(view.db)).unwrap_or_default();
    let token = view.def.node(view.db).token_at(at);
    token.map(|token| token.text().to_owned()).unwrap_or_default()
}

fn kind(view: &View<'_>, expr_ref: ExprRef) -> String {
    let unit = view.unit(expr_ref.unit);
    match unit.expr(expr_ref.expr) {
        Expr::Call(id) => match &unit.call(*id).callee {
            Callee::Operator(operator) => return format!("call of `{}`", operator.name),
            Callee::Name(name) => return format!("call of `{name}`"),
            Callee::Expr(_) => "call",
        },
        Expr::Literal(_) => "number",
        Expr::Filled(_) | Expr::Meta(_) => "constant",
        Expr::Tuple(_) => "tuple",
        Expr::Proj { .. } | Expr::Dotted { .. } => "field of a tuple",
        Expr::Name(_) => "name",
        Expr::If { .. } => "`if`",
        Expr::Match(_) => "`match`",
        Expr::Fn(_) => "function",
        Expr::RefNew(_) | Expr::RefRead(_) | Expr::RefWrite(..) => "reference",
        _ => "expression",
    }
    .to_owned()
}

/// Returns the names of the parameters of the function that an expression evaluates to.
fn names_of_value(view: &View<'_>, expr_ref: ExprRef) -> Vec<String> {
    if !view.ty(expr_ref).is_function() {
        return Vec::new();
    }
    let value = view.resolve(expr_ref);
    let Expr::Global(name) = view.unit(value.unit).expr(value.expr) else {
        return value_names(view, value);
    };
    let found = global(view.db, view.module, name).map(|(def, _)| def);
    let def = found.filter(|def| def.kind(view.db) == DefKind::Fn);
    def.map_or_else(Vec::new, |def| header_names(&semantics::body(view.db, def)))
}

/// The subject of a type.
#[derive(Clone, Copy)]
enum TypeSubject {
    /// An expression.
    Value(ExprRef),
    /// A variable without a value.
    Declared(LocalRef),
    /// A definition, by its header.
    Header,
}

/// Returns the tensors of a type with their axes.
fn tensors(view: &View<'_>, ty: &Type, of: TypeSubject) -> Vec<TensorInfo> {
    let mut parts: Vec<(String, &TensorType, SizeOrigin)> = Vec::new();
    let (_, instance) = ty.opened();
    match (&instance.ty, of) {
        (Type::Tensor(tensor), TypeSubject::Value(expr_ref)) => {
            parts.push((String::new(), tensor, SizeOrigin::Value(expr_ref, None)));
        }
        (Type::Tensor(tensor), TypeSubject::Declared(binding)) => {
            parts.push((String::new(), tensor, SizeOrigin::Declared(binding)));
        }
        (Type::Tuple(fields), TypeSubject::Value(_) | TypeSubject::Declared(_)) => {
            for (at, field) in fields.iter().enumerate().take(MAX_TENSORS) {
                let from = match of {
                    TypeSubject::Value(expr_ref) => SizeOrigin::Value(expr_ref, Some(at)),
                    _ => SizeOrigin::Nowhere,
                };
                if let Type::Tensor(tensor) = field {
                    parts.push((format!("field {at}"), tensor, from));
                }
            }
        }
        (Type::Func(func), of) => {
            let (unit, params, result) = function(view, of);
            for (at, param) in func.params().iter().enumerate().take(MAX_TENSORS) {
                let Type::Tensor(tensor) = param else { continue };
                match params.get(at) {
                    Some(&binder) => {
                        let binding = LocalRef { unit, binder };
                        let name = view.binder(binding).name.to_string();
                        parts.push((name, tensor, SizeOrigin::Declared(binding)));
                    }
                    None => parts.push((format!("parameter {at}"), tensor, SizeOrigin::Nowhere)),
                }
            }
            if let Type::Tensor(tensor) = func.ret() {
                let from = result
                    .map_or(SizeOrigin::Nowhere, |expr_ref| SizeOrigin::Value(expr_ref, None));
                parts.push(("result".to_owned(), tensor, from));
            }
        }
        _ => {}
    }
    let axes = parts.iter().map(|(_, tensor, _)| tensor.rank().min(MAX_AXES)).sum();
    let mut budget = Budget { steps: MAX_STEPS, axes };
    let mut out = Vec::new();
    for (part, tensor, from) in parts {
        out.push(TensorInfo {
            part,
            ty: type_text(&Type::from(tensor.clone())),
            amount: tensor.elements().zip(tensor.bytes()).map(|(elements, bytes)| {
                format!("{}, {}", words::counted(elements, "element"), words::bytes(bytes))
            }),
            axes: axes_of(view, tensor, from, &mut budget),
            is_cut: tensor.rank() > MAX_AXES,
        });
    }
    out
}

/// The remaining part of [`MAX_STEPS`], and the number of axes that share it. Steps that one axis
/// does not need are available to the others.
struct Budget {
    steps: usize,
    axes: usize,
}

impl Budget {
    /// Returns the number of steps for the next axis.
    fn next(&self) -> usize {
        (self.steps / self.axes.max(1)).max(MIN_STEPS)
    }

    /// Subtracts the steps of an axis.
    fn consume(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(steps);
        self.axes = self.axes.saturating_sub(1);
    }
}

/// Returns the unit, the parameters and the result of a function whose body is in this definition.
fn function<'v>(
    view: &'v View<'_>,
    of: TypeSubject,
) -> (UnitId, &'v [semantics::body::BinderId], Option<ExprRef>) {
    match of {
        TypeSubject::Header => {
            let params = view.body.header().map(|header| header.params.as_slice());
            let last = view.body.units().next_back();
            let result = last.and_then(|(unit, data)| Some(ExprRef { unit, expr: data.root? }));
            (UnitId::HEADER, params.unwrap_or_default(), result)
        }
        TypeSubject::Value(expr_ref) => {
            let Some((unit, function)) = function_of(view, expr_ref) else {
                return (UnitId::HEADER, &[], None);
            };
            let result = function.body.map(|body| ExprRef { unit, expr: body.result });
            (unit, &function.params, result)
        }
        TypeSubject::Declared(_) => (UnitId::HEADER, &[], None),
    }
}

/// The origin of the sizes of a tensor.
#[derive(Clone, Copy)]
enum SizeOrigin {
    /// An expression, or a field of it.
    Value(ExprRef, Option<usize>),
    /// The annotation of a variable.
    Declared(LocalRef),
    /// Unknown.
    Nowhere,
}

fn axes_of(
    view: &View<'_>,
    tensor: &TensorType,
    from: SizeOrigin,
    budget: &mut Budget,
) -> Vec<AxisInfo> {
    let (letters, annotation) = match from {
        SizeOrigin::Value(expr_ref, None) => {
            (Letters::of_argument(view, expr_ref, tensor.rank()), None)
        }
        SizeOrigin::Declared(binding) => (None, view.annotation_node(binding)),
        _ => (None, None),
    };
    let mut axes = Vec::new();
    for (axis, size) in tensor.shape.iter().enumerate().take(MAX_AXES) {
        let mut info = AxisInfo {
            size: size.to_string(),
            letter: letters.as_ref().and_then(|letters| letters.of(axis)),
            source: None,
            origin: None,
        };
        match from {
            SizeOrigin::Value(expr_ref, field) => {
                let trail = trail_of(view, expr_ref, field, axis, budget.next());
                budget.consume(trail.followed);
                follow(view, trail, &mut info);
            }
            SizeOrigin::Declared(binding) => {
                let written = annotation.and_then(|node| view.dim_range(node, axis));
                let name = &view.binder(binding).name;
                info.source = written.map(|range| Step::written(range, name.clone()));
                budget.consume(0);
            }
            SizeOrigin::Nowhere => budget.consume(0),
        }
        axes.push(info);
    }
    axes
}

/// Sets the letter, source and origin of an axis from the trail of its size.
fn follow(view: &View<'_>, trail: Trail, info: &mut AxisInfo) {
    if info.letter.is_none() {
        let mut same = trail.same.iter();
        info.letter =
            same.find_map(|&(expr_ref, axis)| Letters::of_result(view, expr_ref)?.of(axis));
    }
    let rest = trail
        .rest
        .map(|(expr_ref, axis)| Step::rest(view.range(expr_ref), axis, view.describe(expr_ref)));
    let mut set = trail.steps.into_iter().filter(|(_, passes)| !passes).map(|(step, _)| step);
    info.source = set.next();
    info.origin = rest.or_else(|| set.next_back());
    if info.source.is_none() {
        info.source = info.origin.take();
    }
}

/// Returns the free variables of an expression in text order.
fn variables(view: &View<'_>, expr_ref: ExprRef) -> Vec<Variable> {
    if view.variable(expr_ref).is_some() {
        return Vec::new();
    }
    let range = view.range(expr_ref);
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    for (used, _, inner) in view.exprs(expr_ref.unit) {
        if !range.contains_range(inner) {
            continue;
        }
        let Some(binding) = view.variable(used) else { continue };
        let is_inside = range.contains_range(view.binding_range(binding));
        if is_inside || !seen.insert(binding) {
            continue;
        }
        found.push((
            inner.start(),
            Variable {
                name: view.binder(binding).name.to_string(),
                ty: type_text(view.binding_type(binding)),
                range: view.binding_range(binding),
            },
        ));
        if found.len() == MAX_VARIABLES {
            break;
        }
    }
    found.sort_by_key(|(start, _)| *start);
    found.into_iter().map(|(_, variable)| variable).collect()
}

#[cfg(test)]
mod tests;
