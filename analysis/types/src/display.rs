//! Printing of types: in TVM's notation, or in the manual's if TVM has none, as for
//! `fn <s : Shape>(Tensor[s, float32]) -> bool`.

use std::{
    cell::Cell,
    fmt::{self, Display, Formatter},
};

use crate::{
    AdtType, AttrField, AttrValue, Constraint, DTypeTerm, DataType, Dim, FuncType, Kind,
    OpenTensor, Param, ShapeTerm, Signature, TensorType, Type, TypeParam,
};

/// Maximum number of printed nodes of a type; the rest is elided as `…`. The largest type of a real
/// module (the state of an unrolled network) has some hundreds.
const MAX_PRINTED: u32 = 5_000;

thread_local! {
    /// Remaining nodes while a large type is printed.
    static BUDGET: Cell<Option<u32>> = const { Cell::new(None) };
}

fn list<T: Display>(f: &mut Formatter<'_>, items: impl IntoIterator<Item = T>) -> fmt::Result {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        if BUDGET.get() == Some(0) {
            return f.write_str("…");
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

impl Display for TensorType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.shape.is_empty() {
            return write!(f, "{}", self.dtype);
        }
        f.write_str("Tensor[(")?;
        list(f, &self.shape)?;
        // TVM prints a void data type, the one of `shape_of(%x)`, as the empty string.
        if self.dtype.is_void() {
            return f.write_str("), ]");
        }
        write!(f, "), {}]", self.dtype)
    }
}

impl Display for OpenTensor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor[{}, {}]", self.shape, self.dtype)
    }
}

impl Display for ShapeTerm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ShapeTerm::Dims(dims) => {
                f.write_str("(")?;
                list(f, dims)?;
                f.write_str(")")
            }
            ShapeTerm::Param(param) => f.write_str(param.name()),
            ShapeTerm::Bound(_) | ShapeTerm::Var(_) | ShapeTerm::Unknown => f.write_str("_"),
        }
    }
}

impl Display for DTypeTerm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            DTypeTerm::Known(dtype) => dtype.fmt(f),
            DTypeTerm::Param(param) => f.write_str(param.name()),
            DTypeTerm::Bound(_) | DTypeTerm::Var(_) | DTypeTerm::Unknown => f.write_str("_"),
        }
    }
}

impl Display for TypeParam {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match self.kind {
            Kind::Type => Ok(()),
            Kind::BaseType => write!(f, " : {}", self.class.name()),
            kind => write!(f, " : {}", kind.name()),
        }
    }
}

impl Display for Param {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.declared().fmt(f)
    }
}

impl Display for Constraint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let attrs = &self.relation.attrs;
        let fields = attrs.schema().map_or(&[][..], |schema| schema.fields);
        let is_set =
            |(field, value): &(&AttrField, &AttrValue)| **value != AttrValue::from(field.default);
        write!(f, "{}(", self.relation.name)?;
        list(f, &self.args)?;
        for (field, value) in fields.iter().zip(attrs.values()).filter(is_set) {
            write!(f, ", {}={value}", field.name)?;
        }
        f.write_str(")")
    }
}

/// Displays the value of an attribute in the notation of Relay.
impl Display for AttrValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            AttrValue::None => f.write_str("None"),
            AttrValue::Bool(value) => f.write_str(if *value { "True" } else { "False" }),
            AttrValue::Int { value, .. } => value.fmt(f),
            AttrValue::Float(value) => write!(f, "{}f", value.0),
            AttrValue::Str(text) => write!(f, "\"{text}\""),
            AttrValue::DType(dtype) => write!(f, "\"{dtype}\""),
            AttrValue::Dim(dim) => dim.fmt(f),
            AttrValue::List(values) => {
                f.write_str("[")?;
                list(f, &**values)?;
                f.write_str("]")
            }
            AttrValue::Meta { key, index } => write!(f, "meta[{key}][{index}]"),
            AttrValue::Constant(_) | AttrValue::Opaque | AttrValue::Error => f.write_str("…"),
        }
    }
}

