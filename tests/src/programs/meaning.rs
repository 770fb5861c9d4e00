//! The meaning of a text: its errors, types and values.

use std::{
    collections::HashMap,
    fmt::Write,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use interpreter::{FaultKind, Limits, Machine, Tensor, Value};
use semantics::{
    Database, Def, DefKind, ExprRef, Severity, SourceFile, TypeAt, View, all_defs,
    body::{BinderId, Expr, ExprId},
    check_file, modules,
};
use syntax::{
    ParseLimits, TextRange,
    ast::{self, AstNode},
};
use types::Type;

use super::{
    changes::Change,
    schemes::{is_instance, is_same_scheme},
};

/// The maximal number of elements of a generated argument.
const ELEMENTS: u64 = 4096;

/// A text with its analysis.
pub struct Program {
    /// The text.
    pub text: String,
    /// The database.
    pub db: Database,
    /// The file in it.
    pub file: SourceFile,
}

/// The result of a run of a definition.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// A value, formatted exactly.
    Value(String),
    /// A failure caused by the program.
    Fault(FaultKind),
}

/// A definition that computes.
pub struct TypedDef {
    /// Its name; empty for a bare expression.
    pub name: String,
    /// Its type.
    pub signature: Option<Type>,
    /// The types in it.
    pub types: Vec<TypeAt>,
}

impl Program {
    /// Analyses a text.
    pub fn new(text: impl Into<String>) -> Program {
        let text = text.into();
        let db = Database::new();
        let file = db.add_file(&text, ParseLimits::default());
        Program { text, db, file }
    }

    /// Returns the codes of its errors, sorted.
    pub fn errors(&self) -> Vec<&'static str> {
        let found = check_file(&self.db, self.file);
        let errors = found.iter().filter(|d| d.severity == Severity::Error);
        let mut codes: Vec<_> = errors.map(|d| d.code.name()).collect();
        codes.sort_unstable();
        codes
    }

    /// Returns the first error, formatted as in a report.
    pub fn first_error(&self) -> Option<String> {
        let found = check_file(&self.db, self.file);
        let error = found.iter().find(|d| d.severity == Severity::Error)?;
        let at = self.text.get(std::ops::Range::<usize>::from(error.range)).unwrap_or_default();
        Some(format!("{}: {} (at `{at}`)", error.code, error.message))
    }

    /// Returns true if it is one module without syntax errors and without parts that transformations
    /// cannot handle.
    pub fn is_plain(&self) -> bool {
        let parse = syntax::parse(&self.text);
        parse.errors.iter().all(|error| error.kind.is_compat())
            && modules(&self.db, self.file).len() == 1
            && all_defs(&self.db, self.file).all(|def| {
                // External functions cannot be run.
                let is_external = ast::FnDef::cast(def.node(&self.db))
                    .is_some_and(|def| def.external().is_some());
                !is_external
                    && matches!(
                        def.kind(&self.db),
                        DefKind::Fn | DefKind::Expr | DefKind::Type | DefKind::Version
                    )
            })
    }

    /// The definitions that compute.
    pub fn defs(&self) -> Vec<Def<'_>> {
        let is_computing =
            |def: &Def<'_>| matches!(def.kind(&self.db), DefKind::Fn | DefKind::Expr);
        all_defs(&self.db, self.file).filter(is_computing).collect()
    }

    /// Views of the definitions that compute.
    pub fn views(&self) -> Vec<View<'_>> {
        self.defs().into_iter().filter_map(|def| View::new(&self.db, def)).collect()
    }

    /// The types of each definition that computes.
    pub fn computed(&self) -> Vec<TypedDef> {
        self.views()
            .iter()
            .map(|view| TypedDef {
                name: view.def.name(&self.db).to_string(),
                signature: view.inference.signature.clone(),
                types: types_of(view),
            })
            .collect()
    }

    /// Runs a definition; `None` if its arguments cannot be generated, or if it exceeds narrow limits.
    pub fn run(&self, def: Def<'_>) -> Option<Outcome> {
        match self.evaluated(def)? {
            Ok(value) => {
                let mut text = String::new();
                let mut left = 20_000;
                write_value(&value, &mut text, &mut left);
                (left > 0).then_some(Outcome::Value(text))
            }
            Err(kind) => Some(Outcome::Fault(kind)),
        }
    }

    /// Like [`Program::run`], but returns the value.
    fn evaluated(&self, def: Def<'_>) -> Option<Result<Value, FaultKind>> {
        let view = View::new(&self.db, def)?;
        let args = match &view.inference.signature {
            Some(ty) if def.kind(&self.db) == DefKind::Fn => {
                let signature = ty.signature()?;
                signature.func.params().iter().map(argument).collect::<Option<Vec<Value>>>()?
            }
            _ => Vec::new(),
        };
        let limits = Limits {
            fuel: Some(200_000),
            memory: Some(64 << 20),
            time: Some(Duration::from_secs(5)),
            depth: Some(20_000),
        };
        let flag: Arc<AtomicBool> = Arc::default();
        let mut machine = Machine::new(&self.db).limited(limits).cancelled_by(flag);
        match machine.run(def, args, None) {
            Ok(value) => Some(Ok(value)),
            Err(fault) => match fault.kind {
                FaultKind::Fuel
                | FaultKind::Memory
                | FaultKind::Time
                | FaultKind::Depth
                | FaultKind::Cancelled
                | FaultKind::Missing => None,
                kind => Some(Err(kind)),
            },
        }
    }
}

