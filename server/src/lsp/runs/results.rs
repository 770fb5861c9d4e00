//! The parts of a run's response other than its value: the tensors of the result, the profile, and the
//! variables with NaN or Inf.

use std::time::Duration;

use interpreter::{Measured, Observer, Tensor, Value};
use semantics::{Db, SourceFile};
use serde_json::{Value as Json, json};
use syntax::{Encoding, TextRange};

use crate::{
    lsp::{documents::Document, live::Watcher},
    run::{profile::Profile, show, summary::Summary, top},
};

/// The largest number of tensors of a result in the response.
const MAX_TENSORS: usize = 50;
/// The largest number of rows of each table of the profile.
const MAX_ROWS: usize = 100;

/// Observes the values of variables and the times of operators in a run.
pub(super) struct Observed<'r> {
    pub(super) watcher: Watcher<'r>,
    pub(super) profile: Profile,
}

impl Observer for Observed<'_> {
    fn bound(&mut self, place: (SourceFile, TextRange), value: &Value) {
        self.watcher.bound(place, value);
    }

    fn measures(&self) -> bool {
        self.profile.measures()
    }

    fn called(&mut self, call: &Measured<'_>) {
        self.profile.called(call);
    }
}

impl Observed<'_> {
    /// Returns the profile, with ranges in the document.
    pub(super) fn profile(
        &self,
        db: &dyn Db,
        file: SourceFile,
        document: &Document,
        encoding: Encoding,
        took: Duration,
    ) -> Json {
        let mut place = |(of, range): (SourceFile, TextRange)| match of == file {
            true => json!(document.range(range, encoding)),
            false => Json::Null,
        };
        self.profile.json(db, took, MAX_ROWS, &mut place)
    }

    /// Returns the variables with NaN or Inf, in the order of evaluation.
    pub(super) fn not_finite(&self, document: &Document, encoding: Encoding) -> Json {
        let variables = self.watcher.not_finite().iter().map(|variable| {
            let name = document.text.get(std::ops::Range::<usize>::from(variable.range));
            json!({
                "name": name, "range": document.range(variable.range, encoding),
                "nan": variable.nan, "infinite": variable.infinite, "elements": variable.elements,
            })
        });
        variables.collect()
    }
}

/// Returns the first tensors of a result with summaries of their elements.
pub(super) fn tensors(value: &Value) -> Json {
    let mut found = Vec::new();
    collect(value, "result".to_owned(), &mut found);
    found.into()
}

fn collect(value: &Value, name: String, found: &mut Vec<Json>) {
    if found.len() >= MAX_TENSORS {
        return;
    }
    match value {
        Value::Tensor(tensor) => found.push(describe(tensor, &name)),
        Value::Tuple(_) => {
            for (at, field) in value.as_tuple().unwrap_or_default().iter().enumerate() {
                collect(field, format!("{name}.{at}"), found);
            }
        }
        other => found.push(json!({ "name": name, "text": show::human(other) })),
    }
}

fn describe(tensor: &Tensor, name: &str) -> Json {
    let summary = Summary::of(tensor);
    let text = show::human(&Value::from(tensor.clone()));
    let is_scalar = tensor.shape().is_empty();
    // The first line of an array is its type and summary.
    let rows = text.split_once('\n').filter(|_| !is_scalar).map_or(&*text, |(_, rows)| rows);
    let scores = top::scores(tensor).map(|scores| {
        let score = |(position, value): &(Vec<usize>, f64)| {
            json!({ "position": position, "value": format!("{value:.4}") })
        };
        scores.iter().map(score).collect::<Vec<_>>()
    });
    json!({
        "name": name, "type": summary.ty, "elements": tensor.len(), "brief": summary.brief(),
        "text": rows, "scores": scores,
    })
}
