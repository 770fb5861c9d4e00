//! Fuzz target of the interpreter: texts without errors run within limits without panics, and their values
//! have the inferred types.

use std::time::Duration;

use interpreter::{FaultKind, Limits, Machine, Tensor, Value, count_of};
use semantics::{
    Database, Def, DefKind, Severity, View, all_defs, check_file, is_fully_typed, types_in,
};
use syntax::ParseLimits;
use types::{TensorType, Type};

use super::text::text_of;

/// The largest number of elements of an argument.
const MAX_ELEMENTS: usize = 4096;
/// The size for axes of unknown size.
const ANY: usize = 2;
/// The largest depth of types.
const MAX_DEPTH: u32 = 16;

fn limits() -> Limits {
    Limits {
        fuel: Some(5_000),
        memory: Some(16 << 20),
        time: Some(Duration::from_millis(500)),
        depth: Some(10_000),
    }
}

/// Runs every function and bare expression of a text that has no errors.
pub fn run(input: &[u8]) {
    let text = text_of(input);
    let db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    if check_file(&db, file).iter().any(|found| found.severity == Severity::Error) {
        return;
    }
    let is_typed = is_fully_typed(&db, file);
    // An unknown size may be declared as any size, and is checked at run time only.
    let is_sized = !types_in(&db, file).iter().any(|at| at.ty.to_string().contains('?'));
    for def in all_defs(&db, file) {
        if matches!(def.kind(&db), DefKind::Fn | DefKind::Expr) {
            run_one(&db, def, is_typed, is_sized);
        }
    }
}

fn run_one(db: &Database, def: Def<'_>, is_typed: bool, is_sized: bool) {
    let Some(view) = View::new(db, def) else { return };
    if view.has_type_errors() {
        return;
    }
    let args: Option<Vec<Value>> =
        view.parameters().into_iter().map(|it| argument(view.binding_type(it), 0)).collect();
    let Some(args) = args else { return };
    let mut machine = Machine::new(db).limited(limits());
    let result = machine.run(def, args, None);
    machine.wait_for_cleanup();
    match result {
        Ok(value) => {
            // The type of the result of a function, or of the bare expression itself.
            let is_function = def.kind(db) == DefKind::Fn || view.bare_function().is_some();
            let promised = match (&view.inference.signature, def.kind(db)) {
                (Some(Type::Func(func)), _) if is_function => Some(func.ret()),
                (ty, DefKind::Expr) => ty.as_ref(),
                _ => None,
            };
            if let Some(ty) = promised {
                let fits = fits(&value, ty, is_sized, 0);
                assert!(fits, "the type is {ty}, the value {}", value.describe());
            }
        }
        Err(fault) => {
            assert!(!fault.message.is_empty(), "a fault has no message");
            assert!(fault.kind != FaultKind::Input, "the arguments are rejected: {fault}");
            // Strings have no type and no value.
            let has_type = |ty: &Type| !ty.has_error();
            let is_typed = is_typed && view.inference.signature.as_ref().is_some_and(has_type);
            let went_wrong = is_typed && fault.kind == FaultKind::Untyped;
            assert!(!went_wrong, "a typed expression fails: {fault}");
        }
    }
}

/// Creates a value of a type; `None` for unsupported types and those deeper than [`MAX_DEPTH`].
fn argument(ty: &Type, depth: u32) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    match ty {
        Type::Tensor(tensor) => {
            let size = |dim: &types::Dim| match dim.as_known() {
                Some(size) => usize::try_from(size).ok(),
                None => Some(ANY),
            };
            let shape: Vec<usize> = tensor.shape.iter().map(size).collect::<Option<_>>()?;
            let count = count_of(&shape).filter(|&count| count <= MAX_ELEMENTS)?;
            let numbers = (0..count as i64).map(|number| number % 5).collect();
            Some(Tensor::from_i64s(tensor.dtype, &shape, numbers)?.into())
        }
        Type::Tuple(fields) => {
            let fields: Option<Vec<Value>> =
                fields.iter().take(64).map(|field| argument(field, depth + 1)).collect();
            (fields.as_ref()?.len() == fields_of(ty))
                .then(|| Value::tuple(fields.unwrap_or_default()))
        }
        Type::Ref(inner) => Some(Value::reference(argument(inner.inner(), depth + 1)?)),
        _ => None,
    }
}

fn fields_of(ty: &Type) -> usize {
    match ty {
        Type::Tuple(fields) => fields.len(),
        _ => 0,
    }
}

/// Returns true if a value has a type, as far as values know theirs. Unknown sizes match any size, as do
/// all sizes unless the text `is_sized`.
pub fn fits(value: &Value, ty: &Type, is_sized: bool, depth: u32) -> bool {
    if depth > MAX_DEPTH {
        return true;
    }
    match (value, ty) {
        (Value::Tensor(tensor), Type::Tensor(wanted)) => fits_tensor(tensor, wanted, is_sized),
        (Value::Tensor(_), Type::OpenTensor(_)) => true,
        (Value::Tuple(_), Type::Tuple(types)) => {
            let fields = value.as_tuple().unwrap_or_default();
            let mut both = fields.iter().zip(types.iter());
            fields.len() == types.len()
                && both.all(|(field, ty)| fits(field, ty, is_sized, depth + 1))
        }
        (Value::Data(_), Type::Adt(_))
        | (Value::Closure(_), Type::Func(_) | Type::Poly(_))
        | (Value::Ref(_), Type::Ref(_)) => true,
        (_, Type::Tensor(_) | Type::Tuple(_) | Type::Adt(_) | Type::Func(_) | Type::Ref(_)) => {
            false
        }
        _ => true,
    }
}

fn fits_tensor(tensor: &Tensor, wanted: &TensorType, is_sized: bool) -> bool {
    let mut both = tensor.shape().iter().zip(wanted.shape.iter());
    tensor.dtype() == wanted.dtype
        && tensor.rank() == wanted.shape.len()
        && (!is_sized
            || both.all(|(&size, dim)| dim.as_known().is_none_or(|known| known == size as i64)))
}
