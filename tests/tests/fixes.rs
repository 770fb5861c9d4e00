//! Laws of `check --fix`, over all texts of the project.

use std::{collections::BTreeMap, fs};

use relay_tests::{command::Folder, mdtest};
use semantics::{Code, Rules, Severity};

/// The codes of the findings of each file, by path: those of errors, and all.
fn found(folder: &Folder) -> BTreeMap<String, (Vec<String>, Vec<String>)> {
    let lines = folder.run(&["check", "--format", "json", "."]).lines();
    let codes = |line: &serde_json::Value| {
        let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        let all = line["diagnostics"].as_array().expect("a list");
        let errors = all.iter().filter(|d| d["severity"] == "error").map(|d| text(&d["code"]));
        (text(&line["path"]), (errors.collect(), all.iter().map(|d| text(&d["code"])).collect()))
    };
    lines.iter().map(codes).collect()
}

/// Fixing reaches a state in which nothing is left to fix, and adds no error to any file.
#[test]
fn fixes_reach_a_fixpoint_and_break_nothing() {
    let mut texts = mdtest::texts();
    // Few at a time suffice for a law, and all of the corpus take minutes.
    texts.truncate(1500);
    let folder = Folder::new("fixes-corpus", &[]);
    fs::create_dir_all(folder.path()).expect("a folder");
    for (number, (_, text)) in texts.iter().enumerate() {
        fs::write(folder.path().join(format!("{number:04}.relay")), text).expect("a file");
    }
    let before = found(&folder);
    folder.run(&["check", "--fix", "--quiet", "."]);
    let after = found(&folder);
    for (path, (errors, _)) in &before {
        let (now, _) = &after[path];
        for code in now {
            let count = |codes: &[String]| codes.iter().filter(|known| *known == code).count();
            assert!(count(now) <= count(errors), "{path}: {code}\n{}", folder.text(path));
        }
    }
    let again = folder.run(&["check", "--diff", "."]);
    assert_eq!(again.out, "", "nothing is left to fix");
}

/// The type of `%k` has the type parameter of a function around it.
const NAMED: &str = "\
def @main(%z: int32) {
  let %outer = fn[T](%y: T) -> T {
    let %mid = fn[U](%w: U) {
      let %k = fn(%a) { (%a, %y) };
      let %u = (%k(1), %k(%w));
      (%u.1).1
    };
    %mid(3f)
  };
  %outer(%z)
}
";

/// A fix that writes types uses no name that is unbound there, or that means something else: it adds no
/// error.
#[test]
fn annotations_name_what_is_in_scope() {
    // The number of errors of a text, and what it is with each of the fixes.
    let look = |text: &str| -> (usize, Vec<(String, String)>) {
        let found = mdtest::look(text, Rules::General).diagnostics;
        let errors = found.iter().filter(|d| d.severity == Severity::Error).count();
        let own = found.iter().filter(|d| d.code == Code::TvmAnnotation);
        let fixes = own.flat_map(|d| &d.fixes);
        let fixed = fixes.map(|fix| (fix.title.clone(), semantics::apply(text, [fix])));
        (errors, fixed.collect())
    };
    let shadowed = NAMED.replace('U', "T");
    let mut texts = mdtest::texts();
    texts.extend([
        ("named".to_owned(), NAMED.to_owned()),
        ("shadowed".to_owned(), shadowed.clone()),
    ]);
    for (name, text) in &texts {
        let (errors, fixes) = look(text);
        for (title, after) in fixes {
            assert!(look(&after).0 <= errors, "{name}: {title}\n{after}");
        }
    }
    let (_, named) = look(NAMED);
    assert!(
        named.iter().any(|(_, after)| after.contains("fn[t1](%a: t1) -> (t1, T)")),
        "{named:?}"
    );
    assert_eq!(look(&shadowed).1, []);
}

const UNUSED: &str = "\
#[version = \"0.0.5\"]
def @main(%x: Tensor[(2, 3), float32], %c: bool) {
  let %a = nn.relu(%x);
  let %kept = nn.relu(%a); // relay: allow(unused-binding)
  let %b = tanh(%x);
  let %d = tanh(%b);
  let %_named = tanh(%x);
  let %g = fn (%y: int32) -> int32 {
    let %h = add(%y, 1);
    let %i = add(%h, 1);
    %y
  };
  %0 = tanh(%x);
  %1 = tanh(%0);
  if (%c) { let %e = (%x, %x); %x } else { %x }
}
";

/// Each finding that is certain has its fix: what is unused goes, with what only it used, unless a
/// comment or its name keeps it.
#[test]
fn unused_bindings_are_removed() {
    let folder = Folder::new("fixes-unused", &[("a.relay", UNUSED.as_bytes())]);
    let run = folder.run(&["check", "--fix", "a.relay"]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), "no errors in 1 file\n"), "{run:?}");
    let wanted = "\
#[version = \"0.0.5\"]
def @main(%x: Tensor[(2, 3), float32], %c: bool) {
  let %a = nn.relu(%x);
  let %kept = nn.relu(%a); // relay: allow(unused-binding)
  let %_named = tanh(%x);
  if (%c) { %x } else { %x }
}
";
    assert_eq!(folder.text("a.relay").replace("{  %x", "{ %x"), wanted);
}

/// What has an effect, or determines a type, stays.
#[test]
fn nothing_that_matters_is_removed() {
    let effects = "\
#[version = \"0.0.5\"]
def @f(%r: int32) -> int32 {
  let %u = 5;
  %r
}
def @set(%r: ref(int32)) -> int32 {
  let %_done = ref_write(%r, 4);
  7
}
def @main() {
  let %r = ref(0);
  %0 = ref_write(%r, 3);
  let %pair = (%0, %0);
  let %called = @set(%r);
  let %computed = @f(1);
  ref_read(%r)
}
";
    let folder = Folder::new("fixes-effects", &[("a.relay", effects.as_bytes())]);
    let value = |folder: &Folder| folder.run(&["run", "a.relay"]).out;
    let before = value(&folder);
    folder.run(&["check", "--fix", "a.relay"]);
    assert_eq!(value(&folder), before);
    let text = folder.text("a.relay");
    assert!(text.contains("%pair") && text.contains("%called"), "{text}");
    assert!(!text.contains("%u") && !text.contains("%computed"), "{text}");
    // The parameter is of the type of the operator that is not used.
    let typed = "def @f(%x) { let %a = add(%x, 1f); 1 }\n";
    let folder = Folder::new("fixes-types", &[("a.relay", typed.as_bytes())]);
    let types = |folder: &Folder| folder.run(&["types", "a.relay"]).out.contains("float32");
    assert!(types(&folder));
    folder.run(&["check", "--fix", "a.relay"]);
    assert!(types(&folder), "{}", folder.text("a.relay"));
}
