//! A weight against what the attributes and the data make of it.

use types::Place;

use super::Layouts;
use crate::prelude::*;

/// What a rule knows of the weight of a convolution, for the reasons why it does not fit.
pub(super) struct Weight<'a> {
    /// Which argument it is.
    pub(super) position: usize,
    pub(super) layouts: &'a Layouts,
    pub(super) groups: i64,
    /// The weight has its input channels first, as those of transposed convolutions do.
    pub(super) transposed: bool,
    /// Each channel of the data has kernels of its own.
    pub(super) depthwise: bool,
}

impl Weight<'_> {
    /// A weight whose type is known, against the shape `wanted` that follows from the attributes,
    /// which is in the layout of the rule. `data` is too.
    pub(super) fn check(
        &self,
        call: &Call<'_>,
        found: &TensorType,
        wanted: &Shape,
        data: &Shape,
    ) -> Outcome {
        let Some(blocked) = self.layouts.weight_base.convert(wanted, &self.layouts.weight) else {
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
            (!may_equal(&shape[at], &wanted[at])).then_some(at)
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
        let size: Shape = wanted[from..].iter().cloned().collect();
        self.check_kernel(call, &size, &shape)
    }

    /// `kernel_size` against the last axes of a weight in the layout of the rule.
    pub(super) fn check_kernel(&self, call: &Call<'_>, size: &Shape, weight: &Shape) -> Outcome {
        let from = weight.len() - size.len();
        for (i, (attr, axis)) in size.iter().zip(&weight[from..]).enumerate() {
            if may_equal(attr, axis) {
                continue;
            }
            let letter = self.letter(from + i);
            let fixed: Vec<String> = weight[from..].iter().map(Dim::to_string).collect();
            let name = call.name(self.position);
            return Reason::new(
                "attribute-mismatch",
                format!(
                    "`{}`: `kernel_size` says {attr}, but {name} is {axis} on {letter}",
                    call.operator()
                ),
            )
            .rule(format!(
                "`kernel_size` is the shape of the kernels: {axis} ({} of {name})",
                self.axis(letter)
            ))
            .attribute("kernel_size", format!("{attr}"))
            .mark(self.here(), self.at(letter), format!("{axis}"))
            .fix("kernel_size", format!("[{}]", fixed.join(", ")))
            .fail();
        }
        Ok(())
    }

    /// `channels` against the output channels of the weight.
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
                format!(
                    "`{operator}`: `channels` is {channels} in {groups} groups, but {name} makes \
                     {found} output channels for each group"
                ),
                format!(
                    "`channels` / `groups` is the size of O in {name}: {found} ({})",
                    self.axis('O')
                ),
                found * groups,
            )
        } else {
            (
                format!(
                    "`{operator}`: `channels` is {channels}, but {name} makes {found} output \
                     channels"
                ),
                format!("`channels` is the number of kernels: {found} ({})", self.axis('O')),
                found.clone(),
            )
        };
        let reason = Reason::new("attribute-mismatch", message)
            .rule(rule)
            .attribute("channels", format!("{channels}"))
            .mark(self.here(), self.at('O'), format!("{found} output channels"));
        match fixed.as_known() {
            Some(fixed) => reason.fix("channels", fixed.to_string()).fail(),
            None => reason.fail(),
        }
    }

    /// The channels of the data against the input channels of the weight.
    pub(super) fn input_mismatch<T>(
        &self,
        call: &Call<'_>,
        data: &Dim,
        weight: &Dim,
    ) -> Result<T, Halt> {
        let (x, w, groups) = (call.name(0), call.name(self.position), self.groups);
        // TVM's relation of `nn.conv1d` has no eye for groups.
        let flat = self.layouts.data_base.rank() == 3 && !self.transposed;
        let one = groups == 1 || self.transposed || flat;
        let among = if one { String::new() } else { format!(" in {groups} groups") };
        let mut reason = Reason::new(
            "shape-mismatch",
            format!(
                "`{}`: {w} takes {weight} input channels, {x} has {data}{among}",
                call.operator()
            ),
        )
        .rule(format!(
            "input channels of {w} ({}){} = channels of {x} ({}): {weight}{} ≠ {data}",
            self.axis('I'),
            if one { "" } else { " × groups" },
            axis(&self.layouts.data, 'C'),
            if one { String::new() } else { format!(" × {groups}") },
        ))
        .mark(self.here(), self.at('I'), format!("{weight} input channels"))
        .mark(
            Place::Argument(0),
            self.layouts.data.index_of('C'),
            format!("{data} channels"),
        );
        if let (Some(c), Some(i), false) = (data.as_known(), weight.as_known(), self.transposed) {
            if flat {
                if groups > 1 {
                    reason = reason.help(format!("`{}` types no groups in TVM", call.operator()));
                }
            } else if i > 0 && c % i == 0 && c / i > 1 {
                reason = reason.help(format!("with `groups={}` these shapes fit", c / i));
            } else if groups > 1 && c % groups == 0 {
                reason = reason.help(format!(
                    "with `groups={groups}` the weight needs {} input channels",
                    c / groups
                ));
            }
        }
        reason.fail()
    }

    /// A weight with as many kernels as the data has channels: `channels` says how many results
    /// each channel gives.
    fn multiplier_mismatch<T>(&self, call: &Call<'_>, found: &Dim, data: &Dim) -> Result<T, Halt> {
        let (w, channels) = (call.name(self.position), call.attrs().dim("channels"));
        let channels = channels.unwrap_or(Dim::Any);
        let wanted = &channels / data;
        Reason::new(
            "attribute-mismatch",
            format!(
                "`{}`: `channels` is {channels}, which is {wanted} for each of the {data} groups, \
                 but {w} makes {found}",
                call.operator()
            ),
        )
        .rule(format!(
            "with as many groups as channels, `channels` / {data} is the size of I in {w}: {found} \
             ({})",
            self.axis('I')
        ))
        .attribute("channels", format!("{channels}"))
        .mark(self.here(), self.at('I'), format!("{found} for each group"))
        .fix("channels", format!("{}", data * found))
        .fail()
    }

    fn groups_mismatch<T>(&self, call: &Call<'_>, found: &Dim) -> Result<T, Halt> {
        let (w, groups) = (call.name(self.position), self.groups);
        Reason::new(
            "attribute-mismatch",
            format!("`{}`: `groups` is {groups}, but {w} has {found} groups", call.operator()),
        )
        .rule(format!("`groups` is the size of G in {w}: {found} ({})", self.axis('G')))
        .attribute("groups", format!("{groups}"))
        .mark(self.here(), self.at('G'), format!("{found} groups"))
        .fix("groups", format!("{found}"))
        .fail()
    }

    fn letter(&self, at: usize) -> char {
        self.layouts.weight_base.axes().get(at).map_or('?', |axis| axis.letter as char)
    }

    fn axis(&self, letter: char) -> String {
        axis(&self.layouts.weight, letter)
    }

    fn here(&self) -> Place {
        Place::Argument(self.position)
    }

    fn at(&self, letter: char) -> Option<usize> {
        self.layouts.weight.index_of(letter)
    }
}

fn axis(layout: &Layout, letter: char) -> String {
    let at = layout.index_of(letter).map_or(String::new(), |at| format!("axis {at}, "));
    format!("{at}{letter} of {layout}")
}