/// Returns the types of the expressions and variables of a definition.
fn types_of(view: &View<'_>) -> Vec<TypeAt> {
    let mut types = Vec::new();
    for (number, unit) in view.body.units() {
        for (index, expr) in unit.exprs.iter().enumerate() {
            if !expr.is_step() && *expr != Expr::Missing {
                let spot = ExprRef { unit: number, expr: ExprId(index as u32) };
                types.push(TypeAt { range: view.range(spot), ty: view.ty(spot).clone() });
            }
        }
        for (index, binder) in unit.binders.iter().enumerate() {
            let ty = view.unit_types(number).binder(BinderId(index as u32)).clone();
            types.push(TypeAt { range: view.place(number, binder.range), ty });
        }
    }
    types.sort_by_key(|at| (at.range.start(), at.range.end()));
    types
}

/// Generates a value for a parameter: tensors with distinct small elements, and tuples of them.
fn argument(ty: &Type) -> Option<Value> {
    match ty {
        Type::Tensor(tensor) if tensor.elements()? <= ELEMENTS => {
            let sizes: Vec<usize> = tensor.lengths()?;
            let count: usize = sizes.iter().product();
            let numbers = (0..count).map(|at| (at % 3) as f64).collect();
            Tensor::from_f64s(tensor.dtype, &sizes, numbers).map(Value::from)
        }
        // The parser limits the depth of types.
        Type::Tuple(fields) => {
            Some(Value::tuple(fields.iter().map(argument).collect::<Option<Vec<_>>>()?))
        }
        _ => None,
    }
}

/// Formats a value; `left` limits its length and thus the recursion through references.
fn write_value(value: &Value, out: &mut String, left: &mut i32) {
    *left -= 1;
    if *left <= 0 || out.len() > 1 << 20 {
        *left = 0;
        return;
    }
    match value {
        Value::Tensor(tensor) => {
            let bits: Vec<u64> = tensor.to_f64s().iter().map(|x| x.to_bits()).collect();
            let _ = write!(out, "{}{bits:?}", tensor.ty());
        }
        Value::Tuple(_) => {
            out.push('(');
            for field in value.as_tuple().unwrap_or_default() {
                write_value(field, out, left);
                out.push(',');
            }
            out.push(')');
        }
        Value::Data(data) => {
            let _ = write!(out, "{}(", data.constructor);
            for field in data.fields() {
                write_value(field, out, left);
                out.push(',');
            }
            out.push(')');
        }
        Value::Closure(_) => out.push_str("fn"),
        Value::Ref(cell) => {
            out.push_str("ref ");
            write_value(&cell.get(), out, left);
        }
        Value::Unknown(_) | Value::Empty | Value::Released => out.push_str("nothing"),
    }
}

/// The part of the meaning that a change preserves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Equivalence {
    /// The codes of errors, all types, all values.
    Everything,
    /// The presence of errors, all types, all values.
    Types,
    /// The presence of errors, the types of definitions, all values. The types of expressions are
    /// instances of the new types: the annotation of a `let` was removed, or an expression became a
    /// separate value, which is generalised.
    Instances,
    /// The presence of errors, the types of definitions, all values.
    Signatures,
}

