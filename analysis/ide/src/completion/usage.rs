//! Statistics of the operators in a file, for ranking: which ones it uses, and which one usually
//! follows another, as `nn.bias_add` follows `nn.conv2d`.

use operators::Operator;
use rustc_hash::FxHashMap;
use semantics::{
    Db, Def, Module,
    body::{CallData, Callee, UnitId},
};
use syntax::TextSize;

/// The numbers of calls of each operator in a module.
#[derive(Default)]
pub(super) struct Usage {
    /// All calls.
    calls: Counts,
    /// The calls that directly follow a call of the operator that precedes the cursor.
    following: Counts,
}

#[derive(Default)]
struct Counts {
    by_name: FxHashMap<&'static str, u32>,
    sum: u32,
}

impl Counts {
    fn add(&mut self, operator: &'static Operator) {
        *self.by_name.entry(operator.name).or_default() += 1;
        self.sum += 1;
    }

    /// Returns the share of an operator in all calls, in thousandths.
    fn share(&self, name: &str) -> u32 {
        let count = self.by_name.get(name).copied().unwrap_or(0);
        (u64::from(count) * 1000 / u64::from(self.sum + 1)) as u32
    }
}

impl Usage {
    /// Counts the calls of a module for a cursor at `offset` of the file.
    pub(super) fn of(db: &dyn Db, module: Module<'_>, offset: TextSize) -> Usage {
        let mut usage = Usage::default();
        let defs = module.items(db).iter();
        let defs: Vec<Def<'_>> = defs.copied().filter(|def| def.kind(db).has_body()).collect();
        let here = defs.iter().copied().rfind(|def| def.start(db) <= offset);
        // `None` precedes the first call of a definition, so that first calls are counted, too.
        let last = here.and_then(|def| {
            let before = |start| start < offset;
            calls(db, def).take_while(|(start, _)| before(*start)).last().map(|(_, name)| name)
        });
        for def in defs {
            let mut previous: Option<&'static Operator> = None;
            for (_, operator) in calls(db, def) {
                usage.calls.add(operator);
                if previous == last {
                    usage.following.add(operator);
                }
                previous = Some(operator);
            }
        }
        usage
    }

    /// Returns the likelihood that an operator is called next; higher is more likely. Operators that
    /// follow the preceding one elsewhere in the file weigh most, then those that the file uses,
    /// then those that are common in models.
    pub(super) fn score(&self, operator: &Operator) -> u32 {
        /// The approximate sum of [`operators::usage_count`].
        const ALL: u32 = 12_000;
        let common = u32::from(operators::usage_count(operator.name));
        400 * self.following.share(operator.name)
            + 100 * self.calls.share(operator.name)
            + 100 * common * 1000 / ALL
    }

    /// Returns true if the file or many models use the operator.
    pub(super) fn is_likely(&self, operator: &Operator) -> bool {
        /// The number of uses from which an operator counts as common.
        const MANY: u16 = 20;
        self.calls.by_name.contains_key(operator.name)
            || operators::usage_count(operator.name) >= MANY
    }
}

/// Returns the calls of operators in a definition with their offsets in the file, in text order.
fn calls<'db>(
    db: &'db dyn Db,
    def: Def<'db>,
) -> impl Iterator<Item = (TextSize, &'static Operator)> {
    let (body, source) = (semantics::body(db, def), semantics::source_map(db, def));
    let start = def.start(db);
    (0..body.units.len() as u32).map(UnitId).flat_map(move |number| {
        let offset = |call: &CallData| source.range(number, call.callee_range).start() + start;
        let mut found: Vec<(TextSize, &'static Operator)> = body
            .unit(number)
            .calls
            .iter()
            .filter_map(|call| match &call.callee {
                Callee::Operator(operator) => Some((offset(call), *operator)),
                _ => None,
            })
            .collect();
        found.sort_by_key(|(start, _)| *start);
        found
    })
}
