//! The differences between two paired expressions.

use smol_str::SmolStr;
use syntax::TextRange;
use types::{AttrValue, Attrs, Type};

use crate::{
    facts::CallFacts,
    flat::group_of,
    graph::{Kind, NONE, NodeId},
    half::{Half, same_annotation},
    report::{Change, Fact, Pair, PairKind, Property, UnpairedExpr},
};

/// A builder of pairs of nodes of two modules.
pub(crate) struct PairBuilder<'h> {
    pub(crate) a: &'h Half,
    pub(crate) b: &'h Half,
}

impl PairBuilder<'_> {
    /// Returns the pair of two nodes.
    pub(crate) fn pair(&self, a: NodeId, b: NodeId, kind: PairKind, changes: Vec<Change>) -> Pair {
        Pair {
            before: self.a.graph.node(a).range,
            after: self.b.graph.node(b).range,
            kind,
            operators: (operator(self.a, a), operator(self.b, b)),
            groups: (group_of(&self.a.graph, a), group_of(&self.b.graph, b)),
            changes,
        }
    }

    /// Adds the pair of two nodes, and those of the `let` variables that are bound to them.
    pub(crate) fn pair_with_lets(
        &self,
        (a, b): (NodeId, NodeId),
        kind: PairKind,
        changes: Vec<Change>,
        pairs: &mut Vec<Pair>,
    ) {
        pairs.push(self.pair(a, b, kind, changes));
        for (let_a, let_b) in self.a.lets(a).iter().zip(self.b.lets(b)) {
            let (ty_a, ty_b) = (let_a.annotation.as_ref(), let_b.annotation.as_ref());
            let changes: Vec<Change> = annotation_change(ty_a, ty_b).into_iter().collect();
            pairs.push(Pair {
                before: let_a.range,
                after: let_b.range,
                kind: if changes.is_empty() { PairKind::Same } else { PairKind::Changed },
                operators: Default::default(),
                groups: Default::default(),
                changes,
            });
        }
    }

    /// Returns true if the annotations of `let` variables agree wherever both sides have one.
    pub(crate) fn same_let_annotations(&self, pairs: &[(NodeId, NodeId)]) -> bool {
        if self.a.has_no_lets() || self.b.has_no_lets() {
            return true;
        }
        pairs.iter().all(|(a, b)| {
            let mut both = self.a.lets(*a).iter().zip(self.b.lets(*b));
            both.all(|(x, y)| same_annotation(x.annotation.as_ref(), y.annotation.as_ref()))
        })
    }

    /// Returns the differences between two nodes, not counting their operands.
    pub(crate) fn own_changes(&self, a: NodeId, b: NodeId) -> Vec<Change> {
        let (node_a, node_b) = (self.a.graph.node(a), self.b.graph.node(b));
        let mut changes = Vec::new();
        if node_a.label == node_b.label {
            return changes;
        }
        if node_a.family != node_b.family {
            changes.push(Change {
                what: Property::Operator,
                name: SmolStr::default(),
                before: callee(self.a, a),
                after: callee(self.b, b),
                places: (callee_place(self.a, a), callee_place(self.b, b)),
            });
        }
        match (node_a.kind, node_b.kind) {
            (Kind::Call, Kind::Call) => self.attributes(a, b, &mut changes),
            (Kind::Fn, Kind::Fn) => self.function_attributes(a, b, &mut changes),
            (Kind::Proj, Kind::Proj) => {
                let field = |extra: u32| Fact::Count(extra as usize);
                changes.push(change(Property::Field, "", field(node_a.extra), field(node_b.extra)));
            }
            (Kind::Match, Kind::Match) => {
                let (before, after) = (Fact::Expr(node_a.range), Fact::Expr(node_b.range));
                changes.push(change(Property::Patterns, "", before, after));
            }
            (Kind::Literal | Kind::Constant, Kind::Literal | Kind::Constant) => {
                changes.clear();
                let (before, after) = (Fact::Expr(node_a.range), Fact::Expr(node_b.range));
                changes.push(change(Property::Value, "", before, after));
            }
            _ => {}
        }
        if changes.is_empty() && node_a.kind != Kind::Param {
            let (before, after) = (Fact::Expr(node_a.range), Fact::Expr(node_b.range));
            changes.push(change(Property::Operands, "", before, after));
        }
        changes
    }

    fn attributes(&self, a: NodeId, b: NodeId, changes: &mut Vec<Change>) {
        let (Some(call_a), Some(call_b)) = (call(self.a, a), call(self.b, b)) else { return };
        // An unknown operator has no schema for a comparison of attributes.
        if !call_a.is_operator || !call_b.is_operator {
            return;
        }
        let (attrs_a, attrs_b) = (&call_a.attrs, &call_b.attrs);
        let place = |call: &CallFacts, name: &str| {
            call.written.iter().find(|attr| attr.name == name).map(|attr| attr.range)
        };
        let place_a = |name: &str| place(call_a, name);
        let place_b = |name: &str| place(call_b, name);
        let names =
            names_of(attrs_a).chain(names_of(attrs_b).filter(|name| {
                attrs_a.schema().is_none_or(|schema| schema.position(name).is_none())
            }));
        let of = |attrs: &Attrs, name: &str| {
            let position = attrs.schema().and_then(|schema| schema.position(name));
            position.and_then(|at| attrs.values().get(at)).cloned()
        };
        let fact = |value: Option<AttrValue>| value.map_or(Fact::Absent, Fact::Attribute);
        for name in names {
            let (before, after) = (of(attrs_a, name), of(attrs_b, name));
            if before == after {
                continue;
            }
            changes.push(Change {
                places: (place_a(name), place_b(name)),
                ..change(Property::Attribute, name, fact(before), fact(after))
            });
        }
        if changes.is_empty() {
            // Attributes that do not match the schema are compared as written.
            for attr in &*call_a.written {
                let other = call_b.written.iter().find(|other| other.name == attr.name);
                if other.is_none_or(|other| other.value != attr.value) {
                    let after = other.map(|other| other.value.clone());
                    changes.push(Change {
                        places: (place_a(&attr.name), place_b(&attr.name)),
                        ..change(
                            Property::Attribute,
                            &attr.name,
                            Fact::Attribute(attr.value.clone()),
                            fact(after),
                        )
                    });
                }
            }
            for attr in &*call_b.written {
                if !call_a.written.iter().any(|other| other.name == attr.name) {
                    let after = Fact::Attribute(attr.value.clone());
                    changes.push(Change {
                        places: (None, place_b(&attr.name)),
                        ..change(Property::Attribute, &attr.name, Fact::Absent, after)
                    });
                }
            }
        }
    }

    fn function_attributes(&self, a: NodeId, b: NodeId, changes: &mut Vec<Change>) {
        let function = |half: &Half, id: NodeId| {
            let lambda = half.graph.lambda(half.graph.node(id).extra);
            half.facts().function(lambda).map(|f| (f.attrs.clone(), f.params))
        };
        let (attrs_a, params_a) = function(self.a, a).unwrap_or_default();
        let (attrs_b, params_b) = function(self.b, b).unwrap_or_default();
        let mut values: Vec<(SmolStr, Fact, Fact)> = Vec::new();
        for (name, value) in attrs_a {
            values.push((name, Fact::Attribute(value), Fact::Absent));
        }
        for (name, value) in attrs_b {
            match values.iter_mut().find(|(known, ..)| *known == name) {
                Some(known) => known.2 = Fact::Attribute(value),
                None => values.push((name, Fact::Absent, Fact::Attribute(value))),
            }
        }
        for (name, before, after) in values {
            if before != after {
                changes.push(change(Property::Attribute, &name, before, after));
            }
        }
        if params_a != params_b {
            let (before, after) = (Fact::Count(params_a), Fact::Count(params_b));
            changes.push(change(Property::Operands, "", before, after));
        }
    }

    /// Returns the difference between the types of two nodes.
    pub(crate) fn type_changes(&self, a: NodeId, b: NodeId) -> Vec<Change> {
        let (Some(a), Some(b)) = (self.a.ty(a), self.b.ty(b)) else { return Vec::new() };
        let mut changes = Vec::new();
        if a == b || a.has_error() || b.has_error() {
            return changes;
        }
        let (before, after) = (Fact::Type(a.clone()), Fact::Type(b.clone()));
        let what = match (a.as_tensor(), b.as_tensor()) {
            (Some(x), Some(y)) if x.dtype != y.dtype && x.shape == y.shape => Property::DataType,
            (Some(x), Some(y)) if x.dtype == y.dtype => Property::Shape,
            _ => Property::Type,
        };
        changes.push(change(what, "", before, after));
        changes
    }
}

