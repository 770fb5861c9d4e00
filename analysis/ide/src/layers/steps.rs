//! The calls of a function as the search for layers sees them.

use std::{
    hash::{Hash, Hasher},
    ops::Range,
};

use operators::Category;
use rustc_hash::{FxHashMap, FxHasher};

use crate::shapes::{FunctionShapes, Input, Row, SourceKind};

/// The maximal depth of calls of functions that are followed.
const MAX_CALLS: usize = 8;

/// A call.
pub(super) struct Step<'f> {
    /// The call in the shape report.
    pub(super) row: &'f Row,
    /// A hash of what the call computes: the operator or the function, attributes, type, and roles of inputs.
    pub(super) symbol: u64,
    /// The earlier steps that the call takes a result of.
    pub(super) inputs: Vec<usize>,
    /// True if the call takes data: an input of the function.
    pub(super) takes_data: bool,
    /// The names of the weights that the call takes, with their sigils.
    pub(super) weights: Vec<&'f str>,
    /// True if the result follows from weights and constants alone, as that of `transpose(%weight)`.
    pub(super) is_preparation: bool,
    /// True for a convolution, a product of matrices, and a call of a function with one.
    pub(super) is_product: bool,
    /// The function of the module or of the definition that is called.
    pub(super) callee: Option<&'f FunctionShapes>,
    /// The step of the last use of the result; the number of steps if it is a result of the function.
    pub(super) last_use: usize,
}

impl Step<'_> {
    /// Returns the name of the operator or function.
    pub(super) fn operator(&self) -> &str {
        &self.row.operator
    }

    /// Returns true if the call belongs to the product before it: its bias, normalization, activation or dropout.
    pub(super) fn is_light(&self) -> bool {
        let category = self.row.category;
        matches!(category, Some(Category::Normalization | Category::Activation))
            || matches!(self.operator(), "nn.bias_add" | "nn.dropout")
    }

    /// Returns true for a normalization or an activation function.
    pub(super) fn begins_block(&self) -> bool {
        matches!(self.row.category, Some(Category::Normalization | Category::Activation))
    }

    pub(super) fn is_normalization(&self) -> bool {
        self.row.category == Some(Category::Normalization)
    }

    /// Returns true for pooling, and for what moves data without computing anything.
    pub(super) fn is_between(&self) -> bool {
        matches!(self.row.category, Some(Category::Reduction | Category::Movement))
            && self.operator() != "concatenate"
    }

    pub(super) fn is_convolution(&self) -> bool {
        self.is_product && self.operator().contains("conv")
    }

    /// Returns the value of a written attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let own = self.row.attributes.iter().find(|(own, _)| own == name);
        own.map(|(_, value)| value.as_str())
    }
}

/// The calls of a function in order, with the number of values that are live between them.
pub(super) struct Steps<'f> {
    pub(super) list: Vec<Step<'f>>,
    /// For each step, the number of values computed from data before it that it or a later step uses, but for values
    /// that are kept for long: a mask that all layers take, or a skip connection across half of the network.
    pub(super) live: Vec<u32>,
}

/// The functions that calls may name.
pub(super) type Functions<'f> = FxHashMap<&'f str, &'f FunctionShapes>;

impl<'f> Steps<'f> {
    pub(super) fn new(function: &'f FunctionShapes, functions: &Functions<'f>) -> Steps<'f> {
        let mut symbols = FxHashMap::default();
        let mut list: Vec<Step<'f>> = Vec::with_capacity(function.rows.len());
        let mut data: FxHashMap<usize, Uses> = FxHashMap::default();
        for (at, row) in function.rows.iter().enumerate() {
            let (mut inputs, mut weights, mut takes_data) = (Vec::new(), Vec::new(), false);
            for input in &row.inputs {
                match *input {
                    // A row takes results of rows before it; anything else would be a cycle.
                    Input::Row(row) => inputs.extend((row < at).then_some(row)),
                    Input::Source(source) => {
                        let Some(of) = function.sources.get(source) else { continue };
                        if of.kind == SourceKind::Input {
                            takes_data = true;
                            data.entry(source).or_insert(Uses { first: at, last: at }).last = at;
                        }
                        if of.kind == SourceKind::Weight {
                            weights.push(of.name.as_str());
                        }
                    }
                }
            }
            let callee = callee(row, functions);
            let is_preparation = !takes_data
                && callee.is_none()
                && inputs.iter().all(|&input| list[input].is_preparation);
            let is_product = match callee {
                Some(callee) => has_product(callee, functions, 0),
                None => row.category == Some(Category::Product),
            };
            list.push(Step {
                row,
                symbol: symbol(row, function, functions, &mut symbols, 0),
                inputs,
                takes_data,
                weights,
                is_preparation,
                is_product,
                callee,
                last_use: at,
            });
        }
        for at in 0..list.len() {
            for input in list[at].inputs.clone() {
                list[input].last_use = at;
            }
        }
        for result in &function.results {
            if let Input::Row(row) = *result
                && row < list.len()
            {
                list[row].last_use = list.len();
            }
        }
        let live = live(&list, data.into_values());
        Steps { list, live }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the steps of a range that take part in the computation on data.
    pub(super) fn main(&self, range: &Range<usize>) -> impl DoubleEndedIterator<Item = &Step<'f>> {
        self.list[range.clone()].iter().filter(|step| !step.is_preparation)
    }

    /// Returns true if two ranges call the same operators in the same order.
    pub(super) fn calls_same(&self, a: &Range<usize>, b: &Range<usize>) -> bool {
        let operators = |range: &Range<usize>| self.list[range.clone()].iter().map(Step::operator);
        a.len() == b.len() && operators(a).eq(operators(b))
    }

    /// Returns the hash of what a range computes on data.
    pub(super) fn symbol(&self, range: &Range<usize>) -> u64 {
        let mut hasher = FxHasher::default();
        self.main(range).for_each(|step| step.symbol.hash(&mut hasher));
        hasher.finish()
    }
}

