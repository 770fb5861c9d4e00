//! The cost of an edit: the queries that run again, and the results that are reused.

use std::sync::Arc;

use relay_tests::{corpus, edits, notes::note, variables};
use semantics::{
    Database, SourceFile, all_defs, body, check_file, global_type, inference, module, module_types,
    types_in,
};
use syntax::{Edit, ParseLimits, TextRange};

fn edited(db: &mut Database, file: SourceFile, text: &mut String, at: usize, old: &str, new: &str) {
    assert!(text[at..].starts_with(old));
    let start = at as u32;
    let range = TextRange::new(start.into(), (start + old.len() as u32).into());
    let edit = Edit { range, insert: new.into() };
    edit.apply(text);
    db.apply(file, &edit);
}

/// An edit in one statement lowers and infers only that statement; all others are reused.
#[test]
fn other_statements_are_reused() {
    let mut text = corpus::chain(1_000);
    let mut db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    check_file(&db, file);
    let parts = |db: &Database| {
        let def = all_defs(db, file).nth(1).expect("a definition");
        (body(db, def), inference(db, def))
    };
    let before = parts(&db);
    for (old, new, inferred) in
        [("nn.relu", "qnn.relu", 1), ("qnn.relu", "nn.relu", 1), ("nn.relu", "sigmoid", 1)]
    {
        let before = parts(&db);
        let at = text[..text.len() / 2].rfind(old).expect("a call");
        edited(&mut db, file, &mut text, at, old, new);
        check_file(&db, file);
        let after = parts(&db);
        let lowered = after
            .0
            .units
            .iter()
            .filter(|new| !before.0.units.iter().any(|old| Arc::ptr_eq(old, new)))
            .count();
        let typed = after
            .1
            .units
            .iter()
            .filter(|new| !before.1.units.iter().any(|old| Arc::ptr_eq(old, new)))
            .count();
        assert_eq!((lowered, typed), (1, inferred), "{old} to {new}");
    }
    drop(before);
}

/// Types that differ in the names of their own parameters are equal, and shown as they are written.
#[test]
fn renamed_type_parameters_of_function_types_are_shown() {
    let text = |name: &str| {
        let ty = format!("fn<{name}>({name}) -> {name}");
        format!("def @main(%f: {ty}) {{ let %g: {ty} = %f; %g }}")
    };
    let shown = |db: &Database, file| -> Vec<String> {
        types_in(db, file).iter().map(|at| at.ty.to_string()).collect()
    };
    let mut db = Database::new();
    let file = db.add_file(text("A"), ParseLimits::default());
    for name in ["A", "B", "Longer", "A"] {
        db.replace_text(file, text(name), ParseLimits::default());
        let scratch = Database::new();
        let fresh = scratch.add_file(text(name), ParseLimits::default());
        let fresh = shown(&scratch, fresh);
        assert!(fresh.iter().all(|ty| ty.contains(name)), "{fresh:?}");
        assert_eq!(shown(&db, file), fresh);
    }
}

/// Statements with the same operator, types and attributes are solved once, regardless of names and
/// positions.
#[test]
fn equal_statements_share_their_types() {
    let text = "def @main(%a: Tensor[(2, 3), float32], %b: Tensor[(3), float32]) {
  %0 = add(%a, %b);
  %1 = add(%0, %b);
  %10 = add(%b, %b);
  %11 = sum(%0, axis=[0]);
  %12 = sum(%1, axis=[1]);
  (%10, %11, %12)
}";
    let db = Database::new();
    let file = db.add_file(text, ParseLimits::default());
    let def = all_defs(&db, file).next().expect("a definition");
    let types = inference(&db, def);
    // The header precedes the statements.
    let shares = |a: usize, b: usize| Arc::ptr_eq(&types.units[a + 1], &types.units[b + 1]);
    assert!(shares(0, 1));
    assert!(!shares(0, 2) && !shares(3, 4));
    let result = types.signature.as_ref().expect("a type").to_string();
    assert!(
        result.ends_with("-> (Tensor[(3), float32], Tensor[(3), float32], Tensor[(2), float32])"),
        "{result}"
    );
}