/// Describes a difference in meaning after a change; `None` if the law holds.
pub fn difference(before: &Program, change: &Change, equivalence: Equivalence) -> Option<String> {
    let after = Program::new(change.text.clone());
    let (errors, now) = (before.errors(), after.errors());
    let is_same = match equivalence {
        Equivalence::Everything => errors == now,
        _ => errors.is_empty() == now.is_empty(),
    };
    if !is_same {
        let first = after.first_error().or_else(|| before.first_error()).unwrap_or_default();
        return Some(format!("errors {errors:?} become {now:?}: {first}"));
    }
    if !errors.is_empty() {
        return None;
    }
    let theirs: HashMap<String, TypedDef> =
        after.computed().into_iter().map(|def| (def.name.clone(), def)).collect();
    let mut places: HashMap<TextRange, Vec<&Type>> = HashMap::new();
    for at in theirs.values().flat_map(|def| &def.types) {
        places.entry(at.range).or_default().push(&at.ty);
    }
    for def in before.computed() {
        let name = change.name_of(&def.name);
        if let Some(other) = name.and_then(|name| theirs.get(name)) {
            let types = (def.signature.as_ref(), other.signature.as_ref());
            if let (Some(a), Some(b)) = types
                && !is_same_scheme(a, b)
            {
                return Some(format!("`{}` has type `{a}` before and `{b}` after", def.name));
            }
        }
        if equivalence == Equivalence::Signatures {
            continue;
        }
        for at in &def.types {
            let Some(place) = change.place_of(at.range) else { continue };
            let shown = before.text.get(std::ops::Range::<usize>::from(at.range));
            let shown = shown.unwrap_or_default();
            // Removing the annotation of a variable may change the type of a number.
            if equivalence == Equivalence::Instances && shown.parse::<f64>().is_ok() {
                continue;
            }
            let Some(found) = places.get(&place) else {
                return Some(format!("`{shown}` has no type afterwards"));
            };
            let is_kept = |ty: &&&Type| match equivalence {
                Equivalence::Instances => is_instance(&at.ty, ty),
                _ => is_same_scheme(&at.ty, ty),
            };
            if !found.iter().any(|ty| is_kept(&ty)) {
                return Some(format!(
                    "`{shown}` in `{}` has type `{}` before and `{}` after",
                    def.name, at.ty, found[0]
                ));
            }
        }
    }
    values(before, &after, change, equivalence)
}

/// Describes a value that differs.
fn values(
    before: &Program,
    after: &Program,
    change: &Change,
    equivalence: Equivalence,
) -> Option<String> {
    for def in before.defs() {
        let name = def.name(&before.db).to_string();
        let Some(new) = change.name_of(&name) else { continue };
        let Some(other) =
            after.defs().into_iter().find(|other| other.name(&after.db).as_str() == new)
        else {
            continue;
        };
        let (Some(a), Some(b)) = (before.run(def), after.run(other)) else { continue };
        // Unused graph bindings are not evaluated, and cannot fail.
        let fails = matches!(a, Outcome::Fault(_)) != matches!(b, Outcome::Fault(_));
        if a != b && !(fails && equivalence == Equivalence::Instances) {
            return Some(format!("`{name}` is {a:?} before and {b:?} after"));
        }
    }
    None
}

/// Describes a failure of an accepted program, or a value that does not have its type.
pub fn unsound(program: &Program) -> Option<String> {
    for view in program.views() {
        let name = view.def.name(&program.db);
        match program.evaluated(view.def) {
            Some(Err(kind)) if kind != FaultKind::NoArm => {
                return Some(format!("`{name}` is accepted, but fails: {kind:?}"));
            }
            Some(Ok(value)) => {
                let signature = view.inference.signature.as_ref().and_then(Type::signature);
                let ty = signature.map(|signature| signature.func.ret().clone());
                if let Some(ty) = ty.filter(|ty| !inhabits(&value, ty)) {
                    return Some(format!("`{name}` has type `{ty}`, but the value {value:?}"));
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns true if a value has a type, as far as both are known. Inference limits the depth of types.
fn inhabits(value: &Value, ty: &Type) -> bool {
    match (value, ty) {
        (Value::Tensor(tensor), Type::Tensor(wanted)) => {
            let sizes = tensor.shape().iter().zip(&wanted.shape);
            tensor.dtype() == wanted.dtype
                && tensor.shape().len() == wanted.shape.len()
                && sizes.into_iter().all(|(&size, dim)| {
                    dim.as_known().is_none_or(|dim| usize::try_from(dim) == Ok(size))
                })
        }
        (Value::Tuple(_), Type::Tuple(_)) => {
            let (fields, types) = (value.as_tuple(), ty.as_tuple());
            let (fields, types) = (fields.unwrap_or_default(), types.unwrap_or_default());
            fields.len() == types.len()
                && fields.iter().zip(types).all(|(field, ty)| inhabits(field, ty))
        }
        (Value::Closure(_), ty) => ty.is_function() || matches!(ty, Type::Param(_) | Type::Hole),
        (Value::Data(_), Type::Adt(_)) | (Value::Ref(_), Type::Ref(_)) => true,
        (_, Type::Param(_) | Type::Hole | Type::OpenTensor(_) | Type::Poly(_)) => true,
        _ => false,
    }
}
