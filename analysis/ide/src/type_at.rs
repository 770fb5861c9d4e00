//! All that is known about the type under the cursor, for a view that follows it.
//!
//! A hover says what fits into a few lines. This is for a panel that stays open: the type over
//! several lines, each tensor in it axis by axis with where the size comes from, the variables that
//! the expression uses, and what its surroundings expect. It is asked for with every move of the
//! cursor, so a size is followed back a bounded number of expressions; [`crate::why`] goes all the
//! way.

mod expected;
mod letters;
mod pretty;

use rustc_hash::FxHashSet;
use semantics::{
    Db, DefKind, SourceFile, Spot, Step, Trail, View,
    body::{BinderKind, Callee, Expr},
    global, global_type,
    scope::Binding,
    trail_of,
};
use syntax::{SyntaxKind, TextRange, TextSize};
use types::{TensorType, Type};

pub use expected::Expected;

use crate::{
    place::{Place, Symbol, place_at},
    words,
};
use letters::Letters;
use pretty::Names;

/// How many expressions sizes are followed back in all, those of all axes together.
const MOST_FOLLOWED: usize = 64;
/// How many expressions one size is followed back at least.
const LEAST_FOLLOWED: usize = 3;
/// How many tensors are shown axis by axis.
const MOST_TENSORS: usize = 16;
/// How many axes of a tensor are shown.
const MOST_AXES: usize = 16;
/// How many variables are listed.
const MOST_VARIABLES: usize = 24;
/// The longest source that is shown as it is.
const LONGEST_SOURCE: usize = 60;

/// What is known about the type of an expression, a variable or a definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeInfo {
    /// The expression or name.
    pub range: TextRange,
    /// Its text if that is short, else what it is.
    pub source: String,
    /// What it is: `graph variable`, ``call of `nn.relu` ``.
    pub kind: String,
    /// Its type over several lines, one field of a tuple or one parameter of a function a line.
    pub lines: Vec<String>,
    /// The tensors in it.
    pub tensors: Vec<TensorInfo>,
    /// The variables that it uses.
    pub context: Vec<Variable>,
    /// What the place where it stands expects.
    pub expected: Option<Expected>,
}

/// A tensor of a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorInfo {
    /// Which part of the type it is: `field 0`, `%x`, `result`; empty for all of it.
    pub part: String,
    /// Its type.
    pub ty: String,
    /// How large it is: `64 elements, 256 bytes`, if that is known.
    pub amount: Option<String>,
    /// Its axes, the outermost first.
    pub axes: Vec<AxisInfo>,
    /// Whether there are more axes than that.
    pub is_cut: bool,
}

/// An axis of a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AxisInfo {
    /// The size: a number, `?`, or a symbol.
    pub size: String,
    /// What the axis is in the layout of the operator: `N`, `C`, `4c`.
    pub letter: Option<String>,
    /// What set the size, or changed it last.
    pub source: Option<Step>,
    /// Where what it was changed from comes from, as far as that was followed.
    pub origin: Option<Step>,
}

/// A variable with its type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// The name, with the sigil.
    pub name: String,
    /// The type on one line.
    pub ty: String,
    /// Where it is bound.
    pub range: TextRange,
}

/// What is known about the type of what stands at `offset`; nothing where nothing has a type.
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
            let spot = place.expr_of(range);
            of_global(db, &place, &name, spot, range + place.start(db))
        }
        Some((Symbol::Type(_) | Symbol::TypeParam { .. }, _)) => of_declaration(&place),
        _ => match place.expr() {
            Some(spot) => Some(of_expr(place.view.as_ref()?, spot)),
            None => of_declaration(&place),
        },
    }
}

/// The variable whose declaration the token is part of: a type of a header, the `let` of a `let`.
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
    let binders = (0u32..).zip(&view.unit(number).binders);
    let mut found = binders
        .map(|(at, _)| Binding { unit: number as u32, binder: semantics::body::BinderId(at) });
    let binding = found.find(|binding| view.binding_range(*binding).start() == name)?;
    Some(of_variable(view, binding, None, view.binding_range(binding)))
}

