//! Laws of typing and evaluation: transformations of a program preserve its types and values.
//!
//! The programs are generated, and shrink to the smallest one that violates a law, or come from the
//! markdown tests, the example modules and the conformance corpus. `PROPTEST_CASES` sets the number of
//! programs for each law, `RELAY_LAWS_SEED` the seed, and `RELAY_LAWS_CORPUS` the number of texts of the
//! corpus.

use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner},
};
use relay_tests::{
    mdtest,
    notes::note,
    programs::{
        changes::{
            Change,
            actions::{Action, action},
            annotations, functions, names, values,
        },
        generate,
        meaning::{Equivalence, Program, difference, unsound},
        tape::tapes,
    },
    variables::number,
};

/// A transformation, parametrised by a number, and what it preserves of the meaning.
struct Law {
    name: &'static str,
    equivalence: Equivalence,
    change: fn(&Program, usize) -> Result<Option<Change>, String>,
}

/// Applies an action, which may refuse.
fn of_action(program: &Program, id: &str, at: usize) -> Result<Option<Change>, String> {
    match action(program, id, at) {
        Action::NotOffered | Action::Refused(_) => Ok(None),
        Action::Done(change) => Ok(Some(change)),
    }
}

/// Applies an action that must not refuse in a text without errors.
fn of_sure_action(program: &Program, id: &str, at: usize) -> Result<Option<Change>, String> {
    match action(program, id, at) {
        Action::NotOffered => Ok(None),
        Action::Refused(_) if !program.errors().is_empty() => Ok(None),
        Action::Refused(message) => Err(format!("the action `{id}` failed: {message}")),
        Action::Done(change) => Ok(Some(change)),
    }
}

const LAWS: &[Law] = &[
    Law {
        name: "renaming of variables",
        equivalence: Equivalence::Everything,
        change: |program, _| Ok(Some(names::locals(program))),
    },
    Law {
        name: "renaming of type parameters",
        equivalence: Equivalence::Everything,
        change: |program, _| Ok(Some(names::type_params(program))),
    },
    Law {
        name: "renaming of definitions",
        equivalence: Equivalence::Everything,
        change: |program, _| Ok(Some(names::globals(program))),
    },
    Law {
        name: "another order of definitions",
        equivalence: Equivalence::Types,
        change: |program, at| {
            let keys: Vec<u16> =
                (0..16).map(|key| (at as u16).wrapping_mul(2 * key + 1).rotate_left(5)).collect();
            Ok(Some(names::permuted(program, &keys)))
        },
    },
    Law {
        name: "types written by the action",
        equivalence: Equivalence::Types,
        change: |program, at| of_sure_action(program, "write-all-types", at),
    },
    Law {
        name: "most general types written",
        equivalence: Equivalence::Signatures,
        change: |program, _| Ok(annotations::general(program)),
    },
    Law {
        name: "the displayed type of a variable as its annotation",
        // A recursive use inside the function has its one type before, and an instance after.
        equivalence: Equivalence::Instances,
        change: |program, at| Ok(annotations::displayed(program, at)),
    },
    Law {
        name: "definitions as local functions",
        equivalence: Equivalence::Types,
        change: |program, _| Ok(functions::to_lets(program)),
    },
    Law {
        name: "a local function as a definition",
        equivalence: Equivalence::Types,
        change: |program, at| Ok(functions::to_definition(program, at)),
    },
    Law {
        name: "a value in the place of its name",
        equivalence: Equivalence::Instances,
        change: |program, at| Ok(values::inlined(program, at)),
    },
    Law {
        name: "an expression as a `let`",
        equivalence: Equivalence::Instances,
        change: |program, at| Ok(values::as_let(program, at)),
    },
    Law {
        name: "an expression as a definition with its type",
        equivalence: Equivalence::Instances,
        change: |program, at| Ok(values::as_definition(program, at, true)),
    },
    Law {
        name: "an expression as a definition",
        equivalence: Equivalence::Instances,
        change: |program, at| Ok(values::as_definition(program, at, false)),
    },
    Law {
        name: "A-normal form",
        equivalence: Equivalence::Instances,
        change: |program, at| of_action(program, "graph-to-let", at),
    },
    Law {
        name: "graph form",
        equivalence: Equivalence::Instances,
        change: |program, at| of_action(program, "let-to-graph", at),
    },
    Law {
        name: "a call inlined by the action",
        equivalence: Equivalence::Signatures,
        change: |program, at| of_action(program, "inline-call", at),
    },
    Law {
        name: "a variable inlined by the action",
        equivalence: Equivalence::Signatures,
        change: |program, at| of_action(program, "inline-variable", at),
    },
    Law {
        name: "a variable extracted by the action",
        equivalence: Equivalence::Instances,
        change: |program, at| of_action(program, "extract-variable", at),
    },
    Law {
        name: "a definition extracted by the action",
        equivalence: Equivalence::Signatures,
        change: |program, at| of_action(program, "extract-definition", at),
    },
];

fn law(name: &str) -> &'static Law {
    LAWS.iter().find(|law| law.name == name).expect("there is such a law")
}

