//! How often a file uses each operator, and what follows what.

use operators::Operator;
use rustc_hash::FxHashMap;
use semantics::{Db, Def, DefKind, Module, body::Callee};
use syntax::TextSize;

/// What the calls of a module say about the next one.
#[derive(Default)]
pub(super) struct Usage {
    /// Calls of each operator.
    calls: Counts,
    /// Calls of each operator right behind one of that which is called in front of the cursor.
    behind: Counts,
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

    /// The share of an operator in all calls, in thousandths.
    fn share(&self, name: &str) -> u32 {
        let count = self.by_name.get(name).copied().unwrap_or(0);
        (u64::from(count) * 1000 / u64::from(self.sum + 1)) as u32
    }
}

impl Usage {
    /// Counts the calls of a module; the cursor is at `offset` of the file.
    pub(super) fn of(db: &dyn Db, module: Module<'_>, offset: TextSize) -> Usage {
        let mut usage = Usage::default();
        let defs = module.items(db).iter();
        let defs: Vec<Def<'_>> = defs
            .copied()
            .filter(|def| matches!(def.kind(db), DefKind::Fn | DefKind::Expr))
            .collect();
        let here = defs.iter().copied().rfind(|def| def.start(db) <= offset);
        // Nothing stands in front of the first call of a definition: `None` is followed, too.
        let last = here.and_then(|def| {
            let before = |start| start < offset;
            calls(db, def).take_while(|(start, _)| before(*start)).last().map(|(_, name)| name)
        });
        for def in defs {
            let mut previous: Option<&'static Operator> = None;
            for (_, operator) in calls(db, def) {
                usage.calls.add(operator);
                if previous == last {
                    usage.behind.add(operator);
                }
                previous = Some(operator);
            }
        }
        usage
    }

    /// How likely an operator is the next: the higher the more. What followed the last call
    /// elsewhere in the file counts most, then what the file uses, then what models use.
    pub(super) fn score(&self, operator: &Operator) -> u32 {
        /// About the sum of all counts.
        const ALL: u32 = 12_000;
        let common = u32::from(operators::commonness(operator.name));
        400 * self.behind.share(operator.name)
            + 100 * self.calls.share(operator.name)
            + 100 * common * 1000 / ALL
    }

    /// Whether the file, or many models, use the operator.
    pub(super) fn is_likely(&self, operator: &Operator) -> bool {
        /// One network, or as many tests.
        const MANY: u16 = 20;
        self.calls.by_name.contains_key(operator.name)
            || operators::commonness(operator.name) >= MANY
    }
}

/// The calls of operators in a definition in the order of their text, with where they stand.
fn calls<'db>(
    db: &'db dyn Db,
    def: Def<'db>,
) -> impl Iterator<Item = (TextSize, &'static Operator)> {
    let body = semantics::body(db, def);
    let start = def.start(db);
    (0..body.units.len()).flat_map(move |number| {
        let base = start + body.starts[number];
        let mut found: Vec<(TextSize, &'static Operator)> = body.units[number]
            .calls
            .iter()
            .filter_map(|call| match &call.callee {
                Callee::Operator(operator) => Some((call.callee_range.start() + base, *operator)),
                _ => None,
            })
            .collect();
        found.sort_by_key(|(start, _)| *start);
        found
    })
}
