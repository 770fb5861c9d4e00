//! Union-find for variables of shapes, sizes and data types.

use std::cell::Cell;

use super::Level;
use crate::{DTypeTerm, Dim, ShapeTerm};

/// A value that is possibly a variable.
pub(super) trait Value {
    /// Returns the index of the variable.
    fn open(&self) -> Option<u32>;
}

impl Value for ShapeTerm {
    fn open(&self) -> Option<u32> {
        match self {
            ShapeTerm::Var(var) => Some(var.0),
            _ => None,
        }
    }
}

impl Value for DTypeTerm {
    fn open(&self) -> Option<u32> {
        match self {
            DTypeTerm::Var(var) => Some(var.0),
            _ => None,
        }
    }
}

impl Value for Dim {
    fn open(&self) -> Option<u32> {
        match self {
            Dim::Var(var) => Some(var.0),
            _ => None,
        }
    }
}

/// Returns the representative of `index`, with path compression: every element on the path points
/// to it afterwards.
pub(super) fn root<'p>(index: u32, parent: impl Fn(u32) -> &'p Cell<u32>) -> u32 {
    let mut root = parent(index).get();
    loop {
        let next = parent(root).get();
        if next == root {
            break;
        }
        root = next;
    }
    let mut at = index;
    while at != root {
        at = parent(at).replace(root);
    }
    root
}

#[derive(Clone, Debug)]
struct Part<T> {
    /// The parent in the union-find forest. A cell, so that lookups can compress paths.
    parent: Cell<u32>,
    value: Option<T>,
    level: Level,
}

impl<T> Part<T> {
    fn open(index: u32, level: Level) -> Part<T> {
        Part { parent: Cell::new(index), value: None, level }
    }
}

/// The variables of one kind.
#[derive(Debug)]
pub(super) struct Parts<T>(Vec<Part<T>>);

impl<T> Default for Parts<T> {
    fn default() -> Parts<T> {
        Parts(Vec::new())
    }
}

impl<T: Value> Parts<T> {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Creates a variable and returns its index.
    pub(super) fn fresh(&mut self, level: Level) -> u32 {
        let index = self.0.len() as u32;
        self.0.push(Part::open(index, level));
        index
    }

    /// Returns the representative of `index`.
    pub(super) fn root(&self, index: u32) -> u32 {
        root(index, |at| &self.0[at as usize].parent)
    }

    /// Returns the value of the representative of `index`.
    pub(super) fn value(&self, index: u32) -> Option<&T> {
        self.0[self.root(index) as usize].value.as_ref()
    }

    /// Returns true if the variable has neither a value nor another representative.
    pub(super) fn is_open(&self, index: u32) -> bool {
        let part = &self.0[index as usize];
        part.value.is_none() && part.parent.get() == index
    }

    /// Binds an open variable to a value or to another variable.
    pub(super) fn set(&mut self, index: u32, value: T) {
        match value.open() {
            Some(other) if self.root(other) == index => {}
            Some(other) => self.0[index as usize].parent.set(other),
            None => self.0[index as usize].value = Some(value),
        }
    }

    /// Removes the binding of a variable.
    pub(super) fn reopen(&mut self, index: u32, level: Level) {
        self.0[index as usize] = Part::open(index, level);
    }

    pub(super) fn level(&self, index: u32) -> Level {
        self.0[index as usize].level
    }

    pub(super) fn level_mut(&mut self, index: u32) -> &mut Level {
        &mut self.0[index as usize].level
    }
}
