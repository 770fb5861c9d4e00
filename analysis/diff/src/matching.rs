//! Pairing of the nodes of two functions.
//!
//! The steps go from certain to heuristic, and each pairs only unpaired nodes:
//!
//! 1. equal values: nodes with equal fingerprints from the parameters up;
//! 2. equal uses: nodes with equal fingerprints from the result down;
//! 3. equal weights: calls of an operator on the same parameters and constants;
//! 4. order: the nodes between pairs are aligned in the order of evaluation, so that repeated blocks
//!    keep their order;
//! 5. neighbours: operands and users of pairs, including those with different operators.
//!
//! Steps 1 to 3 sort and hash. Step 4 is quadratic in the number of nodes between two pairs, up to
//! [`align::CELLS`] in total. Step 5 visits each edge a few times.

mod align;
mod neighbours;

use std::collections::VecDeque;

pub(crate) use neighbours::through;

use crate::{
    flat::Side,
    graph::{Kind, NONE, mix},
};

/// The two functions with hashes and ranks of their nodes.
pub(crate) struct Input<'s> {
    pub(crate) a: &'s Side,
    pub(crate) b: &'s Side,
    /// The hashes of leaves, which are equal for corresponding leaves.
    pub(crate) seeds_a: Vec<u64>,
    pub(crate) seeds_b: Vec<u64>,
    /// The hashes of types.
    pub(crate) types_a: Vec<u64>,
    pub(crate) types_b: Vec<u64>,
    /// The order of nodes that are otherwise equal.
    pub(crate) rank_a: Vec<u32>,
    pub(crate) rank_b: Vec<u32>,
    /// The pairs of parameters.
    pub(crate) params: Vec<(u32, u32)>,
}

/// A one-to-one pairing of nodes.
#[derive(Clone, Debug)]
pub(crate) struct Pairing {
    pub(crate) to_b: Vec<u32>,
    pub(crate) to_a: Vec<u32>,
}

impl Pairing {
    pub(crate) fn add(&mut self, a: u32, b: u32) {
        self.to_b[a as usize] = b;
        self.to_a[b as usize] = a;
    }

    pub(crate) fn b(&self, a: u32) -> Option<u32> {
        Some(self.to_b[a as usize]).filter(|&b| b != NONE)
    }

    pub(crate) fn a(&self, b: u32) -> Option<u32> {
        Some(self.to_a[b as usize]).filter(|&a| a != NONE)
    }

    /// Returns true if both nodes are unpaired.
    pub(crate) fn are_free(&self, a: u32, b: u32) -> bool {
        self.to_b[a as usize] == NONE && self.to_a[b as usize] == NONE
    }
}

/// Pairs the nodes of two functions. The result is symmetric: ties are broken after bringing the two
/// functions into a canonical order.
pub(crate) fn pair(input: &Input<'_>) -> Pairing {
    let key = |side: &Side, seeds: &[u64]| {
        let labels = side.labels.iter().fold(0u64, |sum, label| sum.wrapping_add(*label));
        let root = side.roots.first().map(|&root| values(side, seeds)[root as usize]);
        (side.len(), labels, root)
    };
    if key(input.a, &input.seeds_a) <= key(input.b, &input.seeds_b) {
        return pair_in_order(input);
    }
    let mirrored = Input {
        a: input.b,
        b: input.a,
        seeds_a: input.seeds_b.clone(),
        seeds_b: input.seeds_a.clone(),
        types_a: input.types_b.clone(),
        types_b: input.types_a.clone(),
        rank_a: input.rank_b.clone(),
        rank_b: input.rank_a.clone(),
        params: input.params.iter().map(|&(a, b)| (b, a)).collect(),
    };
    let Pairing { to_b, to_a } = pair_in_order(&mirrored);
    Pairing { to_b: to_a, to_a: to_b }
}

