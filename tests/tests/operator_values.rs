//! An operator as a value is the operator called without attributes: `let %r = nn.relu; %r(%x)` has the
//! type, the value and the errors of `nn.relu(%x)`.
//!
//! Random arguments of all operators, see [`relay_tests::operator_calls`]. `RELAY_OPERATOR_CALLS` sets the
//! number of calls, `RELAY_LAWS_SEED` the seed.

use std::collections::BTreeMap;

use relay_tests::{
    notes::note,
    operator_calls::{Call, callable, random},
    programs::{meaning::Program, tape::Tape},
    variables::number,
};

/// The maximal number of choices of a call.
const LENGTH: usize = 120;

/// Returns a module that applies `callee` to the arguments of a call. `%args` in `callee` stands for
/// them.
fn module(call: &Call, callee: &str) -> String {
    let params: Vec<String> =
        call.args.iter().enumerate().map(|(at, arg)| format!("%p{at}: {}", arg.ty())).collect();
    let args: Vec<String> = (0..call.args.len()).map(|at| format!("%p{at}")).collect();
    let body = callee.replace("%args", &args.join(", "));
    let apply = "def @apply(%f, %x) { %f(%x) }";
    format!("{apply}\ndef @main({}) {{\n  {body}\n}}\n", params.join(", "))
}

/// The errors, or the type and the value for arguments that follow from the types.
fn meaning(text: &str) -> (Vec<&'static str>, Option<String>) {
    let program = Program::new(text);
    let errors = program.errors();
    if !errors.is_empty() {
        return (errors, None);
    }
    let computed = program.computed();
    let main = computed.iter().find(|def| def.name == "@main");
    let ty = main.and_then(|def| def.signature.as_ref()).map(ToString::to_string);
    let defs = program.defs();
    let def = defs.iter().find(|def| def.name(&program.db) == "@main");
    let value = def.and_then(|&def| program.run(def));
    (errors, Some(format!("{ty:?} {value:?}")))
}

#[test]
fn operators_as_values_mean_their_calls() {
    let mut rng = fastrand::Rng::with_seed(number("RELAY_LAWS_SEED", 7));
    let wanted = number("RELAY_OPERATOR_CALLS", 1_500);
    note(&format!("{wanted} calls (RELAY_OPERATOR_CALLS)"));
    let (mut count, mut without_errors) = (0, 0);
    let mut wrong: BTreeMap<&str, String> = BTreeMap::new();
    while count < wanted {
        for operator in callable() {
            let choices: Vec<u16> = (0..LENGTH).map(|_| rng.u16(..)).collect();
            let Some(call) = random(operator, &mut Tape::new(&choices)) else { continue };
            // A value has one parameter for each argument.
            if operator.variadic || call.args.len() != operator.args.len() {
                continue;
            }
            count += 1;
            let name = operator.name;
            let called = meaning(&module(&call, &format!("{name}(%args)")));
            without_errors += u64::from(called.0.is_empty());
            let mut forms = vec![format!("let %r = {name};\n  %r(%args)")];
            if call.args.len() == 1 {
                forms.push(format!("@apply({name}, %args)"));
            }
            for form in forms {
                let text = module(&call, &form);
                let value = meaning(&text);
                let is_same = match (called.0.is_empty(), value.0.is_empty()) {
                    (true, true) => called.1 == value.1,
                    (a, b) => a == b,
                };
                if !is_same {
                    let message = format!("{called:?} and {value:?}:\n{text}");
                    wrong.entry(name).or_insert(message);
                }
            }
        }
    }
    println!("{count} calls, {without_errors} without errors");
    assert!(without_errors * 3 > count, "{without_errors} of {count} calls have no errors");
    let report: Vec<&str> = wrong.values().map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} operators:\n{}", wrong.len(), report.join("\n"));
}
