//! Inlining of variables, and extraction of expressions.

use ide::edit::Edits;
use semantics::{ExprRef, View, body::ExprId};
use syntax::{
    Node, SyntaxKind, TextRange,
    ast::{self, AstNode},
};
use types::{Flags, Type};

use super::{
    Change, Piece,
    functions::{names_outer_params, slice},
    names::{self, bindings, uses},
};
use crate::programs::meaning::Program;

fn is_expr(node: Node<'_>) -> bool {
    ast::Expr::can_cast(node.kind())
}

/// Returns true for syntactic values, whose types are generalised: functions, numbers, names,
/// constructors with values, tuples of values.
fn is_value(node: Node<'_>) -> bool {
    match node.kind() {
        SyntaxKind::FN_EXPR
        | SyntaxKind::LITERAL
        | SyntaxKind::GLOBAL_REF
        | SyntaxKind::NAME_REF => true,
        // The parser limits the nesting.
        SyntaxKind::TUPLE_EXPR | SyntaxKind::PAREN_EXPR => node.children().all(is_value),
        _ => false,
    }
}

/// Renames all variables to fresh names, and inlines a binding of a value, selected by `at`, at each
/// use.
pub fn inlined(program: &Program, at: usize) -> Option<Change> {
    let renamed = names::locals(program);
    let other = Program::new(renamed.text.clone());
    let parse = syntax::parse(&other.text);
    let root = Node::root(&parse.green);
    let mut found: Vec<(Node<'_>, Node<'_>, Vec<TextRange>)> = Vec::new();
    for view in other.views() {
        let (all, used) = (bindings(&view), uses(&view));
        let range = view.def.node(view.db).range() + view.def.start(view.db);
        let Some(def) = root.children().find(|node| node.range() == range) else { continue };
        for stmt in def.descendants() {
            let (name, value) = match (ast::LetStmt::cast(stmt), ast::GraphStmt::cast(stmt)) {
                (Some(stmt), _) if stmt.ty().is_none() => {
                    (stmt.name(), stmt.value().map(|value| value.node()))
                }
                (_, Some(stmt)) => (stmt.name(), stmt.value().map(|value| value.node())),
                _ => continue,
            };
            let (Some(name), Some(value)) = (name, value) else { continue };
            let binding = all.iter().find(|b| view.binding_range(**b) == name.range());
            let Some(&binding) = binding else { continue };
            let places = used.iter().filter(|(used, _)| *used == binding).map(|(_, place)| *place);
            let places: Vec<TextRange> = places.collect();
            let is_recursive = places.iter().any(|place| value.range().contains_range(*place));
            // Removing an unused value would remove its errors, too.
            // In the manual's notation, a line that starts with a bracket may continue the previous one.
            let is_ended = stmt.token(SyntaxKind::SEMICOLON).is_some();
            if is_value(value) && is_ended && !is_recursive && !places.is_empty() {
                found.push((stmt, value, places));
            }
        }
    }
    if found.is_empty() {
        return None;
    }
    let (stmt, value, places) = &found[at % found.len()];
    let with = slice(&other.text, value.range());
    let mut edits: Edits = places.iter().map(|place| (*place, format!("({with})"))).collect();
    edits.push((stmt.range(), String::new()));
    let next = Change::edited(&other.text, edits);
    Some(renamed.then(next))
}

/// Returns the expressions that compute something, each with its definition.
fn expressions<'t, 'v, 'db>(
    views: &'v [View<'db>],
    root: Node<'t>,
) -> Vec<(&'v View<'db>, Node<'t>, Node<'t>)> {
    let mut found = Vec::new();
    for view in views {
        let range = view.def.node(view.db).range() + view.def.start(view.db);
        let Some(def) = root.children().find(|node| node.range() == range) else { continue };
        let inside = def.descendants().filter(|node| {
            matches!(
                node.kind(),
                SyntaxKind::CALL_EXPR
                    | SyntaxKind::TUPLE_EXPR
                    | SyntaxKind::INFIX_EXPR
                    | SyntaxKind::PROJ_EXPR
                    | SyntaxKind::IF_EXPR
                    | SyntaxKind::MATCH_EXPR
                    | SyntaxKind::FN_EXPR
            )
        });
        found.extend(inside.map(|node| (view, def, node)));
    }
    found
}

fn has_references(node: Node<'_>) -> bool {
    node.descendants().any(|node| {
        matches!(
            node.kind(),
            SyntaxKind::REF_EXPR | SyntaxKind::REF_READ_EXPR | SyntaxKind::REF_WRITE_EXPR
        )
    })
}

/// Returns the type of an expression.
fn type_of(view: &View<'_>, range: TextRange) -> Option<Type> {
    for (number, unit) in view.body.units() {
        for (at, expr) in unit.exprs.iter().enumerate() {
            let spot = ExprRef { unit: number, expr: ExprId(at as u32) };
            if !expr.is_step() && view.range(spot) == range {
                return Some(view.ty(spot).clone());
            }
        }
    }
    None
}

