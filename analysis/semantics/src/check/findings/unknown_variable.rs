//! A variable that is not bound.

use operators::similar;
use syntax::{T, TextRange};

use crate::{
    body::*,
    check::{checked::Checked, other_names},
    diagnostic::{Code, DefDiagnostic},
    queries,
    view::View,
};

/// Returns the diagnostic of a free name, with a similar name if `suggest` is set.
pub(in crate::check) fn report(
    view: &Checked<'_, '_>,
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
    let bit = name_bit(name);
    let mut similar_units = view.body.units().filter(|(_, u)| u.name_summary & bit != 0);
    let later = similar_units.find_map(|(other, unit)| {
        let binder = unit.binders.iter().find(|binder| binder.name.as_str() == name.as_str())?;
        Some(view.place(other, binder.range))
    });
    if let Some(there) = later {
        let message = format!("`{name}` is bound here, out of scope");
        return diagnostic.related(there, message);
    }
    // `%a/` is a name that includes the slash.
    let trimmed = name.trim_end_matches('/');
    if trimmed != name && visible(view, number).any(|known| known == trimmed) {
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
    let other_case = visible(view, number).find(|known| known.eq_ignore_ascii_case(name));
    if let Some(near) = other_case {
        return diagnostic
            .help(format!("did you mean `{near}`?"))
            .fix(format!("Change to `{near}`"), [(range, near.to_owned())]);
    }
    if let Some((receiver, member)) = bare.split_once('.')
        && visible(view, number).any(|known| known[1..] == *receiver)
    {
        return member_of(view, diagnostic, range, receiver, member);
    }
    // An operator or a constructor, which has no sigil.
    if view.types.constructor(bare).is_some() || operators::find(bare).is_some() {
        let what = if operators::find(bare).is_some() { "an operator" } else { "a constructor" };
        return diagnostic
            .help(format!("`{bare}` is {what}, which has no sigil"))
            .fix(format!("Change to `{bare}`"), [(range, bare.to_owned())]);
    }
    // The right name with the wrong sigil.
    if queries::global(view.db, view.module, &format!("@{bare}")).is_some() {
        return diagnostic
            .help(format!("`@{bare}` is a global"))
            .fix(format!("Change to `@{bare}`"), [(range, format!("@{bare}"))]);
    }
    if let Some(near) = similar::nearest(name, visible(view, number)) {
        return diagnostic
            .help(format!("did you mean `{near}`?"))
            .fix(format!("Change to `{near}`"), [(range, near.to_owned())]);
    }
    diagnostic
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

/// Returns the names of the variables bound before a unit and inside it. A name that is bound again
/// occurs again.
fn visible<'v>(view: &'v View<'_>, number: UnitId) -> impl Iterator<Item = &'v str> {
    let (header, statements) = match &view.body.units[..number.index()] {
        [header, statements @ ..] => (Some(header), statements),
        [] => (None, &[][..]),
    };
    let params = header.into_iter().flat_map(|unit| {
        let params = unit.header().into_iter().flat_map(|header| &header.params);
        params.map(|&binder| unit.binder(binder))
    });
    let before = statements.iter().filter_map(|unit| Some(unit.binder(unit.binds?)));
    let names = params.chain(before).chain(&view.unit(number).binders);
    names.map(|binder| binder.name.as_str())
}
