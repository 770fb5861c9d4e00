//! What is reported as unused can be removed, and what an action moves can be moved: the values of
//! programs whose functions have effects stay the same.
//!
//! `RELAY_EFFECTS` sets the number of programs, `RELAY_LAWS_SEED` the seed.

use relay_tests::{
    notes::note,
    programs::{
        changes::actions::{Action, action},
        effects,
        meaning::{Outcome, Program},
        tape::Tape,
    },
    variables::number,
};
use semantics::{Code, check_file};
use syntax::{Node, TextRange};

/// The maximal number of choices of a program.
const LENGTH: usize = 160;

/// The actions that move or remove code. `let-to-graph` refuses to move a reference, which each program has.
const ACTIONS: &[&str] = &[
    "remove-all-unused",
    "inline-variable",
    "inline-call",
    "extract-variable",
    "extract-definition",
    "graph-to-let",
];

fn programs() -> impl Iterator<Item = (u16, Program)> {
    let mut rng = fastrand::Rng::with_seed(number("RELAY_LAWS_SEED", 7));
    let wanted = number("RELAY_EFFECTS", 300_u64);
    note(&format!("{wanted} programs (RELAY_EFFECTS)"));
    (0..wanted).map(move |_| {
        let choices: Vec<u16> = (0..LENGTH).map(|_| rng.u16(..)).collect();
        (rng.u16(..), Program::new(effects::module(&mut Tape::new(&choices))))
    })
}

/// The value of `@main`; `None` if it fails, which the removal of a binding may change.
fn value(program: &Program) -> Option<String> {
    let defs = program.defs();
    let main = defs.iter().find(|def| def.name(&program.db) == "@main")?;
    match program.run(*main)? {
        Outcome::Value(value) => Some(value),
        Outcome::Fault(_) => None,
    }
}

/// Returns the text without the bindings that are reported as unused.
fn without_unused(program: &Program) -> Option<String> {
    let parse = syntax::parse(&program.text);
    let root = Node::root(&parse.green);
    let found = check_file(&program.db, program.file);
    let unused = found.iter().filter(|d| d.code == Code::UnusedBinding && d.unnecessary);
    // A variable of a pattern is reported, too, but is no statement.
    let statement = |range: TextRange| {
        let path = root.path_to(range);
        let inner = path.iter().rev().find(|node| node.kind().is_stmt())?;
        inner.children().any(|name| name.range() == range).then(|| inner.range())
    };
    let mut removed: Vec<TextRange> = unused.filter_map(|d| statement(d.range)).collect();
    removed.sort_by_key(|range| (range.start(), std::cmp::Reverse(range.end())));
    // What is inside of a removed statement is removed with it.
    removed.dedup_by(|later, earlier| earlier.contains_range(*later));
    let mut text = program.text.clone();
    for range in removed.iter().rev() {
        text.replace_range(std::ops::Range::<usize>::from(*range), "");
    }
    (!removed.is_empty()).then_some(text)
}

fn report(mut wrong: Vec<String>, what: &str) {
    wrong.sort_by_key(String::len);
    let count = wrong.len();
    wrong.truncate(3);
    assert!(wrong.is_empty(), "{what}: {count}\n{}", wrong.join("\n======\n"));
}

#[test]
fn unused_bindings_can_be_removed() {
    let (mut tried, mut all, mut wrong) = (0, 0, Vec::new());
    for (_, program) in programs() {
        all += 1;
        if let Some(error) = program.first_error() {
            panic!("{error}\n{}", program.text);
        }
        let (Some(before), Some(text)) = (value(&program), without_unused(&program)) else {
            continue;
        };
        tried += 1;
        let after = Program::new(text);
        if value(&after).as_ref() != Some(&before) {
            wrong.push(format!(
                "{before:?} {:?}\n{}---\n{}",
                value(&after),
                program.text,
                after.text
            ));
        }
    }
    println!("{tried} of {all} programs have unused bindings, {} change their values", wrong.len());
    assert!(tried * 4 > all, "{tried} of {all} programs have unused bindings");
    report(wrong, "programs whose values change");
}

#[test]
fn actions_keep_the_order_of_effects() {
    let (mut tried, mut wrong) = (vec![0; ACTIONS.len()], Vec::new());
    // An action looks for its place in the whole program.
    for (at, program) in programs().step_by(5) {
        let Some(before) = value(&program) else { continue };
        for (number, id) in ACTIONS.iter().enumerate() {
            let Action::Done(change) = action(&program, id, usize::from(at)) else { continue };
            tried[number] += 1;
            let after = Program::new(change.text);
            if value(&after).as_ref() != Some(&before) {
                let error = after.first_error();
                let now = value(&after);
                wrong.push(format!(
                    "{id}: {before:?} {now:?} {error:?}\n{}---\n{}",
                    program.text, after.text
                ));
            }
        }
    }
    println!("{tried:?} changes, {} change the value", wrong.len());
    assert!(tried.iter().all(|&tried| tried > 0), "{ACTIONS:?}: {tried:?}");
    report(wrong, "changes of values");
}
