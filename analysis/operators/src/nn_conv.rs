//! Convolutions.

use types::{Mark, Place};

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("nn.contrib_conv2d_NCHWc", &["data", "weight"]).attrs(&CONV2D),
    op("nn.contrib_depthwise_conv2d_NCHWc", &["data", "weight"])
        .attrs(&CONV2D)
        .rule("Conv2D", conv2d),
    op("nn.conv1d", &["data", "weight"]).attrs(&CONV1D).rule("Conv1D", conv1d),
    op("nn.conv1d_transpose", &["data", "weight"]).attrs(&CONV1D_TRANSPOSE),
    op("nn.conv2d", &["data", "weight"]).attrs(&CONV2D).rule("Conv2D", conv2d),
    op("nn.conv2d_backward_weight", &["grad", "data"]).attrs(&CONV2D),
    op("nn.conv2d_transpose", &["data", "weight"]).attrs(&CONV2D_TRANSPOSE),
    op("nn.conv3d", &["data", "weight"]).attrs(&CONV3D).rule("Conv3D", conv3d),
    op("nn.conv3d_transpose", &["data", "weight"]).attrs(&CONV3D_TRANSPOSE),
    op("nn.correlation", &["data1", "data2"]).attrs(&CORRELATION),
    op("nn.deformable_conv2d", &["data", "offset", "weight"]).attrs(&DEFORMABLE_CONV2D),
];

fn conv1d(call: &mut Call<'_>) -> Outcome {
    conv(call, "NCW", "OIW")
}

fn conv2d(call: &mut Call<'_>) -> Outcome {
    conv(call, "NCHW", "OIHW")
}

fn conv3d(call: &mut Call<'_>) -> Outcome {
    conv(call, "NCDHW", "OIDHW")
}

