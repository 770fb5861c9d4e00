//! Variables: their levels, and the graph walks that find them.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::{Level, NodeId, Table, Term};
use crate::{
    DTypeTerm, Dim, DimVar, ParamId, ShapeTerm, ShapeVar, Symbol, Type, TypeVar,
    conflict::ConflictKind, info::Flags, map::for_each_part,
};

/// A variable of any kind, by its index in the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Var {
    /// A type, by its node.
    Type(u32),
    /// A shape.
    Shape(u32),
    /// A data type.
    DType(u32),
    /// A size.
    Dim(u32),
}

/// A set of variables in insertion order.
#[derive(Default, Debug)]
pub struct Vars {
    order: SmallVec<[Var; 8]>,
    /// The same variables if there are more than 8, and empty otherwise.
    set: FxHashSet<Var>,
}

impl Vars {
    /// Adds a variable. Returns true if it is new.
    pub fn add(&mut self, var: Var) -> bool {
        // Most types have one or two variables, for which a scan is faster than a hash set.
        let is_new = match self.order.len() < 8 {
            true => !self.order.contains(&var),
            false => {
                if self.set.is_empty() {
                    self.set.extend(self.order.iter().copied());
                }
                self.set.insert(var)
            }
        };
        if is_new {
            self.order.push(var);
        }
        is_new
    }

    /// Returns true if the variable has been added.
    pub fn contains(&self, var: Var) -> bool {
        match self.set.is_empty() {
            true => self.order.contains(&var),
            false => self.set.contains(&var),
        }
    }

    /// Returns the variables in insertion order.
    pub fn order(&self) -> &[Var] {
        &self.order
    }

    /// Returns true if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

impl<'a> Extend<&'a Var> for Vars {
    fn extend<I: IntoIterator<Item = &'a Var>>(&mut self, vars: I) {
        vars.into_iter().for_each(|&var| _ = self.add(var));
    }
}

impl<'a> FromIterator<&'a Var> for Vars {
    fn from_iter<I: IntoIterator<Item = &'a Var>>(vars: I) -> Vars {
        let mut all = Vars::default();
        all.extend(vars);
        all
    }
}

/// A variable or type parameter in a type.
enum Leaf {
    Node(NodeId),
    Var(Var),
    Param(ParamId),
}

impl Table {
    /// Returns the level of a variable.
    pub(crate) fn level_of(&self, var: Var) -> Level {
        match var {
            Var::Type(index) => match self.nodes[index as usize].term {
                Term::Var(level) => level,
                _ => Level::NEVER,
            },
            Var::Shape(index) => self.shapes.level(index),
            Var::DType(index) => self.dtypes.level(index),
            Var::Dim(index) => self.dims.level(index),
        }
    }

    /// Lowers the level of a variable to at most `level`.
    pub(super) fn lower(&mut self, var: Var, level: Level) {
        let own = match var {
            Var::Type(index) => match &mut self.nodes[index as usize].term {
                Term::Var(level) => level,
                _ => return,
            },
            Var::Shape(index) => self.shapes.level_mut(index),
            Var::DType(index) => self.dtypes.level_mut(index),
            Var::Dim(index) => self.dims.level_mut(index),
        };
        *own = (*own).min(level);
    }

    /// Adds the variables in the type of `node` that are not older than `level` to `vars`, in
    /// preorder.
    pub fn free_vars(&mut self, node: NodeId, level: Level, vars: &mut Vars) {
        // Fast path: runs for every argument of a waiting relation, and most types are leaves.
        let root = self.find(node);
        match &self.at(root).term {
            Term::Var(own) => {
                if *own >= level {
                    vars.add(Var::Type(root.index));
                }
                return;
            }
            Term::Leaf(ty) if !ty.flags().has(Flags::VAR.or(Flags::PART)) => return,
            _ => {}
        }
        self.walk(root, |table, leaf| {
            if let Leaf::Var(var) = leaf
                && table.level_of(var) >= level
            {
                vars.add(var);
            }
            Ok(())
        })
        .unwrap_or_default();
    }

    /// Lowers the levels of the variables in the type of `node` to at most `level`.
    pub fn lower_all(&mut self, node: NodeId, level: Level) {
        self.walk(node, |table, leaf| {
            if let Leaf::Var(var) = leaf {
                table.lower(var, level);
            }
            Ok(())
        })
        .unwrap_or_default();
    }