/// Returns the function that a call is of.
fn callee<'f>(row: &Row, functions: &Functions<'f>) -> Option<&'f FunctionShapes> {
    let is_function = row.category.is_none();
    functions.get(row.operator.as_str()).copied().filter(|_| is_function)
}

fn has_product(function: &FunctionShapes, functions: &Functions<'_>, depth: usize) -> bool {
    depth < MAX_CALLS
        && function.rows.iter().any(|row| match callee(row, functions) {
            Some(callee) => has_product(callee, functions, depth + 1),
            None => row.category == Some(Category::Product),
        })
}

/// Returns the hash of a call. The name of a function is no part of it, so that equal functions are equal. `known`
/// are the hashes of functions.
fn symbol<'f>(
    row: &'f Row,
    of: &'f FunctionShapes,
    functions: &Functions<'f>,
    known: &mut FxHashMap<&'f str, u64>,
    depth: usize,
) -> u64 {
    let mut hasher = FxHasher::default();
    match callee(row, functions).filter(|_| depth < MAX_CALLS) {
        Some(callee) => {
            let hash = match known.get(callee.name.as_str()) {
                Some(&hash) => hash,
                None => {
                    // A recursive function ends at its own name.
                    known.insert(&callee.name, 0);
                    let mut inner = FxHasher::default();
                    for row in &callee.rows {
                        symbol(row, callee, functions, known, depth + 1).hash(&mut inner);
                    }
                    let hash = inner.finish();
                    known.insert(&callee.name, hash);
                    hash
                }
            };
            hash.hash(&mut hasher);
        }
        None => row.operator.hash(&mut hasher),
    }
    row.attributes.hash(&mut hasher);
    row.ty.hash(&mut hasher);
    for input in &row.inputs {
        match *input {
            Input::Row(_) => 0_u8,
            Input::Source(source) => of.sources.get(source).map_or(3, |source| match source.kind {
                SourceKind::Input => 0,
                SourceKind::Weight => 1,
                SourceKind::Constant => 2,
            }),
        }
        .hash(&mut hasher);
    }
    hasher.finish()
}

/// The first and the last step that use an input of the function.
struct Uses {
    first: usize,
    last: usize,
}

/// Returns [`Steps::live`]. `data` are the uses of the inputs of the function that are data.
fn live(list: &[Step<'_>], data: impl Iterator<Item = Uses>) -> Vec<u32> {
    let longest = 64.max(list.len() / 8);
    // The use of a value by a step that gathers a chain of values, such as a `concatenate` of all layers of a dense
    // block, does not keep it: it was used on the way, too.
    let mut kept_until: Vec<usize> = (0..list.len()).collect();
    for (at, step) in list.iter().enumerate() {
        let gathers = step.inputs.len() > 2;
        for &input in &step.inputs {
            let is_on_the_way = kept_until[input] > input && kept_until[input] < at;
            if !gathers || !is_on_the_way {
                kept_until[input] = at;
            }
        }
    }
    let mut change = vec![0_i64; list.len() + 2];
    for (at, (step, &until)) in list.iter().zip(&kept_until).enumerate() {
        let until = if step.last_use == list.len() && until == at { list.len() } else { until };
        if !step.is_preparation && until - at <= longest {
            change[at + 1] += 1;
            change[until + 1] -= 1;
        }
    }
    for Uses { first, last } in data.filter(|uses| uses.last - uses.first <= longest) {
        change[first + 1] += 1;
        change[last + 1] -= 1;
    }
    let mut count = 0;
    let counts = change.iter().take(list.len() + 1).map(|by| {
        count += by;
        u32::try_from(count).unwrap_or_default()
    });
    counts.collect()
}