/// A convolution over as many axes as `data_base` has behind `NC`; the rule is written in that
/// layout, and shapes are brought into it and back.
fn conv(call: &mut Call<'_>, data_base: &str, weight_base: &str) -> Outcome {
    let axes = data_base.len() - 2;
    let data = call.tensor(0)?;
    let mut weight = match call.tensor(1) {
        Ok(weight) => Some(weight.shape.clone()),
        Err(Halt::NotYet | Halt::Undecided(_)) => None,
        Err(other) => return Err(other),
    };
    let weight_dtype = call.ty(1).as_tensor().map_or(data.dtype, |w| w.dtype);
    let out_dtype = dtype_or(call, "out_dtype", data.dtype);
    let original = call.attrs().dims("meta_schedule_original_shape").filter(|s| !s.is_empty());
    let rewritten = !call.attrs().str("auto_scheduler_rewritten_layout").is_empty();
    if let Some(original) = &original {
        weight = Some(original.clone());
    }
    let parse = |text: &str| Layout::parse(text).map_err(|_| Halt::Silent);
    let groups = call.attrs().int("groups").unwrap_or(1);
    let nchw = parse(data_base)?;
    let grouped_weight = axes == 2 && groups > 1 && call.attrs().str("kernel_layout").contains('G');
    let oihw = if grouped_weight { parse("GOIHW")? } else { parse(weight_base)? };
    let data_layout = needs_axes(call, "data_layout", layout_attr(call, "data_layout")?, &nchw)?;
    let kernel_layout =
        needs_axes(call, "kernel_layout", layout_attr(call, "kernel_layout")?, &oihw)?;
    let out_layout = if call.attrs().str("out_layout").is_empty() {
        data_layout.clone()
    } else {
        needs_axes(call, "out_layout", layout_attr(call, "out_layout")?, &nchw)?
    };

    let dshape = in_layout(call, 0, &data, &data_layout, &nchw)?;
    let in_weight_layout = |call: &Call<'_>, weight: &Shape| {
        let ty = TensorType { shape: weight.clone(), dtype: weight_dtype };
        in_layout(call, 1, &ty, &kernel_layout, &oihw)
    };
    let axes_of = Axes { data: &data_layout, weight: &kernel_layout, groups };

    let mut depthwise = false;
    if axes == 2 && groups > 1 {
        let Some(weight) = &weight else {
            return Reason::new(
                "type-needed",
                format!(
                    "`{}`: the type of {} must be known where `groups` is more than 1",
                    call.operator(),
                    call.name(1)
                ),
            )
            .argument(1, "of unknown type")
            .fail();
        };
        let wshape = in_weight_layout(call, weight)?;
        depthwise = dshape[1].is(groups) && wshape[0].is(groups);
    }

    let kernel_size = call.attrs().dims("kernel_size").filter(|k| !k.is_empty());
    let channels_attr = call.attrs().dim("channels");
    let dilation = per_axis(call, "dilation", axes);
    let strides = per_axis(call, "strides", axes)?;
    let (channels, kernel);
    if let (Some(size), Some(attr)) = (&kernel_size, &channels_attr) {
        if size.len() != axes {
            return wrong_length(call, "kernel_size", size.len(), axes);
        }
        let per_group = &dshape[1] / groups;
        let mut wanted: Shape = if grouped_weight {
            [Dim::known(groups), attr / groups, per_group].into_iter().collect()
        } else if depthwise {
            [dshape[1].clone(), attr / &dshape[1]].into_iter().collect()
        } else {
            [attr.clone(), per_group].into_iter().collect()
        };
        wanted.extend(size.iter().cloned());
        if !rewritten && original.is_none() {
            if let Some(weight) = &weight {
                let wshape = in_weight_layout(call, weight)?;
                axes_of.check_weight(call, &dshape, &wshape, &wanted, depthwise)?;
            }
            let Some(shape) = oihw.convert(&wanted, &kernel_layout) else {
                return Err(Halt::Silent);
            };
            call.assign(1, TensorType::new(shape, weight_dtype))?;
        }
        channels = attr.clone();
        kernel = size.clone();
    } else {
        let Some(weight) = &weight else { return Err(Halt::NotYet) };
        let wshape = in_weight_layout(call, weight)?;
        if let Some(size) = &kernel_size {
            if size.len() != axes {
                return wrong_length(call, "kernel_size", size.len(), axes);
            }
            axes_of.check_kernel(call, size, &wshape)?;
        }
        if let Some(attr) = &channels_attr
            && !may_equal(attr, &wshape[0])
        {
            return axes_of.channels_mismatch(call, attr, &wshape[0]);
        }
        let (data_in, weight_in) = (&dshape[1], &wshape[1]);
        if !data_in.is_any() && !weight_in.is_any() && !may_equal(&(data_in / groups), weight_in) {
            return axes_of.input_mismatch(call, data_in, weight_in);
        }
        channels = wshape[0].clone();
        kernel = wshape[2..].iter().cloned().collect();
    }

    let pad = padding(call, "padding", axes)?;
    let dilation = dilation?;
    let mut shape: Shape = [dshape[0].clone(), channels].into_iter().collect();
    for i in 0..axes {
        let size = &dshape[2 + i];
        shape.push(if size.is_any() {
            Dim::Any
        } else {
            let reach = (&kernel[i] - 1) * dilation[i].clone() + 1;
            (size + &pad[i] - reach) / strides[i].clone() + 1
        });
    }
    let Some(shape) = nchw.convert(&shape, &out_layout) else { return Err(Halt::Silent) };
    call.output_tensor(shape, out_dtype)
}

/// Where the axes of the rule stand in the layouts of the call, for messages.
struct Axes<'a> {
    data: &'a Layout,
    weight: &'a Layout,
    groups: i64,
}

