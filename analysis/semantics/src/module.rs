//! What a module defines, as inference wants to know it.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use syntax::{Node, TextRange, ast, ast::AstNode};
use types::{Param, Type};

use crate::{
    body::{Name, Problem, TypeUse},
    lower::lower_type_def,
    prelude,
};

/// An algebraic data type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adt {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its constructors, in order.
    pub constructors: Vec<Constructor>,
    /// `extern type T`
    pub is_extern: bool,
    /// It comes from the prelude.
    pub from_prelude: bool,
}

/// A constructor of an algebraic data type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constructor {
    /// Its name.
    pub name: Name,
    /// The types of its fields, over the parameters of the data type.
    pub fields: Vec<Type>,
    /// The constructor as a function over those parameters.
    pub ty: Type,
    /// Where the name stands, counted from the start of the definition.
    pub range: TextRange,
}

/// A type definition, with what is wrong with it on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeDef {
    /// The data type.
    pub adt: Adt,
    /// Type names that it uses.
    pub uses: Vec<TypeUse>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

impl TypeDef {
    /// Reads a type definition.
    pub fn of(node: Node<'_>) -> Option<TypeDef> {
        ast::TypeDef::cast(node).map(lower_type_def)
    }
}

impl Adt {
    /// The type of the data type applied to its own parameters.
    pub fn own_type(&self) -> Type {
        Type::adt(self.name.clone(), self.params.iter().cloned().map(Type::Param))
    }

    /// Returns true if the two have the same constructors with the same fields.
    fn has_form_of(&self, other: &Adt) -> bool {
        let form = |adt: &Adt| -> BTreeMap<Name, Type> {
            adt.constructors.iter().map(|c| (c.name.clone(), c.ty.clone())).collect()
        };
        self.params.len() == other.params.len() && form(self) == form(other)
    }
}

/// The data types of a module and of the prelude behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleTypes {
    adts: FxHashMap<Name, Adt>,
    /// Constructors to their data type and position.
    constructors: FxHashMap<Name, (Name, usize)>,
    /// The prelude's data types are seen where the module has none of the name.
    sees_prelude: bool,
}

impl ModuleTypes {
    /// Returns true if every data type in `ty` is defined. TVM's own handle for memory, `Storage`,
    /// is one that no module defines.
    pub fn knows(&self, ty: &Type) -> bool {
        all_adts(ty, |name| name == "Storage" || self.adt(name).is_some())
    }

    /// No data types but the prelude's, if they are seen.
    pub fn over_prelude(sees_prelude: bool) -> ModuleTypes {
        ModuleTypes { sees_prelude, ..ModuleTypes::default() }
    }

    /// Adds a data type, unless one of its name is there already.
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

    /// The data type called `name`.
    pub fn adt(&self, name: &str) -> Option<&Adt> {
        self.adts.get(name).or_else(|| {
            let behind = self.sees_prelude.then(|| prelude::types_of(name));
            behind.and_then(|types| types.adts.get(name))
        })
    }

    /// The constructor called `name`, with its data type.
    pub fn constructor(&self, name: &str) -> Option<(&Adt, &Constructor)> {
        self.own_constructor(name).or_else(|| {
            let behind = self.sees_prelude.then(|| prelude::types_of(name));
            let found = behind.and_then(|types| types.own_constructor(name));
            // Where the module has its own `List`, the prelude's `Cons` makes none of it.
            found.filter(|(adt, _)| !self.adts.contains_key(&adt.name))
        })
    }

    /// The position of the constructor called `name` among those of its data type.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        let own = self.constructors.get(name).or_else(|| {
            let behind = self.sees_prelude.then(|| prelude::types_of(name));
            behind.and_then(|types| types.constructors.get(name))
        });
        own.map(|(_, position)| *position)
    }

    fn own_constructor(&self, name: &str) -> Option<(&Adt, &Constructor)> {
        let (adt, at) = self.constructors.get(name)?;
        let adt = self.adts.get(adt)?;
        adt.constructors.get(*at).map(|constructor| (adt, constructor))
    }

    /// Every data type, but for the prelude's tensor arrays.
    pub fn adts(&self) -> impl Iterator<Item = &Adt> {
        let behind = self.sees_prelude.then(|| prelude::file(0).types.adts.values());
        let hidden = |adt: &&Adt| !self.adts.contains_key(&adt.name);
        self.adts.values().chain(behind.into_iter().flatten().filter(hidden))
    }

    /// The names of all constructors, but for the prelude's tensor arrays.
    pub fn constructor_names(&self) -> impl Iterator<Item = &Name> {
        self.adts().flat_map(|adt| &adt.constructors).map(|constructor| &constructor.name)
    }

    /// Whether the module has data types of its own, of the same form, in the place of those of
    /// the prelude that `ty` names. What the prelude does with a `List` it does with any type of
    /// that name and form, and with no other.
    pub fn stands_for_prelude(&self, ty: &Type) -> bool {
        all_adts(ty, |name| {
            self.adts.get(name).is_none_or(|own| {
                let theirs = prelude::types_of(name).adts.get(name);
                theirs.is_none_or(|theirs| own.has_form_of(theirs))
            })
        })
    }
}

/// Returns true if `holds` is true of the name of every data type in `ty`.
fn all_adts(ty: &Type, mut holds: impl FnMut(&str) -> bool) -> bool {
    let mut all = true;
    types::for_each_part(ty, types::Flags::ADT, &mut |part| {
        if let Type::Adt(adt) = part {
            all = all && holds(adt.name());
        }
    });
    all
}
