//! Passes that are run on their own, if the first and the last module agree: a pass may bring a fault that a later one
//! takes back, or that no value of the last module shows.
//!
//! A comparison by structure costs no run. It leaves out the passes that change no call, and orders the others.

use std::cmp::Reverse;

use diff::{Comparand, FunctionDiff, ModuleDiff, Options, Pair, PairKind, Property};

use super::{Bisection, ComparedModules, LogRuns, Obstacle, candidates, comparand, most_runs};
use crate::input::NamedModule;

/// The passes that were run on their own.
pub(crate) struct LonePasses {
    /// The number of passes that change calls.
    pub(crate) changing: usize,
    /// The modules after those that were run, in the order of the runs.
    pub(crate) run: Vec<usize>,
    /// The last one, if it is wrong.
    pub(crate) wrong: Option<WrongPass>,
}

/// A pass after which a module computes another value than the one before it.
pub(crate) struct WrongPass {
    /// The number of the module before it.
    pub(crate) before: usize,
    /// The number of the module after it.
    pub(crate) after: usize,
    /// The comparison of both.
    pub(crate) compared: ComparedModules,
    /// The first module after them in which the wrong call is as it was before.
    pub(crate) undone: Option<usize>,
}

/// How likely a pass brings a fault, by what it changes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Suspicion {
    /// Calls were added, removed or moved, as by a rewrite, or the operands of a sum were exchanged.
    Rewrite,
    /// Another operator computes a value, or a call was changed along with a rewrite.
    Replacement,
    /// Only attributes, operands or constants of calls were changed.
    Change,
}

/// A pass that changes calls.
struct Step {
    before: usize,
    after: usize,
    suspicion: Suspicion,
    /// The number of changed calls: that a single one was meant to change is less likely.
    changed: usize,
}

/// The operators whose value is the same for exchanged operands.
const COMMUTATIVE: [&str; 12] = [
    "add",
    "multiply",
    "maximum",
    "minimum",
    "equal",
    "not_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
];

impl LogRuns<'_> {
    /// Runs passes from module `first` on, each on its own, after a search that found no difference: those that are
    /// the most suspicious, until one is wrong or the search has taken as many runs as it may. Adds the runs to the
    /// search. `tell` is called before each run.
    ///
    /// # Errors
    /// The message for a log that cannot be read.
    pub(crate) fn lone_passes(
        &self,
        first: usize,
        found: &mut Bisection,
        mut tell: impl FnMut(),
    ) -> Result<LonePasses, String> {
        let count = self.log.modules.len();
        let last = found.not_run.unwrap_or(count).saturating_sub(1);
        let steps = self.steps(first, last, found)?;
        let mut passes = LonePasses { changing: steps.len(), run: Vec::new(), wrong: None };
        for Step { before, after, .. } in steps {
            if found.runs >= most_runs(count) {
                break;
            }
            tell();
            found.runs += 1;
            let (module_before, module) = (self.module(before)?, self.module(after)?);
            let compared = match self.compare(&module_before, &module) {
                Ok(compared) => compared,
                Err(not_run) => {
                    found.skip(after, Obstacle::of(&module, not_run));
                    continue;
                }
            };
            passes.run.push(after);
            if !compared.comparison.is_equal {
                let undone = self.undone(&module_before, &compared, after + 1..last + 1)?;
                passes.wrong = Some(WrongPass { before, after, compared, undone });
                break;
            }
        }
        Ok(passes)
    }

    /// Returns the passes that change calls, the most suspicious first. Modules that cannot be run are passed over.
    fn steps(&self, first: usize, last: usize, found: &Bisection) -> Result<Vec<Step>, String> {
        let mut steps = Vec::new();
        let mut known: Option<(usize, NamedModule, Comparand)> = None;
        for after in first..=last {
            let module = self.module(after)?;
            if found.obstacle(after).is_some() {
                continue;
            }
            if let Some((before, same, _)) = &mut known
                && same.text == module.text
            {
                *before = after;
                continue;
            }
            let Some(comparand) = comparand(&module) else { continue };
            if let Some((before, _, other)) = known {
                let diff = diff::compare_prepared(other, comparand.clone(), &Options::default());
                if let Some((suspicion, changed)) = suspicion(&diff) {
                    steps.push(Step { before, after, suspicion, changed });
                }
            }
            known = Some((after, module, comparand));
        }
        steps.sort_by_key(|step| (Reverse(step.suspicion), step.changed, step.after));
        Ok(steps)
    }

    /// Returns the first of some modules in which the first wrong call is as it was before.
    fn undone(
        &self,
        before: &NamedModule,
        compared: &ComparedModules,
        later: std::ops::Range<usize>,
    ) -> Result<Option<usize>, String> {
        let pairs = candidates(&compared.diff.functions);
        let mut pairs = pairs.iter().filter(|candidate| candidate.excluded.is_none());
        let culprit = compared.comparison.culprits().next();
        let culprit = culprit.and_then(|culprit| pairs.nth(culprit.pair));
        let Some((call, right)) = culprit.map(|it| it.pair.before).zip(comparand(before)) else {
            return Ok(None);
        };
        for at in later {
            let Some(module) = comparand(&self.module(at)?) else { continue };
            let diff = diff::compare_prepared(right.clone(), module, &Options::default());
            let mut pairs = diff.functions.iter().flat_map(|function| &function.pairs);
            if pairs.any(|pair| pair.before == call && pair.changes.is_empty()) {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }
}

/// Returns how suspicious what differs between two modules is, with the number of changed calls; `None` if no call
/// differs.
fn suspicion(diff: &ModuleDiff) -> Option<(Suspicion, usize)> {
    let is_rewrite = |function: &FunctionDiff| {
        !function.removed.is_empty()
            || !function.added.is_empty()
            || function.pairs.iter().any(|pair| pair.kind > PairKind::Changed)
    };
    let mut found: Option<(Suspicion, usize)> = None;
    for function in diff.functions.iter().filter(|function| !function.equal) {
        let is_rewrite = is_rewrite(function);
        let mut add = |suspicion, changed| {
            let (most, count) = found.get_or_insert((suspicion, 0));
            *most = (*most).max(suspicion);
            *count += changed;
        };
        add(Suspicion::Rewrite, function.removed.len() + function.added.len());
        for pair in function.pairs.iter().filter(|pair| !pair.changes.is_empty()) {
            let most = if is_rewrite { Suspicion::Replacement } else { Suspicion::Change };
            add(suspicion_of(pair).min(most), 1);
        }
    }
    found
}

/// Returns how suspicious the changes of a pair are, regardless of other pairs.
fn suspicion_of(pair: &Pair) -> Suspicion {
    let count = |what| pair.changes.iter().filter(|change| change.what == what).count();
    let is_value = |name: &str| !name.contains("layout") && name != "out_dtype";
    let has_attribute = pair
        .changes
        .iter()
        .any(|change| change.what == Property::Attribute && is_value(&change.name));
    let is_exchange =
        count(Property::Operand) == 2 && COMMUTATIVE.contains(&pair.operators.1.as_str());
    if pair.operators.0 != pair.operators.1 {
        Suspicion::Replacement
    } else if has_attribute
        || count(Property::Value) > 0
        || count(Property::Field) > 0
        || count(Property::Operand) > 0 && !is_exchange
    {
        Suspicion::Change
    } else {
        Suspicion::Rewrite
    }
}
