//! What a module defines, as inference wants to know it.

use rustc_hash::FxHashMap;
use syntax::{Node, TextRange, ast, ast::AstNode};
use types::{FuncType, Type, TypeParam};

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

    /// Whether the two have the same constructors with the same fields.
    fn has_form_of(&self, other: &Adt) -> bool {
        let form = |adt: &Adt| -> Vec<String> {
            // Parameters by their position: their names do not matter.
            let mut subst = types::Substitution::default();
            for (i, param) in adt.params.iter().enumerate() {
                let name = format!("{i}").into();
                let stand_in = TypeParam { name, ..param.clone() };
                subst.types.insert(param.id, Type::Param(stand_in));
            }
            let fields = |constructor: &Constructor| -> Vec<String> {
                let types = constructor.fields.iter();
                types.map(|ty| types::substitute(ty, &subst).to_string()).collect()
            };
            let constructors = adt.constructors.iter();
            let mut form: Vec<String> =
                constructors.map(|c| format!("{}({})", c.name, fields(c).join(", "))).collect();
            form.sort();
            form
        };
        self.params.len() == other.params.len() && form(self) == form(other)
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
    /// The prelude's data types are seen where the module has none of the name.
    sees_prelude: bool,
}

impl ModuleTypes {
    /// Whether every data type in `ty` is defined. TVM's own handle for memory, `Storage`, is none
    /// that a module defines.
    pub fn knows(&self, ty: &Type) -> bool {
        match ty {
            Type::Adt(adt) => {
                (adt.name == "Storage" || self.adt(&adt.name).is_some())
                    && adt.args.iter().all(|ty| self.knows(ty))
            }
            Type::Tuple(fields) => fields.iter().all(|ty| self.knows(ty)),
            Type::Func(func) => {
                func.params.iter().all(|ty| self.knows(ty)) && self.knows(&func.ret)
            }
            Type::Ref(inner) => self.knows(inner),
            Type::Tensor(_) | Type::OpenTensor(_) | Type::Param(_) | Type::Var(_) | Type::Error => {
                true
            }
        }
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
        match ty {
            Type::Adt(adt) => {
                let same = self.adts.get(&adt.name).is_none_or(|own| {
                    let theirs = prelude::types_of(&adt.name).adts.get(&adt.name);
                    theirs.is_none_or(|theirs| own.has_form_of(theirs))
                });
                same && adt.args.iter().all(|ty| self.stands_for_prelude(ty))
            }
            Type::Tuple(fields) => fields.iter().all(|ty| self.stands_for_prelude(ty)),
            Type::Func(func) => {
                let mut parts = func.params.iter().chain([&func.ret]);
                parts.all(|ty| self.stands_for_prelude(ty))
            }
            Type::Ref(inner) => self.stands_for_prelude(inner),
            _ => true,
        }
    }
}
