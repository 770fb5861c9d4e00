//! Where an expression of a log came from, and what became of it.

use diff::{Options, Pair, PairKind};
use syntax::{Encoding, LineIndex, TextRange, TextSize};

use crate::{
    analyzer::Analyzer,
    input::{Log, NamedModule},
    report::diff::change_text,
};

/// The longest text of an expression that is repeated, in characters.
const LONGEST: usize = 80;

/// An expression in all modules in which it is known, in the order of the log.
pub(crate) struct History {
    /// The expression, once for each of neighbouring modules. One of them is where it was asked for.
    pub(crate) stops: Vec<Stop>,
    /// What happened between each two of them: one less than there are stops.
    pub(crate) steps: Vec<Step>,
    /// Which of the stops it was asked for.
    pub(crate) here: usize,
    /// The module before the first stop has nothing that belongs to it.
    pub(crate) is_new: bool,
    /// The module after the last stop has nothing that belongs to it.
    pub(crate) is_gone: bool,
}

/// The expression in one module.
pub(crate) struct Stop {
    /// The number of the module.
    pub(crate) module: usize,
    /// The place in the module.
    pub(crate) range: TextRange,
    /// Line and column in the log, from 1, columns in characters.
    pub(crate) position: (u32, u32),
    /// The first line of the text.
    pub(crate) text: String,
}

/// What happened to the expression between two modules.
pub(crate) struct Step {
    /// How the two belong together.
    pub(crate) kind: PairKind,
    /// What changed about it, in words.
    pub(crate) changes: Vec<String>,
}

/// A module that is open.
struct Open {
    module: NamedModule,
    lines: LineIndex,
    analyzer: Analyzer,
}

impl History {
    /// The history of the smallest expression at `offset` of the module with number `start`.
    ///
    /// # Errors
    /// No expression is there.
    pub(crate) fn of(log: &Log, start: usize, offset: TextSize) -> Result<History, String> {
        let own = Open::of(log, start);
        // The comparison of the module with itself knows every expression.
        let pairs = own.pairs(&own);
        let at_offset = pairs.iter().filter(|pair| pair.after.contains_inclusive(offset));
        let Some(smallest) = at_offset.min_by_key(|pair| pair.after.len()) else {
            let (line, column) = own.position(offset);
            return Err(format!("there is no expression at line {line}, column {column}"));
        };
        let range = smallest.after;
        let (mut stops, mut steps, is_new) = walk(log, start, range, true);
        stops.reverse();
        steps.reverse();
        let here = stops.len();
        stops.push(own.stop(start, range));
        let (later, changes, is_gone) = walk(log, start, range, false);
        stops.extend(later);
        steps.extend(changes);
        Ok(History { stops, steps, here, is_new, is_gone })
    }
}

impl Open {
    fn of(log: &Log, number: usize) -> Open {
        let module = log.module(number, format!("{}#{number}", log.path));
        let lines = LineIndex::new(&module.text);
        let mut analyzer = Analyzer::new(false);
        analyzer.parse(&module.text);
        Open { module, lines, analyzer }
    }

    /// The expressions that belong together.
    fn pairs(&self, after: &Open) -> Vec<Pair> {
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

/// Follows an expression from module to module, until it has no partner or the log ends: at most
/// once through every module. Returns whether it had no partner.
fn walk(log: &Log, start: usize, range: TextRange, is_back: bool) -> (Vec<Stop>, Vec<Step>, bool) {
    let (mut stops, mut steps) = (Vec::new(), Vec::new());
    let mut range = range;
    let (mut at, mut own) = (start, Open::of(log, start));
    loop {
        let next = if is_back { at.checked_sub(1) } else { Some(at + 1) };
        let Some(next) = next.filter(|&next| next < log.modules.len()) else {
            return (stops, steps, false);
        };
        let other = Open::of(log, next);
        let pairs = if is_back { other.pairs(&own) } else { own.pairs(&other) };
        let side = |pair: &Pair| if is_back { pair.after } else { pair.before };
        let rank = |pair: &&Pair| (pair.kind != PairKind::Same, pair.kind);
        let found = pairs.iter().filter(|pair| side(pair) == range).min_by_key(rank);
        let Some(pair) = found else { return (stops, steps, true) };
        range = if is_back { pair.before } else { pair.after };
        steps.push(Step {
            kind: pair.kind,
            changes: pair.changes.iter().map(change_text).collect(),
        });
        stops.push(other.stop(next, range));
        (at, own) = (next, other);
    }
}
