//! Literals without a suffix whose data types depend on the uses of a function or constant.
//!
//! In `let %inc = fn (%x) { add(%x, 1) };` the `1` has the data type of the argument, and `%inc`
//! may be used at several data types. At run time, a data type is represented by an empty tensor. A
//! value that depends on data types is compiled as a function of them, its maker, and each use
//! calls the maker with the data types that were inferred. A definition captures its data types
//! instead.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use semantics::{
    View,
    body::{BinderId, Expr, ExprId, FnId, LocalRef, Region, Unit, UnitId},
    infer::{Inference, typing_rule},
};
use smallvec::SmallVec;
use syntax::TextRange;
use types::{DTypeClass, DTypeTerm, DataType, MAX_DEPTH, Param, ParamId, Solver, Type, TypeArg};

use super::{Compiler, Location, Reg, Var};
use crate::{
    code::{Callable, Op, Proc},
    tensor::Tensor,
    value::Value,
};

/// The data types of the literals of a unit that uses determine.
#[derive(Default)]
pub(super) struct LiteralDTypes {
    uses: FxHashMap<ExprId, Vec<DTypeTerm>>,
    binders: FxHashMap<BinderId, Vec<ParamId>>,
    literals: FxHashMap<ExprId, Param>,
    functions: FxHashMap<FnId, Vec<ParamId>>,
}

impl LiteralDTypes {
    pub(super) fn of(view: &View<'_>, unit: UnitId) -> LiteralDTypes {
        let Some(numeric) = &view.unit_types(unit).numeric else { return LiteralDTypes::default() };
        let ids = |params: &[Param]| params.iter().map(Param::id).collect();
        LiteralDTypes {
            uses: numeric.uses.iter().cloned().collect(),
            binders: numeric.binders.iter().map(|(binder, all)| (*binder, ids(all))).collect(),
            literals: numeric.literals.iter().cloned().collect(),
            functions: numeric.functions.iter().map(|(at, all)| (*at, ids(all))).collect(),
        }
    }

    /// Returns the regions of the values that depend on the data types of their uses, outer ones
    /// before those inside of them.
    pub(super) fn regions(&self, unit: &Unit) -> Vec<(BinderId, Region)> {
        if self.binders.is_empty() {
            return Vec::new();
        }
        let regions = (0..).zip(&unit.exprs).filter_map(|(end, expr)| match expr {
            Expr::Bind { binder, value, start } if self.binders.contains_key(binder) => {
                Some((*binder, Region { start: start.0, end, result: *value }))
            }
            _ => None,
        });
        let mut regions: Vec<(BinderId, Region)> = regions.collect();
        regions.sort_by_key(|(_, region)| (region.start, std::cmp::Reverse(region.end)));
        regions
    }

    /// Returns the data type parameters of a variable.
    pub(super) fn params(&self, binder: BinderId) -> Vec<ParamId> {
        self.binders.get(&binder).cloned().unwrap_or_default()
    }

    /// Returns true if the literals of a function expression have data type parameters of its own.
    pub(super) fn has_function(&self, function: FnId) -> bool {
        self.functions.contains_key(&function)
    }

    /// Returns the data type parameters of a function expression that is used where it is written,
    /// with the data types that the use determines.
    pub(super) fn of_function(&self, expr: ExprId, function: FnId) -> Vec<(ParamId, DTypeTerm)> {
        let (Some(params), Some(dtypes)) = (self.functions.get(&function), self.uses.get(&expr))
        else {
            return Vec::new();
        };
        params.iter().copied().zip(dtypes.iter().cloned()).collect()
    }

