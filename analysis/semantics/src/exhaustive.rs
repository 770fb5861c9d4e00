//! Which values no arm of a `match` takes, and which arms can never run.
//!
//! The arms are made into a decision tree. A state of the search is what is known of the value so
//! far and the arms that still can take it, each with the tests that it has yet to pass. The first
//! test of the first arm splits a state: one state for each constructor that an arm asks for there,
//! and one for all others. An arm without tests that comes first takes all values of its state;
//! where no arm is left, the values of the state are missing. Wildcards are no tests and cost
//! nothing, however many fields a constructor has.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    body::{Name, Pattern, PatternKind},
    module::{Adt, ModuleTypes},
};

/// A pattern without places and names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Takes anything.
    Any,
    /// A constructor with its fields.
    Constructor(Name, Vec<Shape>),
    /// A tuple with its fields.
    Tuple(Vec<Shape>),
}

/// How many patterns are spelled out before the rest is left to the reader.
const MAX_MISSING: usize = 8;
/// How many tests are looked at before the search ends: this many, and this many for each test that
/// is written. Decision trees can grow exponentially with the patterns.
const MIN_WORK: usize = 50_000;
const WORK_PER_TEST: usize = 64;

impl Shape {
    /// The shape of a pattern.
    pub(crate) fn of(pattern: &Pattern) -> Shape {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Var(_) => Shape::Any,
            PatternKind::Constructor(name, fields) => {
                Shape::Constructor(name.clone(), fields.iter().map(Shape::of).collect())
            }
            PatternKind::Tuple(fields) => Shape::Tuple(fields.iter().map(Shape::of).collect()),
        }
    }

    /// How many tests the pattern is made of, itself included.
    fn tests(&self) -> usize {
        let (mut tests, mut next) = (0, vec![self]);
        while let Some(shape) = next.pop() {
            let (Shape::Constructor(_, fields) | Shape::Tuple(fields)) = shape else { continue };
            tests += 1;
            next.extend(fields);
        }
        tests
    }
}

/// Patterns for the values that no arm takes, spelled out; at most a handful.
pub(crate) fn missing(types: &ModuleTypes, arms: &[Shape]) -> Vec<String> {
    Search::run(types, arms).missing
}

/// The arms that take nothing which the arms before them leave.
pub(crate) fn unreachable(types: &ModuleTypes, arms: &[Shape]) -> Vec<usize> {
    let search = Search::run(types, arms);
    // A search that was given up does not know of the arms that it has not come to.
    let dead =
        search.reached.iter().enumerate().filter(|(_, reached)| !**reached && search.complete);
    dead.map(|(arm, _)| arm).collect()
}

/// What the values at a place are.
#[derive(Clone, Copy)]
enum DataType<'a> {
    Adt(&'a Adt),
    Tuple,
    Unknown,
}

/// A place in the value that is matched on: the whole, or a field of another place.
type PlaceId = usize;

/// A test that an arm makes: the pattern at a place, which is no wildcard.
type Test<'p> = (PlaceId, &'p Shape);

/// The tests that an arm has yet to pass, from the outside to the inside and from left to right.
/// Arms of different states share what they have in common.
type Tests<'p> = Option<Rc<Cell<'p>>>;

struct Cell<'p> {
    test: Test<'p>,
    rest: Tests<'p>,
}

/// Without recursion, which a thousand fields would make deep.
impl Drop for Cell<'_> {
    fn drop(&mut self) {
        let mut rest = self.rest.take();
        while let Some(cell) = rest {
            let Some(mut cell) = Rc::into_inner(cell) else { break };
            rest = cell.rest.take();
        }
    }
}

/// An arm that can take a value of a state.
#[derive(Clone)]
struct Row<'p> {
    arm: usize,
    tests: Tests<'p>,
}

/// What the patterns at a place are split by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Head<'p> {
    Constructor(&'p str),
    Tuple(usize),
}

