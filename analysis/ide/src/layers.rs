//! Layers: the parts of a function as people think of it.
//!
//! Nobody thinks of BERT as 1,159 bindings: it is embeddings, twelve equal blocks and a pooler. The evidence for layers
//! is, in this order: names of weights and of places in the framework's program ([`names`]), cuts where a single value
//! goes on, conventional parts such as attention, and what repeats itself ([`found`]). The result is a tree of groups of
//! calls that follow one another; equal groups are one with a number. It depends neither on names of variables nor on
//! white space.

mod dense;
mod found;
mod motif;
mod names;
mod parts;
mod repeats;
mod steps;
mod totals;

use std::ops::Range;

use salsa::SalsaValue;
use semantics::{Db, SourceFile, modules};
use strum::{EnumString, IntoStaticStr};
use syntax::{Node, TextRange};
use types::Type;

use crate::shapes::{self, FunctionShapes};
use found::Finder;
pub use motif::LayerKind;
use names::Paths;
pub use parts::{Part, function_around, place_of};
use steps::{Functions, Step, Steps};
pub use totals::shapes_by_layer;

/// The layers of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionLayers {
    /// The name of the function.
    pub name: String,
    /// The range of the function in the file.
    pub range: TextRange,
    /// The number of calls in the function.
    pub calls: usize,
    /// The layers in order. Calls between them are in no layer.
    pub layers: Vec<Layer>,
    /// Each repetition of the layers, in order, with the layers inside of it.
    pub parts: Vec<Part>,
}

/// A layer: calls that follow one another, and equal ones after them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layer {
    /// The name: `encoder layer 0–11`, `transformer block`.
    pub name: String,
    /// The kind.
    pub kind: LayerKind,
    /// The name of each repetition: `encoder layer 3`, `transformer block 4 of 12`.
    pub names: Vec<String>,
    /// The evidence for the layer.
    pub evidence: Vec<Evidence>,
    /// The calls of each repetition, as indices of [`FunctionShapes::rows`]; one if the layer does not repeat itself.
    pub rows: Vec<Range<usize>>,
    /// The range of each repetition in the file.
    pub ranges: Vec<TextRange>,
    /// The number of repetitions that differ in details from those that [`Layer::layers`] describes.
    pub exceptions: usize,
    /// The index of the repetition that [`Layer::layers`] describes.
    pub exemplar: usize,
    /// The type of the result.
    pub result: Option<Type>,
    /// The layers inside of a repetition.
    pub layers: Vec<Layer>,
}

impl Layer {
    /// Returns the name of the kind if that of the layer is another one, which the framework's program gave it.
    pub fn other_kind(&self) -> Option<&'static str> {
        let kind = self.kind.name();
        let is_named = self.evidence.contains(&Evidence::Names) && self.name != kind;
        (is_named && !matches!(self.kind, LayerKind::Module | LayerKind::Other)).then_some(kind)
    }

    /// Returns the name with the kind and the number of repetitions: `encoder layer 0–11 (transformer block) × 12`.
    pub fn title(&self) -> String {
        let mut title = self.name.clone();
        if let Some(kind) = self.other_kind() {
            title += &format!(" ({kind})");
        }
        match (self.ranges.len(), self.exceptions) {
            (1, _) => {}
            (count, 0) => title += &format!(" × {count}"),
            (count, 1) => title += &format!(" × {count}, 1 differs"),
            (count, exceptions) => title += &format!(" × {count}, {exceptions} differ"),
        }
        title
    }

    /// Returns the number of calls in all repetitions.
    pub fn calls(&self) -> usize {
        self.rows.iter().map(ExactSizeIterator::len).sum()
    }
}

/// A kind of evidence for a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Evidence {
    /// Names of weights or of places in the framework's program.
    Names,
    /// The computation: how values go from call to call, and which operators are called.
    Computation,
    /// Repetitions.
    Repeats,
    /// The shapes of results.
    Shapes,
}

impl Evidence {
    /// Returns the name for programs.
    pub fn key(self) -> &'static str {
        self.into()
    }
}

/// The evidence that is used.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, Default, Debug, SalsaValue, EnumString, IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
pub enum Grouping {
    /// No layers.
    Flat,
    /// Everything but names.
    Found,
    /// Everything, names first.
    #[default]
    Names,
}

