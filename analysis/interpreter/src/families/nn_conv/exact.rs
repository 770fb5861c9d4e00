//! Integer overflow of convolutions.

use super::{Convolution, ConvolutionSizes};
use crate::{
    families::{index::advance, layouts, overflow, prelude::*},
    overflow::Overflow,
};

impl Convolution<'_> {
    /// Looks for an overflow of the result of the call.
    pub(in crate::families) fn overflow(
        &self,
        call: &Call<'_>,
        result: &Tensor,
    ) -> Option<Overflow> {
        let sizes = self.sizes(call).ok()?;
        let shape = sizes.shape();
        let ConvolutionSizes { channels, each, outputs, walks, .. } = sizes;
        // The number of each element in the plain layout.
        let count = count_of(&shape)? as i64;
        let numbers = Tensor::from_i64s(DataType::INT64, &shape, collected(0..count))?;
        let (plain, written) = &self.layouts;
        let numbers = layouts::convert(call, &numbers, plain, written).ok()?;
        let per_group = outputs.checked_div(self.groups)?;
        let counts: Vec<usize> = walks.iter().map(|walk| walk.count).collect();
        let windows: Vec<usize> = walks.iter().map(|walk| walk.window).collect();
        let (places, window): (usize, usize) = (counts.iter().product(), windows.iter().product());
        let area: usize = walks.iter().map(|walk| walk.size).product();
        let terms = |at: usize, term: &mut dyn FnMut(usize, usize)| {
            let at = overflow::integer_at(&numbers, at) as usize;
            let (image, mut place) = (at / places, at % places);
            let (batch, output) = (image / outputs, image % outputs);
            let mut index = repeated(0usize, counts.len());
            for (index, count) in index.iter_mut().zip(&counts).rev() {
                (*index, place) = (place % count, place / count);
            }
            let first = batch * channels + output / per_group * each;
            let mut tap = repeated(0usize, windows.len());
            for number in 0..window {
                let mut base = Some(0usize);
                for ((walk, index), tap) in walks.iter().zip(&index).zip(&tap) {
                    let at = (index * walk.stride + tap * walk.dilation).checked_sub(walk.before);
                    let at = at.filter(|at| *at < walk.size);
                    base = base.zip(at).map(|(base, at)| base * walk.size + at);
                }
                for channel in 0..each {
                    if let Some(base) = base {
                        let weight = (output * each + channel) * window + number;
                        term((first + channel) * area + base, weight);
                    }
                }
                advance(&mut tap, &windows);
            }
        };
        overflow::of_products((&self.data, &self.weight), result, each * window, &terms)
    }
}
