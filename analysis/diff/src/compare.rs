//! Comparison of two modules.

use rustc_hash::{FxHashMap, FxHashSet};
use semantics::{Db, DefKind, Module, body::Name};
use syntax::TextRange;
use types::Type;

use crate::{
    changes::PairBuilder,
    equal,
    flat::{Scratch, Side, inlinable, inline},
    graph::{Kind, Lambda, NONE, NodeId, by_name, global_family, hash_of, mix},
    groups,
    half::{Half, same_annotation},
    matching::{self, Input},
    report::{FunctionDiff, ModuleDiff, Pair, PairKind, TypeDiff, order},
};

/// The options of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Restricts the comparison to two functions, given by their names before and after with sigils.
    pub functions: Option<(Name, Name)>,
}

/// A module as comparisons need it. It is independent of the database, and holds neither the syntax tree
/// nor the bodies: the database can be dropped, or analyse the other module.
#[derive(Clone)]
pub struct Comparand {
    half: Half,
    types: Vec<DataType>,
}

impl Comparand {
    /// Prepares a module for comparisons.
    pub fn new<'db>(db: &'db dyn Db, module: Module<'db>) -> Comparand {
        Comparand { half: Half::new(db, module), types: data_types(db, module) }
    }
}

/// Compares two modules, which may be of different databases.
pub fn compare<'a, 'b>(
    before: (&'a dyn Db, Module<'a>),
    after: (&'b dyn Db, Module<'b>),
    options: &Options,
) -> ModuleDiff {
    compare_prepared(Comparand::new(before.0, before.1), Comparand::new(after.0, after.1), options)
}

/// Compares two modules that were prepared.
pub fn compare_prepared(before: Comparand, after: Comparand, options: &Options) -> ModuleDiff {
    let (Comparand { half: mut a, types: old }, Comparand { half: mut b, types: new }) =
        (before, after);
    let counterparts = counterparts(&a, &b, options);
    let is_selected = |before: Option<&Name>, after: Option<&Name>| match &options.functions {
        None => true,
        Some((only_before, only_after)) => {
            before.is_none_or(|name| name == only_before)
                && after.is_none_or(|name| name == only_after)
        }
    };
    let mut found: Vec<FunctionDiff> = Vec::new();
    let mut open: Vec<(usize, usize, usize)> = Vec::new();
    // Equal names denote the same function on both sides, except for two selected functions.
    let renamed = options.functions.as_ref().map(|(x, y)| (global_family(x), global_family(y)));
    let same_global = |x: u64, y: u64| x == y || renamed == Some((x, y));
    for &(before, after) in &counterparts {
        let name =
            |half: &Half, at: Option<usize>| at.map(|at| half.graph.functions[at].name.clone());
        let (name_a, name_b) = (name(&a, before), name(&b, after));
        if !is_selected(name_a.as_ref(), name_b.as_ref()) {
            continue;
        }
        let mut diff = FunctionDiff {
            before: before.map(|at| a.reference(at)),
            after: after.map(|at| b.reference(at)),
            ..FunctionDiff::default()
        };
        if let (Some(before), Some(after)) = (before, after) {
            match equal_pairs(&a, before, &b, after, &same_global) {
                Some(pairs) => {
                    diff.equal = true;
                    diff.pairs = pairs;
                    let calls = diff.pairs.iter().filter(|pair| !pair.operators.0.is_empty());
                    diff.calls_before = calls.count();
                    diff.calls_after = diff.calls_before;
                }
                None => open.push((found.len(), before, after)),
            }
        }
        found.push(diff);
    }
    if !open.is_empty() {
        inline_half(&mut a, &counterparts, |pair| pair.0, |pair| pair.1);
        inline_half(&mut b, &counterparts, |pair| pair.1, |pair| pair.0);
        let (mut scratch_a, mut scratch_b) = (Scratch::default(), Scratch::default());
        for (at, before, after) in open {
            let scratch = (&mut scratch_a, &mut scratch_b);
            differ(&a, before, &b, after, scratch, renamed, &mut found[at]);
        }
    }
    let parts = |half: &Half| -> FxHashSet<Name> {
        let functions = half.graph.functions.iter();
        let inlined = functions.filter(|f| half.inlined.globals.contains(&f.lambda));
        inlined.map(|function| function.name.clone()).collect()
    };
    let (parts_a, parts_b) = (parts(&a), parts(&b));
    for diff in &mut found {
        if let Some(before) = &mut diff.before {
            before.is_part = parts_a.contains(&before.name);
        }
        if let Some(after) = &mut diff.after {
            after.is_part = parts_b.contains(&after.name);
        }
    }
    let types = match options.functions {
        Some(_) => Vec::new(),
        None => type_differences(&old, &new),
    };
    let equal = types.is_empty() && found.iter().all(|diff| diff.equal);
    ModuleDiff { equal, functions: found, types }
}