impl<'p> Head<'p> {
    fn of(shape: &'p Shape) -> Head<'p> {
        match shape {
            // A tuple of no fields stands for what is never asked.
            Shape::Any => Head::Tuple(0),
            Shape::Constructor(name, _) => Head::Constructor(name),
            Shape::Tuple(fields) => Head::Tuple(fields.len()),
        }
    }
}

/// What is known of the value at a place.
enum Known<'p> {
    /// It was made so.
    Is(Head<'p>),
    /// It was made by one of the other constructors of the data type.
    IsNone(FxHashSet<Head<'p>>),
}

/// What is known of a value, the latest first.
struct Facts<'p> {
    place: PlaceId,
    known: Known<'p>,
    rest: Option<Rc<Facts<'p>>>,
}

/// As for [`Cell`].
impl Drop for Facts<'_> {
    fn drop(&mut self) {
        let mut rest = self.rest.take();
        while let Some(facts) = rest {
            let Some(mut facts) = Rc::into_inner(facts) else { break };
            rest = facts.rest.take();
        }
    }
}

struct State<'p> {
    rows: Vec<Row<'p>>,
    facts: Option<Rc<Facts<'p>>>,
    /// No value is like this, as far as is known: what it leaves is not missing.
    is_doubtful: bool,
}

struct Search<'a, 'p> {
    types: &'a ModuleTypes,
    /// The place of each field of each place that was asked for.
    places: FxHashMap<(PlaceId, usize), PlaceId>,
    /// How many tests may still be looked at.
    work: usize,
    reached: Vec<bool>,
    missing: Vec<String>,
    /// The search came to its end.
    complete: bool,
    arms: &'p [Shape],
}

impl<'a, 'p> Search<'a, 'p> {
    fn run(types: &'a ModuleTypes, arms: &'p [Shape]) -> Search<'a, 'p> {
        let mut search = Search {
            types,
            places: FxHashMap::default(),
            work: MIN_WORK,
            reached: vec![false; arms.len()],
            missing: Vec::new(),
            complete: true,
            arms,
        };
        let whole: PlaceId = 0;
        let mut rows = Vec::new();
        for (arm, shape) in search.arms.iter().enumerate() {
            search.work += shape.tests().saturating_mul(WORK_PER_TEST);
            let tests =
                (*shape != Shape::Any).then(|| Rc::new(Cell { test: (whole, shape), rest: None }));
            rows.push(Row { arm, tests });
        }
        // Each state takes from the work that is left, so that the loop ends.
        let mut states = vec![State { rows, facts: None, is_doubtful: false }];
        while let Some(state) = states.pop() {
            if !search.split(state, &mut states) {
                search.complete = false;
                break;
            }
        }
        search
    }

