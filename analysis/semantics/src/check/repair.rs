//! Repairs of a call whose type relation fails: other attributes, or another operand, with which it holds.
//!
//! The candidates follow from the types of the operands: the layouts that a weight may have, the sizes that a
//! weight determines, the suffix of a number. Each is tried with the relation itself and the declared type of
//! the result, so that none leads to the next error of the same call.

use operators::Operator;
use types::{AttrValue, Attrs, DataType, Dim, Reason, TensorType, Type, normal_axis};

use super::{
    cause::{self, flow},
    check_view::CheckView,
};
use crate::{
    body::*,
    diagnostic::{Code, DefDiagnostic, Edit, insert},
    relations::result_of_call,
    tvm::suffix_of,
};

/// The most failing calls of a definition for which repairs are sought: each solves the relation dozens of times.
const MAX_REPAIRED: usize = 200;

/// New values of attributes.
type Changes = Vec<(&'static str, AttrValue)>;

/// Completes the diagnostic of a relation that does not hold with the help and the fix of the repair that fits
/// best, if there is any.
pub(super) fn complete(
    view: &CheckView<'_, '_>,
    expr_ref: ExprRef,
    reason: &Reason,
    mut diagnostic: DefDiagnostic,
) -> DefDiagnostic {
    view.repaired.set(view.repaired.get() + 1);
    let sought = FailedCall::of(view, expr_ref).filter(|_| view.repaired.get() <= MAX_REPAIRED);
    let Some(call) = sought else {
        return with_fix_of_rule(view, expr_ref, reason, diagnostic);
    };
    let of_rule = reason.fix.as_ref().map(|fix| (fix.name, fix.value.clone()));
    let found = call
        .layouts(false)
        .or_else(|| {
            let (name, value) = of_rule.clone()?;
            // A kernel of sides that differ is rarer than a layout that is not the usual one.
            let layouts = (name == "kernel_size").then(|| call.layouts(true)).flatten();
            layouts.or_else(|| call.attributes(vec![(name, value)]).map(|changes| (changes, None)))
        })
        .or_else(|| call.sizes_of_weight())
        .or_else(|| call.layouts(true))
        .or_else(|| call.groups())
        .or_else(|| call.axis(reason));
    if let Some((changes, help)) = found {
        if let Some(edits) = call.edits(&changes) {
            diagnostic.add_fix(call.title(&changes), edits);
        }
        return diagnostic.with(help, DefDiagnostic::help);
    }
    let diagnostic = call.flattened(call.suffix(reason, diagnostic));
    match of_rule.is_some() && call.is_open() {
        true => with_fix_of_rule(view, expr_ref, reason, diagnostic),
        false => diagnostic,
    }
}

/// Adds the change of an attribute that the rule of an operator proposes.
fn with_fix_of_rule(
    view: &CheckView<'_, '_>,
    expr_ref: ExprRef,
    reason: &Reason,
    diagnostic: DefDiagnostic,
) -> DefDiagnostic {
    let Some(fix) = reason.fix.as_ref().filter(|fix| fix.value.is_writable()) else {
        return diagnostic;
    };
    diagnostic.with(view.attribute_range(expr_ref, fix.name), |diagnostic, range| {
        let title = format!("Change `{}` to {}", fix.name, fix.value);
        diagnostic.fix(title, [(range, fix.value.to_string())])
    })
}

/// A call of an operator whose relation fails.
struct FailedCall<'c, 'a, 'db> {
    view: &'c CheckView<'a, 'db>,
    expr_ref: ExprRef,
    operator: &'static Operator,
    call: &'c CallData,
    types: Vec<Type>,
    /// The type that is declared for the result.
    declared: Option<Type>,
}

