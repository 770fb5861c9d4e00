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
/// The longest short type, in characters.
const LONGEST_SHAPE: usize = 40;
/// How many operators the summary of a chain names.
const NAMED: usize = 2;

/// What can be left out of sight.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Reading {
    /// Comments that say a type or a source, with the space in front of them.
    pub hidden: Vec<TextRange>,
    /// Lines (from 0) of statements, with the type that a hidden comment says they have, in short:
    /// `1×128×768 f32`.
    pub shapes: Vec<(u32, String)>,
    /// Weights: where they are declared and where they are used.
    pub dimmed: Vec<TextRange>,
    /// Runs of bindings, each used once, by the next.
    pub chains: Vec<Chain>,
}

/// A run of bindings, each used once, by the next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain {
    /// Its first line, from 0.
    pub first: u32,
    /// Its last line, without what uses the last of the bindings.
    pub last: u32,
    /// What is out of sight when only the first line is shown: `layer_norm → dropout ⋯ 7 more`.
    pub summary: String,
}

/// What can be left out of a file.
pub fn reading(db: &dyn Db, file: SourceFile, lines: &LineIndex) -> Reading {
    let mut found = Reading::default();
    for def in all_defs(db, file) {
        if !matches!(def.kind(db), DefKind::Fn | DefKind::Expr) {
            continue;
        }
        let Some(view) = View::new(db, def) else { continue };
        comments(&view, lines, &mut found);
        weights(&view, &mut found.dimmed);
        chains(&view, lines, &mut found.chains);
    }
    found.hidden.sort_by_key(|range| range.start());
    found.shapes.sort_by_key(|(line, _)| *line);
    found.dimmed.sort_by_key(|range| (range.start(), range.end()));
    found.dimmed.dedup();
    found
}

/// `/* ty=… span=… */`, in all of a definition, and the types of statements that they say.
fn comments(view: &View<'_>, lines: &LineIndex, found: &mut Reading) {
    let base = view.def.start(view.db);
    // What is said of parameters stands there in full.
    let header = ast::FnDef::cast(view.def.node(view.db)).and_then(|def| def.params());
    let header = header.map_or(TextRange::default(), |params| params.node().range());
    // By line: the last comment of a statement is about all of it.
    let mut shapes: FxHashMap<u32, (TextSize, String)> = FxHashMap::default();
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
                let line = lines.line_at(range.start());
                if line == lines.line_at(range.end()) {
                    found.hidden.push(range);
                    if !header.contains_range(token.range())
                        && let Some(ty) = printed_type(token.text())
                        && shapes.get(&line).is_none_or(|(at, _)| *at < range.start())
                    {
                        shapes.insert(line, (range.start(), compact(ty)));
                    }
                }
            }
            before = Some(token);
        }
    }
    found.shapes.extend(shapes.into_iter().map(|(line, (_, shape))| (line, shape)));
}

/// The type that a comment says, if it says one.
fn printed_type(comment: &str) -> Option<&str> {
    let text = comment.trim_start_matches("/*").trim_end_matches("*/").trim();
    let ty = text.strip_prefix("ty=")?;
    Some(ty.split_once(" span=").map_or(ty, |(ty, _)| ty).trim())
}

/// A type in as few characters as tell it: `Tensor[(1, 128, 768), float32]` is `1×128×768 f32`.
pub fn compact(ty: &str) -> String {
    let mut out = String::new();
    let mut rest = ty;
    while let Some((front, behind)) = rest.split_once("Tensor[(") {
        out += front;
        let Some((sizes, dtype, after)) = tensor_parts(behind) else {
            rest = behind;
            continue;
        };
        let sizes: Vec<&str> =
            sizes.split(',').map(str::trim).filter(|size| !size.is_empty()).collect();
        out += &sizes.join("×");
        if !sizes.is_empty() {
            out.push(' ');
        }
        out += &short_dtype(dtype);
        rest = after;
    }
    out += &if out.is_empty() { short_dtype(rest) } else { rest.to_owned() };
    if out.chars().count() > LONGEST_SHAPE {
        out = out.chars().take(LONGEST_SHAPE - 1).chain(['…']).collect();
    }
    out
}

