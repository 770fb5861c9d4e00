//! Calls whose shapes do not fit: the one small change that mends them.
//!
//! A change is tried on the whole text. It is offered where it takes the error away, brings no other,
//! and no second one does the same: where two would do, only a person knows which is meant.

use operators::Operator;
use semantics::{
    Diagnostic, Severity, Spot,
    body::{CallData, Callee, Expr},
    check_file,
};
use syntax::{TextRange, TextSize};
use types::{AttrValue, Relation, State, TensorType, Type, probe};

use super::{Context, check};
use crate::edit::Edits;

/// The longest text that is checked again and again.
const LONGEST_TEXT: usize = 256 << 10;
/// The codes of diagnostics about shapes that do not fit.
const CODES: &[&str] = &["shape-mismatch", "broadcast-mismatch", "rank-mismatch"];

/// A change that may mend a call.
struct Change {
    title: String,
    edits: Edits,
}

/// The call of an operator that an error is about.
struct Faulty<'c> {
    operator: &'static Operator,
    call: &'c CallData,
    /// The ranges of the arguments in the file, and their types.
    args: Vec<(TextRange, Type)>,
    /// The offset of the unit in the file.
    base: TextSize,
}

pub(super) fn offer(context: &Context<'_>) -> Option<String> {
    only(context).map(|change| change.title)
}

pub(super) fn edits(context: &Context<'_>) -> Result<Edits, String> {
    let change = only(context).ok_or("there is no one change that makes the shapes fit")?;
    Ok(change.edits)
}

/// The only change that mends the call at the cursor.
fn only(context: &Context<'_>) -> Option<Change> {
    let found = check_file(context.db, context.file);
    let diagnostic = found.iter().find(|diagnostic| {
        let range = diagnostic.range;
        diagnostic.severity == Severity::Error
            && CODES.contains(&diagnostic.code)
            && range.start() <= context.range.end()
            && context.range.start() <= range.end()
    })?;
    // What the rule itself proposes is better than what is tried.
    if !diagnostic.fixes.is_empty() || context.text().len() > LONGEST_TEXT {
        return None;
    }
    let faulty = faulty(context, diagnostic)?;
    let mut mending =
        changes(context, &faulty).into_iter().filter(|change| check::mends(context, &change.edits));
    let first = mending.next()?;
    mending.next().is_none().then_some(first)
}

/// The innermost call around an error.
fn faulty<'c>(context: &'c Context<'_>, diagnostic: &Diagnostic) -> Option<Faulty<'c>> {
    let view = context.view.as_ref()?;
    let number = view.unit_at(diagnostic.range.start())?;
    let unit = view.unit(number);
    let calls = unit.exprs.iter().zip(&unit.ranges).filter_map(|(expr, range)| match expr {
        Expr::Call(id) => Some((unit.call(*id), view.place(number, *range))),
        _ => None,
    });
    let (call, _) = calls
        .filter(|(_, range)| range.contains_range(diagnostic.range))
        .min_by_key(|(_, range)| range.len())?;
    let Callee::Operator(operator) = &call.callee else { return None };
    let args = call.args.iter().map(|&expr| {
        let spot = Spot { unit: number, expr };
        (view.range(spot), view.ty(spot).clone())
    });
    let base = context.start() + view.body.starts[number];
    let faulty = Faulty { operator, call, args: args.collect(), base };
    (call.whole && call.trusted && !faulty.args.is_empty()).then_some(faulty)
}