/// A variable, where it is bound or where it is used.
fn of_variable(
    view: &View<'_>,
    binding: Binding,
    used: Option<Spot>,
    range: TextRange,
) -> TypeInfo {
    let binder = view.binder(binding);
    let kind = match binder.kind {
        BinderKind::Param => "parameter",
        BinderKind::Let => "`let` variable",
        BinderKind::Graph => "graph variable",
        BinderKind::Pattern => "pattern variable",
        BinderKind::Free => "free variable",
    };
    let value = view.value(binding);
    let ty = used.map_or_else(|| view.binding_type(binding), |spot| view.ty(spot));
    let spot = used.or(value);
    let names = value.map(|value| names_of_value(view, value)).unwrap_or_default();
    TypeInfo {
        range,
        source: binder.name.to_string(),
        kind: kind.to_owned(),
        lines: pretty::lines(ty, &names),
        tensors: tensors(view, ty, spot.map_or(Of::Declared(binding), Of::Value)),
        context: value.map(|value| variables(view, value)).unwrap_or_default(),
        expected: match used {
            Some(spot) => expected::expected(view, spot),
            None => value.and_then(|value| expected::expected(view, value)),
        },
    }
}

fn of_expr(view: &View<'_>, spot: Spot) -> TypeInfo {
    let ty = view.ty(spot);
    let range = view.range(spot);
    TypeInfo {
        range,
        source: source(view, range),
        kind: kind(view, spot),
        lines: pretty::lines(ty, &names_of_value(view, spot)),
        tensors: tensors(view, ty, Of::Value(spot)),
        context: variables(view, spot),
        expected: expected::expected(view, spot),
    }
}

/// A global function, where it is defined or where it is used.
fn of_global(
    db: &dyn Db,
    place: &Place<'_>,
    name: &str,
    spot: Option<Spot>,
    range: TextRange,
) -> Option<TypeInfo> {
    let (def, from_prelude) = global(db, place.module, name)?;
    let here = place.view.as_ref();
    let general = global_type(db, def)?;
    let ty = here.zip(spot).map(|(view, spot)| view.ty(spot).clone());
    let ty = ty.filter(Type::is_function).unwrap_or(general);
    let view = View::new(db, def).filter(|_| def.kind(db) == DefKind::Fn);
    let names = view.as_ref().map(names_of_header).unwrap_or_default();
    // What another file says is nothing that can be gone to from here.
    let is_here = def.file(db) == place.def.file(db);
    let tensors = match view.as_ref().filter(|_| is_here) {
        Some(view) => tensors(view, &ty, Of::Header),
        None => Vec::new(),
    };
    Some(TypeInfo {
        range,
        source: name.to_owned(),
        kind: if from_prelude { "function of the prelude" } else { "function" }.to_owned(),
        lines: pretty::lines(&ty, &names),
        tensors,
        context: Vec::new(),
        expected: here.zip(spot).and_then(|(view, spot)| expected::expected(view, spot)),
    })
}

/// The first line of an expression, cut where it is long.
fn source(view: &View<'_>, range: TextRange) -> String {
    // The text of a function may be all of the file.
    let most = TextSize::new(4 * LONGEST_SOURCE as u32);
    let is_long = range.len() > most;
    let shown = if is_long { first_token(view, range) } else { view.text(range) };
    let mut lines = shown.lines();
    let line = lines.next().unwrap_or_default();
    let cut = line.char_indices().nth(LONGEST_SOURCE).map(|(at, _)| at);
    let whole = cut.is_none() && lines.next().is_none() && !is_long;
    let line = &line[..cut.unwrap_or(line.len())];
    if whole { line.to_owned() } else { format!("{}…", line.trim_end()) }
}

/// The token that an expression begins with.
fn first_token(view: &View<'_>, range: TextRange) -> String {
    let at = range.start().checked_sub(view.def.start(view.db)).unwrap_or_default();
    let token = view.def.node(view.db).token_at(at);
    token.map(|token| token.text().to_owned()).unwrap_or_default()
}

