//! Layers: the trees of networks that people would draw, written in `layers/*.txt`, and laws.

use ide::layers::{FunctionLayers, Grouping, Layer, layers};
use relay_tests::{command::Folder, corpus};
use semantics::Database;
use syntax::{ParseLimits, TextRange};

fn layers_of(text: &str, grouping: Grouping) -> Vec<FunctionLayers> {
    let db = Database::new();
    let file = db.add_file(text, ParseLimits::default());
    layers(&db, file, None, grouping)
}

/// Returns a line for each layer: its name, its kind in brackets if it has a name of its own, and its repetitions.
fn outline(functions: &[FunctionLayers]) -> String {
    fn add(layers: &[Layer], depth: usize, out: &mut String) {
        for layer in layers {
            let kind = layer.other_kind().map(|kind| format!(" [{kind}]")).unwrap_or_default();
            let repeats = match layer.ranges.len() {
                1 => String::new(),
                count => format!(" × {count}"),
            };
            *out += &format!("{}{}{kind}{repeats}\n", "  ".repeat(depth), layer.name);
            add(&layer.layers, depth + 1, out);
        }
    }
    let mut out = String::new();
    for function in functions.iter().filter(|function| !function.layers.is_empty()) {
        out += &format!("{}\n", function.name);
        add(&function.layers, 1, &mut out);
    }
    out
}

