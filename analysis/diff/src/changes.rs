//! The differences between two paired expressions.

use semantics::body::{CallData, Callee, Expr, RangeId};
use smol_str::SmolStr;
use syntax::TextRange;
use types::{AttrValue, Attrs, Type};

use crate::{
    flat::group_of,
    graph::{Kind, NONE, NodeId, Origin},
    half::{Half, expr_of, same_annotation},
    report::{Change, Fact, Pair, PairKind, Unpaired, What},
};

/// A builder of pairs of nodes of two modules.
pub(crate) struct PairBuilder<'h, 'a, 'b> {
    pub(crate) a: &'h Half<'a>,
    pub(crate) b: &'h Half<'b>,
}

impl PairBuilder<'_, '_, '_> {
    /// Returns the pair of two nodes.
    pub(crate) fn pair(&self, a: NodeId, b: NodeId, kind: PairKind, changes: Vec<Change>) -> Pair {
        Pair {
            before: self.a.module.graph.node(a).range,
            after: self.b.module.graph.node(b).range,
            kind,
            operators: (operator(self.a, a), operator(self.b, b)),
            groups: (group_of(&self.a.module.graph, a), group_of(&self.b.module.graph, b)),
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
        let (lets_a, lets_b) = (self.a.lets(), self.b.lets());
        let (Some(of_a), Some(of_b)) = (lets_a.get(&a), lets_b.get(&b)) else { return };
        for (let_a, let_b) in of_a.iter().zip(of_b) {
            let (ty_a, ty_b) = (self.a.written(let_a), self.b.written(let_b));
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
        let (lets_a, lets_b) = (self.a.lets(), self.b.lets());
        if lets_a.is_empty() || lets_b.is_empty() {
            return true;
        }
        pairs.iter().all(|(a, b)| {
            let (Some(of_a), Some(of_b)) = (lets_a.get(a), lets_b.get(b)) else { return true };
            let mut both = of_a.iter().zip(of_b);
            both.all(|(x, y)| same_annotation(self.a.written(x), self.b.written(y)))
        })
    }

    /// Returns the differences between two nodes, not counting their operands.
    pub(crate) fn own_changes(&self, a: NodeId, b: NodeId) -> Vec<Change> {
        let (node_a, node_b) = (self.a.module.graph.node(a), self.b.module.graph.node(b));
        let mut changes = Vec::new();
        if node_a.label == node_b.label {
            return changes;
        }
        if node_a.family != node_b.family {
            changes.push(Change {
                what: What::Operator,
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
                changes.push(change(What::Field, "", field(node_a.extra), field(node_b.extra)));
            }
            (Kind::Match, Kind::Match) => {
                let (before, after) = (Fact::Expr(node_a.range), Fact::Expr(node_b.range));
                changes.push(change(What::Patterns, "", before, after));
            }
            (Kind::Literal | Kind::Constant, Kind::Literal | Kind::Constant) => {
                changes.clear();
                let (before, after) = (Fact::Expr(node_a.range), Fact::Expr(node_b.range));
                changes.push(change(What::Value, "", before, after));
            }
            _ => {}
        }
        if changes.is_empty() && node_a.kind != Kind::Param {
            let (before, after) = (Fact::Expr(node_a.range), Fact::Expr(node_b.range));
            changes.push(change(What::Operands, "", before, after));
        }
        changes
    }

    fn attributes(&self, a: NodeId, b: NodeId, changes: &mut Vec<Change>) {
        let (Some(call_a), Some(call_b)) = (self.a.module.call(a), self.b.module.call(b)) else {
            return;
        };
        // An unknown operator has no schema for a comparison of attributes.
        if [call_a, call_b].iter().any(|call| matches!(call.callee, Callee::Name(_))) {
            return;
        }
        let (attrs_a, attrs_b) = (self.a.module.attrs(call_a), self.b.module.attrs(call_b));
        let place = |half: &Half<'_>, id: NodeId, call: &CallData, name: &str| {
            let found = call.written.iter().find(|attr| attr.name == name)?;
            let start = range_in_call(half, id, found.name_range)?.start();
            Some(TextRange::new(start, range_in_call(half, id, found.value_range)?.end()))
        };
        let place_a = |name: &str| place(self.a, a, call_a, name);
        let place_b = |name: &str| place(self.b, b, call_b, name);
        let names =
            names_of(&attrs_a).chain(names_of(&attrs_b).filter(|name| {
                attrs_a.schema().is_none_or(|schema| schema.position(name).is_none())
            }));
        let of = |attrs: &Attrs, name: &str| {
            let position = attrs.schema().and_then(|schema| schema.position(name));
            position.and_then(|at| attrs.values().get(at)).cloned()
        };
        let fact = |value: Option<AttrValue>| value.map_or(Fact::Absent, Fact::Attribute);
        for name in names {
            let (before, after) = (of(&attrs_a, name), of(&attrs_b, name));
            if before == after {
                continue;
            }
            changes.push(Change {
                places: (place_a(name), place_b(name)),
                ..change(What::Attribute, name, fact(before), fact(after))
            });
        }
        if changes.is_empty() {
            // Attributes that do not match the schema are compared as written.
            for attr in &call_a.written {
                let other = call_b.written.iter().find(|other| other.name == attr.name);
                if other.is_none_or(|other| other.value != attr.value) {
                    let after = other.map(|other| other.value.clone());
                    changes.push(Change {
                        places: (place_a(&attr.name), place_b(&attr.name)),
                        ..change(
                            What::Attribute,
                            &attr.name,
                            Fact::Attribute(attr.value.clone()),
                            fact(after),
                        )
                    });
                }
            }
            for attr in &call_b.written {
                if !call_a.written.iter().any(|other| other.name == attr.name) {
                    let after = Fact::Attribute(attr.value.clone());
                    changes.push(Change {
                        places: (None, place_b(&attr.name)),
                        ..change(What::Attribute, &attr.name, Fact::Absent, after)
                    });
                }
            }
        }
    }

    fn function_attributes(&self, a: NodeId, b: NodeId, changes: &mut Vec<Change>) {
        let function = |half: &Half<'_>, id: NodeId| {
            let graph = &half.module.graph;
            let lambda = graph.lambda(graph.node(id).extra);
            half.module.function(lambda).map(|f| (f.attrs.clone(), f.params.len()))
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
                changes.push(change(What::Attribute, &name, before, after));
            }
        }
        if params_a != params_b {
            let (before, after) = (Fact::Count(params_a), Fact::Count(params_b));
            changes.push(change(What::Operands, "", before, after));
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
            (Some(x), Some(y)) if x.dtype != y.dtype && x.shape == y.shape => What::DataType,
            (Some(x), Some(y)) if x.dtype == y.dtype => What::Shape,
            _ => What::Type,
        };
        changes.push(change(what, "", before, after));
        changes
    }
}

