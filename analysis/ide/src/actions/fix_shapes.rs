//! The quick fix for a call whose shapes do not fit: it swaps or transposes an argument.
//!
//! Each candidate is tried, as other fixes are. One is offered only if it is the only candidate that
//! removes the error without adding another: for `add(%a, %b)` with shapes `(3, 4)` and `(4, 3)`,
//! transposing either argument works, and only the user knows which one is meant.

use operators::Operator;
use semantics::{
    Code, Diagnostic, Fix, Severity, View,
    body::{CallData, Callee, UnitId},
    check_file,
};
use syntax::{TextRange, TextSize};
use types::{Relation, State, TensorType, Type, probe};

use super::Context;
use crate::{edit::Edits, lookups::args_of};

/// The codes of diagnostics about mismatched shapes.
const CODES: &[Code] = &[Code::ShapeMismatch, Code::BroadcastMismatch, Code::RankMismatch];

/// The operator call that has an error.
struct FailingCall<'c, 'db> {
    view: &'c View<'db>,
    unit: UnitId,
    operator: &'static Operator,
    call: &'c CallData,
    /// The ranges in the file and the types of the arguments.
    args: Vec<(TextRange, Type)>,
}

pub(super) fn offer(context: &Context<'_>) -> Option<String> {
    only_fix(context).map(|fix| fix.title)
}

pub(super) fn edits(context: &Context<'_>) -> Result<Edits, String> {
    let fix = only_fix(context).ok_or("no single change makes the shapes fit")?;
    Ok(fix.edits.into_iter().collect())
}

/// Returns the only candidate that fixes the call at the cursor.
fn only_fix(context: &Context<'_>) -> Option<Fix> {
    let found = check_file(context.db, context.file);
    let diagnostic = found.iter().find(|diagnostic| {
        diagnostic.severity == Severity::Error
            && CODES.contains(&diagnostic.code)
            && diagnostic.range.intersect(context.range).is_some()
    })?;
    // A fix from the type rule is more precise than a search.
    if !diagnostic.fixes.is_empty() {
        return None;
    }
    let failing = failing_call(context, diagnostic)?;
    let helps = |fix: &Fix| semantics::is_helpful(context.db, context.file, diagnostic, fix);
    let mut fixes = candidates(context, &failing).into_iter().filter(helps);
    let first = fixes.next()?;
    fixes.next().is_none().then_some(first)
}

/// Returns the innermost operator call around an error.
fn failing_call<'c, 'db>(
    context: &'c Context<'db>,
    diagnostic: &Diagnostic,
) -> Option<FailingCall<'c, 'db>> {
    let view = context.view.as_ref()?;
    let number = view.unit_at(diagnostic.range.start())?;
    let (call, _) = view
        .calls(number)
        .filter(|(_, range)| range.contains_range(diagnostic.range))
        .min_by_key(|(_, range)| range.len())?;
    let Callee::Operator(operator) = &call.callee else { return None };
    let args = args_of(number, call).map(|arg| (view.range(arg), view.ty(arg).clone()));
    let failing = FailingCall { view, unit: number, operator, call, args: args.collect() };
    (call.whole && call.trusted && !failing.args.is_empty()).then_some(failing)
}

/// Returns the candidates: other attributes, swapped arguments and transposed arguments.
fn candidates(context: &Context<'_>, failing: &FailingCall<'_, '_>) -> Vec<Fix> {
    let mut candidates = attributes(failing);
    let text = |range: TextRange| context.slice(range - context.start()).to_owned();
    let relation = failing.operator.plain_relation().map(|relation| Relation {
        attrs: match failing.call.attrs.schema() {
            Some(_) => failing.call.attrs.clone(),
            None => relation.attrs.clone(),
        },
        ..relation
    });
    let fits = |types: &[Type]| {
        let Some(relation) = &relation else { return false };
        matches!(probe(relation, failing.operator.args, types).0, State::Solved | State::Waiting)
    };
    let types: Vec<Type> = failing.args.iter().map(|(_, ty)| ty.clone()).collect();
    if let [(first, _), (second, _)] = failing.args[..]
        && fits(&[types[1].clone(), types[0].clone()])
    {
        candidates.push(Fix {
            title: format!("Swap the arguments of `{}`", failing.operator.name),
            edits: [(first, text(second)), (second, text(first))].into_iter().collect(),
        });
    }
    // An attribute that transposes is simpler than a call of `transpose`.
    if failing.operator.schema.is_some_and(|schema| schema.field("transpose_b").is_some()) {
        return candidates;
    }
    for (position, (range, ty)) in failing.args.iter().enumerate() {
        let Some(tensor) = ty.as_tensor() else { continue };
        for axes in permutations(tensor.shape.len()) {
            let mut types = types.clone();
            types[position] = transposed(tensor, axes);
            if !fits(&types) {
                continue;
            }
            let argument = text(*range);
            let edit = (*range, format!("transpose({argument}, axes={axes:?})"));
            candidates.push(Fix {
                title: format!("Transpose `{}`: axes={axes:?}", brief(&argument)),
                edits: [edit].into_iter().collect(),
            });
        }
    }
    candidates
}

/// Returns an argument as a title names it.
fn brief(argument: &str) -> &str {
    const MAX_LEN: usize = 40;
    if argument.len() > MAX_LEN || argument.contains('\n') { "the argument" } else { argument }
}

