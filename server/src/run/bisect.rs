//! The search for the first module of a log that computes another value.

/// What a run of a module says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// The value is that of the first module.
    Same,
    /// It is another one.
    Other,
    /// The module cannot be run, for a reason.
    NotRun(String),
}

/// The result of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Bisection {
    /// The last module that is known to compute the same value.
    pub(crate) same: usize,
    /// The first module that is known to compute another one; `None` if the last module computes the same.
    pub(crate) other: Option<usize>,
    /// The number of modules that were run.
    pub(crate) runs: usize,
    /// The modules that cannot be run, with the reasons.
    pub(crate) skipped: Vec<(usize, String)>,
}

/// Searches modules from the first one, whose value is right, by halves. `run` runs one of them. A module that
/// cannot be run is skipped: one beside it is run in its place.
pub(crate) fn bisect(first: usize, count: usize, mut run: impl FnMut(usize) -> State) -> Bisection {
    let mut found = Bisection { same: first, other: None, runs: 0, skipped: Vec::new() };
    let mut states: Vec<Option<State>> = vec![None; count];
    let mut state = |at: usize, found: &mut Bisection| {
        states[at]
            .get_or_insert_with(|| {
                let state = run(at);
                found.runs += 1;
                if let State::NotRun(reason) = &state {
                    found.skipped.push((at, reason.clone()));
                }
                state
            })
            .clone()
    };
    // The last module that can be run. Each is run once at most.
    let mut last = count;
    loop {
        last = last.saturating_sub(1);
        if last <= first {
            return found;
        }
        match state(last, &mut found) {
            State::Same => {
                found.same = last;
                return found;
            }
            State::Other => break,
            State::NotRun(_) => {}
        }
    }
    let mut other = last;
    // Each round moves one of the ends, or is the last one.
    while other - found.same > 1 {
        let middle = found.same.midpoint(other);
        let mut near: Vec<usize> = (found.same + 1..other).collect();
        near.sort_by_key(|at| at.abs_diff(middle));
        let mut moved = false;
        for at in near {
            match state(at, &mut found) {
                State::Same => found.same = at,
                State::Other => other = at,
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
    found.skipped.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(count: usize, bad: usize, not_run: &[usize]) -> Bisection {
        bisect(0, count, |at| match at {
            at if not_run.contains(&at) => State::NotRun("it is broken".to_owned()),
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
            }
            assert_eq!(search(count, count, &[]).other, None);
        }
    }

    #[test]
    fn modules_that_do_not_run_are_skipped() {
        let found = search(20, 9, &[10, 19]);
        assert_eq!((found.same, found.other), (8, Some(9)));
        assert_eq!(found.skipped, [(19, "it is broken".to_owned())]);
        // The wrong one is among those that cannot be run.
        let found = search(20, 9, &[8, 9, 10]);
        assert_eq!((found.same, found.other), (7, Some(11)));
        assert_eq!(search(3, 1, &[1, 2]).other, None);
        assert_eq!(search(1, 1, &[]).runs, 0);
    }
}