    /// Decides a state, or splits it into `states`. Says whether there was work left for it.
    fn split(&mut self, state: State<'p>, states: &mut Vec<State<'p>>) -> bool {
        let Some(first) = state.rows.first() else {
            if !state.is_doubtful && self.missing.len() < MAX_MISSING {
                self.spell(state.facts.as_deref());
            }
            return true;
        };
        let Some(test) = &first.tests else {
            self.reached[first.arm] = true;
            return true;
        };
        let place = test.test.0;
        let data_type = self.data_type(test.test.1);
        // The rows for each head, in the order of the arms, and those for all other heads.
        let mut order: Vec<Head<'p>> = Vec::new();
        let mut by_head: FxHashMap<Head<'p>, Vec<Row<'p>>> = FxHashMap::default();
        let mut others: Vec<Row<'p>> = Vec::new();
        for row in &state.rows {
            let (asked, rest) = match self.take(row, place) {
                Some(found) => found,
                None => return false,
            };
            match asked {
                None => {
                    if !self.spend(by_head.len()) {
                        return false;
                    }
                    by_head.values_mut().for_each(|rows| rows.push(row.clone()));
                    others.push(row.clone());
                }
                Some(shape) => {
                    let head = Head::of(shape);
                    if !by_head.contains_key(&head) && !self.spend(others.len()) {
                        return false;
                    }
                    let tests = self.inside(place, shape, rest);
                    let rows = by_head.entry(head).or_insert_with(|| {
                        order.push(head);
                        // What asks nothing here comes to each head.
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
        let asked: FxHashSet<Head<'p>> = order.iter().copied().filter(belongs).collect();
        let left_out = match data_type {
            DataType::Tuple => false,
            DataType::Adt(adt) => asked.len() < adt.constructors.len(),
            DataType::Unknown => true,
        };
        // In the order in which the constructors are declared; the last one that is put there is
        // looked at first.
        order.sort_by_cached_key(|head| match head {
            Head::Constructor(name) => self.types.position(name),
            Head::Tuple(_) => None,
        });
        if left_out {
            let known = match data_type {
                DataType::Unknown => None,
                _ => Some(Known::IsNone(asked.clone())),
            };
            let facts = match known {
                Some(known) => add(&state.facts, place, known),
                None => state.facts.clone(),
            };
            states.push(State { rows: others, facts, is_doubtful: state.is_doubtful });
        }
        for head in order.into_iter().rev() {
            let rows = by_head.remove(&head).unwrap_or_default();
            let is_doubtful = state.is_doubtful || !asked.contains(&head);
            let facts = add(&state.facts, place, Known::Is(head));
            states.push(State { rows, facts, is_doubtful });
        }
        true
    }

    /// Takes from the work that is left. Says whether there was as much.
    fn spend(&mut self, work: usize) -> bool {
        let left = self.work.checked_sub(work);
        self.work = left.unwrap_or_default();
        left.is_some()
    }

    /// What a row asks of `place`, and its other tests. Nothing, where no work is left.
    fn take(&mut self, row: &Row<'p>, place: PlaceId) -> Option<(Option<&'p Shape>, Tests<'p>)> {
        let mut before: Vec<Test<'p>> = Vec::new();
        let mut next = &row.tests;
        loop {
            if !self.spend(1) {
                return None;
            }
            let Some(cell) = next else { return Some((None, None)) };
            if cell.test.0 == place {
                let rest = cell.rest.clone();
                let put = |rest, test| Some(Rc::new(Cell { test, rest }));
                return Some((Some(cell.test.1), before.into_iter().rev().fold(rest, put)));
            }
            before.push(cell.test);
            next = &cell.rest;
        }
    }

    /// The tests of the fields of `shape` in front of `rest`.
    fn inside(&mut self, place: PlaceId, shape: &'p Shape, rest: Tests<'p>) -> Tests<'p> {
        let fields = match shape {
            Shape::Any => return rest,
            Shape::Constructor(_, fields) | Shape::Tuple(fields) => fields,
        };
        let asked = fields.iter().enumerate().rev().filter(|(_, field)| **field != Shape::Any);
        asked.fold(rest, |rest, (index, field)| {
            let next = self.places.len() + 1;
            let place = *self.places.entry((place, index)).or_insert(next);
            Some(Rc::new(Cell { test: (place, field), rest }))
        })
    }

    /// What all values at the place of `shape` are.
    fn data_type(&self, shape: &Shape) -> DataType<'a> {
        match shape {
            Shape::Any => DataType::Unknown,
            Shape::Tuple(_) => DataType::Tuple,
            Shape::Constructor(name, _) => {
                let found = self.types.constructor(name);
                found.map_or(DataType::Unknown, |(adt, _)| DataType::Adt(adt))
            }
        }
    }

    /// Adds the patterns for the values that are as `facts` say.
    fn spell(&mut self, facts: Option<&Facts<'p>>) {
        let mut known: FxHashMap<PlaceId, &Known<'p>> = FxHashMap::default();
        let mut next = facts;
        while let Some(facts) = next {
            known.entry(facts.place).or_insert(&facts.known);
            next = facts.rest.as_deref();
        }
        let found = self.patterns(0, &known);
        let room = MAX_MISSING - self.missing.len();
        self.missing.extend(found.into_iter().take(room));
    }

    /// The patterns at a place, at most a handful. The depth is that of the patterns that are
    /// written, which the parser bounds.
    fn patterns(&self, place: PlaceId, known: &FxHashMap<PlaceId, &Known<'p>>) -> Vec<String> {
        match known.get(&place) {
            None => vec!["_".to_owned()],
            Some(Known::Is(Head::Tuple(width))) => self.fields(place, "", *width, known),
            Some(Known::Is(Head::Constructor(name))) => {
                let found = self.types.constructor(name);
                let width = found.map_or(0, |(_, constructor)| constructor.fields.len());
                self.fields(place, name, width, known)
            }
            Some(Known::IsNone(heads)) => {
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

    /// The patterns of `width` fields behind `name`.
    fn fields(
        &self,
        place: PlaceId,
        name: &str,
        width: usize,
        known: &FxHashMap<PlaceId, &Known<'p>>,
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

/// Adds a fact to those of a state.
fn add<'p>(
    facts: &Option<Rc<Facts<'p>>>,
    place: PlaceId,
    known: Known<'p>,
) -> Option<Rc<Facts<'p>>> {
    Some(Rc::new(Facts { place, known, rest: facts.clone() }))
}

#[cfg(test)]
mod tests;
