//! The comparison of the values of two modules on the command line.

use relay_tests::{
    command::{Folder, Run},
    corpus,
    faults::faulty,
};
use serde_json::Value;

/// A network whose three marked parts a test replaces.
pub(crate) fn network(epsilon: &str, activation: &str, operands: &str) -> String {
    format!(
        "#[version = \"0.0.5\"]
def @main(%x: Tensor[(2, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32], %g: Tensor[(4), float32],
    %b: Tensor[(4), float32], %m: Tensor[(4), float32], %v: Tensor[(4), float32], %d: Tensor[(5, 4), float32]) {{
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);
  %1 = nn.batch_norm(%0, %g, %b, %m, %v, epsilon={epsilon});
  %2 = {activation}(%1.0);
  %3 = subtract({operands});
  %4 = nn.global_avg_pool2d(%3);
  %5 = nn.batch_flatten(%4);
  %6 = nn.dense(%5, %d, units=5);
  nn.softmax(%6)
}}
"
    )
}

fn compare(name: &str, before: &str, after: &str, more: &[&str]) -> Run {
    let files = [("a.relay", before.as_bytes()), ("b.relay", after.as_bytes())];
    let folder = Folder::new(&format!("compare-{name}"), &files);
    folder.run(&[&["compare", "a.relay", "b.relay"], more].concat())
}

/// Returns the texts of the culprits in the second module, in the order of evaluation.
fn culprits(name: &str, before: &str, after: &str) -> (Option<i32>, Vec<String>, Value) {
    let run = compare(name, before, after, &["--format", "json"]);
    let found: Value =
        serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.err));
    let pairs = found["pairs"].as_array().expect("pairs");
    let end = |pair: &Value, end: usize| pair["after"][end].as_u64().expect("an offset") as usize;
    let texts = pairs.iter().filter(|pair| pair["culprit"] == true).map(|pair| {
        let call = &after[end(pair, 0)..end(pair, 1)];
        call.split('(').next().unwrap_or_default().to_owned()
    });
    (run.code, texts.collect(), found)
}

/// The right parts.
pub(crate) const RIGHT: [&str; 3] = ["1e-5f", "nn.relu", "%2, %0"];

fn right() -> String {
    network(RIGHT[0], RIGHT[1], RIGHT[2])
}

#[test]
fn a_fault_is_named_and_what_inherits_its_error_is_not() {
    for (name, after, operator) in [
        ("epsilon", network("1e-3f", RIGHT[1], RIGHT[2]), "nn.batch_norm"),
        ("activation", network(RIGHT[0], "sigmoid", RIGHT[2]), "sigmoid"),
        ("operands", network(RIGHT[0], RIGHT[1], "%0, %2"), "subtract"),
    ] {
        let (code, found, document) = culprits(name, &right(), &after);
        assert_eq!((code, &found[..]), (Some(1), &[operator.to_owned()][..]), "{document}");
        assert_eq!(document["equal"], false);
        let first = document["first"].as_u64().expect("a culprit") as usize;
        let pairs = document["pairs"].as_array().expect("pairs");
        // What follows has an accumulated error, and no local one.
        for pair in &pairs[first + 1..] {
            assert_eq!(pair["local"]["max_abs"], 0.0, "{name}: {pair}");
            assert_ne!(pair["accumulated"]["max_abs"], 0.0, "{name}: {pair}");
        }
    }
}

#[test]
fn two_faults_are_found_in_one_run() {
    let (code, found, document) = culprits("two", &right(), &network("1e-3f", RIGHT[1], "%0, %2"));
    assert_eq!(
        (code, &found[..]),
        (Some(1), &["nn.batch_norm", "subtract"].map(String::from)[..]),
        "{document}"
    );
}

/// Wrong calls of networks of the corpus, of any kind of fault, are the culprits, and no others are.
#[test]
fn seeded_faults_are_the_culprits() {
    if corpus::conformance().is_none() {
        return;
    }
    for name in ["synthetic", "lstm10", "mlp"] {
        let text = corpus::model(name).expect("a network");
        for (seed, count) in [(0, 1), (1, 1), (2, 2)] {
            let mut random = fastrand::Rng::with_seed(seed);
            let wrong = faulty(&text, count, &mut random).expect("calls");
            let mut found = wrong.culprits(&text).expect("other values");
            found.sort_unstable();
            let faults: Vec<usize> = wrong.faults.iter().map(|fault| fault.0).collect();
            assert_eq!(found, faults, "{name}, seed {seed}: {:?}", wrong.faults);
        }
    }
}