/// Returns the permutations of axes that are confused most often.
fn permutations(rank: usize) -> &'static [&'static [usize]] {
    match rank {
        2 => &[&[1, 0]],
        3 => &[&[0, 2, 1]],
        // Channels last to channels first, the reverse, and the last two axes.
        4 => &[&[0, 3, 1, 2], &[0, 2, 3, 1], &[0, 1, 3, 2]],
        _ => &[],
    }
}

fn transposed(tensor: &TensorType, axes: &[usize]) -> Type {
    let shape: Vec<_> = axes.iter().map(|&axis| tensor.shape[axis].clone()).collect();
    Type::from(TensorType::new(shape, tensor.dtype))
}

/// Returns candidates with other values of the attributes that transpose an argument. Other attributes have
/// their fix from the check.
fn attributes(failing: &FailingCall<'_, '_>) -> Vec<Fix> {
    let mut candidates = Vec::new();
    for name in ["transpose_a", "transpose_b"] {
        if failing.operator.schema.is_none_or(|schema| schema.field(name).is_none()) {
            continue;
        }
        let value = match failing.call.attrs.bool(name) {
            true => "False",
            false => "True",
        };
        let edit = match failing.call.written.iter().find(|attr| attr.name == name) {
            Some(attr) => (failing.view.place(failing.unit, attr.value_range), value.to_owned()),
            None => (TextRange::empty(failing.end()), format!(", {name}={value}")),
        };
        let edits = [edit].into_iter().collect();
        candidates.push(Fix { title: format!("Write `{name}={value}`"), edits });
    }
    candidates
}

impl FailingCall<'_, '_> {
    /// Returns the end of the last argument or attribute.
    fn end(&self) -> TextSize {
        let args = self.args.iter().map(|(range, _)| range.end());
        let written = self.call.written.iter();
        let attrs = written.map(|attr| self.view.place(self.unit, attr.value_range).end());
        args.chain(attrs).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use syntax::{ParseLimits, TextRange};

    use crate::actions::{actions, resolve};

    /// Returns the title of the fix for the first error, and the line that it changes. The fixed
    /// text must have no errors.
    fn fixed(text: &str) -> Option<(String, String)> {
        let db = semantics::Database::new();
        let file = db.add_file(text, ParseLimits::default());
        let found = semantics::check_file(&db, file);
        let error = found.iter().find(|d| d.severity == semantics::Severity::Error);
        let range = error.map_or(TextRange::default(), |error| error.range);
        let offered = actions(&db, file, range).into_iter().find(|a| a.id == "fix-shapes")?;
        let edits = resolve(&db, file, range, offered.id).expect("the offered action applies");
        let after = crate::edit::apply_all(text, &edits);
        let scratch = semantics::Database::new();
        let file = scratch.add_file(&after, ParseLimits::default());
        let found = semantics::check_file(&scratch, file);
        assert!(found.iter().all(|d| d.severity != semantics::Severity::Error), "{found:?}");
        let mut lines = text.lines().zip(after.lines()).filter(|(before, after)| before != after);
        let line = lines.next().expect("it changes a line").1.trim().to_owned();
        assert!(lines.next().is_none(), "more than one line is changed");
        Some((offered.title, line))
    }

    fn check(text: &str, title: &str, line: &str) {
        assert_eq!(fixed(text), Some((title.to_owned(), line.to_owned())));
    }

    #[test]
    fn the_only_candidate_that_fixes_the_call_is_offered() {
        check(
            "def @main(%a: Tensor[(2, 8, 64), float32], %b: Tensor[(2, 64, 16), float32]) {\n  \
             nn.batch_matmul(%a, %b, transpose_b=True)\n}\n",
            "Write `transpose_b=False`",
            "nn.batch_matmul(%a, %b, transpose_b=False)",
        );
        check(
            "def @main(%x: Tensor[(8, 512), float32], %w: Tensor[(512, 10), float32]) {\n  \
             nn.dense(%x, %w, units=10)\n}\n",
            "Transpose `%w`: axes=[1, 0]",
            "nn.dense(%x, transpose(%w, axes=[1, 0]), units=10)",
        );
        check(
            "def @main(%a: Tensor[(3, 4), float32], %b: Tensor[(4, 3), float32]) \
             -> Tensor[(3, 4), float32] {\n  add(%a, %b)\n}\n",
            "Transpose `%b`: axes=[1, 0]",
            "add(%a, transpose(%b, axes=[1, 0]))",
        );
    }

    #[test]
    fn ambiguous_fix_is_not_offered() {
        // Either argument could be transposed.
        let two = "def @main(%a: Tensor[(3, 4), float32], %b: Tensor[(4, 3), float32]) {\n  \
                   add(%a, %b)\n}\n";
        assert_eq!(fixed(two), None);
        // No candidate fixes the call.
        let none = "def @main(%a: Tensor[(3, 5), float32], %b: Tensor[(4, 3), float32]) {\n  \
                    add(%a, %b)\n}\n";
        assert_eq!(fixed(none), None);
        // The fix would contradict the declared result type.
        let later = "def @main(%a: Tensor[(2, 8, 64), float32], %b: Tensor[(2, 64, 16), float32]) \
                     -> Tensor[(2, 8, 8), float32] {\n  \
                     nn.batch_matmul(%a, %b, transpose_b=True)\n}\n";
        assert_eq!(fixed(later), None);
        let correct = "def @main(%a: Tensor[(3, 4), float32]) {\n  add(%a, %a)\n}\n";
        assert_eq!(fixed(correct), None);
    }
}