/// Returns a change without places.
pub(crate) fn change(what: Property, name: &str, before: Fact, after: Fact) -> Change {
    Change { what, name: name.into(), before, after, places: (None, None) }
}

/// Returns the difference between two annotations, if both exist.
pub(crate) fn annotation_change(a: Option<&Type>, b: Option<&Type>) -> Option<Change> {
    let (before, after) = (a?, b?);
    (!same_annotation(a, b)).then(|| {
        let (before, after) = (Fact::Type(before.clone()), Fact::Type(after.clone()));
        change(Property::Annotation, "", before, after)
    })
}

fn names_of(attrs: &Attrs) -> impl Iterator<Item = &'static str> {
    attrs.schema().into_iter().flat_map(|schema| schema.fields).map(|field| field.name)
}

/// Returns the call of a node.
fn call(half: &Half, id: NodeId) -> Option<&CallFacts> {
    half.facts().call(&half.graph, id)
}

/// Returns the name of the callee of a node: an operator, a global or a constructor; empty for other
/// nodes.
pub(crate) fn operator(half: &Half, id: NodeId) -> SmolStr {
    match half.graph.node(id).kind {
        Kind::Call | Kind::Construct => {
            call(half, id).map(|call| call.name.clone()).unwrap_or_default()
        }
        Kind::Apply => {
            let callee = half.graph.node(half.graph.operands(id)[0]);
            let name = half.facts().globals.get(callee.extra as usize);
            let name = name.filter(|_| callee.kind == Kind::Global);
            name.cloned().unwrap_or(SmolStr::new_static("fn"))
        }
        _ => SmolStr::default(),
    }
}

fn callee(half: &Half, id: NodeId) -> Fact {
    match operator(half, id) {
        name if name.is_empty() => Fact::Expr(half.graph.node(id).range),
        name => Fact::Callee(name),
    }
}

fn callee_place(half: &Half, id: NodeId) -> Option<TextRange> {
    call(half, id).map(|call| call.callee)
}

/// Returns the report of a node without a partner.
pub(crate) fn unpaired(half: &Half, id: NodeId) -> UnpairedExpr {
    debug_assert!(id != NONE);
    UnpairedExpr { range: half.graph.node(id).range, operator: operator(half, id) }
}
