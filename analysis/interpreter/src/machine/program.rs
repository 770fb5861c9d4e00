//! The definitions and constants that code refers to by number.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use semantics::{Db, Def, Module, SourceFile, View, infer::MetaEntry, metadata::Metadata};
use smol_str::SmolStr;

use crate::{
    code::Proc,
    compile::{Link, compile},
    fault::{Fault, FaultKind},
    value::{Tensor, Value},
};

/// Definitions, compiled when they are called first, and constants, decoded when they are used
/// first.
pub(super) struct Program<'db> {
    pub(super) db: &'db dyn Db,
    globals: Vec<(Def<'db>, Option<Arc<Proc>>)>,
    numbers: FxHashMap<Def<'db>, u32>,
    constants: Vec<(Arc<Metadata>, SmolStr, u32, Option<Value>)>,
    constant_numbers: FxHashMap<(usize, SmolStr, u32), u32>,
    /// The file whose definitions say what their variables are bound to.
    observed: Option<SourceFile>,
}

impl<'db> Program<'db> {
    pub(super) fn new(db: &'db dyn Db) -> Program<'db> {
        Program {
            db,
            globals: Vec::new(),
            numbers: FxHashMap::default(),
            constants: Vec::new(),
            constant_numbers: FxHashMap::default(),
            observed: None,
        }
    }

    /// The number of a definition.
    pub(super) fn number(&mut self, def: Def<'db>) -> u32 {
        let next = self.globals.len() as u32;
        let number = *self.numbers.entry(def).or_insert(next);
        if number == next {
            self.globals.push((def, None));
        }
        number
    }

    /// The code of a definition.
    pub(super) fn proc(&mut self, number: u32) -> Result<Arc<Proc>, Fault> {
        let Some((def, proc)) = self.globals.get(number as usize) else {
            return Err(Fault::new(FaultKind::Missing, "there is no such definition"));
        };
        if let Some(proc) = proc {
            return Ok(proc.clone());
        }
        let proc = self.compile(*def)?;
        self.globals[number as usize].1 = Some(proc.clone());
        Ok(proc)
    }

    /// Chooses the file whose definitions say what their variables are bound to.
    pub(super) fn observe(&mut self, file: Option<SourceFile>) {
        if self.observed != file {
            self.observed = file;
            self.globals.iter_mut().for_each(|(_, proc)| *proc = None);
        }
    }

    /// Makes the code of a definition.
    pub(super) fn compile(&mut self, def: Def<'db>) -> Result<Arc<Proc>, Fault> {
        let observed = self.observed == Some(def.file(self.db));
        let Some(view) = View::new(self.db, def) else {
            return Err(Fault::new(FaultKind::Missing, "there is no such definition"));
        };
        let metadata = semantics::metadata(self.db, view.module);
        let mut scope = Scope { module: view.module, metadata, program: self };
        Ok(compile(&view, &mut scope, observed))
    }

    /// A constant of a metadata section.
    pub(super) fn constant(&mut self, number: u32) -> Result<Value, Fault> {
        let Some((metadata, key, index, known)) = self.constants.get_mut(number as usize) else {
            return Err(Fault::new(FaultKind::Missing, "there is no such constant"));
        };
        if let Some(value) = known {
            return Ok(value.clone());
        }
        let tensor = match metadata.constant(key, *index) {
            MetaEntry::Found(constant) => {
                let size = |dim: &types::Dim| usize::try_from(dim.as_known()?).ok();
                let shape: Option<Vec<usize>> = constant.ty.shape.iter().map(size).collect();
                shape.and_then(|shape| {
                    Tensor::from_le_bytes(constant.ty.dtype, &shape, &constant.data)
                })
            }
            _ => None,
        };
        match tensor {
            Some(tensor) => {
                let value = Value::from(tensor);
                *known = Some(value.clone());
                Ok(value)
            }
            None => Err(Fault::new(
                FaultKind::Missing,
                format!("`meta[{key}][{index}]` is not a tensor that could be read"),
            )),
        }
    }
}

/// What the definitions of a module refer to.
struct Scope<'p, 'db> {
    module: Module<'db>,
    metadata: Option<Arc<Metadata>>,
    program: &'p mut Program<'db>,
}

impl Link for Scope<'_, '_> {
    fn global(&mut self, name: &str) -> Option<u32> {
        let (def, _) = semantics::global(self.program.db, self.module, name)?;
        (def.kind(self.program.db) == semantics::DefKind::Fn).then(|| self.program.number(def))
    }

    fn constant(&mut self, key: &str, index: u32) -> Option<u32> {
        let metadata = self.metadata.clone()?;
        let MetaEntry::Found(_) = metadata.constant_type(key, index) else { return None };
        let id = (Arc::as_ptr(&metadata) as usize, SmolStr::new(key), index);
        let next = self.program.constants.len() as u32;
        let number = *self.program.constant_numbers.entry(id).or_insert(next);
        if number == next {
            self.program.constants.push((metadata, key.into(), index, None));
        }
        Some(number)
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_deref()
    }
}