fn pair_in_order(input: &Input<'_>) -> Pairing {
    let (a, b) = (input.a, input.b);
    let mut pairing = Pairing { to_b: vec![NONE; a.len()], to_a: vec![NONE; b.len()] };
    for &(a, b) in &input.params {
        pairing.add(a, b);
    }
    by_value(input, &mut pairing);
    by_key(input, &mut pairing, &uses(a), &uses(b));
    let (near_a, near_b) = (weights(a, &input.seeds_a), weights(b, &input.seeds_b));
    by_key(input, &mut pairing, &anchors(a, &near_a, true), &anchors(b, &near_b, true));
    by_key(input, &mut pairing, &anchors(a, &near_a, false), &anchors(b, &near_b, false));
    neighbours::spread(input, &mut pairing);
    align::align(input, &mut pairing);
    neighbours::spread(input, &mut pairing);
    neighbours::between(input, &mut pairing);
    neighbours::spread(input, &mut pairing);
    pairing
}

/// Pairs unpaired nodes of equal keys, in order, if both sides have equally many. A key of 0 matches
/// nothing.
fn by_key(input: &Input<'_>, pairing: &mut Pairing, keys_a: &[u64], keys_b: &[u64]) {
    for (a, b) in equal_keys(input, pairing, keys_a, keys_b, usize::MAX) {
        pairing.add(a, b);
    }
}

/// Pairs unpaired nodes of equal value with all their operands. Values that are unique on each side
/// come first, so that repeated values inside them are paired consistently.
fn by_value(input: &Input<'_>, pairing: &mut Pairing) {
    let values_a = values(input.a, &input.seeds_a);
    let values_b = values(input.b, &input.seeds_b);
    let none = Pairing { to_b: vec![NONE; input.a.len()], to_a: vec![NONE; input.b.len()] };
    let unique = equal_keys(input, &none, &values_a, &values_b, 1);
    with_operands(input, pairing, unique, (&values_a, &values_b));
    // Repeated values are paired by their users, then by order.
    let (contexts_a, contexts_b) = (contexts(input.a, &values_a), contexts(input.b, &values_b));
    by_key(input, pairing, &contexts_a, &contexts_b);
    by_key(input, pairing, &values_a, &values_b);
}

/// Pairs nodes and then their operands of equal value, down to the leaves.
///
/// Equal users may claim one node for two: if `%2` in `%1 = f(%x); %2 = f(%x); (g(%1), h(%2))` becomes
/// `%1`, both `g` and `h` lead to `%1`. The claim that keeps the order of the repeated values wins, so
/// that the operand of `h` is what has changed.
fn with_operands(
    input: &Input<'_>,
    pairing: &mut Pairing,
    mut pairs: Vec<(u32, u32)>,
    (values_a, values_b): (&[u64], &[u64]),
) {
    let number_a = numbers(values_a, &input.rank_a);
    let number_b = numbers(values_b, &input.rank_b);
    // The stack is emptied from its end: users come first.
    pairs.sort_unstable_by_key(|pair| pair.0);
    let mut crossing = VecDeque::new();
    // Each node is paired once, so that each edge is followed once.
    while let Some((a, b)) = pairs.pop().or_else(|| crossing.pop_front()) {
        let is_equal = values_a[a as usize] == values_b[b as usize];
        if input.a.kind(a).is_leaf() || !pairing.are_free(a, b) || !is_equal {
            continue;
        }
        pairing.add(a, b);
        for (&of_a, &of_b) in input.a.operands(a).iter().zip(input.b.operands(b)) {
            match number_a[of_a as usize] == number_b[of_b as usize] {
                true => pairs.push((of_a, of_b)),
                false => crossing.push_back((of_a, of_b)),
            }
        }
    }
}

/// Returns the number of each node among the nodes of equal value, in the order of ranks.
fn numbers(values: &[u64], rank: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_unstable_by_key(|&at| (values[at as usize], rank[at as usize], at));
    let mut numbers = vec![0; values.len()];
    for group in order.chunk_by(|&x, &y| values[x as usize] == values[y as usize]) {
        for (number, &at) in (0..).zip(group) {
            numbers[at as usize] = number;
        }
    }
    numbers
}

/// Returns hashes of the value of each node and of its users with their other operands.
fn contexts(side: &Side, values: &[u64]) -> Vec<u64> {
    let of = |at: usize| {
        let users = side.users(at as u32).iter().map(|&(user, slot)| {
            let others = side.operands(user).iter().filter(|of| **of != at as u32);
            let others = others.fold(0, |hash, of| mix(hash, values[*of as usize]));
            mix(mix(side.label(user), slot.into()), others)
        });
        mix(values[at], users.fold(0, u64::wrapping_add)).max(1)
    };
    (0..side.len()).map(of).collect()
}

