//! A variable that is not bound.

use operators::similar;
use syntax::{SyntaxKind, T, TextRange};
use types::{DataType, State, Table, Type, probe};

use crate::{
    body::*,
    check::{check_view::CheckView, other_names},
    diagnostic::{Code, DefDiagnostic},
    queries,
    view::View,
};

/// Returns the diagnostic of a free name, with a similar name if `suggest` is set.
pub(in crate::check) fn report(
    view: &CheckView<'_, '_>,
    number: UnitId,
    free: FreeId,
    suggest: bool,
) -> DefDiagnostic {
    let unit = view.unit(number);
    let name = &unit.frees[free.index()].name;
    let range = view.place(number, unit.frees[free.index()].range);
    let graph = name.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    let kind = if graph { "graph variable" } else { "variable" };
    let mut diagnostic = DefDiagnostic::new(
        Code::UnknownVariable,
        range,
        format!("there is no {kind} `{name}` here"),
    );
    if !suggest {
        return diagnostic;
    }
    // A later binding, or one in an inner block that has ended.
    let all_units = 0..view.body.units.len();
    let mut similar_units = view.body.units_with_names(name_bit(name), all_units);
    let later = similar_units.find_map(|(other, unit)| {
        let binder = unit.binders.iter().find(|binder| binder.name.as_str() == name.as_str())?;
        Some(view.place(other, binder.range))
    });
    if let Some(there) = later {
        let message = format!("`{name}` is bound here, out of scope");
        return diagnostic.related(there, message);
    }
    let mut candidates: Vec<LocalRef> = visible(view, number, range).collect();
    let name_of = |binding: &LocalRef| view.binder(*binding).name.as_str();
    // `%a/` is a name that includes the slash.
    let trimmed = name.trim_end_matches('/');
    if trimmed != name && candidates.iter().any(|known| name_of(known) == trimmed) {
        diagnostic =
            diagnostic.help(format!("`/` is part of the name; put a space after `{trimmed}`"));
        // A division needs a right operand.
        let is_operand = view.root().token_from(range.end()).is_some_and(|next| {
            !next.kind().is_fixed() || matches!(next.kind(), T!["("] | T!["-"] | T!["{"])
        });
        return match is_operand {
            true => diagnostic.fix("Put a space before the `/`", [(range, format!("{trimmed} /"))]),
            false => diagnostic,
        };
    }
    let bare = &name[1..];
    // Other letters for the same name: `%X` for `%x`.
    let mut names = candidates.iter().map(name_of);
    if let Some(near) = names.find(|known| known.eq_ignore_ascii_case(name)) {
        return diagnostic.help(format!("did you mean `{near}`?")).change(range, near);
    }
    if let Some((receiver, member)) = bare.split_once('.')
        && candidates.iter().any(|known| name_of(known).strip_prefix('%') == Some(receiver))
    {
        return member_of(view, diagnostic, range, receiver, member);
    }
    // An operator or a constructor, which has no sigil.
    if view.types.constructor(bare).is_some() || operators::find(bare).is_some() {
        let what = if operators::find(bare).is_some() { "an operator" } else { "a constructor" };
        return diagnostic
            .help(format!("`{bare}` is {what}, which has no sigil"))
            .change(range, bare);
    }
    // The right name with the wrong sigil.
    if queries::global(view.db, view.module, &format!("@{bare}")).is_some() {
        return diagnostic.help(format!("`@{bare}` is a global")).change(range, format!("@{bare}"));
    }
    if let Some(missing) = missing_statement(view, number, name) {
        return diagnostic.help(missing);
    }
    for _ in 0..MAX_CANDIDATES {
        let names = candidates.iter().map(name_of);
        let Some(near) = similar::nearest(name, names).map(str::to_owned) else { break };
        // The last one of a name hides those before.
        let binding = candidates.iter().rev().find(|binding| name_of(binding) == near);
        if binding.is_some_and(|&binding| fits(view, number, free, binding)) {
            return diagnostic.help(format!("did you mean `{near}`?")).change(range, near);
        }
        candidates.retain(|binding| name_of(binding) != near);
    }
    diagnostic
}

/// The maximum number of similar names whose types are tried at the uses of an unknown one.
const MAX_CANDIDATES: usize = 4;

/// Returns the help for the name of a graph variable in a gap of the numbers that TVM gives to the statements of a
/// definition: the statement was lost when the text was copied.
fn missing_statement(view: &View<'_>, number: UnitId, name: &str) -> Option<String> {
    let value = |name: &str| name.strip_prefix('%')?.parse::<u64>().ok();
    let missing = value(name)?;
    let outer = view.body.units().filter(|(_, unit)| unit.kind == UnitKind::Graph);
    let outer = outer.filter_map(|(_, unit)| Some(unit.binder(unit.binds?)));
    let inner = view.unit(number).binders.iter().filter(|binder| binder.kind == BinderKind::Graph);
    let (mut before, mut after) = (None, None);
    for given in outer.chain(inner).filter_map(|binder| value(&binder.name)) {
        match given < missing {
            true => before = before.max(Some(given)),
            false => after = Some(after.map_or(given, |least: u64| least.min(given))),
        }
    }
    let after = after?;
    Some(match before {
        Some(before) => format!(
            "the statement that defines `{name}` is missing: the numbers go from `%{before}` to `%{after}`"
        ),
        None => format!(
            "the statement that defines `{name}` is missing: the numbers begin at `%{after}`"
        ),
    })
}

