//! What each axis of a tensor is, by the layout that an operator says it has: `N`, `C`, `H`, `W`.

use operators::{Layout, Operator};
use semantics::{
    Spot, View,
    body::{CallData, Callee, Expr},
};

/// The letters of a layout, one an axis.
pub(super) struct Letters(Vec<String>);

impl Letters {
    /// The letter of an axis: `C`, or `4c` for a block of four.
    pub(super) fn of(&self, axis: usize) -> Option<String> {
        self.0.get(axis).cloned()
    }

    /// The letters of what a call gives; nothing for what is no call, or of an operator without
    /// layouts.
    pub(super) fn of_result(view: &View<'_>, spot: Spot) -> Option<Letters> {
        let unit = view.unit(spot.unit);
        let Expr::Call(id) = unit.expr(spot.expr) else { return None };
        let call = unit.call(*id);
        let Callee::Operator(operator) = &call.callee else { return None };
        let rank = view.ty(spot).as_tensor()?.rank();
        // `out_layout` is empty where the result is laid out as the data.
        let names = ["dst_layout", "ofm_layout", "out_layout", "data_layout", "layout"];
        layout(call, &names, rank).filter(|_| keeps_axes(operator))
    }

    /// The letters of an expression that is an argument, by what the call says of it.
    pub(super) fn of_argument(view: &View<'_>, spot: Spot, rank: usize) -> Option<Letters> {
        let unit = view.unit(spot.unit);
        let (call, position) = unit
            .calls
            .iter()
            .find_map(|call| Some((call, call.args.iter().position(|arg| *arg == spot.expr)?)))?;
        let Callee::Operator(operator) = &call.callee else { return None };
        match (operator.args.get(position).copied()?, position) {
            ("weight" | "kernel", _) => layout(call, &["kernel_layout", "weight_layout"], rank),
            (_, 0) => layout(call, &["src_layout", "ifm_layout", "data_layout", "layout"], rank),
            _ => None,
        }
    }
}

/// Operators that have a layout and give something else.
fn keeps_axes(operator: &Operator) -> bool {
    !operator.name.ends_with("_weight_transform") && !operator.name.contains("roi_")
}

/// The first of these attributes that names as many axes as there are.
fn layout(call: &CallData, names: &[&str], rank: usize) -> Option<Letters> {
    let text = names.iter().map(|name| call.attrs.str(name)).find(|text| !text.is_empty())?;
    let layout = Layout::parse(text).ok()?;
    let letters = layout.axes().iter().map(|axis| match axis.factor {
        0 => char::from(axis.letter).to_string(),
        factor => format!("{factor}{}", char::from(axis.letter)),
    });
    (layout.rank() == rank).then(|| Letters(letters.collect()))
}
