//! What a reader of a dump can do without: comments that say a type or a source, weights, and the
//! links of a chain in which each binding is used once, by the next.
//!
//! Nothing of the text is changed: an editor hides, dims and folds it.

use rustc_hash::{FxHashMap, FxHashSet};
use semantics::{
    Db, DefKind, SourceFile, Spot, View, all_defs,
    body::{BinderKind, Callee, Expr, ExprId, UnitKind},
    scope::Binding,
};
use syntax::{
    LineIndex, Node, NodeOrToken, SyntaxKind, TextRange, TextSize, Token,
    ast::{self, AstNode},
};

use crate::shapes::{is_index, keeps_data};

/// How many links a chain has at least, the last not counted.
const SHORTEST_CHAIN: usize = 2;
/// How many operators that keep the data are looked through to find a weight.
const MOST_KEPT: usize = 8;

/// What can be left out of sight.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Reading {
    /// Comments that say a type or a source, with the space in front of them.
    pub hidden: Vec<TextRange>,
    /// Weights: where they are declared and where they are used.
    pub dimmed: Vec<TextRange>,
    /// Lines (from 0, the first and the last) of chains, without what uses the last of them.
    pub chains: Vec<(u32, u32)>,
}

/// What can be left out of a file.
pub fn reading(db: &dyn Db, file: SourceFile, lines: &LineIndex) -> Reading {
    let mut found = Reading::default();
    for def in all_defs(db, file) {
        if !matches!(def.kind(db), DefKind::Fn | DefKind::Expr) {
            continue;
        }
        let Some(view) = View::new(db, def) else { continue };
        comments(&view, lines, &mut found.hidden);
        weights(&view, &mut found.dimmed);
        chains(&view, lines, &mut found.chains);
    }
    found.hidden.sort_by_key(|range| range.start());
    found.dimmed.sort_by_key(|range| (range.start(), range.end()));
    found.dimmed.dedup();
    found
}

/// `/* ty=… span=… */`, in all of a definition.
fn comments(view: &View<'_>, lines: &LineIndex, found: &mut Vec<TextRange>) {
    let base = view.def.start(view.db);
    let mut stack: Vec<Node<'_>> = vec![view.def.node(view.db)];
    let mut count = 0u32;
    while let Some(node) = stack.pop() {
        count += 1;
        if count.is_multiple_of(1024) {
            view.db.unwind_if_revision_cancelled();
        }
        let mut before: Option<Token<'_>> = None;
        for element in node.elements() {
            let token = match element {
                NodeOrToken::Node(child) => {
                    stack.push(child);
                    before = None;
                    continue;
                }
                NodeOrToken::Token(token) => token,
            };
            if is_printed(&token) {
                let space = before.filter(|t| t.kind() == SyntaxKind::WHITESPACE);
                let space = space.filter(|t| !t.text().contains('\n'));
                let start = space.map_or(token.start(), |space| space.start());
                let range = TextRange::new(start, token.range().end()) + base;
                if lines.line_at(range.start()) == lines.line_at(range.end()) {
                    found.push(range);
                }
            }
            before = Some(token);
        }
    }
}

/// A comment that TVM has printed.
fn is_printed(token: &Token<'_>) -> bool {
    token.kind() == SyntaxKind::BLOCK_COMMENT && {
        let text = token.text().trim_start_matches("/*").trim_start();
        text.starts_with("ty=") || text.starts_with("span=")
    }
}

/// Arguments that operators take as weights, and the parameters that are nothing else.
fn weights(view: &View<'_>, found: &mut Vec<TextRange>) {
    let mut data: FxHashSet<Binding> = FxHashSet::default();
    let mut uses: FxHashMap<Binding, Vec<TextRange>> = FxHashMap::default();
    for (number, unit) in view.body.units.iter().enumerate() {
        if number % 256 == 0 {
            view.db.unwind_if_revision_cancelled();
        }
        let spot = |expr: ExprId| Spot { unit: number, expr };
        for (index, expr) in unit.exprs.iter().enumerate() {
            if matches!(expr, Expr::Meta(_)) {
                found.push(view.range(spot(ExprId(index as u32))));
            }
        }
        for call in &unit.calls {
            let Callee::Operator(operator) = &call.callee else { continue };
            let symmetric = operator.args == ["lhs", "rhs"];
            for (at, &arg) in call.args.iter().enumerate() {
                let Some(param) = parameter(view, spot(arg)) else { continue };
                let name = operator.args.get(at).copied().unwrap_or_default();
                let keeps = at == 0 && keeps_data(operator);
                let is_table = at == 0 && operator.name == "take";
                if at > 0 && !symmetric && !operator.variadic && !is_index(name) {
                    uses.entry(param).or_default();
                } else if !(keeps || symmetric || is_table) {
                    data.insert(param);
                }
                if view.variable(spot(arg)) == Some(param) {
                    uses.entry(param).and_modify(|places| places.push(view.range(spot(arg))));
                }
            }
        }
    }
    uses.retain(|param, _| !data.contains(param));
    let def = ast::FnDef::cast(view.def.node(view.db));
    let params = def.and_then(|def| def.params());
    let base = view.def.start(view.db);
    let starts: FxHashSet<TextSize> =
        uses.keys().map(|&weight| view.binding_range(weight).start()).collect();
    for param in params.into_iter().flat_map(|list| list.params()) {
        let name = param.name().map(|name| name.node().start() + base);
        if name.is_some_and(|start| starts.contains(&start)) {
            found.push(param.node().range() + base);
        }
    }
    found.extend(uses.into_values().flatten());
}

