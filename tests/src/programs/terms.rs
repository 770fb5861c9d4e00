//! The types of the generator, and its scopes.

use std::fmt;

/// The data types of generated tensors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, clippy::allow_attributes, reason = "the names say it")]
pub enum DType {
    Int32,
    Float32,
    Bool,
    Int64,
    Float64,
}

impl DType {
    /// All of them, the simplest first.
    pub const ALL: [DType; 5] =
        [DType::Int32, DType::Float32, DType::Bool, DType::Int64, DType::Float64];

    /// Those with arithmetic.
    pub const NUMBERS: [DType; 4] = [DType::Int32, DType::Float32, DType::Int64, DType::Float64];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            DType::Int32 => "int32",
            DType::Float32 => "float32",
            DType::Bool => "bool",
            DType::Int64 => "int64",
            DType::Float64 => "float64",
        }
    }

    /// Returns true for floating-point types.
    pub fn is_float(self) -> bool {
        matches!(self, DType::Float32 | DType::Float64)
    }
}

/// The data types of generated programs: those of the prelude, and additional ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, clippy::allow_attributes, reason = "the names say it")]
pub enum Adt {
    Option,
    List,
    Either,
    Dots,
    Wrap,
}

impl Adt {
    /// All of them, the simplest first.
    pub const ALL: [Adt; 5] = [Adt::Option, Adt::List, Adt::Either, Adt::Dots, Adt::Wrap];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Adt::Option => "Option",
            Adt::List => "List",
            Adt::Either => "Either",
            Adt::Dots => "Dots",
            Adt::Wrap => "Wrap",
        }
    }

    /// The number of its parameters.
    pub fn arity(self) -> usize {
        match self {
            Adt::Option | Adt::List | Adt::Wrap => 1,
            Adt::Either => 2,
            Adt::Dots => 0,
        }
    }

    /// Its definition, unless the prelude has it.
    pub fn definition(self) -> Option<&'static str> {
        match self {
            Adt::Option | Adt::List => None,
            Adt::Either => Some("type Either[L, R] { Left(L), Right(R) }\n"),
            Adt::Dots => Some("type Dots { Dot, Line(int32), Both(Dots, Dots) }\n"),
            Adt::Wrap => Some("type Wrap[C] { Bare(C), Called(fn (C) -> C, C) }\n"),
        }
    }

    /// Its constructors with the types of their fields, one without recursion first.
    pub fn constructors(self, args: &[Ty]) -> Vec<(&'static str, Vec<Ty>)> {
        let arg = |at: usize| args[at].clone();
        let own = || Ty::Data(self, args.to_vec());
        match self {
            Adt::Option => vec![("None", vec![]), ("Some", vec![arg(0)])],
            Adt::List => vec![("Nil", vec![]), ("Cons", vec![arg(0), own()])],
            Adt::Either => vec![("Left", vec![arg(0)]), ("Right", vec![arg(1)])],
            Adt::Dots => vec![
                ("Dot", vec![]),
                ("Line", vec![Ty::scalar(DType::Int32)]),
                ("Both", vec![own(), own()]),
            ],
            Adt::Wrap => vec![
                ("Bare", vec![arg(0)]),
                ("Called", vec![Ty::Fn(vec![arg(0)], Box::new(arg(0))), arg(0)]),
            ],
        }
    }
}

/// A type to generate an expression of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ty {
    /// A tensor: sizes, outermost axis first, and the data type.
    Tensor(Vec<i64>, DType),
    /// A tuple.
    Tuple(Vec<Ty>),
    /// A data type.
    Data(Adt, Vec<Ty>),
    /// A function.
    Fn(Vec<Ty>, Box<Ty>),
    /// A reference.
    Ref(Box<Ty>),
    /// A type parameter of the generated function, or of an enclosing one.
    Param(u32),
}

impl Ty {
    /// Returns the type of a scalar.
    pub fn scalar(dtype: DType) -> Ty {
        Ty::Tensor(Vec::new(), dtype)
    }

    /// Returns its direct parts. Types of the generator are at most a few levels deep.
    fn parts(&self) -> Vec<&Ty> {
        match self {
            Ty::Tensor(..) | Ty::Param(_) => Vec::new(),
            Ty::Tuple(parts) | Ty::Data(_, parts) => parts.iter().collect(),
            Ty::Fn(params, ret) => params.iter().chain([&**ret]).collect(),
            Ty::Ref(inner) => vec![inner],
        }
    }

