//! The search for the first module of a log that computes another value, or that cannot be run.
//!
//! Modules are compared as [`compare`](super::compare) does: a call with an error of its own counts although the results
//! hide it.

mod alone;

use diff::{Comparand, ModuleDiff, Options};
use syntax::{Encoding, LineIndex};

use super::{
    arguments::{Arguments, Inputs},
    compare::{
        CallPair, Candidate, Comparison, ComparisonSettings, NotRun, Side, candidates, compare_with,
    },
};
use crate::{
    analyzer::Analyzer,
    input::{Log, NamedModule},
};
pub(crate) use alone::{LonePasses, WrongPass};

/// The tolerated error, relative to the largest element, of a result that is computed in half precision.
const HALF: f64 = 1e-2;

/// Runs of the modules of a log on the same arguments.
pub(crate) struct LogRuns<'l> {
    /// The log.
    pub(crate) log: &'l Log,
    /// The function; `None` for `@main` or the only one.
    pub(crate) function: Option<String>,
    /// The arguments.
    pub(crate) inputs: Inputs,
    /// The limits and tolerances.
    pub(crate) setting: ComparisonSettings<'l>,
}

/// Two modules that were run on the same arguments.
pub(crate) struct ComparedModules {
    /// The comparison of their values.
    pub(crate) comparison: Comparison,
    /// The structural one, of which [`candidates`] are compared.
    pub(crate) diff: ModuleDiff,
}

/// The first module of a log that can be run.
pub(crate) struct FirstModule {
    /// Its number.
    pub(crate) index: usize,
    /// The module.
    pub(crate) module: NamedModule,
    /// The arguments, without their values.
    pub(crate) arguments: Arguments,
}

/// The reason that no module of a log can be run.
pub(crate) enum NoModuleRun {
    /// The log cannot be read.
    Unreadable(String),
    /// The number of a module, the first one that says why it cannot be run.
    Obstacle(usize, Obstacle),
}

impl LogRuns<'_> {
    /// Reads a module.
    ///
    /// # Errors
    /// The message for a log that cannot be read.
    pub(crate) fn module(&self, at: usize) -> Result<NamedModule, String> {
        self.log.module(at, format!("{}#{at}", self.log.path))
    }

    /// Runs two modules on the same arguments, and compares their results and the calls that a structural comparison
    /// pairs.
    ///
    /// # Errors
    /// One of them cannot be run to its end.
    pub(crate) fn compare(
        &self,
        before: &NamedModule,
        after: &NamedModule,
    ) -> Result<ComparedModules, NotRun> {
        // A module agrees with itself. The run says why one cannot be analysed.
        let diff = match before.text == after.text {
            true => None,
            false => structural_diff(before, after),
        };
        let diff = diff.unwrap_or_default();
        let candidates = candidates(&diff.functions);
        let pairs: Vec<CallPair> = candidates.iter().filter_map(Candidate::call_pair).collect();
        let function = self.function.as_deref();
        let side = |text| Side { text, function };
        let mut setting = self.setting.clone();
        // A result is no more precise than the values that it is computed from.
        if [before, after].iter().any(|module| module.text.contains("float16")) {
            setting.tolerances.relative.get_or_insert(HALF);
        }
        let sides = (side(&before.text), side(&after.text));
        let comparison = compare_with(sides, &pairs, &self.inputs, &setting)?;
        let (of_before, of_after) = &comparison.stops;
        match of_after.iter().chain(of_before).next() {
            Some(stop) => Err(stop.clone().into()),
            None => Ok(ComparedModules { comparison, diff }),
        }
    }

    /// Returns the first module that can be run: its values are right.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn first(&self) -> Result<FirstModule, NoModuleRun> {
        let mut first_obstacle = None;
        for index in 0..self.log.modules.len() {
            let module = self.module(index).map_err(NoModuleRun::Unreadable)?;
            match self.compare(&module, &module) {
                Ok(compared) => {
                    let arguments = compared.comparison.arguments;
                    return Ok(FirstModule { index, module, arguments });
                }
                Err(not_run) => {
                    let obstacle = || NoModuleRun::Obstacle(index, Obstacle::of(&module, not_run));
                    first_obstacle.get_or_insert_with(obstacle);
                }
            }
        }
        let empty = || NoModuleRun::Unreadable("the log has no module".to_owned());
        Err(first_obstacle.unwrap_or_else(empty))
    }
}

/// Pairs the calls of two modules; `None` if one has no syntax tree without errors.
fn structural_diff(before: &NamedModule, after: &NamedModule) -> Option<ModuleDiff> {
    Some(diff::compare_prepared(comparand(before)?, comparand(after)?, &Options::default()))
}