#[test]
fn a_module_agrees_with_itself() {
    let same = compare("same", &right(), &right(), &[]);
    assert_eq!(same.code, Some(0), "{}", same.err);
    assert!(same.out.starts_with("the results agree"), "{}", same.out);
    assert!(same.err.contains("random (seed 0)"), "{}", same.err);
}

/// A pass that moves a factor changes calls but not the result, so that no call is wrong.
#[test]
fn a_factor_may_move() {
    let module = |factor: &str, weight: &str, tail: &str| {
        format!(
            "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {{
  %0 = multiply(%w, {weight});
  %1 = nn.dense({factor}, %0, units=4);
  {tail}
}}
"
        )
    };
    let before = module("%x", "1f", "multiply(%1, 2f)");
    let after = module("%x", "2f", "multiply(%1, 1f)");
    let (code, found, document) = culprits("factor", &before, &after);
    assert_eq!((code, found.len()), (Some(0), 0), "{document}");
    // The call that makes up for the factor may have no partner, also at the end.
    let before = module("%x", "1f", "nn.relu(%1)");
    for (name, tail) in [("inner", "nn.relu(divide(%1, 2f))"), ("end", "divide(nn.relu(%1), 2f)")] {
        let (code, found, document) = culprits(name, &before, &module("%x", "2f", tail));
        assert_eq!((code, found.len()), (Some(0), 0), "{document}");
    }
}

/// A call that computes another value is wrong, although little of that is left in the result on these arguments.
#[test]
fn a_fault_is_named_although_the_results_agree() {
    let module = |mask: &str, activation: &str| {
        format!(
            "def @main(%x: Tensor[(4, 8), float32], %y: Tensor[(4, 8), float32]) {{
  %0 = subtract({mask});
  %1 = not_equal(%0, 0f);
  %2 = {activation};
  %3 = multiply(%2, 1e-9f);
  %4 = add(%y, %3);
  where(%1, %4, %x)
}}
"
        )
    };
    let right = module("%x, %y", "tanh(%x)");
    for (name, after, operator) in [
        ("hidden", module("%x, %y", "sigmoid(%x)"), "sigmoid"),
        ("sign", module("%y, %x", "tanh(%x)"), "subtract"),
    ] {
        let (code, found, document) = culprits(name, &right, &after);
        assert_eq!((code, &found[..]), (Some(1), &[operator.to_owned()][..]), "{document}");
        let run = compare(name, &right, &after, &[]);
        let headline = "calls compute other values, and the results agree: max abs ";
        assert!(run.out.starts_with(headline), "{}", run.out);
    }
    // An error of sums in another order is none.
    let near = |factor: &str| module("%x, %y", &format!("multiply(%x, {factor})"));
    let (code, found, document) = culprits("near", &near("1f"), &near("1.00005f"));
    assert_eq!((code, found.len()), (Some(0), 0), "{document}");
}

#[test]
fn what_people_read_names_the_call_and_its_values() {
    let run = compare("human", &right(), &network("1e-3f", RIGHT[1], RIGHT[2]), &[]);
    for part in [
        "the modules differ; results: max abs ",
        "first divergence: `nn.batch_norm` in `@main`",
        "before  a.relay:5:8",
        "after   b.relay:5:8",
        "attribute epsilon",
        "local error: max abs ",
        "calls with an error of their own, by error:",
    ] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    let tolerant =
        compare("tolerant", &right(), &network("1e-3f", RIGHT[1], RIGHT[2]), &["--rtol", "1"]);
    assert_eq!(tolerant.code, Some(0), "{}", tolerant.out);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let other = "def @main(%a: Tensor[(2), float32], %b: Tensor[(2), float32]) { add(%a, %b) }";
    let wrong = "def @main(%x: Tensor[(2), float32]) { add(%x, %y) }";
    let fails = "def @main(%x: Tensor[(2), float32]) { accelerate(%x) }";
    let header = "def @main(%x: Tensor[(2), flot32]) { add(%x, %x) }";
    for (name, before, after, reason) in [
        ("parameters", right(), other.to_owned(), "only the second one has `%a`"),
        ("header", header.to_owned(), header.to_owned(), "`@main` has errors"),
        ("errors", wrong.to_owned(), wrong.to_owned(), "a.relay:1:47: "),
        ("unknown", fails.to_owned(), fails.to_owned(), "what could be compared agrees"),
    ] {
        let run = compare(name, &before, &after, &[]);
        assert_eq!(run.code, Some(2), "{name}: {}", run.out);
        assert!((run.err + &run.out).contains(reason), "{name}: {}", run.out);
    }
    assert_eq!(compare("negative", other, other, &["--rtol", "-1"]).code, Some(2));
}

