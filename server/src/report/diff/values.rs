//! The results of running both sides.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Shown, json::bytes};
use crate::{
    report::escape,
    run::agree::{Agreement, Runs},
};

/// The largest number of differing pairs to list.
const LISTED: usize = 5;

/// Describes the runs of a function for people: its results, then the pairs of changed calls, and the
/// first of them whose values differ.
pub(crate) fn run_text(name: &str, runs: &Runs, (a, b): (&Shown<'_>, &Shown<'_>)) -> String {
    let mut out = format!(
        "\n`{}` on random inputs: {}\n",
        escape::terminal(name),
        agreement_text(&runs.result)
    );
    let differing: Vec<_> =
        runs.pairs.iter().filter(|pair| !matches!(pair.2, Agreement::Equal(_))).collect();
    if runs.pairs.is_empty() {
        return out;
    }
    let _ = writeln!(
        out,
        "  values of {} of {} changed pairs are equal",
        runs.pairs.len() - differing.len(),
        runs.pairs.len()
    );
    for (before, after, agreement) in differing.iter().take(LISTED) {
        let ((line_a, column_a), (line_b, column_b)) = (a.position(*before), b.position(*after));
        let call: String = b.slice(*after).chars().take_while(|c| *c != '(').take(60).collect();
        let _ = writeln!(
            out,
            "    `{}` {line_a}:{column_a} → {line_b}:{column_b}: {}",
            escape::terminal(&call),
            agreement_text(agreement)
        );
    }
    if differing.len() > LISTED {
        let _ = writeln!(out, "    and {} more", differing.len() - LISTED);
    }
    out
}

fn agreement_text(agreement: &Agreement) -> String {
    match agreement {
        Agreement::Equal(0.0) => "equal".to_owned(),
        Agreement::Equal(largest) => {
            format!("equal up to rounding, with differences up to {largest:e}")
        }
        Agreement::Different(Some(largest)) => {
            format!("not equal, with differences up to {largest:e}")
        }
        Agreement::Different(None) => "not equal: the results have different shapes".to_owned(),
        Agreement::Unknown(why) => format!("unknown: {}", escape::terminal(why)),
    }
}

/// Describes the runs of a function as JSON, with byte ranges.
pub(crate) fn run_json(name: &str, runs: &Runs, (a, b): (&Shown<'_>, &Shown<'_>)) -> Value {
    let pairs = runs.pairs.iter().map(|(before, after, agreement)| {
        let mut pair = agreement_json(agreement);
        pair["before"] = json!(bytes(*before, a));
        pair["after"] = json!(bytes(*after, b));
        pair
    });
    let mut run = agreement_json(&runs.result);
    run["function"] = json!(name);
    run["pairs"] = pairs.collect();
    run
}

fn agreement_json(agreement: &Agreement) -> Value {
    let (equal, most, why) = match agreement {
        Agreement::Equal(largest) => (Some(true), Some(*largest), None),
        Agreement::Different(most) => (Some(false), *most, None),
        Agreement::Unknown(why) => (None, None, Some(why)),
    };
    json!({ "equal": equal, "difference": most, "reason": why })
}
