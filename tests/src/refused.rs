//! Modules that TVM refuses, within networks.

use semantics::{Database, Severity, check_file};
use serde_json::Value;
use syntax::ParseLimits;

use crate::{command::Folder, corpus};

/// A network with a refused module in it.
#[derive(Clone, Debug)]
pub struct RefusedModule {
    /// The name of the case.
    pub id: String,
    /// The text.
    pub text: String,
    /// The code of the first error of the case, which the network with it has, too.
    pub code: String,
}

/// The result of a reduction.
#[derive(Clone, Debug)]
pub struct ReducedModule {
    /// The module.
    pub text: String,
    /// The number of its bindings.
    pub bindings: u64,
    /// The number of candidates that were tried.
    pub tried: u64,
    /// Those of them that were well-formed.
    pub formed: u64,
}

impl RefusedModule {
    /// Reduces the module to its error.
    ///
    /// # Panics
    /// That fails.
    pub fn reduce(&self) -> ReducedModule {
        let folder = Folder::new("reduce-refused", &[("a.relay", self.text.as_bytes())]);
        let keep = format!("code:{}", self.code);
        let args = ["reduce", "a.relay", "-o", "b.relay", "--keep", &keep, "--format", "json"];
        let run = folder.run(&args);
        let document: Value = serde_json::from_str(&run.out)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.id, run.err));
        let count = |value: &Value| value.as_u64().expect("a number");
        ReducedModule {
            text: folder.text("b.relay"),
            bindings: count(&document["bindings"][1]),
            tried: count(&document["tried"]),
            formed: count(&document["well_formed"]),
        }
    }
}

/// Returns the codes of the errors of a module.
pub fn errors(text: &str) -> Vec<String> {
    let mut db = Database::new();
    db.set_tvm(false);
    let file = db.add_file(text, ParseLimits::default());
    let found = check_file(&db, file);
    let errors = found.iter().filter(|d| d.severity == Severity::Error);
    errors.map(|d| d.code.name().to_owned()).collect()
}

/// Returns `most` networks with refused modules that are spread over the corpus, or as many as it has; `None` without it.
pub fn in_networks(most: usize) -> Option<impl Iterator<Item = RefusedModule>> {
    let cases = corpus::cases("reject.jsonl")?;
    let networks = [corpus::model("resnet50")?, corpus::model("bert-base")?];
    let is_simple =
        |text: &str| text.matches("def @").count() == 1 && !text.contains("#[metadata]");
    let simple: Vec<_> = cases.into_iter().filter(|(_, text)| is_simple(text)).collect();
    // Some of them are refused by TVM alone, or for what the network hides.
    let step = (simple.len() / (2 * most)).max(1);
    let all = simple.into_iter().step_by(step).enumerate().filter_map(move |(number, case)| {
        let (id, text) = case;
        let code = errors(&text).into_iter().next()?;
        let text = embedded(&networks[number % 2], &text, number % 4 > 1)?;
        errors(&text).contains(&code).then_some(RefusedModule { id, text, code })
    });
    Some(all.take(most))
}

/// Returns a network with a refused module in it: as another definition, or as a function in `@main`.
fn embedded(network: &str, refused: &str, is_local: bool) -> Option<String> {
    let start = refused.find("def @main")? + "def @main".len();
    let function = &refused[start..=refused.rfind('}')?];
    if !is_local {
        return Some(format!("{network}\ndef @rejected{function}\n"));
    }
    let main = network.find("def @main")?;
    let at = main + network[main..].find("{\n")? + 2;
    Some(format!("{}  let %rejected = fn{function};\n{}", &network[..at], &network[at..]))
}
