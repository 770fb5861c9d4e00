//! The reading mode for dumps: the parts of a text that a client can hide, dim or fold.
//!
//! These are printed comments (`/* ty=… span=… */`), weights, and chains of bindings each of which
//! is used once, by the next one.

use rustc_hash::{FxHashMap, FxHashSet};
use semantics::{
    Db, ExprRef, SourceFile, View,
    body::{Callee, Expr, LocalRef, UnitId, UnitKind},
};
use syntax::{
    LineIndex, Node, NodeOrToken, SyntaxKind, TextRange, TextSize, Token,
    ast::{self, AstNode},
};

use crate::{
    lookups::{exprs_of, node_around, views},
    weights::{Leaf, data_uses, weights_of},
    words,
};

/// The minimal number of bindings in a chain, not counting the last.
const MIN_CHAIN: u32 = 2;
/// The maximal length of a compact type, in characters.
const MAX_SHAPE_LEN: usize = 40;
/// The maximal length of a type from which its compact form is made, in characters.
const MAX_TYPE_LEN: usize = 200;
/// The number of operators that the summary of a chain names.
const NAMED: usize = 2;

/// The parts of a file that a client can hide, dim or fold.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ReadingParts {
    /// The printed comments, with the space before them.
    pub hidden: Vec<TextRange>,
    /// The 0-based lines of statements, with the compact form of the type in their hidden comment:
    /// `1×128×768 f32`.
    pub shapes: Vec<(u32, String)>,
    /// The declarations and uses of weights.
    pub dimmed: Vec<TextRange>,
    /// The chains of bindings.
    pub chains: Vec<Chain>,
}

/// A run of bindings each of which is used once, by the next one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain {
    /// The 0-based first line.
    pub first: u32,
    /// The 0-based last line, without the statement that uses the last binding.
    pub last: u32,
    /// The summary of the lines after the first, and the value that goes on:
    /// `layer_norm → dropout ⋯ 7 more ⇒ %12: 1×128×768 f32`.
    pub summary: String,
}

