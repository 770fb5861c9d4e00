//! Smaller sizes, where these are tied by their order alone.

use std::collections::{BTreeMap, BTreeSet};

use syntax::{
    Node, SyntaxKind, TextRange,
    ast::{self, AstNode},
};

use super::facts::Facts;

/// The smallest size that another one becomes: an axis of size 1 is broadcast.
const SMALLEST: u64 = 2;
/// The sizes up to which none is made smaller by itself.
const SMALL: u64 = 8;
/// The most sizes that are made smaller one by one.
const MOST_SIZES: usize = 4;

/// The replacements of sizes, wherever they are written, by smaller ones: first of all of them, in the same order, then of
/// each. Each has the ranges of the text and their new texts.
pub(super) fn smaller_sizes(facts: &Facts) -> Vec<Vec<(TextRange, String)>> {
    let defs = facts.items().filter_map(|item| match item {
        ast::Item::FnDef(def) => Some(def.node()),
        _ => None,
    });
    let defs: Vec<Node<'_>> = defs.collect();
    let attributes = || defs.iter().flat_map(|def| def.descendants()).filter_map(ast::Attr::cast);
    if attributes().any(|attr| ties_sizes(facts, attr)) {
        return Vec::new();
    }
    // Numbers of axes are no sizes.
    let is_axes = |attr: &ast::Attr<'_>| {
        attr.name().is_some_and(|name| matches!(&*name.text(), "axis" | "axes"))
    };
    let axes: Vec<TextRange> = attributes().filter(is_axes).map(AstNode::range).collect();
    let attributes: Vec<TextRange> = attributes().map(AstNode::range).collect();
    let nodes = defs.iter().flat_map(|def| def.descendants());
    let nodes = nodes.filter(|it| it.kind() != SyntaxKind::PROJ_EXPR);
    let ints: Vec<(TextRange, u64, bool)> = nodes
        .flat_map(|node| node.tokens().map(move |token| (node.kind(), token)))
        .filter(|(_, token)| token.kind() == SyntaxKind::INT && !is_in(token.range(), &axes))
        .filter_map(|(kind, token)| {
            Some((token.range(), token.text().parse().ok()?, kind == SyntaxKind::DIM))
        })
        .collect();
    let sizes: BTreeSet<u64> = ints.iter().filter(|of| of.2 && of.1 > 1).map(|of| of.1).collect();
    // A number in an attribute that is no size may be a bound of one, such as a window: sizes above it stay above it.
    let in_attributes = ints.iter().filter(|of| is_in(of.0, &attributes));
    let written: BTreeSet<u64> = in_attributes.map(|of| of.1).collect();
    let bounds: BTreeSet<u64> = written.difference(&sizes).copied().collect();
    let least = |size: u64, bounds: &BTreeSet<u64>| {
        let bound = bounds.range(..size).next_back();
        bound.map_or(SMALLEST, |bound| SMALLEST.max(bound.saturating_add(1)))
    };
    let edit = |smaller: &BTreeMap<u64, u64>| {
        let changed = ints.iter().filter_map(|of| Some((of.0, smaller.get(&of.1)?.to_string())));
        changed.collect::<Vec<_>>()
    };
    // Different sizes stay different.
    let mut next = SMALLEST;
    let ordered = sizes.iter().map(|size| {
        let new = next.max(least(*size, &bounds)).min(*size);
        next = new + 1;
        (*size, new)
    });
    let ordered: BTreeMap<u64, u64> = ordered.collect();
    let mut found = Vec::new();
    if ordered.iter().any(|(size, new)| size != new) {
        found.push(edit(&ordered));
    }
    let large = sizes.iter().rev().filter(|size| **size > SMALL).take(MOST_SIZES);
    let single = large.filter_map(|size| {
        let new = least(*size, &written);
        (new < *size).then(|| edit(&BTreeMap::from([(*size, new)])))
    });
    found.extend(single);
    found
}

/// Returns true if a range lies in one of others, which are in text order and do not overlap.
fn is_in(range: TextRange, others: &[TextRange]) -> bool {
    let after = others.partition_point(|of| of.start() <= range.start());
    after.checked_sub(1).is_some_and(|at| others[at].contains_range(range))
}

/// Returns true for an attribute that ties sizes by more than their order: numbers of elements, blocks, groups.
fn ties_sizes(facts: &Facts, attr: ast::Attr<'_>) -> bool {
    let name = attr.name().map(|name| name.text().into_owned()).unwrap_or_default();
    let mut numbers = attr
        .node()
        .descendants()
        .flat_map(Node::tokens)
        .filter(|token| token.kind() == SyntaxKind::INT)
        .filter_map(|token| token.text().parse::<u64>().ok());
    match name.as_str() {
        "newshape" | "groups" | "block_size" => numbers.any(|number| number > 1),
        // `NCHW16c`
        _ if name.contains("layout") => {
            facts.slice(attr.range()).contains(|c: char| c.is_ascii_digit())
        }
        _ => false,
    }
}
