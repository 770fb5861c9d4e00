//! Inlay hints: inferred types, names of parameters, and labels of closing braces.
//!
//! Hints are computed for the visible range at a cost proportional to it: of a module of 14,500
//! bindings, only the statements on the screen are visited.

use std::collections::{HashMap, HashSet};

use semantics::{
    Db, ExprRef, SourceFile, View,
    body::{BinderId, Callee, Expr, LocalRef, Subject, Unit, UnitId},
    global, modules,
};
use syntax::{
    LineIndex, Node, SyntaxKind, TextRange, TextSize,
    ast::{self, AstNode},
};
use types::Type;

use crate::{
    lookups::{bindings_of, header_names, node_around, value_names},
    place::trimmed,
    words,
};

/// The maximal length of a type in a hint, in characters.
const MAX_TYPE_LEN: usize = 48;
/// The maximal length of a type in a tooltip, in characters.
const MAX_TOOLTIP_LEN: usize = 2_000;
/// The minimal number of lines of a block whose closing brace is labeled. Both braces of a shorter
/// block are usually visible.
const MIN_BLOCK: u32 = 12;

/// An inlay hint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hint {
    /// The offset in the file.
    pub at: TextSize,
    /// The label.
    pub text: String,
    /// The kind.
    pub kind: HintKind,
    /// The type if the label truncates it, up to a larger limit.
    pub tooltip: Option<String>,
}

/// The kind of an inlay hint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HintKind {
    /// `: Tensor[(1, 64), float32]` after a binder, ` -> T` after parameters.
    Type,
    /// `weight:` before an argument.
    Parameter,
    /// `@main` after its closing brace.
    BlockEnd,
}

/// The enabled kinds of hints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HintOptions {
    /// Set to show inferred types of bindings and results.
    pub types: bool,
    /// Set to show names of parameters.
    pub parameters: bool,
    /// Set to label closing braces.
    pub block_ends: bool,
}

/// Returns the hints in `range` in text order.
pub fn hints(
    db: &dyn Db,
    file: SourceFile,
    lines: &LineIndex,
    range: TextRange,
    options: HintOptions,
) -> Vec<Hint> {
    let mut found = HintCollector { range, options, hints: Vec::new() };
    for module in modules(db, file) {
        let items = module.items(db);
        let from = items.partition_point(|def| def.range(db).end() < range.start());
        for &def in items[from..].iter().take_while(|def| def.start(db) <= range.end()) {
            if options.block_ends {
                block_ends(def.node(db), def.start(db), lines, &mut found);
            }
            if (options.types || options.parameters)
                && let Some(view) = View::new(db, def)
            {
                of_def(&view, &mut found);
            }
        }
    }
    let mut hints = found.hints;
    hints.sort_by_key(|hint| hint.at);
    hints
}

/// The hints found so far.
struct HintCollector {
    range: TextRange,
    options: HintOptions,
    hints: Vec<Hint>,
}

impl HintCollector {
    fn add(&mut self, at: TextSize, kind: HintKind, text: String, tooltip: Option<String>) {
        if self.range.contains_inclusive(at) {
            self.hints.push(Hint { at, text, kind, tooltip });
        }
    }

    /// Adds a type after `before`, unless the type is unknown.
    fn add_type(&mut self, at: TextSize, before: &str, ty: &Type) {
        if matches!(ty, Type::Error | Type::Var(_)) {
            return;
        }
        // This check comes first to avoid formatting types outside the range.
        if !self.range.contains_inclusive(at) {
            return;
        }
        let (text, is_whole) = words::bounded(ty, MAX_TYPE_LEN);
        if is_whole {
            self.add(at, HintKind::Type, format!("{before}{text}"), None);
        } else {
            let tooltip = words::shortened(ty, MAX_TOOLTIP_LEN);
            self.add(at, HintKind::Type, format!("{before}{text}…"), Some(tooltip));
        }
    }
}

/// Adds the types and names of parameters in a definition.
fn of_def(view: &View<'_>, found: &mut HintCollector) {
    let start = view.def.start(view.db);
    let from = found.range.start().checked_sub(start).unwrap_or_default();
    let first = view.source.unit_at(from).unwrap_or_default();
    let mut names = GlobalNames::default();
    for (number, _) in view.body.units_from(first) {
        let range = view.unit_range(number);
        if range.start() > found.range.end() {
            break;
        }
        if found.options.types {
            types_in(view, number, found);
        }
        if found.options.parameters {
            parameters_in(view, number, &mut names, found);
        }
    }
}

