//! Pairing of the operands and users of pairs.

use super::{Input, Pairing, align::similarity};
use crate::{
    flat::Side,
    graph::{Kind, NONE},
};

/// Pairs operands and users of equal families in the same slots of pairs, skipping nodes that a pass
/// inserted in between.
///
/// Users that look alike, such as those of a mask in repeated blocks, come last: until then, their other
/// operands and users may tell them apart.
pub(super) fn spread(input: &Input<'_>, pairing: &mut Pairing) {
    let (a, b) = (input.a, input.b);
    let mut work: Vec<(u32, u32)> =
        (0..a.len() as u32).filter_map(|at| Some((at, pairing.b(at)?))).collect();
    let mut alike: Vec<(u32, u32)> = Vec::new();
    // Each round takes a pair from `work`, which gets each pair once, or pairs users, or drops a pair.
    loop {
        let Some((at_a, at_b)) = work.pop() else {
            let Some((at_a, at_b)) = alike.pop() else { break };
            if let Some(found) = user(input, pairing, at_a, at_b) {
                pairing.add(found.users.0, found.users.1);
                work.push(found.users);
                alike.push((at_a, at_b));
            }
            continue;
        };
        if a.kind(at_a) == b.kind(at_b) && a.operands(at_a).len() == b.operands(at_b).len() {
            let slots = a.operands(at_a).iter().zip(b.operands(at_b));
            for (&of_a, &of_b) in slots {
                if let Some(found) = operand(input, pairing, of_a, of_b) {
                    pairing.add(found.0, found.1);
                    work.push(found);
                }
            }
        }
        while let Some(found) = user(input, pairing, at_a, at_b) {
            if found.has_alike {
                alike.push((at_a, at_b));
                break;
            }
            pairing.add(found.users.0, found.users.1);
            work.push(found.users);
        }
    }
}

/// Returns the unpaired nodes of equal families that are two operands, or inputs of nodes inserted
/// before them.
fn operand(input: &Input<'_>, pairing: &Pairing, a: u32, b: u32) -> Option<(u32, u32)> {
    let same = |a: u32, b: u32| {
        let is_inner = !input.a.kind(a).is_leaf();
        is_inner && input.a.family(a) == input.b.family(b) && pairing.are_free(a, b)
    };
    if same(a, b) {
        return Some((a, b));
    }
    let (mut under_a, mut under_b) = (a, b);
    // A pass rarely inserts more than a cast and a layout change in one place.
    for _ in 0..3 {
        if let Some(next) = through(input.b, under_b).filter(|_| pairing.a(under_b).is_none()) {
            under_b = next;
            if same(a, under_b) {
                return Some((a, under_b));
            }
        }
        if let Some(next) = through(input.a, under_a).filter(|_| pairing.b(under_a).is_none()) {
            under_a = next;
            if same(under_a, b) {
                return Some((under_a, b));
            }
        }
    }
    None
}

/// The most similar users of a pair.
struct SimilarUsers {
    score: u32,
    users: (u32, u32),
    /// True if one of them is as similar to another user.
    has_alike: bool,
}

/// Returns the most similar unpaired users of a pair in the same slot, including users of unpaired
/// unary nodes in between.
fn user(input: &Input<'_>, pairing: &Pairing, a: u32, b: u32) -> Option<SimilarUsers> {
    let users_a = reached(input.a, &pairing.to_b, a);
    if users_a.is_empty() {
        return None;
    }
    let users_b = reached(input.b, &pairing.to_a, b);
    let mut best: Option<SimilarUsers> = None;
    for &(user_a, slot_a, far_a) in &users_a {
        for &(user_b, slot_b, far_b) in &users_b {
            if slot_a != slot_b {
                continue;
            }
            let similarity = similarity(input, pairing, user_a, user_b);
            let score = (similarity * 4).saturating_sub(far_a + far_b);
            match &mut best {
                _ if similarity == 0 => {}
                Some(best) if score < best.score => {}
                Some(best) if score == best.score => {
                    best.has_alike |= (best.users.0 == user_a) != (best.users.1 == user_b);
                }
                _ => {
                    let users = (user_a, user_b);
                    best = Some(SimilarUsers { score, users, has_alike: false });
                }
            }
        }
    }
    best
}

/// The maximal number of users of a node to visit. A constant may have hundreds.
const USERS: usize = 24;

/// Returns the unpaired users of a node with the slot and the number of nodes in between.
fn reached(side: &Side, partners: &[u32], at: u32) -> Vec<(u32, u32, u32)> {
    let mut found = Vec::new();
    let mut from = vec![(at, 0)];
    while let Some((node, far)) = from.pop() {
        for &(user, slot) in side.users(node).iter().take(USERS) {
            if partners[user as usize] != NONE || found.len() >= USERS {
                continue;
            }
            found.push((user, slot, far));
            if far < 3 && through(side, user).is_some() {
                from.push((user, far + 1));
            }
        }
    }
    found
}

/// Returns the operand of a unary call or projection.
pub(crate) fn through(side: &Side, at: u32) -> Option<u32> {
    match (side.kind(at), side.operands(at)) {
        (Kind::Call | Kind::Proj, &[only]) => Some(only),
        _ => None,
    }
}

/// Pairs unpaired calls of different operators between the same pairs: both an operand and a user of
/// the calls are paired.
pub(super) fn between(input: &Input<'_>, pairing: &mut Pairing) {
    let (a, b) = (input.a, input.b);
    for at_b in 0..b.len() as u32 {
        if pairing.a(at_b).is_some() || b.kind(at_b) != Kind::Call {
            continue;
        }
        let mut found = None;
        for &of_b in b.operands(at_b) {
            let Some(of_a) = pairing.a(of_b) else { continue };
            for &(at_a, _) in a.users(of_a).iter().take(16) {
                if pairing.b(at_a).is_none() && a.kind(at_a) == Kind::Call {
                    let is_user = |&(user, slot): &(u32, u32)| {
                        let user = pairing.a(user);
                        user.is_some_and(|user| a.users(at_a).contains(&(user, slot)))
                    };
                    let is_end = a.roots.contains(&at_a) && b.roots.contains(&at_b);
                    if is_end || b.users(at_b).iter().take(16).any(is_user) {
                        found = found.or(Some(at_a));
                    }
                }
            }
        }
        if let Some(at_a) = found {
            pairing.add(at_a, at_b);
        }
    }
}
