//! Operators that a project declares, those of a compiler that was built from TVM.
//!
//! ```toml
//! [operators."vendor.topk"]
//! args = ["data"]
//! same-as = 0
//! ```

use std::{collections::BTreeMap, sync::Arc};

use types::Type;

use crate::{lower::printed_type, module::ModuleTypes};

/// An operator that a project declares.
#[derive(Clone, PartialEq, Debug)]
pub struct DeclaredOperator {
    /// The names of its arguments; `None` if it takes any number of arguments.
    pub args: Option<Vec<String>>,
    /// The type of its result.
    pub result: DeclaredResult,
}

/// The type of the result of a declared operator.
#[derive(Clone, PartialEq, Debug)]
pub enum DeclaredResult {
    /// The type in the comment after the call.
    Comment,
    /// The type of an argument.
    SameAs(usize),
    /// A type.
    Type(Type),
}

impl DeclaredResult {
    /// Parses a type without names of a module: `Tensor[(2, ?), float32]`.
    pub fn of_type(text: &str) -> Option<DeclaredResult> {
        // A wrong type has errors or another text.
        let ty = printed_type(text).filter(|ty| ty.is_closed() && !ty.has_error())?;
        if !ModuleTypes::over_prelude(true).knows(&ty) {
            return None;
        }
        let spaces = |text: &str| text.split_whitespace().collect::<String>();
        (spaces(&ty.to_string()) == spaces(text)).then_some(DeclaredResult::Type(ty))
    }
}

impl DeclaredOperator {
    /// Returns its signature: `(data, k) -> the type of data`.
    pub fn signature(&self) -> String {
        let args = self.args.as_ref().map_or("…".to_owned(), |args| args.join(", "));
        let result = match &self.result {
            DeclaredResult::Comment => "the type in the comment".to_owned(),
            DeclaredResult::SameAs(index) => {
                let name = self.args.as_ref().and_then(|args| args.get(*index));
                let argument = || format!("argument {}", index + 1);
                format!("the type of {}", name.cloned().unwrap_or_else(argument))
            }
            DeclaredResult::Type(ty) => ty.to_string(),
        };
        format!("({args}) -> {result}")
    }
}

/// The operators that a project declares.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct DeclaredOperators(Arc<BTreeMap<String, DeclaredOperator>>);

impl DeclaredOperators {
    /// Adds an operator.
    pub fn insert(&mut self, name: String, operator: DeclaredOperator) {
        Arc::make_mut(&mut self.0).insert(name, operator);
    }

    /// Returns the operator of a name.
    pub fn get(&self, name: &str) -> Option<&DeclaredOperator> {
        self.0.get(name)
    }

    /// Returns the operators, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &DeclaredOperator)> {
        self.0.iter().map(|(name, operator)| (name.as_str(), operator))
    }
}