/// Adds the types of binders and results in a unit that have no annotation.
fn types_in(view: &View<'_>, number: UnitId, found: &mut HintCollector) {
    let unit = view.unit(number);
    let inferred = view.unit_types(number);
    let mut known: Option<HashSet<BinderId>> = None;
    for (LocalRef { binder: id, .. }, binder) in bindings_of(number, unit) {
        let at = view.place(number, binder.range).end();
        if binder.annotation.is_some()
            || binder.name.is_empty()
            || !found.range.contains_inclusive(at)
        {
            continue;
        }
        if !known.get_or_insert_with(|| known_types(unit)).contains(&id) {
            found.add_type(at, ": ", inferred.binder(id));
        }
    }
    if let Some(header) = unit.header() {
        let signature = view.inference.signature.as_ref().and_then(Type::signature);
        if let (None, Some(func)) = (&header.ret, signature)
            && let Some(params) = view.def.node(view.db).child(SyntaxKind::PARAM_LIST)
        {
            let at = trimmed(params).end() + view.def.start(view.db);
            found.add_type(at, " -> ", func.func.ret());
        }
    }
    for (expr_ref, expr, range) in view.exprs(number) {
        let Expr::Fn(id) = expr else { continue };
        let Some(function) = unit.fns.get(id.index()) else { continue };
        if function.ret.is_some() || range.intersect(found.range).is_none() {
            continue;
        }
        if let Some(func) = view.ty(expr_ref).signature()
            && let Some(at) = result_place(view, range)
        {
            found.add_type(at, " -> ", func.func.ret());
        }
    }
}

/// Returns the end of the parameters of the function expression at `range` of the file.
fn result_place(view: &View<'_>, range: TextRange) -> Option<TextSize> {
    let function = node_around(view, range, |kind| kind == SyntaxKind::FN_EXPR)?;
    Some(trimmed(function.child(SyntaxKind::PARAM_LIST)?).end() + view.def.start(view.db))
}

/// Returns the variables of a unit whose types are visible without a hint: a type comment states the type,
/// or the value is a function, which has its own hints.
fn known_types(unit: &Unit) -> HashSet<BinderId> {
    let mut binders = HashSet::new();
    let mut exprs = HashSet::new();
    for comment in &unit.type_comments {
        match comment.subject {
            Subject::Binder(binder) => drop(binders.insert(binder)),
            Subject::Expr(expr) => drop(exprs.insert(expr)),
        }
    }
    for expr in &unit.exprs {
        if let Expr::Bind { binder, value, .. } = expr
            && (exprs.contains(value) || matches!(unit.expr(*value), Expr::Fn(_)))
        {
            binders.insert(*binder);
        }
    }
    binders
}

/// A memo of the names of the parameters of globals.
type GlobalNames = HashMap<semantics::body::Name, Vec<String>>;

/// Returns the names of the parameters of a callee.
fn parameters(
    globals: &mut GlobalNames,
    view: &View<'_>,
    unit: UnitId,
    callee: &Callee,
) -> Vec<String> {
    match callee {
        Callee::Operator(operator) => {
            let is_constructor = view.types.constructor(operator.name).is_some();
            if operator.variadic || is_constructor {
                return Vec::new();
            }
            operator.args.iter().map(|name| (*name).to_owned()).collect()
        }
        Callee::Name(_) => Vec::new(),
        Callee::Expr(callee) => {
            let callee = ExprRef { unit, expr: *callee };
            let Expr::Global(name) = view.unit(unit).expr(callee.expr) else {
                return value_names(view, callee);
            };
            let names = globals.entry(name.clone()).or_insert_with(|| {
                let found = global(view.db, view.module, name);
                let body = found.map(|(def, _)| semantics::body(view.db, def));
                body.map_or_else(Vec::new, |body| header_names(&body))
            });
            names.clone()
        }
    }
}

/// Adds the names of parameters before arguments for which they are informative.
fn parameters_in(
    view: &View<'_>,
    number: UnitId,
    globals: &mut GlobalNames,
    found: &mut HintCollector,
) {
    for (call, range) in view.calls(number) {
        if call.infix || call.args.len() < 2 || range.intersect(found.range).is_none() {
            continue;
        }
        let names = parameters(globals, view, number, &call.callee);
        for (name, &arg) in names.iter().zip(&call.args) {
            let arg = ExprRef { unit: number, expr: arg };
            let at = view.range(arg).start();
            let name = name.trim_start_matches('%');
            if found.range.contains_inclusive(at) && is_informative(view, arg, name) {
                found.add(at, HintKind::Parameter, format!("{name}:"), None);
            }
        }
    }
}

