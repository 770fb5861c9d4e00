//! What an editor shows between the letters: types that nobody wrote, names of parameters, and what
//! a closing brace closes.
//!
//! Hints are found for a range, and cost what stands in it: a module of 14,500 bindings is entered
//! at the first statement on the screen and left behind the last.

use std::collections::{HashMap, HashSet};

use semantics::{
    Db, DefKind, SourceFile, Spot, View,
    body::{BinderId, Body, Callee, Expr, ExprId, Function, Subject, Unit},
    global, modules,
};
use syntax::{
    LineIndex, Node, SyntaxKind, TextRange, TextSize,
    ast::{self, AstNode},
};
use types::Type;

use crate::{place::trimmed, words};

/// The longest type that a hint shows, in characters.
const LONGEST_TYPE: usize = 48;
/// The longest type that its tooltip shows.
const LONGEST_TOOLTIP: usize = 2_000;
/// Blocks of fewer lines show both of their braces at once.
const MIN_BLOCK: u32 = 12;

/// A hint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hint {
    /// Where it is shown.
    pub at: TextSize,
    /// What it says.
    pub text: String,
    /// What it is about.
    pub kind: HintKind,
    /// The type, where the hint shows a part of it; if that is long, more of it.
    pub tooltip: Option<String>,
}

/// What a hint is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HintKind {
    /// `: Tensor[(1, 64), float32]` behind a name that is bound, ` -> T` behind parameters.
    Type,
    /// `weight:` in front of an argument.
    Parameter,
    /// `@main` behind the brace that ends it.
    BlockEnd,
}

/// Which hints are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Types of bindings and results that are not written.
    pub types: bool,
    /// Names of parameters.
    pub parameters: bool,
    /// What a closing brace closes.
    pub block_ends: bool,
}

