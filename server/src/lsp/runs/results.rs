//! What a run has to show beside its value: the tensors of the result, where the time went, and what
//! turned NaN or infinite.

use std::time::Duration;

use interpreter::{Measured, Observer, Tensor, Value};
use semantics::{Db, SourceFile};
use serde_json::{Value as Json, json};
use syntax::{Encoding, TextRange};

use crate::{
    lsp::{documents::Document, live::Watcher},
    run::{profile::Profile, show, summary::Summary, top},
};

/// How many tensors of a result are shown.
const MOST_TENSORS: usize = 50;
/// How many rows of each table of times are shown.
const MOST_ROWS: usize = 100;

/// Sees the values of variables and the times of operators in one run.
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
    /// Where the time went, with the places of the document.
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
        self.profile.json(db, took, MOST_ROWS, &mut place)
    }

    /// The variables that had NaN or Inf, in the order in which they were bound.
    pub(super) fn trail(&self, document: &Document, encoding: Encoding) -> Json {
        let odd = self.watcher.odd().iter().map(|odd| {
            let name = document.text.get(std::ops::Range::<usize>::from(odd.range));
            json!({
                "name": name, "range": document.range(odd.range, encoding), "nan": odd.nan,
                "infinite": odd.infinite, "elements": odd.elements,
            })
        });
        odd.collect()
    }
}

/// The tensors of a result, each with what its elements are like; the first of many.
pub(super) fn tensors(value: &Value) -> Json {
    let mut found = Vec::new();
    collect(value, "result".to_owned(), &mut found);
    found.into()
}

fn collect(value: &Value, name: String, found: &mut Vec<Json>) {
    if found.len() >= MOST_TENSORS {
        return;
    }
    match value {
        Value::Tensor(tensor) => found.push(shown(tensor, &name)),
        Value::Tuple(_) => {
            for (at, field) in value.as_tuple().unwrap_or_default().iter().enumerate() {
                collect(field, format!("{name}.{at}"), found);
            }
        }
        other => found.push(json!({ "name": name, "text": show::human(other) })),
    }
}

fn shown(tensor: &Tensor, name: &str) -> Json {
    let summary = Summary::of(tensor);
    let text = show::human(&Value::from(tensor.clone()));
    let is_scalar = tensor.shape().is_empty();
    // The first line of an array is its type and what its elements are like.
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
