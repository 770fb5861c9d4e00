//! The relations of types by name, with their typing rules, and the relation of projections.

use operators::Operator;
use types::{
    AttrDefault, AttrField, AttrSchema, AttrType, AttrValue, Attrs, Call, Halt, Outcome, Relation,
    RelationFn, RelationKey, Releases, State, Type,
};

use crate::body::WrittenAttr;

/// The name of the relation of projections, also in place of an operator's.
const PROJECTION: &str = "TupleGetItem";

static PROJECTION_ATTRS: AttrSchema = AttrSchema {
    key: "relay.attrs.TupleGetItemAttrs",
    fields: &[AttrField {
        name: "index",
        ty: AttrType::Int,
        default: AttrDefault::Required,
        boxed: false,
        min: None,
        releases: Releases::ALL,
    }],
};

/// Returns the typing rule of a relation of a polymorphic type.
pub fn typing_rule(relation: &RelationKey) -> Option<RelationFn> {
    match relation.operator {
        PROJECTION => Some(tuple_get_item),
        operator => operators::named(operator)?.rule.map(|(_, solve)| solve),
    }
}

/// Returns the type of a call of an operator by its relation, if that gives one.
pub(crate) fn result_of_call(operator: &Operator, attrs: &Attrs, args: &[Type]) -> Option<Type> {
    let (state, mut types) = types::probe(&operator.relation(attrs)?, operator.args, args);
    types.pop().filter(|_| state == State::Solved)
}

/// Returns the relation between a tuple and its field `index`.
pub(crate) fn projection(index: u32) -> Relation {
    let attrs = Attrs::new(&PROJECTION_ATTRS, vec![AttrValue::int(index.into())]);
    Relation { name: PROJECTION, operator: PROJECTION, solve: tuple_get_item, attrs }
}

/// The relation that a name in a `where` clause refers to.
pub(crate) enum RelationName {
    /// That of an operator.
    Operator(&'static Operator),
    /// That of projections to a field.
    Projection(u32),
}

/// Returns the relation called `name` that has the attributes `attrs`: `Broadcast`, or
/// `Reshape(t1, t2, newshape=[-1])`. Several operators have one relation, with different attributes.
pub(crate) fn named(name: &str, attrs: &[WrittenAttr]) -> Option<RelationName> {
    if name == PROJECTION {
        let index = attrs.iter().find(|attr| attr.name == "index")?.value.as_int()?;
        return Some(RelationName::Projection(u32::try_from(index).ok()?));
    }
    let has_all = |operator: &&'static Operator| {
        let schema = operator.declared_attrs();
        attrs.iter().all(|attr| schema.is_some_and(|schema| schema.position(&attr.name).is_some()))
    };
    let of_relation = || operators::all().filter(|operator| operator.relation_name() == name);
    let found = of_relation().find(has_all).or_else(|| of_relation().next());
    found.or_else(|| operators::named(name)).map(RelationName::Operator)
}

fn tuple_get_item(call: &mut Call<'_>) -> Outcome {
    let index = call.attrs().int("index").unwrap_or_default();
    match call.has_field(0, index as usize) {
        None => return Err(Halt::NotYet),
        Some(true) => return call.assign_field(1, 0, index as usize),
        Some(false) => {}
    }
    match call.ty(0) {
        Type::Param(_) => Err(Halt::NotYet),
        Type::Error => Err(Halt::Silent),
        other => types::Reason::new(
            types::Code::Projection,
            types::text!("{} has no field {index}", types::Fact::Described(other.clone())),
        )
        .fail(),
    }
}
