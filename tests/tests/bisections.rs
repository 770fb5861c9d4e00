//! The search for the wrong pass of a log on the command line.

use relay_tests::{
    command::{Folder, Run},
    corpus,
    logs::{Search, faulty_log},
};
use serde_json::Value;

use crate::comparisons::{RIGHT, network};

/// Writes a log whose modules are wrong from one on.
fn log(count: usize, wrong: usize, broken: &[usize]) -> String {
    let module = |at: usize| {
        let epsilon = if at >= wrong { "1e-3f" } else { RIGHT[0] };
        let module = network(epsilon, RIGHT[1], RIGHT[2]);
        let module = if broken.contains(&at) { module.replace("%5, %d", "%5, %e") } else { module };
        // Passes change other things, too.
        let module = module
            .replace("units=5", &format!("units=5, out_dtype=\"{}\"", ["", "float32"][at % 2]));
        format!("Print IR after: Pass{at}\n{module}\n")
    };
    (0..count).map(module).collect()
}

fn bisect(name: &str, log: &str, more: &[&str]) -> Run {
    let folder = Folder::new(&format!("bisect-{name}"), &[("run.log", log.as_bytes())]);
    folder.run(&[&["bisect", "run.log"], more].concat())
}

#[test]
fn a_wrong_pass_of_a_log_is_named_with_its_call() {
    for wrong in [1, 6, 11, 15] {
        let run = bisect("pass", &log(16, wrong, &[]), &["--format", "json"]);
        assert_eq!(run.code, Some(1), "{}", run.err);
        let found: Value = serde_json::from_str(&run.out).expect("a document");
        assert_eq!(found["pass"], format!("Pass{wrong}"), "{found}");
        assert_eq!(found["index"], wrong, "{found}");
        assert_eq!(found["pair"]["operator"], "nn.batch_norm", "{found}");
        assert!(found["runs"].as_u64() <= Some(4 + 2), "{found}");
    }
    let run = bisect("human", &log(5, 3, &[2]), &[]);
    for part in ["module 3 (`Pass3`) is the first", "first divergence: `nn.batch_norm`"] {
        assert!(run.out.contains(part), "{part}: {} {}", run.out, run.err);
    }
    assert!(run.err.contains("module 2 cannot be run: "), "{}", run.err);
}

/// Writes a log of a network whose results hide the values of its calls: all elements of them are 0.
fn hiding_log(count: usize, wrong: usize, (right, other): (&str, &str)) -> String {
    let module = |at: usize| {
        let module = "#[version = \"0.0.5\"]
def @main(%x: Tensor[(2, 3, 4, 4), float32], %g: Tensor[(3), float32], %b: Tensor[(3), float32],
    %m: Tensor[(3), float32], %v: Tensor[(3), float32]) {
  %0 = nn.batch_norm(%x, %g, %b, %m, %v, epsilon=1e-5f);
  %1 = nn.relu(%0.0);
  %2 = sigmoid(%1);
  %3 = subtract(%2, 2f);
  nn.relu(%3)
}
";
        let module = if at >= wrong { module.replace(right, other) } else { module.to_owned() };
        // Passes change other things, too.
        let module = match at % 2 {
            0 => module,
            _ => module.replace("%3", "%4").replace("%2", "%3"),
        };
        format!("Print IR after: Pass{at}\n{module}\n")
    };
    (0..count).map(module).collect()
}