/// Returns true for expressions that may be values, whose types are generalised; calls are not.
fn may_be_value(node: Node<'_>) -> bool {
    match node.kind() {
        SyntaxKind::FN_EXPR | SyntaxKind::TUPLE_EXPR => true,
        SyntaxKind::CALL_EXPR => {
            let callee = ast::CallExpr::cast(node).and_then(|call| call.callee());
            callee.is_some_and(|callee| {
                callee.node().to_string().starts_with(|c: char| c.is_ascii_uppercase())
            })
        }
        _ => false,
    }
}

/// Extracts a closed expression, selected by `at`, into a definition without parameters. If `annotated`,
/// the definition has a result type, provided that it can be written.
pub fn as_definition(program: &Program, at: usize, annotated: bool) -> Option<Change> {
    let text = &program.text;
    let parse = syntax::parse(text);
    let root = Node::root(&parse.green);
    if text.contains("@extracted") {
        return None;
    }
    let views = program.views();
    let mut closed = Vec::new();
    for view in &views {
        let used = uses(view);
        for (_, def, node) in expressions(std::slice::from_ref(view), root) {
            let range = node.range();
            let is_closed = used.iter().all(|(binding, place)| {
                !range.contains_range(*place) || range.contains_range(view.binding_range(*binding))
            });
            if is_closed && !may_be_value(node) && !names_outer_params(def, node) {
                closed.push((view, def, node));
            }
        }
    }
    if closed.is_empty() {
        return None;
    }
    let (view, def, node) = closed[at % closed.len()];
    let ret = match annotated {
        true => {
            let ty = type_of(view, node.range())?;
            // A type parameter of the enclosing definition is not in scope elsewhere.
            if ty.flags().has(Flags::PARAM) || !ty.is_closed() {
                return None;
            }
            format!(" -> {}", semantics::writable(&ty)?)
        }
        // The context determines the data type of a number, and a definition has no context; the content
        // of a reference has one type in all contexts.
        false if has_references(node) || !are_numbers_typed(node) => return None,
        false => String::new(),
    };
    let (end, range) = (def.range().end(), node.range());
    Some(Change::pieces(
        text,
        &[
            Piece::Old(TextRange::new(0.into(), range.start())),
            Piece::New("@extracted()".into()),
            Piece::Old(TextRange::new(range.end(), end)),
            Piece::New(format!("\ndef @extracted(){ret} {{ ")),
            Piece::Old(range),
            Piece::New(" }\n".into()),
            Piece::Old(TextRange::new(end, root.range().end())),
        ],
    ))
}

fn are_numbers_typed(node: Node<'_>) -> bool {
    let literals = node.descendants().filter(|node| node.kind() == SyntaxKind::LITERAL);
    literals.into_iter().all(|literal| {
        let text = literal.to_string();
        let text = text.trim();
        let is_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        !is_number || text.contains(['f', 'i', 'u'])
    })
}

/// Extracts an expression that is evaluated unconditionally in its statement, selected by `at`, into a
/// `let` before the statement. Modules with references are not changed.
pub fn as_let(program: &Program, at: usize) -> Option<Change> {
    let text = &program.text;
    let parse = syntax::parse(text);
    let root = Node::root(&parse.green);
    if has_references(root) || text.contains("%extracted") {
        return None;
    }
    let views = program.views();
    let mut found = Vec::new();
    for (view, def, node) in expressions(&views, root) {
        // A bare function is called with the arguments of a run.
        if node.kind() == SyntaxKind::FN_EXPR && view.bare_function().is_some() {
            continue;
        }
        let path = def.path_to(node.range());
        let Some(at) = path.iter().rposition(|other| other.range() == node.range()) else {
            continue;
        };
        // No ancestor within the statement delays or skips the evaluation.
        for pair in path[..=at].windows(2).rev() {
            let (parent, child) = (pair[0], pair[1]);
            if parent.kind() == SyntaxKind::BLOCK {
                if child.kind().is_stmt() || is_expr(child) {
                    found.push((child, node));
                }
                break;
            }
            let is_plain = matches!(
                parent.kind(),
                SyntaxKind::CALL_EXPR
                    | SyntaxKind::ARG_LIST
                    | SyntaxKind::TUPLE_EXPR
                    | SyntaxKind::PAREN_EXPR
                    | SyntaxKind::INFIX_EXPR
                    | SyntaxKind::PROJ_EXPR
                    | SyntaxKind::EXPR_STMT
            );
            let is_value =
                matches!(parent.kind(), SyntaxKind::LET_STMT) && child.range() != node.range();
            if !is_plain && !is_value {
                break;
            }
        }
    }
    if found.is_empty() {
        return None;
    }
    let (stmt, node) = found[at % found.len()];
    let range = node.range();
    Some(Change::pieces(
        text,
        &[
            Piece::Old(TextRange::new(0.into(), stmt.start())),
            Piece::New("let %extracted = ".into()),
            Piece::Old(range),
            Piece::New(";\n".into()),
            Piece::Old(TextRange::new(stmt.start(), range.start())),
            Piece::New("%extracted".into()),
            Piece::Old(TextRange::new(range.end(), root.range().end())),
        ],
    ))
}
