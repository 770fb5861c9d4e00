//! The definitions and constants that code refers to by numbers.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use semantics::{Db, Def, Module, SourceFile, View, infer::MetaEntry, metadata::Metadata};
use smol_str::SmolStr;
use syntax::TextRange;

use crate::{
    code::Proc,
    compile::{Linker, TraceLevel, compile},
    fault::{Fault, FaultKind},
    tensor::Tensor,
    value::Value,
};

/// Definitions, compiled on their first call, and constants, decoded on their first use.
pub(super) struct Program<'db> {
    pub(super) db: &'db dyn Db,
    globals: Vec<(Def<'db>, Option<Arc<Proc>>)>,
    numbers: FxHashMap<Def<'db>, u32>,
    constants: Vec<Constant>,
    constant_numbers: FxHashMap<(usize, SmolStr, u32), u32>,
    /// The file whose variables are reported to the observer.
    observed: Option<(SourceFile, TraceLevel)>,
    /// The ranges of the errors at which runs stop, and their file.
    errors: Option<(SourceFile, Vec<TextRange>)>,
}

/// The position of a constant and, once decoded, its value.
type Constant = (Arc<Metadata>, SmolStr, u32, Option<Value>);

impl<'db> Program<'db> {
    pub(super) fn new(db: &'db dyn Db) -> Program<'db> {
        Program {
            db,
            globals: Vec::new(),
            numbers: FxHashMap::default(),
            constants: Vec::new(),
            constant_numbers: FxHashMap::default(),
            observed: None,
            errors: None,
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
            return Err(Fault::new(FaultKind::Missing, "unknown definition"));
        };
        if let Some(proc) = proc {
            return Ok(proc.clone());
        }
        let proc = self.compile(*def)?;
        self.globals[number as usize].1 = Some(proc.clone());
        Ok(proc)
    }

    /// Chooses the file whose variables are reported to the observer.
    pub(super) fn observe(&mut self, observed: Option<(SourceFile, TraceLevel)>) {
        if self.observed != observed {
            self.observed = observed;
            self.globals.iter_mut().for_each(|(_, proc)| *proc = None);
        }
    }

    /// Stops runs at the errors of a file.
    pub(super) fn stop_at(&mut self, file: SourceFile, errors: Vec<TextRange>) {
        self.errors = Some((file, errors));
        self.globals.iter_mut().for_each(|(_, proc)| *proc = None);
    }

    /// Compiles a definition.
    pub(super) fn compile(&mut self, def: Def<'db>) -> Result<Arc<Proc>, Fault> {
        let file = def.file(self.db);
        let tracing = self.observed.filter(|(of, _)| *of == file).map(|(_, tracing)| tracing);
        let Some(view) = View::new(self.db, def) else {
            return Err(Fault::new(FaultKind::Missing, "unknown definition"));
        };
        let metadata = semantics::metadata(self.db, view.module);
        let errors = self.errors.take();
        let own = errors.iter().find(|(of, _)| *of == file);
        let ranges = own.map_or(&[][..], |(_, ranges)| ranges);
        let mut scope = Scope { module: view.module, metadata, program: self };
        let proc = compile(&view, &mut scope, tracing, ranges);
        self.errors = errors;
        Ok(proc)
    }

    /// A constant of a metadata section that is still encoded; `None` once it is [`known`].
    ///
    /// [`known`]: Program::known
    pub(super) fn constant(&self, number: u32) -> Result<Option<EncodedConstant>, Fault> {
        let (metadata, key, index, known) = self.entry(number)?;
        Ok(known.is_none().then(|| EncodedConstant {
            metadata: metadata.clone(),
            key: key.clone(),
            index: *index,
        }))
    }

    /// A constant that has been decoded.
    pub(super) fn known(&self, number: u32) -> Result<Value, Fault> {
        self.entry(number)?.3.clone().ok_or_else(no_constant)
    }

    /// Stores a decoded constant.
    pub(super) fn keep(&mut self, number: u32, value: Value) {
        if let Some((.., known)) = self.constants.get_mut(number as usize) {
            *known = Some(value);
        }
    }

    fn entry(&self, number: u32) -> Result<&Constant, Fault> {
        self.constants.get(number as usize).ok_or_else(no_constant)
    }
}

impl Drop for Program<'_> {
    /// Drops the weights of a network in the background.
    fn drop(&mut self) {
        let constants = std::mem::take(&mut self.constants);
        if !constants.is_empty() {
            rayon::spawn(move || drop(constants));
        }
    }
}

fn no_constant() -> Fault {
    Fault::new(FaultKind::Missing, "unknown constant")
}

/// A constant of a metadata section.
pub(super) struct EncodedConstant {
    metadata: Arc<Metadata>,
    key: SmolStr,
    index: u32,
}

impl EncodedConstant {
    /// The number of elements.
    pub(super) fn len(&self) -> u64 {
        let MetaEntry::Found(ty) = self.metadata.constant_type(&self.key, self.index) else {
            return 0;
        };
        let Some(ty) = ty.as_tensor() else { return 0 };
        ty.elements().unwrap_or(0)
    }

    pub(super) fn decode(&self) -> Result<Value, Fault> {
        let tensor = match self.metadata.constant(&self.key, self.index) {
            MetaEntry::Found(constant) => {
                let shape: Option<Vec<usize>> = constant.ty.lengths();
                shape.and_then(|shape| {
                    Tensor::from_le_bytes(constant.ty.dtype, &shape, &constant.data)
                })
            }
            _ => None,
        };
        tensor.map(Value::from).ok_or_else(|| {
            let (key, index) = (&self.key, self.index);
            let message = format!("`meta[{key}][{index}]` is not a readable tensor");
            Fault::new(FaultKind::Missing, message)
        })
    }
}

/// Resolves the references of a module's definitions.
struct Scope<'p, 'db> {
    module: Module<'db>,
    metadata: Option<Arc<Metadata>>,
    program: &'p mut Program<'db>,
}

impl Linker for Scope<'_, '_> {
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
