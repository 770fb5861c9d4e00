//! The parameters of the Python functions that create calls: `relay.nn.pad(data, pad_width, pad_value=0)`.
//!
//! A column of the table. Most functions have the arguments and then the attributes of the operator as parameters;
//! the column of the others lists their parameters:
//!
//! ```text
//! "data pad_width pad_value/pad_val=0 pad_mode"
//! ```
//!
//! `pad_value/pad_val` is the parameter `pad_value` with the meaning of `pad_val`, and `=0` a default that the text of
//! a call has to write. The names, orders and defaults are those of TVM 0.14.

use types::AttrField;

use crate::{Operator, find, named};

/// A parameter of a Python function.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its meaning in a call.
    pub meaning: Meaning,
    /// The default that a call in Relay has to write, as Relay writes it, without quotes.
    pub default: Option<&'static str>,
}

/// The meaning of a parameter in a call.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// An argument, by position.
    Argument(usize),
    /// An attribute.
    Attribute(&'static AttrField),
}

impl Operator {
    /// Returns the parameters in the order of Python, at most one for each argument and attribute.
    pub fn python_parameters(&self) -> Vec<Parameter> {
        if self.python.is_empty() {
            return self.plain_parameters();
        }
        self.python.split_whitespace().filter_map(|column| self.parameter_of(column)).collect()
    }

    /// Returns the arguments and then the attributes, in the order of the table.
    pub fn plain_parameters(&self) -> Vec<Parameter> {
        let arguments = self.args.iter().enumerate();
        let arguments = arguments.map(|(at, name)| (*name, Meaning::Argument(at)));
        let fields = self.declared_or_detached();
        let attributes = fields.iter().map(|field| (field.name, Meaning::Attribute(field)));
        let parameters = arguments.chain(attributes);
        parameters.map(|(name, meaning)| Parameter { name, meaning, default: None }).collect()
    }

    /// Returns what the name of a parameter or an attribute means. An attribute comes before an argument of the same
    /// name: the `start` of `arange` is both.
    pub fn named_parameter(&self, name: &str) -> Option<Parameter> {
        let own = |meaning| Some(Parameter { name: "", meaning, default: None });
        if let Some(field) = self.declared_or_detached().iter().find(|field| field.name == name) {
            return own(Meaning::Attribute(field));
        }
        if let Some(at) = self.args.iter().position(|argument| *argument == name) {
            return own(Meaning::Argument(at));
        }
        self.python_parameters().into_iter().find(|parameter| parameter.name == name)
    }

    /// Returns the length of a list that a number stands for, one for each spatial axis: two for the `pool_size` of
    /// `nn.max_pool2d`; one if the name has no number of axes.
    pub fn spatial_axes(&self) -> usize {
        match self.name {
            name if name.contains("2d") => 2,
            name if name.contains("3d") => 3,
            _ => 1,
        }
    }

    fn declared_or_detached(&self) -> &'static [AttrField] {
        self.schema.map_or(&[], |schema| schema.fields)
    }

    /// Returns a parameter from its text in the column.
    fn parameter_of(&self, column: &'static str) -> Option<Parameter> {
        let (names, default) = match column.split_once('=') {
            Some((names, default)) => (names, Some(default)),
            None => (column, None),
        };
        let (name, own) = names.split_once('/').unwrap_or((names, names));
        let field = self.declared_or_detached().iter().find(|field| field.name == own);
        let argument = || self.args.iter().position(|argument| *argument == own);
        let meaning = match field {
            Some(field) => Meaning::Attribute(field),
            None => Meaning::Argument(argument()?),
        };
        Some(Parameter { name, meaning, default })
    }
}

/// The modules before the name of a function of Python: `tvm.relay.op.nn.relu`, `relay.op.tensor.add`.
const MODULES: &[&str] = &[
    "tvm",
    "relay",
    "op",
    "_op",
    "_make",
    "expr",
    "_expr",
    "nn",
    "_nn",
    "tensor",
    "transform",
    "reduce",
    "algorithm",
];

/// Returns the name of a function of Python without its modules: `const` for `relay.const`; `None` if there are none.
pub fn without_modules(name: &str) -> Option<&str> {
    let mut bare = name;
    while let Some((module, rest)) = bare.split_once('.')
        && MODULES.contains(&module)
    {
        bare = rest;
    }
    (bare != name).then_some(bare)
}

/// Returns the operator that Python code calls by a name whose module it imported: `softmax` for `nn.softmax`.
pub fn of_module(name: &str) -> Option<&'static Operator> {
    // The names of constructors, which are looked up often, begin with a capital letter.
    let is_candidate = name.starts_with(|first: char| first.is_ascii_lowercase());
    if is_candidate && !name.contains('.') { find(&format!("nn.{name}")) } else { None }
}

/// Returns the operator that Python code calls by `name`: `relay.exp`, `op.nn.relu`, `nn.sum`; `None` for the name
/// of an operator, and for one without a module.
pub fn in_python(name: &str) -> Option<&'static Operator> {
    if named(name).is_some() {
        return None;
    }
    let mut bare = name;
    while let Some((module, rest)) = bare.split_once('.')
        && MODULES.contains(&module)
    {
        bare = rest;
        if let Some(operator) = find(bare) {
            return Some(operator);
        }
    }
    match bare.strip_prefix("qnn.op.") {
        Some(rest) => find(&format!("qnn.{rest}")),
        None if bare == name => None,
        None => find(&format!("nn.{bare}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A column names existing arguments and attributes once, has every argument, and is not what
    /// [`Operator::plain_parameters`] returns anyway.
    #[test]
    fn columns_are_complete_and_needed() {
        for operator in crate::all().filter(|operator| !operator.python.is_empty()) {
            let parameters = operator.python_parameters();
            let name = operator.name;
            assert_eq!(parameters.len(), operator.python.split_whitespace().count(), "{name}");
            let key = |parameter: &Parameter| match parameter.meaning {
                Meaning::Argument(at) => operator.args[at],
                Meaning::Attribute(field) => field.name,
            };
            let keys: Vec<&str> = parameters.iter().map(key).collect();
            let plain: Vec<&str> = operator.plain_parameters().iter().map(key).collect();
            assert!(keys.iter().all(|key| plain.contains(key)), "{name}");
            for (at, key) in keys.iter().enumerate() {
                assert!(!keys[..at].contains(key), "{name}: {key} twice");
            }
            let says_nothing = plain.starts_with(&keys)
                && parameters.iter().all(|p| p.default.is_none() && p.name == key(p));
            assert!(!says_nothing, "{name}: its column is the usual order");
        }
    }

    #[test]
    fn names_of_python_have_modules() {
        let found = |name: &str| in_python(name).map(|operator| operator.name);
        assert_eq!(found("relay.nn.relu"), Some("nn.relu"));
        assert_eq!(found("tvm.relay.exp"), Some("exp"));
        assert_eq!(found("relay.op.nn.softmax"), Some("nn.softmax"));
        assert_eq!(found("nn.sum"), Some("sum"));
        assert_eq!(found("relay.relu"), Some("nn.relu"));
        assert_eq!(found("relay.qnn.op.add"), Some("qnn.add"));
        assert_eq!(found("relay.op.tensor.add"), Some("add"));
        assert_eq!(found("relay.op.transform.reshape"), Some("reshape"));
        assert_eq!(found("tvm.relay.op.nn.nn.dense"), Some("nn.dense"));
        assert_eq!(found("nn.relu"), None);
        assert_eq!(found("relu"), None);
        assert_eq!(found("torch.relu"), None);
    }
}