/// Asserts that types and diagnostics after edits equal those of a fresh database.
fn assert_as_from_scratch(db: &Database, file: SourceFile, text: &str, what: &str) {
    let fresh = Database::new();
    let fresh_file = fresh.add_file(text, ParseLimits::default());
    assert_eq!(types_in(db, file), types_in(&fresh, fresh_file), "types {what}");
    assert_eq!(check_file(db, file), check_file(&fresh, fresh_file), "diagnostics {what}");
}

/// `RELAY_EDITS=200000` sets the least number of edits.
#[test]
fn results_after_edits_equal_those_of_a_fresh_database() {
    let least = variables::chosen("RELAY_EDITS").unwrap_or(9_000);
    note(&format!("{least} edits (RELAY_EDITS)"));
    let mut count = 0;
    for seed in 11.. {
        count += edits_equal_a_fresh_database(seed);
        if count >= least {
            break;
        }
    }
    println!("{count} edits");
}

/// Returns the number of edits.
fn edits_equal_a_fresh_database(seed: u64) -> usize {
    let mut count = 0;
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut texts = corpus::examples();
    texts.push(("chain".into(), corpus::chain(40)));
    for (name, mut text) in texts {
        for strict in [false, true] {
            let mut db = Database::new();
            db.set_tvm(strict);
            let file = db.add_file(&text, ParseLimits::default());
            let original = text.clone();
            for round in 0..150 {
                // Occasionally return to a valid text, so that results can be reused.
                let edit = if round % 15 == 14 {
                    let range = TextRange::up_to(syntax::TextSize::of(text.as_str()));
                    Edit { range, insert: original.clone() }
                } else {
                    edits::random(&mut rng, &text)
                };
                edit.apply(&mut text);
                db.apply(file, &edit);
                count += 1;
                let mut fresh = Database::new();
                fresh.set_tvm(strict);
                let fresh_file = fresh.add_file(&text, ParseLimits::default());
                let what = format!("of {name} after round {round}, strict {strict}:\n{text}");
                assert_eq!(types_in(&db, file), types_in(&fresh, fresh_file), "types {what}");
                assert_eq!(check_file(&db, file), check_file(&fresh, fresh_file), "{what}");
            }
            text = original;
        }
    }
    count
}

/// Equal statements that follow each other get findings, and lose them, when the types of what they use change.
#[test]
fn findings_of_equal_statements_follow_a_header() {
    let mut text = corpus::chain(40);
    let mut db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    for parameter in ["%x: ", "%w: "] {
        let at = text.find(parameter).expect("a parameter") + parameter.len();
        let mut before = "Tensor[(1, 64), float32]";
        let types = [
            "Tensor[(1, 1), float32]",
            "Tensor[(1, 6), float32]",
            "Tensor[(1, ?), float32]",
            "Tensor[(1, n), float32]",
            "Tensor[(1, 6_4), float32]",
            "Tensor[(3, 64), float32]",
            "Tensor[(1, 64), float16]",
            before,
        ];
        for first in types {
            for second in types {
                for after in [first, second] {
                    edited(&mut db, file, &mut text, at, before, after);
                    assert_as_from_scratch(
                        &db,
                        file,
                        &text,
                        &format!("{parameter}{before} to {after}"),
                    );
                    before = after;
                }
            }
        }
        edited(&mut db, file, &mut text, at, before, types[types.len() - 1]);
    }
}

/// A parameter whose type has an error is inferred in another way than a name that refers to nothing.
#[test]
fn names_of_unknown_type_become_unknown_names() {
    let mut text = "\
type Rows[A] {
  Empty,
  Row(A, Rows[A]),
}
def @sum(%rows: Rows[Tensor[(8), float32]], %start: Tensor[(8), floatt]) -> Tensor[(8), float32] {
  match (%rows) {
    Empty => %start,
    Row(%first, %rest) => @sum(%rest, add(%start, %first)),
  }
}
"
    .to_owned();
    let mut db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    let at = text.find("%start:").expect("a parameter");
    for (before, after) in [("%start", "%sart"), ("%sart", "%start")] {
        assert_as_from_scratch(&db, file, &text, before);
        edited(&mut db, file, &mut text, at, before, after);
        assert_as_from_scratch(&db, file, &text, after);
    }
}