impl Grouping {
    /// Returns the evidence with a name: `names`.
    pub fn parse(name: &str) -> Option<Grouping> {
        name.parse().ok()
    }

    /// Returns the name in settings.
    pub fn key(self) -> &'static str {
        self.into()
    }
}

/// A group of steps, before it gets its name and its ranges in the file.
struct Group {
    kind: LayerKind,
    /// The name that the names of weights tell.
    name: Option<String>,
    /// The names of several groups that differ in the number at their ends.
    names: Vec<String>,
    /// The steps of each repetition.
    instances: Vec<Range<usize>>,
    /// The instance that `groups` describe.
    exemplar: usize,
    groups: Vec<Group>,
    evidence: Vec<Evidence>,
}

impl Group {
    fn new(
        kind: LayerKind,
        instances: Vec<Range<usize>>,
        exemplar: usize,
        groups: Vec<Group>,
        evidence: Evidence,
    ) -> Group {
        let evidence = vec![evidence];
        Group { kind, name: None, names: Vec::new(), instances, exemplar, groups, evidence }
    }

    /// Returns the steps from the first repetition to the last.
    fn whole(&self) -> Range<usize> {
        let end = self.instances.last().map_or(0, |last| last.end);
        self.instances.first().map_or(0, |first| first.start)..end
    }
}

/// Returns the layers of the functions of a file that contain calls.
///
/// The outline, folding and hovers take them from this one result, which an edit of the file invalidates. No query
/// depends on it, so that comparing it with the result before would save nothing.
#[salsa::tracked(returns(ref), no_eq)]
pub fn layers(db: &dyn Db, file: SourceFile, grouping: Grouping) -> Vec<FunctionLayers> {
    structure_by_layer(db, file, grouping).1
}

/// Returns the calls of the functions of a file without amounts, and the layers of these functions.
pub fn structure_by_layer(
    db: &dyn Db,
    file: SourceFile,
    grouping: Grouping,
) -> (Vec<FunctionShapes>, Vec<FunctionLayers>) {
    let found = shapes::structure(db, file);
    let layers = of_functions(db, file, &found, grouping);
    (found, layers)
}

/// The maximal number of modules of a log whose layers editors show.
const MAX_MODULES: usize = 8;

/// Returns the layers that editors show: none if there is no evidence, and none in a log of many modules, whose layers
/// take longer than a user waits for an outline.
pub fn shown_layers(db: &dyn Db, file: SourceFile, grouping: Grouping) -> &[FunctionLayers] {
    if grouping == Grouping::Flat || modules(db, file).len() > MAX_MODULES {
        return &[];
    }
    layers(db, file, grouping)
}

/// Returns the layers of functions of a file, in their order.
pub fn of_functions(
    db: &dyn Db,
    file: SourceFile,
    shapes: &[FunctionShapes],
    grouping: Grouping,
) -> Vec<FunctionLayers> {
    let own: Vec<&FunctionShapes> = shapes.iter().collect();
    of_list(db, file, &own, shapes, grouping)
}

/// Returns the layers of the functions of `list`, in their order. `all` are the functions of the file, which calls may
/// name.
fn of_list(
    db: &dyn Db,
    file: SourceFile,
    list: &[&FunctionShapes],
    all: &[FunctionShapes],
    grouping: Grouping,
) -> Vec<FunctionLayers> {
    let all: Vec<&FunctionShapes> = all.iter().flat_map(FunctionShapes::all).collect();
    let functions: Functions<'_> =
        all.iter().rev().map(|function| (function.name.as_str(), *function)).collect();
    let parse = file.parse(db);
    let root = Node::root(&parse.green);
    // An edit does not wait for the rest.
    let stop = || db.unwind_if_revision_cancelled();
    list.iter().map(|one| layers_of(one, &functions, grouping, root, &stop)).collect()
}

/// Returns the layers of a function. `stop` unwinds if they are not needed any more.
fn layers_of(
    function: &FunctionShapes,
    functions: &Functions<'_>,
    grouping: Grouping,
    root: Node<'_>,
    stop: &dyn Fn(),
) -> FunctionLayers {
    stop();
    let steps = Steps::new(function, functions);
    stop();
    let finder = Finder { steps: &steps, functions };
    let paths = Paths::new(&steps);
    let all = 0..steps.len();
    let groups = match grouping {
        Grouping::Flat => Vec::new(),
        Grouping::Found => with_ends(finder.find(all.clone(), 0), &steps),
        Grouping::Names => {
            let named = finder.named(&paths, all.clone(), 0);
            with_ends(named.unwrap_or_else(|| finder.find(all.clone(), 0)), &steps)
        }
    };
    stop();
    let paths = (grouping == Grouping::Names).then_some(&paths);
    let render = Render { steps: &steps, paths, root };
    let layers = render.all(groups, &all, &[]);
    stop();
    FunctionLayers {
        name: function.name.clone(),
        range: function.range,
        calls: steps.len(),
        parts: render.parts(&layers),
        layers,
    }
}

