//! The shape report, as people and machines read it.

mod graph;
mod page;
mod table;

use ide::shapes::{Amount, FunctionShapes, Group, Input, Row};
use serde_json::{Value, json};
use syntax::TextRange;

pub(crate) use graph::dot;
pub(crate) use page::html;
pub(crate) use table::{csv, table};

/// A place as a format writes it.
pub(crate) type Place<'p> = &'p dyn Fn(TextRange) -> Value;

/// A function with all its rows as JSON. An amount is a number where it is known; otherwise an
/// object with its text, its terms and how many summands cannot be told.
pub(crate) fn json(function: &FunctionShapes, place: Place<'_>) -> Value {
    let amount = |amount: &Amount| json_amount(function, amount);
    let group = |group: &Group| {
        json!({
            "name": group.name, "count": group.count,
            "macs": amount(&group.macs), "bytes": amount(&group.bytes),
        })
    };
    let groups = |list: &[Group]| list.iter().map(group).collect::<Vec<Value>>();
    let total = &function.total;
    json!({
        "name": function.name,
        "range": place(function.range),
        "rows": function.rows.iter().map(|row| json_row(function, row, place)).collect::<Vec<_>>(),
        "functions": function.functions.iter().map(|f| json(f, place)).collect::<Vec<_>>(),
        "total": {
            "parameters": amount(&total.params),
            "parameterBytes": amount(&total.param_bytes),
            "macs": amount(&total.macs),
            "peakBytes": amount(&total.peak),
            "peakRow": total.peak_row,
            "calls": total.calls,
        },
        "byOperator": groups(&function.by_operator),
        "bySpan": groups(&function.by_span),
        "unknowns": function
            .unknowns
            .iter()
            .map(|unknown| json!({ "name": unknown.name, "what": unknown.what }))
            .collect::<Vec<_>>(),
    })
}

fn json_row(function: &FunctionShapes, row: &Row, place: Place<'_>) -> Value {
    let amount = |amount: &Amount| json_amount(function, amount);
    let inputs = row.inputs.iter().map(|input| match input {
        Input::Row(row) => json!({ "row": row }),
        Input::Variable(name) => json!({ "variable": name }),
        Input::Constant => json!({ "constant": true }),
    });
    let inputs: Vec<Value> = inputs.collect();
    let mut out = json!({
        "binding": row.binding,
        "operator": row.operator,
        "isOperator": row.is_operator,
        "type": row.ty.to_string(),
        "range": place(row.range),
        "parameters": amount(&row.params),
        "macs": amount(&row.macs),
        "bytes": amount(&row.bytes),
        "liveBytes": amount(&row.live),
        "span": row.span,
        "inputs": inputs,
    });
    if let Some(tensor) = row.ty.as_tensor() {
        let shape = tensor.shape.iter().map(|dim| match dim.as_known() {
            Some(size) => json!(size),
            None => json!(dim.to_string()),
        });
        out["shape"] = shape.collect();
        out["dtype"] = json!(tensor.dtype.to_string());
    }
    if let Some(why) = &row.untold {
        out["untold"] = json!(why);
    }
    out
}

fn json_amount(function: &FunctionShapes, amount: &Amount) -> Value {
    if let Some(known) = amount.as_known() {
        return json!(known);
    }
    let terms = amount.terms().map(|(factors, coefficient)| {
        let factors: serde_json::Map<String, Value> = factors
            .iter()
            .map(|(unknown, power)| (function.unknown_name(*unknown), json!(power)))
            .collect();
        json!({ "coefficient": coefficient, "factors": factors })
    });
    json!({
        "text": function.number(amount),
        "terms": terms.collect::<Vec<Value>>(),
        "untold": amount.untold_count(),
    })
}

/// How a call is called in a list: its variable, else its number.
fn name_of(row: &Row, at: usize) -> String {
    row.binding.clone().unwrap_or_else(|| format!("#{at}"))
}