impl<'c, 'a, 'db> FailedCall<'c, 'a, 'db> {
    /// Returns the call at `expr_ref`; `None` if its arguments or attributes are not those intended.
    fn of(view: &'c CheckView<'a, 'db>, expr_ref: ExprRef) -> Option<FailedCall<'c, 'a, 'db>> {
        let call = view.call(expr_ref)?;
        let Callee::Operator(operator) = &call.callee else { return None };
        if operator.rule.is_none() || !call.trusted || !call.whole || call.meta_attrs.is_some() {
            return None;
        }
        let ty = |&expr: &ExprId| view.ty(ExprRef { unit: expr_ref.unit, expr }).clone();
        let types = call.args.iter().map(ty).collect();
        let declared = declared(view, expr_ref).cloned();
        Some(FailedCall { view, expr_ref, operator, call, types, declared })
    }

    /// Returns true if a trial says little, because a type is not known.
    fn is_open(&self) -> bool {
        self.types.iter().any(|ty| !ty.is_closed() || ty.has_error())
    }

    fn arg(&self, position: usize) -> Option<ExprRef> {
        Some(ExprRef { unit: self.expr_ref.unit, expr: *self.call.args.get(position)? })
    }

    /// Returns the known sizes of an argument.
    fn sizes(&self, position: usize) -> Option<Vec<i64>> {
        self.types.get(position)?.as_tensor()?.shape.iter().map(Dim::as_known).collect()
    }

    fn position_of(&self, argument: &str) -> Option<usize> {
        self.operator.args.iter().position(|name| *name == argument)
    }

    /// Returns the attributes with changes.
    fn with(&self, changes: &Changes) -> Option<Attrs> {
        let attrs = self.call.attrs.clone();
        changes.iter().try_fold(attrs, |attrs, (name, value)| attrs.with(name, value.clone()))
    }

    /// Returns true if the relation holds, with a result of the declared type.
    fn holds(&self, attrs: &Attrs, types: &[Type]) -> bool {
        let fits = |found: Type| self.declared.as_ref().is_none_or(|ty| may_be(&found, ty));
        result_of_call(self.operator, attrs, types).is_some_and(fits)
    }

    /// Returns changes of attributes if the call holds with them.
    fn attributes(&self, changes: Changes) -> Option<Changes> {
        let is_written = changes.iter().all(|(_, value)| value.is_writable());
        (is_written && self.holds(&self.with(&changes)?, &self.types)).then_some(changes)
    }

    /// Returns the edits that give attributes other values.
    fn edits(&self, changes: &Changes) -> Option<Vec<Edit>> {
        let end = self.view.end_of_arguments(self.expr_ref.unit, self.call)?;
        let mut added = String::new();
        let mut edits: Vec<Edit> = Vec::new();
        for (name, value) in changes {
            match self.view.attribute_range(self.expr_ref, name) {
                Some(range) => edits.push((range, value.to_string())),
                None => added += &format!(", {name}={value}"),
            }
        }
        if !added.is_empty() {
            // TVM reads an attribute of these operators only with the type of them all.
            if self.call.infix || self.operator.detached && self.call.written.is_empty() {
                return None;
            }
            edits.push(insert(end, added));
        }
        edits.sort_by_key(|(range, _)| range.start());
        Some(edits)
    }

    /// Returns the title of the fix that gives attributes other values.
    fn title(&self, changes: &Changes) -> String {
        let is_written = |name: &&str| self.view.attribute_range(self.expr_ref, name).is_some();
        let all_written = changes.iter().map(|(name, _)| name).all(is_written);
        let one = |(name, value): &(&str, AttrValue)| match all_written {
            true => format!("`{name}` to {value}"),
            false => format!("`{name}={value}`"),
        };
        let verb = if all_written { "Change" } else { "Write" };
        format!("{verb} {}", changes.iter().map(one).collect::<Vec<_>>().join(" and "))
    }

    /// Returns the layouts that the shapes of the data and the weight fit, if they are not those that are said.
    /// `resized` also tries other `channels`.
    fn layouts(&self, resized: bool) -> Option<(Changes, Option<String>)> {
        let weight = self.position_of("weight")?;
        let of_data = self.other_layouts("data_layout", 0, 1);
        let of_weight = self.other_layouts("kernel_layout", weight, 2);
        let data = of_data.iter().map(|layout| vec![("data_layout", layout)]);
        let both = of_data.iter().flat_map(|data| {
            of_weight
                .iter()
                .map(move |weight| vec![("data_layout", data), ("kernel_layout", weight)])
        });
        let alone = of_weight.iter().map(|layout| vec![("kernel_layout", layout)]);
        for changes in alone.chain(data).chain(both) {
            let changes: Changes = changes
                .into_iter()
                .map(|(name, layout)| (name, AttrValue::from(layout.as_str())))
                .collect();
            let found = match resized {
                false => self.attributes(changes),
                true => self.channels(&changes).into_iter().find_map(|channels| {
                    let channels = ("channels", AttrValue::from(channels));
                    self.attributes(changes.iter().cloned().chain([channels]).collect())
                }),
            };
            if let Some(changes) = found {
                let help = self.fits(weight, &changes);
                return Some((changes, Some(help)));
            }
        }
        None
    }

    /// Returns the help that names layouts.
    fn fits(&self, weight: usize, changes: &Changes) -> String {
        let name = |position: usize| self.operator.args.get(position).copied().unwrap_or("data");
        let layouts: Vec<String> = changes
            .iter()
            .filter(|(name, _)| *name != "channels")
            .map(|(attribute, layout)| {
                let argument = name(if *attribute == "data_layout" { 0 } else { weight });
                format!("the shape of `{argument}` fits the layout {layout}")
            })
            .collect();
        let channels = changes.iter().find(|(name, _)| *name == "channels");
        let channels = channels.map(|(_, channels)| format!(", with {channels} channels"));
        layouts.join(", and ") + &channels.unwrap_or_default()
    }

    /// Returns the usual layouts with the axes of the attribute `name`, except the one that is said: those in
    /// which the axes of the image follow the first `others` and one more axis, or precede them.
    fn other_layouts(&self, name: &str, position: usize, others: usize) -> Vec<String> {
        let layouts = || {
            let field = self.operator.schema?.field(name)?;
            let base = AttrValue::from(field.default);
            let base = base.as_str()?;
            let said = self.call.attrs.str(name);
            let rank = self.types.get(position)?.as_tensor()?.rank();
            let has_axes = |text: &str| {
                text.len() == rank && text.bytes().all(|letter| base.as_bytes().contains(&letter))
            };
            if base.len() < 3 || !has_axes(base) || !has_axes(said) {
                return None;
            }
            let (ends, image) = base.split_at(2);
            let (first, second) = ends.split_at(1);
            let all = match others {
                1 => vec![format!("{ends}{image}"), format!("{first}{image}{second}")],
                _ => vec![
                    format!("{ends}{image}"),
                    format!("{image}{second}{first}"),
                    format!("{image}{first}{second}"),
                    format!("{second}{first}{image}"),
                    format!("{first}{image}{second}"),
                    format!("{second}{image}{first}"),
                ],
            };
            Some(all.into_iter().filter(|layout| layout != said).collect())
        };
        layouts().unwrap_or_default()
    }

    /// Returns the numbers of channels that a weight may give in the layouts of `changes`.
    fn channels(&self, changes: &Changes) -> Vec<i64> {
        let numbers = || {
            let attrs = self.with(changes)?;
            let now = attrs.int("channels")?;
            let sizes = self.sizes(self.position_of("weight")?)?;
            let size = |name: &str, sizes: &[i64], letter: char| {
                sizes.get(attrs.str(name).find(letter)?).copied()
            };
            let (out, each) =
                (size("kernel_layout", &sizes, 'O')?, size("kernel_layout", &sizes, 'I')?);
            let groups = attrs.int("groups").unwrap_or(1);
            let input = size("data_layout", &self.sizes(0)?, 'C')?;
            let mut numbers = vec![out, out.saturating_mul(groups)];
            // A depthwise convolution has as many groups as channels, and several kernels for each.
            numbers.push(input.saturating_mul(each));
            numbers.retain(|&number| number != now && number > 0);
            numbers.dedup();
            Some(numbers)
        };
        numbers().unwrap_or_default()
    }

    /// Returns the sizes of a weight that several attributes contradict.
    fn sizes_of_weight(&self) -> Option<(Changes, Option<String>)> {
        let sizes = self.sizes(self.position_of("weight")?)?;
        let attrs = &self.call.attrs;
        if attrs.has("units") {
            let units = sizes.iter().map(|&size| vec![("units", AttrValue::from(size))]);
            return Some((units.into_iter().find_map(|c| self.attributes(c))?, None));
        }
        let kernel: Option<Vec<i64>> = attrs
            .str("kernel_layout")
            .bytes()
            .zip(&sizes)
            .filter(|(letter, _)| !matches!(letter, b'O' | b'I' | b'G'))
            .map(|(letter, &size)| letter.is_ascii_uppercase().then_some(size))
            .collect();
        let kernel = AttrValue::list(kernel.filter(|kernel| !kernel.is_empty())?);
        if attrs.get("kernel_size").is_none() {
            return None;
        }
        let channels = self.channels(&Vec::new());
        let alone = std::iter::once(vec![("kernel_size", kernel.clone())]);
        let only = channels.iter().map(|&n| vec![("channels", AttrValue::from(n))]);
        let both = channels
            .iter()
            .map(|&n| vec![("channels", AttrValue::from(n)), ("kernel_size", kernel.clone())]);
        let found = alone.chain(only).chain(both).find_map(|changes| self.attributes(changes))?;
        Some((found, None))
    }

    /// Returns the number of groups with which the channels of the data and the weight fit.
    fn groups(&self) -> Option<(Changes, Option<String>)> {
        let weight = self.sizes(self.position_of("weight")?)?;
        let layout = |name: &str, letter: char| self.call.attrs.str(name).find(letter);
        let each = *weight.get(layout("kernel_layout", 'I')?)?;
        let all = *self.sizes(0)?.get(layout("data_layout", 'C')?)?;
        let groups = all.checked_div(each).filter(|groups| groups * each == all)?;
        Some((self.attributes(vec![("groups", AttrValue::from(groups))])?, None))
    }

    /// Returns the only other axis with which the shapes fit.
    fn axis(&self, reason: &Reason) -> Option<(Changes, Option<String>)> {
        let is_of_shape = matches!(
            reason.code,
            Code::ShapeMismatch | Code::BroadcastMismatch | Code::RankMismatch
        );
        self.operator.schema?.field("axis").filter(|_| is_of_shape)?;
        let first = self.types.first()?;
        let tensor = first.as_tensor().or_else(|| first.as_tuple()?.first()?.as_tensor())?;
        let said = normal_axis(self.call.attrs.int("axis")?, tensor.rank());
        let axes = (0..tensor.rank()).filter(|axis| Some(*axis) != said);
        let mut fitting =
            axes.filter_map(|axis| self.attributes(vec![("axis", AttrValue::from(axis))]));
        let only = fitting.next().filter(|_| fitting.next().is_none())?;
        let (name, value) = only.first()?;
        let help = format!("with `{name}={value}` these shapes match");
        Some((only, Some(help)))
    }

    /// Adds the suffix that makes the data type of a number that of the other operand.
    fn suffix(&self, reason: &Reason, diagnostic: DefDiagnostic) -> DefDiagnostic {
        if reason.code != Code::DtypeMismatch {
            return diagnostic;
        }
        for position in 0..self.types.len() {
            let Some(arg) = self.arg(position) else { continue };
            let tensors = self.types.iter().enumerate().filter(|(other, _)| *other != position);
            let tensors = tensors.filter_map(|(_, ty)| ty.as_tensor());
            for dtype in tensors.map(|tensor| tensor.dtype) {
                let Some(edit) = number(self.view, arg, dtype) else { continue };
                let mut types = self.types.clone();
                types[position] = Type::from(TensorType::new([], dtype));
                if self.holds(&self.call.attrs, &types) {
                    return with_number(diagnostic, edit);
                }
            }
        }
        diagnostic
    }

    /// Adds the call that makes a matrix of an image for a product with a weight.
    fn flattened(&self, diagnostic: DefDiagnostic) -> DefDiagnostic {
        let is_product = self.operator.schema.is_some_and(|s| s.field("units").is_some());
        let sizes = self.sizes(0).filter(|sizes| is_product && sizes.len() > 2);
        let (Some(sizes), Some(data)) = (sizes, self.arg(0)) else { return diagnostic };
        let Some(rest) = sizes[1..].iter().try_fold(1i64, |all, &size| all.checked_mul(size))
        else {
            return diagnostic;
        };
        let Some(tensor) = self.types[0].as_tensor() else { return diagnostic };
        let mut types = self.types.clone();
        let shape = [Dim::known(sizes[0]), Dim::known(rest)];
        types[0] = Type::from(TensorType::new(shape, tensor.dtype));
        if !self.holds(&self.call.attrs, &types) {
            return diagnostic;
        }
        let range = self.view.range(data);
        let edits = [insert(range.start(), "nn.batch_flatten("), insert(range.end(), ")")];
        diagnostic
            .help(format!("`nn.batch_flatten` gives the data the shape `({}, {rest})`", sizes[0]))
            .fix("Flatten the data: `nn.batch_flatten`", edits)
    }
}

/// Returns the type that is declared for an expression: that of the variable that it is bound to, or of the
/// result of the function that it is the tail of.
fn declared<'v>(view: &'v CheckView<'_, '_>, expr_ref: ExprRef) -> Option<&'v Type> {
    let unit = view.unit(expr_ref.unit);
    if let Some(binding) = cause::bound_to(view, expr_ref.unit, expr_ref.expr) {
        return view.binder(binding).annotation.as_ref();
    }
    let is_tail = unit.kind == UnitKind::Tail
        && unit.root.is_some_and(|root| flow::is_tail_of(unit, root, expr_ref.expr));
    if is_tail {
        return view.body.header()?.ret.as_ref();
    }
    let gives = |function: &&Function| {
        function.body.is_some_and(|body| flow::is_tail_of(unit, body.result, expr_ref.expr))
    };
    unit.fns.iter().find(gives)?.ret.as_ref()
}