/// Prepares a module for comparisons by structure; `None` if it has syntax errors.
fn comparand(module: &NamedModule) -> Option<Comparand> {
    let mut analyzer = Analyzer::default();
    analyzer.parse(&module.text);
    let (db, file) = analyzer.database();
    if semantics::first_syntax_error(db, file).is_some() {
        return None;
    }
    Some(Comparand::new(db, semantics::module(db, file, 0)?))
}

/// The reason that a module cannot be run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Obstacle {
    /// The message.
    pub(crate) message: String,
    /// The code of the error, if it has one.
    pub(crate) code: Option<String>,
    /// The line and the column of the error in the text of the module, from 1, if it has a place there.
    pub(crate) position: Option<(u32, u32)>,
}

impl Obstacle {
    /// Returns the reason that a module cannot be run.
    pub(crate) fn of(module: &NamedModule, not_run: NotRun) -> Obstacle {
        let position = not_run.error.map(|(_, range)| {
            let lines = LineIndex::new(&module.text);
            let at = lines.line_column(range.start(), Encoding::Utf32);
            (at.line + module.first_line + 1, at.column + 1)
        });
        let code = not_run.error.map(|(code, _)| code.name().to_owned());
        Obstacle { message: not_run.message, code, position }
    }
}

/// How much the values of a module differ from those of the first one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Difference {
    /// By no more than sums in another order.
    None,
    /// The error of the result is tolerated, but larger than that.
    Tolerated,
    /// A call computes another value, and the results agree.
    Hidden,
    /// The results differ.
    Visible,
}

/// What a run of a module says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// The module was compared with the first one.
    Run(Difference),
    /// The module cannot be run, for a reason.
    NotRun(Obstacle),
}

/// The result of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Bisection {
    /// The last module that is known to differ less than `sought`.
    pub(crate) same: usize,
    /// The first module that is known to differ as much; `None` if the last module that can be run computes what the
    /// first one does.
    pub(crate) other: Option<usize>,
    /// The first module of those at the end that cannot be run, after one that can; `None` if the last module can.
    pub(crate) not_run: Option<usize>,
    /// The difference of the last module that can be run, which the search is for: a smaller one does not explain it.
    pub(crate) sought: Difference,
    /// The number of modules that were run.
    pub(crate) runs: usize,
    /// The modules that cannot be run, with the reasons.
    pub(crate) skipped: Vec<(usize, Obstacle)>,
}

impl Bisection {
    /// Returns the reason that a module cannot be run.
    pub(crate) fn obstacle(&self, module: usize) -> Option<&Obstacle> {
        self.skipped.iter().find(|(at, _)| *at == module).map(|(_, obstacle)| obstacle)
    }

    /// Adds a module that cannot be run.
    fn skip(&mut self, module: usize, obstacle: Obstacle) {
        self.skipped.push((module, obstacle));
        self.skipped.sort_by_key(|(at, _)| *at);
    }
}

/// Returns the number of runs that a search of `count` modules takes at most if all of them can be run.
pub(crate) fn most_runs(count: usize) -> usize {
    count.checked_ilog2().unwrap_or_default() as usize + 2
}

/// A search, which runs each module once at most.
struct Search<R> {
    run: R,
    states: Vec<Option<State>>,
    found: Bisection,
}

impl<R: FnMut(usize) -> State> Search<R> {
    fn state(&mut self, at: usize) -> State {
        if let Some(known) = &self.states[at] {
            return known.clone();
        }
        let state = (self.run)(at);
        self.found.runs += 1;
        if let State::NotRun(obstacle) = &state {
            self.found.skip(at, obstacle.clone());
        }
        self.states[at] = Some(state.clone());
        state
    }

    /// Returns the last module before the end that can be run, and the first one after it, by halves: a pass whose
    /// result cannot be run leaves that to the passes after it. The module `first` can be run, and `last` cannot.
    fn border(&mut self, first: usize, last: usize) -> (usize, usize) {
        let (mut runs, mut fails) = (first, last);
        while fails - runs > 1 {
            let middle = runs.midpoint(fails);
            match self.state(middle) {
                State::NotRun(_) => fails = middle,
                State::Run(_) => runs = middle,
            }
        }
        (runs, fails)
    }