/// The files have a section for all evidence, and one for what is found without names. `RELAY_WRITE=1` writes them.
#[test]
fn networks_have_the_layers_that_people_name() {
    let Some(models) = corpus::models() else { return };
    let folder = corpus::here().join("layers");
    let mut wrong = Vec::new();
    for (name, text) in models {
        let path = folder.join(format!("{}.txt", name.trim_end_matches(".relay")));
        let sections = [("names", Grouping::Names), ("found", Grouping::Found)];
        let found: String = sections
            .iter()
            .map(|(title, grouping)| {
                format!("## {title}\n{}", outline(&layers_of(&text, *grouping)))
            })
            .collect();
        if std::env::var_os("RELAY_WRITE").is_some() {
            std::fs::write(&path, &found).expect("a tree of layers is written");
        }
        let expected =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        if found != expected {
            wrong.push(format!("{name}: expected\n{expected}\nfound\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A network has the same layers in TVM's text format and in administrative normal form.
#[test]
fn layers_do_not_depend_on_the_form_of_the_text() {
    let Some(models) = corpus::models() else { return };
    let mut pairs = 0;
    for (name, text) in &models {
        let Some(plain) = name.strip_suffix("-anf.relay") else { continue };
        let is_plain = |other: &str| other.strip_suffix(".relay") == Some(plain);
        let Some((_, other)) = models.iter().find(|(other, _)| is_plain(other)) else { continue };
        let [a, b] = [text, other].map(|text| outline(&layers_of(text, Grouping::Names)));
        assert_eq!(a, b, "{name}");
        pairs += 1;
    }
    assert!(pairs > 5, "{pairs} networks in both forms");
}

/// The layers of a function are in order, do not overlap, and are inside of those around them.
#[test]
fn layers_are_nested() {
    fn check(layers: &[Layer], around: TextRange, name: &str) {
        let mut ranges: Vec<TextRange> = Vec::new();
        for layer in layers {
            assert!(layer.exceptions < layer.ranges.len(), "{name}: {layer:?}");
            assert_eq!(layer.ranges.len(), layer.rows.len(), "{name}");
            ranges.extend(&layer.ranges);
            check(&layer.layers, layer.ranges[layer.exemplar], name);
        }
        assert!(ranges.iter().all(|range| around.contains_range(*range)), "{name}: {ranges:?}");
        let overlap = ranges.windows(2).find(|pair| pair[0].end() > pair[1].start());
        assert!(overlap.is_none(), "{name}: {overlap:?}");
    }
    let Some(models) = corpus::models() else { return };
    for (name, text) in models {
        for grouping in [Grouping::Names, Grouping::Found] {
            for function in layers_of(&text, grouping) {
                check(&function.layers, function.range, &name);
            }
        }
        assert!(layers_of(&text, Grouping::Flat).iter().all(|function| function.layers.is_empty()));
    }
}

/// A transformer whose weights have the names of its modules.
fn transformer(layers: usize) -> String {
    let mut params = vec!["%x: Tensor[(4, 8), float32]".to_owned()];
    let mut body = String::new();
    let mut last = "%x".to_owned();
    for layer in 0..layers {
        let at = format!("%h{layer}");
        let weight = |name: &str| format!("%encoder.layer.{layer}.{name}.weight");
        for name in [
            "attention.query",
            "attention.key",
            "attention.value",
            "attention.output",
            "mlp.up",
            "mlp.down",
        ] {
            params.push(format!("{}: Tensor[(8, 8), float32]", weight(name)));
        }
        let dense = |to: &str, from: &str, name: &str| {
            format!("  let {at}{to} = nn.dense({from}, {}, units=8);\n", weight(name))
        };
        body += &dense("q", &last, "attention.query");
        body += &dense("k", &last, "attention.key");
        body += &dense("v", &last, "attention.value");
        body += &format!(
            "  let {at}s = nn.dense({at}q, {at}k, units=4);\n  let {at}p = nn.softmax({at}s);\n"
        );
        body += &format!(
            "  let {at}t = transpose({at}v, axes=[1, 0]);\n  let {at}c = nn.dense({at}p, {at}t, units=8);\n"
        );
        body += &dense("o", &format!("{at}c"), "attention.output");
        body += &format!("  let {at}a = add({last}, {at}o);\n");
        body += &dense("u", &format!("{at}a"), "mlp.up");
        body += &format!("  let {at}r = nn.relu({at}u);\n");
        body += &dense("d", &format!("{at}r"), "mlp.down");
        body += &format!("  let {at}z = add({at}a, {at}d);\n");
        last = format!("{at}z");
    }
    format!("def @main({}) {{\n{body}  {last}\n}}\n", params.join(", "))
}

#[test]
fn names_and_computation_agree_on_a_transformer() {
    let text = transformer(6);
    let named = outline(&layers_of(&text, Grouping::Names));
    let found = outline(&layers_of(&text, Grouping::Found));
    assert_eq!(
        named,
        "@main\n  layer 0–5 [transformer block] × 6\n    attention\n    mlp [feed-forward]\n"
    );
    assert_eq!(found, "@main\n  transformer block × 6\n    attention\n    feed-forward\n");
}

#[test]
fn unusual_functions_have_layers_or_none() {
    let cases = [
        "",
        "def @main() { 1 }",
        "def @main(%x: Tensor[(2), float32]) { nn.relu(%x) }",
        "def @f(%x: Tensor[(2), float32]) -> Tensor[(2), float32] { @f(@f(%x)) }",
        "def @f(%x: Tensor[(2), float32]) { @g(%x) }\ndef @g(%x: Tensor[(2), float32]) { @f(%x) }",
        "def @main(%x: Tensor[(2, 2), float32], %重み.層.1: Tensor[(2, 2), float32]) { nn.dense(%x, %重み.層.1) }",
        "def @main(%x: int32) { let %y = ; add(%x, %z",
    ];
    for text in cases {
        for grouping in [Grouping::Names, Grouping::Found, Grouping::Flat] {
            let functions = layers_of(text, grouping);
            assert!(functions.iter().all(|function| function.layers.is_empty()), "{text}");
        }
    }
}

#[test]
fn the_command_prints_a_tree_and_json() {
    let folder = Folder::new("layers", &[("net.relay", transformer(2).as_bytes())]);
    let tree = folder.run(&["layers", "net.relay"]);
    assert_eq!(tree.code, Some(0), "{}", tree.err);
    let expected = "\
@main                                26  1–29
└ layer 0–1 (transformer block) × 2  26  2–27   4×8 float32
  ├ attention                         9  2–10   4×8 float32
  └ mlp (feed-forward)                4  11–14  4×8 float32
";
    assert_eq!(tree.out, expected);
    let json = folder.run(&["layers", "net.relay", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).expect("a document");
    let group = &json["functions"][0]["groups"][0];
    assert_eq!(group["repeats"], 2);
    assert_eq!(group["calls"], 26);
    assert_eq!(group["ranges"].as_array().map(Vec::len), Some(2));
    assert_eq!(group["groups"][0]["kind"], "attention");
    let missing = folder.run(&["layers", "net.relay", "--function", "@nope"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.err.contains("there is no function `@nope` with calls"), "{}", missing.err);
}
