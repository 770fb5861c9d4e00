//! Groups of definitions that are inferred together, because each needs the types of the others:
//!
//! ```text
//! def @even(%n) { if (%n == 0) { True } else { @odd(%n - 1) } }
//! def @odd(%n) { if (%n == 0) { False } else { @even(%n - 1) } }
//! ```

use rustc_hash::FxHashMap;
use salsa::plumbing::AsId;

use super::definitions::{closed_signature, global_uses, has_typed_params};
use crate::{
    db::Db,
    item::{Def, DefKind, Module, module},
};

/// Some definitions of a module, by what they use of each other.
#[derive(PartialEq, salsa::SalsaValue)]
pub(crate) struct Groups<'db> {
    /// The strongly connected components, dependencies first.
    pub(crate) members: Vec<Vec<Def<'db>>>,
    /// The number of the group of each definition, and its index in the group.
    places: FxHashMap<salsa::Id, (u32, u32)>,
}

impl<'db> Groups<'db> {
    /// Returns the groups of the functions of a module that satisfy `is_member`, without duplicates.
    fn of(
        db: &'db dyn Db,
        module: Module<'db>,
        is_member: impl Fn(Def<'db>) -> bool,
    ) -> Groups<'db> {
        let defs = module.items(db).iter().copied();
        let defs: Vec<Def<'db>> = defs
            .filter(|def| def.kind(db) == DefKind::Fn && def.occurrence(db) == 0)
            .filter(|&def| is_member(def))
            .collect();
        let members = components_of(db, &defs, |_| true);
        let mut places = FxHashMap::default();
        for (number, group) in (0..).zip(&members) {
            places.extend((0..).zip(group).map(|(at, def)| (def.as_id(), (number, at))));
        }
        Groups { members, places }
    }

    /// Returns the group of a definition, and its index there. A duplicate definition has none.
    pub(super) fn place(&self, def: Def<'db>) -> Option<(&[Def<'db>], u32)> {
        let &(number, at) = self.places.get(&def.as_id())?;
        Some((self.members.get(number as usize)?, at))
    }
}

/// The groups of the definitions of a module with incomplete headers.
#[salsa::tracked(returns(ref))]
pub(crate) fn groups<'db>(db: &'db dyn Db, module: Module<'db>) -> Groups<'db> {
    Groups::of(db, module, |def| closed_signature(db, def).is_none())
}

/// The groups of all functions of a module.
#[salsa::tracked(returns(ref))]
pub(crate) fn call_groups<'db>(db: &'db dyn Db, module: Module<'db>) -> Groups<'db> {
    Groups::of(db, module, |_| true)
}

/// Returns the strongly connected components of definitions, dependencies first. `is_named` is true for a definition
/// on which those that use its name depend.
pub(super) fn components_of<'db>(
    db: &'db dyn Db,
    defs: &[Def<'db>],
    is_named: impl Fn(Def<'db>) -> bool,
) -> Vec<Vec<Def<'db>>> {
    let named = defs.iter().enumerate().filter(|(_, def)| is_named(**def));
    let index: FxHashMap<&str, usize> = named.map(|(i, def)| (def.name(db).as_str(), i)).collect();
    let edges = defs.iter().map(|&def| {
        let uses = global_uses(db, def).iter();
        uses.filter_map(|name| index.get(name.as_str()).copied()).collect()
    });
    let found = components(&edges.collect::<Vec<_>>()).into_iter();
    found.map(|component| component.into_iter().map(|i| defs[i]).collect()).collect()
}

/// Returns the strongly connected components, without recursion.
fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let count = edges.len();
    let (mut index, mut low) = (vec![usize::MAX; count], vec![0; count]);
    let mut on_stack = vec![false; count];
    let (mut stack, mut next) = (Vec::new(), 0);
    let mut found = Vec::new();
    for root in 0..count {
        if index[root] != usize::MAX {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some(&mut (node, ref mut edge)) = path.last_mut() {
            if *edge == 0 {
                index[node] = next;
                low[node] = next;
                next += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(&to) = edges[node].get(*edge) {
                *edge += 1;
                if index[to] == usize::MAX {
                    path.push((to, 0));
                } else if on_stack[to] {
                    low[node] = low[node].min(index[to]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == index[node] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    component.push(member);
                    if member == node {
                        break;
                    }
                }
                component.sort_unstable();
                found.push(component);
            }
        }
    }
    found
}

fn place_in_groups<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<(&'db [Def<'db>], u32)> {
    groups(db, module(db, def.file(db), def.module(db))?).place(def)
}

/// Returns the first definition of the group that a definition is inferred with, and the index of
/// the definition in the group; `None` if it is inferred alone.
///
/// Inference depends on this instead of [`groups`], so that a change of another group does not
/// invalidate it, and the members of a group are stored once.
#[salsa::tracked(returns(copy))]
pub(crate) fn group_of<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<(Def<'db>, u32)> {
    if def.kind(db) != DefKind::Fn || closed_signature(db, def).is_some() {
        return None;
    }
    let Some((group, at)) = place_in_groups(db, def) else {
        // A duplicate definition is a group of its own.
        return (!has_typed_params(db, def)).then_some((def, 0));
    };
    let recursive = group.len() > 1 || global_uses(db, def).contains(def.name(db));
    (recursive || !has_typed_params(db, def)).then_some((*group.first()?, at))
}

/// Returns the members of the group with the first member `first`; empty if it is not a first
/// member.
#[salsa::tracked(returns(ref))]
pub(crate) fn group_members<'db>(db: &'db dyn Db, first: Def<'db>) -> Vec<Def<'db>> {
    match group_of(db, first) {
        Some((leader, 0)) if leader == first => match place_in_groups(db, first) {
            Some((group, _)) => group.to_vec(),
            None => vec![first],
        },
        _ => Vec::new(),
    }
}
