//! Ranking of completions by type: an argument has to fit the parameter of a function, or the type
//! relation of an operator.

use std::cell::RefCell;

use operators::{Operator, Role};
use rustc_hash::FxHashMap;
use semantics::body::{CallData, Callee};
use types::{Attrs, Dim, Place, Relation, State, Table, Type, probe};

use super::List;
use crate::{
    cursor::{Arguments, CallSite, CalleeSyntax},
    locals::Local,
};

/// The maximal number of distinct types to probe a relation with. The variables of a network share
/// few types, so that the limit is rarely reached.
const MAX_PROBES: usize = 256;
/// The maximal weight of a type to probe a relation with.
const MAX_WEIGHT: u32 = 256;

/// The constraint on an argument.
pub(super) enum Constraint {
    Type(Type),
    Relation(Box<Probe>),
}

/// A call of an operator, to be probed with types of one argument.
pub(super) struct Probe {
    operator: &'static Operator,
    relation: Relation,
    /// The types of the arguments; unknown ones are type variables.
    inputs: Vec<Type>,
    /// The index of the argument to probe.
    position: usize,
    /// The memoized results by type.
    answers: RefCell<FxHashMap<Type, bool>>,
}

impl Constraint {
    pub(super) fn accepts(&self, ty: &Type) -> bool {
        match self {
            Constraint::Type(expected) => is_compatible(expected, ty, 64),
            Constraint::Relation(probe) => probe.accepts(ty),
        }
    }
}

impl Probe {
    fn accepts(&self, ty: &Type) -> bool {
        // A relation that waits for another argument does not reject a tuple here.
        let takes_tuples = self.operator.role(self.position) == Role::Tuple;
        if ty.as_tuple().is_some() != takes_tuples {
            return false;
        }
        if let Some(&answer) = self.answers.borrow().get(ty) {
            return answer;
        }
        if self.answers.borrow().len() >= MAX_PROBES || ty.weight() > MAX_WEIGHT {
            return false;
        }
        let mut inputs = self.inputs.clone();
        inputs[self.position] = ty.clone();
        let answer = !is_refused(self.operator, &self.relation, &inputs);
        self.answers.borrow_mut().insert(ty.clone(), answer);
        answer
    }
}

/// Returns true if a relation fails because of its arguments.
fn is_refused(operator: &Operator, relation: &Relation, inputs: &[Type]) -> bool {
    let State::Failed(reason) = probe(relation, operator.args, inputs).0 else { return false };
    let is_argument =
        |place: Place| matches!(place, Place::Argument(_) | Place::Field(..) | Place::Operator);
    // A failure because of attributes does not count: they may be written later.
    reason.marks.is_empty() || reason.marks.iter().any(|mark| is_argument(mark.place))
}

/// Returns a new type variable.
fn unknown() -> Type {
    let mut table = Table::new();
    let node = table.fresh();
    table.resolve(node)
}

