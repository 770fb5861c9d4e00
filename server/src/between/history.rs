//! The history of an expression through the modules of a log.

use diff::{Comparand, Options, Pair, PairKind};
use ide::place::{Symbol, place_at};
use syntax::{
    Encoding, LineIndex, SyntaxKind, TextRange, TextSize,
    ast::{AstNode, Expr, GraphStmt, LetStmt},
};

use super::unchanged::moved;
use crate::{
    analyzer::Analyzer,
    input::{Log, NamedModule},
    protocol::StepKind,
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
    /// What the pass did to it.
    pub(crate) kind: StepKind,
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

/// A module of a log.
#[derive(Clone)]
struct Module {
    text: NamedModule,
    lines: LineIndex,
    /// Its part of a comparison, after it was analysed.
    comparand: Option<Comparand>,
}

impl History {
    /// Returns the history of the smallest expression at `offset` in the module with index `start`. The
    /// name of a variable, at its binding or where it is used, denotes its value.
    ///
    /// # Errors
    /// No expression is at the offset, or a module cannot be read.
    pub(crate) fn of(log: &Log, start: usize, offset: TextSize) -> Result<History, String> {
        let mut own = Module::of(log, start)?;
        let analyzer = own.analyse();
        // Comparing the module with itself pairs every expression.
        let pairs = pairs(own.comparand.clone(), own.comparand.clone());
        let ranges: Vec<TextRange> = pairs.iter().map(|pair| pair.after).collect();
        let Some(range) = own.expression(&analyzer, &ranges, offset) else {
            let (line, column) = own.position(offset);
            return Err(format!("there is no expression at line {line}, column {column}"));
        };
        drop(analyzer);
        let walk = |is_back| Walk { log, start, is_back }.follow(own.clone(), range);
        let (before, after) = rayon::join(|| walk(true), || walk(false));
        let ((mut stops, mut steps, is_new), (later, changes, is_gone)) = (before?, after?);
        stops.reverse();
        steps.reverse();
        let here = stops.len();
        stops.push(own.stop(start, range));
        stops.extend(later);
        steps.extend(changes);
        Ok(History { stops, steps, here, is_new, is_gone })
    }
}

impl Module {
    fn of(log: &Log, number: usize) -> Result<Module, String> {
        let text = log.module(number, format!("{}#{number}", log.path))?;
        Ok(Module { lines: LineIndex::new(&text.text), text, comparand: None })
    }

    /// Analyses the module.
    fn analyse(&mut self) -> Analyzer {
        let mut analyzer = Analyzer::default();
        analyzer.parse(&self.text.text);
        let (db, file) = analyzer.database();
        self.comparand = semantics::module(db, file, 0).map(|module| Comparand::new(db, module));
        analyzer
    }

    /// Analyses the module for comparisons, unless that has been done.
    fn prepare(&mut self) {
        if self.comparand.is_none() {
            self.analyse();
        }
    }

    /// Returns the range of the expression that an offset selects. The analyzer has analysed the module.
    fn expression(
        &self,
        analyzer: &Analyzer,
        ranges: &[TextRange],
        mut offset: TextSize,
    ) -> Option<TextRange> {
        for _ in 0..MAX_ALIASES {
            match self.binding(analyzer, offset) {
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
    fn binding(&self, analyzer: &Analyzer, offset: TextSize) -> Option<Binding> {
        let (db, file) = analyzer.database();
        let place = place_at(db, file, offset)?;
        let (Symbol::Local(_), own) = place.symbol(db)? else { return None };
        let rest = self.text.text.get((own.end() + place.start(db)).into()..);
        if rest.is_some_and(|rest| rest.starts_with('.')) {
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

    fn position(&self, offset: TextSize) -> (u32, u32) {
        let at = self.lines.line_column(offset, Encoding::Utf32);
        (at.line + self.text.first_line + 1, at.column + 1)
    }

    fn stop(&self, module: usize, range: TextRange) -> Stop {
        let text = self.text.text.get(std::ops::Range::<usize>::from(range)).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        Stop {
            module,
            range,
            position: self.position(range.start()),
            text: line.chars().take(LONGEST).collect(),
        }
    }
}

/// Returns the pairs of corresponding expressions of two modules that were analysed.
fn pairs(before: Option<Comparand>, after: Option<Comparand>) -> Vec<Pair> {
    let (Some(before), Some(after)) = (before, after) else { return Vec::new() };
    let found = diff::compare_prepared(before, after, &Options::default());
    found.functions.into_iter().flat_map(|function| function.pairs).collect()
}

/// The stops and steps of a walk, and true if it ended at a module without a counterpart.
type HistoryWalk = (Vec<Stop>, Vec<Step>, bool);

/// A walk from module to module, in one direction.
struct Walk<'l> {
    log: &'l Log,
    start: usize,
    is_back: bool,
}

impl Walk<'_> {
    /// Returns the number of the module after number `at`, and the module.
    fn next(&self, at: usize) -> Option<(usize, Result<Module, String>)> {
        let next = if self.is_back { at.checked_sub(1)? } else { at + 1 };
        (next < self.log.modules.len()).then(|| (next, Module::of(self.log, next)))
    }

    /// Follows an expression until it has no counterpart or the log ends. Returns true in the last field
    /// if it has no counterpart.
    ///
    /// Modules in which the texts show no change of the expression are not analysed. Otherwise the
    /// comparison of two modules and the analysis of the one after them run at the same time.
    ///
    /// # Errors
    /// A module cannot be read.
    fn follow(&self, mut own: Module, mut range: TextRange) -> Result<HistoryWalk, String> {
        let (mut stops, mut steps) = (Vec::new(), Vec::new());
        let mut ahead = self.next(self.start);
        while let Some((next, other)) = ahead.take() {
            let mut other = other?;
            ahead = self.next(next);
            let step = match moved(&own.text.text, &other.text.text, range) {
                Some(same) => {
                    range = same;
                    if own.text.text == other.text.text {
                        other.comparand = own.comparand.take();
                    }
                    Step { kind: StepKind::Same, changes: Vec::new() }
                }
                None => {
                    rayon::join(|| own.prepare(), || other.prepare());
                    let after = ahead.as_mut().and_then(|(_, after)| after.as_mut().ok());
                    let differs = |after: &&mut Module| after.text.text != other.text.text;
                    let mut after = after.filter(differs);
                    let (found, ()) = rayon::join(
                        || self.pair(own.comparand.take(), other.comparand.clone(), range),
                        || after.iter_mut().for_each(|after| after.prepare()),
                    );
                    let Some(pair) = found else { return Ok((stops, steps, true)) };
                    range = if self.is_back { pair.before } else { pair.after };
                    let changes = pair.changes.iter().map(change_text).collect();
                    Step { kind: StepKind::of(&pair), changes }
                }
            };
            steps.push(step);
            stops.push(other.stop(next, range));
            own = other;
        }
        Ok((stops, steps, false))
    }

    /// Returns the pair of the expression at `range` in the first of two modules on the walk.
    fn pair(
        &self,
        own: Option<Comparand>,
        other: Option<Comparand>,
        range: TextRange,
    ) -> Option<Pair> {
        let pairs = if self.is_back { pairs(other, own) } else { pairs(own, other) };
        best(pairs, range, self.is_back)
    }
}

/// Returns the pair of the expression at `range` on the side where the walk comes from, at best one of equal
/// expressions.
fn best(pairs: Vec<Pair>, range: TextRange, is_back: bool) -> Option<Pair> {
    let side = |pair: &Pair| if is_back { pair.after } else { pair.before };
    let rank = |pair: &Pair| (pair.kind != PairKind::Same, pair.kind);
    pairs.into_iter().filter(|pair| side(pair) == range).min_by_key(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
def @scale(%x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {
  multiply(%x, 2f)
}
def @other(%x: Tensor[(2, 3), float32], %c: bool) {
  let %a = add(%x, 1f);
  let %b = if (%c) {
    add(%a, %x)
  } else {
    nn.relu(%a)
  };
  let %c1 = nn.relu(%b);
  (%b, %c1)
}
def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32]) {
  %0 = add(%x, %y);
  %1 = fn (%p: Tensor[(2, 3), float32], Primitive=1) {
    %2 = add(%p, 1f);
    nn.relu(%2)
  };
  %3 = %1(%0);
  let %a = nn.softmax(%3, axis=1);
  let %b = @scale(%a);
  let %t = (%a, %b);
  let %d = add(%t.0, 2f);
  let %e = multiply(%d, %y);
  let %a = transpose(%e, axes=[0, 1]);
  add(%a, %x)
}
";

    /// Returns texts that differ from [`TEXT`] as a pass or a user might change it.
    fn variants() -> Vec<String> {
        let lines: Vec<&str> = TEXT.split_inclusive('\n').collect();
        let with = |at: usize, by: &[&str]| {
            let rest = lines.get(at + 1..).unwrap_or_default();
            [&lines[..at], by, rest].concat().concat()
        };
        let mut found = vec![TEXT.to_owned()];
        for (at, &line) in lines.iter().enumerate() {
            found.push(with(at, &[]));
            found.push(with(at, &[line, line]));
            for (old, new) in [
                ("add", "subtract"),
                ("nn.relu", "tanh"),
                ("2f", "3f"),
                ("%a", "%x"),
                ("%x", "%y"),
                ("2, 3", "3, 3"),
                ("axis=1", "axis=0"),
            ] {
                found.push(with(at, &[&line.replace(old, new)]));
            }
            for inserted in ["  let %z = tanh(%x);\n", "  let %a = tanh(%x);\n", "  nn.relu(%x);\n"]
            {
                found.push(with(at, &[line, inserted]));
            }
            if let Some(next) = lines.get(at + 1) {
                found.push(lines[..at].concat() + next + line + &lines[at + 2..].concat());
            }
        }
        let defs: Vec<String> =
            TEXT.split("def ").skip(1).map(|def| format!("def {def}")).collect();
        for skipped in &defs {
            let others = defs.iter().filter(|&def| def != skipped);
            let others: String = others.cloned().collect();
            found.extend([others.clone(), skipped.clone() + &others, others + skipped]);
        }
        found
    }

    fn at(text: &str, range: TextRange) -> &str {
        &text[std::ops::Range::<usize>::from(range)]
    }

    /// What the texts show contradicts nothing that the comparison of the modules finds.
    #[test]
    fn texts_show_what_the_comparison_finds() {
        let analysed = |text: &str| -> Option<Comparand> {
            let mut analyzer = Analyzer::default();
            analyzer.parse(text);
            let (db, file) = analyzer.database();
            let is_valid = semantics::first_syntax_error(db, file).is_none();
            let module = semantics::module(db, file, 0).filter(|_| is_valid)?;
            Some(Comparand::new(db, module))
        };
        let own = analysed(TEXT).expect("a module");
        let itself = pairs(Some(own.clone()), Some(own.clone()));
        let (mut shown, mut compared, mut unpaired) = (0, 0, 0);
        for text in variants() {
            let Some(other) = analysed(&text) else { continue };
            for is_back in [false, true] {
                let (before, after) = match is_back {
                    true => (other.clone(), own.clone()),
                    false => (own.clone(), other.clone()),
                };
                let found = pairs(Some(before), Some(after));
                for range in itself.iter().map(|pair| pair.after) {
                    let Some(to) = moved(TEXT, &text, range) else {
                        compared += 1;
                        continue;
                    };
                    shown += 1;
                    // Of equal expressions, the comparison may choose another one.
                    let pair = best(found.clone(), range, is_back);
                    let pair = pair.map(|pair| {
                        let to = if is_back { pair.before } else { pair.after };
                        (pair.kind, at(&text, to), pair.changes.len())
                    });
                    let expression = at(TEXT, range);
                    assert_eq!(at(&text, to), expression);
                    match pair {
                        // Nor does it pair names in functions that differ, and what nothing uses.
                        None => unpaired += 1,
                        pair => assert_eq!(
                            pair,
                            Some((PairKind::Same, expression, 0)),
                            "{range:?} in\n{text}"
                        ),
                    }
                }
            }
        }
        assert!(shown > 1_000 && compared > 500, "{shown} shown, {compared} compared");
        assert!(unpaired * 5 < shown, "{unpaired} of {shown}");
    }
}