/// The indices of a function before and its counterpart after.
type Counterparts = (Option<usize>, Option<usize>);

/// Returns the functions to compare: those of equal names, in order. If each side has only one
/// function, such as a bare expression and `@main`, these are compared.
fn counterparts(a: &Half, b: &Half, options: &Options) -> Vec<Counterparts> {
    let mut by_name: FxHashMap<&Name, Vec<usize>> = FxHashMap::default();
    for (number, function) in b.graph.functions.iter().enumerate().rev() {
        by_name.entry(&function.name).or_default().push(number);
    }
    let renamed = options.functions.as_ref();
    let mut counterparts = Vec::new();
    let mut taken = FxHashSet::default();
    for (number, function) in a.graph.functions.iter().enumerate() {
        let name = match renamed {
            Some((before, after)) if *before == function.name => after,
            _ => &function.name,
        };
        let partner = by_name.get_mut(name).and_then(Vec::pop);
        taken.extend(partner);
        counterparts.push((Some(number), partner));
    }
    for number in 0..b.graph.functions.len() {
        if !taken.contains(&number) {
            counterparts.push((None, Some(number)));
        }
    }
    // One function of a different name on each side: a bare expression, or a renamed function.
    let lone = |side: &dyn Fn(&Counterparts) -> bool| {
        let mut found = counterparts.iter().enumerate().filter(|(_, pair)| side(pair));
        found.next().map(|(at, _)| at).filter(|_| found.next().is_none())
    };
    let only_a = lone(&|pair| pair.1.is_none());
    let only_b = lone(&|pair| pair.0.is_none());
    if let (Some(at_a), Some(at_b)) = (only_a, only_b)
        && counterparts.len() == 2
    {
        counterparts[at_a].1 = counterparts[at_b].1;
        counterparts.remove(at_b);
    }
    counterparts
}

/// Returns the pairs of two functions if they are equal.
fn equal_pairs(
    a: &Half,
    before: usize,
    b: &Half,
    after: usize,
    same_global: &dyn Fn(u64, u64) -> bool,
) -> Option<Vec<Pair>> {
    let (graph_a, graph_b) = (&a.graph, &b.graph);
    let leaves = |id_a: NodeId, id_b: NodeId| {
        let (node_a, node_b) = (graph_a.node(id_a), graph_b.node(id_b));
        match node_a.kind {
            Kind::Param | Kind::FreeVar => same_annotation(a.annotation(id_a), b.annotation(id_b)),
            Kind::Global => same_global(node_a.family, node_b.family),
            _ => node_a.label == node_b.label,
        }
    };
    let (lambda_a, lambda_b) = (graph_a.functions[before].lambda, graph_b.functions[after].lambda);
    if !same_headers(a, graph_a.lambda(lambda_a), b, graph_b.lambda(lambda_b)) {
        return None;
    }
    let found = equal::pairs((graph_a, lambda_a), (graph_b, lambda_b), &leaves)?;
    let builder = PairBuilder { a, b };
    if !builder.same_let_annotations(&found) {
        return None;
    }
    let mut pairs = Vec::with_capacity(found.len());
    for (a, b) in found {
        if graph_a.node(a).source != NONE && graph_b.node(b).source != NONE {
            builder.pair_with_lets((a, b), PairKind::Same, Vec::new(), &mut pairs);
        }
    }
    order(&mut pairs);
    Some(pairs)
}