impl Law {
    /// Describes how a program violates the law.
    fn broken_by(&self, program: &Program, at: usize) -> Option<String> {
        match (self.change)(program, at) {
            Ok(None) => None,
            Err(message) => Some(format!("{}: {message}\n--- of\n{}", self.name, program.text)),
            Ok(Some(change)) => difference(program, &change, self.equivalence).map(|message| {
                format!(
                    "{}: {message}\n--- before\n{}\n--- after\n{}",
                    self.name, program.text, change.text
                )
            }),
        }
    }
}

/// Tests a property of generated programs, and panics with the smallest counterexample.
fn hold<S: Strategy>(strategy: &S, property: impl Fn(S::Value) -> Result<(), String>) {
    let config = Config {
        cases: number("PROPTEST_CASES", 120),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    let mut seed = [7; 32];
    seed[..8].copy_from_slice(&number("RELAY_LAWS_SEED", 0_u64).to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let result = runner.run(strategy, |value| property(value).map_err(TestCaseError::fail));
    if let Err(error) = result {
        match error {
            proptest::test_runner::TestError::Fail(reason, _) => panic!("{reason}"),
            other => panic!("{other}"),
        }
    }
}

/// Tests a law on accepted programs.
fn accepted(name: &str) {
    let law = law(name);
    hold(&(tapes(3), any::<u16>()), |(tapes, at)| {
        let program = Program::new(generate::module(&tapes));
        law.broken_by(&program, usize::from(at)).map_or(Ok(()), Err)
    });
}

#[test]
fn generated_programs_are_accepted_and_run() {
    hold(&tapes(4), |tapes| {
        let program = Program::new(generate::module(&tapes));
        if let Some(error) = program.first_error() {
            return Err(format!("{error}\n{}", program.text));
        }
        unsound(&program).map_or(Ok(()), |message| Err(format!("{message}\n{}", program.text)))
    });
}

#[test]
fn transformations_preserve_type_errors() {
    let strategy = (tapes(2), any::<u16>(), 0..6usize, any::<u16>());
    hold(&strategy, |(tapes, error, block, at)| {
        let text = generate::broken_module(&tapes, usize::from(error), block);
        let program = Program::new(text);
        if program.errors().is_empty() {
            return Err(format!("this is accepted:\n{}", program.text));
        }
        LAWS.iter()
            .filter(|law| law.name != "types written by the action")
            .find_map(|law| law.broken_by(&program, usize::from(at)))
            .map_or(Ok(()), Err)
    });
}

macro_rules! laws {
    ($($test:ident: $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                accepted($name);
            }
        )*

        #[test]
        fn every_law_has_a_test() {
            let tested = [$($name),*];
            assert_eq!(LAWS.iter().map(|law| law.name).collect::<Vec<_>>(), tested);
        }
    };
}

laws! {
    names_of_variables_do_not_matter: "renaming of variables",
    names_of_type_parameters_do_not_matter: "renaming of type parameters",
    names_of_definitions_do_not_matter: "renaming of definitions",
    the_order_of_definitions_does_not_matter: "another order of definitions",
    inferred_types_can_be_written: "types written by the action",
    most_general_types_can_be_written: "most general types written",
    displayed_types_can_be_written: "the displayed type of a variable as its annotation",
    definitions_can_be_local_functions: "definitions as local functions",
    closed_local_functions_can_be_definitions: "a local function as a definition",
    values_can_be_inlined: "a value in the place of its name",
    expressions_can_be_let_bound: "an expression as a `let`",
    closed_expressions_can_be_definitions_with_types: "an expression as a definition with its type",
    closed_expressions_can_be_definitions: "an expression as a definition",
    a_normal_form_means_the_same: "A-normal form",
    graph_form_means_the_same: "graph form",
    inlining_calls_preserves_meaning: "a call inlined by the action",
    inlining_variables_preserves_meaning: "a variable inlined by the action",
    extracting_variables_preserves_meaning: "a variable extracted by the action",
    extracting_definitions_preserves_meaning: "a definition extracted by the action",
}

/// Tests the laws on existing texts: each text with one law, or with all of them if all texts are
/// requested.
#[test]
fn laws_hold_for_the_corpus() {
    let texts = mdtest::texts();
    let wanted = number("RELAY_LAWS_CORPUS", 250);
    let step = (texts.len() / wanted.max(1)).max(1);
    note(&format!("{wanted} texts of {} (RELAY_LAWS_CORPUS)", texts.len()));
    let (mut tried, mut broken) = (0, Vec::new());
    for (number, (name, text)) in texts.iter().enumerate().step_by(step) {
        // Other tests cover large modules.
        if text.len() > 20_000 {
            continue;
        }
        let program = Program::new(text.clone());
        if !program.is_plain() {
            continue;
        }
        for (at, law) in LAWS.iter().enumerate() {
            if step > 1 && (number / step) % LAWS.len() != at {
                continue;
            }
            tried += 1;
            if let Some(message) = law.broken_by(&program, number) {
                broken.push(format!("{name}: {message}"));
            }
        }
    }
    assert!(tried > 0, "no text was tried");
    let first: Vec<&str> = broken.iter().take(10).map(String::as_str).collect();
    assert!(broken.is_empty(), "{} of {tried} violate a law\n{}", broken.len(), first.join("\n\n"));
}