    /// Searches the modules from the first one on.
    fn all(&mut self, first: usize, count: usize) {
        let mut last = count.saturating_sub(1);
        if last <= first {
            return;
        }
        if let State::NotRun(_) = self.state(last) {
            let (runs, fails) = self.border(first, last);
            self.found.not_run = Some(fails);
            last = runs;
            if last == first {
                return;
            }
        }
        self.found.sought = match self.state(last) {
            State::Run(difference) => difference,
            // It can be run.
            State::NotRun(_) => Difference::None,
        };
        if self.found.sought == Difference::None {
            self.found.same = last;
            return;
        }
        let mut other = last;
        // Each round moves one of the ends, or is the last one.
        while other - self.found.same > 1 {
            let middle = self.found.same.midpoint(other);
            let mut near: Vec<usize> = (self.found.same + 1..other).collect();
            near.sort_by_key(|at| at.abs_diff(middle));
            let mut moved = false;
            for at in near {
                match self.state(at) {
                    State::Run(difference) if difference < self.found.sought => {
                        self.found.same = at
                    }
                    State::Run(_) => other = at,
                    State::NotRun(_) => continue,
                }
                moved = true;
                break;
            }
            if !moved {
                break;
            }
        }
        self.found.other = Some(other);
    }
}

/// Searches modules from the first one, whose value is right, by halves. `run` runs one of them. A module that
/// cannot be run is skipped: one beside it is run in its place. If the last module cannot be run, the search finds the
/// first of those that cannot, and goes on in the modules before it.
pub(crate) fn bisect(first: usize, count: usize, run: impl FnMut(usize) -> State) -> Bisection {
    let found = Bisection {
        same: first,
        other: None,
        not_run: None,
        sought: Difference::None,
        runs: 0,
        skipped: Vec::new(),
    };
    let mut search = Search { run, states: vec![None; count], found };
    search.all(first, count);
    search.found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn not_run() -> State {
        State::NotRun(Obstacle { message: "it is broken".to_owned(), ..Obstacle::default() })
    }

    fn search(count: usize, bad: usize, broken: &[usize]) -> Bisection {
        bisect(0, count, |at| match at {
            at if broken.contains(&at) => not_run(),
            at if at >= bad => State::Run(Difference::Visible),
            _ => State::Run(Difference::None),
        })
    }

    #[test]
    fn every_wrong_module_is_found_in_few_runs() {
        for count in 2..70usize {
            for bad in 1..count {
                let found = search(count, bad, &[]);
                assert_eq!((found.same, found.other), (bad - 1, Some(bad)), "{count}");
                assert!(found.runs <= most_runs(count), "{count}, {bad}: {}", found.runs);
                assert_eq!(found.not_run, None);
            }
            assert_eq!(search(count, count, &[]).other, None);
        }
    }

    #[test]
    fn modules_that_do_not_run_are_skipped() {
        // The wrong one is among those that cannot be run.
        let found = search(20, 9, &[8, 9, 10]);
        assert_eq!((found.same, found.other), (7, Some(11)));
        assert_eq!(found.obstacle(9).map(|it| it.message.as_str()), Some("it is broken"));
        assert_eq!(search(1, 1, &[]).runs, 0);
    }

    /// The pass whose result cannot be run is found, and the modules before it are searched.
    #[test]
    fn modules_before_those_that_do_not_run_are_searched() {
        for count in 2..50usize {
            let most = 2 * count.ilog2() as usize + 3;
            for broken in 1..count {
                let all: Vec<usize> = (broken..count).collect();
                let found = search(count, count, &all);
                assert_eq!((found.same, found.other), (broken - 1, None), "{count}, {broken}");
                assert_eq!(found.not_run, Some(broken));
                assert!(found.obstacle(broken).is_some());
                assert!(found.runs <= most, "{count}, {broken}: {}", found.runs);
                for bad in 1..broken {
                    let found = search(count, bad, &all);
                    assert_eq!((found.same, found.other), (bad - 1, Some(bad)));
                    assert_eq!(found.not_run, Some(broken));
                    assert!(found.runs <= most, "{count}, {broken}, {bad}: {}", found.runs);
                }
            }
        }
    }

    /// A small difference counts only if the last module that can be run has no larger one.
    #[test]
    fn what_is_sought_is_the_difference_of_the_last_module() {
        use Difference::{Hidden, None, Tolerated, Visible};
        // The modules from which on there are tolerated, hidden and visible differences, and none that can be run.
        let found = |from: [usize; 4]| {
            let found = bisect(0, 16, |at| match from.iter().filter(|from| at >= **from).count() {
                4 => not_run(),
                level => State::Run([None, Tolerated, Hidden, Visible][level]),
            });
            (found.other, found.sought, found.not_run)
        };
        assert_eq!(found([5, 99, 99, 99]), (Some(5), Tolerated, Option::None));
        assert_eq!(found([5, 12, 99, 99]), (Some(12), Hidden, Option::None));
        assert_eq!(found([5, 5, 99, 99]), (Some(5), Hidden, Option::None));
        assert_eq!(found([5, 9, 12, 99]), (Some(12), Visible, Option::None));
        assert_eq!(found([3, 3, 9, 14]), (Some(9), Visible, Some(14)));
    }
}
