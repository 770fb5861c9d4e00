//! Small edits of a module, the largest first.

use std::collections::{BTreeSet, HashMap};

use syntax::{
    Node, NodeOrToken, SyntaxKind, TextRange,
    ast::{self, AstNode},
};

use types::AttrDefault;

use super::{
    cut::{self, Parts, Style},
    facts::{Block, Facts, Stmt, text_range, tokens},
    sizes::smaller_sizes,
};

/// A change of a module.
#[derive(Clone, Debug)]
pub(super) enum Edit {
    /// Removes the definition at this range.
    Item(TextRange),
    /// Builds a module of parts.
    Parts(Parts),
    /// Removes an attribute from a call.
    Attribute {
        /// The range of the call.
        call: TextRange,
        /// That of the attribute with its comma.
        removed: TextRange,
    },
    /// Replaces ranges of the text.
    Text(Vec<(TextRange, String)>),
}

impl Edit {
    /// Returns the text after the edit; `None` if a type that it needs is not known.
    pub(super) fn apply(&self, facts: &Facts, style: Style) -> Option<String> {
        match self {
            Edit::Item(removed) => {
                Some(cut::with_items(facts, |range| range != *removed, style.is_plain))
            }
            Edit::Parts(parts) => cut::build(facts, parts, style),
            Edit::Attribute { removed, .. } => {
                Some(cut::replaced(facts, &[(*removed, String::new())]))
            }
            Edit::Text(edits) => Some(cut::replaced(facts, edits)),
        }
    }
}

/// The most edits of one round, which bounds the work for what cannot be reduced.
const MOST: usize = 2_000;

/// Returns the edits of a module in the order in which they are tried.
/// `can_cut` is true if its function can be built anew, and `by_lines` if lines are removed.
pub(super) fn edits(
    facts: &Facts,
    block: Option<&Block>,
    (can_cut, by_lines): (bool, bool),
) -> Vec<Edit> {
    let root = facts.root();
    let is_definition = |item: &ast::Item<'_>| {
        matches!(item, ast::Item::FnDef(_) | ast::Item::TypeDef(_) | ast::Item::TirItem(_))
    };
    let ranges: Vec<TextRange> = facts.items().filter(is_definition).map(AstNode::range).collect();
    let mut found: Vec<Edit> = match ranges.len() {
        0 | 1 => Vec::new(),
        _ => ranges.into_iter().map(Edit::Item).collect(),
    };
    if by_lines {
        found.extend(fewer_lines(facts));
    }
    if let Some(block) = block.filter(|_| can_cut) {
        found.push(Edit::Parts(whole(block, Vec::new())));
        in_block(facts, block, &mut found);
    }
    for node in root.descendants() {
        in_lists(facts, node, &mut found);
    }
    found.extend(smaller_sizes(facts).into_iter().map(Edit::Text));
    found.truncate(MOST);
    found
}

/// Returns all parts of a block.
pub(super) fn whole(block: &Block, replaced: Vec<TextRange>) -> Parts {
    let ranges = block.stmts.iter().map(|stmt| stmt.range).chain(block.tail).collect();
    let last = block.stmts.last().and_then(|stmt| stmt.binder);
    Parts { ranges, result: last.filter(|_| block.tail.is_none()), replaced }
}

