//! Sentences about calls: templates over facts, which are written out last.

use std::{fmt, sync::Arc};

use smol_str::{SmolStr, ToSmolStr};

use crate::{DataType, Dim, Fact, Number, TensorType, Type};

/// A sentence, or a part of one, as a template and the facts that fill its placeholders in order.
/// The macro `text!` makes one, which checks that each placeholder has its fact.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Text {
    template: &'static str,
    facts: Vec<Fact>,
}

impl Text {
    /// Creates a text; `text!` is called instead.
    #[doc(hidden)]
    pub fn new(template: &'static str, facts: Vec<Fact>) -> Text {
        Text { template, facts }
    }

    /// Returns the facts in it, in order.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// Returns true if there is no text.
    pub fn is_empty(&self) -> bool {
        self.template.is_empty()
    }
}

impl From<&'static str> for Text {
    fn from(text: &'static str) -> Text {
        Text::new("{}", vec![Fact::Remark(text)])
    }
}

/// Writes the template with the facts in the place of `{}` and `{name}`.
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut rest, mut facts) = (self.template, self.facts.iter());
        while let Some(at) = rest.find(['{', '}']) {
            f.write_str(&rest[..at])?;
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            // A doubled brace is the brace itself.
            if rest.starts_with(brace) {
                f.write_str(brace)?;
                rest = &rest[1..];
                continue;
            }
            facts.next().map_or(Ok(()), |fact| fact.fmt(f))?;
            rest = rest.split_once('}').map_or("", |(_, after)| after);
        }
        f.write_str(rest)
    }
}

/// A value that may fill a placeholder of a text.
pub trait ToFact {
    /// Returns the value as a fact.
    fn to_fact(&self) -> Fact;
}

impl<T: ToFact + ?Sized> ToFact for &T {
    fn to_fact(&self) -> Fact {
        (**self).to_fact()
    }
}

impl ToFact for Fact {
    fn to_fact(&self) -> Fact {
        self.clone()
    }
}

impl ToFact for Text {
    fn to_fact(&self) -> Fact {
        self.clone().into()
    }
}

impl ToFact for str {
    fn to_fact(&self) -> Fact {
        Fact::Word(self.into())
    }
}

impl ToFact for SmolStr {
    fn to_fact(&self) -> Fact {
        Fact::Word(self.clone())
    }
}

impl ToFact for Type {
    fn to_fact(&self) -> Fact {
        self.into()
    }
}

impl ToFact for Arc<TensorType> {
    fn to_fact(&self) -> Fact {
        self.clone().into()
    }
}

impl ToFact for Dim {
    fn to_fact(&self) -> Fact {
        self.into()
    }
}

impl ToFact for DataType {
    fn to_fact(&self) -> Fact {
        Fact::DType(*self)
    }
}

impl ToFact for f64 {
    fn to_fact(&self) -> Fact {
        Fact::Float(Number(*self))
    }
}

impl ToFact for TensorType {
    fn to_fact(&self) -> Fact {
        Fact::Type(Type::Tensor(Arc::new(self.clone())))
    }
}

impl ToFact for char {
    fn to_fact(&self) -> Fact {
        Fact::Word(self.to_smolstr())
    }
}

macro_rules! numbers {
    ($($number:ident)*) => {
        $(
            impl ToFact for $number {
                fn to_fact(&self) -> Fact {
                    i128::try_from(*self).map_or(Fact::Remark("?"), Fact::Number)
                }
            }
        )*
    };
}

numbers! { u8 u32 i64 u64 usize i128 }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    #[test]
    fn texts_are_written_from_templates_and_facts() {
        let (name, size) = ("data", Dim::known(4));
        let part = text!(", and {{{size}}} more");
        let whole = text!("`{name}` has {} of {kind}{part}", size, kind = DataType::BOOL);
        assert_eq!(whole.to_string(), "`data` has 4 of bool, and {4} more");
        assert_eq!(Text::from("a {brace}").to_string(), "a {brace}");
        assert_eq!(Text::default().to_string(), "");
    }

    #[test]
    fn texts_of_different_facts_differ() {
        let of = |size: i64| text!("it has {size}");
        assert!(of(1) == of(1) && of(1) != of(2) && of(1) != text!("it has 1"));
    }
}