/// The hints in `range`, in the order of the text.
pub fn hints(
    db: &dyn Db,
    file: SourceFile,
    lines: &LineIndex,
    range: TextRange,
    wanted: Wanted,
) -> Vec<Hint> {
    let mut found = Found { range, wanted, hints: Vec::new() };
    for module in modules(db, file) {
        let items = module.items(db);
        let from = items.partition_point(|def| def.range(db).end() < range.start());
        for &def in items[from..].iter().take_while(|def| def.start(db) <= range.end()) {
            if wanted.block_ends {
                block_ends(def.node(db), def.start(db), lines, &mut found);
            }
            if matches!(def.kind(db), DefKind::Fn | DefKind::Expr)
                && (wanted.types || wanted.parameters)
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

struct Found {
    range: TextRange,
    wanted: Wanted,
    hints: Vec<Hint>,
}

impl Found {
    fn add(&mut self, at: TextSize, kind: HintKind, text: String, tooltip: Option<String>) {
        if self.range.contains_inclusive(at) {
            self.hints.push(Hint { at, text, kind, tooltip });
        }
    }

    /// A type behind `before`; nothing where nothing is known.
    fn add_type(&mut self, at: TextSize, before: &str, ty: &Type) {
        if matches!(ty, Type::Error | Type::Var(_)) {
            return;
        }
        // What is not on the screen is not printed.
        if !self.range.contains_inclusive(at) {
            return;
        }
        let (text, is_whole) = words::bounded(ty, LONGEST_TYPE);
        if is_whole {
            self.add(at, HintKind::Type, format!("{before}{text}"), None);
        } else {
            let (more, is_whole) = words::bounded(ty, LONGEST_TOOLTIP);
            let tooltip = if is_whole { more } else { more + "…" };
            self.add(at, HintKind::Type, format!("{before}{text}…"), Some(tooltip));
        }
    }
}

/// Types and names of parameters in one definition.
fn of_def(view: &View<'_>, found: &mut Found) {
    let start = view.def.start(view.db);
    let from = found.range.start().checked_sub(start).unwrap_or_default();
    let first = view.body.starts.partition_point(|&unit| unit <= from).saturating_sub(1);
    let mut names = Callees::default();
    for number in first..view.body.units.len() {
        let range = view.body.unit_range(number) + start;
        if range.start() > found.range.end() {
            break;
        }
        if found.wanted.types {
            types_in(view, number, found);
        }
        if found.wanted.parameters {
            parameters_in(view, number, &mut names, found);
        }
    }
}

/// Types of what a unit binds without saying of which type it is.
fn types_in(view: &View<'_>, number: usize, found: &mut Found) {
    let unit = view.unit(number);
    let inferred = view.unit_types(number);
    let base = view.body.starts[number] + view.def.start(view.db);
    let mut said: Option<Said> = None;
    for (i, binder) in unit.binders.iter().enumerate() {
        let at = binder.range.end() + base;
        if binder.annotation.is_some()
            || binder.name.is_empty()
            || !found.range.contains_inclusive(at)
        {
            continue;
        }
        let id = BinderId(i as u32);
        if !said.get_or_insert_with(|| Said::of(unit)).about(id) {
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
    for (i, expr) in unit.exprs.iter().enumerate() {
        let Expr::Fn(id) = expr else { continue };
        let range = unit.ranges[i] + base;
        let Some(function) = unit.fns.get(id.index()) else { continue };
        if function.ret.is_some() || range.intersect(found.range).is_none() {
            continue;
        }
        if let Some(func) = inferred.expr(ExprId(i as u32)).signature()
            && let Some(at) = result_place(view, range)
        {
            found.add_type(at, " -> ", func.func.ret());
        }
    }
}

/// Behind the parameters of the function expression at `range` of the file.
fn result_place(view: &View<'_>, range: TextRange) -> Option<TextSize> {
    let start = view.def.start(view.db);
    let path = view.def.node(view.db).path_to(range - start);
    let function = path.iter().rev().find(|node| node.kind() == SyntaxKind::FN_EXPR)?;
    Some(trimmed(function.child(SyntaxKind::PARAM_LIST)?).end() + start)
}

/// Variables of a unit of which a comment gives the type, or whose value is a function: that shows
/// its own types.
struct Said {
    binders: HashSet<BinderId>,
}

impl Said {
    fn of(unit: &Unit) -> Said {
        let mut binders = HashSet::new();
        let mut exprs = HashSet::new();
        for evidence in &unit.evidence {
            match evidence.about {
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
        Said { binders }
    }

    fn about(&self, binder: BinderId) -> bool {
        self.binders.contains(&binder)
    }
}

/// Names of the parameters of globals, looked up once each.
#[derive(Default)]
struct Callees {
    globals: HashMap<semantics::body::Name, Vec<String>>,
}

fn parameter_names(body: &Body, unit: usize, function: &Function) -> Vec<String> {
    let unit = &body.units[unit];
    let names = function.params.iter().map(|&param| unit.binder(param).name.as_str());
    names.map(|name| name.trim_start_matches('%').to_owned()).collect()
}

impl Callees {
    /// The names of the parameters of what a call calls.
    fn parameters(&mut self, view: &View<'_>, unit: usize, callee: &Callee) -> Vec<String> {
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
                let callee = Spot { unit, expr: *callee };
                if let Expr::Global(name) = view.unit(unit).expr(callee.expr) {
                    let names = self.globals.entry(name.clone()).or_insert_with(|| {
                        let Some((def, _)) = global(view.db, view.module, name) else {
                            return Vec::new();
                        };
                        let body = semantics::body(view.db, def);
                        let header = body.header();
                        header.map(|h| parameter_names(&body, 0, h)).unwrap_or_default()
                    });
                    return names.clone();
                }
                let value = view.resolve(callee);
                match view.unit(value.unit).expr(value.expr) {
                    Expr::Fn(id) => view
                        .unit(value.unit)
                        .fns
                        .get(id.index())
                        .map(|function| parameter_names(&view.body, value.unit, function))
                        .unwrap_or_default(),
                    _ => Vec::new(),
                }
            }
        }
    }
}

/// Names of parameters in front of the arguments that do not say what they are.
fn parameters_in(view: &View<'_>, number: usize, callees: &mut Callees, found: &mut Found) {
    let unit = view.unit(number);
    let base = view.body.starts[number] + view.def.start(view.db);
    for (i, expr) in unit.exprs.iter().enumerate() {
        let Expr::Call(id) = expr else { continue };
        let call = unit.call(*id);
        let range = unit.ranges[i] + base;
        if call.infix || call.args.len() < 2 || range.intersect(found.range).is_none() {
            continue;
        }
        let names = callees.parameters(view, number, &call.callee);
        for (name, &arg) in names.iter().zip(&call.args) {
            let at = unit.range(arg).start() + base;
            if found.range.contains_inclusive(at)
                && helps(view, Spot { unit: number, expr: arg }, name)
            {
                found.add(at, HintKind::Parameter, format!("{name}:"), None);
            }
        }
    }
}

/// Whether the name of a parameter says something that the argument does not: `weight:` in front
/// of `%12` does, in front of `%conv1_weight` it does not, and `data:`, `lhs:` and names of one
/// letter never do.
fn helps(view: &View<'_>, arg: Spot, name: &str) -> bool {
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

/// What the closing braces in the range close.
fn block_ends(root: Node<'_>, start: TextSize, lines: &LineIndex, found: &mut Found) {
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

/// What `child` of `node` belongs to, where that is something new: a definition, a binding, an arm.
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
    Some(match text.char_indices().nth(LONGEST_TYPE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use syntax::LineIndex;

    use super::*;
    use crate::fixture::Fixture;

    const ALL: Wanted = Wanted { types: true, parameters: true, block_ends: true };

    fn shown(text: &str, wanted: Wanted, range: Option<TextRange>) -> String {
        let fixture = Fixture::new(text);
        let lines = LineIndex::new(&fixture.text);
        let range = range.unwrap_or(TextRange::up_to(TextSize::of(fixture.text.as_str())));
        let hints = hints(&fixture.db, fixture.file, &lines, range, wanted);
        let mut out = fixture.text.clone();
        for hint in hints.iter().rev() {
            out.insert_str(hint.at.into(), &format!("⟨{}⟩", hint.text));
        }
        out
    }

    fn check(text: &str, expected: Expect) {
        expected.assert_eq(&shown(text, ALL, None));
    }

    #[test]
    fn types_that_are_not_written() {
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
    fn patterns_and_long_types() {
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
    fn names_of_parameters_where_they_say_something() {
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
    fn what_a_brace_closes() {
        let mut text =
            String::from("def @main(%x: int32) -> int32 {\n  let %f = fn () -> int32 {\n");
        text += &"    let %y: int32 = %x;\n".repeat(12);
        text += "    %y\n  };\n  if (True) {\n";
        text += &"    let %y: int32 = %x;\n".repeat(12);
        text += "    %y\n  } else {\n    %x\n  }\n}\n";
        let all = shown(&text, ALL, None);
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
    fn nothing_outside_of_the_range_and_nothing_unwanted() {
        let text = "def @main(%x: int32) {\n  %0 = add(%x, 1);\n  %1 = add(%0, 2);\n  %1\n}\n";
        let line = TextRange::new(42.into(), 58.into());
        expect![[r#"
            def @main(%x: int32) {
              %0 = add(%x, 1);
              %1⟨: int32⟩ = add(%0, 2);
              %1
            }
        "#]]
        .assert_eq(&shown(text, ALL, Some(line)));
        let none = Wanted { types: false, parameters: false, block_ends: false };
        assert_eq!(shown(text, none, None), text);
    }
}
