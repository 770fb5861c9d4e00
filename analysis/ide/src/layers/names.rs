//! What names tell about layers: those of weights, `%encoder.layer.3.attention.self.query.weight`, and of the places
//! in the framework's program.

use std::ops::Range;

use super::{
    Evidence, Group, LayerKind,
    found::Finder,
    steps::{Step, Steps},
};
use crate::shapes;

/// The last parts of names of weights, which say what they are for their layer.
const ROLES: [&str; 26] = [
    "weight",
    "weights",
    "bias",
    "gamma",
    "beta",
    "moving",
    "running",
    "mean",
    "var",
    "variance",
    "kernel",
    "scale",
    "shift",
    "alpha",
    "offset",
    "constant",
    "const",
    "param",
    "w",
    "b",
    "data",
    "num",
    "batches",
    "tracked",
    "value",
    "zero_point",
];
/// The maximal number of parts of a name.
const MAX_PARTS: usize = 16;

/// Returns the layers that a name goes through: `["encoder", "layer 3", "attention"]`.
pub(super) fn path(name: &str) -> Vec<String> {
    let name = name.trim_start_matches(['%', '/']);
    // `aten::linear_3` is the name of an operator of a framework.
    if name.contains("::") {
        return Vec::new();
    }
    let separators: &[char] = if name.contains(['.', '/']) { &['.', '/'] } else { &['_'] };
    let mut parts: Vec<String> = Vec::new();
    for part in name.split(separators).filter(|part| !part.is_empty()).take(MAX_PARTS) {
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        match parts.last_mut().filter(|_| is_number) {
            Some(before) => {
                before.push(' ');
                before.push_str(part);
            }
            None => parts.push(part.to_owned()),
        }
    }
    let count = parts.len();
    while let Some(last) = parts.last()
        && is_role(last)
    {
        parts.pop();
    }
    // `%a` is the name of a weight, not of a layer.
    if let [_] = parts[..]
        && count == 1
    {
        parts.clear();
    }
    parts
}

fn is_role(part: &str) -> bool {
    let stem = part.rsplit('_').next().unwrap_or(part);
    ROLES.contains(&part) || ROLES.contains(&stem)
}

