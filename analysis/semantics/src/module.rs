//! The data types of a module.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::Node;
use types::{AdtType, Type};

use crate::{
    adt::{Adt, Constructor},
    body::Name,
    lower::lower_type_def,
    prelude,
};

/// The data types of a module and of the prelude.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleTypes {
    adts: FxHashMap<Name, Adt>,
    /// The data type and the position of each constructor.
    constructors: FxHashMap<Name, (Name, usize)>,
    /// Set if the data types of the prelude are in scope, where the module does not shadow them.
    sees_prelude: bool,
}

impl ModuleTypes {
    /// Returns true if all data types in `ty` are defined, or TVM's memory handle `Storage`.
    pub fn knows(&self, ty: &Type) -> bool {
        all_adts(ty, |adt| {
            let known = self.adt(adt.name());
            adt.name() == "Storage" || known.is_some_and(|known| known.takes(adt.args()))
        })
    }

    /// Returns an empty module, with the data types of the prelude in scope or not.
    pub fn over_prelude(sees_prelude: bool) -> ModuleTypes {
        ModuleTypes { sees_prelude, ..ModuleTypes::default() }
    }

    /// Adds a data type. Returns false if the name is already defined.
    pub fn add(&mut self, adt: Adt) -> bool {
        if self.adts.contains_key(&adt.name) {
            return false;
        }
        for (i, constructor) in adt.constructors.iter().enumerate() {
            self.constructors
                .entry(constructor.name.clone())
                .or_insert_with(|| (adt.name.clone(), i));
        }
        self.adts.insert(adt.name.clone(), adt);
        true
    }

    /// Returns the data type called `name`.
    pub fn adt(&self, name: &str) -> Option<&Adt> {
        self.adts.get(name).or_else(|| self.prelude_of(name)?.adts.get(name))
    }

    /// Returns the types of the file of the prelude that may define `name`.
    fn prelude_of(&self, name: &str) -> Option<&'static ModuleTypes> {
        self.sees_prelude.then(|| types_of_prelude(name))
    }

    /// Returns the constructor called `name`, with its data type.
    pub fn constructor(&self, name: &str) -> Option<(&Adt, &Constructor)> {
        self.own_constructor(name).or_else(|| {
            let found = self.prelude_of(name)?.own_constructor(name);
            // If the module defines `List`, the `Cons` of the prelude is out of scope.
            found.filter(|(adt, _)| !self.adts.contains_key(&adt.name))
        })
    }

    /// Returns the position of the constructor called `name` in its data type.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        let own = self.constructors.get(name);
        let found = own.or_else(|| self.prelude_of(name)?.constructors.get(name));
        found.map(|(_, position)| *position)
    }

    fn own_constructor(&self, name: &str) -> Option<(&Adt, &Constructor)> {
        let (adt, at) = self.constructors.get(name)?;
        let adt = self.adts.get(adt)?;
        adt.constructors.get(*at).map(|constructor| (adt, constructor))
    }

    /// Returns all data types except the tensor arrays of the prelude.
    pub fn adts(&self) -> impl Iterator<Item = &Adt> {
        let prelude = self.sees_prelude.then(|| types_of_file(0).adts.values());
        let hidden = |adt: &&Adt| !self.adts.contains_key(&adt.name);
        self.adts.values().chain(prelude.into_iter().flatten().filter(hidden))
    }

    /// Returns true if a value of a type may be a function, or have one in it.
    pub(crate) fn may_hold_functions(&self, ty: &Type) -> bool {
        if let Type::Tensor(_) | Type::OpenTensor(_) = ty {
            return false;
        }
        let mut holds = false;
        let mut names: Vec<Name> = Vec::new();
        types::for_each_part(ty, types::Flags::ALL, &mut |part| match part {
            Type::Func(_) | Type::Param(_) | Type::Bound(_) => holds = true,
            Type::Var(_) | Type::Hole | Type::Error => holds = true,
            Type::Adt(adt) => names.push(adt.name().clone()),
            _ => {}
        });
        // Each data type is visited once.
        let mut seen: FxHashSet<Name> = FxHashSet::default();
        while let Some(name) = names.pop().filter(|_| !holds) {
            let Some(adt) = self.adt(&name).filter(|_| seen.insert(name)) else { continue };
            for field in adt.constructors.iter().flat_map(|constructor| &constructor.fields) {
                // Its parameters stand for arguments, which are parts of `ty`.
                types::for_each_part(field, types::Flags::ALL, &mut |part| match part {
                    Type::Func(_) => holds = true,
                    Type::Adt(adt) => names.push(adt.name().clone()),
                    _ => {}
                });
            }
        }
        holds
    }

    /// Returns true if the module redefines the data types of the prelude in `ty` with the same
    /// constructors. The functions of the prelude on `List` accept such a redefinition, and no
    /// other.
    pub fn redefines_prelude(&self, ty: &Type) -> bool {
        all_adts(ty, |adt| {
            let name = adt.name();
            self.adts.get(name).is_none_or(|own| {
                let theirs = types_of_prelude(name).adts.get(name);
                theirs.is_none_or(|theirs| own.has_same_constructors(theirs))
            })
        })
    }
}

/// Returns the data types of the file of the prelude that would define `name`, a data type or a
/// constructor.
fn types_of_prelude(name: &str) -> &'static ModuleTypes {
    types_of_file(prelude::file_of(name))
}

/// Returns the data types of a file of the prelude, which are lowered on first use.
fn types_of_file(number: usize) -> &'static ModuleTypes {
    static TYPES: [OnceLock<ModuleTypes>; prelude::COUNT] =
        [const { OnceLock::new() }; prelude::COUNT];
    TYPES[number].get_or_init(|| {
        let mut types = ModuleTypes::default();
        let parse = prelude::parse(number);
        for def in Node::root(&parse.green).children().filter_map(lower_type_def) {
            types.add(Adt { from_prelude: true, ..def.adt });
        }
        types
    })
}

/// Returns true if `holds` is true for all data types in `ty`.
fn all_adts(ty: &Type, mut holds: impl FnMut(&AdtType) -> bool) -> bool {
    let mut all = true;
    types::for_each_part(ty, types::Flags::ADT, &mut |part| {
        if let Type::Adt(adt) = part {
            all = all && holds(adt);
        }
    });
    all
}
