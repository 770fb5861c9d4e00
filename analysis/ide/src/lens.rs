//! Code lenses: run, references and cost of a definition.

use std::cell::LazyCell;

use rustc_hash::FxHashMap;
use semantics::{Db, Def, DefKind, Module, Severity, SourceFile, View, body::Name, modules};
use syntax::{
    Node, TextRange, TextSize,
    ast::{self, AstNode},
};

use crate::{
    live::{is_in_header, is_runnable},
    place::trimmed,
    references::uses_in,
    shapes, words,
};

/// The maximal number of unknown sizes that a lens explains.
const MAX_UNKNOWNS: usize = 3;
/// The number of bytes from which a header on one line can be wrapped. Editors stop rendering a
/// line after several thousand characters.
const LONG_HEADER: u32 = 5_000;

/// A code lens above a definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lens {
    /// The range of the name of the definition.
    pub range: TextRange,
    /// The kind and its data.
    pub kind: LensKind,
}

/// The kind of a code lens.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LensKind {
    /// Runs a function.
    Run {
        /// The name, which is empty for a bare expression.
        name: String,
        /// The first error in the body, at which the run stops.
        error: Option<TextRange>,
    },
    /// Wraps a header that is one long line, with this number of parameters.
    LongHeader(usize),
    /// Lists the uses of the definition.
    References(Vec<TextRange>),
    /// Shows the cost of one run of the function.
    Cost {
        /// The number of elements of weights and constants, formatted.
        params: String,
        /// The number of multiply-accumulates, formatted.
        macs: String,
        /// Explanations of the unknown sizes in these numbers: ``n1 is axis 0 of `%x` ``.
        unknowns: Vec<String>,
        /// The first call that is not counted and why, if the number of multiply-accumulates is undefined.
        uncounted: Option<String>,
    },
}

impl Lens {
    /// Returns the title. `line` returns the line of an offset, from 0.
    pub fn title(&self, line: &dyn Fn(TextSize) -> u32) -> String {
        match &self.kind {
            LensKind::Run { error: None, .. } => "▶ Run".to_owned(),
            LensKind::Run { error: Some(error), .. } => {
                format!("▶ Run up to the error on line {}", line(error.start()) + 1)
            }
            LensKind::LongHeader(params) => {
                format!("Wrap Header ({})", words::counted(*params as u64, "parameter"))
            }
            LensKind::References(places) => words::counted(places.len() as u64, "reference"),
            LensKind::Cost { params, macs, unknowns, uncounted } => {
                let plural = |amount: &str| if amount == "1" { "" } else { "s" };
                let mut title =
                    format!("{params} parameter{}, {macs} MAC{}", plural(params), plural(macs));
                if let Some(uncounted) = uncounted {
                    title += &format!(" ({uncounted})");
                }
                if !unknowns.is_empty() {
                    title += &format!(", where {}", unknowns.join(", "));
                }
                title
            }
        }
    }
}

/// Returns the lenses of a file in text order.
pub fn lenses(db: &dyn Db, file: SourceFile) -> Vec<Lens> {
    let mut found = Vec::new();
    // They are searched for only if the file has a function that can be run.
    let errors = LazyCell::new(|| errors(db, file));
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
                // An expression has no name, so that the lens is placed at its first token.
                DefKind::Expr => {
                    let first = def.node(db).token_at(trimmed(def.node(db)).start());
                    first.map(|token| token.range()).unwrap_or_default()
                }
                _ => def.name_range(db),
            } + def.start(db);
            if range.is_empty() {
                continue;
            }
            let view = View::new(db, def).filter(|v| kind != DefKind::Type && is_runnable(v));
            if let Some(view) = view {
                let error = first_error(&errors, &view);
                // A function with an error in its header cannot be called.
                if error.is_none_or(|error| !is_in_header(&view, error)) {
                    let name = def.name(db).to_string();
                    found.push(Lens { range, kind: LensKind::Run { name, error } });
                }
            }
            if kind == DefKind::Expr {
                continue;
            }
            if let Some(params) = params_of_long_header(def.node(db)) {
                found.push(Lens { range, kind: LensKind::LongHeader(params) });
            }
            let key = (def.kind(db), def.name(db).clone());
            // A name resolves to its first definition, so that a duplicate has no references.
            let places = uses.get(&key).filter(|_| def.occurrence(db) == 0);
            let places = places.cloned().unwrap_or_default();
            // Without uses there is nothing to list, and `@main` is called from outside the module.
            if !places.is_empty() {
                found.push(Lens { range, kind: LensKind::References(places) });
            }
            // A cost of nothing is not worth a lens.
            let is_free = |total: &shapes::Total| total.params.is_zero() && total.macs.is_zero();
            if let Some(cost) = cost.filter(|cost| cost.total.calls > 0 && !is_free(&cost.total)) {
                let name = |unknown| cost.unknown_name(unknown);
                let text = |amount: &shapes::Amount| amount.text(&name, &words::short_number);
                let (params, macs) = (&cost.total.params, &cost.total.macs);
                let factors = params.terms().chain(macs.terms()).flat_map(|(factors, _)| factors);
                let mut numbers: Vec<_> = factors.map(|(unknown, _)| *unknown).collect();
                numbers.sort_unstable();
                numbers.dedup();
                let unknowns = numbers.iter().take(MAX_UNKNOWNS).filter_map(|&number| {
                    let unknown = cost.unknowns.get(number as usize)?;
                    Some(format!("{} is {}", unknown.name, unknown.what))
                });
                let kind =
                    LensKind::Cost {
                        params: text(params),
                        macs: text(macs),
                        unknowns: unknowns.collect(),
                        uncounted: cost.total.uncounted.as_ref().map(|first| {
                            format!("{} is not counted: {}", first.operator, first.why)
                        }),
                    };
                found.push(Lens { range, kind });
            }
        }
    }
    found
}

