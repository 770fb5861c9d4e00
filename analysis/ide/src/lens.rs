//! What stands above a definition: how often it is used, what it costs.
//!
//! A lens is a value of [`LensKind`]: a kind more is a lens more.

use rustc_hash::FxHashMap;
use semantics::{Db, Def, DefKind, Module, SourceFile, View, body::Name, modules, type_def};
use syntax::{
    Node, TextRange, TextSize,
    ast::{self, AstNode},
};

use crate::{live::is_runnable, place::trimmed, shapes, words};

/// How many sizes that are not known a lens explains.
const MOST_UNKNOWNS: usize = 3;
/// Headers on one line of more bytes than this can be wrapped: editors stop drawing such a line
/// after some thousand characters.
const LONG_HEADER: u32 = 5_000;

/// Something to show above a definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lens {
    /// The name of the definition.
    pub range: TextRange,
    /// What is shown.
    pub kind: LensKind,
}

/// What a lens shows.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LensKind {
    /// It can be run: the name of the function, empty for a bare expression.
    Run(String),
    /// Its header is one line that is too long to read: how many parameters it has.
    LongHeader(usize),
    /// Where the definition is used.
    References(Vec<TextRange>),
    /// What one run of the function takes.
    Cost {
        /// Elements of weights and constants, as people read them.
        params: String,
        /// Multiply-accumulates, as people read them.
        macs: String,
        /// What the sizes in them are that are not known: ``n1 is axis 0 of `%x` ``.
        unknowns: Vec<String>,
    },
}

impl Lens {
    /// What is written.
    pub fn title(&self) -> String {
        match &self.kind {
            LensKind::Run(_) => "▶ Run".to_owned(),
            LensKind::LongHeader(params) => {
                format!("Wrap Header ({})", words::counted(*params as u64, "parameter"))
            }
            LensKind::References(places) => words::counted(places.len() as u64, "reference"),
            LensKind::Cost { params, macs, unknowns } => {
                let mut title = format!("{params} parameters, {macs} MACs");
                if !unknowns.is_empty() {
                    title += &format!(", where {}", unknowns.join(", "));
                }
                title
            }
        }
    }
}

/// The lenses of a file, in the order of the text.
pub fn lenses(db: &dyn Db, file: SourceFile) -> Vec<Lens> {
    let mut found = Vec::new();
    for &module in modules(db, file) {
        let uses = uses(db, module);
        let defs: Vec<Def<'_>> = module
            .items(db)
            .iter()
            .copied()
            .filter(|def| matches!(def.kind(db), DefKind::Fn | DefKind::Type | DefKind::Expr))
            .collect();
        let costs = shapes::totals(db, &defs);
        for (def, cost) in defs.into_iter().zip(costs) {
            let kind = def.kind(db);
            let range = match kind {
                // An expression has no name: its first word stands for it.
                DefKind::Expr => {
                    let first = def.node(db).token_at(trimmed(def.node(db)).start());
                    first.map(|token| token.range()).unwrap_or_default()
                }
                _ => def.name_range(db),
            } + def.start(db);
            if range.is_empty() {
                continue;
            }
            let runs = kind != DefKind::Type && View::new(db, def).is_some_and(|v| is_runnable(&v));
            if runs {
                found.push(Lens { range, kind: LensKind::Run(def.name(db).to_string()) });
            }
            if kind == DefKind::Expr {
                continue;
            }
            if let Some(params) = params_of_long_header(def.node(db)) {
                found.push(Lens { range, kind: LensKind::LongHeader(params) });
            }
            let key = (def.kind(db), def.name(db).clone());
            // A name means its first definition; another one is used nowhere.
            let places = uses.get(&key).filter(|_| def.occurrence(db) == 0);
            let places = places.cloned().unwrap_or_default();
            // What a module is entered by is called from outside.
            if !(places.is_empty() && def.name(db) == "@main") {
                found.push(Lens { range, kind: LensKind::References(places) });
            }
            if let Some(cost) = cost.filter(|cost| cost.total.calls > 0) {
                let name = |unknown| cost.unknown_name(unknown);
                let text = |amount: &shapes::Amount| amount.text(&name, &words::short_number);
                let (params, macs) = (&cost.total.params, &cost.total.macs);
                let factors = params.terms().chain(macs.terms()).flat_map(|(factors, _)| factors);
                let mut numbers: Vec<_> = factors.map(|(unknown, _)| *unknown).collect();
                numbers.sort_unstable();
                numbers.dedup();
                let unknowns = numbers.iter().take(MOST_UNKNOWNS).filter_map(|&number| {
                    let unknown = cost.unknowns.get(number as usize)?;
                    Some(format!("{} is {}", unknown.name, unknown.what))
                });
                let kind = LensKind::Cost {
                    params: text(params),
                    macs: text(macs),
                    unknowns: unknowns.collect(),
                };
                found.push(Lens { range, kind });
            }
        }
    }
    found
}

