//! Layers from what a function computes.
//!
//! 1. The calls are cut where a single value goes on: after each layer of a chain, and around each residual block or
//!    set of branches. What belongs to a product, such as its bias and activation function, is put to it.
//! 2. Neighbours that form one layer by convention are put together: attention and feed-forward, the two convolutions
//!    of a separable one.
//! 3. What repeats itself is one layer with a number. Layers with results of the same height and width are a stage.

use std::{
    hash::{Hash, Hasher},
    ops::Range,
};

use rustc_hash::{FxHashMap, FxHasher};
use types::Type;

use super::{
    Evidence, Group, LayerKind,
    motif::{is_depthwise, kind_of},
    repeats::longest_run,
    steps::{Functions, Step, Steps},
};

/// The maximal depth of nested layers.
const MAX_DEPTH: usize = 8;
/// The number of calls from which a layer is searched for repeated parts.
pub(super) const MIN_NESTED: usize = 12;
/// How many times as many parts as a list has are searched for runs in it and in what is before and after its runs.
const MAX_SEARCHED: usize = 64;
/// The number of calls that a repeated part covers.
const MIN_REPEATED: usize = 4;

/// A part of a function between two cuts, or several such parts that form a layer.
#[derive(Clone)]
struct Part {
    range: Range<usize>,
    kind: LayerKind,
    /// The parts that it was put together from.
    of: Vec<Part>,
}

/// The search for layers in a function.
pub(super) struct Finder<'s, 'f> {
    pub(super) steps: &'s Steps<'f>,
    pub(super) functions: &'s Functions<'f>,
}

impl Finder<'_, '_> {
    /// Returns the layers of a range of steps, in order.
    pub(super) fn find(&self, range: Range<usize>, depth: usize) -> Vec<Group> {
        if range.len() < 2 || depth > MAX_DEPTH {
            return Vec::new();
        }
        if let Some(found) = self.dense(&range, depth) {
            return found;
        }
        let parts = self.segments(&range);
        if parts.len() < 2 {
            return self.repeats(range, depth);
        }
        let parts = self.conventional(self.attached(parts));
        self.grouped(&parts, depth)
    }

    /// Returns true if a range has no place inside of it where a single value goes on, or only what belongs to one
    /// product.
    pub(super) fn is_one_part(&self, range: &Range<usize>) -> bool {
        let few = self.main(range).count() <= MIN_NESTED;
        few && self.conventional(self.attached(self.segments(range))).len() == 1
    }

    fn part(&self, range: Range<usize>) -> Part {
        Part { kind: self.kind(&range), range, of: Vec::new() }
    }

    /// Returns true if there is one softmax in a range, and therefore one attention at most.
    pub(super) fn has_one_softmax(&self, range: &Range<usize>) -> bool {
        let is_softmax = |step: &&Step<'_>| step.operator().ends_with("softmax");
        self.main(range).filter(is_softmax).count() == 1
    }

    /// Returns the kind of what a range computes.
    pub(super) fn kind(&self, range: &Range<usize>) -> LayerKind {
        kind_of(self.steps, range, self.functions)
    }