/// The type of a definition without parameters shows the kinds of its type parameters.
#[test]
fn kinds_of_type_parameters_follow_their_declaration() {
    let mut text =
        "def @none<s: Shape>() -> bool { True }\ndef @main() -> bool { @none() }\n".to_owned();
    let mut db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    let at = text.find(": Shape").expect("a kind");
    for (before, after) in [(": Shape", ""), ("", ": BaseType"), (": BaseType", ": Shape")] {
        assert_as_from_scratch(&db, file, &text, before);
        edited(&mut db, file, &mut text, at, before, after);
        assert_as_from_scratch(&db, file, &text, after);
    }
}

/// `%t.0` is a variable of this name, or else a field of `%t`. Statements far below follow when either is bound or is no
/// longer bound above them.
#[test]
fn names_of_fields_follow_what_is_bound_before_them() {
    const BINDINGS: [&str; 3] =
        ["let %t = (%x, %x);\n", "let %t.0 = add(%x, 1f);\n", "let %u = %x;\n"];
    let mut heads = vec![String::new()];
    for first in BINDINGS {
        heads.push(first.to_owned());
        heads.extend(BINDINGS.map(|second| format!("{first}{second}")));
    }
    let mut text = "def @main(%x: Tensor[(2), float32]) {\n".to_owned();
    let start = text.len();
    // More than a chunk of other statements.
    (0..100).for_each(|k| text.push_str(&format!("let %v{k} = exp(%x);\n")));
    text.push_str("let %a = exp(%t.0);\nlet %b = %t.1;\n(%a, %b, %t.0)\n}\n");
    let mut db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    let mut head = "";
    for before in &heads {
        for after in &heads {
            for next in [before, after] {
                edited(&mut db, file, &mut text, start, head, next);
                head = next;
                assert_as_from_scratch(&db, file, &text, &format!("after\n{before}to\n{after}"));
            }
        }
    }
}

/// Results do not depend on earlier ones: without them, they are the same.
#[test]
fn results_do_not_depend_on_earlier_ones() {
    let mut text = corpus::chain(300);
    let mut db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    check_file(&db, file);
    for (old, new) in [("nn.relu", "sigmoid"), ("sigmoid", "nn.relu"), ("multiply", "add")] {
        db.forget_results(file);
        let at = text[..text.len() / 2].rfind(old).expect("a call");
        edited(&mut db, file, &mut text, at, old, new);
        assert_as_from_scratch(&db, file, &text, "without earlier results");
    }
}

/// Results do not depend on which earlier results a definition finds: any of them, also that of another
/// definition, gives the same types and diagnostics.
#[test]
fn results_do_not_depend_on_which_earlier_ones_are_found() {
    let mut rng = fastrand::Rng::with_seed(15);
    let mut texts = corpus::examples();
    // Definitions that differ in one place, so that they have many parts in common.
    let similar: String = ["nn.relu(%y)", "sigmoid(%y)", "%z", "nn.relu(%x)", "add(%y, @f0(%x))"]
        .iter()
        .enumerate()
        .map(|(number, value)| {
            format!(
                "def @f{number}(%x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {{\n  \
                 let %y = exp(%x);\n  let %z = {value};\n  add(%y, %z)\n}}\n"
            )
        })
        .collect();
    texts.push(("similar definitions".into(), similar.clone()));
    for (name, mut text) in texts {
        for strict in [false, true] {
            let mut db = Database::new();
            db.set_tvm(strict);
            let file = db.add_file(&text, ParseLimits::default());
            // So that a file with one definition, too, finds results of others.
            let other = db.add_file(&similar, ParseLimits::default());
            check_file(&db, file);
            check_file(&db, other);
            let original = text.clone();
            for round in 0..40 {
                db.permute_results(&[file, other]);
                let edit = edits::random(&mut rng, &text);
                edit.apply(&mut text);
                db.apply(file, &edit);
                let mut fresh = Database::new();
                fresh.set_tvm(strict);
                let fresh_file = fresh.add_file(&text, ParseLimits::default());
                let what = format!("of {name} after round {round}, strict {strict}:\n{text}");
                assert_eq!(types_in(&db, file), types_in(&fresh, fresh_file), "types {what}");
                assert_eq!(check_file(&db, file), check_file(&fresh, fresh_file), "{what}");
            }
            text = original;
        }
    }
}