    /// Collects its type parameters, each once, in the order of their first use.
    pub fn params(&self, into: &mut Vec<u32>) {
        match self {
            Ty::Param(param) if !into.contains(param) => into.push(*param),
            _ => self.parts().into_iter().for_each(|part| part.params(into)),
        }
    }

    /// Returns true if it can be an annotation with only `declared` type parameters in scope: the text
    /// format cannot express reference types.
    pub fn is_writable(&self, declared: &[u32]) -> bool {
        match self {
            Ty::Ref(_) => false,
            Ty::Param(param) => declared.contains(param),
            _ => self.parts().into_iter().all(|part| part.is_writable(declared)),
        }
    }

    /// Replaces the type parameters in `of`.
    pub fn replaced(&self, of: &[(u32, Ty)]) -> Ty {
        let all = |parts: &[Ty]| parts.iter().map(|part| part.replaced(of)).collect();
        match self {
            Ty::Tensor(..) => self.clone(),
            Ty::Tuple(fields) => Ty::Tuple(all(fields)),
            Ty::Data(adt, args) => Ty::Data(*adt, all(args)),
            Ty::Fn(params, ret) => Ty::Fn(all(params), Box::new(ret.replaced(of))),
            Ty::Ref(inner) => Ty::Ref(Box::new(inner.replaced(of))),
            Ty::Param(param) => of
                .iter()
                .find(|(known, _)| known == param)
                .map_or_else(|| self.clone(), |(_, ty)| ty.clone()),
        }
    }

    /// Finds the instances of the parameters `free` for which this type equals `wanted`.
    pub fn matches(&self, wanted: &Ty, free: &[u32], found: &mut Vec<(u32, Ty)>) -> bool {
        match (self, wanted) {
            (Ty::Param(param), _) if free.contains(param) => {
                match found.iter().find(|(known, _)| known == param) {
                    Some((_, ty)) => ty == wanted,
                    None => {
                        found.push((*param, wanted.clone()));
                        true
                    }
                }
            }
            (Ty::Tuple(a), Ty::Tuple(b)) => all_match(a, b, free, found),
            (Ty::Data(a, of_a), Ty::Data(b, of_b)) => a == b && all_match(of_a, of_b, free, found),
            (Ty::Fn(a, to_a), Ty::Fn(b, to_b)) => {
                all_match(a, b, free, found) && to_a.matches(to_b, free, found)
            }
            (Ty::Ref(a), Ty::Ref(b)) => a.matches(b, free, found),
            _ => self == wanted,
        }
    }
}

fn all_match(a: &[Ty], b: &[Ty], free: &[u32], found: &mut Vec<(u32, Ty)>) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.matches(b, free, found))
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |parts: &[Ty]| parts.iter().map(Ty::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Ty::Tensor(shape, dtype) if shape.is_empty() => f.write_str(dtype.name()),
            Ty::Tensor(shape, dtype) => {
                let sizes: Vec<String> = shape.iter().map(i64::to_string).collect();
                let comma = if sizes.len() == 1 { "," } else { "" };
                write!(f, "Tensor[({}{comma}), {}]", sizes.join(", "), dtype.name())
            }
            Ty::Tuple(fields) if fields.len() == 1 => write!(f, "({},)", fields[0]),
            Ty::Tuple(fields) => write!(f, "({})", list(fields)),
            Ty::Data(adt, args) if args.is_empty() => f.write_str(adt.name()),
            Ty::Data(adt, args) => write!(f, "{}[{}]", adt.name(), list(args)),
            Ty::Fn(params, ret) => write!(f, "fn ({}) -> {ret}", list(params)),
            Ty::Ref(inner) => write!(f, "ref({inner})"),
            Ty::Param(param) => write!(f, "T{param}"),
        }
    }
}

/// A variable or a definition with its most general type.
#[derive(Clone, Debug)]
pub struct TypedName {
    /// Its name, with the sigil.
    pub name: String,
    /// The type parameters that each use instantiates.
    pub free: Vec<u32>,
    /// Its type.
    pub ty: Ty,
}

/// The variables in scope at a place.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Variables, the innermost last.
    pub vars: Vec<TypedName>,
    /// The type parameters that enclosing functions declare.
    pub declared: Vec<u32>,
}
