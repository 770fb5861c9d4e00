//! The typing rules of relations that types refer to, and that of projections.

use types::{
    AttrDefault, AttrField, AttrSchema, AttrType, AttrValue, Attrs, Call, Halt, Outcome, Relation,
    RelationFn, RelationKey, Type,
};

/// The name of projections in place of an operator's.
const PROJECTION: &str = ".";

static PROJECTION_ATTRS: AttrSchema = AttrSchema {
    key: "relay.attrs.TupleGetItemAttrs",
    fields: &[AttrField {
        name: "index",
        ty: AttrType::Int,
        default: AttrDefault::Required,
        boxed: false,
        min: None,
    }],
};

/// Returns the typing rule of a relation of a polymorphic type.
pub fn typing_rule(relation: &RelationKey) -> Option<RelationFn> {
    match relation.operator {
        PROJECTION => Some(tuple_get_item),
        operator => operators::named(operator)?.rule.map(|(_, solve)| solve),
    }
}

/// Returns the relation between a tuple and its field `index`.
pub(super) fn projection(index: u32) -> Relation {
    let attrs = Attrs::new(&PROJECTION_ATTRS, vec![AttrValue::int(index.into())]);
    Relation { name: "TupleGetItem", operator: PROJECTION, solve: tuple_get_item, attrs }
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