/// Each letter of a name that is typed creates another definition; only the last one is kept.
#[test]
fn removed_definitions_are_evicted() {
    let mut text = "def @a(%x: int32) { %x }\ndef @b(%x: int32) { @a(%x) }\n".to_owned();
    let mut db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    check_file(&db, file);
    let kept = db.count_results(file);
    for _ in 0..20 {
        let at = text.find("(%x").expect("a header");
        edited(&mut db, file, &mut text, at, "", "a");
        assert_as_from_scratch(&db, file, &text, "with a longer name");
        // The one with the shorter name is kept until the next change.
        assert_eq!(db.count_results(file), kept + 1, "{text}");
    }
    db.free_replaced();
    assert_eq!(db.count_results(file), kept, "{text}");
    // An item without a body does not keep a removed definition from being evicted.
    edited(&mut db, file, &mut text, 0, "", "#[version = \"0.0.5\"]\ntype T { A }\n");
    let at = text.find("(%x").expect("a header");
    edited(&mut db, file, &mut text, at, "", "b");
    check_file(&db, file);
    db.free_replaced();
    assert_eq!(db.count_results(file), kept, "{text}");
    // Nothing is kept of a file that was closed.
    db.close(file);
    db.free_closed(&[file]);
    assert_eq!(db.count_results(file), 0);
}

/// An edit runs the queries of its definition and the summary of the file.
#[test]
fn edit_runs_only_queries_of_its_definition() {
    let mut text: String = (0..50)
        .map(|i| {
            format!("def @f{i}(%x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {{\n  nn.relu(%x)\n}}\n")
        })
        .collect();
    let (mut db, log) = Database::with_query_log();
    let file = db.add_file(&text, ParseLimits::default());
    check_file(&db, file);
    types_in(&db, file);
    let first = log.take();
    let count = |ran: &[String], query: &str| {
        ran.iter().filter(|name| name.split('(').next() == Some(query)).count()
    };
    assert_eq!(count(&first, "body"), 50, "{first:?}");
    assert_eq!(count(&first, "base_inference"), 50, "{first:?}");

    let at = text.find("nn.relu").expect("a call");
    edited(&mut db, file, &mut text, at, "nn.relu", "sigmoid");
    check_file(&db, file);
    let ran = log.take();
    let expected =
        [("modules", 1), ("body", 1), ("scopes", 1), ("base_inference", 1), ("check_file", 1)];
    for (query, times) in expected {
        assert_eq!(count(&ran, query), times, "{query} in {ran:?}");
    }
    assert_eq!(count(&ran, "module_types"), 0, "{ran:?}");

    // Preceding white space moves everything without changes.
    edited(&mut db, file, &mut text, 0, "", "\n\n");
    check_file(&db, file);
    let ran = log.take();
    assert_eq!((count(&ran, "body"), count(&ran, "base_inference")), (0, 0), "{ran:?}");

    // A repeated request runs nothing.
    check_file(&db, file);
    types_in(&db, file);
    assert_eq!(log.take(), [""; 0]);
}

/// A renamed type parameter has its new name in all types.
#[test]
fn renamed_type_parameters_are_shown() {
    let old = "type Box[A] {\n  Full(A),\n}\ndef @id[A](%x: A) -> A { %x }\ndef @main() { (Full, @id) }\n";
    let new = old.replace('A', "B");
    let mut text = old.to_owned();
    let mut db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    for (before, after) in [(old, &*new), (&*new, old)] {
        assert_as_from_scratch(&db, file, &text, "before the parameters are renamed");
        edited(&mut db, file, &mut text, 0, before, after);
        let name = |db: &Database, file: SourceFile| {
            let module = module(db, file, 0).expect("a module");
            let types = module_types(db, module);
            let defs = all_defs(db, file).map(|def| global_type(db, def).map(|ty| ty.to_string()));
            let defs: Vec<_> = defs.collect();
            (types.adt("Box").expect("a type").params[0].name().to_string(), defs)
        };
        let fresh = Database::new();
        let fresh_file = fresh.add_file(&text, ParseLimits::default());
        assert_eq!(name(&db, file), name(&fresh, fresh_file), "{text}");
        assert_as_from_scratch(&db, file, &text, "with renamed parameters");
    }
}