/// The sizes and the data type of `1, 128), float32] rest`, and what is behind it.
fn tensor_parts(text: &str) -> Option<(&str, &str, &str)> {
    let (sizes, rest) = text.split_once(')')?;
    let (dtype, rest) = rest.strip_prefix(", ")?.split_once(']')?;
    Some((sizes, dtype, rest))
}

/// `float32` is `f32`; what has no short form stays.
fn short_dtype(dtype: &str) -> String {
    let shorts = [("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "i")];
    let short = shorts.iter().find_map(|(long, short)| {
        let bits = dtype.strip_prefix(long)?;
        let is_bits = !bits.is_empty() && bits.bytes().all(|b| b.is_ascii_digit());
        is_bits.then(|| format!("{short}{bits}"))
    });
    short.unwrap_or_else(|| dtype.to_owned())
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
    let mut weights: FxHashSet<Binding> = FxHashSet::default();
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
            let params: Vec<Option<Binding>> =
                call.args.iter().map(|&arg| parameter(view, spot(arg))).collect();
            let symmetric = operator.args == ["lhs", "rhs"];
            for (at, &param) in params.iter().enumerate() {
                let Some(param) = param else { continue };
                let name = operator.args.get(at).copied().unwrap_or_default();
                let keeps = at == 0 && keeps_data(operator);
                let is_weight = if symmetric {
                    // A bias or a scale, where the other side is computed.
                    params.get(1 - at.min(1)).is_some_and(Option::is_none)
                } else if at == 0 {
                    operator.name == "take"
                } else {
                    !operator.variadic && !is_index(name)
                };
                if is_weight {
                    weights.insert(param);
                } else if !(keeps || symmetric) {
                    data.insert(param);
                }
            }
        }
    }
    weights.retain(|param| !data.contains(param));
    for (number, unit) in view.body.units.iter().enumerate() {
        for index in 0..unit.exprs.len() {
            let spot = Spot { unit: number, expr: ExprId(index as u32) };
            if view.variable(spot).is_some_and(|used| weights.contains(&used)) {
                found.push(view.range(spot));
            }
        }
    }
    let (def, base) = (view.def.node(view.db), view.def.start(view.db));
    for &weight in &weights {
        // With its type.
        let path = def.path_to(view.binding_range(weight) - base);
        let declared = path.into_iter().rev().find(|node| node.kind() == SyntaxKind::PARAM);
        found.extend(declared.map(|node| node.range() + base));
    }
}