/// Returns the ranges of the errors of a file, in text order.
fn errors(db: &dyn Db, file: SourceFile) -> Vec<TextRange> {
    let found = semantics::check_file(db, file);
    // Settings make other findings errors, too, which no run stops at.
    let errors = found
        .iter()
        .filter(|d| d.severity == Severity::Error && d.code.severity() == Severity::Error);
    errors.map(|d| d.range).collect()
}

/// Returns the first error in a definition.
fn first_error(errors: &[TextRange], view: &View<'_>) -> Option<TextRange> {
    let own = view.def.range(view.db);
    let at = errors.partition_point(|range| range.start() < own.start());
    errors[at..].iter().copied().find(|range| own.contains_range(*range))
}

/// Returns the number of parameters of a function if its header is one long line.
fn params_of_long_header(def: Node<'_>) -> Option<usize> {
    let params = ast::FnDef::cast(def)?.params()?;
    let range = params.node().range();
    if u32::from(range.len()) < LONG_HEADER || params.node().to_string().contains('\n') {
        return None;
    }
    Some(params.params().count())
}

/// Returns the uses of each function and type of a module, collected in one pass.
fn uses(db: &dyn Db, module: Module<'_>) -> FxHashMap<(DefKind, Name), Vec<TextRange>> {
    let mut found: FxHashMap<(DefKind, Name), Vec<TextRange>> = FxHashMap::default();
    for (count, &def) in module.items(db).iter().enumerate() {
        if count % 64 == 0 {
            db.unwind_if_revision_cancelled();
        }
        uses_in(db, def, &mut |kind, name, range| {
            found.entry((kind, name.clone())).or_default().push(range);
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use syntax::LineIndex;

    use crate::fixture::Fixture;

    fn titles(fixture: &Fixture) -> Vec<String> {
        let lines = LineIndex::new(&fixture.text);
        super::lenses(&fixture.db, fixture.file)
            .iter()
            .map(|lens| lens.title(&|at| lines.line_at(at)))
            .collect()
    }

    /// A function with an error in its body runs up to it, one with an error in its header does not run.
    #[test]
    fn run_stops_at_an_error() {
        let fixture = Fixture::new(
            "
def @good(%x: Tensor[(3), float32]) { exp(%x) }
def @body(%x: Tensor[(3), float32]) {
  let %y = exp(%x);
  let %z = add(%y, ones(shape=[2], dtype=\"float32\"));
  %z
}
def @header(%x: Tensor[(3), float32]) -> { %x }
",
        );
        assert_eq!(titles(&fixture), ["▶ Run", "▶ Run up to the error on line 4"]);
    }

    #[test]
    fn long_header_on_one_line_can_be_wrapped() {
        let titles = |separator: &str| -> Vec<String> {
            let params: Vec<String> =
                (0..200).map(|k| format!("%w{k}: Tensor[(8, 8), float32]")).collect();
            let text = format!("def @main({}) {{ %w0 }}\n", params.join(separator));
            let fixture = Fixture::new(&text);
            titles(&fixture)
        };
        assert_eq!(titles(", "), ["▶ Run", "Wrap Header (200 parameters)"]);
        assert_eq!(titles(",\n  "), ["▶ Run"]);
    }

    /// Inputs are no parameters, and a cost of nothing has no lens.
    #[test]
    fn cost_counts_weights() {
        let fixture = Fixture::new(
            "
def @scale(%x: Tensor[(3), float32]) { %x * 2f }
def @bias(%x: Tensor[(3), float32], %b: Tensor[(1), float32]) { add(exp(%x), %b) }
def @sorted(%x: Tensor[(3), float32]) { argsort(%x, dtype=\"int32\") }
",
        );
        let titles = titles(&fixture);
        let sorted = "0 parameters, ? MACs (argsort is not counted: the number of comparisons depends on the algorithm)";
        let wanted = ["▶ Run", "▶ Run", "1 parameter, 0 MACs", "▶ Run", sorted];
        assert_eq!(titles, wanted);
    }

    #[test]
    fn lenses_show_references_and_cost() {
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
            out += &format!("{name}: {}\n", lens.title(&|_| 0));
        }
        expect![[r#"
            Pair: 2 references
            @layer: 2 references
            @layer: 64 parameters, 64·n1 MACs, where n1 is axis 0 of `%x`
            @main: ▶ Run
            @main: 16.8 M parameters, 50.3 M MACs
        "#]]
        .assert_eq(&out);
    }
}
