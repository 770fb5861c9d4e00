//! Layers of the networks of the corpus.

use std::sync::LazyLock;

use ide::{
    layers::{FunctionLayers, Grouping, Layer, layers},
    symbols::{OutlineEntry, outline},
};
use relay_tests::corpus;
use semantics::Database;
use syntax::{ParseLimits, TextRange};

use super::tree;

/// The layers of a network of the corpus, by names and as found without them, and the outlines that have them.
struct NetworkLayers {
    name: String,
    layers: [Vec<FunctionLayers>; 2],
    flat: Vec<FunctionLayers>,
    outlines: [Vec<OutlineEntry>; 2],
}

/// Returns the layers of the networks of the corpus, which are analysed once for all tests; `None` without it.
fn networks() -> Option<&'static [NetworkLayers]> {
    static NETWORKS: LazyLock<Option<Vec<NetworkLayers>>> = LazyLock::new(|| {
        let of_network = |(name, text): (String, String)| {
            let db = Database::new();
            let file = db.add_file(&text, ParseLimits::default());
            let groupings = [Grouping::Names, Grouping::Found];
            NetworkLayers {
                name,
                layers: groupings.map(|grouping| layers(&db, file, grouping).clone()),
                flat: layers(&db, file, Grouping::Flat).clone(),
                outlines: groupings.map(|grouping| outline(&db, file, grouping)),
            }
        };
        Some(corpus::models()?.into_iter().map(of_network).collect())
    });
    NETWORKS.as_deref()
}

/// The files have a section for all evidence, and one for what is found without names. `RELAY_WRITE=1` writes them.
#[test]
fn networks_have_the_layers_that_people_name() {
    let Some(networks) = networks() else { return };
    let folder = corpus::here().join("layers");
    let mut wrong = Vec::new();
    for NetworkLayers { name, layers, .. } in networks {
        let path = folder.join(format!("{}.txt", name.trim_end_matches(".relay")));
        let sections = ["names", "found"].iter().zip(layers);
        let found: String =
            sections.map(|(title, layers)| format!("## {title}\n{}", tree(layers))).collect();
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
    let Some(networks) = networks() else { return };
    let mut pairs = 0;
    for network in networks {
        let name = &network.name;
        let Some(plain) = name.strip_suffix("-anf.relay") else { continue };
        let is_plain = |other: &&NetworkLayers| other.name.strip_suffix(".relay") == Some(plain);
        let Some(other) = networks.iter().find(is_plain) else { continue };
        let [a, b] = [network, other].map(|network| tree(&network.layers[0]));
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
    for network in networks().into_iter().flatten() {
        for function in network.layers.iter().flatten() {
            check(&function.layers, function.range, &network.name);
        }
        assert!(network.flat.iter().all(|function| function.layers.is_empty()));
    }
}

#[test]
fn outlines_with_layers_are_nested() {
    fn check(symbols: &[OutlineEntry], around: Option<TextRange>, name: &str) -> usize {
        let mut count = 0;
        for symbol in symbols {
            assert!(symbol.full.contains_range(symbol.focus), "{name}: {symbol:?}");
            assert!(around.is_none_or(|around| around.contains_range(symbol.full)), "{name}");
            count += 1 + check(&symbol.children, Some(symbol.full), name);
        }
        let overlap = symbols.windows(2).find(|pair| pair[0].full.end() > pair[1].full.start());
        assert!(overlap.is_none(), "{name}: {overlap:?}");
        count
    }
    for NetworkLayers { name, outlines, .. } in networks().into_iter().flatten() {
        for outline in outlines {
            let count = check(outline, None, name);
            assert!(count < 3_000, "{name}: {count} entries");
        }
    }
}