/// Returns the type of a variable, or a type variable if it has errors or is too large.
fn type_of(known: &[Local<'_>], name: Option<&str>) -> Type {
    let local = name.and_then(|name| known.iter().find(|local| local.name == name));
    match local.map(|local| local.ty) {
        Some(ty) if !ty.has_error() && ty.weight() <= MAX_WEIGHT => ty.clone(),
        _ => unknown(),
    }
}

impl List<'_, '_> {
    /// Returns the constraint of `call` on the argument at the cursor, if it is known.
    pub(super) fn constraint_of(
        &self,
        call: &CallSite<'_>,
        known: &[Local<'_>],
    ) -> Option<Constraint> {
        let param = |ty: &Type| {
            let signature = ty.signature()?;
            Some(Constraint::Type(signature.func.params().get(call.argument)?.clone()))
        };
        match &call.callee {
            CalleeSyntax::Global(name) => {
                let (def, _) = semantics::global(self.db, self.module?, name.text())?;
                param(&semantics::global_type(self.db, def)?)
            }
            CalleeSyntax::Variable(name) => {
                param(known.iter().find(|local| local.name == name.text())?.ty)
            }
            CalleeSyntax::Name(name) => {
                let types = self.module.map(|module| semantics::module_types(self.db, module));
                if let Some((_, constructor)) =
                    types.as_ref().and_then(|types| types.constructor(name))
                {
                    return Some(Constraint::Type(constructor.fields.get(call.argument)?.clone()));
                }
                let probe = self.probe(operators::named(name)?, call, known)?;
                Some(Constraint::Relation(Box::new(probe)))
            }
            CalleeSyntax::Expr(_) => None,
        }
    }

    /// Returns the relation of a call with the types of the arguments that are written.
    fn probe(
        &self,
        operator: &'static Operator,
        call: &CallSite<'_>,
        known: &[Local<'_>],
    ) -> Option<Probe> {
        let mut relation = operator.plain_relation()?;
        if let Some(attrs) = self.attrs_of(operator) {
            relation.attrs = attrs;
        }
        let types = |arguments: &Arguments<'_>| -> Vec<Type> {
            arguments.variables.iter().map(|name| type_of(known, *name)).collect()
        };
        let mut inputs = types(&call.before);
        inputs.resize_with(call.argument + 1, unknown);
        inputs.extend(call.after.iter().flat_map(types));
        if inputs.len() > operator.args.len() && !operator.variadic {
            return None;
        }
        inputs.resize_with(inputs.len().max(operator.args.len()), unknown);
        Some(Probe {
            operator,
            relation,
            inputs,
            position: call.argument,
            answers: RefCell::default(),
        })
    }

    /// Returns the attributes of the call around the cursor.
    fn attrs_of(&self, operator: &'static Operator) -> Option<Attrs> {
        let view = self.view?;
        let number = view.unit_at(self.offset)?;
        let is_call = |call: &&CallData| {
            matches!(call.callee, Callee::Operator(found) if found == operator) && call.trusted
        };
        let (call, _) = view
            .calls(number)
            .filter(|(call, range)| {
                is_call(call) && range.start() < self.offset && self.offset <= range.end()
            })
            .min_by_key(|(_, range)| range.len())?;
        call.attrs.schema().is_some().then(|| call.attrs.clone())
    }

    /// Returns true if an operator accepts the arguments that follow its name or, if there are none,
    /// `first` as its first argument.
    pub(super) fn may_call(
        &self,
        operator: &'static Operator,
        arguments: Option<&Arguments<'_>>,
        first: Option<&Type>,
        known: &[Local<'_>],
    ) -> bool {
        let inputs = match arguments {
            Some(arguments) => {
                let count = arguments.variables.len();
                let has = |name: &&str| {
                    operator.schema.is_some_and(|schema| schema.field(name).is_some())
                };
                if !(count == operator.args.len() || operator.variadic)
                    || !arguments.attributes.iter().all(has)
                {
                    return false;
                }
                // The values of attributes are not parsed here, and the relation may depend on them.
                if !arguments.attributes.is_empty() {
                    return true;
                }
                arguments.variables.iter().map(|name| type_of(known, *name)).collect()
            }
            None => {
                let mut inputs: Vec<Type> = first.into_iter().cloned().collect();
                if inputs.is_empty() || operator.args.is_empty() {
                    return true;
                }
                inputs.resize_with(operator.args.len(), unknown);
                inputs
            }
        };
        operator.plain_relation().is_none_or(|relation| !is_refused(operator, &relation, &inputs))
    }
}

/// Returns true if a value of type `ty` may be passed where `expected` is expected. Type parameters
/// accept any type.
fn is_compatible(expected: &Type, ty: &Type, depth: u32) -> bool {
    if depth == 0 {
        return true;
    }
    let all = |a: &[Type], b: &[Type]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_compatible(a, b, depth - 1))
    };
    match (expected, ty) {
        (Type::Param(_) | Type::Var(_) | Type::Error | Type::OpenTensor(_), _) => true,
        // One of its instances may be compatible.
        (_, Type::Poly(_)) => true,
        (_, Type::Error | Type::Var(_) | Type::OpenTensor(_)) => false,
        (Type::Tensor(a), Type::Tensor(b)) => {
            let fits = |(a, b): (&Dim, &Dim)| match (a.as_known(), b.as_known()) {
                (Some(a), Some(b)) => a == b,
                _ => true,
            };
            a.dtype == b.dtype
                && a.shape.len() == b.shape.len()
                && a.shape.iter().zip(&b.shape).all(fits)
        }
        (Type::Tuple(a), Type::Tuple(b)) => all(a, b),
        (Type::Adt(a), Type::Adt(b)) => a.name() == b.name() && all(a.args(), b.args()),
        (Type::Ref(a), Type::Ref(b)) => is_compatible(a.inner(), b.inner(), depth - 1),
        (Type::Func(a), Type::Func(b)) => {
            all(a.params(), b.params()) && is_compatible(a.ret(), b.ret(), depth - 1)
        }
        _ => false,
    }
}
