//! The history of an expression through the modules of a log.

use diff::{Options, Pair, PairKind};
use ide::place::{Symbol, place_at};
use syntax::{
    Encoding, LineIndex, SyntaxKind, TextRange, TextSize,
    ast::{AstNode, Expr, GraphStmt, LetStmt},
};

use crate::{
    analyzer::Analyzer,
    input::{Log, NamedModule},
    report::diff::change_text,
};

/// The longest text of an expression that is quoted, in characters.
const LONGEST: usize = 80;
/// The maximum number of bindings of a variable to another variable that are followed to its value.
const MAX_ALIASES: usize = 100;

/// An expression in consecutive modules of a log.
pub(crate) struct History {
    /// The expression in each of the modules, including the one in which it was selected.
    pub(crate) stops: Vec<Stop>,
    /// The changes between consecutive stops, one fewer than stops.
    pub(crate) steps: Vec<Step>,
    /// The index of the stop at which it was selected.
    pub(crate) here: usize,
    /// True if the module before the first stop has no counterpart.
    pub(crate) is_new: bool,
    /// True if the module after the last stop has no counterpart.
    pub(crate) is_gone: bool,
}

/// The expression in one module.
pub(crate) struct Stop {
    /// The index of the module.
    pub(crate) module: usize,
    /// The range in the module.
    pub(crate) range: TextRange,
    /// The line and the column in characters in the log, from 1.
    pub(crate) position: (u32, u32),
    /// The first line of its text.
    pub(crate) text: String,
}

/// The change of the expression between two modules.
pub(crate) struct Step {
    /// The kind of the match.
    pub(crate) kind: PairKind,
    /// The changes as texts.
    pub(crate) changes: Vec<String>,
}

/// The binding of a variable.
enum Binding {
    /// The range of the value of a `let` or graph variable.
    Value(TextRange),
    /// The name of a parameter or another variable without a value.
    Other(TextSize),
}

/// A parsed module.
struct Parsed {
    module: NamedModule,
    lines: LineIndex,
    analyzer: Analyzer,
}

impl History {
    /// Returns the history of the smallest expression at `offset` in the module with index `start`. The
    /// name of a variable, at its binding or where it is used, denotes its value.
    ///
    /// # Errors
    /// No expression is at the offset, or a module cannot be read.
    pub(crate) fn of(log: &Log, start: usize, offset: TextSize) -> Result<History, String> {
        let own = Parsed::of(log, start)?;
        // Comparing the module with itself pairs every expression.
        let pairs = own.pairs(&own);
        let ranges: Vec<TextRange> = pairs.iter().map(|pair| pair.after).collect();
        let Some(range) = own.expression(&ranges, offset) else {
            let (line, column) = own.position(offset);
            return Err(format!("there is no expression at line {line}, column {column}"));
        };
        let (mut stops, mut steps, is_new) = walk(log, start, range, true)?;
        stops.reverse();
        steps.reverse();
        let here = stops.len();
        stops.push(own.stop(start, range));
        let (later, changes, is_gone) = walk(log, start, range, false)?;
        stops.extend(later);
        steps.extend(changes);
        Ok(History { stops, steps, here, is_new, is_gone })
    }
}

impl Parsed {
    fn of(log: &Log, number: usize) -> Result<Parsed, String> {
        let module = log.module(number, format!("{}#{number}", log.path))?;
        let lines = LineIndex::new(&module.text);
        let mut analyzer = Analyzer::default();
        analyzer.parse(&module.text);
        Ok(Parsed { module, lines, analyzer })
    }

    /// Returns the range of the expression that an offset selects.
    fn expression(&self, ranges: &[TextRange], offset: TextSize) -> Option<TextRange> {
        let mut offset = offset;
        for _ in 0..MAX_ALIASES {
            match self.binding(offset) {
                Some(Binding::Value(value)) => {
                    let inside = ranges.iter().filter(|range| value.contains_range(**range));
                    match inside.max_by_key(|range| range.len()) {
                        Some(&range) => return Some(range),
                        // An alias of a variable has no expression of its own.
                        None => offset = value.start(),
                    }
                }
                Some(Binding::Other(name)) => {
                    offset = name;
                    break;
                }
                None => break,
            }
        }
        let around = ranges.iter().filter(|range| range.contains_inclusive(offset));
        around.min_by_key(|range| range.len()).copied()
    }