impl Display for FuncType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("fn ")?;
        write_function(f, self)
    }
}

fn write_function(f: &mut Formatter<'_>, func: &FuncType) -> fmt::Result {
    f.write_str("(")?;
    list(f, func.params())?;
    write!(f, ") -> {}", func.ret())
}

impl Display for Signature {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("fn ")?;
        if !self.type_params.is_empty() {
            // TVM's notation `fn [A](A)` has no kinds and relations; the manual's `fn <a : Type>`
            // has.
            let plain = self.constraints.is_empty()
                && self.type_params.iter().all(|param| param.kind() == Kind::Type);
            f.write_str(if plain { "[" } else { "<" })?;
            list(f, &self.type_params)?;
            f.write_str(if plain { "]" } else { ">" })?;
        }
        write_function(f, &self.func)?;
        write_constraints(f, &self.constraints)
    }
}

fn write_constraints(f: &mut Formatter<'_>, constraints: &[Constraint]) -> fmt::Result {
    if constraints.is_empty() {
        return Ok(());
    }
    f.write_str(" where ")?;
    list(f, constraints)
}

impl Display for AdtType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.name())?;
        list(f, self.args())?;
        f.write_str("]")
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match BUDGET.get() {
            None if self.weight() > MAX_PRINTED => {
                BUDGET.set(Some(MAX_PRINTED));
                let written = write_type(f, self);
                BUDGET.set(None);
                written
            }
            None => write_type(f, self),
            Some(0) => f.write_str("…"),
            Some(left) => {
                BUDGET.set(Some(left - 1));
                write_type(f, self)
            }
        }
    }
}

/// Recursion is bounded by the depth of types.
fn write_type(f: &mut Formatter<'_>, ty: &Type) -> fmt::Result {
    match ty {
        Type::Tensor(tensor) => tensor.fmt(f),
        Type::OpenTensor(open) => open.fmt(f),
        Type::Tuple(fields) => {
            f.write_str("(")?;
            list(f, &***fields)?;
            f.write_str(if fields.len() == 1 { ",)" } else { ")" })
        }
        Type::Func(func) => func.fmt(f),
        Type::Ref(reference) => write!(f, "ref({})", reference.inner()),
        Type::Adt(adt) => adt.fmt(f),
        Type::Index(index) => index.fmt(f),
        Type::Poly(_) => match ty.signature() {
            Some(signature) => signature.fmt(f),
            None => {
                let (_, instance) = ty.opened();
                instance.ty.fmt(f)?;
                write_constraints(f, &instance.constraints)
            }
        },
        Type::Param(param) => f.write_str(param.name()),
        Type::Bound(_) | Type::Var(_) | Type::Hole | Type::Error => f.write_str("_"),
    }
}

impl Type {
    /// Strips the printed type from the start of `text`, or returns `None` if it differs.
    ///
    /// Fast path for comments of dumps such as `/* ty=Tensor[(1, 64), float32] */`: compares
    /// without formatting the type. Always `None` for types other than tensors, tuples and
    /// functions of them.
    pub fn strip_printed<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Type::Tensor(tensor) if tensor.shape.is_empty() => strip_dtype(tensor.dtype, text),
            Type::Tensor(tensor) => {
                let mut rest = text.strip_prefix("Tensor[(")?;
                for (axis, size) in tensor.shape.iter().enumerate() {
                    if axis > 0 {
                        rest = rest.strip_prefix(", ")?;
                    }
                    rest = strip_size(size, rest)?;
                }
                let rest = rest.strip_prefix("), ")?;
                let is_void = tensor.dtype.is_void();
                let rest = if is_void { rest } else { strip_dtype(tensor.dtype, rest)? };
                rest.strip_prefix(']')
            }
            Type::Tuple(fields) => {
                let mut rest = text.strip_prefix('(')?;
                for (number, field) in fields.iter().enumerate() {
                    if number > 0 {
                        rest = rest.strip_prefix(", ")?;
                    }
                    rest = field.strip_printed(rest)?;
                }
                rest.strip_prefix(if fields.len() == 1 { ",)" } else { ")" })
            }
            Type::Func(func) => {
                let mut rest = text.strip_prefix("fn (")?;
                for (number, param) in func.params().iter().enumerate() {
                    if number > 0 {
                        rest = rest.strip_prefix(", ")?;
                    }
                    rest = param.strip_printed(rest)?;
                }
                func.ret().strip_printed(rest.strip_prefix(") -> ")?)
            }
            _ => None,
        }
    }
}

