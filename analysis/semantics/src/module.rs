//! What a module defines, as inference wants to know it.

use rustc_hash::FxHashMap;
use syntax::{Node, TextRange, ast, ast::AstNode};
use types::{FuncType, Type, TypeParam};

use crate::{
    body::{Name, Problem, TypeUse},
    lower::lower_type_def,
};

/// An algebraic data type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adt {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<TypeParam>,
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

    /// A constructor as a function.
    pub fn constructor_type(&self, constructor: &Constructor) -> FuncType {
        FuncType {
            type_params: self.params.clone().into(),
            params: constructor.fields.clone().into(),
            ret: self.own_type(),
            constraints: [].into(),
        }
    }
}

/// The data types of a module and of the prelude behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleTypes {
    adts: FxHashMap<Name, Adt>,
    /// Constructors to their data type and position.
    constructors: FxHashMap<Name, (Name, usize)>,
}

impl ModuleTypes {
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
        self.adts.get(name)
    }

    /// The constructor called `name`, with its data type.
    pub fn constructor(&self, name: &str) -> Option<(&Adt, &Constructor)> {
        let (adt, at) = self.constructors.get(name)?;
        let adt = self.adts.get(adt)?;
        adt.constructors.get(*at).map(|constructor| (adt, constructor))
    }

    /// Every data type.
    pub fn adts(&self) -> impl Iterator<Item = &Adt> {
        self.adts.values()
    }

    /// The names of all constructors.
    pub fn constructor_names(&self) -> impl Iterator<Item = &Name> {
        self.constructors.keys()
    }
}
