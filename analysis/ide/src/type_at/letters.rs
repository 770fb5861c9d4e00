//! The letters of axes, such as `N`, `C`, `H`, `W`, from the layout attributes of operators.

use operators::{Layout, Role};
use semantics::{
    ExprRef, View,
    body::{CallData, Callee},
};

use crate::lookups::operator_call;

/// The letters of a layout, one per axis.
pub(super) struct Letters(Vec<String>);

impl Letters {
    /// Returns the letter of an axis: `C`, or `4c` for a block of four.
    pub(super) fn of(&self, axis: usize) -> Option<String> {
        self.0.get(axis).cloned()
    }

    /// Returns the letters of the result of a call of an operator with a layout.
    pub(super) fn of_result(view: &View<'_>, expr_ref: ExprRef) -> Option<Letters> {
        let (call, operator) = operator_call(view, expr_ref)?;
        let rank = view.ty(expr_ref).as_tensor()?.rank();
        // `out_layout` is empty if the result has the layout of the data.
        let names = ["dst_layout", "ofm_layout", "out_layout", "data_layout", "layout"];
        layout(call, &names, rank).filter(|_| !operator.has_other_axes)
    }

    /// Returns the letters of an argument of an operator with a layout.
    pub(super) fn of_argument(view: &View<'_>, expr_ref: ExprRef, rank: usize) -> Option<Letters> {
        let unit = view.unit(expr_ref.unit);
        let (call, position) = unit.calls.iter().find_map(|call| {
            Some((call, call.args.iter().position(|arg| *arg == expr_ref.expr)?))
        })?;
        let Callee::Operator(operator) = &call.callee else { return None };
        match (operator.role(position), position) {
            (Role::Weight, _) => layout(call, &["kernel_layout", "weight_layout"], rank),
            (_, 0) => layout(call, &["src_layout", "ifm_layout", "data_layout", "layout"], rank),
            _ => None,
        }
    }
}

/// Returns the layout in the first of these attributes that is not empty, if it has this rank.
fn layout(call: &CallData, names: &[&str], rank: usize) -> Option<Letters> {
    let text = names.iter().map(|name| call.attrs.str(name)).find(|text| !text.is_empty())?;
    let layout = Layout::parse(text).ok()?;
    let letters = layout.axes().iter().map(|axis| match axis.factor {
        0 => char::from(axis.letter).to_string(),
        factor => format!("{factor}{}", char::from(axis.letter)),
    });
    (layout.rank() == rank).then(|| Letters(letters.collect()))
}
