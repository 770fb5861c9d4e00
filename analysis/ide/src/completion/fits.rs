//! What fits an argument: by the type that a function declares, by the relation of an operator.

use std::cell::RefCell;

use operators::Operator;
use rustc_hash::FxHashMap;
use semantics::body::{CallData, Callee as Called, Expr};
use types::{Attrs, Dim, Place, Relation, State, Table, Type, probe};

use super::{List, ahead::Ahead};
use crate::{
    cursor::{CallSite, Callee},
    locals::Local,
};

/// The most types that a relation is asked about: most variables of a network share a few.
const MAX_ASKED: usize = 256;
/// The heaviest type that a relation is asked about.
const MAX_WEIGHT: u32 = 256;

/// What an argument has to be.
pub(super) enum Fits {
    Unknown,
    Type(Type),
    Relation(Box<Asked>),
}

/// A relation that waits for one of its arguments.
pub(super) struct Asked {
    operator: &'static Operator,
    relation: Relation,
    /// The types of the arguments, as far as they are known.
    inputs: Vec<Type>,
    /// The argument that is asked about.
    position: usize,
    /// What has been answered.
    answers: RefCell<FxHashMap<Type, bool>>,
}

impl Fits {
    pub(super) fn takes(&self, ty: &Type) -> bool {
        match self {
            Fits::Unknown => false,
            Fits::Type(wanted) => may_be(wanted, ty, 64),
            Fits::Relation(asked) => asked.takes(ty),
        }
    }
}

impl Asked {
    fn takes(&self, ty: &Type) -> bool {
        // A relation that waits for another argument does not say what it thinks of this one.
        let takes_tuples = matches!(self.relation.name, "Concatenate" | "Stack")
            || self.operator.name == "concatenate";
        if ty.as_tuple().is_some() != takes_tuples {
            return false;
        }
        if let Some(&answer) = self.answers.borrow().get(ty) {
            return answer;
        }
        if self.answers.borrow().len() >= MAX_ASKED || ty.weight() > MAX_WEIGHT {
            return false;
        }
        let mut inputs = self.inputs.clone();
        inputs[self.position] = ty.clone();
        let answer = !is_refused(self.operator, &self.relation, &inputs);
        self.answers.borrow_mut().insert(ty.clone(), answer);
        answer
    }
}

/// Whether a relation fails for what its arguments are.
fn is_refused(operator: &Operator, relation: &Relation, inputs: &[Type]) -> bool {
    let State::Failed(reason) = probe(relation, operator.args, inputs).0 else { return false };
    let is_argument =
        |place: Place| matches!(place, Place::Argument(_) | Place::Field(..) | Place::Operator);
    // Attributes may still be written.
    reason.marks.is_empty() || reason.marks.iter().any(|mark| is_argument(mark.place))
}

/// A type of which nothing is known.
fn unknown() -> Type {
    let mut table = Table::new();
    let node = table.fresh();
    table.resolve(node)
}

