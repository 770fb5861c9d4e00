//! The values of the variables of a body.

use semantics::body::{BinderId, Body, UnitId};

use crate::graph::{NONE, NodeId};

/// The value of each variable of each unit.
pub(super) struct Variables {
    values: Vec<NodeId>,
    /// The index of the first variable of each unit.
    starts: Vec<u32>,
}

impl Variables {
    pub(super) fn new(body: &Body) -> Variables {
        let counts = body.units.iter().map(|unit| unit.binders.len() as u32);
        let starts = counts.scan(0, |sum, count| Some(std::mem::replace(sum, *sum + count)));
        let count = body.units.iter().map(|unit| unit.binders.len()).sum();
        Variables { starts: starts.collect(), values: vec![NONE; count] }
    }

    fn at(&self, unit: UnitId, binder: BinderId) -> usize {
        self.starts[unit.index()] as usize + binder.index()
    }

    pub(super) fn get(&self, unit: UnitId, binder: BinderId) -> NodeId {
        self.values[self.at(unit, binder)]
    }

    pub(super) fn set(&mut self, unit: UnitId, binder: BinderId, node: NodeId) {
        let at = self.at(unit, binder);
        self.values[at] = node;
    }
}
