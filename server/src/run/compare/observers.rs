//! The observers of the two sides, which give and compare the values of paired calls.

use interpreter::{Absence, CallMeasurement, Observer, PendingCall, Tensor, Value};
use rustc_hash::FxHashMap;
use semantics::{SourceFile, View};
use syntax::TextRange;

use super::{
    CallPair, ComparisonSettings, Errors, Histogram, MissingValue, Tolerance,
    exchange::{Exchange, GivenCall, GivenValue, Key},
    stops::Stops,
};
use crate::run::summary::Summary;

/// The errors of a pair in one run of the second side.
pub(super) struct PairErrors {
    /// The largest error.
    pub(super) errors: Errors,
    /// True if no error exceeds the tolerance.
    pub(super) is_tolerated: bool,
    /// True if no error exceeds that between two ways to compute the value.
    pub(super) is_near: bool,
    /// The relative error that the data types of its values have between two ways to compute one operator.
    pub(super) precision: f64,
    /// Summaries of the values with the largest error, if it exceeds the tolerance or all are summarised.
    pub(super) values: Option<(Summary, Summary)>,
    /// These values, if they are kept.
    pub(super) kept: Option<(Value, Value)>,
    /// The histogram of that error.
    pub(super) histogram: Option<Histogram>,
    /// The number of the first comparison among all.
    pub(super) sequence: usize,
}

/// The calls of pairs on one side, with the number of times that each was computed.
pub(super) struct Calls {
    file: SourceFile,
    pairs: FxHashMap<TextRange, (usize, usize)>,
}

impl Calls {
    pub(super) fn new(
        view: &View<'_>,
        pairs: &[CallPair],
        range: impl Fn(&CallPair) -> TextRange,
    ) -> Calls {
        let pairs = pairs.iter().enumerate().map(|(at, pair)| (range(pair), (at, 0)));
        Calls { file: view.def.file(view.db), pairs: pairs.collect() }
    }

    fn has(&self, (file, range): (SourceFile, TextRange)) -> bool {
        file == self.file && self.pairs.contains_key(&range)
    }

    /// Returns the key of a call if it is in a pair.
    fn key(&mut self, (file, range): (SourceFile, TextRange)) -> Option<Key> {
        let (pair, count) = self.pairs.get_mut(&range).filter(|_| file == self.file)?;
        *count += 1;
        Some(Key { pair: *pair, count: *count })
    }
}

/// Returns a value with the type of another one; `None` if it has another form. A pass may compute in another precision.
pub(super) fn converted(value: Value, to: &Value) -> Option<Value> {
    if value.ty() == to.ty() {
        return Some(value);
    }
    let (tensor, to) = (value.as_tensor()?, to.as_tensor()?);
    Tensor::from_f64s(to.dtype(), to.shape(), tensor.to_f64s()).map(Value::from)
}

/// Gives the values of the first side to the second one.
pub(super) struct FirstObserver<'e, 'db> {
    pub(super) calls: Calls,
    pub(super) exchange: &'e Exchange,
    /// The call that has begun.
    pub(super) begun: Option<GivenCall>,
    pub(super) stops: Stops<'e, 'db>,
}

impl Observer for FirstObserver<'_, '_> {
    fn measures(&self) -> bool {
        true
    }

    fn known(&mut self, call: &PendingCall<'_>) -> Option<Value> {
        self.begun = self.calls.has(call.place).then(|| GivenCall::of(call));
        None
    }

    fn called(&mut self, call: &CallMeasurement<'_>) {
        if let Some(key) = self.calls.key(call.place) {
            let given = GivenValue { value: call.value.clone(), call: self.begun.take() };
            self.exchange.give(key, given);
        }
    }

    fn unknown(
        &mut self,
        place: (SourceFile, TextRange),
        absence: Absence<'_>,
    ) -> Option<(u32, Option<Value>)> {
        let stop = self.stops.of(absence);
        if !matches!(absence, Absence::Other(_))
            && let Some(key) = self.calls.key(place)
        {
            self.exchange.give(key, GivenValue { value: Value::Unknown(stop), call: None });
        }
        Some((stop, None))
    }
}

