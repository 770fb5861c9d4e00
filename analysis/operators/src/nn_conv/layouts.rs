//! The layouts of a convolution: of its data, its weight and its result.

use crate::prelude::*;

/// The layouts of one call, and the plain ones that its rule is written for.
pub(crate) struct Layouts {
    pub(crate) data: Layout,
    pub(crate) weight: Layout,
    pub(crate) out: Layout,
    pub(crate) data_base: Layout,
    pub(crate) weight_base: Layout,
}

impl Layouts {
    /// Reads them from the attributes.
    pub(crate) fn read(
        call: &Call<'_>,
        data_base: &str,
        weight_base: &str,
    ) -> Result<Layouts, Halt> {
        let (data_base, weight_base) = (Layout::plain(data_base), Layout::plain(weight_base));
        let read = |name, base| needs_axes(call, name, layout_attr(call, name)?, base);
        let data = read("data_layout", &data_base)?;
        let weight = read("kernel_layout", &weight_base)?;
        let out = match call.attrs().str("out_layout") {
            "" => data.clone(),
            _ => read("out_layout", &data_base)?,
        };
        Ok(Layouts { data, weight, out, data_base, weight_base })
    }

    /// The shape of the data, in the layout of the rule.
    pub(crate) fn data_shape(&self, call: &Call<'_>, data: &TensorType) -> Result<Shape, Halt> {
        in_layout(call, 0, data, &self.data, &self.data_base)
    }

    /// The shape of the weight, which is the argument at `position`, in the layout of the rule.
    pub(crate) fn weight_shape(
        &self,
        call: &Call<'_>,
        position: usize,
        weight: &TensorType,
    ) -> Result<Shape, Halt> {
        in_layout(call, position, weight, &self.weight, &self.weight_base)
    }

    /// The result, from its shape in the layout of the rule.
    pub(crate) fn output(&self, call: &mut Call<'_>, shape: &Shape, dtype: DataType) -> Outcome {
        // Both have the same axes, so that every shape of the one converts to the other.
        let Some(shape) = self.data_base.convert(shape, &self.out) else {
            return Err(Halt::Silent);
        };
        call.output_tensor(shape, dtype)
    }
}

/// The shape of the kernel, where the attributes give it.
pub(crate) fn kernel_size(call: &Call<'_>) -> Result<Option<Shape>, Halt> {
    if call.attrs().has("kernel_size") { list(call, "kernel_size").map(Some) } else { Ok(None) }
}

/// The number of output channels, where the attributes give it.
pub(crate) fn channels(call: &Call<'_>) -> Result<Option<Dim>, Halt> {
    match call.attrs().get("channels") {
        AttrValue::None => Ok(None),
        value => whole(call, "channels", value).map(Some),
    }
}

/// A list attribute that must have one value for each of `axes`.
pub(crate) fn exact(call: &Call<'_>, name: &'static str, axes: usize) -> Result<Shape, Halt> {
    let values = list(call, name)?;
    if values.len() == axes { Ok(values) } else { wrong_length(call, name, values.len(), axes) }
}

/// What a window of `kernel` elements, `dilation` apart, reaches over.
pub(crate) fn reach(kernel: &Dim, dilation: Dim) -> Dim {
    (kernel - 1) * dilation + 1
}

/// Checks that `groups` divides the input channels and the output channels.
pub(crate) fn equal_groups(call: &Call<'_>, groups: i64, input: &Dim, output: &Dim) -> Outcome {
    for (channels, side) in [(input, "input"), (output, "output")] {
        if groups > 1 && channels.as_known().is_some_and(|channels| channels % groups != 0) {
            return fault(
                call,
                "attribute-value",
                format!("{channels} {side} channels do not make {groups} equal groups"),
            )
            .rule("`groups` must divide the input channels and the output channels")
            .attribute("groups", groups.to_string())
            .fail();
        }
    }
    Ok(())
}
