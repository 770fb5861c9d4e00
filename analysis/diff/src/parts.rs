//! Connected unpaired nodes.

use crate::{
    flat::Side,
    graph::{Kind, NONE},
    matching::through,
};

/// A connected component of unpaired nodes of one side.
pub(crate) struct Part {
    pub(crate) nodes: Vec<u32>,
    pub(crate) calls: Vec<u32>,
    /// The calls of several operands.
    core: Vec<u32>,
}

impl Part {
    /// Returns the calls of two parts of which one replaces the other, if one of them has a single call.
    ///
    /// Otherwise, of the parts `nn.layer_norm`, `nn.dropout` and seven calls without `nn.dropout`, the first has a single
    /// call of several operands: a pass that expands operators also removes those that do nothing.
    pub(crate) fn expansion<'p>(a: &'p Part, b: &'p Part) -> Option<(&'p [u32], &'p [u32])> {
        match (a.calls.len(), b.calls.len()) {
            (0, _) | (_, 0) => None,
            (1, _) | (_, 1) => Some((&a.calls, &b.calls)),
            _ => match (a.core.len(), b.core.len()) {
                (1, 2..) => Some((&a.core, &b.calls)),
                (2.., 1) => Some((&a.calls, &b.core)),
                _ => None,
            },
        }
    }
}

/// Returns the connected components of unpaired nodes.
pub(crate) fn parts(side: &Side, partners: &[u32]) -> Vec<Part> {
    let is_free = |at: u32| partners[at as usize] == NONE && !side.kind(at).is_leaf();
    let mut seen = vec![false; side.len()];
    let mut found = Vec::new();
    for start in 0..side.len() as u32 {
        if seen[start as usize] || !is_free(start) {
            continue;
        }
        let mut part = Part { nodes: Vec::new(), calls: Vec::new(), core: Vec::new() };
        let mut stack = vec![start];
        seen[start as usize] = true;
        while let Some(at) = stack.pop() {
            part.nodes.push(at);
            let users = side.users(at).iter().map(|(user, _)| *user);
            for next in side.operands(at).iter().copied().chain(users) {
                if is_free(next) && !seen[next as usize] {
                    seen[next as usize] = true;
                    stack.push(next);
                }
            }
        }
        part.nodes.sort_unstable();
        part.calls = part.nodes.iter().copied().filter(|&at| side.kind(at) == Kind::Call).collect();
        part.core = part.calls.iter().copied().filter(|&at| through(side, at).is_none()).collect();
        found.push(part);
    }
    found
}
