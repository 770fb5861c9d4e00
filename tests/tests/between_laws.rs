//! Laws of comparison on the networks of the corpus: invariance under names, numbers and the order of
//! independent bindings, and symmetry.

use std::collections::HashMap;

use relay_tests::{
    command::{Folder, run_in},
    corpus,
};
use serde_json::Value;
use syntax::SyntaxKind;

/// The tokens of a text with their kinds.
fn tokens(text: &str) -> Vec<(SyntaxKind, &str)> {
    let mut start = 0;
    let tokens = syntax::tokens(text).map(|(kind, end)| {
        let token = &text[start..usize::from(end)];
        start = usize::from(end);
        (kind, token)
    });
    tokens.collect()
}

/// Renames each local variable and renumbers each graph variable.
fn renamed(text: &str) -> String {
    let mut names: HashMap<&str, String> = HashMap::new();
    let mut out = String::with_capacity(text.len());
    for (kind, token) in tokens(text) {
        let next = names.len();
        match kind {
            SyntaxKind::LOCAL => {
                out += names.entry(token).or_insert_with(|| format!("%other_{next}"));
            }
            SyntaxKind::GRAPH => {
                out += names.entry(token).or_insert_with(|| format!("%{}", 100_000 + next));
            }
            _ => out += token,
        }
    }
    out
}

/// Shuffles the bindings of each block such that each follows its dependencies. Multi-line bindings, and
/// those around them, keep their positions.
fn reordered(text: &str, random: &mut fastrand::Rng) -> String {
    let mut out = String::with_capacity(text.len());
    let mut block: Vec<&str> = Vec::new();
    for line in text.split_inclusive('\n') {
        let begins = line.starts_with("  %") || line.starts_with("  let %");
        let is_binding = begins && line.contains(" = ") && {
            let code: Vec<SyntaxKind> = tokens(line).iter().map(|(kind, _)| *kind).collect();
            !code.contains(&SyntaxKind::L_BRACE) && code.contains(&SyntaxKind::SEMICOLON)
        };
        if is_binding {
            block.push(line);
        } else {
            out.extend(shuffled(std::mem::take(&mut block), random));
            out += line;
        }
    }
    out.extend(shuffled(block, random));
    out
}

fn shuffled<'t>(block: Vec<&'t str>, random: &mut fastrand::Rng) -> Vec<&'t str> {
    let variables = |line: &'t str| -> Vec<&'t str> {
        let is_variable = |kind| matches!(kind, SyntaxKind::LOCAL | SyntaxKind::GRAPH);
        tokens(line).into_iter().filter(|(kind, _)| is_variable(*kind)).map(|(_, t)| t).collect()
    };
    let of: Vec<Vec<&str>> = block.iter().map(|line| variables(line)).collect();
    let binds: HashMap<&str, usize> =
        of.iter().zip(0..).map(|(names, at)| (names[0], at)).collect();
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); block.len()];
    let mut waits = vec![0; block.len()];
    for (at, names) in of.iter().enumerate() {
        for read in names[1..].iter().filter_map(|name| binds.get(name)) {
            readers[*read].push(at);
            waits[at] += 1;
        }
    }
    let mut ready: Vec<usize> = (0..block.len()).filter(|&at| waits[at] == 0).collect();
    let mut out = Vec::new();
    while !ready.is_empty() {
        let at = ready.swap_remove(random.usize(..ready.len()));
        out.push(block[at]);
        for &reader in &readers[at] {
            waits[reader] -= 1;
            if waits[reader] == 0 {
                ready.push(reader);
            }
        }
    }
    assert_eq!(out.len(), block.len(), "a binding is read before it is bound");
    out
}

/// Every network of the corpus equals itself after renaming, renumbering and reordering, and in `let`
/// form.
#[test]
fn names_and_order_are_ignored() {
    let Some(corpus) = corpus::conformance() else { return };
    let models = corpus.join("models");
    let mut random = fastrand::Rng::with_seed(16);
    let mut moved = 0;
    for (name, text) in corpus::relay_files(&models) {
        let shuffled = reordered(&text, &mut random);
        moved += usize::from(shuffled != text);
        let same = renamed(&shuffled);
        let folder = Folder::new(&format!("same-{name}"), &[("same.relay", same.as_bytes())]);
        let same = folder.path().join("same.relay");
        let mut others = vec![name.clone(), same.to_string_lossy().into_owned()];
        let anf = name.replace(".relay", "-anf.relay");
        if models.join(&anf).exists() {
            others.push(anf);
        }
        for other in others {
            let ran = run_in(&models, &["diff", &name, &other], b"");
            assert_eq!(ran.code, Some(0), "{name} and {other}: {}{}", ran.out, ran.err);
        }
    }
    assert!(moved >= 16, "{moved} networks had independent bindings to move");
}

/// The differences of B to A are those of A to B with exchanged sides.
#[test]
fn comparison_is_symmetric() {
    let Some(corpus) = corpus::conformance() else { return };
    let models = corpus.join("models");
    let pairs = [
        ("resnet18.relay", "resnet50.relay"),
        ("mlp.relay", "lstm10.relay"),
        ("dqn.relay", "mobilenet.relay"),
        ("squeezenet-bound.relay", "vgg16.relay"),
    ];
    for (a, b) in pairs {
        let compare = |a: &str, b: &str| -> Value {
            let ran = run_in(&models, &["diff", a, b, "--format", "json"], b"");
            serde_json::from_str(&ran.out).expect("JSON")
        };
        assert_eq!(pairs_of(&compare(a, b), false), pairs_of(&compare(b, a), true), "{a}, {b}");
    }
}

/// Returns the sorted ranges of pairs and of removed and added expressions.
fn pairs_of(diff: &Value, exchanged: bool) -> Vec<String> {
    let (before, after) = if exchanged { ("after", "before") } else { ("before", "after") };
    let (removed, added) = if exchanged { ("added", "removed") } else { ("removed", "added") };
    let mut all = Vec::new();
    for function in diff["functions"].as_array().expect("functions") {
        for pair in function["pairs"].as_array().into_iter().flatten() {
            all.push(format!("{} {} {}", pair[before], pair[after], pair["kind"]));
        }
        let lost = |list: &str| function[list].as_array().into_iter().flatten();
        all.extend(lost(removed).map(|place| format!("removed {place}")));
        all.extend(lost(added).map(|place| format!("added {place}")));
    }
    all.sort();
    all
}
