//! Dense blocks: chains of equal layers of convolutions whose results are all put together.
//!
//! The layers of a dense block do not end where a single value goes on, because each result lives until the end of the
//! block. The evidence is the concatenation at that end: it takes the result of each layer, and each layer takes that
//! of the one before it, alone or put together with all earlier ones. Or each layer ends with a concatenation of its
//! input and its result, so that the channels grow from layer to layer.

use std::ops::Range;

use super::{
    Evidence, Group, LayerKind,
    found::{Finder, MIN_NESTED},
    steps::Step,
};

/// The number of layers from which a chain is a dense block: parallel branches and short cuts have fewer.
const MIN_LAYERS: usize = 4;
/// How many times as many calls as a range has are compared while dense blocks are searched in it.
const MAX_COMPARED: usize = 8;

/// A dense block.
struct DenseBlock {
    /// The steps of each layer.
    layers: Vec<Range<usize>>,
    /// The step of the concatenation of the results.
    join: usize,
}

impl DenseBlock {
    fn range(&self) -> Range<usize> {
        self.layers.first().map_or(self.join, |first| first.start)..self.join + 1
    }
}

impl Finder<'_, '_> {
    /// Returns the layers of a range that has dense blocks, with a transition between two of them; `None` without any.
    pub(super) fn dense(&self, range: &Range<usize>, depth: usize) -> Option<Vec<Group>> {
        let blocks = self.dense_blocks(range);
        if blocks.is_empty() {
            return None;
        }
        let mut found = Vec::new();
        let mut next = range.start;
        for block in &blocks {
            let whole = block.range();
            found.extend(self.between(next..whole.start, next > range.start, depth));
            next = whole.end;
            let exemplar = self.exemplar(&block.layers);
            let own = block.layers[exemplar].clone();
            // The normalizations and convolutions of a short layer are its calls.
            let groups = match own.len() > MIN_NESTED {
                true => self.find(own, depth + 2),
                false => Vec::new(),
            };
            let layers = block.layers.clone();
            let layer =
                Group::new(LayerKind::DenseLayer, layers, exemplar, groups, Evidence::Repeats);
            let evidence = Evidence::Computation;
            found.push(Group::new(LayerKind::DenseBlock, vec![whole], 0, vec![layer], evidence));
        }
        found.extend(self.between(next..range.end, false, depth));
        Some(found)
    }

    /// Returns the layers before, after or between dense blocks: a transition is a single convolution between two.
    fn between(&self, range: Range<usize>, is_inner: bool, depth: usize) -> Vec<Group> {
        let mut products = self.steps.list[range.clone()].iter().filter(|step| step.is_product);
        let is_transition = is_inner
            && products.next().is_some_and(Step::is_convolution)
            && products.next().is_none();
        match is_transition {
            true => {
                let evidence = Evidence::Computation;
                vec![Group::new(LayerKind::Transition, vec![range], 0, Vec::new(), evidence)]
            }
            false => self.find(range, depth + 1),
        }
    }

    /// Returns the dense blocks of a range, in order. The search begins at the end, as the last concatenation of a
    /// block takes the results of all layers.
    fn dense_blocks(&self, range: &Range<usize>) -> Vec<DenseBlock> {
        let mut found: Vec<DenseBlock> = Vec::new();
        let mut left = MAX_COMPARED * range.len();
        let mut end = range.end;
        for join in range.clone().rev() {
            if join >= end {
                continue;
            }
            let inputs = match self.steps.list[join].operator() == "concatenate" {
                true => &self.steps.list[join].inputs[..],
                false => continue,
            };
            let block = match *inputs {
                [a, b] => self.grown(range.start, join, a.min(b), &mut left),
                _ => self.gathered(range.start, join, inputs, &mut left),
            };
            if let Some(block) = block {
                end = block.range().start;
                found.push(block);
            }
        }
        found.reverse();
        found
    }

    /// Returns the dense block at `start` or later whose last layer ends with `join`, the concatenation of its result
    /// and the `input` of the layer, as all of its layers end. `left` is the number of calls that are compared at most.
    fn grown(
        &self,
        start: usize,
        join: usize,
        mut input: usize,
        left: &mut usize,
    ) -> Option<DenseBlock> {
        let list = &self.steps.list;
        let last = input + 1..join + 1;
        let mut layers = Vec::new();
        let mut own = last.clone();
        while input >= start && self.is_equal_layer(&own, &last) {
            *left = left.checked_sub(own.len())?;
            layers.push(own);
            let [a, b] = list[input].inputs[..] else { break };
            if list[input].operator() != "concatenate" {
                break;
            }
            own = a.min(b) + 1..input + 1;
            input = a.min(b);
        }
        layers.reverse();
        let has_convolution = list[last].iter().any(Step::is_convolution);
        (has_convolution && layers.len() >= MIN_LAYERS).then_some(DenseBlock { layers, join })
    }

    /// Returns the dense block at `start` or later that ends with `join`, the concatenation of the results of all
    /// layers, which are among its `inputs`. `left` is the number of calls that are compared at most.
    fn gathered(
        &self,
        start: usize,
        join: usize,
        inputs: &[usize],
        left: &mut usize,
    ) -> Option<DenseBlock> {
        let list = &self.steps.list;
        if inputs.len() < MIN_LAYERS {
            return None;
        }
        let mut ends = inputs.to_vec();
        ends.sort_unstable();
        ends.dedup();
        let between = |pair: &[usize]| pair[0] + 1..pair[1] + 1;
        let layers: Vec<Range<usize>> = ends.windows(2).map(between).collect();
        let last = layers.last()?;
        let compared = layers.iter().map(ExactSizeIterator::len).sum::<usize>() + last.len();
        *left = left.checked_sub(compared)?;
        let is_chain = |pair: (&Range<usize>, &usize)| {
            self.is_equal_layer(pair.0, last)
                && list[pair.0.clone()].iter().any(|step| step.inputs.contains(pair.1))
        };
        let has_convolution = list[last.clone()].iter().any(Step::is_convolution);
        if ends[0] < start || !has_convolution || !layers.iter().zip(&ends).all(is_chain) {
            return None;
        }
        // The first result is that of a layer, too, or what the block begins with.
        let before = (ends[0] + 1).checked_sub(last.len()).filter(|&before| before >= start);
        let first = before.map(|before| before..ends[0] + 1);
        let first = first.filter(|first| self.is_equal_layer(first, last));
        let layers: Vec<_> = first.into_iter().chain(layers).collect();
        (layers.len() >= MIN_LAYERS).then_some(DenseBlock { layers, join })
    }

    /// Returns true if two layers call the same operators in the same order. The first layer of a block has nothing to
    /// put together.
    fn is_equal_layer(&self, layer: &Range<usize>, last: &Range<usize>) -> bool {
        let begins_with_join =
            !last.is_empty() && self.steps.list[last.start].operator() == "concatenate";
        self.steps.calls_same(layer, last)
            || begins_with_join && self.steps.calls_same(layer, &(last.start + 1..last.end))
    }
}