/// Returns the parts that two names begin with.
fn common(a: &[String], b: &[String]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The layers that the names tell for each step.
pub(super) struct Paths {
    all: Vec<Vec<String>>,
    /// True for steps with names of their own.
    is_named: Vec<bool>,
}

impl Paths {
    pub(super) fn new(steps: &Steps<'_>) -> Paths {
        let mut paths: Vec<Option<Vec<String>>> = steps.list.iter().map(own_path).collect();
        let is_named = paths.iter().map(Option::is_some).collect();
        // A preparation belongs to the step that takes its result, another step to the one before it.
        let mut next: Option<Vec<String>> = None;
        for at in (0..paths.len()).rev() {
            match &paths[at] {
                Some(own) => next = Some(own.clone()),
                None if steps.list[at].is_preparation => paths[at].clone_from(&next),
                None => {}
            }
        }
        let mut next: Vec<Option<&Vec<String>>> = vec![None; paths.len() + 1];
        for at in (0..paths.len()).rev() {
            next[at] = paths[at].as_ref().or(next[at + 1]);
        }
        let mut before: &[String] = &[];
        let all = steps.list.iter().enumerate().map(|(at, step)| {
            match &paths[at] {
                Some(own) => before = own,
                // Pooling at the end of a layer is between that one and the next.
                None if step.is_between() => {
                    let length = next[at].map_or(0, |next| common(before, next));
                    before = &before[..length];
                }
                None => {}
            }
            before.to_vec()
        });
        Paths { all: all.collect(), is_named }
    }

    /// Returns the parts that the names of all weights in a range begin with.
    pub(super) fn of(&self, range: &Range<usize>) -> Vec<String> {
        let mut paths = range.clone().filter(|&at| self.is_named[at]).map(|at| &self.all[at]);
        let Some(first) = paths.next() else { return Vec::new() };
        let length = paths.fold(first.len(), |length, path| common(&first[..length], path));
        first[..length].to_vec()
    }
}

/// Returns the layers that the names of a step's weights tell, or the place that its comment names.
fn own_path(step: &Step<'_>) -> Option<Vec<String>> {
    let mut paths = step.weights.iter().map(|name| path(name)).filter(|path| !path.is_empty());
    if let Some(first) = paths.next() {
        let length = paths.fold(first.len(), |length, path| common(&first[..length], &path));
        if length > 0 {
            return Some(first[..length].to_vec());
        }
    }
    let span = shapes::layer(step.row.span.as_deref()?);
    Some(path(&span)).filter(|path| span.contains(['/', '.']) && path.len() > 1)
}

impl Finder<'_, '_> {
    /// Returns the layers that names tell, where they tell any: names at this depth and below are those of parts with
    /// several products that are not scattered over the function. The names of most layers with one product say no more than
    /// the operator.
    pub(super) fn named(
        &self,
        paths: &Paths,
        range: Range<usize>,
        depth: usize,
    ) -> Option<Vec<Group>> {
        if depth >= MAX_PARTS || range.len() < 2 {
            return None;
        }
        let name = |at: usize| paths.all[at].get(depth).map(String::as_str);
        let mut runs: Vec<(Option<&str>, Range<usize>)> = Vec::new();
        for at in range.clone() {
            match runs.last_mut() {
                Some((own, run)) if *own == name(at) => run.end = at + 1,
                _ => runs.push((name(at), at..at + 1)),
            }
        }
        let products = |range: &Range<usize>| {
            self.steps.list[range.clone()].iter().filter(|step| step.is_product).count()
        };
        let named: Vec<_> = runs.iter().filter(|(name, _)| name.is_some()).collect();
        let mut names: Vec<&str> = named.iter().filter_map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        if let [_] = names[..]
            && runs.len() == 1
        {
            return self.named(paths, range, depth + 1);
        }
        let with = |least: usize| named.iter().filter(|(_, run)| products(run) >= least).count();
        // A name that nearly everything has is no layer of its own.
        let is_nearly_all = |run: &Range<usize>| products(run) * 5 >= products(&range) * 4;
        let has_several = 2 * with(2) >= with(1) || named.iter().any(|(_, run)| is_nearly_all(run));
        let is_structure = names.len() > 1
            && 4 * named.len() <= 5 * names.len()
            && has_several
            && 2 * with(1) >= named.len();
        if !is_structure {
            return None;
        }
        let mut found: Vec<Group> = Vec::new();
        for (name, run) in &runs {
            let inner = self.named(paths, run.clone(), depth + 1);
            if is_nearly_all(run)
                && let Some(inner) = inner
            {
                found.extend(inner);
                continue;
            }
            let is_one = inner.is_none() && self.is_one_part(run);
            let kind = match self.kind(run) {
                kind @ (LayerKind::Attention | LayerKind::TransformerBlock)
                    if self.has_one_softmax(run) =>
                {
                    kind
                }
                kind if is_one => kind,
                _ => LayerKind::Module,
            };
            let groups = match inner {
                Some(inner) => inner,
                None if is_one || kind == LayerKind::Attention => Vec::new(),
                None => self.find(run.clone(), depth),
            };
            // The product of a module, and its normalization beside it, are the module.
            let is_part = |group: &Group| {
                let whole = group.whole();
                products(&whole) == 0 || self.steps.main(&whole).nth(1).is_none()
            };
            let (kind, groups) = match products(run) == 1 && groups.iter().all(is_part) {
                true if kind == LayerKind::Module => (self.kind(run), Vec::new()),
                _ => (kind, groups),
            };
            match name {
                Some(name) => {
                    let instances = vec![run.clone()];
                    let mut group = Group::new(kind, instances, 0, groups, Evidence::Names);
                    group.name = Some((*name).to_owned());
                    found.push(group);
                }
                None => found.extend(groups),
            }
        }
        Some(self.merged(found))
    }

    /// Puts neighbours together that compute the same and whose names differ in a number only: `unit 2` and `unit 3`.
    fn merged(&self, groups: Vec<Group>) -> Vec<Group> {
        let mut found: Vec<Group> = Vec::with_capacity(groups.len());
        for group in groups {
            let is_next = found.last().is_some_and(|before| {
                let (Some(a), Some(b)) = (&before.name, &group.name) else { return false };
                let symbol = |group: &Group| self.steps.symbol(&group.instances[group.exemplar]);
                stem(a) == stem(b) && symbol(before) == symbol(&group)
            });
            match found.last_mut().filter(|_| is_next) {
                Some(before) => {
                    before.instances.extend(group.instances);
                    if before.names.is_empty() {
                        before.names.extend(before.name.clone());
                    }
                    before.names.extend(group.name);
                    if !before.evidence.contains(&Evidence::Repeats) {
                        before.evidence.push(Evidence::Repeats);
                    }
                }
                None => found.push(group),
            }
        }
        found
    }
}

/// Returns the number at the end of a name.
pub(super) fn number(name: &str) -> Option<&str> {
    let stem = stem(name);
    name.get(stem.len()..).map(str::trim_start).filter(|number| !number.is_empty())
}

/// Returns a name without the number at its end.
pub(super) fn stem(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_name_leaves_out_what_a_weight_is_for() {
        let path = |name: &str| path(name).join("/");
        assert_eq!(
            path("%encoder.layer.3.attention.self.query.weight"),
            "encoder/layer 3/attention/self/query"
        );
        assert_eq!(path("%stage1_unit2_bn1_moving_mean"), "stage1/unit2/bn1");
        assert_eq!(path("%aten::linear_3.weight"), "");
        assert_eq!(path("%features.0.0.running_var"), "features 0 0");
        assert_eq!(path("%conv0_weight"), "conv0");
        assert_eq!(path("%weight"), "");
        assert_eq!(path("%a"), "");
    }

    #[test]
    fn a_number_ends_a_name() {
        assert_eq!((stem("unit2"), number("unit2")), ("unit", Some("2")));
        assert_eq!((stem("layer 11"), number("layer 11")), ("layer", Some("11")));
        assert_eq!((stem("head"), number("head")), ("head", None));
    }
}
