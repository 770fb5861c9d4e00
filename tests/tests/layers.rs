//! Layers: the trees of networks that people would draw, written in `layers/*.txt`, and laws.

mod networks;

use ide::{
    folding::of_layers,
    layers::{Evidence, FunctionLayers, Grouping, Layer, layers, of_functions, shapes_by_layer},
    symbols::{listed_layers, outline},
};
use relay_tests::{
    client::{Client, at},
    command::Folder,
};
use semantics::Database;
use serde_json::{Value, json};
use syntax::{LineIndex, ParseLimits, TextRange, TextSize};

fn layers_of(text: &str, grouping: Grouping) -> Vec<FunctionLayers> {
    let db = Database::new();
    let file = db.add_file(text, ParseLimits::default());
    layers(&db, file, grouping).clone()
}

/// Returns a line for each layer: its name, its kind in brackets if it has a name of its own, and its repetitions.
fn tree(functions: &[FunctionLayers]) -> String {
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

/// How the layers of a dense block are put together.
#[derive(Clone, Copy, PartialEq)]
enum Dense {
    /// Each layer takes a concatenation of all results before it.
    All,
    /// Each layer ends with the concatenation of its input and its result.
    Pairs,
    /// Each layer takes the result of the one before it; the block ends with a concatenation of all.
    Chain,
}

/// Two dense blocks of six layers, whose variables and weights say nothing.
fn dense_network(how: Dense) -> String {
    let mut params = vec!["%x: Tensor[(1, 3, 64, 64), float32]".to_owned()];
    let mut body = Vec::new();
    fn bind(body: &mut Vec<String>, value: &str) -> String {
        body.push(format!("  %{} = {value};\n", body.len()));
        format!("%{}", body.len() - 1)
    }
    let mut convolution = |body: &mut Vec<String>,
                           from: &str,
                           [inputs, outputs, kernel]: [usize; 3]| {
        let weight = format!("%w{}", params.len());
        let padding = kernel / 2;
        params
            .push(format!("{weight}: Tensor[({outputs}, {inputs}, {kernel}, {kernel}), float32]"));
        bind(
            body,
            &format!(
                "nn.conv2d({from}, {weight}, padding=[{padding}, {padding}], channels={outputs}, kernel_size=[{kernel}, {kernel}])"
            ),
        )
    };
    let relu = |body: &mut Vec<String>, from: &str| bind(body, &format!("nn.relu({from})"));
    let join = |body: &mut Vec<String>, of: &[String]| {
        bind(body, &format!("concatenate(({}), axis=1)", of.join(", ")))
    };
    let mut last = convolution(&mut body, "%x", [3, 8, 3]);
    last = relu(&mut body, &last);
    let mut channels = 8;
    for block in 0..2 {
        let mut results = vec![last.clone()];
        for _ in 0..6 {
            if how == Dense::All && results.len() > 1 {
                last = join(&mut body, &results);
            }
            let inner = relu(&mut body, &last);
            let taken = if how == Dense::Chain && results.len() > 1 { 8 } else { channels };
            let inner = convolution(&mut body, &inner, [taken, 16, 1]);
            let inner = relu(&mut body, &inner);
            let result = convolution(&mut body, &inner, [16, 8, 3]);
            channels += 8;
            results.push(result.clone());
            last = match how {
                Dense::Pairs => join(&mut body, &[last, result]),
                _ => result,
            };
        }
        if how != Dense::Pairs {
            last = join(&mut body, &results);
        }
        if block == 0 {
            last = relu(&mut body, &last);
            last = convolution(&mut body, &last, [channels, 8, 1]);
            last = bind(
                &mut body,
                &format!("nn.avg_pool2d({last}, pool_size=[2, 2], strides=[2, 2])"),
            );
            channels = 8;
        }
    }
    last = bind(&mut body, &format!("nn.batch_flatten(nn.global_avg_pool2d({last}))"));
    format!(
        "def @main({}, %fc: Tensor[(10, {channels}), float32]) {{\n{}  nn.dense({last}, %fc, units=10)\n}}\n",
        params.join(", "),
        body.concat()
    )
}

/// However a framework writes them, and without any names.
#[test]
fn dense_blocks_have_transitions_between_them() {
    let expected = "@main\n  stem\n  dense block 1\n    dense layer × 6\n  transition 1\n  dense block 2\n    \
        dense layer × 6\n  head\n";
    for how in [Dense::All, Dense::Pairs, Dense::Chain] {
        assert_eq!(tree(&layers_of(&dense_network(how), Grouping::Names)), expected);
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
    let named = tree(&layers_of(&text, Grouping::Names));
    let found = tree(&layers_of(&text, Grouping::Found));
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
    let json: Value = serde_json::from_str(&json.out).expect("a document");
    let group = &json["functions"][0]["groups"][0];
    assert_eq!(group["repeats"], 2);
    assert_eq!(group["calls"], 26);
    assert_eq!(group["ranges"].as_array().map(Vec::len), Some(2));
    assert_eq!(group["groups"][0]["kind"], "attention");
    let missing = folder.run(&["layers", "net.relay", "--function", "@nope"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.err.contains("there is no function `@nope` with calls"), "{}", missing.err);
}

/// Returns the range of a name in a text.
fn offset(text: &str, of: &str) -> TextSize {
    TextSize::new(text.find(of).unwrap_or_else(|| panic!("{of}")) as u32 + 1)
}

#[test]
fn outline_has_each_repetition_with_its_parts() {
    let text = transformer(6);
    let db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    let symbols = outline(&db, file, Grouping::Names);
    let [main] = &symbols[..] else { panic!("{symbols:?}") };
    let [layers] = &main.children[..] else { panic!("{main:?}") };
    assert_eq!(layers.name, "layer 0–5");
    assert_eq!(layers.detail.as_deref(), Some("transformer block × 6, 78 calls"));
    let names: Vec<&str> = layers.children.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["layer 0", "layer 1", "layer 2", "layer 3", "layer 4", "layer 5"]);
    let [.., attention, feed_forward] = &layers.children[3].children[..] else {
        panic!("{layers:?}")
    };
    assert_eq!((attention.name.as_str(), feed_forward.name.as_str()), ("attention", "mlp"));
    let shown = |range: TextRange| &text[std::ops::Range::<usize>::from(range)];
    assert!(shown(attention.full).starts_with("let %h3q ="), "{}", shown(attention.full));
    assert!(shown(feed_forward.full).contains("%encoder.layer.3.mlp.down.weight"));
    let flat = outline(&db, file, Grouping::Flat);
    assert!(flat[0].children.is_empty(), "{flat:?}");
}

/// The entries of layers are inside of those around them, and beside one another, as LSP and breadcrumbs demand.
#[test]
fn layers_fold_where_their_lines_are_their_own() {
    let text = transformer(3);
    let db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    let lines = LineIndex::new(&text);
    let folds = of_layers(&db, file, Grouping::Names, &lines);
    let at: Vec<(u32, u32)> = folds
        .iter()
        .map(|fold| (lines.line_at(fold.range.start()), lines.line_at(fold.range.end())))
        .collect();
    // Attention begins with its layer.
    assert_eq!(at, [(1, 13), (10, 13), (14, 26), (23, 26), (27, 39), (36, 39)]);
    let on_one_line = text.replace('\n', " ");
    let file = db.add_file(&on_one_line, ParseLimits::default());
    let lines = LineIndex::new(&on_one_line);
    assert_eq!(of_layers(&db, file, Grouping::Names, &lines), []);
    assert_eq!(of_layers(&db, file, Grouping::Flat, &lines), []);
}

#[test]
fn a_binding_knows_its_layer_and_the_source_names_it() {
    let text = transformer(6);
    let db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    let at = |of: &str, grouping| ide::hover::layer(&db, file, offset(&text, of), grouping);
    let found = at("%h3u =", Grouping::Names);
    let expected = "in layer 3, mlp, with `%encoder.layer.3.mlp.up.weight`";
    assert_eq!(found.as_deref(), Some(expected));
    assert_eq!(at("%h3c =", Grouping::Names).as_deref(), Some("in layer 3, attention"));
    let found = at("%h3u =", Grouping::Found);
    let expected =
        "in transformer block 4 of 6, feed-forward, with `%encoder.layer.3.mlp.up.weight`";
    assert_eq!(found.as_deref(), Some(expected));
    assert_eq!(at("%x:", Grouping::Names), None);
    assert_eq!(at("%h3u =", Grouping::Flat), None);

    let listed = listed_layers(&db, file, Grouping::Names);
    let layer = listed.iter().find(|one| one.name == "encoder.layer.3").expect("the layer");
    assert_eq!(layer.range.start(), offset(&text, " let %h3q"));
    assert!(listed.iter().any(|one| one.name == "encoder.layer.3.attention"), "{listed:?}");
}

/// Where names and what is computed tell different layers, names win, and the evidence says so.
#[test]
fn the_evidence_says_what_won() {
    let text = transformer(6);
    let evidence = |grouping| {
        let functions = layers_of(&text, grouping);
        functions[0].layers[0].evidence.clone()
    };
    assert_eq!(evidence(Grouping::Names), [Evidence::Names, Evidence::Repeats]);
    assert_eq!(evidence(Grouping::Found), [Evidence::Computation, Evidence::Repeats]);
}

#[test]
fn names_of_every_script_are_names_of_layers() {
    for word in ["encoder", "кодировщик", "エンコーダ", "编码器", "مشفر", "😀"]
    {
        let text = transformer(4).replace("encoder", word).replace("mlp", word);
        let db = Database::new();
        let file = db.add_file(&text, ParseLimits::default());
        for grouping in [Grouping::Names, Grouping::Found] {
            let symbols = outline(&db, file, grouping);
            assert!(symbols.iter().all(|one| one.full.contains_range(one.focus)), "{symbols:?}");
        }
    }
}

/// Four times as many bindings take four times as long; quadratic work would take sixteen times as long.
#[test]
fn layers_of_50_000_bindings_take_linear_time() {
    let module = |count: usize| {
        let mut text =
            "def @main(%v0: Tensor[(4, 4), float32], %w: Tensor[(4, 4), float32]) {\n".to_owned();
        for at in 1..=count {
            let value = match at % 3 {
                0 => format!("nn.dense(%v{}, %w, units=4)", at - 1),
                1 => format!("nn.relu(%v{})", at - 1),
                _ => format!("add(%v{}, %v{})", at - 1, at.saturating_sub(3)),
            };
            text += &format!("  let %v{at} = {value};\n");
        }
        text + &format!("  %v{count}\n}}\n")
    };
    let time = |count: usize| {
        let text = module(count);
        let db = Database::new();
        let file = db.add_file(&text, ParseLimits::default());
        let rows = ide::shapes::shapes(&db, file, None);
        let run = |_| {
            let start = std::time::Instant::now();
            let found = of_functions(&db, file, &rows, Grouping::Names);
            assert_eq!(found[0].calls, count);
            start.elapsed()
        };
        // Another program may interrupt a run.
        (0..3).map(run).min().expect("three runs")
    };
    let (small, large) = (time(12_500), time(50_000));
    assert!(large < small * 12, "{small:?} for 12,500 bindings, {large:?} for 50,000");
}

#[test]
fn shapes_are_summed_by_layer() {
    let folder = Folder::new("layers-shapes", &[("net.relay", transformer(2).as_bytes())]);
    let table = folder.run(&["shapes", "net.relay", "--by", "layer"]);
    assert_eq!(table.code, Some(0), "{}", table.err);
    let expected = "\
@main (line 1)
  by layer                          calls parameters  MACs     bytes lines
  layer 0–1 (transformer block) × 2    26        768 3,584   3.0 KiB 2–27
    attention                           9        256 1,280   1.0 KiB 2–10
    mlp (feed-forward)                  4        128   512 512 bytes 11–14
total: 768 parameters (3.0 KiB), 3,584 MACs, 26 calls; peak memory 576 bytes at %h1s
";
    assert_eq!(table.out, expected);
    let csv = folder.run(&["shapes", "net.relay", "--by", "layer", "--format", "csv"]);
    let first = "function,depth,layer,first_line,last_line,calls,parameters,macs,bytes\r\n\
                 main,0,layer 0–1 (transformer block) × 2,2,27,26,768,";
    assert!(csv.out.starts_with(first), "{}", csv.out);
    let json = folder.run(&["shapes", "net.relay", "--format", "json"]);
    let json: Value = serde_json::from_str(&json.out).expect("a document");
    let layers = &json["functions"][0]["byLayer"];
    assert_eq!(layers[0]["parameters"]["value"], 768);
    assert_eq!(layers[1]["depth"], 1);
    let dot = folder.run(&["shapes", "net.relay", "--by", "layer", "--format", "dot"]);
    assert_eq!(dot.code, Some(2));
}

/// The weights of the steps of a recurrent network count once.
#[test]
fn shared_weights_count_once() {
    let mut text =
        "def @main(%x: Tensor[(4, 8), float32], %w: Tensor[(8, 8), float32]) {\n".to_owned();
    for at in 0..4 {
        let last = if at == 0 { "%x".to_owned() } else { format!("%b{}", at - 1) };
        text += &format!("  let %a{at} = nn.dense({last}, transpose(%w, axes=[1, 0]), units=8);\n");
        text += &format!("  let %b{at} = nn.relu(%a{at});\n");
    }
    text += "  %b3\n}\n";
    let db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    let (found, _) = shapes_by_layer(&db, file, None, Grouping::Found);
    let layers = &found[0].by_layer;
    assert_eq!(layers[0].name, "dense × 4");
    assert_eq!(layers[0].params, found[0].total.params);
    assert_eq!(layers[0].macs, found[0].total.macs);
}

#[test]
fn times_of_a_run_are_summed_by_layer() {
    let folder = Folder::new("layers-run", &[("net.relay", transformer(2).as_bytes())]);
    let run = folder.run(&["run", "net.relay", "--random", "1", "--profile", "--format", "json"]);
    let json: Value = serde_json::from_str(&run.out).expect(&run.err);
    let layers = json["profile"]["layers"].as_array().expect("layers");
    let names: Vec<(&str, u64, u64)> = layers
        .iter()
        .filter_map(|layer| {
            let calls = layer["calls"]["value"].as_u64()?;
            Some((layer["layer"].as_str()?, layer["depth"].as_u64()?, calls))
        })
        .collect();
    let expected = [
        ("layer 0–1 (transformer block) × 2", 0, 26),
        ("attention", 1, 18),
        ("mlp (feed-forward)", 1, 8),
    ];
    assert_eq!(names, expected);
}

#[test]
fn changes_and_errors_are_grouped_by_layer() {
    let before = transformer(3);
    let after = before.replace(
        "let %h1r = nn.relu(%h1u);",
        "let %h1w = nn.relu(%h1u);\n  let %h1r = multiply(%h1w, 1.5f);",
    );
    let files = [("a.relay", before.as_bytes()), ("b.relay", after.as_bytes())];
    let folder = Folder::new("layers-diff", &files);
    let diff = folder.run(&["diff", "a.relay", "b.relay"]);
    assert!(diff.out.contains("  by layer:\n    layer 1: 1 added\n"), "{}", diff.out);
    let json = folder.run(&["diff", "a.relay", "b.relay", "--format", "json"]);
    let json: Value = serde_json::from_str(&json.out).expect("a document");
    let layer = json!({ "layer": "layer 1", "changed": 0, "removed": 0, "added": 1 });
    assert_eq!(json["functions"][0]["layers"], json!([layer]));

    let after = before.replace("nn.relu(%h1u)", "tanh(%h1u)");
    let files = [("a.relay", before.as_bytes()), ("b.relay", after.as_bytes())];
    let folder = Folder::new("layers-compare", &files);
    let compared = folder.run(&["compare", "a.relay", "b.relay"]);
    assert_eq!(compared.code, Some(1), "{}", compared.err);
    assert!(compared.out.contains("  in layer 1, mlp\n"), "{}", compared.out);
    let (_, by_layer) = compared.out.split_once("largest errors by layer:\n").expect("a table");
    let names: Vec<&str> = by_layer.lines().filter_map(|line| line.get(2..9)).collect();
    assert_eq!(names, ["layer 1", "layer 2"], "{}", compared.out);
}

/// The outline, hovers and symbols of the workspace say where a binding is, by the evidence that the setting names.
#[test]
fn editors_show_the_layers_of_the_setting() {
    const URI: &str = "file:///net.relay";
    let abilities = json!({
        "general": { "positionEncodings": ["utf-8"] },
        "textDocument": { "documentSymbol": { "hierarchicalDocumentSymbolSupport": true } },
    });
    let text = transformer(30);
    assert!(text.len() > 16 << 10, "a long text");
    let line = text.lines().position(|line| line.contains("let %h3u =")).expect("the binding");
    let place = at(URI, line as u32, 8);
    let document = json!({ "textDocument": { "uri": URI } });
    for (setting, outermost, layer) in [
        ("names", Some("layer 0–29"), Some("in layer 3, mlp, with")),
        ("found", Some("transformer block"), Some("in transformer block 4 of 30, feed-forward")),
        ("flat", None, None),
    ] {
        let mut client = Client::start_with(abilities.clone(), json!({ "layers": setting }));
        client.open(URI, &text);
        let mut hover = || {
            let hover = client.request("textDocument/hover", place.clone());
            hover["result"]["contents"]["value"].as_str().unwrap_or_default().to_owned()
        };
        // The first hover of a version does not wait for layers.
        assert!(!hover().contains("\n\nin "), "{setting}");
        let found = hover();
        match layer {
            Some(layer) => assert!(found.contains(&format!("\n\n{layer}")), "{found}"),
            None => assert!(!found.contains("\n\nin "), "{found}"),
        }
        let symbols = client.request("textDocument/documentSymbol", document.clone());
        let main = &symbols["result"][0];
        assert_eq!(main["children"][0]["name"].as_str(), outermost, "{setting}");
        let folds = client.request("textDocument/foldingRange", document.clone());
        let fold = |fold: &Value| fold["startLine"] == 1 && fold["endLine"] == 13;
        let folds = folds["result"].as_array().expect("folding ranges");
        assert_eq!(folds.iter().any(fold), layer.is_some(), "{setting}");
        let query = json!({ "query": "encoder.layer.3.att" });
        let found = client.request("workspace/symbol", query);
        let first = &found["result"][0];
        let name = (setting == "names").then_some("encoder.layer.3.attention");
        assert_eq!(first["name"].as_str(), name, "{found}");
        assert_eq!(client.finish(), Some(0));
    }
}
