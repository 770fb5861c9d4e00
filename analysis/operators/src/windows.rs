//! Windows that move along axes, as in convolutions and poolings: checks that TVM's relations omit.

use types::{Call, Code, Dim, Outcome, Place, text};

use crate::{
    computable::at_least,
    rules::{count, fault},
};

/// A window that moves along one axis of the first argument.
pub(crate) struct Window<'a> {
    /// The axis.
    pub(crate) axis: usize,
    /// Its letter in the layout.
    pub(crate) letter: char,
    /// Its size.
    pub(crate) size: &'a Dim,
    /// The sum of its padding.
    pub(crate) pad: &'a Dim,
    /// The elements from the first to the last of the window, with those between them.
    pub(crate) reach: &'a Dim,
}

impl Window<'_> {
    /// Checks that the window has an element and that it fits into the axis with its padding.
    /// `windows` is their number in the type of the result; where it is 0, none has to fit. With a
    /// stride above 1, TVM counts one window on an axis that is too short for any.
    pub(crate) fn fits(&self, call: &Call<'_>, windows: &Dim) -> Outcome {
        let numbers = (self.size.as_known(), self.pad.as_known(), self.reach.as_known());
        let (Some(size), Some(pad), Some(reach)) = numbers else { return Ok(()) };
        let (axis, name) = (self.axis, call.name(0));
        has_elements(call, self.letter, self.reach)?;
        let padded = size.saturating_add(pad);
        if padded >= reach || windows.is(0) {
            return Ok(());
        }
        let elements = count(usize::try_from(reach).unwrap_or(usize::MAX), "element", "elements");
        let message = text!(
            "a window of {elements} does not fit into axis {axis} of {name}, which has size {size}"
        );
        fault(call, Code::ShapeMismatch, message)
            .rule(text!("the axis has size {padded} with its padding, the window covers {reach}"))
            .axis(0, axis, self.size)
            .help("use a smaller window, or a larger `padding`")
            .fail()
    }
}

/// Checks that a window has elements along an axis.
pub(crate) fn has_elements(call: &Call<'_>, letter: char, reach: &Dim) -> Outcome {
    if reach.as_known().is_none_or(|reach| reach > 0) {
        return Ok(());
    }
    let message = text!("the window has no elements along {letter}");
    fault(call, Code::ShapeMismatch, message)
        .rule("a window has at least one element along each axis")
        .mark(Place::Operator, None, "an empty window")
        .fail()
}

/// Checks that windows move forward, and that their elements have distances of at least 1.
pub(crate) fn moves_forward(call: &Call<'_>) -> Outcome {
    at_least(call, "strides", 1)?;
    at_least(call, "dilation", 1)
}

/// Checks that negative padding does not remove more elements than an axis of the first argument has.
pub(crate) fn keeps_elements(call: &Call<'_>, axis: usize, size: &Dim, pad: &Dim) -> Outcome {
    let padded = size + pad;
    if padded.as_known().is_none_or(|padded| padded >= 0) {
        return Ok(());
    }
    let message = text!("`padding` removes more elements than axis {axis} of {} has", call.name(0));
    fault(call, Code::AttributeValue, message)
        .rule(text!("a size must not become negative: {size} + {pad} = {padded}"))
        .attribute("padding", text!("{pad} in all"))
        .axis(0, axis, size)
        .fail()
}
