//! Constant operands for which an operator is not defined.

use operators::{Constant, Domain, Fill, Operator};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use types::{DataType, Type, normal_axis};

use crate::{
    body::*,
    check::cause::flow,
    diagnostic::{Code, DefDiagnostic},
    features::UnitFeatures,
    metadata::MetaEntry,
    queries,
    view::View,
};

/// The most calls and projections between an operand and its constant.
const MAX_STEPS: usize = 32;
/// The most further calls that are named for one constant.
const MAX_RELATED: usize = 6;

/// Reports the constant operands for which an operator is not defined, each constant once.
pub(in crate::check) fn check(view: &View<'_>, found: &mut Vec<DefDiagnostic>) {
    let mut reported: FxHashMap<ExprRef, usize> = FxHashMap::default();
    for number in view.body.units_with(UnitFeatures::DOMAIN) {
        let unit = view.unit(number);
        for (at, expr, _) in view.exprs(number) {
            let Expr::Call(id) = expr else { continue };
            let call = unit.call(*id);
            let Callee::Operator(operator) = call.callee else { continue };
            if operator.domains.is_empty() || !call.trusted {
                continue;
            }
            let Some(broken) = broken(view, operator, call, at) else { continue };
            let place = view.range(broken.operand);
            match reported.get(&broken.source) {
                Some(&first) => {
                    let first: &mut DefDiagnostic = &mut found[first];
                    if first.related.len() <= MAX_RELATED {
                        let message = format!("`{}` is not defined for it, either", operator.name);
                        first.add_related(place, message);
                    }
                }
                None => {
                    reported.insert(broken.source, found.len());
                    found.push(diagnostic(view, operator, &broken));
                }
            }
        }
    }
}

/// An operand for which an operator is not defined.
struct UndefinedOperand {
    operand: ExprRef,
    /// The constant from which its value comes.
    source: ExprRef,
    name: &'static str,
    value: f64,
    domain: Domain,
    /// See [`Domain::broken_by`].
    rule: String,
    /// The data type of the result.
    dtype: DataType,
}

/// Returns the first operand of a call for which its operator is not defined.
fn broken(
    view: &View<'_>,
    operator: &'static Operator,
    call: &CallData,
    at: ExprRef,
) -> Option<UndefinedOperand> {
    operator.domains.iter().find_map(|&(name, domain)| {
        let position = operator.args.iter().position(|arg| *arg == name)?;
        let operand = at.sibling(*call.args.get(position)?);
        let (value, source) = constant_of(view, operand)?;
        // A tensor without elements needs no values, and a call with an error has no type.
        let Type::Tensor(result) = view.ty(at) else { return None };
        if result.shape.iter().any(|size| size.is(0)) || has_error(view, at) {
            return None;
        }
        let first = || at.sibling(call.args[0]);
        let constant = Constant {
            value,
            dtype: dtype_of(view, operand)?,
            base: match domain {
                Domain::Exponent => constant_of(view, first()).map(|(base, _)| base),
                _ => None,
            },
            size: match domain {
                Domain::Position => positions(view.ty(first()), call),
                _ => None,
            },
        };
        let rule = domain.broken_by(&constant)?;
        Some(UndefinedOperand { operand, source, name, value, domain, rule, dtype: result.dtype })
    })
}

/// Returns true if a call has a finding of its own.
fn has_error(view: &View<'_>, at: ExprRef) -> bool {
    let unit = view.unit(at.unit);
    let findings = &view.unit_types(at.unit).findings;
    findings.iter().any(|finding| finding.subject.expr(unit) == Some(at.expr))
}

/// Returns the number of positions that an index selects from; `None` if all indices are brought into the range.
fn positions(data: &Type, call: &CallData) -> Option<i64> {
    let attrs = &call.attrs;
    if attrs.has("mode") && attrs.str("mode") != "fast" {
        return None;
    }
    let sizes = data.as_sizes()?;
    match attrs.int("axis") {
        Some(axis) => sizes.get(normal_axis(axis, sizes.len())?)?.as_known(),
        None => sizes.iter().try_fold(1i64, |all, size| all.checked_mul(size.as_known()?)),
    }
}