impl Axes<'_> {
    fn mark(position: usize, layout: &Layout, letter: char, label: String) -> Mark {
        Mark { place: Place::Argument(position), axis: layout.index_of(letter), label }
    }

    fn axis(layout: &Layout, letter: char) -> String {
        let at = layout.index_of(letter).map_or(String::new(), |at| format!("axis {at}, "));
        format!("{at}{letter} of {layout}")
    }

    /// A weight whose shape is given, against the shape that follows from the attributes.
    fn check_weight(
        &self,
        call: &Call<'_>,
        data: &Shape,
        found: &Shape,
        wanted: &Shape,
        depthwise: bool,
    ) -> Outcome {
        if may_equal(&found[0], &wanted[0])
            && !may_equal(&found[1], &wanted[1])
            && !depthwise
            && wanted.len() == found.len()
            && wanted.len() < 5
        {
            return self.input_mismatch(call, &data[1], &found[1]);
        }
        if !may_equal(&found[0], &wanted[0]) && !depthwise && self.weight.index_of('G').is_none() {
            return self.channels_mismatch(call, &wanted[0], &found[0]);
        }
        let spatial = wanted.len() - self.spatial(wanted.len());
        let size: Shape = wanted[spatial..].iter().cloned().collect();
        self.check_kernel_at(call, &size, found, spatial)
    }

    fn spatial(&self, rank: usize) -> usize {
        rank - 2 - usize::from(self.weight.index_of('G').is_some())
    }

    fn check_kernel(&self, call: &Call<'_>, size: &Shape, found: &Shape) -> Outcome {
        self.check_kernel_at(call, size, found, found.len() - size.len())
    }

    fn check_kernel_at(
        &self,
        call: &Call<'_>,
        size: &Shape,
        found: &Shape,
        from: usize,
    ) -> Outcome {
        let letters = &["W", "HW", "DHW"][size.len().min(3) - 1];
        for (i, letter) in letters.chars().enumerate() {
            let (attr, axis) = (&size[i], &found[from + i]);
            if may_equal(attr, axis) {
                continue;
            }
            let fixed: Vec<String> = found[from..].iter().map(Dim::to_string).collect();
            let mut reason = Reason::new(
                "attribute-mismatch",
                format!(
                    "`{}`: `kernel_size` says {attr}, but the {} is {axis} on {letter}",
                    call.operator(),
                    call.name(1)
                ),
            )
            .rule(format!(
                "`kernel_size` is the shape of the kernel: {} of {} ({})",
                axis,
                call.name(1),
                Axes::axis(self.weight, letter)
            ))
            .attribute("kernel_size", format!("{attr}"))
            .fix("kernel_size", format!("[{}]", fixed.join(", ")));
            reason.marks.push(Axes::mark(1, self.weight, letter, format!("{axis}")));
            return reason.fail();
        }
        Ok(())
    }

    fn channels_mismatch<T>(&self, call: &Call<'_>, attr: &Dim, found: &Dim) -> Result<T, Halt> {
        let mut reason = Reason::new(
            "attribute-mismatch",
            format!(
                "`{}`: `channels` is {attr}, but {} makes {found} output channels",
                call.operator(),
                call.name(1)
            ),
        )
        .rule(format!(
            "`channels` is the number of kernels: {found} ({})",
            Axes::axis(self.weight, 'O')
        ))
        .attribute("channels", format!("{attr}"))
        .fix("channels", format!("{found}"));
        reason.marks.push(Axes::mark(1, self.weight, 'O', format!("{found} output channels")));
        reason.fail()
    }

    fn input_mismatch<T>(&self, call: &Call<'_>, data: &Dim, weight: &Dim) -> Result<T, Halt> {
        let (x, w, groups) = (call.name(0), call.name(1), self.groups);
        let mut reason = Reason::new(
            "shape-mismatch",
            format!(
                "`{}`: {w} takes {weight} input channels, {x} has {data}{}",
                call.operator(),
                if groups == 1 { String::new() } else { format!(" in {groups} groups") }
            ),
        )
        .rule(format!(
            "input channels of {w} ({}) × groups = channels of {x} ({}): {weight} × {groups} ≠ \
             {data}",
            Axes::axis(self.weight, 'I'),
            Axes::axis(self.data, 'C')
        ));
        reason.marks.push(Axes::mark(1, self.weight, 'I', format!("{weight} input channels")));
        reason.marks.push(Axes::mark(0, self.data, 'C', format!("{data} channels")));
        if let (Some(c), Some(i)) = (data.as_known(), weight.as_known()) {
            if i > 0 && c % i == 0 && c / i > 1 {
                reason = reason.help(format!("with `groups={}` these shapes fit", c / i));
            } else if groups > 0 && c % groups == 0 {
                reason = reason.help(format!(
                    "with `groups={groups}` the weight needs {} input channels",
                    c / groups
                ));
            }
        }
        reason.fail()
    }
}