/// A module with a call that fails if the divisor is zero.
fn failing(divisor: u32, activation: &str) -> String {
    format!(
        "#[version = \"0.0.5\"]
def @main(%x: Tensor[(4), float32], %i: Tensor[(4), int32]) {{
  %0 = exp(%x);
  %1 = floor_divide(%i, {divisor});
  %2 = cast(%1, dtype=\"float32\");
  %3 = {activation}(%0);
  %4 = add(%3, %2);
  (%3, %4)
}}
"
    )
}

/// Returns the reasons of the pairs that are not compared, by the operators.
fn not_run(document: &Value, after: &str) -> Vec<(String, String)> {
    let pairs = document["not_run"].as_array().expect("pairs").iter();
    let operator = |pair: &Value| {
        let start = pair["after"][0].as_u64().expect("an offset") as usize;
        after[start..].split('(').next().unwrap_or_default().to_owned()
    };
    pairs
        .map(|pair| (operator(pair), pair["reason"].as_str().unwrap_or_default().to_owned()))
        .collect()
}

/// A call that cannot be run leaves what depends on it unknown, and all else is compared.
#[test]
fn a_call_that_fails_does_not_end_a_comparison() {
    let (right, wrong) = (failing(0, "tanh"), failing(0, "sigmoid"));
    let (code, found, document) = culprits("failing", &right, &wrong);
    assert_eq!((code, &found[..]), (Some(1), &["sigmoid".to_owned()][..]), "{document}");
    let stops = document["stops"].as_array().expect("stops");
    assert_eq!(stops.len(), 2, "{document}");
    assert_eq!(
        (&stops[1]["module"], &stops[1]["line"]),
        (&"after".into(), &4.into()),
        "{document}"
    );
    assert_eq!(stops[1]["code"], "run-operator-failed", "{document}");
    let reasons = not_run(&document, &wrong);
    let operators: Vec<&str> = reasons.iter().map(|(operator, _)| operator.as_str()).collect();
    assert_eq!(operators, ["floor_divide", "cast", "add"], "{reasons:?}");
    assert!(reasons[1].1.contains("depends on what cannot be run: "), "{reasons:?}");
    assert_eq!(document["result"], Value::Null);
    // Agreement of what is known is no agreement of the results.
    let (code, found, document) = culprits("failing-same", &right, &right);
    assert_eq!((code, found.len(), &document["equal"]), (Some(2), 0, &false.into()), "{document}");
}

/// What fails in the second module alone is replaced, so that what follows is compared.
#[test]
fn what_fails_in_one_module_only_is_replaced_by_the_other() {
    let after = failing(0, "tanh");
    let (code, found, document) = culprits("failing-after", &failing(2, "tanh"), &after);
    assert_eq!((code, found.len()), (Some(2), 0), "{document}");
    let reasons = not_run(&document, &after);
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert_eq!(reasons[0].0, "floor_divide", "{reasons:?}");
    let accumulated: Vec<bool> = document["pairs"]
        .as_array()
        .expect("pairs")
        .iter()
        .map(|pair| pair["accumulated"].is_null())
        .collect();
    assert_eq!(accumulated, [false, true, false, true], "{document}");
    let run = compare("failing-human", &failing(2, "tanh"), &after, &[]);
    for part in ["the results are not known", "cannot be run: b.relay:4:8: ", "1 not compared"] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
}

/// A module with an error of the text is compared up to it.
#[test]
fn values_before_an_error_of_the_text_are_compared() {
    let after = network("1e-3f", RIGHT[1], RIGHT[2]).replace("%5, %d", "%5, %e");
    let (code, found, document) = culprits("error", &right(), &after);
    assert_eq!((code, &found[..]), (Some(1), &["nn.batch_norm".to_owned()][..]), "{document}");
    let stops = document["stops"].as_array().expect("stops");
    assert_eq!(stops.len(), 1, "{document}");
    assert_eq!((&stops[0]["code"], &stops[0]["line"]), (&"unknown-variable".into(), &10.into()));
    let reasons = not_run(&document, &after);
    assert!(reasons.iter().any(|(operator, _)| operator == "nn.dense"), "{reasons:?}");
}

/// Of several samples the worst errors are told, with their samples.
#[test]
fn errors_of_several_samples_are_merged() {
    // A wrong activation shows for negative elements only.
    let module = |activation: &str| {
        format!("def @main(%x: Tensor[(2), float32]) {{\n  %0 = {activation}(%x);\n  exp(%0)\n}}\n")
    };
    let (before, after) = (module("abs"), module("nn.relu"));
    let files = [("a.relay", before.as_bytes()), ("b.relay", after.as_bytes())];
    let folder = Folder::new("compare-samples", &files);
    std::fs::create_dir(folder.path().join("inputs")).expect("a folder");
    for (name, x) in [("p", "[1, 2]"), ("q", "[1, -2]"), ("r", "[1, -1]")] {
        let text = "def @main(%x: Tensor[(2), float32]) { %x }";
        std::fs::write(folder.path().join("x.relay"), text).expect("a file");
        let (input, output) = (format!("x={x}"), format!("inputs/{name}.npz"));
        let run = folder.run(&["run", "x.relay", "--input", &input, "--output", &output]);
        assert_eq!(run.code, Some(0), "{}", run.err);
        rename_array(&folder.path().join(&output), b"o0.npy", b"i0.npy");
    }
    let run = |args: &[&str]| folder.run(&[&["compare", "a.relay", "b.relay"], args].concat());
    let json = run(&["--samples", "inputs", "--format", "json"]);
    assert_eq!(json.code, Some(1), "{} {}", json.err, json.out);
    let found: Value = serde_json::from_str(&json.out).expect("a document");
    assert_eq!(found["inputs"]["samples"], serde_json::json!(["p.npz", "q.npz", "r.npz"]));
    let pair = &found["pairs"][0];
    assert_eq!((&pair["culprit"], &pair["sample"]), (&true.into(), &"q.npz".into()), "{found}");
    assert_eq!(pair["local"]["max_abs"], 2.0, "{found}");
    let human = run(&["--samples", "inputs"]);
    for part in ["on 3 samples", "(q.npz)"] {
        assert!(human.out.contains(part), "{part}: {}", human.out);
    }
    let seeds = run(&["--samples", "3", "--random", "7", "--format", "json"]);
    let found: Value = serde_json::from_str(&seeds.out).expect("a document");
    assert_eq!(found["inputs"]["samples"], serde_json::json!(["seed 7", "seed 8", "seed 9"]));
    for samples in ["0", "nothing", "a.relay"] {
        assert_eq!(run(&["--samples", samples]).code, Some(2), "{samples}");
    }
}

/// The page has all pairs, the histogram of a culprit, and the errors by source.
#[test]
fn a_page_has_the_pairs_and_their_sources() {
    let spans = |module: String| {
        module
            .replace("nn.relu(%1.0);", "nn.relu(%1.0) /* span=aten::relu_3:0:0 */;")
            .replace("epsilon=1e-3f);", "epsilon=1e-3f) /* span=</script><b>:0:0 */;")
    };
    let after = spans(network("1e-3f", RIGHT[1], RIGHT[2]));
    let run = compare("page", &spans(right()), &after, &["--format", "html"]);
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.out.starts_with("<!doctype html>"), "{}", run.out);
    let (_, rest) = run.out.split_once("id=\"report\">").expect("the report");
    let (report, _) = rest.split_once("</script>").expect("its end");
    let report: Value = serde_json::from_str(report).expect("a document");
    let pairs = report["pairs"].as_array().expect("pairs");
    assert_eq!(pairs.len(), 8, "{report}");
    let culprit = pairs.iter().find(|pair| pair["culprit"] == true).expect("a culprit");
    assert_eq!(culprit["operator"], "nn.batch_norm");
    let counts = culprit["histogram"].as_array().expect("a histogram");
    // All elements of the three results of the call.
    let sum: u64 = counts.iter().filter_map(Value::as_u64).sum();
    assert_eq!((counts.len(), sum), (11, 2 * 4 * 8 * 8 + 4 + 4), "{culprit}");
    let sources = report["sources"].as_array().expect("sources");
    let names: Vec<&Value> = sources.iter().map(|source| &source["name"]).collect();
    assert_eq!(names, ["</script><b>", "aten::relu_3"], "{report}");
    assert_eq!((&sources[0]["culprits"], &sources[1]["culprits"]), (&1.into(), &0.into()));
}

