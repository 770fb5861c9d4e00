//! The comparison of the values of two modules on the command line.

use relay_tests::command::{Folder, Run};
use serde_json::Value;

/// A network whose three marked parts a test replaces.
fn network(epsilon: &str, activation: &str, operands: &str) -> String {
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

const RIGHT: [&str; 3] = ["1e-5f", "nn.relu", "%2, %0"];

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
    for (name, before, after, reason) in [
        ("parameters", right(), other.to_owned(), "only the second one has `%a`"),
        ("errors", wrong.to_owned(), wrong.to_owned(), "`@main` has errors"),
        ("unknown", fails.to_owned(), fails.to_owned(), "the modules cannot be compared"),
    ] {
        let run = compare(name, &before, &after, &[]);
        assert_eq!(run.code, Some(2), "{name}: {}", run.out);
        assert!(run.err.contains(reason), "{name}: {}", run.err);
    }
    assert_eq!(compare("negative", other, other, &["--rtol", "-1"]).code, Some(2));
}
