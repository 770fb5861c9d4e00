//! Documentation of completions, rendered when the client resolves an entry rather than for the
//! whole list.

use semantics::{Db, SourceFile, module_types, modules};

use crate::{goto::type_def_named, hover, markdown::code_block};

/// The subject of a completion, by which its documentation is found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lookup {
    /// The name of an operator.
    Operator(String),
    /// The names of an operator and of one of its attributes.
    Attribute(String, String),
    /// The name of a global, with its `@`.
    Global(String),
    /// The name of a constructor.
    Constructor(String),
    /// The name of a data type.
    Type(String),
}

/// Returns the documentation of a completion as Markdown. In a file of several modules, the first
/// one that declares the name is used.
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