    /// Returns the parameter that determines the data type of a literal.
    pub(super) fn literal(&self, view: &View<'_>, unit: UnitId, expr: ExprId) -> Option<Param> {
        if let Some(param) = self.literals.get(&expr) {
            return Some(param.clone());
        }
        match view.unit_types(unit).expr(expr) {
            Type::OpenTensor(open) => match &open.dtype {
                DTypeTerm::Param(param) => Some(param.clone()),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Compiler<'_, '_> {
    /// Compiles a use of a variable: a call of its maker, if it has one.
    pub(super) fn use_variable(&mut self, var: LocalRef, id: ExprId, place: TextRange) -> Location {
        let is_made = |numeric: &semantics::infer::Numeric| {
            numeric.binders.iter().any(|(binder, _)| *binder == var.binder)
        };
        let numeric = self.view.unit_types(var.unit).numeric.as_deref();
        let dtypes = self.literal_dtypes.uses.get(&id).cloned();
        let Some(dtypes) = dtypes.filter(|_| numeric.is_some_and(is_made)) else {
            return Location::Reg(self.variable(Var::Local(var), place));
        };
        // A recursive function calls its maker, which is the function around it.
        let maker = Var::Maker(var);
        let is_inside = self.contexts.iter().any(|context| context.own == Some(maker));
        let reg = self.variable(if is_inside { maker } else { Var::Local(var) }, place);
        let mut args: SmallVec<[Reg; 4]> = SmallVec::from_slice(&[reg]);
        args.extend(dtypes.iter().map(|dtype| self.dtype_of(dtype, place)).collect::<Vec<_>>());
        self.value(Op::Call { tail: false }, &args, place)
    }

    /// Compiles a use of a definition, with the data types that the use determines.
    pub(super) fn use_global(&mut self, global: u32, id: ExprId, place: TextRange) -> Location {
        let Some(dtypes) = self.literal_dtypes.uses.get(&id).cloned() else {
            return Location::Global(global);
        };
        let captured: Vec<Reg> = dtypes.iter().map(|dtype| self.dtype_of(dtype, place)).collect();
        self.value(Op::Closure(Callable::Global(global)), &captured, place)
    }

    /// Binds a variable to the maker of its value.
    pub(super) fn bind_maker(
        &mut self,
        var: LocalRef,
        proc: Arc<Proc>,
        captures: &[Var],
        place: TextRange,
    ) {
        let captured: SmallVec<[Reg; 4]> =
            captures.iter().map(|&var| self.variable(var, place)).collect();
        let Location::Reg(maker) = self.value(Op::Closure(Callable::Proc(proc)), &captured, place)
        else {
            return;
        };
        self.context().vars.insert(Var::Local(var), maker);
        if self.tracing.is_some() && self.contexts.len() == 1 {
            // Observers see the value at its default data types.
            let numeric = self.view.unit_types(var.unit).numeric.as_deref();
            let own = numeric.and_then(|numeric| {
                numeric.binders.iter().find(|(binder, _)| *binder == var.binder)
            });
            let classes: Vec<DTypeClass> = own
                .map(|(_, params)| params.iter().map(|p| p.declared().class).collect())
                .unwrap_or_default();
            let mut args: Vec<Reg> = vec![maker];
            args.extend(classes.into_iter().map(|class| self.known_dtype(default(class), place)));
            if let Location::Reg(value) = self.value(Op::Call { tail: false }, &args, place) {
                let name = self.view.binding_range(var);
                self.emit(Op::Report(name), None, &[value], name);
            }
        }
    }

    /// Returns the register that holds a data type.
    pub(super) fn dtype(&mut self, param: &Param, place: TextRange) -> Reg {
        let var = Var::DType(param.id());
        if self.contexts.iter().any(|context| context.vars.contains_key(&var)) {
            return self.variable(var, place);
        }
        // No use of the enclosing function determines it.
        self.known_dtype(default(param.declared().class), place)
    }

    pub(super) fn dtype_of(&mut self, dtype: &DTypeTerm, place: TextRange) -> Reg {
        match dtype {
            DTypeTerm::Known(dtype) => self.known_dtype(*dtype, place),
            DTypeTerm::Param(param) => self.dtype(param, place),
            DTypeTerm::Bound(_) | DTypeTerm::Var(_) | DTypeTerm::Unknown => {
                self.known_dtype(DataType::INT32, place)
            }
        }
    }

    fn known_dtype(&mut self, dtype: DataType, place: TextRange) -> Reg {
        let empty = Tensor::zeros(dtype, &[0]).or_else(|| Tensor::zeros(DataType::INT32, &[0]));
        let dst = self.context().reg();
        if let Some(empty) = empty {
            self.emit(Op::Const(empty.into()), Some(dst), &[], place);
        }
        dst
    }
}

/// Returns the data types that the arguments of a definition determine for its literals, as values.
pub(crate) fn literal_dtypes(inference: &Inference, args: &[Value]) -> Vec<Value> {
    let Some(Type::Poly(poly)) =
        inference.signature.as_ref().filter(|_| !inference.numeric.is_empty())
    else {
        return Vec::new();
    };
    let mut solver = Solver::new();
    let (node, constraints, type_args) = solver.table.instantiate(poly);
    let params = solver.table.signature(node).map(|(params, _)| params).unwrap_or_default();
    for (&param, arg) in params.iter().zip(args) {
        if let Some(ty) = type_of(arg, MAX_DEPTH) {
            let arg = solver.table.import(&ty);
            // Arguments that do not fit are reported by the operators that use them.
            let _ = solver.table.unify(param, arg);
        }
    }
    for constraint in &constraints {
        if let Some(solve) = typing_rule(&constraint.relation) {
            solver.add_constraint(constraint, solve, &[], 0);
        }
    }
    solver.solve();
    let params = poly.params().iter().zip(&type_args);
    let numeric = params.filter_map(|(param, arg)| match arg {
        TypeArg::DType(dtype) if param.class != DTypeClass::Any => {
            let dtype = match solver.table.known_dtype_term(dtype) {
                DTypeTerm::Known(dtype) => dtype,
                _ => default(param.class),
            };
            Some(Tensor::zeros(dtype, &[0]).map_or(Value::Empty, Value::from))
        }
        _ => None,
    });
    numeric.collect()
}

/// Returns the type of a tensor or of a tuple of tensors, down to `depth` levels of nesting.
fn type_of(value: &Value, depth: u8) -> Option<Type> {
    match value {
        Value::Tensor(tensor) => {
            let shape = tensor.shape().iter().map(|&size| types::Dim::known(size as i64));
            Some(Type::tensor(shape, tensor.dtype()))
        }
        Value::Tuple(_) if depth > 0 => {
            let fields = value.as_tuple()?.iter().map(|field| type_of(field, depth - 1));
            Some(Type::tuple(fields.collect::<Option<Vec<Type>>>()?))
        }
        _ => None,
    }
}

/// Returns the data type of a literal that no use determines.
fn default(class: DTypeClass) -> DataType {
    match class {
        DTypeClass::Float => DataType::FLOAT32,
        DTypeClass::Any | DTypeClass::Number => DataType::INT32,
    }
}
