//! Lowering: from the syntax tree of a definition to its body.
//!
//! The only input is the green tree, without the offset of the definition in its file or the rest of
//! the module, so that the result stays valid when those change. Unedited statements keep their units.

mod attr;
mod call;
mod common;
mod expr;
mod features;
mod literal;
mod pattern;
mod python;
mod scope;
mod shared;
mod stmt;
mod ty;
mod type_def;
mod variable;

use std::{borrow::Cow, sync::Arc};

use smol_str::SmolStr;
use syntax::{
    Element, GreenNode, Node, NodeOrToken, SyntaxKind, TextRange, TextSize, Token,
    ast::{self, AstNode},
};
use types::{Attrs, DTypeClass, Kind, Param, ParamId, Releases, Type};

use crate::{
    body::*,
    list::{Builder, List},
};
use attr::other_meaning;
pub(crate) use attr::{means_another, rebind};
pub(crate) use common::is_shareable;
use common::{Common, PreviousBody};
use features::features_of;
use scope::{Names, Scope, TypeParams};
use shared::{Claim, LoweringCache, is_claim};
pub(crate) use ty::meta_parts;
pub use ty::meta_symbol;
pub use type_def::lower_type_def;

/// The tree of a definition, with the body and the source map that follow from it. Made by
/// [`LoweredBody::new`] alone, so that they always belong together.
#[derive(Clone)]
pub struct LoweredBody {
    green: GreenNode,
    body: Arc<Body>,
    source: Arc<SourceMap>,
}

impl LoweredBody {
    /// Lowers the tree of a definition or of a bare expression.
    ///
    /// `other` may be any definition, and is most useful if it is the previous version of this one:
    /// units of the same syntax are shared with it. The result is equal without it.
    pub fn new(green: &GreenNode, other: Option<&LoweredBody>) -> LoweredBody {
        let parts = lower(Node::root(green), other);
        let body = other.filter(|_| parts.has_same_body).map(|other| other.body.clone());
        let body = body.unwrap_or_else(|| Arc::new(Body::new(parts.units)));
        let source = other.filter(|_| parts.has_same_source).map(|other| other.source.clone());
        let source = source
            .unwrap_or_else(|| Arc::new(SourceMap { starts: parts.starts, units: parts.ranges }));
        LoweredBody { green: green.clone(), body, source }
    }

    /// Returns the body.
    pub fn body(&self) -> &Arc<Body> {
        &self.body
    }

    /// Returns the source map of the body.
    pub fn source(&self) -> &Arc<SourceMap> {
        &self.source
    }
}

/// The units of a definition, and what they have in common with another version.
struct Parts {
    units: Units,
    ranges: List<UnitRanges>,
    starts: Vec<TextSize>,
    /// True if all units are those of the other version.
    has_same_body: bool,
    /// True if all places are, of the units and in them.
    has_same_source: bool,
}

