//! Relations over size parameters, which become constraints unless they hold for all sizes.
//!
//! ```text
//! def @f<n : ShapeVar>(%x: Tensor[(n), float32]) { reshape(nn.relu(%x), newshape=[2, 2]) }
//! ```
//!
//! `nn.relu` holds for every `n`, and `reshape` for 4: it is checked again at each call.

use rustc_hash::FxHashMap;
use types::{Kind, Param, RelationId, RelationKey, State, Type, holds_for_all_sizes};

use super::Infer;

impl Infer<'_> {
    /// Returns the relations from number `first` on that hold for the size parameters among `params`
    /// and not for every size: they become constraints.
    pub(super) fn relations_over_sizes(&self, first: usize, params: &[Param]) -> Vec<RelationId> {
        let is_size = |param: &Param| param.kind() == Kind::ShapeVar;
        if !params.iter().any(is_size) {
            return Vec::new();
        }
        let solved: Vec<RelationId> = self
            .relations_from(first)
            .filter(|&id| self.solver.entry(id).state == State::Solved)
            .collect();
        self.without_those_of_all_sizes(&solved, params)
    }

    /// Returns true if a relation that holds for size parameters may not hold for some size.
    pub(super) fn depends_on_sizes(&self, id: RelationId, params: &[Param]) -> bool {
        let is_size = |param: &Param| param.kind() == Kind::ShapeVar;
        params.iter().any(is_size) && !self.without_those_of_all_sizes(&[id], params).is_empty()
    }

    /// Returns those of `relations` that are not known to hold for all sizes that `params` may be.
    pub(super) fn without_those_of_all_sizes(
        &self,
        relations: &[RelationId],
        params: &[Param],
    ) -> Vec<RelationId> {
        let sizes: Vec<Param> =
            params.iter().filter(|param| param.kind() == Kind::ShapeVar).cloned().collect();
        if sizes.is_empty() {
            return relations.to_vec();
        }
        // Repeated blocks have equal relations.
        let mut known: FxHashMap<(RelationKey, Vec<Type>), bool> = FxHashMap::default();
        let mut needed = Vec::new();
        for &id in relations {
            let entry = self.solver.entry(id);
            let types = self.solver.required_types(id);
            let mut uses: Vec<Param> = Vec::new();
            for ty in &types {
                let _same = ty.rename_params(&mut |param| {
                    if sizes.contains(param) && !uses.contains(param) {
                        uses.push(param.clone());
                    }
                    None
                });
            }
            if uses.is_empty() || !types.iter().all(Type::is_closed) {
                // A relation that is not solved waits for a type.
                if entry.state == State::Waiting {
                    needed.push(id);
                }
                continue;
            }
            let holds =
                *known.entry((entry.relation.key(), types)).or_insert_with_key(|(_, types)| {
                    holds_for_all_sizes(&entry.relation, entry.names, types, &uses)
                });
            if !holds {
                needed.push(id);
            }
        }
        needed
    }
}
