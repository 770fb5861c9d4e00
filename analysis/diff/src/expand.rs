//! Expansions of which one call is paired: `nn.layer_norm` and the `add` at the end of its expansion.
//!
//! The pairing is one to one. Where a pass replaces an operator by several, one of these may have the same weights,
//! and becomes its partner; the others, which compute the operands of that one, have none.

use crate::{
    flat::Side,
    graph::{Kind, NONE},
    matching::{Input, Pairing},
};

/// An operator call and its expansion.
pub(crate) struct Expansion {
    /// The paired calls before and after.
    pub(crate) pair: (u32, u32),
    /// The unpaired nodes that belong to the second call, or, if `is_after` is false, to the first one.
    pub(crate) nodes: Vec<u32>,
    /// True if the several calls are after.
    pub(crate) is_after: bool,
}

/// Returns the expansions around the pairs of different operators, each with at most `most` nodes without a partner.
pub(crate) fn expansions(input: &Input<'_>, pairing: &Pairing, most: usize) -> Vec<Expansion> {
    let (a, b) = (input.a, input.b);
    let mut found = Vec::new();
    for at_a in 0..a.len() as u32 {
        let Some(at_b) = pairing.b(at_a) else { continue };
        let is_call = a.kind(at_a) == Kind::Call && b.kind(at_b) == Kind::Call;
        if !is_call || a.family(at_a) == b.family(at_b) {
            continue;
        }
        let after = Sides { one: a, several: b, partners: &pairing.to_a };
        let before = Sides { one: b, several: a, partners: &pairing.to_b };
        let pair = (at_a, at_b);
        let sides =
            [(after.nodes(at_a, at_b, most), true), (before.nodes(at_b, at_a, most), false)];
        // If both calls have nodes of their own, neither is the expansion of the other.
        if let [(Some(nodes), is_after), (None, _)] | [(None, _), (Some(nodes), is_after)] = sides {
            found.push(Expansion { pair, nodes, is_after });
        }
    }
    found
}

/// The side of an operator, and that of its expansion.
struct Sides<'s> {
    one: &'s Side,
    several: &'s Side,
    /// The partners of the nodes of `several`.
    partners: &'s [u32],
}

impl Sides<'_> {
    /// Returns the unpaired nodes that compute the operands of `end` from those of `operator`.
    ///
    /// Each of them is used by the expansion alone. Unary calls one after another are insertions, such as a cast and a
    /// change of the layout, and no expansion.
    fn nodes(&self, operator: u32, end: u32, most: usize) -> Option<Vec<u32>> {
        let is_free =
            |at: u32| self.partners[at as usize] == NONE && !self.several.kind(at).is_leaf();
        let mut nodes: Vec<u32> = Vec::new();
        let mut inputs: Vec<u32> = Vec::new();
        let mut stack = vec![end];
        // Of an operator, and of `most` calls that replace it; a wide tuple is none of these.
        let most_inputs = most * 4;
        // The stack grows by the operands of the nodes found, whose number is limited.
        while let Some(at) = stack.pop() {
            for &of in self.several.operands(at) {
                if !is_free(of) {
                    if inputs.len() == most_inputs {
                        return None;
                    }
                    inputs.push(of);
                } else if !nodes.contains(&of) {
                    if nodes.len() == most {
                        return None;
                    }
                    nodes.push(of);
                    stack.push(of);
                }
            }
        }
        let is_own = |at: u32| at == end || nodes.contains(&at);
        let is_inserted =
            |&at: &u32| self.several.operands(at).len() == 1 && self.several.users(at).len() == 1;
        let is_input = |&at: &u32| {
            let partner = self.partners[at as usize];
            matches!(self.several.kind(at), Kind::Literal | Kind::Constant)
                || partner != NONE && self.one.operands(operator).contains(&partner)
        };
        let is_closed =
            nodes.iter().all(|&at| self.several.users(at).iter().all(|&(user, _)| is_own(user)));
        let is_expansion = nodes.iter().any(|&at| self.several.kind(at) == Kind::Call)
            && !nodes.iter().all(is_inserted)
            && is_closed
            && inputs.iter().all(is_input);
        is_expansion.then_some(nodes)
    }
}