/// The type of a variable, for a relation.
fn type_of(known: &[Local<'_>], name: Option<&str>) -> Type {
    let local = name.and_then(|name| known.iter().find(|local| local.name == name));
    match local.map(|local| local.ty) {
        Some(ty) if !ty.has_error() && ty.weight() <= MAX_WEIGHT => ty.clone(),
        _ => unknown(),
    }
}

impl List<'_, '_> {
    /// What the argument under the cursor has to be; `ahead` follows it.
    pub(super) fn wanted_by(
        &self,
        call: &CallSite<'_>,
        ahead: Option<&Ahead<'_>>,
        known: &[Local<'_>],
    ) -> Fits {
        let params = |ty: &Type| {
            let signature = ty.signature();
            match signature.as_ref().and_then(|s| s.func.params().get(call.argument)) {
                Some(ty) => Fits::Type(ty.clone()),
                None => Fits::Unknown,
            }
        };
        match &call.callee {
            Callee::Global(name) => {
                let found =
                    self.module.and_then(|module| semantics::global(self.db, module, name.text()));
                found
                    .and_then(|(def, _)| semantics::global_type(self.db, def))
                    .map_or(Fits::Unknown, |ty| params(&ty))
            }
            Callee::Variable(name) => {
                let variable = known.iter().find(|local| local.name == name.text());
                variable.map_or(Fits::Unknown, |local| params(local.ty))
            }
            Callee::Name(name) => {
                let types = self.module.map(|module| semantics::module_types(self.db, module));
                if let Some((_, constructor)) =
                    types.as_ref().and_then(|types| types.constructor(name))
                {
                    let field = constructor.fields.get(call.argument);
                    return field.map_or(Fits::Unknown, |ty| Fits::Type(ty.clone()));
                }
                let asked = operators::named(name)
                    .and_then(|operator| self.asked(operator, call, ahead, known));
                asked.map_or(Fits::Unknown, |asked| Fits::Relation(Box::new(asked)))
            }
            Callee::Expr(_) => Fits::Unknown,
        }
    }

    /// The relation of a call with the arguments that are there.
    fn asked(
        &self,
        operator: &'static Operator,
        call: &CallSite<'_>,
        ahead: Option<&Ahead<'_>>,
        known: &[Local<'_>],
    ) -> Option<Asked> {
        let mut relation = operator.plain_relation()?;
        if let Some(attrs) = self.attrs_of(operator) {
            relation.attrs = attrs;
        }
        let before = call.variables.iter().take(call.argument).map(|token| token.as_ref());
        let mut inputs: Vec<Type> =
            before.map(|token| type_of(known, token.map(|token| token.text()))).collect();
        inputs.resize_with(call.argument + 1, unknown);
        for token in ahead.into_iter().flat_map(|ahead| &ahead.arguments) {
            inputs.push(type_of(known, token.map(|token| token.text())));
        }
        if inputs.len() > operator.args.len() && !operator.variadic {
            return None;
        }
        inputs.resize_with(inputs.len().max(operator.args.len()), unknown);
        Some(Asked {
            operator,
            relation,
            inputs,
            position: call.argument,
            answers: RefCell::default(),
        })
    }

    /// The attributes that are written in the call around the cursor, before and behind it.
    fn attrs_of(&self, operator: &'static Operator) -> Option<Attrs> {
        let view = self.view?;
        let number = view.unit_at(self.offset)?;
        let unit = view.unit(number);
        let around = |call: &&CallData| {
            matches!(call.callee, Called::Operator(found) if found == operator) && call.trusted
        };
        let calls = unit.exprs.iter().zip(&unit.ranges).filter_map(|(expr, range)| match expr {
            Expr::Call(id) => Some((unit.call(*id), view.place(number, *range))),
            _ => None,
        });
        let (call, _) = calls
            .filter(|(call, range)| {
                around(call) && range.start() < self.offset && self.offset <= range.end()
            })
            .min_by_key(|(_, range)| range.len())?;
        call.attrs.schema().is_some().then(|| call.attrs.clone())
    }

    /// Whether an operator can be called with what follows its name or, where nothing does, with
    /// `first` as its first argument.
    pub(super) fn may_call(
        &self,
        operator: &'static Operator,
        ahead: Option<&Ahead<'_>>,
        first: Option<&Type>,
        known: &[Local<'_>],
    ) -> bool {
        let inputs = match ahead {
            Some(ahead) => {
                let count = ahead.arguments.len();
                let has = |name: &&str| {
                    operator.schema.is_some_and(|schema| schema.field(name).is_some())
                };
                if !(count == operator.args.len() || operator.variadic)
                    || !ahead.attributes.iter().all(has)
                {
                    return false;
                }
                // What the attributes say is not read here.
                if !ahead.attributes.is_empty() {
                    return true;
                }
                let names = ahead.arguments.iter().map(|token| token.map(|token| token.text()));
                names.map(|name| type_of(known, name)).collect()
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

/// Whether a value of type `ty` may stand where `wanted` is; parameters of types may be anything.
fn may_be(wanted: &Type, ty: &Type, depth: u32) -> bool {
    if depth == 0 {
        return true;
    }
    let all = |a: &[Type], b: &[Type]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| may_be(a, b, depth - 1))
    };
    match (wanted, ty) {
        (Type::Param(_) | Type::Var(_) | Type::Error | Type::OpenTensor(_), _) => true,
        // An instance of it may fit.
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
        (Type::Ref(a), Type::Ref(b)) => may_be(a.inner(), b.inner(), depth - 1),
        (Type::Func(a), Type::Func(b)) => {
            all(a.params(), b.params()) && may_be(a.ret(), b.ret(), depth - 1)
        }
        _ => false,
    }
}