/// Returns true if the annotations of the results of two functions agree.
fn same_headers(a: &Half, of_a: &Lambda, b: &Half, of_b: &Lambda) -> bool {
    let ret = |half: &Half, lambda: &Lambda| {
        half.facts().function(lambda).and_then(|function| function.ret.clone())
    };
    same_annotation(ret(a, of_a).as_ref(), ret(b, of_b).as_ref())
}

fn inline_half(
    half: &mut Half,
    counterparts: &[Counterparts],
    own: impl Fn(&Counterparts) -> Option<usize>,
    other: impl Fn(&Counterparts) -> Option<usize>,
) {
    let graph = &mut half.graph;
    let names = by_name(graph);
    let mut candidates = FxHashMap::default();
    for pair in counterparts {
        if let (Some(own), None) = (own(pair), other(pair)) {
            let function = &graph.functions[own];
            let family = global_family(&function.name);
            // Calls resolve to the first definition of a name.
            if names.get(&family) == Some(&(own as u32)) {
                candidates.insert(family, function.lambda);
            }
        }
    }
    let globals = inlinable(graph, &candidates);
    half.inlined = inline(graph, &globals);
}

/// Pairs the expressions of two functions that differ.
fn differ(
    a: &Half,
    before: usize,
    b: &Half,
    after: usize,
    scratch: (&mut Scratch, &mut Scratch),
    renamed: Option<(u64, u64)>,
    diff: &mut FunctionDiff,
) {
    let (graph_a, graph_b) = (&a.graph, &b.graph);
    let (lambda_a, lambda_b) = (graph_a.functions[before].lambda, graph_b.functions[after].lambda);
    let side_a = Side::new(graph_a, &a.inlined, lambda_a, scratch.0);
    let side_b = Side::new(graph_b, &b.inlined, lambda_b, scratch.1);
    let is_inlined = !a.inlined.calls.is_empty() || !b.inlined.calls.is_empty();
    let mut input = Input {
        seeds_a: seeds(a, &side_a, 1),
        seeds_b: seeds(b, &side_b, 2),
        types_a: type_hashes(a, &side_a),
        types_b: type_hashes(b, &side_b),
        rank_a: rank(&side_a, is_inlined),
        rank_b: rank(&side_b, is_inlined),
        a: &side_a,
        b: &side_b,
        params: Vec::new(),
    };
    let params = pair_params(a, graph_a.lambda(lambda_a), b, graph_b.lambda(lambda_b));
    let place = |side: &Side| -> FxHashMap<NodeId, u32> {
        let leaves = (0..side.len()).filter(|&at| side.kinds[at].is_leaf());
        leaves.map(|at| (side.ids[at], at as u32)).collect()
    };
    let (place_a, place_b) = (place(&side_a), place(&side_b));
    for (number, (param_a, param_b)) in (0..).zip(&params) {
        if let (Some(&at_a), Some(&at_b)) = (place_a.get(param_a), place_b.get(param_b)) {
            let seed = mix(11, number);
            input.seeds_a[at_a as usize] = seed;
            input.seeds_b[at_b as usize] = seed;
            input.params.push((at_a, at_b));
        }
    }
    // Recursive calls of the two selected functions have different names.
    if let Some((family_a, family_b)) = renamed {
        let of_a = (0..side_a.len()).find(|&at| side_a.families[at] == family_a);
        if let Some(seed) = of_a.map(|at| input.seeds_a[at]) {
            for at in (0..side_b.len()).filter(|&at| side_b.families[at] == family_b) {
                input.seeds_b[at] = seed;
            }
        }
    }
    let pairing = matching::pair(&input);
    groups::report(a, b, &input, &pairing, &params, (lambda_a, lambda_b), diff);
}

/// Returns the ranks of nodes. Text order is the most stable under edits, but after inlining, the
/// position of a function says nothing about the positions of its calls.
fn rank(side: &Side, is_inlined: bool) -> Vec<u32> {
    match is_inlined {
        true => (0..side.len() as u32).collect(),
        false => side.ids.clone(),
    }
}