    /// Prepares binding the variable `var` of `level` to `node`: lowers the levels of the variables
    /// in the type of `node`. Fails if the type contains `var` (the occurs check) or a type
    /// parameter that would escape. `var` is a representative.
    pub(super) fn adjust(
        &mut self,
        var: NodeId,
        level: Level,
        node: NodeId,
    ) -> Result<(), ConflictKind> {
        match &self.at(node).term {
            Term::Leaf(ty) if !ty.flags().has(Flags::VAR.or(Flags::PART).or(Flags::PARAM)) => {
                return Ok(());
            }
            Term::Var(own) => {
                let older = level.min(*own);
                self.at_mut(node).term = Term::Var(older);
                return Ok(());
            }
            _ => {}
        }
        let has_rigid = !self.rigid.is_empty();
        self.walk(node, |table, leaf| {
            match leaf {
                Leaf::Node(node) if node == var => return Err(ConflictKind::Infinite),
                Leaf::Node(_) => {}
                Leaf::Var(var) => table.lower(var, level),
                Leaf::Param(param) => {
                    if has_rigid && table.rigid.get(&param).is_some_and(|own| *own > level) {
                        return Err(match table.rigid_param(node, param) {
                            Some(param) => ConflictKind::Escape(param),
                            None => ConflictKind::Form,
                        });
                    }
                }
            }
            Ok(())
        })
    }

    /// Returns the parameter with identity `id` in the type of `node`.
    fn rigid_param(&self, node: NodeId, id: ParamId) -> Option<crate::Param> {
        let mut found = None;
        let _unchanged = self.resolve(node).rename_params(&mut |param| {
            if param.id() == id {
                found = Some(param.clone());
            }
            None
        });
        found
    }

    /// Visits the nodes, variables and type parameters of a type in preorder, each node once.
    /// Iterative, because terms may nest as deeply as bindings.
    fn walk(
        &mut self,
        node: NodeId,
        mut visit: impl FnMut(&mut Table, Leaf) -> Result<(), ConflictKind>,
    ) -> Result<(), ConflictKind> {
        self.walk += 1;
        let walk = self.walk;
        let mut stack: SmallVec<[NodeId; 16]> = SmallVec::from_slice(&[node]);
        while let Some(node) = stack.pop() {
            let root = self.find(node);
            if std::mem::replace(&mut self.at_mut(root).seen, walk) == walk {
                continue;
            }
            visit(self, Leaf::Node(root))?;
            let before = stack.len();
            match &self.at(root).term {
                Term::Var(_) => {
                    visit(self, Leaf::Var(Var::Type(root.index)))?;
                    continue;
                }
                Term::Tuple(parts) | Term::Adt(_, parts) => stack.extend_from_slice(parts),
                Term::Func(func) => {
                    stack.extend_from_slice(&func.params);
                    stack.push(func.ret);
                }
                Term::Ref(inner) | Term::Index(_, inner) => stack.push(*inner),
                Term::Leaf(ty) => {
                    let flags = Flags::VAR.or(Flags::PART).or(Flags::PARAM);
                    if !ty.flags().has(flags) {
                        continue;
                    }
                    let ty = ty.clone();
                    let mut result = Ok(());
                    for_each_part(&ty, flags, &mut |leaf| {
                        self.leaves(leaf, &mut |table, leaf| match leaf {
                            Leaf::Node(node) => stack.push(node),
                            leaf if result.is_ok() => result = visit(table, leaf),
                            _ => {}
                        });
                    });
                    result?;
                }
            }
            stack[before..].reverse();
        }
        Ok(())
    }

    /// Visits the variables and parameters of a leaf type.
    fn leaves(&mut self, leaf: &Type, visit: &mut impl FnMut(&mut Table, Leaf)) {
        match leaf {
            Type::Var(TypeVar(node)) => visit(self, Leaf::Node(*node)),
            Type::Param(param) => visit(self, Leaf::Param(param.id())),
            Type::Tensor(tensor) => self.leaves_of_dims(&tensor.shape, visit),
            Type::OpenTensor(open) => {
                match self.shape(&open.shape) {
                    ShapeTerm::Var(ShapeVar(var)) => visit(self, Leaf::Var(Var::Shape(var))),
                    ShapeTerm::Param(param) => visit(self, Leaf::Param(param.id())),
                    ShapeTerm::Dims(dims) => self.leaves_of_dims(&dims, visit),
                    ShapeTerm::Bound(_) | ShapeTerm::Unknown => {}
                }
                match self.dtype(&open.dtype) {
                    DTypeTerm::Var(var) => visit(self, Leaf::Var(Var::DType(var.0))),
                    DTypeTerm::Param(param) => visit(self, Leaf::Param(param.id())),
                    DTypeTerm::Known(_) | DTypeTerm::Bound(_) | DTypeTerm::Unknown => {}
                }
            }
            _ => {}
        }
    }

    fn leaves_of_dims(&mut self, dims: &[Dim], visit: &mut impl FnMut(&mut Table, Leaf)) {
        let mut found: SmallVec<[Leaf; 4]> = SmallVec::new();
        for dim in dims {
            self.dim(dim).for_each_leaf(&mut |leaf| match leaf {
                Dim::Var(DimVar(var)) => found.push(Leaf::Var(Var::Dim(*var))),
                Dim::Symbol(symbol) => {
                    if let Symbol::Param(param) = &**symbol {
                        found.push(Leaf::Param(param.id()));
                    }
                }
                _ => {}
            });
        }
        found.into_iter().for_each(|leaf| visit(self, leaf));
    }
}