/// The parameter of the definition that an argument is, in whatever form.
fn parameter(view: &View<'_>, mut spot: Spot) -> Option<Binding> {
    for _ in 0..MOST_KEPT {
        spot = view.resolve(spot);
        if let Some(binding) = view.variable(spot) {
            let is_param = binding.unit == 0 && view.binder(binding).kind == BinderKind::Param;
            return is_param.then_some(binding);
        }
        let unit = view.unit(spot.unit);
        let Expr::Call(id) = unit.expr(spot.expr) else { return None };
        let call = unit.call(*id);
        match &call.callee {
            Callee::Operator(operator) if keeps_data(operator) => {
                spot = Spot { unit: spot.unit, expr: *call.args.first()? };
            }
            _ => return None,
        }
    }
    None
}

/// Runs of bindings, each used once, by the statement behind it.
fn chains(view: &View<'_>, lines: &LineIndex, found: &mut Vec<(u32, u32)>) {
    let mut uses: FxHashMap<Binding, (u32, usize)> = FxHashMap::default();
    for (number, unit) in view.body.units.iter().enumerate() {
        if number % 256 == 0 {
            view.db.unwind_if_revision_cancelled();
        }
        for (index, expr) in unit.exprs.iter().enumerate() {
            if expr.is_step() {
                continue;
            }
            let spot = Spot { unit: number, expr: ExprId(index as u32) };
            if let Some(binding) = view.variable(spot) {
                let entry = uses.entry(binding).or_insert((0, number));
                *entry = (entry.0 + 1, number);
            }
        }
    }
    // Where each statement begins: its name, or the expression.
    let line_of = |number: usize| {
        let unit = view.unit(number);
        let start = match (unit.kind, unit.binds) {
            (UnitKind::Let | UnitKind::Graph, Some(binder)) => unit.binder(binder).range,
            _ => unit.range(unit.root?),
        };
        Some(lines.line_at(view.place(number, start).start()))
    };
    let links = |number: usize| {
        let binder = view
            .unit(number)
            .binds
            .filter(|_| matches!(view.unit(number).kind, UnitKind::Let | UnitKind::Graph));
        binder.is_some_and(|binder| {
            let binding = Binding { unit: number as u32, binder };
            uses.get(&binding) == Some(&(1, number + 1))
        })
    };
    let count = view.body.units.len();
    let mut first = 1;
    while first < count {
        let mut end = first;
        while end < count && links(end) {
            end += 1;
        }
        if end - first >= SHORTEST_CHAIN
            && let (Some(start), Some(stop)) = (line_of(first), line_of(end))
            && stop > start + 1
        {
            found.push((start, stop - 1));
        }
        first = end + 1;
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use syntax::LineIndex;

    use crate::fixture::Fixture;

    fn check(text: &str, expected: Expect) {
        let fixture = Fixture::new(text);
        let found = super::reading(&fixture.db, fixture.file, &LineIndex::new(&fixture.text));
        let texts = |ranges: &[syntax::TextRange]| -> Vec<String> {
            let text = |range| fixture.text[std::ops::Range::<usize>::from(range)].to_owned();
            ranges.iter().map(|&range| text(range)).collect()
        };
        expected.assert_eq(&format!(
            "hidden {:?}\ndimmed {:?}\nchains {:?}\n",
            texts(&found.hidden),
            texts(&found.dimmed),
            found.chains
        ));
    }

    #[test]
    fn comments_weights_and_chains() {
        check(
            "
def @main(%x: Tensor[(2, 8), float32] /* ty=Tensor[(2, 8), float32] */, %w: Tensor[(4, 8), float32], %b: Tensor[(4), float32]) -> Tensor[(2, 4), float32] {
  %0 = nn.dense(%x, %w, units=4) /* ty=Tensor[(2, 4), float32] span=a.py:1 */; /* kept */
  %1 = nn.bias_add(%0, %b);
  %2 = nn.relu(%1);
  %3 = add(%2, %2);
  let %y = multiply(%3, meta[relay.Constant][0] /* ty=float32 */);
  %y
}
",
            expect![[r#"
                hidden [" /* ty=Tensor[(2, 8), float32] */", " /* ty=Tensor[(2, 4), float32] span=a.py:1 */", " /* ty=float32 */"]
                dimmed ["%w: Tensor[(4, 8), float32]", "%b: Tensor[(4), float32]", "%w", "%b", "meta[relay.Constant][0]"]
                chains [(1, 2), (4, 5)]
            "#]],
        );
    }

    #[test]
    fn what_is_used_twice_is_no_link() {
        check(
            "
def @main(%x: Tensor[(2, 8), float32], %y: Tensor[(8), float32]) {
  %0 = nn.relu(%x);
  %1 = nn.relu(%0);
  %2 = add(%0, %1);
  nn.bias_add(%y, %y)
}
",
            expect![[r#"
                hidden []
                dimmed []
                chains []
            "#]],
        );
        check(
            "def @main() { 1 }",
            expect![[r#"
            hidden []
            dimmed []
            chains []
        "#]],
        );
    }
}