/// The edits of the expressions of a block.
fn in_block(facts: &Facts, block: &Block, found: &mut Vec<Edit>) {
    let root = facts.root();
    let inner = root.descendants().filter(|node| block.range.contains_range(node.range()));
    let mut exprs: Vec<Node<'_>> = inner
        .filter(|node| ast::Expr::can_cast(node.kind()) && !is_leaf(node.kind()))
        .filter(|node| !is_attribute(root, node.range()))
        .collect();
    exprs.sort_by_key(|node| (std::cmp::Reverse(node.range().len()), node.start()));
    // The whole body is one expression.
    found.extend(exprs.iter().rev().map(|node| Edit::Parts(Parts::of(vec![node.range()]))));
    if let (Some(tail), Some(Stmt { binder: Some(binder), .. })) = (block.tail, block.stmts.last())
        && let [of] = facts.uses_in(tail)
        && of.binder == *binder
        && of.range == tail
        && let Some(value) = facts.value_of(*binder)
    {
        let mut ranges: Vec<TextRange> = block.stmts.iter().map(|stmt| stmt.range).collect();
        ranges.pop();
        ranges.push(value);
        found.push(Edit::Parts(Parts::of(ranges)));
    }
    let replaced = exprs.iter().map(|node| node.range());
    // A parameter that is the whole value of a binding is a cut, which was tried.
    found.extend(replaced.map(|range| Edit::Parts(whole(block, vec![range]))));
    for node in exprs {
        let branches: Vec<Node<'_>> = match node.kind() {
            SyntaxKind::IF_EXPR => node.children().skip(1).collect(),
            SyntaxKind::PAREN_EXPR | SyntaxKind::BLOCK_EXPR => node.children().collect(),
            _ => Vec::new(),
        };
        let text = |branch: Node<'_>| format!("({})", facts.slice(branch.range()));
        let is_other =
            |branch: &Node<'_>| node.kind() != SyntaxKind::PAREN_EXPR || is_leaf(branch.kind());
        found.extend(branches.into_iter().filter(is_other).map(|branch| {
            let new = match is_leaf(branch.kind()) {
                true => facts.slice(branch.range()).to_owned(),
                false => text(branch),
            };
            Edit::Text(vec![(node.range(), new)])
        }));
    }
}

/// Returns true for names and numbers.
pub(super) fn is_leaf(kind: SyntaxKind) -> bool {
    use SyntaxKind::{GLOBAL_REF, GRAPH_REF, LITERAL, LOCAL_REF, NAME_REF};
    matches!(kind, LITERAL | LOCAL_REF | GRAPH_REF | GLOBAL_REF | NAME_REF)
}

pub(super) fn is_attribute(root: Node<'_>, range: TextRange) -> bool {
    root.path_to(range).iter().any(|node| node.kind() == SyntaxKind::ATTR)
}

/// The removal of what is optional in a node: attributes, result types, annotations, type parameters, fields.
fn in_lists(facts: &Facts, node: Node<'_>, found: &mut Vec<Edit>) {
    use SyntaxKind::{
        ATTR, CALL_EXPR, FN_DEF, FN_EXPR, LET_STMT, PARAM_LIST, RET_TYPE, TUPLE_EXPR, TUPLE_TYPE,
        TYPE_PARAM_LIST,
    };
    let remove = |range| Edit::Text(vec![(range, String::new())]);
    match node.kind() {
        CALL_EXPR => {
            let call = ast::CallExpr::cast(node);
            let Some(list) = call.and_then(ast::CallExpr::args) else { return };
            let callee = call.and_then(ast::CallExpr::callee).map(AstNode::range);
            let operator = callee.and_then(|range| operators::find(facts.slice(range)));
            let fields = operator.and_then(|it| it.schema).map_or(&[][..], |schema| schema.fields);
            let is_required = |attr: &ast::Attr<'_>| {
                let name = attr.name().map(|name| name.text());
                let mut fields = fields.iter().filter(|_| name.is_some());
                fields.any(|it| {
                    Some(it.name) == name.as_deref() && matches!(it.default, AttrDefault::Required)
                })
            };
            let optional = list.attrs().filter(|attr| !is_required(attr));
            let removed = |attr: ast::Attr<'_>| with_comma(list.node(), attr.node());
            found.extend(
                optional.map(|attr| Edit::Attribute { call: node.range(), removed: removed(attr) }),
            );
        }
        PARAM_LIST => {
            let attributes = node.children().filter(|child| child.kind() == ATTR);
            found.extend(attributes.map(|child| remove(with_comma(node, child))));
        }
        FN_DEF | FN_EXPR => {
            found.extend(node.child(RET_TYPE).map(|child| remove(child.range())));
            let unused =
                node.child(TYPE_PARAM_LIST).filter(|list| !is_mentioned(facts, node, *list));
            found.extend(unused.map(|child| remove(child.range())));
            let params = node.child(PARAM_LIST).into_iter().flat_map(Node::children);
            let unused = params
                .filter_map(ast::Param::cast)
                .filter(|param| param.name().is_some_and(|name| !facts.is_used(name.range())))
                .filter(|param| !facts.explains(param.range()));
            if let Some(list) = node.child(PARAM_LIST).filter(|_| node.kind() == FN_DEF) {
                let unused: Vec<Node<'_>> = unused.map(ast::Param::node).collect();
                let mut size = unused.len();
                // All of them, then halves, quarters and so on.
                while size > 0 {
                    found.extend(unused.chunks(size).map(|params| without(facts, list, params)));
                    size /= 2;
                }
            }
        }
        LET_STMT => {
            let colon = node.token(SyntaxKind::COLON);
            let ty = node.children().find(|child| ast::Type::can_cast(child.kind()));
            if let (Some(colon), Some(ty)) = (colon, ty) {
                found.push(remove(TextRange::new(colon.start(), ty.range().end())));
            }
        }
        TUPLE_EXPR if node.children().nth(1).is_some() => {
            let written = declared(facts, node.range());
            let fields = node.children().count();
            // A written type loses the same field.
            if written.iter().any(|ty| ty.kind() != TUPLE_TYPE || ty.children().count() != fields) {
                return;
            }
            found.extend((0..fields).map(|field| {
                let tuples = written.iter().chain([&node]);
                Edit::Text(tuples.filter_map(|it| without_field(facts, *it, field)).collect())
            }));
        }
        _ => {}
    }
}