/// The parameter that an argument is, in whatever form.
fn parameter(view: &View<'_>, mut spot: Spot) -> Option<Binding> {
    for _ in 0..MOST_KEPT {
        spot = view.resolve(spot);
        if let Some(binding) = view.variable(spot) {
            let is_param = view.binder(binding).kind == BinderKind::Param;
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
fn chains(view: &View<'_>, lines: &LineIndex, found: &mut Vec<Chain>) {
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
            let summary = summary(view, first + 1..end);
            found.push(Chain { first: start, last: stop - 1, summary });
        }
        first = end + 1;
    }
}

/// The operators of some statements, the first ones by name.
fn summary(view: &View<'_>, units: std::ops::Range<usize>) -> String {
    let all: Vec<String> = units.map(|number| callee(view, number)).collect();
    let named = all.len().min(NAMED);
    let mut out = all[..named].join(" → ");
    if all.len() > named {
        out += &format!(" ⋯ {} more", all.len() - named);
    }
    out
}

/// What the value of a statement is made by: `layer_norm` for `nn.layer_norm(%x, …)`.
fn callee(view: &View<'_>, number: usize) -> String {
    let unit = view.unit(number);
    let value = unit.binds.and_then(|binder| view.value(Binding { unit: number as u32, binder }));
    let Some(mut spot) = value else { return "…".to_owned() };
    // `nn.batch_norm(…).0`
    if let &Expr::Proj { tuple, .. } = view.unit(spot.unit).expr(spot.expr) {
        spot.expr = tuple;
    }
    let unit = view.unit(spot.unit);
    match unit.expr(spot.expr) {
        Expr::Call(call) => match &unit.call(*call).callee {
            Callee::Operator(operator) => {
                operator.name.rsplit('.').next().unwrap_or_default().to_owned()
            }
            Callee::Name(name) => name.to_string(),
            Callee::Expr(callee) => view.text(view.range(Spot { unit: spot.unit, expr: *callee })),
        },
        Expr::Tuple(_) => "(…)".to_owned(),
        _ => "…".to_owned(),
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
        let chains = found.chains.iter().map(|c| format!("{}-{} {}", c.first, c.last, c.summary));
        expected.assert_eq(&format!(
            "hidden {:?}\nshapes {:?}\ndimmed {:?}\nchains {:?}\n",
            texts(&found.hidden),
            found.shapes,
            texts(&found.dimmed),
            chains.collect::<Vec<_>>()
        ));
    }

    #[test]
    fn types_in_short() {
        let cases = [
            ("Tensor[(1, 128, 768), float32]", "1×128×768 f32"),
            ("Tensor[(), bool]", "bool"),
            ("float32", "f32"),
            ("Tensor[(?, 8), bfloat16]", "?×8 bf16"),
            ("Tensor[(3), uint8]", "3 u8"),
            ("(Tensor[(1, 8), int64], Tensor[(2), float16])", "(1×8 i64, 2 f16)"),
            ("List[Tensor[(2, 2), float32]]", "List[2×2 f32]"),
            ("fn (Tensor[(1), int32]) -> int32", "fn (1 i32) -> int32"),
            ("Tensor[(broken", "broken"),
        ];
        for (ty, short) in cases {
            assert_eq!(super::compact(ty), short);
        }
        let wide = format!("({})", ["Tensor[(1, 8), int64]"; 20].join(", "));
        let short = super::compact(&wide);
        assert!(short.chars().count() == 40 && short.ends_with('…'), "{short}");
    }

    #[test]
    fn all_weights_are_dim() {
        check(
            "
def @main(%x: Tensor[(2, 8), float32], %table: Tensor[(9, 8), float32], %w: Tensor[(8, 4), float32], %b: Tensor[(4), float32], %i: Tensor[(2), int32]) {
  %0 = transpose(%w);
  %1 = nn.dense(%x, %0, units=4);
  %2 = add(%1, %b);
  %3 = fn (%data: Tensor[(2, 4), float32], %inner: Tensor[(4, 4), float32]) { nn.dense(%data, %inner, units=4) };
  (%2, take(%table, %i, axis=0), add(%x, %x), %3)
}
",
            expect![[r#"
                hidden []
                shapes []
                dimmed ["%table: Tensor[(9, 8), float32]", "%w: Tensor[(8, 4), float32]", "%b: Tensor[(4), float32]", "%w", "%b", "%inner: Tensor[(4, 4), float32]", "%inner", "%table"]
                chains ["1-2 dense"]
            "#]],
        );
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
                shapes [(1, "2×4 f32"), (5, "f32")]
                dimmed ["%w: Tensor[(4, 8), float32]", "%b: Tensor[(4), float32]", "%w", "%b", "meta[relay.Constant][0]"]
                chains ["1-2 bias_add", "4-5 multiply"]
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
                shapes []
                dimmed []
                chains []
            "#]],
        );
        check(
            "def @main() { 1 }",
            expect![[r#"
                hidden []
                shapes []
                dimmed []
                chains []
            "#]],
        );
    }
}
