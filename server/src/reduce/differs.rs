//! The first step of a reduction that keeps a difference: the call of each of two modules that computes another value,
//! as two functions of one module that take the same values.

use diff::{Comparand, Options, Pair};
use interpreter::Limits;
use rustc_hash::FxHashMap;
use semantics::{View, body::Callee};
use syntax::{
    Node, SyntaxKind, TextRange,
    ast::{self, AstNode},
};

use super::{
    cut::{self, Parts, Style},
    facts::{Facts, tokens},
    grown,
};
use crate::{
    analyzer::Analyzer,
    run::{
        arguments::Inputs,
        compare::{Candidate, Side, Tolerances, candidates, compare},
    },
};

/// The functions of the module that is reduced.
pub(super) const FIRST: &str = "@main";
pub(super) const SECOND: &str = "@other";

/// The most calls that are tried.
const MOST: usize = 8;

/// Returns what the results of the two functions differ by, in one line; `None` if they agree.
///
/// # Errors
/// The reason that they cannot be compared.
pub(super) fn difference(
    text: &str,
    inputs: &Inputs,
    limits: &Limits,
) -> Result<Option<String>, String> {
    let side = |function| Side { text, function: Some(function) };
    let sides = (side(FIRST), side(SECOND));
    let found = compare(sides, &[], inputs, limits, Tolerances::default());
    let found = found.map_err(|reason| reason.message)?;
    let Some(errors) = found.result.filter(|_| found.is_visible) else { return Ok(None) };
    Ok(Some(format!(
        "the results of `{FIRST}` and `{SECOND}` differ by up to {:.3e}, where the largest element is {:.3e}",
        errors.max_abs, errors.scale
    )))
}

/// A module of two functions whose results differ, because of a call in each.
pub(crate) struct JoinedModule {
    /// The module.
    pub(crate) text: String,
    /// The operators of the calls in the first and in the second function.
    pub(crate) operators: (String, String),
}

/// Returns true if both calls of [`JoinedModule`] are in their functions, in the text that was analysed last.
pub(super) fn has_calls(analyzer: &Analyzer, (first, second): &(String, String)) -> bool {
    let (db, file) = analyzer.database();
    let has = |function: &str, operator: &str| {
        let def = semantics::all_defs(db, file).find(|def| def.name(db) == function);
        let Some(view) = def.and_then(|def| View::new(db, def)) else { return false };
        let mut calls = view.body.units().flat_map(|(number, _)| view.calls(number));
        calls.any(
            |(call, _)| matches!(&call.callee, Callee::Operator(callee) if callee.name == operator),
        )
    };
    has(FIRST, first) && has(SECOND, second)
}

/// Returns modules of the calls of both sides that compute other values on the same operands, each with ever more of what
/// they depend on.
///
/// # Errors
/// The message if the modules cannot be compared, or no call has an error of its own.
pub(super) fn modules(
    (before, after): (&str, &str),
    inputs: &Inputs,
    limits: &Limits,
) -> Result<Vec<JoinedModule>, String> {
    let (a, facts_a) = analysed(before)?;
    let (b, facts_b) = analysed(after)?;
    let found = diff::compare_prepared(a, b, &Options::default());
    let candidates = candidates(&found.functions);
    let compared: Vec<&Candidate<'_>> =
        candidates.iter().filter(|candidate| candidate.call_pair().is_some()).collect();
    let pairs: Vec<_> = compared.iter().filter_map(|it| it.call_pair()).collect();
    let sides = (Side { text: before, function: None }, Side { text: after, function: None });
    let comparison = compare(sides, &pairs, inputs, limits, Tolerances::default());
    let comparison = comparison.map_err(|reason| reason.message)?;
    if comparison.is_equal {
        return Err("the modules compute the same values: there is nothing to keep".to_owned());
    }
    // The value of the first module for that of the second one.
    let partners: FxHashMap<TextRange, TextRange> =
        candidates.iter().map(|it| (it.pair.after, it.pair.before)).collect();
    let culprits: Vec<&Pair> =
        comparison.culprits().take(MOST).map(|it| compared[it.pair].pair).collect();
    if culprits.is_empty() {
        return Err(
            "no call has an error of its own: the cause is in calls without a partner".to_owned()
        );
    }
    let mut modules = Vec::new();
    for culprit in culprits {
        let of_a = cuts(&facts_a, culprit.before);
        let of_b = cuts(&facts_b, culprit.after);
        for number in 0..of_a.len().max(of_b.len()) {
            let parts = (of_a.get(number).or(of_a.last()), of_b.get(number).or(of_b.last()));
            let (Some(a), Some(b)) = parts else { continue };
            let text = joined((&facts_a, a), (&facts_b, b), &partners);
            let operators = culprit.operators.clone();
            let operators = (operators.0.to_string(), operators.1.to_string());
            modules.extend(text.map(|text| JoinedModule { text, operators }));
        }
    }
    Ok(modules)
}