/// Returns true if a node mentions one of its type parameters.
fn is_mentioned(facts: &Facts, node: Node<'_>, list: Node<'_>) -> bool {
    let params = list.descendants().filter_map(ast::TypeParam::cast);
    let names: BTreeSet<String> =
        params.filter_map(|param| Some(param.name()?.text().to_string())).collect();
    let own = list.range();
    let mut others = node.descendants().flat_map(Node::tokens);
    others.any(|token| {
        !own.contains_range(token.range()) && names.contains(facts.slice(token.range()))
    })
}

/// Returns the written types of an expression: of the variable that it is bound to, and of the function that returns it.
fn declared<'f>(facts: &'f Facts, value: TextRange) -> Vec<Node<'f>> {
    let root = facts.root();
    let mut found = Vec::new();
    let binder = facts.binder_of(value);
    if let Some(binder) = binder {
        let path = root.path_to(binder);
        let stmt = path.iter().rev().find_map(|node| ast::LetStmt::cast(*node));
        found.extend(stmt.and_then(ast::LetStmt::ty).map(ast::Type::node));
    }
    let uses = facts.uses_in(root.range()).iter();
    let uses = uses.filter(|of| Some(of.binder) == binder).map(|of| of.range);
    found.extend(uses.chain([value]).filter_map(|range| result_type(root, range)));
    found.sort_by_key(|ty| ty.start());
    found.dedup_by_key(|ty| ty.start());
    found
}