fn dtype_of(view: &View<'_>, at: ExprRef) -> Option<DataType> {
    view.ty(at).as_tensor().map(|tensor| tensor.dtype)
}

/// Returns the value that all elements of an expression have, and the constant that it comes from.
fn constant_of(view: &View<'_>, mut at: ExprRef) -> Option<(f64, ExprRef)> {
    // The data types to which the constant is converted, and where it is negated, the last one first.
    let mut through: SmallVec<[(DataType, bool); 4]> = SmallVec::new();
    let mut number = None;
    for _ in 0..MAX_STEPS {
        at = view.resolve(at);
        let unit = view.unit(at.unit);
        match unit.expr(at.expr) {
            Expr::Literal(literal) => number = Some(number_of(literal)),
            Expr::Filled(filled) => number = Some(number_of(&filled.value)),
            Expr::Meta(meta) => number = Some(number_of_entry(view, at, meta)?),
            Expr::Proj { tuple, index } => {
                at = flow::field(view, at.sibling(*tuple), *index as usize)?;
                continue;
            }
            Expr::Call(id) => {
                let call = unit.call(*id);
                let Callee::Operator(operator) = call.callee else { return None };
                match operator.fill? {
                    Fill::Number(value) => number = Some(value),
                    Fill::Argument(argument) | Fill::Negation(argument) => {
                        let is_negated = matches!(operator.fill, Some(Fill::Negation(_)));
                        through.push((dtype_of(view, at)?, is_negated));
                        at = at.sibling(*call.args.get(argument)?);
                        continue;
                    }
                }
            }
            _ => return None,
        }
        break;
    }
    let first = converted(number?, dtype_of(view, at)?)?;
    let value = through.iter().rev().try_fold(first, |value, &(dtype, is_negated)| {
        converted(if is_negated { -value } else { value }, dtype)
    })?;
    Some((value, at))
}

fn number_of(literal: &Literal) -> f64 {
    match *literal {
        Literal::Bool(value) => f64::from(u8::from(value)),
        Literal::Int { value, .. } => value as f64,
        Literal::Float { bits, .. } => f64::from_bits(bits),
    }
}

/// Returns the value of a scalar of the metadata section. The elements of others are not decoded, as they may be
/// many.
fn number_of_entry(view: &View<'_>, at: ExprRef, meta: &MetaRef) -> Option<f64> {
    if !view.ty(at).as_sizes()?.is_empty() {
        return None;
    }
    match queries::metadata(view.db, view.module)?.constant(&meta.key, meta.index) {
        MetaEntry::Found(constant) => constant.as_number(),
        _ => None,
    }
}

/// Returns a value in a data type; `None` if an integer cannot represent it.
fn converted(value: f64, dtype: DataType) -> Option<f64> {
    if dtype.is_bool() {
        return Some(f64::from(u8::from(value != 0.0)));
    }
    if dtype.is_int() || dtype.is_uint() {
        let whole = value.trunc();
        // Larger numbers than this are not exact.
        let is_exact = whole.abs() < (1u64 << f64::MANTISSA_DIGITS) as f64;
        return (is_exact && dtype.can_represent(whole as i64)).then_some(whole);
    }
    Some(if dtype == DataType::FLOAT32 { f64::from(value as f32) } else { value })
}

fn diagnostic(view: &View<'_>, operator: &Operator, broken: &UndefinedOperand) -> DefDiagnostic {
    let UndefinedOperand { operand, source, name, value, ref rule, .. } = *broken;
    let message = format!(
        "`{}` is not defined for this operand: `{name}` is {value}, and {rule}",
        operator.name
    );
    let place = view.range(operand);
    let help = match broken.domain {
        Domain::Position => {
            "it reads outside of the tensor; change the index, or write a `mode` that has a result"
        }
        _ if broken.dtype.is_floating() => {
            "the result is infinite or no number; change the constant, or select other elements with `where`"
        }
        _ => "the result depends on the machine, which may stop the program; change the constant",
    };
    let diagnostic = DefDiagnostic::new(Code::UndefinedResult, place, message).help(help);
    let constant = view.range(source);
    match place.contains_range(constant) {
        true => diagnostic,
        false => diagnostic.related(constant, "the constant"),
    }
}