    fn main<'s>(&'s self, range: &Range<usize>) -> impl DoubleEndedIterator<Item = &'s Step<'s>> {
        self.steps.main(range)
    }

    /// Returns the parts between the places where a single value goes on.
    fn segments(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let mut segments: Vec<Range<usize>> = Vec::new();
        let mut start = range.start;
        for end in range.start + 1..=range.end {
            let is_cut = self.steps.live[end] <= 1 && !self.steps.list[end - 1].is_preparation;
            if is_cut || end == range.end {
                segments.push(start..end);
                start = end;
            }
        }
        // Preparations that nothing in the range uses.
        if let [.., before, last] = &mut segments[..]
            && self.main(last).next().is_none()
        {
            before.end = last.end;
            segments.pop();
        }
        segments
    }

    /// Puts the biases, normalizations and activation functions between other parts to one of these.
    fn attached(&self, segments: Vec<Range<usize>>) -> Vec<Part> {
        let is_block = |range: &Range<usize>| self.main(range).nth(1).is_some();
        let is_light = |range: &Range<usize>| {
            !is_block(range) && self.main(range).next().is_some_and(Step::is_light)
        };
        // Blocks may begin with their normalization, or with the activation function after it.
        let blocks: Vec<_> = segments.iter().filter(|range| is_block(range)).collect();
        let begin_light = blocks.iter().filter(|range| {
            let mut main = self.main(range);
            main.next().is_some_and(Step::begins_block)
        });
        let is_norm_first = blocks.len() <= 4 * begin_light.count() && !blocks.is_empty();
        let mut parts: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        while at < segments.len() {
            let lights = segments[at..].iter().take_while(|range| is_light(range)).count();
            if lights == 0 {
                parts.push(segments[at].clone());
                at += 1;
                continue;
            }
            let own = segments[at].start..segments[at + lights - 1].end;
            let is_before_next = is_norm_first || parts.is_empty();
            let next = segments.get(at + lights).filter(|next| is_before_next && is_block(next));
            let after_block = parts.last().is_some_and(is_block) && is_norm_first;
            // Of two normalizations, the first is that of the single product before them.
            let is_normalization =
                |range: &Range<usize>| self.main(range).next().is_some_and(Step::is_normalization);
            let lights_of = segments[at..at + lights].iter();
            let second = lights_of.filter(|range| is_normalization(range)).nth(1);
            match (next, parts.last_mut()) {
                (Some(next), before) => {
                    let mut start = own.start;
                    if let Some((before, second)) =
                        before.filter(|range| !is_block(range)).zip(second)
                    {
                        start = second.start;
                        before.end = start;
                    }
                    parts.push(start..next.end);
                    at += 1;
                }
                (None, Some(before)) if !after_block => before.end = own.end,
                (None, _) => parts.push(own),
            }
            at += lights;
        }
        parts.into_iter().map(|range| self.part(range)).collect()
    }

    /// Puts neighbours together that form one layer by convention.
    fn conventional(&self, parts: Vec<Part>) -> Vec<Part> {
        let products = |part: &Part| self.main(&part.range).filter(|s| s.is_product).count();
        let is_depthwise = |part: &Part| {
            part.kind == LayerKind::Convolution
                && self.main(&part.range).any(|step| is_depthwise(step))
        };
        let is_pointwise = |part: &Part| {
            part.kind == LayerKind::Convolution
                && self.main(&part.range).any(|step| {
                    step.is_convolution() && step.attribute("kernel_size") == Some("[1, 1]")
                })
        };
        let is_linear = |part: &Part| !self.main(&part.range).any(|step| is_activation_step(step));
        let mut found: Vec<Part> = Vec::with_capacity(parts.len());
        let mut parts = parts.into_iter().peekable();
        while let Some(part) = parts.next() {
            let kind = parts.peek().and_then(|next| match (part.kind, next.kind) {
                (LayerKind::Attention, LayerKind::FeedForward) => Some(LayerKind::TransformerBlock),
                (_, LayerKind::Branches) if is_pointwise(&part) && products(next) == 2 => {
                    Some(LayerKind::FireModule)
                }
                _ if is_depthwise(&part) && is_pointwise(next) => {
                    Some(LayerKind::SeparableConvolution)
                }
                _ => None,
            });
            let Some((kind, next)) = kind.zip(parts.next_if(|_| kind.is_some())) else {
                found.push(part);
                continue;
            };
            let is_expanded = kind == LayerKind::SeparableConvolution
                && is_linear(&next)
                && found.last().is_some_and(|before| is_pointwise(before) && !is_linear(before));
            let (range, mut of) = (part.range.start..next.range.end, vec![part, next]);
            if is_expanded && let Some(before) = found.pop() {
                let range = before.range.start..range.end;
                of.insert(0, before);
                found.push(Part { range, kind: LayerKind::InvertedBottleneck, of });
            } else {
                found.push(Part { range, kind, of });
            }
        }
        self.with_patches(found)
    }

    /// Puts a product of matrices together with the slices of the patches that it merges, which precede it.
    fn with_patches(&self, parts: Vec<Part>) -> Vec<Part> {
        let mut found: Vec<Part> = Vec::with_capacity(parts.len());
        // The first of the movements that precede a part.
        let mut first = 0;
        for part in parts {
            let calls = |name: &str| {
                let movements = found[first..].iter().flat_map(|part| self.main(&part.range));
                movements.filter(|step| step.operator() == name).count()
            };
            let merges = part.kind == LayerKind::Dense
                && calls("concatenate") == 1
                && calls("strided_slice") > 2;
            if merges {
                let range = found[first].range.start..part.range.end;
                found.truncate(first);
                found.push(Part { range, kind: LayerKind::PatchMerging, of: Vec::new() });
                first = found.len();
                continue;
            }
            let is_movement = matches!(part.kind, LayerKind::Other | LayerKind::Normalization);
            found.push(part);
            if !is_movement {
                first = found.len();
            }
        }
        found
    }

    /// Returns a hash by which parts count as the same layer, though their details differ.
    fn outline(&self, part: &Part) -> u64 {
        let mut hasher = FxHasher::default();
        part.kind.hash(&mut hasher);
        let last = self.main(&part.range).next_back();
        last.map(|step| &step.row.ty).hash(&mut hasher);
        match part.kind {
            LayerKind::TransformerBlock
            | LayerKind::Attention
            | LayerKind::FeedForward
            | LayerKind::LstmCell
            | LayerKind::GruCell => {}
            LayerKind::Other | LayerKind::Pooling | LayerKind::Normalization => {
                self.main(&part.range).for_each(|step| step.operator().hash(&mut hasher));
            }
            _ => {
                let products = self.main(&part.range).filter(|step| step.is_product);
                for step in products {
                    step.operator().hash(&mut hasher);
                    step.attribute("kernel_size").hash(&mut hasher);
                }
            }
        }
        hasher.finish()
    }

    /// Returns the layers of parts that follow one another.
    fn grouped(&self, parts: &[Part], depth: usize) -> Vec<Group> {
        if parts.len() < 2 || depth > MAX_DEPTH {
            return parts.iter().map(|part| self.layer(part, depth)).collect();
        }
        let outlines: Vec<u64> = parts.iter().map(|part| self.outline(part)).collect();
        let sizes: Vec<usize> = parts.iter().map(|part| part.range.len()).collect();
        let mut left = MAX_SEARCHED * parts.len();
        self.runs(parts, (&outlines, &sizes), depth, &mut left)
    }

    /// Returns the layers of parts that follow one another, with their outlines and sizes. `left` is the number of
    /// parts that are searched for runs at most, which bounds the recursion, too.
    fn runs(
        &self,
        parts: &[Part],
        (outlines, sizes): (&[u64], &[usize]),
        depth: usize,
        left: &mut usize,
    ) -> Vec<Group> {
        let run = match left.checked_sub(parts.len()) {
            Some(rest) if parts.len() > 1 => {
                *left = rest;
                longest_run(outlines, sizes)
            }
            _ => None,
        };
        if let Some(run) = run
            && run.period > 1
            && let first = &parts[run.start..run.start + run.period]
            && first.iter().any(|part| self.main(&part.range).any(|step| step.is_product))
        {
            let end = run.start + run.period * run.count;
            let before = (&outlines[..run.start], &sizes[..run.start]);
            let mut found = self.runs(&parts[..run.start], before, depth, left);
            let instances: Vec<Range<usize>> = parts[run.start..end]
                .chunks(run.period)
                .map(|parts| parts[0].range.start..parts[parts.len() - 1].range.end)
                .collect();
            let exemplar = self.exemplar(&instances);
            let of = &parts[run.start + exemplar * run.period..][..run.period];
            let whole = instances[exemplar].clone();
            let kind = match self.kind(&whole) {
                kind @ (LayerKind::TransformerBlock | LayerKind::ResidualBlock) => kind,
                _ => LayerKind::Block,
            };
            let groups = of.iter().map(|part| self.layer(part, depth + 1)).collect();
            found.push(Group::new(kind, instances, exemplar, groups, Evidence::Repeats));
            let after = (&outlines[end..], &sizes[end..]);
            found.extend(self.runs(&parts[end..], after, depth, left));
            return found;
        }
        if let [part] = parts {
            return vec![self.layer(part, depth)];
        }
        self.stages(parts, outlines, depth)
    }

    /// Puts parts with results of the same height and width together, if there are several such stages.
    fn stages(&self, parts: &[Part], outlines: &[u64], depth: usize) -> Vec<Group> {
        let has_product = |part: &Part| self.main(&part.range).any(|step| step.is_product);
        let mut stages: Vec<Range<usize>> = Vec::new();
        // The last part of the current stage with a product.
        let mut last: Option<&Part> = None;
        for (at, part) in parts.iter().enumerate() {
            let continues = match stages.last() {
                Some(_) => {
                    // Pooling ends a stage.
                    let is_local = self.main(&part.range).any(is_local_pooling);
                    is_local && last.is_some() && has_product(&parts[at - 1])
                        || last.is_some_and(|last| self.is_same_stage(last, part))
                            && parts[at - 1].kind != LayerKind::Pooling
                }
                None => false,
            };
            match stages.last_mut().filter(|_| continues) {
                Some(stage) => stage.end = at + 1,
                None => {
                    stages.push(at..at + 1);
                    last = None;
                }
            }
            if has_product(part) {
                last = Some(part);
            }
        }
        // What has no product at the ends of a stage is between the stages.
        let trimmed = |stage: &Range<usize>| {
            let products = || parts[stage.clone()].iter().filter(|part| has_product(part));
            let own = &parts[stage.clone()];
            let mut first = own.iter().position(&has_product)?;
            // What precedes the blocks of the first stage is the stem.
            let is_stem = |part: &Part| part.kind == LayerKind::Convolution;
            let is_first = !parts[..stage.start].iter().any(has_product);
            if is_first && own.iter().any(|part| part.kind == LayerKind::ResidualBlock) {
                first += own[first..].iter().take_while(|part| is_stem(part)).count();
            }
            let is_local = |part: &Part| self.main(&part.range).any(is_local_pooling);
            let is_end = |part: &Part| has_product(part) || is_local(part);
            let last = own.iter().rposition(is_end)?;
            (products().count() > 1).then_some(stage.start + first..stage.start + last + 1)
        };
        if stages.iter().filter_map(trimmed).count() < 2 {
            return self.collapsed(parts, outlines, depth);
        }
        let collapsed = |range: Range<usize>, depth| {
            self.collapsed(&parts[range.clone()], &outlines[range], depth)
        };
        let mut found = Vec::new();
        for stage in &stages {
            let Some(inner) = trimmed(stage) else {
                found.extend(collapsed(stage.clone(), depth));
                continue;
            };
            found.extend(collapsed(stage.start..inner.start, depth));
            let groups = collapsed(inner.clone(), depth + 1);
            let has_several_calls = |group: &&Group| self.main(&group.whole()).nth(1).is_some();
            let is_pooled = parts[inner.clone()].iter().any(|part| part.kind == LayerKind::Pooling);
            if groups.iter().filter(has_several_calls).count() == 1 && !is_pooled {
                found.extend(groups);
            } else {
                let range = parts[inner.start].range.start..parts[inner.end - 1].range.end;
                found.push(Group::new(LayerKind::Stage, vec![range], 0, groups, Evidence::Shapes));
            }
            found.extend(collapsed(inner.end..stage.end, depth));
        }
        found
    }

    /// Returns true if the results of two parts differ in one size, of channels, at most.
    fn is_same_stage(&self, a: &Part, b: &Part) -> bool {
        let shape = |part: &Part| {
            let mut main = self.steps.main(&part.range).rev();
            main.find_map(|step| match &step.row.ty {
                Type::Tensor(tensor) => Some(tensor.shape.clone()),
                _ => None,
            })
        };
        let Some((a, b)) = shape(a).zip(shape(b)) else { return false };
        let sizes = || a.iter().zip(b.iter());
        let (a_rank, b_rank) = (a.iter().count(), b.iter().count());
        a_rank == b_rank && a_rank >= 4 && sizes().filter(|(a, b)| a != b).count() <= 1
    }

    /// Returns the layers of parts, equal neighbours as one.
    fn collapsed(&self, parts: &[Part], outlines: &[u64], depth: usize) -> Vec<Group> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < parts.len() {
            let equal = outlines[at..].iter().take_while(|own| **own == outlines[at]).count();
            let instances: Vec<Range<usize>> =
                parts[at..at + equal].iter().map(|part| part.range.clone()).collect();
            let exemplar = self.exemplar(&instances);
            let mut group = self.layer(&parts[at + exemplar], depth);
            if equal > 1 {
                group.evidence.push(Evidence::Repeats);
            }
            group.instances = instances;
            group.exemplar = exemplar;
            found.push(group);
            at += equal;
        }
        found
    }

    /// Returns the index of an instance that most others are equal to.
    pub(super) fn exemplar(&self, instances: &[Range<usize>]) -> usize {
        let symbols: Vec<u64> = instances.iter().map(|range| self.steps.symbol(range)).collect();
        let mut counts: FxHashMap<u64, usize> = FxHashMap::default();
        symbols.iter().for_each(|symbol| *counts.entry(*symbol).or_default() += 1);
        let most = counts.values().copied().max().unwrap_or_default();
        symbols.iter().position(|symbol| counts[symbol] == most).unwrap_or_default()
    }

    fn layer(&self, part: &Part, depth: usize) -> Group {
        let groups = match &part.of[..] {
            [] if self.main(&part.range).count() > MIN_NESTED => {
                self.repeats(part.range.clone(), depth + 1)
            }
            [] => Vec::new(),
            of => of.iter().map(|part| self.layer(part, depth + 1)).collect(),
        };
        Group::new(part.kind, vec![part.range.clone()], 0, groups, Evidence::Computation)
    }

    /// Returns the parts of a range that repeat themselves exactly.
    fn repeats(&self, range: Range<usize>, depth: usize) -> Vec<Group> {
        if range.len() < MIN_REPEATED || depth > MAX_DEPTH {
            return Vec::new();
        }
        let symbols: Vec<u64> =
            self.steps.list[range.clone()].iter().map(|step| step.symbol).collect();
        let Some(run) = longest_run(&symbols, &vec![1; symbols.len()]) else { return Vec::new() };
        let length = run.period * run.count;
        let first = range.start + run.start;
        let has_product = self.main(&(first..first + run.period)).any(|step| step.is_product);
        if !has_product || length < MIN_REPEATED {
            return Vec::new();
        }
        // The run may begin later by up to `rest` calls: where the fewest values are live between its parts.
        let cost = |start: usize| -> u32 {
            (0..=run.count).map(|part| self.steps.live[start + part * run.period]).sum()
        };
        let start = (first..=first + run.rest).min_by_key(|&start| cost(start)).unwrap_or(first);
        let instances: Vec<Range<usize>> = (0..run.count)
            .map(|part| start + part * run.period..start + (part + 1) * run.period)
            .collect();
        let kind = self.kind(&instances[0]);
        let groups = match run.period > MIN_NESTED {
            true => self.repeats(instances[0].clone(), depth + 1),
            false => Vec::new(),
        };
        let mut found = self.repeats(range.start..start, depth + 1);
        found.push(Group::new(kind, instances, 0, groups, Evidence::Repeats));
        found.extend(self.repeats(start + length..range.end, depth + 1));
        found
    }
}

/// Returns true for pooling that leaves a height and a width.
fn is_local_pooling(step: &Step<'_>) -> bool {
    let operator = step.operator();
    operator.contains("_pool") && !operator.contains("global_") && !operator.contains("adaptive_")
}

fn is_activation_step(step: &Step<'_>) -> bool {
    matches!(
        step.operator(),
        "nn.relu" | "clip" | "sigmoid" | "nn.leaky_relu" | "nn.prelu" | "tanh"
    )
}