fn strip_size<'t>(size: &Dim, text: &'t str) -> Option<&'t str> {
    match size {
        Dim::Known { size, wide: false } => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = text.split_at(digits);
            (number.parse() == Ok(*size)).then_some(rest)
        }
        Dim::Any => text.strip_prefix('?'),
        _ => None,
    }
}

fn strip_dtype(dtype: DataType, text: &str) -> Option<&str> {
    const NAMED: [(DataType, &str); 5] = [
        (DataType::FLOAT32, "float32"),
        (DataType::INT32, "int32"),
        (DataType::INT64, "int64"),
        (DataType::BOOL, "bool"),
        (DataType::INT8, "int8"),
    ];
    match NAMED.iter().find(|(named, _)| *named == dtype) {
        Some((_, name)) => text.strip_prefix(name),
        None => text.strip_prefix(dtype.to_string().as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ParamId, PolyType};

    #[test]
    fn types_print_as_in_tvm() {
        let t = Type::tensor([Dim::known(1), Dim::Any, Dim::wide(3)], DataType::FLOAT32);
        assert_eq!(t.to_string(), "Tensor[(1, ?, 3i64), float32]");
        assert_eq!(Type::scalar(DataType::BOOL).to_string(), "bool");
        assert_eq!(Type::tuple([t.clone()]).to_string(), format!("({t},)"));
        assert_eq!(Type::unit().to_string(), "()");
        assert_eq!(Type::adt("nat", []).to_string(), "nat[]");
        let a = Param::new("A", Kind::Type, ParamId::in_header(0));
        let func =
            Type::func([Type::Param(a.clone())], Type::adt("List", [Type::Param(a.clone())]));
        let func = PolyType::close(&[a], Vec::new(), &func);
        assert_eq!(func.to_string(), "fn [A](A) -> List[A]");
    }

    #[test]
    fn large_types_are_elided() {
        let mut ty = Type::scalar(DataType::BOOL);
        for _ in 0..60 {
            ty = Type::tuple([ty.clone(), ty]);
        }
        let text = ty.to_string();
        assert!(text.len() < 100_000 && text.contains('…'), "{}", text.len());
        assert_eq!(Type::scalar(DataType::BOOL).to_string(), "bool");
    }

    #[test]
    fn strip_printed_accepts_exactly_the_printed_type() {
        let t = Type::tensor([Dim::known(1), Dim::Any], DataType::FLOAT32);
        let u = Type::tensor([Dim::known(12)], DataType::parse("uint8").unwrap_or(DataType::VOID));
        for ty in [t.clone(), u.clone(), Type::scalar(DataType::BOOL), Type::unit()] {
            for ty in [ty.clone(), Type::tuple([ty.clone()]), Type::tuple([ty.clone(), t.clone()])]
            {
                assert_eq!(ty.strip_printed(&format!("{ty} rest")), Some(" rest"), "{ty}");
            }
        }
        for other in
            ["Tensor[(1, 1), float32]", "Tensor[(1), float32]", "Tensor[(1, ?), float16]", ""]
        {
            assert_eq!(t.strip_printed(other), None);
        }
        assert_eq!(u.strip_printed("Tensor[(1, 2), uint8]"), None);
        assert_eq!(u.strip_printed("Tensor[(99999999999999999999), uint8]"), None);
    }
}
