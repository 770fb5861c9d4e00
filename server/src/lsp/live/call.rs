//! Which of the values of a variable a document shows: the first ones, or those of one call.

use std::{collections::HashMap, sync::Arc};

use ide::markdown::{code_block, code_span};
use syntax::TextRange;

use super::{LiveValue, RunRecord, ShownValue, Watcher};

impl LiveValue {
    /// Returns the value of a label: the first one, unless a call was chosen.
    pub(in crate::lsp) fn shown(&self) -> &ShownValue {
        self.call.as_ref().map_or(&self.values[0], ValueInCall::shown)
    }

    /// Returns true if the value is a tensor with axes, which has a view.
    pub(in crate::lsp) fn is_tensor(&self) -> bool {
        self.shown().is_tensor
    }

    /// Returns the number of the value that is shown among those of the variable.
    pub(in crate::lsp) fn shown_number(&self) -> u64 {
        self.call.as_ref().and_then(|call| call.which).unwrap_or(1)
    }

    /// Returns true if the variable has several values.
    pub(in crate::lsp) fn is_one_of_several(&self) -> bool {
        self.times > 1
    }

    /// Returns the suffix of a label with one of several values: ` (1 of 7)`.
    pub(in crate::lsp) fn number(&self) -> String {
        match &self.call {
            Some(call) => call.suffix(self.times),
            None if self.times == 1 => String::new(),
            None => format!(" (1 of {})", self.times),
        }
    }

    /// Describes the values of the last run as Markdown: that of the call that was chosen, and all of them, or the first
    /// ones and the last.
    pub(in crate::lsp) fn markdown(&self) -> String {
        let call = self.call.as_ref().map(|call| format!("{}\n\n", call.markdown(self.times)));
        call.unwrap_or_default() + &self.all_values()
    }

    fn all_values(&self) -> String {
        let details = self.details.as_deref().unwrap_or_default();
        if self.times == 1 {
            return format!("in the last run: {}{details}", code_span(&self.values[0].line));
        }
        let width = self.times.to_string().len();
        let row = |number: u64, line: &str| format!("{number:>width$}: {line}\n");
        let mut rows: String =
            (1..).zip(&*self.values).map(|(number, value)| row(number, &value.line)).collect();
        if self.times > self.values.len() as u64 {
            rows += "…\n";
            rows += &self.last.as_ref().map(|last| row(self.times, last)).unwrap_or_default();
        }
        let mut values = format!("{} values in the last run:\n\n{}", self.times, code_block(&rows));
        let first = self.values.len() as u64 + 1;
        let last = self.times - u64::from(self.last.is_some());
        if first <= last {
            let which =
                if first == last { first.to_string() } else { format!("{first} to {last}") };
            values += &format!("\n\nnot kept: {which}; to show one, the function is run again");
        }
        match details {
            "" => values,
            details => format!("{values}\n\nthe first of them:{details}"),
        }
    }
}

/// A call of a function in a run.
pub(in crate::lsp) struct CallRecord {
    /// The range of the definition.
    pub(in crate::lsp) def: TextRange,
    /// Its number in the order of evaluation, from 1.
    pub(in crate::lsp) number: u64,
    /// The number of calls of the function.
    pub(in crate::lsp) count: u64,
}

/// What a variable had in a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ValueInCall {
    number: u64,
    count: u64,
    value: ShownValue,
    /// The value in more detail, as Markdown.
    details: Option<Arc<str>>,
    /// The number among the values of the variable; `None` without a value in this call.
    which: Option<u64>,
}

impl ValueInCall {
    pub(super) fn shown(&self) -> &ShownValue {
        &self.value
    }

    /// Returns the suffix of a label of a variable with a number of values: ` (3 of 7)`.
    pub(super) fn suffix(&self, times: u64) -> String {
        match self.which {
            Some(_) if times == 1 => String::new(),
            Some(which) => format!(" ({which} of {times})"),
            None => format!(" (call {} of {})", self.number, self.count),
        }
    }

    /// Describes the value as Markdown.
    pub(super) fn markdown(&self, times: u64) -> String {
        let call = format!("in call {} of {}", self.number, self.count);
        let details = self.details.as_deref().unwrap_or_default();
        match self.which {
            Some(which) => {
                format!(
                    "{call}: value {which} of {times}, {}{details}",
                    code_span(&self.value.line)
                )
            }
            None => format!("{call}: no value"),
        }
    }
}

impl RunRecord {
    /// Returns the number of the call of a definition whose values are shown, and the number of its calls; `None` without
    /// any. Each call gives its parameters a value. All calls of a function without parameters do the same, so that each of
    /// them gives the same variables a value, once: those of function expressions are not recorded.
    pub(in crate::lsp) fn calls_of(&self, def: TextRange) -> Option<(u64, u64)> {
        let own = self.values.iter().filter(|value| def.contains_range(value.range));
        let count = own.clone().map(|value| value.times).max()?;
        let mut chosen = own.filter_map(|value| value.call.as_ref());
        Some((chosen.next().map_or(1, |call| call.number), count))
    }

    /// Returns the record of the same run that shows the values of a call of a definition, which were watched, and lists
    /// them. `numbers` are those among the values of each variable.
    pub(in crate::lsp) fn with_call(
        &self,
        call: &CallRecord,
        watched: Watcher<'_>,
        numbers: &HashMap<TextRange, u64>,
    ) -> (RunRecord, String) {
        let mut lines = String::new();
        let mut in_call = |value: &LiveValue| {
            let seen = watched.seen.get(&value.range);
            let shown = seen.and_then(|seen| Some((seen.values.first()?, seen.details.clone())));
            let (number, count) = (call.number, call.count);
            let Some((shown, details)) = shown else {
                let none = ShownValue {
                    line: "no value".into(),
                    brief: "no value".into(),
                    is_tensor: false,
                };
                return ValueInCall { number, count, value: none, details: None, which: None };
            };
            let name = self.text.get(std::ops::Range::<usize>::from(value.range));
            lines += &format!("{} = {}\n", name.unwrap_or_default(), shown.line);
            let which = numbers.get(&value.range).copied().unwrap_or(number);
            ValueInCall { number, count, value: shown.clone(), details, which: Some(which) }
        };
        let of_call = |value: &LiveValue| {
            let call = call.def.contains_range(value.range).then(|| in_call(value));
            LiveValue { call: call.or_else(|| value.call.clone()), ..value.clone() }
        };
        let values = self.values.iter().map(of_call).collect();
        let record = RunRecord { values, placed: Arc::default(), ..self.clone() };
        (record, lines)
    }
}