/// A wrong pass is found although the results hide what it changes.
#[test]
fn a_wrong_pass_whose_fault_the_results_hide_is_named() {
    let faults = [
        (("1e-5f", "1e-2f"), "nn.batch_norm"),
        (("nn.relu(%0.0)", "sigmoid(%0.0)"), "sigmoid"),
        (("= sigmoid(%1)", "= tanh(%1)"), "tanh"),
    ];
    for (number, (fault, operator)) in faults.into_iter().enumerate() {
        for (count, wrong) in [(8, 1), (8, 4), (16, 11), (16, 15)] {
            let log = hiding_log(count, wrong, fault);
            let run = bisect(&format!("hidden-{number}"), &log, &["--format", "json"]);
            let found: Value = serde_json::from_str(&run.out).expect("a document");
            assert_eq!(run.code, Some(1), "{operator}, {wrong}: {found} {}", run.err);
            assert_eq!(found["pass"], format!("Pass{wrong}"), "{operator}: {found}");
            assert_eq!(found["pair"]["operator"], operator, "{found}");
            assert!(found["runs"].as_u64() <= Some(u64::from(count.ilog2()) + 2), "{found}");
        }
    }
    let log = hiding_log(8, 5, faults[0].0);
    let run = bisect("hidden-human", &log, &[]);
    for part in ["module 5 (`Pass5`) is the first", "calls compute other values, and the results"] {
        assert!(run.out.contains(part), "{part}: {} {}", run.out, run.err);
    }
    let run = bisect("hidden-all", &log, &["--all"]);
    let ends = run.out.lines().map(|line| line.ends_with("calls differ; result: equal"));
    assert_eq!(
        ends.collect::<Vec<_>>(),
        (0..8).map(|at| at >= 5).collect::<Vec<_>>(),
        "{}",
        run.out
    );
    let run = bisect("hidden-none", &hiding_log(8, 9, faults[0].0), &[]);
    assert_eq!(run.code, Some(0), "{}", run.out);
}

/// A fault that the next pass takes back is found, although the first and the last module agree: the pass that brings it
/// is run on its own, because it changes more than other passes do.
#[test]
fn a_wrong_pass_that_a_later_one_hides_is_named() {
    let swapped = ("subtract(%2, 2f)", "subtract(2f, %2)");
    let faults = [
        (swapped, "subtract"),
        (("1e-5f", "1e-2f"), "nn.batch_norm"),
        (("= sigmoid(%1)", "= tanh(%1)"), "tanh"),
    ];
    let between = |count: usize, wrong: usize, fault| {
        let (right, other) = (hiding_log(count, count, fault), hiding_log(count, 0, fault));
        let modules = |log: &str| -> Vec<String> {
            let parts = log.split("Print IR after: ").skip(1);
            parts.map(|part| format!("Print IR after: {part}")).collect()
        };
        let (mut right, other) = (modules(&right), modules(&other));
        right[wrong..wrong + 2].clone_from_slice(&other[wrong..wrong + 2]);
        // Another pass rewrites what is right: it changes calls, too.
        for module in &mut right[2..] {
            *module = module.replace("  nn.relu(%", "  maximum(0f, %");
        }
        right.concat()
    };
    for (number, (fault, operator)) in faults.into_iter().enumerate() {
        for (count, wrong) in [(8, 1), (9, 5), (16, 11)] {
            let log = between(count, wrong, fault);
            let run = bisect(&format!("taken-back-{number}"), &log, &["--format", "json"]);
            let found: Value = serde_json::from_str(&run.out).expect("a document");
            assert_eq!(run.code, Some(1), "{operator}, {wrong}: {found} {}", run.err);
            assert_eq!(found["pass"], format!("Pass{wrong}"), "{operator}: {found}");
            assert_eq!(found["pair"]["operator"], operator, "{found}");
            let undone = &found["alone"]["undone"];
            assert_eq!(undone["pass"], format!("Pass{}", wrong + 2), "{operator}: {found}");
            assert!(found["runs"].as_u64() <= Some(u64::from(count.ilog2()) + 2), "{found}");
        }
    }
    let run = bisect("taken-back-human", &between(9, 5, swapped), &[]);
    for part in [
        "module 5 (`Pass5`) computes another value than the one before it",
        "module 8 agrees with the first one",
        "module 7 (`Pass7`) hides it",
        "first divergence: `subtract`",
    ] {
        assert!(run.out.contains(part), "{part}: {} {}", run.out, run.err);
    }
    // Without a fault, it is said what was run.
    let run = bisect("taken-back-none", &between(9, 5, ("2f", "2f")), &[]);
    assert_eq!(run.code, Some(0), "{}", run.out);
    let expected = "passes that change calls: 1, of which 1 were run on their own and agree";
    assert!(run.out.contains(expected), "{}", run.out);
}