/// Returns the written result type of the function that returns an expression.
fn result_type(root: Node<'_>, range: TextRange) -> Option<Node<'_>> {
    use SyntaxKind::{
        ARM, ARM_LIST, BLOCK, BLOCK_EXPR, FN_DEF, FN_EXPR, IF_EXPR, MATCH_EXPR, PAREN_EXPR,
    };
    let path = root.path_to(range);
    let outer = path.iter().rev().skip_while(|node| node.range() == range && node.kind() != BLOCK);
    for node in outer {
        match node.kind() {
            BLOCK if ast::Block::cast(*node)?.tail()?.range().contains_range(range) => {}
            ARM | ARM_LIST | BLOCK_EXPR | IF_EXPR | MATCH_EXPR | PAREN_EXPR => {}
            FN_DEF | FN_EXPR => {
                let ret = ast::RetType::cast(node.child(SyntaxKind::RET_TYPE)?)?;
                return ret.ty().map(ast::Type::node);
            }
            _ => return None,
        }
    }
    None
}

/// Returns the edit that removes a field of a tuple or of its type. A tuple of one field ends with a comma.
fn without_field(facts: &Facts, tuple: Node<'_>, field: usize) -> Option<(TextRange, String)> {
    let removed = tuple.children().nth(field)?;
    let mut others = tuple.children().filter(|other| other.start() != removed.start());
    match (others.next()?, others.next()) {
        (only, None) => Some((tuple.range(), format!("({},)", facts.slice(only.range())))),
        _ => Some((with_comma(tuple, removed), String::new())),
    }
}

/// Removes parameters from a list.
fn without(facts: &Facts, list: Node<'_>, removed: &[Node<'_>]) -> Edit {
    let removed: BTreeSet<u32> = removed.iter().map(|node| node.start().into()).collect();
    let kept = list.children().filter(|node| !removed.contains(&node.start().into()));
    let kept: Vec<&str> = kept.map(|node| facts.slice(node.range())).collect();
    Edit::Text(vec![(list.range(), format!("({})", kept.join(", ")))])
}

/// Returns the range of an element of a list with the comma before it, or else after it.
fn with_comma(list: Node<'_>, element: Node<'_>) -> TextRange {
    let is_comma = |part: &syntax::Element<'_>| matches!(part, NodeOrToken::Token(token) if token.kind() == SyntaxKind::COMMA);
    let range_of = |part: syntax::Element<'_>| match part {
        NodeOrToken::Token(token) => token.range(),
        NodeOrToken::Node(node) => node.range(),
    };
    let own = element.range();
    let commas = || list.elements().filter(is_comma).map(range_of);
    if let Some(before) = commas().rfind(|comma| comma.end() <= own.start()) {
        return TextRange::new(before.start(), own.end());
    }
    let after = commas().find(|comma| comma.start() >= own.end());
    after.map_or(own, |after| TextRange::new(own.start(), after.end()))
}

/// Returns the edit that makes a definition of its value, if that is a function.
pub(super) fn lifted(facts: &Facts, block: &Block) -> Option<Edit> {
    let tail = block.tail.filter(|_| block.stmts.is_empty())?;
    let path = facts.root().path_to(tail);
    let def = path.iter().find_map(|node| ast::FnDef::cast(*node))?;
    let function = path.iter().find_map(|node| ast::FnExpr::cast(*node))?;
    let generics = [def.type_params(), function.type_params()];
    let [outer, inner] = generics.map(|list| list.map(|list| facts.slice(list.range())));
    // The names of two lists could be equal.
    if function.range() != tail || outer.is_some() && inner.is_some() {
        return None;
    }
    let params = function.params()?;
    let names = |list: ast::ParamList<'_>| {
        let names = list.params().filter_map(|param| param.name());
        names.map(|name| name.text().to_string()).collect::<BTreeSet<String>>()
    };
    let shadows = names(params);
    let is_kept = |param: &ast::Param<'_>| {
        param.name().is_some_and(|name| {
            facts.is_used(name.range()) && !shadows.contains(name.text().as_ref())
        })
    };
    let outer_params = def.params().into_iter().flat_map(|list| list.params()).filter(is_kept);
    let all = outer_params.map(ast::Param::node).chain(params.node().children());
    let list: Vec<&str> = all.map(|node| facts.slice(node.range())).collect();
    let rest = facts.slice(TextRange::new(params.range().end(), tail.end()));
    let name = def.name()?.text();
    let generics = outer.or(inner).unwrap_or_default();
    let text = format!("def {name}{generics}({}){rest}", list.join(", "));
    Some(Edit::Text(vec![(def.range(), text)]))
}

/// The most lines that are removed one by one.
const MOST_LINES: usize = 500;