/// Returns false if a type differs from a declared one. What is open in it may become equal.
fn may_be(found: &Type, declared: &Type) -> bool {
    let (Some(found), Some(declared)) = (found.as_tensor(), declared.as_tensor()) else {
        return true;
    };
    let may_equal = |(a, b): (&Dim, &Dim)| a.equals(b) != Some(false);
    found.dtype == declared.dtype
        && found.rank() == declared.rank()
        && found.shape.iter().zip(&declared.shape).all(may_equal)
}

/// Adds the suffix to a number in the place of a value of type `expected`.
pub(super) fn with_suffix(
    view: &CheckView<'_, '_>,
    value: ExprRef,
    expected: &Type,
    diagnostic: DefDiagnostic,
) -> DefDiagnostic {
    let dtype = expected.as_tensor().filter(|tensor| tensor.rank() == 0).map(|t| t.dtype);
    diagnostic.with(dtype.and_then(|dtype| number(view, value, dtype)), with_number)
}

fn with_number(diagnostic: DefDiagnostic, edit: Edit) -> DefDiagnostic {
    diagnostic.help(format!("write `{}`", edit.1)).change(edit.0, edit.1)
}

/// Returns the edit that gives a number another data type, if TVM has a suffix for it.
fn number(view: &CheckView<'_, '_>, value: ExprRef, dtype: DataType) -> Option<Edit> {
    let Expr::Literal(literal) = view.unit(value.unit).expr(value.expr) else { return None };
    let range = view.range(value);
    let text = view.text(range);
    let digits = match literal {
        Literal::Bool(_) => return None,
        Literal::Int { .. } => syntax::int_parts(&text).0.to_owned(),
        Literal::Float { bits, .. } => {
            let is_whole = f64::from_bits(*bits).fract() == 0.0;
            let digits = syntax::float_parts(&text).0;
            // `3f` as an integer is `3`, and `3.5f` is none.
            match dtype.is_float() {
                true => digits.to_owned(),
                false if is_whole && !digits.contains(['.', 'e']) => digits.to_owned(),
                false => return None,
            }
        }
    };
    let suffix = if dtype == DataType::INT32 { "" } else { suffix_of(dtype)? };
    let with = format!("{digits}{suffix}");
    (with != text).then_some((range, with))
}