/// Returns true unless a use of a free name would be wrong with the type of `binding`.
fn fits(view: &View<'_>, number: UnitId, free: FreeId, binding: LocalRef) -> bool {
    let ty = view.binding_type(binding);
    if !ty.is_closed() || ty.has_error() {
        return true;
    }
    let unit = view.unit(number);
    let uses = unit.uses_of_free(free);
    // Each part of the unit is visited once.
    unit.exprs.iter().all(|expr| match expr {
        Expr::Proj { tuple, index } if uses.contains(tuple) => {
            matches!(ty, Type::Tuple(fields) if (*index as usize) < fields.len())
        }
        Expr::If { cond, .. } if uses.contains(cond) => *ty == Type::scalar(DataType::BOOL),
        Expr::Call(call) => {
            let call = unit.call(*call);
            match &call.callee {
                Callee::Expr(callee) if uses.contains(callee) => ty.is_function(),
                Callee::Expr(callee) if call.args.iter().any(|arg| uses.contains(arg)) => {
                    let Type::Func(function) = view.unit_types(number).expr(*callee) else {
                        return true;
                    };
                    let params = function.params().iter().zip(&call.args);
                    let mut params = params.filter(|(_, arg)| uses.contains(arg));
                    params.all(|(param, _)| can_be(ty, param))
                }
                Callee::Operator(operator) if call.args.iter().any(|arg| uses.contains(arg)) => {
                    let Some(relation) = operator.relation(&call.attrs) else { return true };
                    let types = view.unit_types(number);
                    let args = call.args.iter().map(|arg| match uses.contains(arg) {
                        true => ty.clone(),
                        false => types.expr(*arg).clone(),
                    });
                    let args: Vec<Type> = args.collect();
                    let is_known = args.iter().all(|ty| ty.is_closed() && !ty.has_error());
                    let is_whole = args.len() == operator.args.len();
                    let is_refused =
                        || matches!(probe(&relation, operator.args, &args).0, State::Failed(_));
                    !is_whole || !is_known || !is_refused()
                }
                _ => true,
            }
        }
        _ => true,
    })
}

/// Returns true unless a value of type `ty` cannot have the type `expected`.
fn can_be(ty: &Type, expected: &Type) -> bool {
    if !expected.is_closed() || expected.has_error() {
        return true;
    }
    let mut table = Table::default();
    let (expected, found) = (table.import(expected), table.import(ty));
    table.unify(expected, found).is_ok()
}

/// Adds the fix for `%x.shape` and `%x.sum(…)`, which are calls.
fn member_of(
    view: &View<'_>,
    diagnostic: DefDiagnostic,
    range: TextRange,
    receiver: &str,
    member: &str,
) -> DefDiagnostic {
    let diagnostic =
        diagnostic.help("a value has no members: an operator is called with it, as in `sum(%x)`");
    let operator = match member {
        "T" => operators::find("transpose"),
        member => operators::find(member).or_else(|| other_names::operator(member)),
    };
    let Some(operator) = operator else { return diagnostic };
    let name = operator.name;
    let root = view.root();
    let open = root.token_from(range.end()).filter(|token| token.kind() == T!["("]);
    let title = format!("Call `{name}`");
    let Some(open) = open else {
        let rest = match member {
            "T" => ", axes=None",
            "shape" => ", dtype=\"int32\"",
            _ => "",
        };
        return diagnostic.fix(title, [(range, format!("{name}(%{receiver}{rest})"))]);
    };
    let is_empty = root.token_from(open.range().end()).is_some_and(|token| token.kind() == T![")"]);
    let rest = if is_empty { "" } else { ", " };
    let whole = TextRange::new(range.start(), open.range().end());
    diagnostic.fix(title, [(whole, format!("{name}(%{receiver}{rest}"))])
}

/// Returns the variables in scope at a use in a unit, in order. A name that is bound again occurs again.
fn visible(view: &View<'_>, number: UnitId, used: TextRange) -> impl Iterator<Item = LocalRef> {
    let before = view.body.units().take_while(move |(unit, _)| *unit < number);
    let before = before.flat_map(move |(id, unit)| {
        unit.exported().map(move |binder| LocalRef { unit: id, binder })
    });
    let own = view.unit(number);
    let inner = (0..own.binders.len() as u32).map(BinderId);
    let inner = inner.filter(move |&binder| {
        let range = view.place(number, own.binder(binder).range);
        own.binds != Some(binder) && range.end() <= used.start() && is_around(view, range, used)
    });
    // A binding whose name is missing has none.
    let all = before.chain(inner.map(move |binder| LocalRef { unit: number, binder }));
    all.filter(|binding| !view.binder(*binding).name.is_empty())
}

/// Returns true if the variable that is bound at `binder` is in scope at `used`, after it.
fn is_around(view: &View<'_>, binder: TextRange, used: TextRange) -> bool {
    let path = view.root().path_to(binder);
    let mut around = path.iter().rev();
    let scope = around.find_map(|node| match node.kind() {
        // A variable is not in scope in its own value.
        SyntaxKind::LET_STMT | SyntaxKind::GRAPH_STMT => {
            node.range().contains_range(used).then_some(None)
        }
        SyntaxKind::FN_EXPR | SyntaxKind::ARM | SyntaxKind::BLOCK => Some(Some(node.range())),
        _ => None,
    });
    scope.flatten().is_some_and(|scope| scope.contains_range(used))
}