/// Returns the hashes of leaves. Parameters of definitions differ until they are paired; those of
/// inner functions are identified by position.
fn seeds(half: &Half, side: &Side, which: u64) -> Vec<u64> {
    let graph = &half.graph;
    let seed = |(at, &id): (usize, &NodeId)| match side.kinds[at] {
        Kind::Param if is_outer(half, id) => mix(which, u64::from(id)),
        _ => side.labels[at],
    };
    debug_assert!(graph.nodes.len() >= side.ids.len());
    side.ids.iter().enumerate().map(seed).collect()
}

/// Returns true if a node is a parameter of a definition.
fn is_outer(half: &Half, id: NodeId) -> bool {
    let node = half.graph.node(id);
    node.kind == Kind::Param && node.extra != NONE && half.graph.lambda(node.extra).is_definition
}

fn type_hashes(half: &Half, side: &Side) -> Vec<u64> {
    side.ids.iter().map(|&id| half.ty(id).map_or(0, hash_of)).collect()
}

/// Pairs parameters by name, and the remaining ones in order if their number or types agree.
pub(crate) fn pair_params(
    a: &Half,
    of_a: &Lambda,
    b: &Half,
    of_b: &Lambda,
) -> Vec<(NodeId, NodeId)> {
    let mut names: FxHashMap<&Name, usize> = FxHashMap::default();
    for (at, &id) in of_b.params.iter().enumerate() {
        if let Some(name) = b.variable_name(id) {
            names.entry(name).or_insert(at);
        }
    }
    let mut partners: Vec<Option<usize>> = vec![None; of_a.params.len()];
    let mut taken = vec![false; of_b.params.len()];
    for (at, &id) in of_a.params.iter().enumerate() {
        let named = a.variable_name(id).and_then(|name| names.get(name));
        if let Some(&of_b) = named.filter(|&&of_b| !taken[of_b]) {
            partners[at] = Some(of_b);
            taken[of_b] = true;
        }
    }
    let left_a: Vec<usize> = (0..partners.len()).filter(|&at| partners[at].is_none()).collect();
    let left_b: Vec<usize> = (0..taken.len()).filter(|&at| !taken[at]).collect();
    if left_a.len() == left_b.len() {
        for (&at, &of_b) in left_a.iter().zip(&left_b) {
            partners[at] = Some(of_b);
        }
    } else {
        let mut rest = left_b.iter().peekable();
        for &at in &left_a {
            let ty = a.ty(of_a.params[at]);
            let mut found = None;
            while let Some(&&next) = rest.peek() {
                if b.ty(of_b.params[next]) == ty {
                    found = Some(next);
                    rest.next();
                    break;
                }
                rest.next();
            }
            partners[at] = found;
        }
    }
    let pair =
        |(at, partner): (usize, &Option<usize>)| Some((of_a.params[at], of_b.params[(*partner)?]));
    partners.iter().enumerate().filter_map(pair).collect()
}

/// The name, range, number of parameters and constructors of a data type.
type DataType = (Name, TextRange, usize, Vec<(Name, Type)>);

fn data_types<'db>(db: &'db dyn Db, module: Module<'db>) -> Vec<DataType> {
    let defs = module.items(db).iter().filter(|def| def.kind(db) == DefKind::Type);
    let of = |def: &semantics::Def<'db>| {
        let data = semantics::type_def(db, *def)?;
        let constructors = data.adt.constructors.iter();
        let form = constructors.map(|c| (c.name.clone(), c.ty.clone())).collect();
        Some((data.adt.name.clone(), def.range(db), data.adt.params.len(), form))
    };
    defs.filter_map(of).collect()
}

/// Returns the data types that differ between the modules.
fn type_differences(old: &[DataType], new: &[DataType]) -> Vec<TypeDiff> {
    let mut left: FxHashMap<&Name, &DataType> = new.iter().map(|data| (&data.0, data)).collect();
    let mut found = Vec::new();
    for (name, range, count, form) in old {
        let other = left.remove(name);
        let is_same = other.is_some_and(|(_, _, of, other)| of == count && other == form);
        if !is_same {
            let after = other.map(|(_, range, ..)| *range);
            found.push(TypeDiff { before: Some(*range), after, name: name.clone() });
        }
    }
    for (name, range, ..) in new {
        if left.contains_key(name) {
            found.push(TypeDiff { before: None, after: Some(*range), name: name.clone() });
        }
    }
    found
}
