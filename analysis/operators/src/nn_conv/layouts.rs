//! The layouts of the data, the weight and the result of a convolution.

use crate::prelude::*;

/// The layouts of a call, and the base layouts in which its rule is defined.
pub(crate) struct Layouts {
    pub(crate) data: Layout,
    pub(crate) weight: Layout,
    pub(crate) out: Layout,
    pub(crate) data_base: Layout,
    pub(crate) weight_base: Layout,
}

impl Layouts {
    /// Reads the layouts from the attributes.
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

    /// Returns the shape of the data in the base layout.
    pub(crate) fn data_shape(&self, call: &Call<'_>, data: &TensorType) -> Result<Shape, Halt> {
        in_layout(call, 0, data, &self.data, &self.data_base)
    }

    /// Returns the shape of the weight, the argument at `position`, in the base layout.
    pub(crate) fn weight_shape(
        &self,
        call: &Call<'_>,
        position: usize,
        weight: &TensorType,
    ) -> Result<Shape, Halt> {
        in_layout(call, position, weight, &self.weight, &self.weight_base)
    }

    /// Returns the window that moves along the axis `at` of the base layout of the data.
    pub(crate) fn window<'a>(
        &self,
        at: usize,
        size: &'a Dim,
        pad: &'a Dim,
        reach: &'a Dim,
    ) -> Window<'a> {
        let letter = self.data_base.axes().get(at).map_or('W', |axis| axis.letter.into());
        Window { axis: self.data.index_of(letter).unwrap_or(at), letter, size, pad, reach }
    }

    /// Assigns the result from its shape in the base layout.
    pub(crate) fn output(&self, call: &mut Call<'_>, shape: &Shape, dtype: DataType) -> Outcome {
        // Cannot fail: both layouts have the same axes.
        let Some(shape) = self.data_base.convert(shape, &self.out) else {
            return Err(Halt::Silent);
        };
        call.output_tensor(shape, dtype)
    }
}

/// Returns the attribute `kernel_size`.
pub(crate) fn kernel_size(call: &Call<'_>) -> Result<Option<Shape>, Halt> {
    if call.attrs().has("kernel_size") { list(call, "kernel_size").map(Some) } else { Ok(None) }
}

/// Returns the attribute `channels`.
pub(crate) fn channels(call: &Call<'_>) -> Result<Option<Dim>, Halt> {
    match call.attrs().get("channels") {
        AttrValue::None => Ok(None),
        value => whole(call, "channels", value).map(Some),
    }
}

/// Returns a list attribute, which must have one value for each of `axes`.
pub(crate) fn exact(call: &Call<'_>, name: &'static str, axes: usize) -> Result<Shape, Halt> {
    let values = list(call, name)?;
    if values.len() == axes { Ok(values) } else { wrong_length(call, name, values.len(), axes) }
}

/// Returns the extent of a window of `kernel` elements with the given `dilation`.
pub(crate) fn reach(kernel: &Dim, dilation: Dim) -> Dim {
    (kernel - 1) * dilation + 1
}

/// Checks that `groups` divides the input channels and the output channels.
pub(crate) fn equal_groups(call: &Call<'_>, groups: i64, input: &Dim, output: &Dim) -> Outcome {
    if groups < 0 {
        at_least(call, "groups", 1)?;
    }
    for (channels, side) in [(input, "input"), (output, "output")] {
        if groups > 1 && channels.as_known().is_some_and(|channels| channels % groups != 0) {
            return fault(
                call,
                Code::AttributeValue,
                text!("{channels} {side} channels cannot be divided into {groups} equal groups"),
            )
            .rule("`groups` must divide the input channels and the output channels")
            .attribute("groups", text!("{groups}"))
            .fail();
        }
    }
    Ok(())
}
