//! The search for the first module of a log that computes another value, or that cannot be run.

use syntax::{Encoding, LineIndex};

use super::{
    arguments::{Arguments, Inputs},
    compare::{CallPair, Comparison, ComparisonSettings, NotRun, Side, compare_with},
};
use crate::input::{Log, NamedModule};

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

    /// Runs two modules on the same arguments.
    ///
    /// # Errors
    /// One of them cannot be run to its end.
    pub(crate) fn compare(
        &self,
        before: &NamedModule,
        after: &NamedModule,
        pairs: &[CallPair],
    ) -> Result<Comparison, NotRun> {
        let function = self.function.as_deref();
        let side = |text| Side { text, function };
        let mut setting = self.setting.clone();
        // A result is no more precise than the values that it is computed from.
        if [before, after].iter().any(|module| module.text.contains("float16")) {
            setting.tolerances.relative.get_or_insert(HALF);
        }
        let compared =
            compare_with((side(&before.text), side(&after.text)), pairs, &self.inputs, &setting)?;
        let (of_before, of_after) = &compared.stops;
        match of_after.iter().chain(of_before).next() {
            Some(stop) => Err(stop.clone().into()),
            None => Ok(compared),
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
            match self.compare(&module, &module, &[]) {
                Ok(Comparison { arguments, .. }) => {
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

/// What a run of a module says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// The value is that of the first module.
    Same,
    /// The error is tolerated, but larger than that of sums in another order.
    Near,
    /// It is another one.
    Other,
    /// The module cannot be run, for a reason.
    NotRun(Obstacle),
}

/// The result of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Bisection {
    /// The last module that is known to compute the same value.
    pub(crate) same: usize,
    /// The first module that is known to compute another one; `None` if the last module that can be run computes the
    /// same.
    pub(crate) other: Option<usize>,
    /// The first module of those at the end that cannot be run, after one that can; `None` if the last module can.
    pub(crate) not_run: Option<usize>,
    /// True if [`State::Near`] counts as another value, since the last module that can be run is near.
    pub(crate) is_strict: bool,
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
}

/// Runs modules, each once at most.
struct Runner<R> {
    run: R,
    states: Vec<Option<State>>,
    runs: usize,
    skipped: Vec<(usize, Obstacle)>,
}

impl<R: FnMut(usize) -> State> Runner<R> {
    fn state(&mut self, at: usize) -> State {
        if let Some(known) = &self.states[at] {
            return known.clone();
        }
        let state = (self.run)(at);
        self.runs += 1;
        if let State::NotRun(obstacle) = &state {
            self.skipped.push((at, obstacle.clone()));
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
                State::Same | State::Near | State::Other => runs = middle,
            }
        }
        (runs, fails)
    }
}

/// Searches modules from the first one, whose value is right, by halves. `run` runs one of them. A module that
/// cannot be run is skipped: one beside it is run in its place. If the last module cannot be run, the search finds the
/// first of those that cannot, and goes on in the modules before it.
pub(crate) fn bisect(first: usize, count: usize, run: impl FnMut(usize) -> State) -> Bisection {
    let mut runner = Runner { run, states: vec![None; count], runs: 0, skipped: Vec::new() };
    let mut found = Bisection {
        same: first,
        other: None,
        not_run: None,
        is_strict: false,
        runs: 0,
        skipped: Vec::new(),
    };
    search(first, count, &mut runner, &mut found);
    found.runs = runner.runs;
    found.skipped = runner.skipped;
    found.skipped.sort_by_key(|(at, _)| *at);
    found
}

fn search<R: FnMut(usize) -> State>(
    first: usize,
    count: usize,
    runner: &mut Runner<R>,
    found: &mut Bisection,
) {
    let mut last = count.saturating_sub(1);
    if last <= first {
        return;
    }
    if let State::NotRun(_) = runner.state(last) {
        let (runs, fails) = runner.border(first, last);
        found.not_run = Some(fails);
        last = runs;
        if last == first {
            return;
        }
    }
    match runner.state(last) {
        State::Same => {
            found.same = last;
            return;
        }
        State::Near => found.is_strict = true,
        State::Other | State::NotRun(_) => {}
    }
    let mut other = last;
    // Each round moves one of the ends, or is the last one.
    while other - found.same > 1 {
        let middle = found.same.midpoint(other);
        let mut near: Vec<usize> = (found.same + 1..other).collect();
        near.sort_by_key(|at| at.abs_diff(middle));
        let mut moved = false;
        for at in near {
            match runner.state(at) {
                State::Same => found.same = at,
                State::Near if !found.is_strict => found.same = at,
                State::Near | State::Other => other = at,
                State::NotRun(_) => continue,
            }
            moved = true;
            break;
        }
        if !moved {
            break;
        }
    }
    found.other = Some(other);
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
            at if at >= bad => State::Other,
            _ => State::Same,
        })
    }

    #[test]
    fn every_wrong_module_is_found_in_few_runs() {
        for count in 2..70usize {
            for bad in 1..count {
                let found = search(count, bad, &[]);
                assert_eq!((found.same, found.other), (bad - 1, Some(bad)), "{count}");
                assert!(found.runs <= count.ilog2() as usize + 2, "{count}, {bad}: {}", found.runs);
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

    /// A small error counts only if the last module that can be run has no larger one.
    #[test]
    fn small_errors_count_unless_there_is_a_large_one() {
        let found = bisect(0, 16, |at| if at >= 5 { State::Near } else { State::Same });
        assert_eq!((found.other, found.is_strict), (Some(5), true));
        let found = bisect(0, 16, |at| match at {
            12.. => State::Other,
            5.. => State::Near,
            _ => State::Same,
        });
        assert_eq!((found.other, found.is_strict), (Some(12), false));
        let found = bisect(0, 16, |at| match at {
            14.. => not_run(),
            9.. => State::Other,
            3.. => State::Near,
            _ => State::Same,
        });
        assert_eq!((found.other, found.not_run, found.is_strict), (Some(9), Some(14), false));
    }
}