/// Returns true if the name of a parameter adds information to the argument: `weight:` does before
/// `%12`, but not before `%conv1_weight`. `data:`, `lhs:` and names of one letter never do.
fn is_informative(view: &View<'_>, arg: ExprRef, name: &str) -> bool {
    if matches!(name, "data" | "lhs" | "rhs") || name.len() < 2 {
        return false;
    }
    let unit = view.unit(arg.unit);
    let written = match unit.expr(arg.expr) {
        Expr::Missing => return false,
        Expr::Bound(_) | Expr::Free(_) | Expr::Dotted { .. } => {
            view.variable(arg).map(|binding| view.binder(binding).name.as_str())
        }
        Expr::Global(name) => Some(name.as_str()),
        _ => None,
    };
    let Some(written) = written else { return true };
    let written = written.trim_start_matches(['%', '@']);
    if written.bytes().all(|b| b.is_ascii_digit()) {
        return true;
    }
    let (written, name) = (written.to_ascii_lowercase(), name.to_ascii_lowercase());
    !written.contains(&name) && !name.contains(&written)
}

/// Adds labels of the closing braces in the range.
fn block_ends(root: Node<'_>, start: TextSize, lines: &LineIndex, found: &mut HintCollector) {
    let Some(range) = (root.range() + start).intersect(found.range) else { return };
    let range = range - start;
    let mut stack: Vec<(Node<'_>, String)> = vec![(root, String::new())];
    while let Some((node, owner)) = stack.pop() {
        for child in node.children() {
            if child.start() > range.end() {
                break;
            }
            let tall = |node: Node<'_>| {
                let all = node.range() + start;
                lines.line_at(all.end()) - lines.line_at(all.start()) >= MIN_BLOCK
            };
            if child.range().end() < range.start() || !tall(child) {
                continue;
            }
            let owner = match child.kind() {
                SyntaxKind::FN_DEF | SyntaxKind::TYPE_DEF => owner.clone(),
                _ => label(node, child).unwrap_or_else(|| owner.clone()),
            };
            let closes = matches!(
                child.kind(),
                SyntaxKind::BLOCK | SyntaxKind::CONSTRUCTOR_LIST | SyntaxKind::ARM_LIST
            );
            if closes
                && !owner.is_empty()
                && let Some(brace) = child.tokens().rfind(|t| t.kind() == SyntaxKind::R_BRACE)
            {
                let at = brace.range().end() + start;
                found.add(at, HintKind::BlockEnd, owner.clone(), None);
            }
            stack.push((child, owner));
        }
    }
}

