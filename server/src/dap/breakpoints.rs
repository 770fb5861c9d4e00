//! Breakpoints: where they are, and when they hold.

use std::{collections::BTreeSet, sync::Arc};

use interpreter::{Point, PointKind};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{TextRange, TextSize};

use super::{
    evaluator::{Evaluator, variables_in},
    program::Program,
    protocol::{BreakpointState, WantedBreakpoint},
};

/// The largest number of breakpoints of each kind.
const MAX: usize = 10_000;

/// A breakpoint of a run.
#[derive(Clone, Debug)]
pub(super) struct Breakpoint {
    pub(super) id: i64,
    pub(super) condition: Option<String>,
    pub(super) hits: Option<HitCondition>,
    /// The text of a logpoint, which does not stop.
    pub(super) log: Option<String>,
}

impl Breakpoint {
    /// Creates a breakpoint with the conditions of the client.
    ///
    /// # Errors
    /// The message for a hit condition of another form.
    fn new(id: i64, wanted: &WantedBreakpoint) -> Result<Breakpoint, String> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let hits = given(&wanted.hit_condition).as_deref().map(HitCondition::parse).transpose()?;
        let (condition, log) = (given(&wanted.condition), given(&wanted.log_message));
        Ok(Breakpoint { id, condition, hits, log })
    }

    /// Returns its expressions: its condition, and those in the braces of its text.
    fn expressions(&self) -> impl Iterator<Item = &str> {
        let pieces = self.log.as_deref().map(pieces).unwrap_or_default();
        let in_log = pieces.into_iter().filter_map(|piece| match piece {
            Piece::Expression(text) => Some(text),
            Piece::Text(_) => None,
        });
        self.condition.as_deref().into_iter().chain(in_log)
    }
}

/// Compares the number of times that a breakpoint was reached with that of its condition.
type Comparison = fn(&u64, &u64) -> bool;

/// The signs of hit conditions, such as `>=5` and `% 5`.
const SIGNS: [(&str, Comparison); 7] = [
    (">=", u64::ge),
    ("<=", u64::le),
    ("==", u64::eq),
    (">", u64::gt),
    ("<", u64::lt),
    ("=", u64::eq),
    ("%", |hits, number| hits.is_multiple_of(*number)),
];

/// A condition on the number of times that a breakpoint was reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct HitCondition {
    comparison: Comparison,
    number: u64,
}

impl HitCondition {
    /// Parses a hit condition; a number alone is one of equality.
    ///
    /// # Errors
    /// The message for another text.
    fn parse(text: &str) -> Result<HitCondition, String> {
        let text = text.trim();
        let signed =
            SIGNS.iter().find_map(|(sign, of)| Some((*sign, text.strip_prefix(sign)?, *of)));
        let (sign, number, comparison) = signed.unwrap_or(("", text, u64::eq));
        let number = number.trim().parse().ok().filter(|number| sign != "%" || *number != 0);
        let number = number.ok_or_else(|| {
            format!("`{text}` is no hit count: it takes a form such as `5`, `>= 5` or `% 5`")
        })?;
        Ok(HitCondition { comparison, number })
    }

    /// Returns true if it holds for the number of hits, this one included.
    pub(super) fn holds(self, hits: u64) -> bool {
        (self.comparison)(&hits, &self.number)
    }
}

/// The breakpoints and filters of a session.
#[derive(Clone, Default, Debug)]
pub(super) struct Breakpoints {
    /// Those before points, by the ranges of these.
    pub(super) before: FxHashMap<TextRange, Vec<Breakpoint>>,
    /// Those before calls of operators and functions, by the ranges of these.
    pub(super) calls: FxHashMap<TextRange, Vec<Breakpoint>>,
    /// Those whose conditions or texts name the variable that is bound: after it has its value.
    pub(super) bound: FxHashMap<TextRange, Vec<Breakpoint>>,
    /// Those on operators.
    pub(super) operators: FxHashMap<String, Vec<Breakpoint>>,
    /// Those on definitions, at their points.
    pub(super) definitions: FxHashMap<TextRange, Vec<Breakpoint>>,
    /// Stops at results with NaN.
    pub(super) nan: bool,
    /// Stops at results with infinities.
    pub(super) infinite: bool,
    /// Stops at results of integers that wrapped.
    pub(super) overflow: bool,
    /// Stops at failures.
    pub(super) failed: bool,
    /// Stops at values that do not have their declared sizes.
    pub(super) declared_size: bool,
    /// The number of times that breakpoints were set.
    pub(super) version: u64,
    /// The ranges of the names of variables that conditions and texts need.
    pub(super) pinned: Arc<FxHashSet<TextRange>>,
}