/// Returns the pairs of unpaired nodes of equal keys, in order, if both sides have equally many and
/// at most `most`. A key of 0 matches nothing.
fn equal_keys(
    input: &Input<'_>,
    pairing: &Pairing,
    keys_a: &[u64],
    keys_b: &[u64],
    most: usize,
) -> Vec<(u32, u32)> {
    let free = |side: &Side, keys: &[u64], partners: &[u32], rank: &[u32]| {
        let is_free =
            |at: &usize| keys[*at] != 0 && partners[*at] == NONE && !side.kinds[*at].is_leaf();
        let mut found: Vec<(u64, u32, u32)> =
            (0..side.len()).filter(is_free).map(|at| (keys[at], rank[at], at as u32)).collect();
        found.sort_unstable();
        found
    };
    let found_a = free(input.a, keys_a, &pairing.to_b, &input.rank_a);
    let found_b = free(input.b, keys_b, &pairing.to_a, &input.rank_b);
    let mut found = Vec::new();
    let groups_a = found_a.chunk_by(|x, y| x.0 == y.0);
    let mut groups_b = found_b.chunk_by(|x, y| x.0 == y.0).peekable();
    for group_a in groups_a {
        while groups_b.peek().is_some_and(|group| group[0].0 < group_a[0].0) {
            groups_b.next();
        }
        let Some(group_b) = groups_b.peek().filter(|group| group[0].0 == group_a[0].0) else {
            continue;
        };
        if group_a.len() == group_b.len() && group_a.len() <= most {
            found.extend(group_a.iter().zip(*group_b).map(|(a, b)| (a.2, b.2)));
        }
    }
    found
}

/// Returns the fingerprints of nodes from the leaves up: of the node and its operands.
pub(crate) fn values(side: &Side, seeds: &[u64]) -> Vec<u64> {
    let mut hashes = vec![0; side.len()];
    for at in 0..side.len() {
        hashes[at] = match side.kinds[at].is_leaf() {
            true => seeds[at],
            false => {
                let operands = side.operands(at as u32).iter();
                operands.fold(side.labels[at], |hash, &of| mix(hash, hashes[of as usize])).max(1)
            }
        };
    }
    hashes
}

/// Returns the fingerprints of nodes from the result down: of the node and its users.
fn uses(side: &Side) -> Vec<u64> {
    let mut hashes = vec![0u64; side.len()];
    for (number, &root) in (1..).zip(&side.roots) {
        hashes[root as usize] = mix(3, number);
    }
    for at in (0..side.len()).rev() {
        let uses = side
            .users(at as u32)
            .iter()
            .map(|&(user, slot)| mix(mix(hashes[user as usize], slot.into()), side.label(user)));
        let context = uses.fold(hashes[at], u64::wrapping_add);
        hashes[at] = mix(context, side.labels[at]).max(1);
    }
    hashes
}

/// Returns the hash of the parameter or constant from which each node is computed by unary
/// operators; 0 for other nodes.
fn weights(side: &Side, seeds: &[u64]) -> Vec<u64> {
    let mut near = vec![0; side.len()];
    for at in 0..side.len() {
        near[at] = match side.kinds[at] {
            Kind::Param | Kind::FreeVar | Kind::Constant => seeds[at],
            Kind::Call | Kind::Proj => {
                let is_value = |of: &&u32| side.kind(**of) != Kind::Literal;
                let mut values = side.operands(at as u32).iter().filter(is_value);
                match (values.next(), values.next()) {
                    (Some(&only), None) => near[only as usize],
                    _ => 0,
                }
            }
            _ => 0,
        };
    }
    near
}

/// Returns hashes of the weights among the arguments of each call with at least two, and of the
/// operator if `by_operator`.
fn anchors(side: &Side, near: &[u64], by_operator: bool) -> Vec<u64> {
    let key = |at: usize| {
        let operands = side.operands(at as u32);
        if side.kinds[at] != Kind::Call || operands.len() < 2 {
            return 0;
        }
        let weights = operands.iter().map(|&of| near[of as usize]);
        match weights.fold(0u64, |sum, weight| sum.wrapping_add(weight)) {
            0 => 0,
            sum if by_operator => mix(sum, side.families[at]),
            sum => sum,
        }
    };
    (0..side.len()).map(key).collect()
}
