//! Documentation of an entry, made when it is looked at.

use semantics::{Db, SourceFile, module_types, modules};

use crate::{goto::type_def_named, hover, markdown::code_block};

/// What an entry is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lookup {
    /// An operator.
    Operator(String),
    /// An attribute of an operator.
    Attribute(String, String),
    /// `@f`
    Global(String),
    /// A constructor.
    Constructor(String),
    /// A type.
    Type(String),
}

/// The documentation of an entry as markdown. A file of several modules answers from the first
/// that knows the name.
pub fn documentation(db: &dyn Db, file: SourceFile, lookup: &Lookup) -> Option<String> {
    match lookup {
        Lookup::Operator(name) => {
            let operator = operators::find(name)?;
            Some(hover::operator_page(operator))
        }
        Lookup::Attribute(operator, name) => {
            let operator = operators::find(operator)?;
            let field = operator.schema?.field(name)?;
            Some(hover::operator::of_attribute(operator, field, None))
        }
        Lookup::Global(name) => modules(db, file).iter().find_map(|&module| {
            let (def, from_prelude) = semantics::global(db, module, name)?;
            Some(hover::of_global(db, def, from_prelude))
        }),
        Lookup::Constructor(name) => modules(db, file).iter().find_map(|&module| {
            let types = module_types(db, module);
            let (adt, _) = types.constructor(name)?;
            let def = type_def_named(db, module, &adt.name)?;
            Some(format!("constructor of\n{}", code_block(&def.node(db).to_string())))
        }),
        Lookup::Type(name) => modules(db, file).iter().find_map(|&module| {
            let def = type_def_named(db, module, name)?;
            Some(code_block(&def.node(db).to_string()))
        }),
    }
}