/// What might be meant instead.
fn changes(context: &Context<'_>, faulty: &Faulty<'_>) -> Vec<Change> {
    let mut changes = attributes(faulty);
    let text = |range: TextRange| context.slice(range - context.start()).to_owned();
    let relation = faulty.operator.plain_relation().map(|relation| Relation {
        attrs: match faulty.call.attrs.schema() {
            Some(_) => faulty.call.attrs.clone(),
            None => relation.attrs.clone(),
        },
        ..relation
    });
    let fits = |types: &[Type]| {
        let Some(relation) = &relation else { return false };
        matches!(probe(relation, faulty.operator.args, types).0, State::Solved | State::Waiting)
    };
    let types: Vec<Type> = faulty.args.iter().map(|(_, ty)| ty.clone()).collect();
    if let [(first, _), (second, _)] = faulty.args[..]
        && fits(&[types[1].clone(), types[0].clone()])
    {
        changes.push(Change {
            title: format!("Swap the arguments of `{}`", faulty.operator.name),
            edits: vec![(first, text(second)), (second, text(first))],
        });
    }
    // What an attribute transposes needs no call for it.
    if faulty.operator.schema.is_some_and(|schema| schema.field("transpose_b").is_some()) {
        return changes;
    }
    for (position, (range, ty)) in faulty.args.iter().enumerate() {
        let Some(tensor) = ty.as_tensor() else { continue };
        for axes in orders(tensor.shape.len()) {
            let mut types = types.clone();
            types[position] = transposed(tensor, axes);
            if !fits(&types) {
                continue;
            }
            let argument = text(*range);
            changes.push(Change {
                title: format!("Transpose `{}`: axes={axes:?}", brief(&argument)),
                edits: vec![(*range, format!("transpose({argument}, axes={axes:?})"))],
            });
        }
    }
    changes
}

/// An argument in a title.
fn brief(argument: &str) -> &str {
    const LONGEST: usize = 40;
    if argument.len() > LONGEST || argument.contains('\n') { "the argument" } else { argument }
}

/// The orders of axes that people mix up.
fn orders(rank: usize) -> &'static [&'static [usize]] {
    match rank {
        2 => &[&[1, 0]],
        3 => &[&[0, 2, 1]],
        // Channels last to first, and back.
        4 => &[&[0, 3, 1, 2], &[0, 2, 3, 1], &[0, 1, 3, 2]],
        _ => &[],
    }
}

fn transposed(tensor: &TensorType, axes: &[usize]) -> Type {
    let shape: Vec<_> = axes.iter().map(|&axis| tensor.shape[axis].clone()).collect();
    Type::from(TensorType::new(shape, tensor.dtype))
}

/// Other values of the attributes that say which axes meet.
fn attributes(faulty: &Faulty<'_>) -> Vec<Change> {
    let Some(schema) = faulty.operator.schema.filter(|_| !faulty.operator.detached) else {
        return Vec::new();
    };
    let mut changes = Vec::new();
    for field in schema.fields {
        let written = faulty.call.attrs.get(field.name);
        let values: Vec<String> = match field.name {
            "transpose_a" | "transpose_b" => {
                let is_on = *written == AttrValue::Bool(true);
                vec![if is_on { "False".into() } else { "True".into() }]
            }
            "axis" => axes(faulty, written.as_int()),
            "groups" => groups(faulty),
            "data_layout" => vec!["\"NCHW\"".into(), "\"NHWC\"".into()],
            "kernel_layout" => vec!["\"OIHW\"".into(), "\"HWIO\"".into()],
            _ => continue,
        };
        let now = faulty.call.written.iter().find(|attr| attr.name == field.name);
        let now_text = crate::words::value(written);
        for value in values.into_iter().filter(|value| *value != now_text) {
            let edit = match now {
                Some(attr) => (attr.value_range + faulty.base, value.clone()),
                None => (TextRange::empty(faulty.end()), format!(", {}={value}", field.name)),
            };
            let title = format!("Write `{}={value}`", field.name);
            changes.push(Change { title, edits: vec![edit] });
        }
    }
    changes
}

impl Faulty<'_> {
    /// Where the last argument or attribute ends.
    fn end(&self) -> TextSize {
        let args = self.args.iter().map(|(range, _)| range.end());
        let attrs = self.call.written.iter().map(|attr| attr.value_range.end() + self.base);
        args.chain(attrs).max().unwrap_or(self.base)
    }

    /// The first tensor that the call takes, also out of a tuple.
    fn first_tensor(&self) -> Option<&TensorType> {
        let (_, ty) = self.args.first()?;
        ty.as_tensor().or_else(|| ty.as_tuple()?.first()?.as_tensor())
    }
}