fn kind(view: &View<'_>, spot: Spot) -> String {
    let unit = view.unit(spot.unit);
    match unit.expr(spot.expr) {
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

/// The names of the parameters of the function that an expression stands for.
fn names_of_value(view: &View<'_>, spot: Spot) -> Names {
    if !view.ty(spot).is_function() {
        return Names::default();
    }
    let spot = view.resolve(spot);
    let unit = view.unit(spot.unit);
    match unit.expr(spot.expr) {
        Expr::Fn(id) => {
            let params = unit.fns.get(id.index()).map(|f| f.params.as_slice()).unwrap_or_default();
            Names(params.iter().map(|&param| unit.binder(param).name.to_string()).collect())
        }
        Expr::Global(name) => {
            let found = global(view.db, view.module, name)
                .filter(|(def, _)| def.kind(view.db) == DefKind::Fn);
            let view = found.and_then(|(def, _)| View::new(view.db, def));
            view.as_ref().map(names_of_header).unwrap_or_default()
        }
        _ => Names::default(),
    }
}

fn names_of_header(view: &View<'_>) -> Names {
    let params = view.body.header().map(|header| header.params.as_slice()).unwrap_or_default();
    Names(params.iter().map(|&param| view.unit(0).binder(param).name.to_string()).collect())
}

/// What has the type whose tensors are shown.
#[derive(Clone, Copy)]
enum Of {
    /// An expression.
    Value(Spot),
    /// A variable without a value.
    Declared(Binding),
    /// A definition, by its header.
    Header,
}

/// The tensors of a type, axis by axis.
fn tensors(view: &View<'_>, ty: &Type, of: Of) -> Vec<TensorInfo> {
    let mut parts: Vec<(String, &TensorType, From)> = Vec::new();
    let (_, instance) = ty.opened();
    match (&instance.ty, of) {
        (Type::Tensor(tensor), Of::Value(spot)) => {
            parts.push((String::new(), tensor, From::Value(spot, None)));
        }
        (Type::Tensor(tensor), Of::Declared(binding)) => {
            parts.push((String::new(), tensor, From::Declared(binding)));
        }
        (Type::Tuple(fields), Of::Value(_) | Of::Declared(_)) => {
            for (at, field) in fields.iter().enumerate().take(MOST_TENSORS) {
                let from = match of {
                    Of::Value(spot) => From::Value(spot, Some(at)),
                    _ => From::Nowhere,
                };
                if let Type::Tensor(tensor) = field {
                    parts.push((format!("field {at}"), tensor, from));
                }
            }
        }
        (Type::Func(func), of) => {
            let (unit, params, result) = function(view, of);
            for (at, param) in func.params().iter().enumerate().take(MOST_TENSORS) {
                let Type::Tensor(tensor) = param else { continue };
                match params.get(at) {
                    Some(&binder) => {
                        let binding = Binding { unit: unit as u32, binder };
                        let name = view.binder(binding).name.to_string();
                        parts.push((name, tensor, From::Declared(binding)));
                    }
                    None => parts.push((format!("parameter {at}"), tensor, From::Nowhere)),
                }
            }
            if let Type::Tensor(tensor) = func.ret() {
                let from = result.map_or(From::Nowhere, |spot| From::Value(spot, None));
                parts.push(("result".to_owned(), tensor, from));
            }
        }
        _ => {}
    }
    let axes = parts.iter().map(|(_, tensor, _)| tensor.rank().min(MOST_AXES)).sum();
    let mut budget = Budget { steps: MOST_FOLLOWED, axes };
    let mut out = Vec::new();
    for (part, tensor, from) in parts {
        out.push(TensorInfo {
            part,
            ty: pretty::one_line(&Type::from(tensor.clone())),
            amount: tensor.elements().zip(tensor.bytes()).map(|(elements, bytes)| {
                format!("{}, {}", words::counted(elements, "element"), words::bytes(bytes))
            }),
            axes: axes_of(view, tensor, from, &mut budget),
            is_cut: tensor.rank() > MOST_AXES,
        });
    }
    out
}

/// What is left of [`MOST_FOLLOWED`], and for how many axes: one that ends early leaves the others
/// more.
struct Budget {
    steps: usize,
    axes: usize,
}

impl Budget {
    /// How far the next axis is followed.
    fn next(&self) -> usize {
        (self.steps / self.axes.max(1)).max(LEAST_FOLLOWED)
    }

    /// It was followed so far.
    fn took(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(steps);
        self.axes = self.axes.saturating_sub(1);
    }
}

/// The unit of a function that is written out, its parameters there, and what it gives.
fn function<'v>(
    view: &'v View<'_>,
    of: Of,
) -> (usize, &'v [semantics::body::BinderId], Option<Spot>) {
    match of {
        Of::Header => {
            let params = view.body.header().map(|header| header.params.as_slice());
            let last = view.body.units.len().checked_sub(1);
            let result = last.and_then(|unit| Some(Spot { unit, expr: view.unit(unit).root? }));
            (0, params.unwrap_or_default(), result)
        }
        Of::Value(spot) => {
            let spot = view.resolve(spot);
            let unit = view.unit(spot.unit);
            let Expr::Fn(id) = unit.expr(spot.expr) else { return (0, &[], None) };
            let Some(function) = unit.fns.get(id.index()) else { return (0, &[], None) };
            let result = function.body.map(|body| Spot { unit: spot.unit, expr: body.result });
            (spot.unit, &function.params, result)
        }
        Of::Declared(_) => (0, &[], None),
    }
}

/// Where the sizes of a tensor are looked for.
#[derive(Clone, Copy)]
enum From {
    /// An expression, or a field of it.
    Value(Spot, Option<usize>),
    /// The annotation of a variable.
    Declared(Binding),
    /// Nothing is known but the type.
    Nowhere,
}

fn axes_of(view: &View<'_>, tensor: &TensorType, from: From, budget: &mut Budget) -> Vec<AxisInfo> {
    let letters = match from {
        From::Value(spot, None) => Letters::of_argument(view, spot, tensor.rank()),
        _ => None,
    };
    let annotation = match from {
        From::Declared(binding) => view.annotation_node(binding),
        _ => None,
    };
    let mut axes = Vec::new();
    for (axis, size) in tensor.shape.iter().enumerate().take(MOST_AXES) {
        let mut info = AxisInfo {
            size: size.to_string(),
            letter: letters.as_ref().and_then(|letters| letters.of(axis)),
            source: None,
            origin: None,
        };
        match from {
            From::Value(spot, field) => {
                let trail = trail_of(view, spot, field, axis, budget.next());
                budget.took(trail.followed);
                follow(view, trail, &mut info);
            }
            From::Declared(binding) => {
                let written = annotation.and_then(|node| view.dim_range(node, axis));
                info.source = written.map(|range| Step {
                    range,
                    message: format!("written at `{}`", view.binder(binding).name),
                });
                budget.took(0);
            }
            From::Nowhere => budget.took(0),
        }
        axes.push(info);
    }
    axes
}

/// What the way that a size came says of it.
fn follow(view: &View<'_>, trail: Trail, info: &mut AxisInfo) {
    if info.letter.is_none() {
        let mut same = trail.same.iter();
        info.letter = same.find_map(|&(spot, axis)| Letters::of_result(view, spot)?.of(axis));
    }
    let rest = trail.rest.map(|(spot, axis)| Step {
        range: view.range(spot),
        message: format!("axis {axis} of {}", view.describe(spot)),
    });
    let mut set = trail.steps.into_iter().filter(|(_, passes)| !passes).map(|(step, _)| step);
    info.source = set.next();
    info.origin = rest.or_else(|| set.next_back());
    if info.source.is_none() {
        info.source = info.origin.take();
    }
}

/// The variables that an expression uses and does not bind itself, in the order of the text.
fn variables(view: &View<'_>, spot: Spot) -> Vec<Variable> {
    if view.variable(spot).is_some() {
        return Vec::new();
    }
    let unit = view.unit(spot.unit);
    let range = unit.range(spot.expr);
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    for (index, inner) in unit.ranges.iter().enumerate() {
        if !range.contains_range(*inner) {
            continue;
        }
        let used = Spot { unit: spot.unit, expr: semantics::body::ExprId(index as u32) };
        if unit.expr(used.expr).is_step() {
            continue;
        }
        let Some(binding) = view.variable(used) else { continue };
        let binder = view.binder(binding);
        let is_inside = binding.unit as usize == spot.unit && range.contains_range(binder.range);
        if is_inside || !seen.insert(binding) {
            continue;
        }
        found.push((
            inner.start(),
            Variable {
                name: binder.name.to_string(),
                ty: pretty::one_line(view.binding_type(binding)),
                range: view.binding_range(binding),
            },
        ));
        if found.len() == MOST_VARIABLES {
            break;
        }
    }
    found.sort_by_key(|(start, _)| *start);
    found.into_iter().map(|(_, variable)| variable).collect()
}

#[cfg(test)]
mod tests;