    /// Returns the binding of the variable whose name is at an offset.
    fn binding(&self, offset: TextSize) -> Option<Binding> {
        let (db, file) = self.analyzer.database();
        let place = place_at(db, file, offset)?;
        let (Symbol::Local(_), own) = place.symbol(db)? else { return None };
        if self
            .module
            .text
            .get((own.end() + place.start(db)).into()..)
            .is_some_and(|rest| rest.starts_with('.'))
        {
            // A projection is a separate expression.
            return None;
        }
        let name = ide::goto::definition(db, file, offset)?.targets.first()?.name;
        let bound = place_at(db, file, name.start())?;
        let is_binding = |kind| matches!(kind, SyntaxKind::LET_STMT | SyntaxKind::GRAPH_STMT);
        // The nodes around the name: `NAME`, the statement.
        let statement = bound.path.iter().rev().nth(1).filter(|node| is_binding(node.kind()));
        let value = statement.and_then(|node| match GraphStmt::cast(*node) {
            Some(graph) => graph.value().map(Expr::node),
            None => LetStmt::cast(*node)?.value().map(AstNode::node),
        });
        Some(match value {
            Some(value) => Binding::Value(value.range() + bound.start(db)),
            None => Binding::Other(name.start()),
        })
    }

    /// Returns the pairs of corresponding expressions.
    fn pairs(&self, after: &Parsed) -> Vec<Pair> {
        let ((db_a, file_a), (db_b, file_b)) =
            (self.analyzer.database(), after.analyzer.database());
        let (Some(a), Some(b)) =
            (semantics::module(db_a, file_a, 0), semantics::module(db_b, file_b, 0))
        else {
            return Vec::new();
        };
        let diff = diff::compare((db_a, a), (db_b, b), &Options::default());
        diff.functions.into_iter().flat_map(|function| function.pairs).collect()
    }

    fn position(&self, offset: TextSize) -> (u32, u32) {
        let at = self.lines.line_column(offset, Encoding::Utf32);
        (at.line + self.module.first_line + 1, at.column + 1)
    }

    fn stop(&self, module: usize, range: TextRange) -> Stop {
        let text = self.module.text.get(std::ops::Range::<usize>::from(range)).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        Stop {
            module,
            range,
            position: self.position(range.start()),
            text: line.chars().take(LONGEST).collect(),
        }
    }
}

/// The stops and steps of a walk, and true if it ended at a module without a counterpart.
type Walk = (Vec<Stop>, Vec<Step>, bool);

/// Follows an expression from module to module until it has no counterpart or the log ends. Returns
/// true in the last field if it has no counterpart.
///
/// # Errors
/// A module cannot be read.
fn walk(log: &Log, start: usize, range: TextRange, is_back: bool) -> Result<Walk, String> {
    let (mut stops, mut steps) = (Vec::new(), Vec::new());
    let mut range = range;
    let (mut at, mut own) = (start, Parsed::of(log, start)?);
    loop {
        let next = if is_back { at.checked_sub(1) } else { Some(at + 1) };
        let Some(next) = next.filter(|&next| next < log.modules.len()) else {
            return Ok((stops, steps, false));
        };
        let other = Parsed::of(log, next)?;
        let pairs = if is_back { other.pairs(&own) } else { own.pairs(&other) };
        let side = |pair: &Pair| if is_back { pair.after } else { pair.before };
        let rank = |pair: &&Pair| (pair.kind != PairKind::Same, pair.kind);
        let found = pairs.iter().filter(|pair| side(pair) == range).min_by_key(rank);
        let Some(pair) = found else { return Ok((stops, steps, true)) };
        range = if is_back { pair.before } else { pair.after };
        steps.push(Step {
            kind: pair.kind,
            changes: pair.changes.iter().map(change_text).collect(),
        });
        stops.push(other.stop(next, range));
        (at, own) = (next, other);
    }
}