fn analysed(text: &str) -> Result<(Comparand, Facts), String> {
    let mut analyzer = Analyzer::default();
    let analysed = analyzer.guarded(|analyzer| {
        let found = analyzer.check(text).diagnostics;
        let (db, file) = analyzer.database();
        let module = semantics::module(db, file, 0)?;
        Some((Comparand::new(db, module), Facts::of(analyzer, text.to_owned(), &found)))
    });
    let analysed = analysed.map_err(|panicked| panicked.message)?;
    analysed.ok_or_else(|| "there is nothing to compare".to_owned())
}

/// Returns a call alone, then with what it depends on within growing distances.
fn cuts(facts: &Facts, call: TextRange) -> Vec<Parts> {
    let alone = Parts::of(vec![call]);
    let block = facts.blocks_around(call).into_iter().next();
    let grown = block.map(|block| grown(facts, &block, call)).unwrap_or_default();
    std::iter::once(alone).chain(grown).collect()
}

/// Returns a module of two functions, of which the second one takes the values of the first one; `None` if it takes
/// another one, or parts of it need definitions of their own.
fn joined(
    (facts_a, parts_a): (&Facts, &Parts),
    (facts_b, parts_b): (&Facts, &Parts),
    partners: &FxHashMap<TextRange, TextRange>,
) -> Option<String> {
    let style = Style::ALL[0];
    let first = cut::build(facts_a, parts_a, style)?;
    let second = cut::build(facts_b, parts_b, style)?;
    let parse = syntax::parse(&second);
    let file = ast::SourceFile::cast(Node::root(&parse.green))?;
    let mut defs = file.items().filter(|item| !matches!(item, ast::Item::Version(_)));
    let (Some(ast::Item::FnDef(def)), None) = (defs.next(), defs.next()) else { return None };
    let name = def.name()?.range();
    let names = names((facts_a, parts_a), (facts_b, parts_b), partners)?;
    let offset = usize::from(def.range().start());
    let text = &second[offset..usize::from(def.range().end())];
    let mut out = first;
    out.push('\n');
    for (kind, range) in tokens(text) {
        let token = &text[range.clone()];
        out += match kind {
            SyntaxKind::LOCAL => names.get(token).map_or(token, String::as_str),
            SyntaxKind::GLOBAL if range.start + offset == usize::from(name.start()) => SECOND,
            _ => token,
        };
    }
    out.push('\n');
    Some(out)
}

/// Returns the names of the first side for the parameters of the second one; `None` if one has none there.
fn names(
    (facts_a, parts_a): (&Facts, &Parts),
    (facts_b, parts_b): (&Facts, &Parts),
    partners: &FxHashMap<TextRange, TextRange>,
) -> Option<FxHashMap<String, String>> {
    let of_a: FxHashMap<TextRange, String> = cut::parameters(facts_a, parts_a, Style::ALL[0])?;
    let of_b = cut::parameters(facts_b, parts_b, Style::ALL[0])?;
    let mut names = FxHashMap::default();
    for (binder, own) in of_b {
        let partner = match facts_b.value_of(binder) {
            Some(value) => facts_a.binder_of(*partners.get(&value)?)?,
            // A parameter of the function has its name.
            None => *of_a.keys().find(|other| facts_a.slice(**other) == facts_b.slice(binder))?,
        };
        names.insert(own, of_a.get(&partner)?.clone());
    }
    Some(names)
}