fn lower(node: Node<'_>, other: Option<&LoweredBody>) -> Parts {
    let mut lowering = Lowerer::default();
    let origin = node.start();
    let block = ast::FnDef::cast(node)
        .and_then(|def| def.body())
        .or_else(|| ast::ExprItem::cast(node).and_then(|item| item.block()));

    let (header, header_ranges) = match other.filter(|other| has_same_header(node, &other.green)) {
        Some(other) => {
            let header = other.body.units[0].clone();
            let params = header.header().into_iter().flat_map(|header| &header.type_params);
            lowering.type_params.extend(params.cloned());
            (header, other.source.units[0].clone())
        }
        None => {
            let (header, ranges) = lowering.header(node);
            let known = other.map(|other| &other.body.units[0]).filter(|known| ***known == header);
            (known.cloned().unwrap_or_else(|| Arc::new(header)), ranges)
        }
    };
    lowering.def_params = lowering.type_params.len();
    let old = other.and_then(|other| PreviousBody::new(other, &header));
    let block = block.map(|block| block.node());
    let common = old.as_ref().zip(block).and_then(|(old, block)| Common::new(block, old));
    let old = old.zip(common);
    let common = old.as_ref().map(|(_, common)| *common).unwrap_or_default();
    // The header has the number 0, so that slots have those of their units minus one.
    let (none, no_ranges) = (List::default(), List::default());
    let (old_units, old_source) = match &old {
        Some((old, _)) => (&old.body.units, &old.source.units),
        None => (&none, &no_ranges),
    };
    let slots = block.map_or_else(Vec::new, |block| slots(block, common));
    let count = common.prefix + slots.len() + common.suffix;
    let mut units: Builder<Arc<Unit>, UnitsSummary> = Builder::with_capacity(count + 1);
    let mut ranges = Builder::with_capacity(count + 1);
    let mut starts = Vec::with_capacity(count + 1);
    let is_complete = old_units.len() == count + 1;
    let mut has_same_body =
        is_complete && other.is_some_and(|other| Arc::ptr_eq(&header, &other.body.units[0]));
    let mut has_same_source =
        is_complete && other.is_some_and(|other| other.source.units[0] == header_ranges);
    starts.push(TextSize::new(0));
    // The first chunk stays if the header does.
    let same_unit = usize::from(old_units.first().is_some_and(|old| Arc::ptr_eq(old, &header)));
    let same_ranges = usize::from(old_source.first() == Some(&header_ranges));
    if same_unit == 0 {
        units.push(header);
    }
    if same_ranges == 0 {
        ranges.push(header_ranges);
    }
    if let (Some((old, _)), Some(block)) = (&old, block) {
        units.extend(old_units, 1 - same_unit..1 + common.prefix);
        ranges.extend(old_source, 1 - same_ranges..1 + common.prefix);
        let known = &old.source.starts[1..=common.prefix];
        starts.extend(moved(known, old.block.start(), block.start() - origin));
    }
    for (number, slot) in (1 + common.prefix..).zip(&slots) {
        starts.push(slot.node.start() - origin);
        let (mut unit, own_ranges) = lowering.statement(slot);
        if old_units.is_empty() {
            units.push(Arc::new(unit));
            ranges.push(own_ranges);
            continue;
        }
        // Another tree may lower to an equal unit, such as after white space was added. The old
        // unit keeps its types.
        let after_edit = (old_units.len() + number).checked_sub(count + 1);
        let known = [Some(number), after_edit].into_iter().flatten();
        let known_ranges = known.clone().filter_map(|at| old_source.get(at));
        let known = known.filter_map(|at| old_units.get(at));
        units.push(match known.clone().find(|known| ***known == unit) {
            Some(known) => known.clone(),
            None => {
                has_same_body = false;
                known.for_each(|known| common::share(&mut unit, known));
                Arc::new(unit)
            }
        });
        let same = known_ranges.clone().find(|known| **known == own_ranges);
        has_same_source &= same.is_some();
        ranges.push(same.cloned().unwrap_or(own_ranges));
    }
    if let (Some((old, _)), Some(block)) = (&old, block) {
        let first = old_units.len() - common.suffix;
        let end = block.range().end() - origin;
        units.extend(old_units, first..old_units.len());
        ranges.extend(old_source, first..old_source.len());
        starts.extend(moved(&old.source.starts[first..], old.block.range().end(), end));
    }
    // Those of all units stay if those of the header and of the replaced units do.
    let (units, ranges) = (units.finish(), ranges.finish());
    let first = 1 + common.prefix;
    // The units on either side of the replaced ones have all moved by the same distance.
    has_same_source &= other.is_some_and(|other| {
        let (old, replaced) = (&other.source.starts, first..first + slots.len());
        old.len() == starts.len()
            && (old.get(1), old.last()) == (starts.get(1), starts.last())
            && old[replaced.clone()] == starts[replaced]
    });
    Parts { units, ranges, starts, has_same_body, has_same_source }
}

/// Returns offsets with the distance to `to` that they had to `from`. The difference wraps, so that one
/// addition moves each offset in either direction.
fn moved(offsets: &[TextSize], from: TextSize, to: TextSize) -> impl Iterator<Item = TextSize> {
    let by = u32::from(to).wrapping_sub(from.into());
    offsets.iter().map(move |&offset| TextSize::new(u32::from(offset).wrapping_add(by)))
}

/// Returns true if two definitions have the same syntax up to the body.
fn has_same_header(node: Node<'_>, other: &GreenNode) -> bool {
    let old = Node::root(other);
    let header = |element: &NodeOrToken<Node<'_>, syntax::Token<'_>>| match element {
        NodeOrToken::Node(node) => node.kind() != SyntaxKind::BLOCK,
        NodeOrToken::Token(_) => true,
    };
    let mut new = node.elements().take_while(header);
    let mut old = old.elements().take_while(header);
    loop {
        match (new.next(), old.next()) {
            (None, None) => return true,
            (Some(NodeOrToken::Node(new)), Some(NodeOrToken::Node(old)))
                if std::ptr::eq(new.green(), old.green()) => {}
            (Some(NodeOrToken::Token(new)), Some(NodeOrToken::Token(old)))
                if new.kind() == old.kind() && new.text() == old.text() => {}
            _ => return false,
        }
    }
}

