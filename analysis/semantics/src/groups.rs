//! Definitions that are inferred together.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::{
    db::Db,
    infer::Inference,
    item::{Def, DefKind, Module},
    queries::{
        DbEnv, base_inference, body, closed_signature, global_uses, group_of, infer_together,
    },
};

/// The definitions of a module whose headers leave something out, in groups that need each other.
#[salsa::tracked(returns(ref))]
pub(crate) fn groups<'db>(db: &'db dyn Db, module: Module<'db>) -> Vec<Vec<Def<'db>>> {
    let open: Vec<Def<'db>> = module
        .items(db)
        .iter()
        .copied()
        .filter(|def| def.kind(db) == DefKind::Fn && def.occurrence(db) == 0)
        .filter(|&def| closed_signature(db, def).is_none())
        .collect();
    let index: FxHashMap<&str, usize> =
        open.iter().enumerate().map(|(i, def)| (def.name(db).as_str(), i)).collect();
    let edges: Vec<Vec<usize>> = open
        .iter()
        .map(|&def| {
            global_uses(db, def)
                .iter()
                .filter_map(|name| index.get(name.as_str()).copied())
                .collect()
        })
        .collect();
    components(&edges)
        .into_iter()
        .map(|component| component.into_iter().map(|i| open[i]).collect())
        .collect()
}

/// Strongly connected components, without recursion.
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

/// The definitions of a module that give references and are generalised but for what these hold, and
/// those whose types depend on them, in groups that are generalised together, each after those that
/// it needs. What `def @cell() { ref(Nil) }` holds is of one type for all that use it.
#[salsa::tracked(returns(ref))]
fn weak_cluster<'db>(db: &'db dyn Db, module: Module<'db>) -> Vec<Vec<Def<'db>>> {
    let computes = |def: &Def<'db>| matches!(def.kind(db), DefKind::Fn | DefKind::Expr);
    let is_weak = |def: &Def<'db>| {
        let may_be = def.kind(db) == DefKind::Fn
            && closed_signature(db, *def).is_none()
            && body(db, *def).header().is_some_and(|header| header.params.is_empty());
        may_be && base_inference(db, *def).weak
    };
    let items: Vec<Def<'db>> = module.items(db).iter().copied().filter(computes).collect();
    let mut members: Vec<Def<'db>> = items.iter().copied().filter(is_weak).collect();
    if members.is_empty() {
        return Vec::new();
    }
    // Those that use a member, and those that are inferred with one.
    let mut next = 0;
    while let Some(&member) = members.get(next) {
        next += 1;
        let with = group_of(db, member).unwrap_or_default();
        let open = closed_signature(db, member).is_none();
        let users = items
            .iter()
            .copied()
            .filter(|user| open && global_uses(db, *user).binary_search(member.name(db)).is_ok());
        for more in with.into_iter().chain(users) {
            if !members.contains(&more) {
                members.push(more);
            }
        }
    }
    let index: FxHashMap<&str, usize> = members
        .iter()
        .enumerate()
        .filter(|(_, def)| closed_signature(db, **def).is_none())
        .map(|(i, def)| (def.name(db).as_str(), i))
        .collect();
    let edges: Vec<Vec<usize>> = members
        .iter()
        .map(|&def| {
            let uses = global_uses(db, def).iter();
            uses.filter_map(|name| index.get(name.as_str()).copied()).collect()
        })
        .collect();
    components(&edges)
        .into_iter()
        .map(|component| component.into_iter().map(|i| members[i]).collect())
        .collect()
}

/// The types of the definitions of [`weak_cluster`].
#[salsa::tracked(returns(ref))]
pub(crate) fn infer_cluster<'db>(db: &'db dyn Db, module: Module<'db>) -> Vec<Arc<Inference>> {
    let cluster = weak_cluster(db, module);
    let defs = cluster.concat();
    let Some(&first) = defs.first() else { return Vec::new() };
    let mut count = 0;
    let numbers = cluster.iter().map(|group| {
        count += group.len();
        (count - group.len()..count).collect()
    });
    let groups: Vec<Vec<usize>> = numbers.collect();
    let env = DbEnv::new(db, first, &defs);
    infer_together(db, &defs, &groups, true, &env)
}

/// The number of a definition among those of [`weak_cluster`], if it is one of them.
pub(crate) fn place_in_cluster<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    def: Def<'db>,
) -> Option<usize> {
    weak_cluster(db, module).iter().flatten().position(|member| *member == def)
}