impl Breakpoints {
    /// Returns true if they need events other than failures, and the values of variables where the run stops.
    pub(super) fn needs_variables(&self) -> bool {
        !self.before.is_empty()
            || !self.calls.is_empty()
            || !self.bound.is_empty()
            || !self.operators.is_empty()
            || !self.definitions.is_empty()
            || self.looks_at_results()
    }

    /// Returns true if there is a filter of the results of operators.
    pub(super) fn looks_at_results(&self) -> bool {
        self.nan || self.infinite || self.overflow
    }

    /// Returns true if some count how often they were reached.
    pub(super) fn has_hits(&self) -> bool {
        self.everywhere().any(|breakpoint| breakpoint.hits.is_some())
    }

    fn everywhere(&self) -> impl Iterator<Item = &Breakpoint> {
        let in_text = self.before.values().chain(self.calls.values()).chain(self.bound.values());
        in_text.chain(self.definitions.values()).chain(self.operators.values()).flatten()
    }

    /// Records that breakpoints were set.
    fn changed(&mut self, evaluator: &Evaluator) {
        self.version += 1;
        let texts: Vec<&str> = self.everywhere().flat_map(Breakpoint::expressions).collect();
        self.pinned = match texts.is_empty() {
            true => Arc::default(),
            false => Arc::new(evaluator.named_anywhere(&texts)),
        };
    }

    /// Sets the breakpoints of the file, and returns where they are.
    pub(super) fn set(
        &mut self,
        wanted: &[WantedBreakpoint],
        evaluator: &Evaluator,
        next_id: &mut i64,
    ) -> Vec<BreakpointState> {
        self.before.clear();
        self.calls.clear();
        self.bound.clear();
        let wanted = wanted.iter().take(MAX);
        let states = wanted.map(|one| self.place(one, evaluator, next_id)).collect();
        self.changed(evaluator);
        states
    }

    fn place(
        &mut self,
        wanted: &WantedBreakpoint,
        evaluator: &Evaluator,
        next_id: &mut i64,
    ) -> BreakpointState {
        *next_id += 1;
        let program = evaluator.program();
        let source = Some(program.source());
        let mut state = BreakpointState { id: *next_id, source, ..BreakpointState::default() };
        let at_column = wanted.column.map(|column| (wanted.line, column));
        let calls = at_column.map(|at| calls_at(program, at)).unwrap_or_default();
        let point = match calls.first() {
            Some(&range) => Some(Point { range, kind: PointKind::Result }),
            None => point_at(program, (wanted.line, wanted.column)),
        };
        let Some(point) = point else {
            let text = "there is no binding or result in this line or after it";
            state.message = Some(text.to_owned());
            return state;
        };
        let (line, column) = program.position(point.range.start());
        (state.line, state.column) = (Some(line), Some(column));
        if line != wanted.line {
            let what = match point.kind {
                PointKind::Binding(_) => format!("the binding of {}", program.at(point.range)),
                PointKind::Definition => "the next definition".to_owned(),
                PointKind::Result => "the next result".to_owned(),
            };
            state.message =
                Some(format!("moved to {what}: nothing is evaluated in line {}", wanted.line));
        }
        let breakpoint = Breakpoint::new(state.id, wanted).and_then(|breakpoint| {
            breakpoint.expressions().try_for_each(|text| evaluator.check(text, point.range))?;
            Ok(breakpoint)
        });
        let breakpoint = match breakpoint {
            Ok(breakpoint) => breakpoint,
            Err(message) => {
                state.message = Some(message);
                return state;
            }
        };
        state.verified = true;
        let name = match point.kind {
            PointKind::Binding(_) => Some(program.at(point.range)),
            _ => None,
        };
        let names_own = name.is_some_and(|own| {
            let mut named = breakpoint.expressions().flat_map(variables_in);
            named.any(|word| {
                word == own || word.strip_prefix(own).is_some_and(|f| f.starts_with('.'))
            })
        });
        let places = if calls.is_empty() { &[point.range][..] } else { calls };
        let to = match (calls.is_empty(), names_own) {
            (false, _) => &mut self.calls,
            (true, true) => &mut self.bound,
            (true, false) => &mut self.before,
        };
        for place in places {
            to.entry(*place).or_default().push(breakpoint.clone());
        }
        state
    }