/// A statement, or the tail expression of a block with the comment after it.
struct Slot<'t> {
    node: Node<'t>,
    /// The range and text of the comment after the tail expression.
    tail: Option<(TextRange, SmolStr)>,
}

fn start(element: &Element<'_>) -> TextSize {
    match element {
        NodeOrToken::Node(node) => node.start(),
        NodeOrToken::Token(token) => token.start(),
    }
}

/// Returns true if an element of a block is a statement or its tail expression.
fn is_slot(element: &Element<'_>) -> bool {
    matches!(element, NodeOrToken::Node(node) if node.kind() != SyntaxKind::ERROR)
}

/// Returns the slots of a block between those in common with the previous one.
fn slots(block: Node<'_>, common: Common) -> Vec<Slot<'_>> {
    let from = block.start() + common.prefix_len;
    let until = block.range().end() - common.suffix_len;
    // Most statements are longer.
    let mut slots: Vec<Slot<'_>> = Vec::with_capacity(usize::from(until - from) / 32);
    let mut after_expr = false;
    let mut elements = block.elements_near(from);
    let mut next = elements.find(|element| start(element) >= from);
    while let Some(element) = next {
        // The comments before the first statement in common may belong to the tail before it.
        if common.suffix > 0 && is_slot(&element) && start(&element) >= until {
            break;
        }
        match element {
            NodeOrToken::Node(node) => {
                after_expr = !node.kind().is_stmt();
                if node.kind() != SyntaxKind::ERROR {
                    slots.push(Slot { node, tail: None });
                }
            }
            NodeOrToken::Token(token) if after_expr && is_claim(&token) => {
                if let Some(slot) = slots.last_mut()
                    && slot.tail.is_none()
                {
                    slot.tail = Some((token.range(), token.text().into()));
                }
            }
            NodeOrToken::Token(_) => {}
        }
        next = elements.next();
    }
    slots
}

/// Lowering of one unit after the other.
#[derive(Default)]
struct Lowerer {
    origin: TextSize,
    /// The unit so far. Its lists keep their capacity for the next unit.
    unit: Unit,
    /// The ranges of its expressions, and the others, relative to its start.
    expr_ranges: Vec<TextRange>,
    ranges: Vec<TextRange>,
    /// Its length.
    len: TextSize,
    scope: Scope,
    shared: LoweringCache,
    type_params: TypeParams,
    /// The number of them that belong to the definition.
    def_params: usize,
    next_param: u32,
    /// The free names of the unit.
    frees: Names,
    /// True if a variable of the unit so far has a name with a dot.
    has_dotted_binder: bool,
    /// All graph variables of the unit so far, in scope or not.
    graphs: Names,
    /// Shared by the calls without attributes.
    no_attrs: Attrs,
}

impl Lowerer {
    /// Starts a unit.
    fn begin(&mut self, node: Node<'_>, kind: UnitKind) {
        self.origin = node.start();
        self.unit.kind = kind;
        self.len = node.range().len();
        self.scope.clear();
        self.type_params.truncate(self.def_params);
        self.next_param = 0;
        self.frees.clear();
        self.has_dotted_binder = false;
        self.graphs.clear();
    }

    /// Lowers the header of a definition. Its type parameters stay in scope.
    fn header(&mut self, node: Node<'_>) -> (Unit, UnitRanges) {
        self.begin(node, UnitKind::Header);
        let Some(def) = ast::FnDef::cast(node) else {
            // A bare expression has no header.
            self.len = TextSize::new(0);
            return self.finish();
        };
        let end = def.body().map_or(node.range().end(), |body| body.range().start());
        self.len = end - node.start();
        let function =
            self.signature(def.type_params(), def.params(), def.ret(), def.where_clause());
        self.unit.fns.push(function);
        self.finish()
    }

    fn statement(&mut self, slot: &Slot<'_>) -> (Unit, UnitRanges) {
        let node = slot.node;
        let kind = match node.kind() {
            SyntaxKind::LET_STMT => UnitKind::Let,
            SyntaxKind::GRAPH_STMT => UnitKind::Graph,
            SyntaxKind::FREE_VAR_STMT => UnitKind::FreeVar,
            SyntaxKind::EXPR_STMT => UnitKind::Sequence,
            _ => UnitKind::Tail,
        };
        self.begin(node, kind);
        if kind == UnitKind::Tail {
            let root = self.expr(node);
            self.unit.root = Some(root);
            if let Some((range, text)) = &slot.tail {
                self.comment(root, *range, text);
                self.len = self.len.max(range.end() - self.origin);
            }
        } else {
            let (root, binder) = self.stmt(node);
            self.unit.root = root;
            self.unit.binds = binder;
        }
        self.finish()
    }

    fn finish(&mut self) -> (Unit, UnitRanges) {
        /// Moves the elements to a list of exact capacity; the other list keeps its own for reuse.
        fn exact<T>(list: &mut Vec<T>) -> Vec<T> {
            if list.is_empty() {
                return Vec::new();
            }
            let mut exact = Vec::with_capacity(list.len());
            exact.append(list);
            exact
        }
        let ranges = self.shared.ranges(self.len, &self.expr_ranges, &self.ranges);
        self.expr_ranges.clear();
        self.ranges.clear();
        let full = &mut self.unit;
        let (mut releases, mut other) = (Releases::ALL, Releases::NONE);
        for call in &full.calls {
            releases = releases.and(call.releases);
            other = other.or(other_meaning(call));
        }
        let (features, is_one_value) = features_of(full);
        let unit = Unit {
            kind: full.kind,
            features,
            is_one_value,
            releases,
            other,
            name_summary: full.binders.iter().fold(0, |all, binder| all | name_bit(&binder.name)),
            exprs: exact(&mut full.exprs),
            binders: exact(&mut full.binders),
            frees: exact(&mut full.frees),
            fns: std::mem::take(&mut full.fns),
            matches: std::mem::take(&mut full.matches),
            calls: exact(&mut full.calls),
            root: full.root.take(),
            binds: full.binds.take(),
            type_uses: std::mem::take(&mut full.type_uses),
            type_comments: exact(&mut full.type_comments),
            problems: std::mem::take(&mut full.problems),
            index: Default::default(),
        };
        (unit, ranges)
    }

    /// Ends the scope that began at a mark.
    fn leave(&mut self, mark: usize) {
        self.scope.leave(mark, &self.unit.binders);
    }

    /// Adds a range to the source map.
    fn range(&mut self, range: TextRange) -> RangeId {
        let id = RangeId(self.ranges.len() as u32);
        self.ranges.push(range - self.origin);
        id
    }

    fn problem(&mut self, range: TextRange, kind: ProblemKind) {
        let range = self.range(range);
        self.problem_at(range, kind);
    }

    fn problem_at(&mut self, range: RangeId, kind: ProblemKind) {
        self.unit.problems.push(Problem { range, kind });
    }

    fn push(&mut self, range: TextRange, expr: Expr) -> ExprId {
        let id = ExprId(self.unit.exprs.len() as u32);
        self.unit.exprs.push(expr);
        self.expr_ranges.push(range - self.origin);
        id
    }

    fn bind(&mut self, binder: Binder) -> BinderId {
        let id = BinderId(self.unit.binders.len() as u32);
        self.unit.binders.push(binder);
        self.scope.bind(id, &self.unit.binders);
        id
    }

    /// Returns a variable, without bringing it into scope.
    fn binder(&mut self, name: Option<ast::Name<'_>>, kind: BinderKind) -> Binder {
        let (text, range) = name.map_or_else(
            || (SmolStr::default(), TextRange::empty(self.origin)),
            |name| {
                // TVM prints `%y-malformed-ir` for a parameter that is bound twice, and `%y` for its
                // uses.
                let text = name.text();
                // A name with dots consists of several tokens.
                self.has_dotted_binder |= matches!(text, Cow::Owned(_));
                (SmolStr::new(text.strip_suffix("-malformed-ir").unwrap_or(&text)), name.range())
            },
        );
        let mut letters = text.bytes().skip(1);
        let is_bad = match kind {
            BinderKind::Graph => !letters.all(|b| b.is_ascii_digit()),
            _ => letters.next().is_some_and(|b| b.is_ascii_digit()),
        };
        if is_bad {
            self.problem(range, ProblemKind::BadBinder { name: text.clone(), kind });
        }
        Binder { name: text, range: self.range(range), kind, annotation: None }
    }

    /// Records a `/* ty=T span=S */` comment about `subject`. `range` is that of the comment.
    fn type_comment(&mut self, subject: Subject, range: TextRange, comment: &str) {
        let Some(Claim { at, text }) = self.shared.claim(comment) else { return };
        let ty = TextRange::at(range.start() + at, TextSize::of(text.as_str()));
        let rest = range.end().checked_sub(ty.end()).map_or(0, u32::from);
        let range = self.range(ty);
        self.unit.type_comments.push(TypeComment { subject, range, rest, text });
    }

    /// Lowers the type parameters, parameters, result and relations of a function. Parameters and
    /// type parameters stay in scope.
    fn signature(
        &mut self,
        type_params: Option<ast::TypeParamList<'_>>,
        params: Option<ast::ParamList<'_>>,
        ret: Option<ast::RetType<'_>>,
        relations: Option<ast::WhereClause<'_>>,
    ) -> Function {
        let mut function = Function::default();
        let mut names = Names::default();
        for param in type_params.into_iter().flat_map(ast::TypeParamList::params) {
            let Some(name) = param.name() else { continue };
            self.unique_param(type_params, name, &function.type_params, &mut names);
            let kind = match param.kind() {
                None => <(Kind, DTypeClass)>::default(),
                Some(kind) => Kind::parse(kind.text()).unwrap_or_else(|| {
                    self.problem(kind.range(), ProblemKind::UnknownKind(kind.text().into()));
                    <(Kind, DTypeClass)>::default()
                }),
            };
            let param = self.declare_param(name.text(), kind);
            function.type_params.push(param);
        }
        if let Some(list) = params {
            self.params(list, &mut function);
        }
        function.ret = ret.and_then(ast::RetType::ty).map(|ty| self.ty(ty.node()));
        for relation in relations.into_iter().flat_map(ast::WhereClause::relations) {
            function.relations.extend(self.relation(relation));
        }
        function
    }

    /// Reports a type parameter of `list` of the name of one of those before it, which are `earlier`.
    fn unique_param(
        &mut self,
        list: Option<ast::TypeParamList<'_>>,
        name: Token<'_>,
        earlier: &[Param],
        names: &mut Names,
    ) {
        let Some(at) = names.find(name.text(), earlier, |param| Some(param.name())) else { return };
        let all = list.into_iter().flat_map(ast::TypeParamList::params);
        let first = all.filter_map(ast::TypeParam::name).nth(at as usize);
        let first = self.range(first.unwrap_or(name).range());
        let kind = ProblemKind::DuplicateParam { name: name.text().into(), first };
        self.problem(name.range(), kind);
    }

    /// Brings a type parameter into scope. Headers and statements number theirs separately.
    fn declare_param(&mut self, name: &str, (kind, class): (Kind, DTypeClass)) -> Param {
        let id = match self.unit.kind {
            UnitKind::Header => ParamId::in_header(self.next_param),
            _ => ParamId::in_statement(self.next_param),
        };
        self.next_param += 1;
        let param = Param::new(name, kind, id).with_class(class);
        self.type_params.push(param.clone());
        param
    }

    fn params(&mut self, list: ast::ParamList<'_>, function: &mut Function) {
        let mut last = None;
        let (first, mut names) = (self.unit.binders.len(), Names::default());
        for element in list.node().parts() {
            match element {
                NodeOrToken::Node(node) => {
                    last = None;
                    if let Some(param) = ast::Param::cast(node) {
                        if !function.attrs.is_empty() {
                            self.problem(param.range(), ProblemKind::ArgAfterAttr);
                        }
                        let mut binder = self.binder(param.name(), BinderKind::Param);
                        binder.annotation = param.ty().map(|ty| self.ty(ty.node()));
                        let (name, others) = (&binder.name, &self.unit.binders[first..]);
                        if !name.is_empty()
                            && let Some(at) = names.find(name, others, |other| Some(&other.name))
                        {
                            let range = param.name().map_or(param.range(), |n| n.range());
                            let (name, first) = (name.clone(), others[at as usize].range);
                            self.problem(range, ProblemKind::DuplicateParam { name, first });
                        }
                        function.params.push(*last.insert(self.bind(binder)));
                    } else if let Some(attr) = ast::Attr::cast(node) {
                        let name = attr.name().map(|n| SmolStr::new(n.text())).unwrap_or_default();
                        let value = self.attr_value(attr.value().map(|v| v.node()));
                        function.attrs.push((name, value));
                    }
                }
                NodeOrToken::Token(token) if is_claim(&token) => {
                    if let Some(binder) = last {
                        self.type_comment(Subject::Binder(binder), token.range(), token.text());
                    }
                }
                NodeOrToken::Token(_) => {}
            }
        }
    }
}

/// Parses the type in a comment. Names in it are not resolved.
pub(crate) fn printed_type(text: &str) -> Option<Type> {
    Lowerer::default().claimed(text)
}
