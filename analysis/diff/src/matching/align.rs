//! Sequence alignment of nodes in the order of evaluation.

use super::{Input, Pairing};
use crate::{
    flat::Side,
    graph::{NONE, mix},
};

/// The maximal number of table cells of an alignment in total. A cell costs a few operations.
pub(super) const CELLS: usize = 24 << 20;
/// The maximal number of cells of one table.
const TABLE: usize = 4 << 20;

/// Pairs unpaired nodes of equal families between the same pairs, so that the total similarity is
/// maximal and no two pairs cross.
pub(super) fn align(input: &Input<'_>, pairing: &mut Pairing) {
    let all = |side: &Side| -> Vec<u32> {
        (0..side.len() as u32).filter(|&at| !side.kind(at).is_leaf()).collect()
    };
    let mut cells = CELLS;
    between(input, pairing, &all(input.a), &all(input.b), 0, &mut cells);
}

/// Aligns two lists of nodes in the gaps between existing pairs. `depth` is the number of attempts to
/// split a large gap by keys, which is at most two.
fn between(
    input: &Input<'_>,
    pairing: &mut Pairing,
    a: &[u32],
    b: &[u32],
    depth: u32,
    cells: &mut usize,
) {
    let mut place_b = vec![NONE; input.b.len()];
    for (at, &id) in (0..).zip(b) {
        place_b[id as usize] = at;
    }
    let pairs: Vec<(u32, u32)> = (0..)
        .zip(a)
        .filter_map(|(at, &id)| Some((at, place_b[pairing.b(id)? as usize])))
        .filter(|&(_, at)| at != NONE)
        .collect();
    drop(place_b);
    let (mut from_a, mut from_b) = (0, 0);
    let ends = ascending(&pairs).into_iter().chain([(a.len() as u32, b.len() as u32)]);
    for (end_a, end_b) in ends {
        let (end_a, end_b) = (end_a as usize, end_b as usize);
        let gap_a: Vec<u32> = a[from_a..end_a]
            .iter()
            .copied()
            .filter(|&at| pairing.to_b[at as usize] == NONE)
            .collect();
        let gap_b: Vec<u32> = b[from_b..end_b]
            .iter()
            .copied()
            .filter(|&at| pairing.to_a[at as usize] == NONE)
            .collect();
        (from_a, from_b) = (end_a + 1, end_b + 1);
        if gap_a.is_empty() || gap_b.is_empty() {
            continue;
        }
        let size = gap_a.len() * gap_b.len();
        if size > TABLE && depth < 2 {
            split(input, pairing, &gap_a, &gap_b, depth);
            between(input, pairing, &gap_a, &gap_b, depth + 1, cells);
        } else {
            table(input, pairing, &gap_a, &gap_b, cells);
        }
    }
}

/// Splits two large gaps: pairs nodes that are equal including their neighbours, in order.
fn split(input: &Input<'_>, pairing: &mut Pairing, a: &[u32], b: &[u32], depth: u32) {
    let key = |side: &Side, types: &[u64], at: u32| {
        let mut key = mix(side.label(at), types[at as usize]);
        if depth == 0 {
            for &of in side.operands(at) {
                key = mix(key, side.family(of));
            }
            let users = side.users(at).iter();
            key = mix(key, users.fold(0, |sum, (user, _)| sum.wrapping_add(side.family(*user))));
        }
        key
    };
    let mut keys_a = vec![0; input.a.len()];
    let mut keys_b = vec![0; input.b.len()];
    for &at in a {
        keys_a[at as usize] = key(input.a, &input.types_a, at).max(1);
    }
    for &at in b {
        keys_b[at as usize] = key(input.b, &input.types_b, at).max(1);
    }
    super::by_key(input, pairing, &keys_a, &keys_b);
}