    /// Sets the breakpoints on operators and definitions.
    pub(super) fn set_functions(
        &mut self,
        wanted: &[WantedBreakpoint],
        evaluator: &Evaluator,
        next_id: &mut i64,
    ) -> Vec<BreakpointState> {
        let program = evaluator.program();
        self.operators.clear();
        self.definitions.clear();
        let mut states = Vec::new();
        for one in wanted.iter().take(MAX) {
            *next_id += 1;
            let mut state = BreakpointState { id: *next_id, ..BreakpointState::default() };
            let breakpoint = match Breakpoint::new(state.id, one) {
                Ok(breakpoint) => breakpoint,
                Err(message) => {
                    state.message = Some(message);
                    states.push(state);
                    continue;
                }
            };
            let name = one.name.trim();
            if let Some(point) =
                program.definition_point(&format!("@{}", name.trim_start_matches('@')))
            {
                let (line, column) = program.position(point.range.start());
                state.source = Some(program.source());
                (state.line, state.column) = (Some(line), Some(column));
                self.definitions.entry(point.range).or_default().push(breakpoint);
                state.verified = true;
            } else if operators::find(name).is_some() {
                self.operators.entry(name.to_owned()).or_default().push(breakpoint);
                state.verified = true;
            } else {
                state.message = Some(format!("there is no operator and no function `{name}`"));
            }
            states.push(state);
        }
        self.changed(evaluator);
        states
    }
}

/// A piece of the text of a logpoint.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Piece<'t> {
    Text(&'t str),
    /// `{mean(%5)}`
    Expression(&'t str),
}

/// Returns the pieces of the text of a logpoint.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{')
        && let Some((inside, behind)) = after.split_once('}')
    {
        found.extend((!before.is_empty()).then_some(Piece::Text(before)));
        found.push(Piece::Expression(inside));
        rest = behind;
    }
    found.extend((!rest.is_empty()).then_some(Piece::Text(rest)));
    found
}

/// Returns the point of a breakpoint: the first one of its line from its column on, otherwise the next one.
fn point_at(program: &Program, at: (i64, Option<i64>)) -> Option<Point> {
    let (line, column) = at;
    let start = program.offset((line, program.positions.column));
    if program.position(start).0 != line {
        return None;
    }
    let from = column.map_or(start, |column| program.offset((line, column)));
    let after = |offset: TextSize| {
        let first = program.points().partition_point(|point| point.range.start() < offset);
        program.points().get(first).copied()
    };
    let is_in_line = |point: &Point| program.position(point.range.start()).0 == line;
    // `let %x = …` may begin before the line of a result that spans lines: the innermost one counts.
    after(from).filter(is_in_line).or_else(|| after(start))
}

/// Returns the calls that begin at one place in a line, at a column or after it, and before the next point. There are
/// several in `@f(%x)(%y)` and `%x * %y + %z`, the outer ones first. The first call of the value of a binding is evaluated
/// at the point of the binding, or after those inside of it.
fn calls_at(program: &Program, at: (i64, i64)) -> &[TextRange] {
    let from = program.offset(at);
    let first = program.calls().partition_point(|call| call.start() < from);
    let calls = program.calls().get(first..).unwrap_or_default();
    let Some(start) = calls.first().map(|call| call.start()) else { return &[] };
    let count = calls.partition_point(|call| call.start() == start);
    let next = program.points().partition_point(|point| point.range.start() < from);
    let is_first = program.points().get(next).is_none_or(|point| start < point.range.start());
    match is_first && program.position(start).0 == at.0 {
        true => calls.get(..count).unwrap_or_default(),
        false => &[],
    }
}

/// Returns the points and the calls between two lines.
pub(super) fn points_between(program: &Program, (first, last): (i64, i64)) -> Vec<(i64, i64)> {
    let starts = program.points().iter().map(|point| point.range.start());
    let starts = starts.chain(program.calls().iter().map(|call| call.start()));
    let places = starts.map(|start| program.position(start));
    let places: BTreeSet<(i64, i64)> =
        places.filter(|(line, _)| (first..=last).contains(line)).collect();
    places.into_iter().take(MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hit_conditions() {
        let holds = |text: &str| -> Vec<u64> {
            let condition = HitCondition::parse(text).expect("a condition");
            (1..=6).filter(|hits| condition.holds(*hits)).collect()
        };
        assert_eq!(holds("3"), [3]);
        assert_eq!(holds("== 3"), [3]);
        assert_eq!(holds(">4"), [5, 6]);
        assert_eq!(holds(">= 4"), [4, 5, 6]);
        assert_eq!(holds("<2"), [1]);
        assert_eq!(holds("<=2"), [1, 2]);
        assert_eq!(holds("% 2"), [2, 4, 6]);
        for text in ["", "%0", "x", "-1", "> %5"] {
            assert!(HitCondition::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn texts_have_expressions_in_braces() {
        let found = pieces("loss {mean(%5)}, {%x} {");
        let expected = [
            Piece::Text("loss "),
            Piece::Expression("mean(%5)"),
            Piece::Text(", "),
            Piece::Expression("%x"),
            Piece::Text(" {"),
        ];
        assert_eq!(found, expected);
    }
}
