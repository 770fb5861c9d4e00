//! Exhaustiveness checking: the values that no arm of a `match` covers, and unreachable arms.
//!
//! ```text
//! match (%l) { Cons(_, Nil) => 1 }   // not covered: `Nil`, `Cons(_, Cons(_, _))`
//! ```
//!
//! The arms are compiled to a decision tree. A state of the search consists of the facts about the
//! value, and of the arms that may match it, each with its remaining tests. The first test of the
//! first arm splits a state: one state for each constructor that an arm tests there, and one for
//! all others. If the first arm has no tests left, it matches all values of the state; if no arm is
//! left, the values of the state are not covered. Wildcards are not tests, so that they are free;
//! the usual matrix of patterns has a column for each field of a constructor instead.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    adt::Adt,
    body::{Pattern, PatternKind},
    module::ModuleTypes,
};

/// The maximum number of missing patterns that are returned.
const MAX_MISSING: usize = 8;
/// The base of the limit on visited tests, and the limit for each written test: decision trees can
/// grow exponentially with the patterns.
const MIN_WORK: usize = 50_000;
const WORK_PER_TEST: usize = 64;

/// Returns true if a pattern matches any value, so that it is no test.
fn is_wildcard(pattern: &Pattern) -> bool {
    matches!(pattern.kind, PatternKind::Wildcard | PatternKind::Var(_))
}

/// Returns patterns for the values that no arm matches, at most [`MAX_MISSING`].
pub(crate) fn missing(types: &ModuleTypes, arms: &[&Pattern]) -> Vec<String> {
    Search::run(types, arms).missing
}

/// Returns the arms that match no values beyond those of the arms before them.
pub(crate) fn unreachable(types: &ModuleTypes, arms: &[&Pattern]) -> Vec<usize> {
    let search = Search::run(types, arms);
    // After the limit, the arms that were not reached are unknown.
    let dead =
        search.reached.iter().enumerate().filter(|(_, reached)| !**reached && search.complete);
    dead.map(|(arm, _)| arm).collect()
}

/// The type of the values at a place.
#[derive(Clone, Copy)]
enum DataType<'a> {
    Adt(&'a Adt),
    Tuple,
    Unknown,
}

/// A place in the matched value: the whole value, or a field of another place.
type PlaceId = usize;

/// A test of an arm: a pattern at a place that is not a wildcard.
type Test<'p> = (PlaceId, &'p Pattern);

/// The remaining tests of an arm, from the outside to the inside and from left to right. Arms of
/// different states share common tails.
type Tests<'p> = Chain<Test<'p>>;

/// A list that may share its tail with others.
type Chain<T> = Option<Rc<Link<T>>>;

struct Link<T> {
    item: T,
    rest: Chain<T>,
}

/// Drops the list in a loop: the default recursion would be deep for thousands of fields.
impl<T> Drop for Link<T> {
    fn drop(&mut self) {
        let mut rest = self.rest.take();
        while let Some(link) = rest {
            let Some(mut link) = Rc::into_inner(link) else { break };
            rest = link.rest.take();
        }
    }
}

fn link<T>(item: T, rest: Chain<T>) -> Chain<T> {
    Some(Rc::new(Link { item, rest }))
}

/// An arm that may match the values of a state.
#[derive(Clone)]
struct Row<'p> {
    arm: usize,
    tests: Tests<'p>,
}

/// The outermost constructor of a pattern, by which a state is split.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Head<'p> {
    Constructor(&'p str),
    Tuple(usize),
}

impl<'p> Head<'p> {
    fn of(pattern: &'p Pattern) -> Head<'p> {
        match &pattern.kind {
            // Never used: wildcards are not tests.
            PatternKind::Wildcard | PatternKind::Var(_) => Head::Tuple(0),
            PatternKind::Constructor(name, _) => Head::Constructor(name),
            PatternKind::Tuple(fields) => Head::Tuple(fields.len()),
        }
    }
}

/// The knowledge about the value at a place.
enum Knowledge<'p> {
    /// The value has this head.
    Is(Head<'p>),
    /// The value has none of these heads.
    IsNone(FxHashSet<Head<'p>>),
}

/// The facts about a value, the latest first.
type Facts<'p> = Chain<(PlaceId, Knowledge<'p>)>;

struct State<'p> {
    rows: Vec<Row<'p>>,
    facts: Facts<'p>,
    /// Set if there may be no such value: it is not reported as missing.
    may_be_empty: bool,
}