/// Returns the longest subsequence of `pairs`, whose first elements are increasing, in which the
/// second elements increase, too.
fn ascending(pairs: &[(u32, u32)]) -> Vec<(u32, u32)> {
    // For each length, the last pair of the subsequence that ends lowest; for each pair, its
    // predecessor.
    let mut ends: Vec<usize> = Vec::new();
    let mut before = vec![usize::MAX; pairs.len()];
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < pair.1);
        if length > 0 {
            before[at] = ends[length - 1];
        }
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut found = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(pair) = at {
        found.push(pairs[pair]);
        at = Some(before[pair]).filter(|&pair| pair != usize::MAX);
    }
    found.reverse();
    found
}

/// Returns the similarity of two unpaired nodes, 0 for nodes of different families.
pub(super) fn similarity(input: &Input<'_>, pairing: &Pairing, a: u32, b: u32) -> u32 {
    let (side_a, side_b) = (input.a, input.b);
    if side_a.family(a) != side_b.family(b) {
        return 0;
    }
    let mut score = 4;
    if side_a.label(a) == side_b.label(b) {
        score += 3;
    }
    if input.types_a[a as usize] == input.types_b[b as usize] {
        score += 2;
    }
    for (&of_a, &of_b) in side_a.operands(a).iter().zip(side_b.operands(b)) {
        let is_same = match (side_a.kind(of_a).is_leaf(), side_b.kind(of_b).is_leaf()) {
            (true, true) => input.seeds_a[of_a as usize] == input.seeds_b[of_b as usize],
            (false, false) => pairing.b(of_a) == Some(of_b),
            _ => false,
        };
        if is_same {
            score += 3;
        } else if side_a.family(of_a) == side_b.family(of_b) {
            score += 1;
        }
    }
    let is_user = |&(user, slot): &(u32, u32)| {
        pairing.b(user).is_some_and(|user| side_b.users(b).contains(&(user, slot)))
    };
    // The number of users is bounded, because a constant may have hundreds.
    if side_b.users(b).len() <= 16 && side_a.users(a).iter().take(16).any(is_user) {
        score += 3;
    }
    score
}

/// Aligns two gaps by dynamic programming, restricted to a band around the diagonal if the table
/// would be too large.
fn table(input: &Input<'_>, pairing: &mut Pairing, a: &[u32], b: &[u32], cells: &mut usize) {
    let (rows, columns) = (a.len(), b.len());
    let most = TABLE.min(*cells) / rows.max(1);
    let slope = columns.div_ceil(rows);
    if most < slope + 2 {
        return;
    }
    let width = most.min(columns);
    *cells -= width * rows;
    let first = |row: usize| {
        let middle = row * columns / rows;
        middle.saturating_sub(width / 2).min(columns - width)
    };
    // The scores of the best alignments of the remaining nodes, and their first steps.
    let mut next = vec![0u32; columns + 1];
    let mut steps = vec![0u8; width * rows];
    for row in (0..rows).rev() {
        let start = first(row);
        let mut own = vec![0u32; columns + 1];
        own[start + width..].copy_from_slice(&next[start + width..]);
        for column in (start..start + width).rev() {
            let score = similarity(input, pairing, a[row], b[column]);
            let take = if score > 0 { next[column + 1] + score } else { 0 };
            let best = take.max(own[column + 1]).max(next[column]);
            own[column] = best;
            steps[row * width + column - start] = match best {
                best if score > 0 && best == take => 2,
                best if best == own[column + 1] => 1,
                _ => 0,
            };
        }
        next = own;
    }
    let (mut row, mut column) = (0, 0);
    while row < rows && column < columns {
        let start = first(row);
        if column < start {
            column = start;
            continue;
        }
        if column >= start + width {
            row += 1;
            continue;
        }
        match steps[row * width + column - start] {
            2 => {
                pairing.add(a[row], b[column]);
                row += 1;
                column += 1;
            }
            1 => column += 1,
            _ => row += 1,
        }
    }
}