/// Compares the values of the second side with those of the first one.
pub(super) struct SecondObserver<'e, 'db> {
    pub(super) calls: Calls,
    pub(super) pairs: &'e [CallPair],
    pub(super) setting: &'e ComparisonSettings<'e>,
    pub(super) exchange: &'e Exchange,
    /// The call that has begun, and what the first side has computed.
    pub(super) begun: Option<(Key, Option<Value>)>,
    pub(super) seen: Vec<Option<PairErrors>>,
    pub(super) count: usize,
    pub(super) replaces: bool,
    pub(super) stops: Stops<'e, 'db>,
    pub(super) missing: FxHashMap<usize, MissingValue>,
}

impl Observer for SecondObserver<'_, '_> {
    fn measures(&self) -> bool {
        true
    }

    /// One operator computes the same value of the same arguments on both sides.
    fn known(&mut self, call: &PendingCall<'_>) -> Option<Value> {
        self.begun = None;
        let key = self.calls.key(call.place)?;
        let given = self.exchange.take(key);
        let is_same = |given: &&GivenValue| given.call.as_ref().is_some_and(|other| other.is(call));
        let known = given.as_ref().filter(is_same).map(|given| given.value.clone());
        self.begun = Some((key, given.map(|given| given.value)));
        known
    }

    fn replacement(&mut self, call: &CallMeasurement<'_>) -> Option<Value> {
        let (key, other) = self.begun.take()?;
        let other = other?;
        if let Some(stop) = other.failure() {
            let missing = MissingValue { is_before: true, stop: stop as usize, is_own: false };
            self.missing.entry(key.pair).or_insert(missing);
            return None;
        }
        let errors = Errors::between(&other, call.value)?;
        self.count += 1;
        let is_one_operator = self.pairs[key.pair].is_one_operator;
        let admits = |is_one_operator| {
            let tolerances = &self.setting.tolerances;
            errors.is_zero()
                || tolerances.between(&other, call.value, is_one_operator).admits(&errors)
        };
        let (is_tolerated, is_near) = (admits(is_one_operator), admits(false));
        let precision = Tolerance::of(&other, call.value, true).relative;
        match &mut self.seen[key.pair] {
            Some(seen) if !errors.exceeds(&seen.errors) => {
                seen.errors = seen.errors.with(errors);
                seen.is_tolerated &= is_tolerated;
                seen.is_near &= is_near;
            }
            seen => {
                let before = seen.take();
                let summary = |value: &Value| value.as_tensor().map(Summary::of);
                let is_shown = !is_tolerated;
                let keeps = self.setting.keeps;
                let histogram = || Histogram::between(&other, call.value, errors.scale);
                *seen = Some(PairErrors {
                    kept: keeps.then(|| (other.clone(), call.value.clone())),
                    histogram: is_shown.then(histogram).flatten(),
                    errors: before.as_ref().map_or(errors, |seen| errors.with(seen.errors)),
                    sequence: before.as_ref().map_or(self.count, |seen| seen.sequence),
                    precision,
                    is_near: is_near && before.as_ref().is_none_or(|seen| seen.is_near),
                    is_tolerated: is_tolerated && before.is_none_or(|seen| seen.is_tolerated),
                    values: match is_tolerated && !self.setting.summarizes {
                        true => None,
                        false => summary(&other).zip(summary(call.value)),
                    },
                });
            }
        }
        if self.replaces { converted(other, call.value) } else { None }
    }

    fn unknown(
        &mut self,
        place: (SourceFile, TextRange),
        absence: Absence<'_>,
    ) -> Option<(u32, Option<Value>)> {
        let stop = self.stops.of(absence);
        if matches!(absence, Absence::Other(_)) {
            return Some((stop, None));
        }
        let begun = self.begun.take().filter(|_| matches!(absence, Absence::Call(_)));
        let of_first = |key| (key, self.exchange.take(key).map(|given| given.value));
        let Some((key, other)) = begun.or_else(|| self.calls.key(place).map(of_first)) else {
            return Some((stop, None));
        };
        let is_own = matches!(absence, Absence::Call(_));
        let missing = MissingValue { is_before: false, stop: stop as usize, is_own };
        self.missing.entry(key.pair).or_insert(missing);
        // What follows is compared on the operands of the first side.
        Some((stop, other.filter(|other| self.replaces && other.failure().is_none())))
    }
}