/// Removes lines of a text that is not parsed well: halves, quarters and so on. Lines that bind what other lines use stay.
fn fewer_lines(facts: &Facts) -> Vec<Edit> {
    let mut start = 0;
    let ends = facts.text.split_inclusive('\n').map(|line| {
        let from = start;
        start += line.len();
        (from, start)
    });
    let lines: Vec<(usize, usize)> = ends.collect();
    // The first and the last place of each name. The first one binds it, also where the tree is not that of a module.
    let mut names: HashMap<&str, (usize, usize)> = HashMap::new();
    for (kind, range) in tokens(&facts.text) {
        if matches!(kind, SyntaxKind::LOCAL | SyntaxKind::GRAPH) {
            let places = names.entry(&facts.text[range.clone()]);
            places.or_insert((range.start, range.start)).1 = range.start;
        }
    }
    let mut found = Vec::new();
    let mut size = lines.len() / 2;
    while size > 0 && lines.len() / size <= MOST_LINES {
        found.extend(lines.chunks(size).filter_map(|chunk| {
            let (from, to) = (chunk.first()?.0, chunk.last()?.1);
            let range = text_range(from..to)?;
            let is_bound_here =
                |(first, last): &(usize, usize)| (from..to).contains(first) && *last >= to;
            let is_used = names.values().any(is_bound_here);
            (!is_used).then(|| Edit::Text(vec![(range, String::new())]))
        }));
        size /= 2;
    }
    found
}

/// Returns modules of the item at a place alone: of its header without a body, if the place is there.
pub(super) fn headers(facts: &Facts, place: TextRange) -> Vec<String> {
    let Some(item) = facts.items().find(|item| item.range().contains_range(place)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if let ast::Item::FnDef(def) = item
        && let (Some(params), Some(body)) = (def.params(), def.body())
        && !body.range().contains_range(place)
    {
        let own = params.params().find(|param| param.range().contains_range(place));
        let list = params.range();
        let result = def.ret().map(|ret| ret.range());
        // The new body is no value of the result type, unless that has an error itself.
        let keeps_result = def.ret().is_some_and(|ret| ret.range().contains(place.start()));
        let choices = [(true, own), (false, own), (true, None), (false, None)];
        let choices = choices.iter().filter(|choice| choice.0 || keeps_result || result.is_none());
        for ((removes_result, only), is_plain) in
            choices.flat_map(|choice| [true, false].map(|is_plain| (*choice, is_plain)))
        {
            let braces = braces(def.node(), body.range());
            let mut edits = vec![(braces, "{ () }".to_owned())];
            edits.extend(only.map(|param| (list, format!("({})", facts.slice(param.range())))));
            edits.extend(result.filter(|_| removes_result).map(|range| (range, String::new())));
            found.push(cut::item(facts, item.range(), edits, is_plain));
        }
    }
    found
        .extend([true, false].map(|is_plain| cut::item(facts, item.range(), Vec::new(), is_plain)));
    found
}

/// Returns the range of a body with its braces.
fn braces(def: Node<'_>, body: TextRange) -> TextRange {
    let mut tokens = def.tokens();
    let open =
        def.tokens().rfind(|it| it.kind() == SyntaxKind::L_BRACE && it.start() <= body.start());
    let close = tokens.rfind(|it| it.kind() == SyntaxKind::R_BRACE && it.start() >= body.start());
    match (open, close) {
        (Some(open), Some(close)) => TextRange::new(open.start(), close.range().end()),
        _ => body,
    }
}

/// Returns the edits that give graph variables the numbers from 0.
pub(super) fn renumbered(facts: &Facts) -> Edit {
    let root = facts.root();
    let stmts = root.descendants().filter_map(ast::GraphStmt::cast);
    let binders = stmts.filter_map(|stmt| stmt.name()).map(AstNode::range);
    let mut edits = Vec::new();
    for (number, binder) in binders.enumerate() {
        let name = format!("%{number}");
        let uses = facts.uses_in(root.range()).iter().filter(|of| of.binder == binder);
        edits.extend(uses.map(|of| (of.range, name.clone())));
        edits.push((binder, name));
    }
    edits.sort_by_key(|(range, _)| range.start());
    Edit::Text(edits)
}