struct Search<'a> {
    types: &'a ModuleTypes,
    /// The place of each visited field of each place.
    places: FxHashMap<(PlaceId, usize), PlaceId>,
    /// The remaining number of tests that may be visited.
    work: usize,
    reached: Vec<bool>,
    missing: Vec<String>,
    /// Set if the search did not reach the limit.
    complete: bool,
}

impl<'a> Search<'a> {
    fn run(types: &'a ModuleTypes, arms: &[&Pattern]) -> Search<'a> {
        let mut search = Search {
            types,
            places: FxHashMap::default(),
            work: MIN_WORK,
            reached: vec![false; arms.len()],
            missing: Vec::new(),
            complete: true,
        };
        let whole: PlaceId = 0;
        let mut rows = Vec::new();
        for (arm, &pattern) in arms.iter().enumerate() {
            let tests = pattern.all().filter(|pattern| !is_wildcard(pattern)).count();
            search.work += tests.saturating_mul(WORK_PER_TEST);
            let tests = if tests == 0 { None } else { link((whole, pattern), None) };
            rows.push(Row { arm, tests });
        }
        // Each state consumes work, so that the loop terminates.
        let mut states = vec![State { rows, facts: None, may_be_empty: false }];
        while let Some(state) = states.pop() {
            if !search.split(state, &mut states) {
                search.complete = false;
                break;
            }
        }
        search
    }

    /// Decides a state, or splits it into `states`. Returns false at the limit.
    fn split<'p>(&mut self, state: State<'p>, states: &mut Vec<State<'p>>) -> bool {
        let Some(first) = state.rows.first() else {
            if !state.may_be_empty && self.missing.len() < MAX_MISSING {
                self.add_missing(&state.facts);
            }
            return true;
        };
        let Some(test) = &first.tests else {
            self.reached[first.arm] = true;
            return true;
        };
        let (place, pattern) = test.item;
        let data_type = self.data_type(pattern);
        // The rows of each head, in the order of the arms, and those of all other heads.
        let mut order: Vec<Head<'p>> = Vec::new();
        let mut by_head: FxHashMap<Head<'p>, Vec<Row<'p>>> = FxHashMap::default();
        let mut others: Vec<Row<'p>> = Vec::new();
        for row in &state.rows {
            let (tested, rest) = match self.take(row, place) {
                Some(found) => found,
                None => return false,
            };
            match tested {
                None => {
                    if !self.spend(by_head.len()) {
                        return false;
                    }
                    by_head.values_mut().for_each(|rows| rows.push(row.clone()));
                    others.push(row.clone());
                }
                Some(pattern) => {
                    let head = Head::of(pattern);
                    if !by_head.contains_key(&head) && !self.spend(others.len()) {
                        return false;
                    }
                    let tests = self.inside(place, pattern, rest);
                    let rows = by_head.entry(head).or_insert_with(|| {
                        order.push(head);
                        // A row without a test here applies to each head.
                        others.clone()
                    });
                    rows.push(Row { arm: row.arm, tests });
                }
            }
        }
        let belongs = |head: &Head<'p>| match (head, data_type) {
            (Head::Tuple(_), DataType::Tuple) => true,
            (Head::Constructor(name), DataType::Adt(adt)) => {
                self.types.constructor(name).is_some_and(|(of, _)| std::ptr::eq(of, adt))
            }
            _ => false,
        };
        let tested: FxHashSet<Head<'p>> = order.iter().copied().filter(belongs).collect();
        let left_out = match data_type {
            DataType::Tuple => false,
            DataType::Adt(adt) => tested.len() < adt.constructors.len(),
            DataType::Unknown => true,
        };
        // In the reverse order of the declarations, because `states` is a stack.
        order.sort_by_cached_key(|head| match head {
            Head::Constructor(name) => self.types.position(name),
            Head::Tuple(_) => None,
        });
        if left_out {
            let facts = match data_type {
                DataType::Unknown => state.facts.clone(),
                _ => link((place, Knowledge::IsNone(tested.clone())), state.facts.clone()),
            };
            states.push(State { rows: others, facts, may_be_empty: state.may_be_empty });
        }
        for head in order.into_iter().rev() {
            let rows = by_head.remove(&head).unwrap_or_default();
            let may_be_empty = state.may_be_empty || !tested.contains(&head);
            let facts = link((place, Knowledge::Is(head)), state.facts.clone());
            states.push(State { rows, facts, may_be_empty });
        }
        true
    }

    /// Consumes work. Returns false if there is not enough left.
    fn spend(&mut self, work: usize) -> bool {
        let left = self.work.checked_sub(work);
        self.work = left.unwrap_or_default();
        left.is_some()
    }

    /// Returns the test of a row at `place`, and its other tests; `None` at the limit.
    fn take<'p>(
        &mut self,
        row: &Row<'p>,
        place: PlaceId,
    ) -> Option<(Option<&'p Pattern>, Tests<'p>)> {
        let mut before: Vec<Test<'p>> = Vec::new();
        let mut next = &row.tests;
        loop {
            if !self.spend(1) {
                return None;
            }
            let Some(cell) = next else { return Some((None, None)) };
            if cell.item.0 == place {
                let rest = cell.rest.clone();
                let put = |rest, test| link(test, rest);
                return Some((Some(cell.item.1), before.into_iter().rev().fold(rest, put)));
            }
            before.push(cell.item);
            next = &cell.rest;
        }
    }

    /// Prepends the tests of the fields of `pattern` to `rest`.
    fn inside<'p>(&mut self, place: PlaceId, pattern: &'p Pattern, rest: Tests<'p>) -> Tests<'p> {
        let tested = pattern.fields().iter().enumerate().rev();
        let tested = tested.filter(|(_, field)| !is_wildcard(field));
        tested.fold(rest, |rest, (index, field)| {
            let next = self.places.len() + 1;
            let place = *self.places.entry((place, index)).or_insert(next);
            link((place, field), rest)
        })
    }

    /// Returns the type of the values that `pattern` may match.
    fn data_type(&self, pattern: &Pattern) -> DataType<'a> {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Var(_) => DataType::Unknown,
            PatternKind::Tuple(_) => DataType::Tuple,
            PatternKind::Constructor(name, _) => {
                let found = self.types.constructor(name);
                found.map_or(DataType::Unknown, |(adt, _)| DataType::Adt(adt))
            }
        }
    }

    /// Adds the patterns for the values with these facts.
    fn add_missing(&mut self, facts: &Facts<'_>) {
        let mut known: FxHashMap<PlaceId, &Knowledge<'_>> = FxHashMap::default();
        let mut next = facts;
        while let Some(facts) = next {
            known.entry(facts.item.0).or_insert(&facts.item.1);
            next = &facts.rest;
        }
        let found = self.patterns(0, &known);
        let capacity = MAX_MISSING - self.missing.len();
        self.missing.extend(found.into_iter().take(capacity));
    }

    /// Returns the missing patterns at a place, at most [`MAX_MISSING`]. The recursion is as deep
    /// as the written patterns, which the parser bounds.
    fn patterns(&self, place: PlaceId, known: &FxHashMap<PlaceId, &Knowledge<'_>>) -> Vec<String> {
        match known.get(&place) {
            None => vec!["_".to_owned()],
            Some(Knowledge::Is(Head::Tuple(width))) => self.fields(place, "", *width, known),
            Some(Knowledge::Is(Head::Constructor(name))) => {
                let found = self.types.constructor(name);
                let width = found.map_or(0, |(_, constructor)| constructor.fields.len());
                self.fields(place, name, width, known)
            }
            Some(Knowledge::IsNone(heads)) => {
                let adt = heads.iter().find_map(|head| match head {
                    Head::Constructor(name) => self.types.constructor(name),
                    Head::Tuple(_) => None,
                });
                let Some((adt, _)) = adt else { return vec!["_".to_owned()] };
                let is_left = |name: &str| !heads.contains(&Head::Constructor(name));
                let left = adt.constructors.iter().filter(|c| is_left(&c.name)).take(MAX_MISSING);
                let none = FxHashMap::default();
                left.flat_map(|c| self.fields(place, &c.name, c.fields.len(), &none)).collect()
            }
        }
    }

    /// Returns the patterns of a constructor `name` with `width` fields.
    fn fields(
        &self,
        place: PlaceId,
        name: &str,
        width: usize,
        known: &FxHashMap<PlaceId, &Knowledge<'_>>,
    ) -> Vec<String> {
        let mut texts = vec![name.to_owned()];
        if width == 0 && !name.is_empty() {
            return texts;
        }
        for index in 0..width {
            let field = self.places.get(&(place, index));
            let field = field.map_or_else(|| vec!["_".to_owned()], |&at| self.patterns(at, known));
            let between = if index == 0 { "(" } else { ", " };
            if let [field] = field.as_slice() {
                texts.iter_mut().for_each(|text| *text += &[between, field].concat());
                continue;
            }
            let with = |text: &String| {
                let text = text.clone();
                field.iter().map(move |field| [text.as_str(), between, field].concat())
            };
            texts = texts.iter().flat_map(with).take(MAX_MISSING).collect();
        }
        let end = if width == 0 { "()" } else { ")" };
        texts.iter_mut().for_each(|text| *text += end);
        texts
    }
}

#[cfg(test)]
mod tests;