/// Puts what precedes the first block of a function, and what follows the last, into groups of their own.
fn with_ends(groups: Vec<Group>, steps: &Steps<'_>) -> Vec<Group> {
    let products = |group: &Group| {
        let products = steps.list[group.whole()].iter().filter(|step| step.is_product);
        products.count()
    };
    let is_block = |group: &Group| {
        let is_module = group.kind == LayerKind::Module && products(group) > 1;
        group.instances.len() > 1
            || is_module
            || matches!(
                group.kind,
                LayerKind::Stage
                    | LayerKind::Block
                    | LayerKind::TransformerBlock
                    | LayerKind::ResidualBlock
                    | LayerKind::DenseLayer
                    | LayerKind::DenseBlock
                    | LayerKind::FireModule
                    | LayerKind::SeparableConvolution
                    | LayerKind::InvertedBottleneck
                    | LayerKind::Branches
            )
    };
    let (Some(first), Some(last)) =
        (groups.iter().position(is_block), groups.iter().rposition(is_block))
    else {
        return groups;
    };
    let mut before = groups;
    let after = before.split_off(last + 1);
    let blocks = before.split_off(first);
    let end = |kind: LayerKind, groups: Vec<Group>| {
        let whole = groups.first()?.whole().start..groups.last()?.whole().end;
        // Single calls are no layers, and here neither are those without products.
        let mut groups: Vec<Group> = groups
            .into_iter()
            .filter(|group| {
                let is_embedding = group.kind == LayerKind::Embedding;
                steps.main(&group.whole()).nth(1).is_some() && (products(group) > 0 || is_embedding)
            })
            .collect();
        let is_one = groups.len() == 1 && groups.iter().all(|group| group.name.is_none());
        match if is_one { groups.pop() } else { None } {
            Some(group) => {
                let is_plain = matches!(group.kind, LayerKind::Convolution | LayerKind::Dense);
                let kind = if is_plain { kind } else { group.kind };
                Some(Group { kind, instances: vec![whole], exemplar: 0, ..group })
            }
            None => Some(Group::new(kind, vec![whole], 0, groups, Evidence::Computation)),
        }
    };
    let until = before.last().map_or(0, |last| last.whole().end);
    let has_convolution = steps.list[..until].iter().any(Step::is_convolution);
    let kind = if has_convolution { LayerKind::Stem } else { LayerKind::Input };
    end(kind, before).into_iter().chain(blocks).chain(end(LayerKind::Head, after)).collect()
}

/// The number of repetitions from which calls without a product are a layer.
const MIN_REPEATED: usize = 4;

/// Gives groups their names and ranges.
struct Render<'r, 'f, 't> {
    steps: &'r Steps<'f>,
    /// `None` if names are no evidence.
    paths: Option<&'r Paths>,
    /// The tree of the file.
    root: Node<'t>,
}