/// Returns the label of the block `child` if `node` is a construct that has one, such as a
/// definition, a binding or an arm.
fn label(node: Node<'_>, child: Node<'_>) -> Option<String> {
    let text = match node.kind() {
        SyntaxKind::FN_DEF => ast::FnDef::cast(node)?.name()?.text().into_owned(),
        SyntaxKind::TYPE_DEF => format!("type {}", ast::TypeDef::cast(node)?.name()?.text()),
        SyntaxKind::LET_STMT => ast::LetStmt::cast(node)?.name()?.text().into_owned(),
        SyntaxKind::GRAPH_STMT => ast::GraphStmt::cast(node)?.name()?.text().into_owned(),
        SyntaxKind::MATCH_EXPR if child.kind() == SyntaxKind::ARM_LIST => {
            format!("match {}", ast::MatchExpr::cast(node)?.scrutinee()?.node())
        }
        SyntaxKind::ARM => ast::Arm::cast(node)?.pattern()?.node().to_string(),
        SyntaxKind::IF_EXPR => {
            let branches = ast::IfExpr::cast(node)?;
            let is_then = branches.then().is_some_and(|then| then.range() == child.range());
            let cond = branches.cond()?.node();
            format!("{} {cond}", if is_then { "if" } else { "else of" })
        }
        _ => return None,
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(words::shortened(text, MAX_TYPE_LEN))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use syntax::LineIndex;

    use super::*;
    use crate::fixture::Fixture;

    const ALL: HintOptions = HintOptions { types: true, parameters: true, block_ends: true };

    fn render(text: &str, options: HintOptions, range: Option<TextRange>) -> String {
        let fixture = Fixture::new(text);
        let lines = LineIndex::new(&fixture.text);
        let range = range.unwrap_or(TextRange::up_to(TextSize::of(fixture.text.as_str())));
        let hints = hints(&fixture.db, fixture.file, &lines, range, options);
        let mut out = fixture.text.clone();
        for hint in hints.iter().rev() {
            out.insert_str(hint.at.into(), &format!("⟨{}⟩", hint.text));
        }
        out
    }

    fn check(text: &str, expected: Expect) {
        expected.assert_eq(&render(text, ALL, None));
    }

    #[test]
    fn inferred_types_are_hinted() {
        check(
            "
def @main(%x: Tensor[(2, 3), float32], %n) {
  let %y = add(%x, %n);
  %0 = nn.relu(%y);
  %1 = nn.relu(%0) /* ty=Tensor[(2, 3), float32] */;
  let %f = fn (%z, %u: int32) { (%z, %u) };
  let %t: (Tensor[(2, 3), float32], int32) = %f(%1, 1);
  %t.0
}
",
            expect![[r#"
                def @main(%x: Tensor[(2, 3), float32], %n⟨: t1⟩)⟨ -> Tensor[(2, 3), float32]⟩ {
                  let %y⟨: Tensor[(2, 3), float32]⟩ = add(%x, %n);
                  %0⟨: Tensor[(2, 3), float32]⟩ = nn.relu(%y);
                  %1 = nn.relu(%0) /* ty=Tensor[(2, 3), float32] */;
                  let %f = fn (%z⟨: t1⟩, %u: int32)⟨ -> (t1, int32)⟩ { (%z, %u) };
                  let %t: (Tensor[(2, 3), float32], int32) = %f(%1, 1);
                  %t.0
                }
            "#]],
        );
    }

    #[test]
    fn long_types_are_truncated() {
        check(
            "
type Pair { P(int32, Tensor[(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), float32]) }
def @f(%p: Pair) -> int32 { match (%p) { P(%a, %b) => %a } }
",
            expect![[r#"
                type Pair { P(int32, Tensor[(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), float32]) }
                def @f(%p: Pair) -> int32 { match (%p) { P(%a⟨: int32⟩, %b⟨: Tensor[(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), …⟩) => %a } }
            "#]],
        );
    }

    #[test]
    fn informative_parameter_names_are_hinted() {
        check(
            "
def @f(%scale: float32, %offset: float32) -> float32 { add(%scale, %offset) }
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32], %offset: float32) -> Tensor[(2, 4), float32] {
  let %k: fn (float32, float32) -> float32 = fn (%first: float32, %second: float32) -> float32 { %second };
  let %s: float32 = @f(1f, %offset);
  let %r: float32 = %k(%s, 2f);
  nn.dense(%x, nn.relu(%w), units=4)
}
",
            expect![[r#"
                def @f(%scale: float32, %offset: float32) -> float32 { add(%scale, %offset) }
                def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32], %offset: float32) -> Tensor[(2, 4), float32] {
                  let %k: fn (float32, float32) -> float32 = fn (%first: float32, %second: float32) -> float32 { %second };
                  let %s: float32 = @f(⟨scale:⟩1f, %offset);
                  let %r: float32 = %k(%s, ⟨second:⟩2f);
                  nn.dense(%x, ⟨weight:⟩nn.relu(%w), units=4)
                }
            "#]],
        );
    }

    #[test]
    fn closing_braces_of_long_blocks_are_labeled() {
        let mut text =
            String::from("def @main(%x: int32) -> int32 {\n  let %f = fn () -> int32 {\n");
        text += &"    let %y: int32 = %x;\n".repeat(12);
        text += "    %y\n  };\n  if (True) {\n";
        text += &"    let %y: int32 = %x;\n".repeat(12);
        text += "    %y\n  } else {\n    %x\n  }\n}\n";
        let all = render(&text, ALL, None);
        let ends: Vec<&str> = all.lines().filter(|line| line.contains('⟨')).collect();
        expect![[r#"
            [
                "  }⟨%f⟩;",
                "  }⟨if (True)⟩ else {",
                "}⟨@main⟩",
            ]
        "#]]
        .assert_debug_eq(&ends);
    }

    #[test]
    fn hints_are_limited_to_range_and_enabled_kinds() {
        let text = "def @main(%x: int32) {\n  %0 = add(%x, 1);\n  %1 = add(%0, 2);\n  %1\n}\n";
        let line = TextRange::new(42.into(), 58.into());
        expect![[r#"
            def @main(%x: int32) {
              %0 = add(%x, 1);
              %1⟨: int32⟩ = add(%0, 2);
              %1
            }
        "#]]
        .assert_eq(&render(text, ALL, Some(line)));
        let none = HintOptions { types: false, parameters: false, block_ends: false };
        assert_eq!(render(text, none, None), text);
    }
}