/// The pass whose result cannot be run is named, with the place and the reason, and what is before it is searched.
#[test]
fn a_pass_whose_result_cannot_be_run_is_named() {
    let broken: Vec<usize> = (11..16).collect();
    let found = |name: &str, log: &str| {
        let run = bisect(name, log, &["--format", "json"]);
        let found: Value = serde_json::from_str(&run.out).expect("a document");
        (run.code, found)
    };
    let (code, document) = found("broken", &log(16, 99, &broken));
    assert_eq!(code, Some(2), "{document}");
    assert_eq!(document["index"], Value::Null, "{document}");
    let not_run = &document["not_run"];
    assert_eq!((&not_run["index"], &not_run["pass"]), (&11.into(), &"Pass11".into()), "{document}");
    assert_eq!(not_run["code"], "unknown-variable", "{document}");
    let line = not_run["line"].as_u64().expect("a line") as usize;
    let text = log(16, 99, &broken);
    assert!(text.lines().nth(line - 1).is_some_and(|line| line.contains("%5, %e")), "{document}");
    // A wrong pass before it is found, too.
    let (code, document) = found("broken-wrong", &log(16, 6, &broken));
    assert_eq!((code, &document["pass"]), (Some(1), &"Pass6".into()), "{document}");
    assert_eq!(document["pair"]["operator"], "nn.batch_norm", "{document}");
    assert_eq!(document["not_run"]["pass"], "Pass11", "{document}");
    let run = bisect("broken-human", &log(16, 99, &broken), &[]);
    for part in ["module 11 (`Pass11`) cannot be run", "`%e`", "[unknown-variable]", "run.log#11:"]
    {
        assert!(run.out.contains(part), "{part}: {} {}", run.out, run.err);
    }
    assert!(!run.out.contains("the last module computes"), "{}", run.out);
    let run = bisect("broken-all", &log(3, 99, &[1, 2]), &[]);
    assert_eq!(run.code, Some(2));
    assert!(run.out.starts_with("only the first module can be run"), "{}", run.out);
}

#[test]
fn all_modules_of_a_log_may_be_run() {
    let run = bisect("all", &log(4, 2, &[]), &["--all", "--rtol", "1e-7"]);
    assert_eq!(run.code, Some(1), "{}", run.err);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), 4, "{}", run.out);
    assert!(lines[1].contains("Pass1") && lines[1].ends_with("equal"), "{}", run.out);
    assert!(lines[2].contains("Pass2") && lines[2].contains("differs: max abs "), "{}", run.out);
    let page = bisect("page", &log(4, 2, &[3]), &["--all", "--rtol", "1e-7", "--format", "html"]);
    let (_, rest) = page.out.split_once("id=\"report\">").expect("the report");
    let (report, _) = rest.split_once("</script>").expect("its end");
    let report: Value = serde_json::from_str(report).expect("a document");
    let modules = report["modules"].as_array().expect("modules");
    let states: Vec<&Value> = modules.iter().map(|module| &module["state"]).collect();
    assert_eq!(states, ["equal", "equal", "differs", "cannot be run"], "{report}");
    assert_eq!((&modules[2]["pass"], page.code), (&"Pass2".into(), Some(1)));
    assert_eq!(bisect("no-page", &log(4, 2, &[]), &["--format", "html"]).code, Some(2));
    let same = bisect("same", &log(4, 9, &[]), &[]);
    assert_eq!(same.code, Some(0), "{}", same.err);
    assert!(same.out.contains("the last module computes what the first one does"), "{}", same.out);
    let short = bisect("short", &log(1, 9, &[]), &[]);
    assert_eq!(short.code, Some(2));
    assert!(short.err.contains("has 1 module: a search takes two or more"), "{}", short.err);
}

/// Wrong passes of logs of networks are named with the binding.
#[test]
fn wrong_passes_of_seeded_logs_are_named() {
    if corpus::conformance().is_none() {
        return;
    }
    let mut searched = 0;
    for (seed, name) in ["mlp", "synthetic", "mlp", "synthetic"].into_iter().enumerate() {
        let mut random = fastrand::Rng::with_seed(seed as u64);
        let network = corpus::model(name).expect("a network");
        let Some(log) = faulty_log(&network, 8 + 3 * seed, &mut random) else { continue };
        let found = log.search();
        let is_expected = matches!(found, Search { is_pass: true, is_binding: true, .. })
            && found.runs <= log.most_runs();
        assert!(is_expected, "{name}, seed {seed}, {:?}: {found:?}\n{}", log.kind, log.text);
        searched += 1;
    }
    assert!(searched > 2, "{searched}");
}