impl Render<'_, '_, '_> {
    /// Returns the layers of groups inside of `around`, whose weights have names that begin with `outer`.
    fn all(&self, groups: Vec<Group>, around: &Range<usize>, outer: &[String]) -> Vec<Layer> {
        let mut layers = Vec::new();
        for mut group in groups {
            // A group of everything around it is the same layer, and one call is none. A dense block is more than its
            // layers, even if nothing follows them.
            while group.kind != LayerKind::DenseBlock
                && group.instances.len() == 1
                && group.groups.len() == 1
                && group.groups[0].whole() == group.instances[0]
            {
                let mut inner = group.groups.remove(0);
                inner.name = inner.name.or(group.name);
                group = inner;
            }
            if group.instances.len() == 1 {
                let own = &group.instances[0];
                let main: Vec<_> = self.steps.main(own).collect();
                let is_call = main.iter().any(|step| step.callee.is_some());
                if own == around || main.len() < 2 && !is_call {
                    layers.extend(self.all(group.groups, around, outer));
                    continue;
                }
            }
            // Calls that happen to follow one another are no layer.
            let is_any = group.kind == LayerKind::Other && group.name.is_none();
            if is_any && group.groups.is_empty() && group.instances.len() < MIN_REPEATED {
                let mut steps = group.instances.iter().flat_map(|own| self.steps.main(own));
                if !steps.any(|step| step.is_product) {
                    continue;
                }
            }
            layers.push(self.layer(group, outer));
        }
        self.numbered(&mut layers);
        layers
    }

    fn layer(&self, group: Group, outer: &[String]) -> Layer {
        let symbol = |range: &Range<usize>| self.steps.symbol(range);
        let exemplar = &group.instances[group.exemplar];
        let described = symbol(exemplar);
        let exceptions = group.instances.iter().filter(|range| symbol(range) != described).count();
        // The name of a scale is no name for a layer without a product.
        let has_product = self.steps.main(exemplar).any(|step| step.is_product);
        let is_end = matches!(group.kind, LayerKind::Stem | LayerKind::Input | LayerKind::Head);
        let paths = self.paths.filter(|_| has_product && !is_end);
        let path = paths.map_or_else(Vec::new, |paths| paths.of(&group.whole()));
        let own = path.get(outer.len()..).filter(|_| path.starts_with(outer)).unwrap_or_default();
        let (name, is_named) = match (&group.name, own) {
            (Some(name), _) => match group.names.last().and_then(|last| names::number(last)) {
                Some(last) => {
                    let stem = names::stem(name);
                    let first = names::number(name).unwrap_or_default();
                    (format!("{stem} {first}–{last}"), true)
                }
                None => (name.clone(), true),
            },
            (None, []) => (group.kind.name().to_owned(), false),
            (None, own) => (own.join(" "), true),
        };
        let mut evidence = group.evidence;
        if is_named && !evidence.contains(&Evidence::Names) {
            evidence.insert(0, Evidence::Names);
        }
        let result = self.steps.main(exemplar).next_back().map(|step| step.row.ty.clone());
        let count = group.instances.len();
        let names = match group.names.len() == count {
            true => group.names,
            false if count == 1 => vec![name.clone()],
            false => (1..=count).map(|number| format!("{name} {number} of {count}")).collect(),
        };
        Layer {
            name,
            names,
            kind: group.kind,
            evidence,
            ranges: group.instances.iter().map(|range| self.range(range)).collect(),
            exceptions,
            exemplar: group.exemplar,
            result,
            layers: self.all(
                group.groups,
                exemplar,
                if path.len() > outer.len() { &path } else { outer },
            ),
            rows: group.instances,
        }
    }

    /// Numbers stages, dense blocks and transitions, which have no other names.
    fn numbered(&self, layers: &mut [Layer]) {
        for kind in [LayerKind::Stage, LayerKind::DenseBlock, LayerKind::Transition] {
            let own = layers.iter_mut().filter(|layer| layer.kind == kind);
            for (number, layer) in (1..).zip(own) {
                if layer.name == kind.name() {
                    layer.name = format!("{} {number}", kind.name());
                    layer.names = vec![layer.name.clone()];
                }
            }
        }
    }

    /// Returns the range of the statements of some steps in the file. A statement that has calls of the steps before or
    /// after them, too, counts with the calls alone.
    fn range(&self, steps: &Range<usize>) -> TextRange {
        let ranges = self.steps.list[steps.clone()].iter().map(|step| step.row.range);
        let Some(calls) = ranges.reduce(TextRange::cover) else { return TextRange::default() };
        let outside = |at: Option<usize>| Some(self.steps.list.get(at?)?.row.range);
        let (before, after) = (outside(steps.start.checked_sub(1)), outside(Some(steps.end)));
        let statement = |range: TextRange| {
            let path = self.root.path_to(range);
            let statement = path.iter().rfind(|node| node.kind().is_stmt())?.range();
            let has = |outside: Option<TextRange>| {
                outside.is_some_and(|range| statement.contains_range(range))
            };
            (!has(before) && !has(after)).then_some(statement)
        };
        let own = &self.steps.list[steps.clone()];
        let ends = [own.first(), own.last()].into_iter().flatten();
        ends.filter_map(|step| statement(step.row.range)).fold(calls, TextRange::cover)
    }
}