/// Renames an array of an archive, which is stored without compression, to a name of the same length.
fn rename_array(path: &std::path::Path, from: &[u8], to: &[u8]) {
    let mut bytes = std::fs::read(path).expect("an archive");
    for at in 0..bytes.len().saturating_sub(from.len()) {
        if &bytes[at..at + from.len()] == from {
            bytes[at..at + from.len()].copy_from_slice(to);
        }
    }
    std::fs::write(path, bytes).expect("a file");
}

/// Values that were recorded in another program name the call that computes another one.
#[test]
fn recorded_values_are_compared_by_name() {
    let module = "#[version = \"0.0.5\"]
def @main(%x: Tensor[(2, 2), float32]) {
  %0 = nn.relu(%x) /* ty=Tensor[(2, 2), float32] span=aten::relu_0:0:0 */;
  %1 = exp(%0);
  %2 = add(%1, %x);
  sqrt(%1)
}
";
    // The results of one function, saved under the names `o0`, `o1`, ….
    let record = "def @main(%x: Tensor[(2, 2), float32]) {\n  let %r = nn.relu(%x);\n  let %e = sigmoid(%r);\n  (%r, %e, sqrt(%e))\n}\n";
    let folder = Folder::new(
        "compare-recorded",
        &[("a.relay", module.as_bytes()), ("r.relay", record.as_bytes())],
    );
    let input = "x=[[-1.0, 2.0], [3.0, -4.0]]";
    let saved = folder.run(&["run", "r.relay", "--input", input, "--output", "o.npz"]);
    assert_eq!(saved.code, Some(0), "{}", saved.err);
    // An archive is stored without compression: names of one length can be replaced.
    let mut bytes = std::fs::read(folder.path().join("o.npz")).expect("the values");
    for (from, to) in [(b"o0.npy", b"%0.npy"), (b"o1.npy", b"%1.npy"), (b"o2.npy", b"o0.npy")] {
        for at in 0..bytes.len().saturating_sub(6) {
            if &bytes[at..at + 6] == from {
                bytes[at..at + 6].copy_from_slice(to);
            }
        }
    }
    std::fs::write(folder.path().join("v.npz"), bytes).expect("a file");
    let run = folder.run(&["compare", "a.relay", "v.npz", "--input", input, "--format", "json"]);
    assert_eq!(run.code, Some(1), "{} {}", run.err, run.out);
    let found: Value = serde_json::from_str(&run.out).expect("a document");
    let pairs = found["pairs"].as_array().expect("pairs");
    let names: Vec<_> = pairs.iter().map(|pair| (&pair["name"], &pair["culprit"])).collect();
    // `sqrt` gets the recorded operand, and has no error of its own.
    assert_eq!(
        names,
        [
            (&"%0".into(), &false.into()),
            (&"%1".into(), &true.into()),
            (&"o0".into(), &false.into())
        ],
        "{found}"
    );
    let run = folder.run(&["compare", "a.relay", "v.npz", "--input", input]);
    assert!(run.out.starts_with("the values differ (3 recorded values compared)"), "{}", run.out);
    assert!(run.out.contains("a.relay:4:8  exp `%1`"), "{}", run.out);
}