/// Returns the parts of a file that a client can hide, dim or fold.
pub fn reading(db: &dyn Db, file: SourceFile, lines: &LineIndex) -> ReadingParts {
    let mut found = ReadingParts::default();
    for view in views(db, file) {
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

/// Adds the printed comments of a definition, and the types of statements in them.
fn comments(view: &View<'_>, lines: &LineIndex, found: &mut ReadingParts) {
    let base = view.def.start(view.db);
    // Parameters have annotations, so that their types need no compact form.
    let header = ast::FnDef::cast(view.def.node(view.db)).and_then(|def| def.params());
    let header = header.map_or(TextRange::default(), |params| params.node().range());
    // By line. The last comment of a statement has the type of the whole statement.
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

/// Returns the type in a printed comment.
fn printed_type(comment: &str) -> Option<&str> {
    let text = comment.trim_start_matches("/*").trim_end_matches("*/").trim();
    let ty = text.strip_prefix("ty=")?;
    Some(ty.split_once(" span=").map_or(ty, |(ty, _)| ty).trim())
}

/// Returns the compact form of a type: `Tensor[(1, 128, 768), float32]` is `1×128×768 f32`.
pub fn compact(ty: &str) -> String {
    let mut out = String::new();
    let mut rest = ty;
    while let Some((before, tensor)) = rest.split_once("Tensor[(") {
        out += before;
        let Some((sizes, dtype, after)) = tensor_parts(tensor) else {
            rest = tensor;
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
    if out.chars().count() > MAX_SHAPE_LEN {
        out = out.chars().take(MAX_SHAPE_LEN - 1).chain(['…']).collect();
    }
    out
}

/// Splits `1, 128), float32] rest` into sizes, data type and the rest.
fn tensor_parts(text: &str) -> Option<(&str, &str, &str)> {
    let (sizes, rest) = text.split_once(')')?;
    let (dtype, rest) = rest.strip_prefix(", ")?.split_once(']')?;
    Some((sizes, dtype, rest))
}

/// Returns the short form of a data type, or the data type if it has none: `float32` is `f32`.
fn short_dtype(dtype: &str) -> String {
    let shorts = [("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "i")];
    let short = shorts.iter().find_map(|(long, short)| {
        let bits = dtype.strip_prefix(long)?;
        let is_bits = !bits.is_empty() && bits.bytes().all(|b| b.is_ascii_digit());
        is_bits.then(|| format!("{short}{bits}"))
    });
    short.unwrap_or_else(|| dtype.to_owned())
}

/// Returns true for a comment that TVM's printer emits.
fn is_printed(token: &Token<'_>) -> bool {
    token.kind() == SyntaxKind::BLOCK_COMMENT && {
        let text = token.text().trim_start_matches("/*").trim_start();
        text.starts_with("ty=") || text.starts_with("span=")
    }
}

/// Adds constants, and the parameters that operators use only as weights.
fn weights(view: &View<'_>, found: &mut Vec<TextRange>) {
    let mut weights: FxHashSet<LocalRef> = FxHashSet::default();
    let exprs = view.body.units().flat_map(|(number, unit)| exprs_of(number, unit));
    let exprs: Vec<ExprRef> = exprs.collect();
    for (count, &expr_ref) in exprs.iter().enumerate() {
        if count.is_multiple_of(4096) {
            view.db.unwind_if_revision_cancelled();
        }
        if let Expr::Meta(_) = view.unit(expr_ref.unit).expr(expr_ref.expr) {
            found.push(view.range(expr_ref));
        }
        for leaf in weights_of(view, expr_ref) {
            if let Leaf::Param(param) = leaf {
                weights.insert(param);
            }
        }
    }
    let data = data_uses(view, &exprs);
    weights.retain(|&param| !data.contains(&Leaf::Param(param)));
    for &expr_ref in &exprs {
        if view.variable(expr_ref).is_some_and(|used| weights.contains(&used)) {
            found.push(view.range(expr_ref));
        }
    }
    let is_declaration = |kind| matches!(kind, SyntaxKind::PARAM | SyntaxKind::FREE_VAR_STMT);
    for &weight in &weights {
        // The declaration includes the type.
        let declared = node_around(view, view.binding_range(weight), is_declaration);
        found.extend(declared.map(|node| node.range() + view.def.start(view.db)));
    }
}

/// Adds the chains of bindings.
fn chains(view: &View<'_>, lines: &LineIndex, found: &mut Vec<Chain>) {
    let mut uses: FxHashMap<LocalRef, (u32, UnitId)> = FxHashMap::default();
    for (number, unit) in view.body.units() {
        if number.0 % 256 == 0 {
            view.db.unwind_if_revision_cancelled();
        }
        for expr_ref in exprs_of(number, unit) {
            if unit.expr(expr_ref.expr).is_step() {
                continue;
            }
            if let Some(binding) = view.variable(expr_ref) {
                let entry = uses.entry(binding).or_insert((0, number));
                *entry = (entry.0 + 1, number);
            }
        }
    }
    // The line of a statement is that of its name or expression.
    let line_of = |number: UnitId| {
        let unit = view.unit(number);
        let range = match (unit.kind, unit.binds) {
            (UnitKind::Let | UnitKind::Graph, Some(binder)) => {
                view.place(number, unit.binder(binder).range)
            }
            _ => view.range(ExprRef { unit: number, expr: unit.root? }),
        };
        Some(lines.line_at(range.start()))
    };
    let links = |number: UnitId| {
        let binder = view
            .unit(number)
            .binds
            .filter(|_| matches!(view.unit(number).kind, UnitKind::Let | UnitKind::Graph));
        binder.is_some_and(|binder| {
            let binding = LocalRef { unit: number, binder };
            uses.get(&binding) == Some(&(1, UnitId(number.0 + 1)))
        })
    };
    let count = view.body.units.len() as u32;
    let mut first = 1;
    while first < count {
        let mut end = first;
        while end < count && links(UnitId(end)) {
            end += 1;
        }
        if end - first >= MIN_CHAIN
            && let (Some(start), Some(stop)) = (line_of(UnitId(first)), line_of(UnitId(end)))
            && stop > start + 1
        {
            let mut summary = summary(view, first + 1..end);
            let last = UnitId(end - 1);
            if let Some(binder) = view.unit(last).binds {
                let ty = view.binding_type(LocalRef { unit: last, binder });
                let ty = compact(&words::bounded(ty, MAX_TYPE_LEN).0);
                summary += &format!(" ⇒ {}: {ty}", view.unit(last).binder(binder).name);
            }
            found.push(Chain { first: start, last: stop - 1, summary });
        }
        first = end + 1;
    }
}

/// Returns a summary of the operators of some units, with the first ones by name.
fn summary(view: &View<'_>, units: std::ops::Range<u32>) -> String {
    let all: Vec<String> = units.map(|number| callee(view, UnitId(number))).collect();
    let named = all.len().min(NAMED);
    let mut out = all[..named].join(" → ");
    if all.len() > named {
        out += &format!(" ⋯ {} more", all.len() - named);
    }
    out
}

/// Returns the name of the callee in the value of a statement: `layer_norm` for
/// `nn.layer_norm(%x, …)`.
fn callee(view: &View<'_>, number: UnitId) -> String {
    let unit = view.unit(number);
    let value = unit.binds.and_then(|binder| view.value(LocalRef { unit: number, binder }));
    let Some(mut expr_ref) = value else { return "…".to_owned() };
    // `nn.batch_norm(…).0`
    if let &Expr::Proj { tuple, .. } = view.unit(expr_ref.unit).expr(expr_ref.expr) {
        expr_ref.expr = tuple;
    }
    let unit = view.unit(expr_ref.unit);
    match unit.expr(expr_ref.expr) {
        Expr::Call(call) => match &unit.call(*call).callee {
            Callee::Operator(operator) => {
                operator.name.rsplit('.').next().unwrap_or_default().to_owned()
            }
            Callee::Name(name) => name.to_string(),
            Callee::Expr(callee) => {
                view.text(view.range(ExprRef { unit: expr_ref.unit, expr: *callee }))
            }
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
    fn types_have_compact_form() {
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
    fn weights_are_dimmed() {
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
                chains ["1-2 dense ⇒ %1: _"]
            "#]],
        );
    }

    #[test]
    fn reading_finds_comments_weights_and_chains() {
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
                chains ["1-2 bias_add ⇒ %1: 2×4 f32", "4-5 multiply ⇒ %y: 2×4 f32"]
            "#]],
        );
    }

    #[test]
    fn binding_with_two_uses_ends_chain() {
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
