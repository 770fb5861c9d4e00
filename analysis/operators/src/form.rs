//! The arguments, attributes and defaults of calls in releases other than 0.14.
//!
//! A column of the table: `nn.pad(%x, pad_value=1f, pad_width=…)` of TVM 0.5 to 0.7 is
//! `nn.pad(%x, 1f, pad_width=…)` today. Each release prints an attribute only if it differs from its own
//! default, so that absent attributes take the default of the release that printed the call.

use types::{AttrDefault, AttrField, AttrType, DataType, Releases};

use crate::operator::{Becomes, CallForm, FormerAttr, Operator};

/// Declares an attribute that 0.14 does not have.
pub(crate) const fn was(
    name: &'static str,
    ty: AttrType,
    default: AttrDefault,
    becomes: Becomes,
) -> FormerAttr {
    FormerAttr {
        field: AttrField { name, ty, default, boxed: false, min: None, releases: Releases::ALL },
        becomes,
    }
}

/// Declares a scale, which is an attribute in TVM 0.6 and an argument in 0.14.
pub(crate) const fn scale(name: &'static str, argument: usize) -> FormerAttr {
    let becomes = Becomes::Argument(argument, Some(DataType::FLOAT32));
    was(name, AttrType::Float, AttrDefault::Required, becomes)
}

/// Declares a zero point, which is an attribute in TVM 0.6 and an argument in 0.14.
pub(crate) const fn zero_point(name: &'static str, argument: usize) -> FormerAttr {
    let becomes = Becomes::Argument(argument, Some(DataType::INT32));
    was(name, AttrType::Int, AttrDefault::Required, becomes)
}

impl CallForm {
    pub(crate) const fn attrs(mut self, attrs: &'static [FormerAttr]) -> CallForm {
        self.attrs = attrs;
        self
    }

    pub(crate) const fn absent(mut self, names: &'static [&'static str]) -> CallForm {
        self.absent = names;
        self
    }

    pub(crate) const fn defaults(
        mut self,
        defaults: &'static [(&'static str, AttrDefault)],
    ) -> CallForm {
        self.defaults = defaults;
        self
    }

    pub(crate) const fn as_operator(mut self, operator: &'static Operator) -> CallForm {
        self.operator = Some(operator);
        self
    }

    /// Returns the attribute `name`, if 0.14 does not have it.
    pub fn attr(&self, name: &str) -> Option<&'static FormerAttr> {
        self.attrs.iter().find(|attr| attr.field.name == name)
    }

    /// Returns true if a call of `operator` with these arguments and attributes has this form. A call whose
    /// attributes are an entry of the metadata section writes none.
    pub fn fits<'a>(
        &self,
        operator: &Operator,
        args: usize,
        mut written: impl Iterator<Item = &'a str> + Clone,
        is_meta: bool,
    ) -> bool {
        if args != self.args {
            return false;
        }
        let schema = self.operator.unwrap_or(operator).schema;
        let has_field = |field: &AttrField| !field.releases.and(self.releases).is_empty();
        let is_known = |name: &str| {
            let declared = schema.and_then(|schema| schema.field(name));
            self.attr(name).is_some() || declared.is_some_and(has_field)
        };
        let has = |name: &str| written.clone().any(|written| written == name);
        let is_missing =
            |field: &AttrField| matches!(field.default, AttrDefault::Required) && !has(field.name);
        let has_default =
            |field: &AttrField| self.defaults.iter().any(|(name, _)| *name == field.name);
        let is_complete = is_meta
            || !self.attrs.iter().any(|attr| is_missing(&attr.field))
                && !schema.is_some_and(|schema| {
                    let mut fields = schema.fields.iter();
                    fields.any(|field| is_missing(field) && has_field(field) && !has_default(field))
                });
        is_complete && written.all(is_known)
    }
}