/// The other axes.
fn axes(faulty: &Faulty<'_>, now: Option<i64>) -> Vec<String> {
    let Some(tensor) = faulty.first_tensor() else { return Vec::new() };
    let rank = tensor.shape.len() as i64;
    let now = now.map(|axis| if axis < 0 { axis + rank } else { axis });
    (0..rank).filter(|axis| Some(*axis) != now).map(|axis| axis.to_string()).collect()
}

/// As many groups as the channels of the data have parts of the size of the weight's.
fn groups(faulty: &Faulty<'_>) -> Vec<String> {
    let channels = |position: usize| {
        let tensor = faulty.args.get(position)?.1.as_tensor()?;
        tensor.shape.get(1)?.as_known()
    };
    match (channels(0), channels(1)) {
        (Some(data), Some(weight)) if weight > 0 && data % weight == 0 && data > weight => {
            vec![(data / weight).to_string()]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use syntax::{ParseLimits, TextRange};

    use crate::actions::{actions, resolve};

    /// What is offered at the first error, and the line that it changes, which must be without errors
    /// then.
    fn mended(text: &str) -> Option<(String, String)> {
        let db = semantics::Database::new();
        let file = db.add_file(text, ParseLimits::default());
        let found = semantics::check_file(&db, file);
        let error = found.iter().find(|d| d.severity == semantics::Severity::Error);
        let range = error.map_or(TextRange::default(), |error| error.range);
        let offered = actions(&db, file, range).into_iter().find(|a| a.id == "mend-shapes")?;
        let edits = resolve(&db, file, range, offered.id).expect("what is offered can be done");
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
        assert_eq!(mended(text), Some((title.to_owned(), line.to_owned())));
    }

    #[test]
    fn one_change_mends_it() {
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
            "def @main(%x: Tensor[(1, 8, 8, 3), float32], %w: Tensor[(4, 3, 3, 3), float32]) \
             -> Tensor[(1, 6, 6, 4), float32] {\n  nn.conv2d(%x, %w, channels=4, kernel_size=[3, 3])\n}\n",
            "Write `data_layout=\"NHWC\"`",
            "nn.conv2d(%x, %w, channels=4, kernel_size=[3, 3], data_layout=\"NHWC\")",
        );
        check(
            "def @main(%a: Tensor[(2, 3, 4), float32], %b: Tensor[(2, 5, 4), float32]) {\n  \
             concatenate((%a, %b), axis=2)\n}\n",
            "Write `axis=1`",
            "concatenate((%a, %b), axis=1)",
        );
        check(
            "def @main(%a: Tensor[(3, 4), float32], %b: Tensor[(4, 3), float32]) \
             -> Tensor[(3, 4), float32] {\n  add(%a, %b)\n}\n",
            "Transpose `%b`: axes=[1, 0]",
            "add(%a, transpose(%b, axes=[1, 0]))",
        );
    }

    #[test]
    fn nothing_is_offered_where_it_is_not_certain() {
        // Either of the two may be meant.
        let two = "def @main(%a: Tensor[(3, 4), float32], %b: Tensor[(4, 3), float32]) {\n  \
                   add(%a, %b)\n}\n";
        assert_eq!(mended(two), None);
        // Nothing helps.
        let none = "def @main(%a: Tensor[(3, 5), float32], %b: Tensor[(4, 3), float32]) {\n  \
                    add(%a, %b)\n}\n";
        assert_eq!(mended(none), None);
        // What follows would be wrong.
        let later = "def @main(%a: Tensor[(2, 8, 64), float32], %b: Tensor[(2, 64, 16), float32]) \
                     -> Tensor[(2, 8, 8), float32] {\n  \
                     nn.batch_matmul(%a, %b, transpose_b=True)\n}\n";
        assert_eq!(mended(later), None);
        let sound = "def @main(%a: Tensor[(3, 4), float32]) {\n  add(%a, %a)\n}\n";
        assert_eq!(mended(sound), None);
    }
}