/// Returns a change without places.
pub(crate) fn change(what: What, name: &str, before: Fact, after: Fact) -> Change {
    Change { what, name: name.into(), before, after, places: (None, None) }
}

/// Returns the difference between two annotations, if both exist.
pub(crate) fn annotation_change(a: Option<&Type>, b: Option<&Type>) -> Option<Change> {
    let (before, after) = (a?, b?);
    (!same_annotation(a, b)).then(|| {
        let (before, after) = (Fact::Type(before.clone()), Fact::Type(after.clone()));
        change(What::Annotation, "", before, after)
    })
}

fn names_of(attrs: &Attrs) -> impl Iterator<Item = &'static str> {
    attrs.schema().into_iter().flat_map(|schema| schema.fields).map(|field| field.name)
}

/// Returns the name of the callee of a node: an operator, a global or a constructor; empty for other
/// nodes.
pub(crate) fn operator(half: &Half<'_>, id: NodeId) -> SmolStr {
    let graph = &half.module.graph;
    let node = graph.node(id);
    match node.kind {
        Kind::Call | Kind::Construct => match half.module.call(id).map(|call| &call.callee) {
            Some(Callee::Operator(operator)) => SmolStr::new_static(operator.name),
            Some(Callee::Name(name)) => name.clone(),
            _ => SmolStr::default(),
        },
        Kind::Apply => match expr_of(half, graph.operands(id)[0]) {
            Some(Expr::Global(name)) => name.clone(),
            _ => SmolStr::new_static("fn"),
        },
        _ => SmolStr::default(),
    }
}

fn callee(half: &Half<'_>, id: NodeId) -> Fact {
    match operator(half, id) {
        name if name.is_empty() => Fact::Expr(half.module.graph.node(id).range),
        name => Fact::Callee(name),
    }
}

fn callee_place(half: &Half<'_>, id: NodeId) -> Option<TextRange> {
    range_in_call(half, id, half.module.call(id)?.callee_range)
}

/// Returns the range of a part of the call of a node.
fn range_in_call(half: &Half<'_>, id: NodeId, part: RangeId) -> Option<TextRange> {
    let node = half.module.graph.node(id);
    let Origin::Expr(expr_ref) = node.origin else { return None };
    let source = &half.module.sources[node.def as usize];
    Some(source.range(half.module.db, expr_ref.unit, part))
}

/// Returns the report of a node without a partner.
pub(crate) fn unpaired(half: &Half<'_>, id: NodeId) -> Unpaired {
    debug_assert!(id != NONE);
    Unpaired { range: half.module.graph.node(id).range, operator: operator(half, id) }
}
