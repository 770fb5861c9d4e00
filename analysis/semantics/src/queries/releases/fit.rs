//! The releases whose meaning of a call fits the types that the compiler printed around it.
//!
//! `nn.batch_matmul(%a, %b) /* ty=Tensor[(2, 3, 7), float32] */` of operands `(2, 3, 5)` and `(2, 7, 5)` transposes
//! its second operand, so that TVM 0.7 or an older release printed it.

use operators::Operator;
use smallvec::SmallVec;
use smol_str::SmolStr;
use types::{Attrs, Releases, Type};

use crate::{
    body::*,
    lower::{means_another, printed_type, rebind},
    relations::result_of_call,
};

/// The most calls of a definition that are compared: all calls of a module are of one release, but the operands of
/// the first ones may be square matrices, which fit either meaning.
const MAX_CALLS: usize = 8;
/// The most units before a call that are searched for the types of its operands, which are close in a dump.
const MAX_DISTANCE: usize = 256;

/// A call that releases read in different ways, and the types that the text states around it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Evidence {
    call: CallData,
    inputs: SmallVec<[StatedType; 2]>,
    result: SmolStr,
}

/// A type that the text states.
#[derive(Clone, PartialEq, Eq, Debug)]
enum StatedType {
    /// In a comment.
    Comment(SmolStr),
    /// By an annotation.
    Annotation(Type),
}

impl StatedType {
    fn ty(&self) -> Option<Type> {
        match self {
            StatedType::Comment(text) => printed_type(text),
            StatedType::Annotation(ty) => Some(ty.clone()),
        }
        .filter(Type::is_closed)
    }
}

/// Returns the first calls of a body that releases read in different ways. It only collects texts: it runs with each
/// edit, and what follows from them only if they change.
pub(super) fn evidence(body: &Body) -> Vec<Evidence> {
    let (mut found, mut seen) = (Vec::new(), 0);
    for (at, unit) in body.units.iter().enumerate() {
        if unit.other.is_empty() {
            continue;
        }
        for (id, expr) in unit.exprs.iter().enumerate() {
            let Expr::Call(call) = expr else { continue };
            let call = unit.call(*call);
            let Callee::Operator(operator) = &call.callee else { continue };
            if call.meta_attrs.is_some()
                || !operator.forms.iter().any(|form| means_another(call, form))
            {
                continue;
            }
            if seen == MAX_CALLS {
                return found;
            }
            seen += 1;
            let Some(result) = comment(unit, Subject::Expr(ExprId(id as u32))) else { continue };
            let inputs: Option<_> = call.args.iter().map(|&arg| operand(body, at, arg)).collect();
            if let Some(inputs) = inputs {
                let is_known = |known: &Evidence| {
                    let call_of = |call: &CallData| (call.callee.clone(), call.attrs.clone());
                    call_of(&known.call) == call_of(call)
                        && known.inputs == inputs
                        && known.result == result
                };
                // Layers repeat: calls of the same types say the same.
                if !found.iter().any(is_known) {
                    found.push(Evidence { call: call.clone(), inputs, result });
                }
            }
        }
    }
    found
}

/// Returns the releases of which calls can be, by the types around them; all if these do not tell.
pub(super) fn fitting(evidence: &[Evidence]) -> Releases {
    let of_call = |evidence: &Evidence| evidence.fitting().filter(|fit| *fit != Releases::ALL);
    evidence.iter().find_map(of_call).unwrap_or(Releases::ALL)
}

impl Evidence {
    /// Returns the releases in which the call has the stated type; `None` if there is none.
    fn fitting(&self) -> Option<Releases> {
        let Callee::Operator(operator) = self.call.callee else { return None };
        let inputs: Vec<Type> = self.inputs.iter().map(StatedType::ty).collect::<Option<_>>()?;
        let mut others = Releases::NONE;
        let mut fitting = Releases::NONE;
        for form in operator.forms.iter().filter(|form| means_another(&self.call, form)) {
            others = others.or(form.releases);
            let mut other = self.call.clone();
            rebind(&mut other, operator, form);
            let Callee::Operator(row) = other.callee else { continue };
            if has_type(row, &other.attrs, &inputs, &self.result) {
                fitting = fitting.or(form.releases);
            }
        }
        if has_type(operator, &self.call.attrs, &inputs, &self.result) {
            fitting = fitting.or(Releases::ALL.without(others));
        }
        Some(fitting).filter(|fitting| !fitting.is_empty())
    }
}

/// Returns true if a call with these operands has the type that the text `result` is.
fn has_type(operator: &'static Operator, attrs: &Attrs, inputs: &[Type], result: &str) -> bool {
    let is_stated = |ty: Type| ty.is_closed() && ty.strip_printed(result) == Some("");
    result_of_call(operator, attrs, inputs).is_some_and(is_stated)
}

/// Returns the type in a comment.
fn comment(unit: &Unit, about: Subject) -> Option<SmolStr> {
    unit.comment_about(about).map(|comment| comment.text.clone())
}

/// Returns the type of an operand: that of its comment, or where a variable is bound.
fn operand(body: &Body, at: usize, expr: ExprId) -> Option<StatedType> {
    let unit = &body.units[at];
    if let Some(text) = comment(unit, Subject::Expr(expr)) {
        return Some(StatedType::Comment(text));
    }
    let Expr::Free(free) = unit.expr(expr) else { return None };
    let name = &unit.frees[free.index()].name;
    let before = body.units.range(0..at).rev().take(MAX_DISTANCE);
    for unit in before.chain(body.units.first()) {
        let binder = unit.exported().find(|binder| unit.binder(*binder).name == *name);
        let Some(binder) = binder else { continue };
        if let Some(ty) = &unit.binder(binder).annotation {
            return Some(StatedType::Annotation(ty.clone()));
        }
        let of_value = || comment(unit, Subject::Expr(unit.root?));
        return comment(unit, Subject::Binder(binder)).or_else(of_value).map(StatedType::Comment);
    }
    None
}
