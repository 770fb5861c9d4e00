//! Checks of a weight against the attributes and the data.

use types::Place;

use super::Layouts;
use crate::prelude::*;

/// The weight of a convolution, for messages about mismatches.
pub(super) struct Weight<'a> {
    /// The position among the arguments.
    pub(super) position: usize,
    pub(super) layouts: &'a Layouts,
    pub(super) groups: i64,
    /// True if the input channels precede the output channels, as in transposed convolutions.
    pub(super) transposed: bool,
    /// True for a depthwise convolution.
    pub(super) depthwise: bool,
}

impl Weight<'_> {
    /// Checks a weight of known type against the shape `expected` that follows from the attributes,
    /// in the base layout, as is `data`.
    pub(super) fn check(
        &self,
        call: &Call<'_>,
        found: &TensorType,
        expected: &Shape,
        data: &Shape,
    ) -> Outcome {
        let Some(blocked) = self.layouts.weight_base.convert(expected, &self.layouts.weight) else {
            return Ok(());
        };
        let fits = found.rank() == blocked.len()
            && found.shape.iter().zip(&blocked).all(|(a, b)| may_equal(a, b));
        if fits {
            return Ok(());
        }
        let shape = self.layouts.weight_shape(call, self.position, found)?;
        let differs = |letter: char| {
            let at = self.layouts.weight_base.index_of(letter)?;
            (!may_equal(&shape[at], &expected[at])).then_some(at)
        };
        if let Some(at) = differs('G') {
            return self.groups_mismatch(call, &shape[at]);
        }
        if let Some(at) = differs('I') {
            if self.depthwise {
                return self.multiplier_mismatch(call, &shape[at], &data[1]);
            }
            return self.input_mismatch(call, &data[1], &shape[at]);
        }
        if let (Some(at), Some(channels)) = (differs('O'), call.attrs().dim("channels")) {
            return self.output_mismatch(call, &channels, &shape[at]);
        }
        let from = shape.len() - (self.layouts.data_base.rank() - 2);
        let size: Shape = expected[from..].iter().cloned().collect();
        self.check_kernel(call, &size, &shape)
    }

    /// Checks `kernel_size` against the last axes of a weight in the base layout.
    pub(super) fn check_kernel(&self, call: &Call<'_>, size: &Shape, weight: &Shape) -> Outcome {
        let from = weight.len() - size.len();
        for (i, (attr, axis)) in size.iter().zip(&weight[from..]).enumerate() {
            if may_equal(attr, axis) {
                continue;
            }
            let letter = self.letter(from + i);
            let name = call.name(self.position);
            return Reason::new(
                Code::AttributeMismatch,
                text!(
                    "`{}`: `kernel_size` is {attr}, but {name} has size {axis} on {letter}",
                    call.operator()
                ),
            )
            .rule(text!(
                "`kernel_size` is the shape of the kernels: {axis} ({} of {name})",
                self.axis(letter)
            ))
            .attribute("kernel_size", text!("{attr}"))
            .mark(self.here(), self.at(letter), axis)
            .fix("kernel_size", AttrValue::list(&weight[from..]))
            .fail();
        }
        Ok(())
    }

    /// The failure that `channels` differs from the output channels of the weight.
    pub(super) fn output_mismatch<T>(
        &self,
        call: &Call<'_>,
        channels: &Dim,
        found: &Dim,
    ) -> Result<T, Halt> {
        let (operator, name, groups) = (call.operator(), call.name(self.position), self.groups);
        let each = self.layouts.weight_base.index_of('G').is_some() || self.transposed;
        let (message, rule, fixed) = if each && groups != 1 {
            (
                text!(
                    "`{operator}`: `channels` is {channels} in {groups} groups, but {name} has \
                     {found} output channels for each group"
                ),
                text!(
                    "`channels` / `groups` is the size of O in {name}: {found} ({})",
                    self.axis('O')
                ),
                found * groups,
            )
        } else {
            (
                text!(
                    "`{operator}`: `channels` is {channels}, but {name} has {found} output \
                     channels"
                ),
                text!("`channels` is the number of kernels: {found} ({})", self.axis('O')),
                found.clone(),
            )
        };
        let reason = Reason::new(Code::AttributeMismatch, message)
            .rule(rule)
            .attribute("channels", text!("{channels}"))
            .mark(self.here(), self.at('O'), Fact::Size(found.clone(), "output channels"));
        reason.fix("channels", fixed).fail()
    }

    /// The failure that the channels of the data differ from the input channels of the weight.
    pub(super) fn input_mismatch<T>(
        &self,
        call: &Call<'_>,
        data: &Dim,
        weight: &Dim,
    ) -> Result<T, Halt> {
        let (x, w, groups) = (call.name(0), call.name(self.position), self.groups);
        // TVM's relation of `nn.conv1d` ignores groups.
        let flat = self.layouts.data_base.rank() == 3 && !self.transposed;
        let one = groups == 1 || self.transposed || flat;
        let among = if one { Text::default() } else { text!(" in {groups} groups") };
        let mut reason = Reason::new(
            Code::ShapeMismatch,
            text!(
                "`{}`: {w} expects {weight} input channels, but {x} has {data}{among}",
                call.operator()
            ),
        )
        .rule(text!(
            "input channels of {w} ({}){} = channels of {x} ({}): {weight}{} ≠ {data}",
            self.axis('I'),
            if one { "" } else { " × groups" },
            axis(&self.layouts.data, 'C'),
            if one { Text::default() } else { text!(" × {groups}") },
        ))
        .mark(self.here(), self.at('I'), Fact::Size(weight.clone(), "input channels"))
        .mark(
            Place::Argument(0),
            self.layouts.data.index_of('C'),
            text!("{data} channels"),
        );
        if let (Some(c), Some(i), false) = (data.as_known(), weight.as_known(), self.transposed) {
            if flat {
                if groups > 1 {
                    reason = reason
                        .help(text!("TVM's type relation of `{}` ignores groups", call.operator()));
                }
            } else if i > 0 && c % i == 0 && c / i > 1 {
                reason = reason.help(text!("with `groups={}` these shapes match", c / i));
            } else if groups > 1 && c % groups == 0 {
                reason = reason.help(text!(
                    "with `groups={groups}` the weight must have {} input channels",
                    c / groups
                ));
            }
        }
        reason.fail()
    }

    /// The failure of a depthwise convolution, where `channels` divided by the channels of the data
    /// is the number of output channels per channel.
    fn multiplier_mismatch<T>(&self, call: &Call<'_>, found: &Dim, data: &Dim) -> Result<T, Halt> {
        let (w, channels) = (call.name(self.position), call.attrs().dim("channels"));
        let channels = channels.unwrap_or(Dim::Any);
        let expected = &channels / data;
        Reason::new(
            Code::AttributeMismatch,
            text!(
                "`{}`: `channels` is {channels}, which is {expected} for each of the {data} groups, \
                 but {w} has {found}",
                call.operator()
            ),
        )
        .rule(text!(
            "with as many groups as channels, `channels` / {data} is the size of I in {w}: {found} \
             ({})",
            self.axis('I')
        ))
        .attribute("channels", text!("{channels}"))
        .mark(self.here(), self.at('I'), Fact::Size(found.clone(), "for each group"))
        .fix("channels", data * found)
        .fail()
    }

    fn groups_mismatch<T>(&self, call: &Call<'_>, found: &Dim) -> Result<T, Halt> {
        let (w, groups) = (call.name(self.position), self.groups);
        Reason::new(
            Code::AttributeMismatch,
            text!("`{}`: `groups` is {groups}, but {w} has {found} groups", call.operator()),
        )
        .rule(text!("`groups` is the size of G in {w}: {found} ({})", self.axis('G')))
        .attribute("groups", text!("{groups}"))
        .mark(self.here(), self.at('G'), Fact::Size(found.clone(), "groups"))
        .fix("groups", found)
        .fail()
    }

    fn letter(&self, at: usize) -> char {
        self.layouts.weight_base.axes().get(at).map_or('?', |axis| axis.letter as char)
    }

    fn axis(&self, letter: char) -> Text {
        axis(&self.layouts.weight, letter)
    }

    fn here(&self) -> Place {
        Place::Argument(self.position)
    }

    fn at(&self, letter: char) -> Option<usize> {
        self.layouts.weight.index_of(letter)
    }
}

fn axis(layout: &Layout, letter: char) -> Text {
    let at = layout.index_of(letter).map_or_else(Text::default, |at| text!("axis {at}, "));
    text!("{at}{letter} of {layout}")
}