/// How many parameters a function has, if they stand on one line that is too long to read.
fn params_of_long_header(def: Node<'_>) -> Option<usize> {
    let params = ast::FnDef::cast(def)?.params()?;
    let range = params.node().range();
    if u32::from(range.len()) < LONG_HEADER || params.node().to_string().contains('\n') {
        return None;
    }
    Some(params.params().count())
}

/// Where each function and type of a module is used, all in one pass.
fn uses(db: &dyn Db, module: Module<'_>) -> FxHashMap<(DefKind, Name), Vec<TextRange>> {
    let mut found: FxHashMap<(DefKind, Name), Vec<TextRange>> = FxHashMap::default();
    let mut add =
        |kind, name: &Name, range| found.entry((kind, name.clone())).or_default().push(range);
    let of_type = |range: TextRange, name: &Name, base: TextSize| {
        TextRange::at(range.start() + base, TextSize::of(name.as_str()))
    };
    for (count, &def) in module.items(db).iter().enumerate() {
        if count % 64 == 0 {
            db.unwind_if_revision_cancelled();
        }
        match def.kind(db) {
            DefKind::Fn | DefKind::Expr => {
                let body = semantics::body(db, def);
                for (unit, &start) in body.units.iter().zip(&body.starts) {
                    let base = start + def.start(db);
                    for (name, expr) in unit.globals() {
                        add(DefKind::Fn, name, unit.range(expr) + base);
                    }
                    for used in &unit.type_uses {
                        add(DefKind::Type, &used.name, of_type(used.range, &used.name, base));
                    }
                }
            }
            DefKind::Type => {
                for used in type_def(db, def).iter().flat_map(|data| &data.uses) {
                    let range = of_type(used.range, &used.name, def.start(db));
                    add(DefKind::Type, &used.name, range);
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::fixture::Fixture;

    #[test]
    fn long_headers() {
        let titles = |separator: &str| -> Vec<String> {
            let params: Vec<String> =
                (0..200).map(|k| format!("%w{k}: Tensor[(8, 8), float32]")).collect();
            let text = format!("def @main({}) {{ %w0 }}\n", params.join(separator));
            let fixture = Fixture::new(&text);
            super::lenses(&fixture.db, fixture.file).iter().map(super::Lens::title).collect()
        };
        assert_eq!(titles(", "), ["▶ Run", "Wrap Header (200 parameters)"]);
        assert_eq!(titles(",\n  "), ["▶ Run"]);
    }

    #[test]
    fn references_and_costs() {
        let fixture = Fixture::new(
            "
type Pair { P(int32, Pair) }
def @layer(%x: Tensor[(?, 8), float32], %w: Tensor[(8, 8), float32]) {
  nn.dense(%x, %w, units=8)
}
def @none(%p: Pair) { %p }
def @main(%x: Tensor[(3, 4096), float32], %w: Tensor[(4096, 4096), float32]) {
  (nn.dense(%x, %w, units=4096), @layer, @layer)
}
",
        );
        let mut out = String::new();
        for lens in super::lenses(&fixture.db, fixture.file) {
            let name = &fixture.text[std::ops::Range::<usize>::from(lens.range)];
            out += &format!("{name}: {}\n", lens.title());
        }
        expect![[r#"
            Pair: 2 references
            @layer: 2 references
            @layer: 64 parameters, 64·n1 MACs, where n1 is axis 0 of `%x`
            @none: 0 references
            @main: ▶ Run
            @main: 16.8 M parameters, 50.3 M MACs
        "#]]
        .assert_eq(&out);
    }
}
