//! Which values no arm of a `match` takes, and which arms can never run.
//!
//! The usual matrix of patterns: a row an arm, specialised by the constructors of the first
//! column, until a row of nothing but wildcards is left or none at all.

use crate::{
    body::{Name, Pattern, PatternKind},
    module::ModuleTypes,
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

/// How many patterns are spelled out before the rest is left to the reader, and how much work is
/// done to find them.
const MAX_MISSING: usize = 8;
const MAX_STEPS: usize = 20_000;

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

    fn write(&self, out: &mut String) {
        let list = |fields: &[Shape], out: &mut String| {
            out.push('(');
            for (i, field) in fields.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                field.write(out);
            }
            out.push(')');
        };
        match self {
            Shape::Any => out.push('_'),
            Shape::Constructor(name, fields) => {
                out.push_str(name);
                if !fields.is_empty() {
                    list(fields, out);
                }
            }
            Shape::Tuple(fields) => list(fields, out),
        }
    }
}

type Row = Vec<Shape>;

/// Patterns for the values that no arm takes, spelled out; at most a handful.
pub(crate) fn missing(types: &ModuleTypes, arms: &[Shape]) -> Vec<String> {
    let rows: Vec<Row> = arms.iter().map(|arm| vec![arm.clone()]).collect();
    let mut search = Search { types, steps: 0 };
    let witnesses = search.uncovered(&rows, 1);
    witnesses
        .into_iter()
        .map(|row| {
            let mut text = String::new();
            row[0].write(&mut text);
            text
        })
        .collect()
}

/// The arms that take nothing which the arms before them leave.
pub(crate) fn unreachable(types: &ModuleTypes, arms: &[Shape]) -> Vec<usize> {
    let mut search = Search { types, steps: 0 };
    let mut rows: Vec<Row> = Vec::new();
    let mut dead = Vec::new();
    for (i, arm) in arms.iter().enumerate() {
        let row = vec![arm.clone()];
        if !search.useful(&rows, &row) {
            dead.push(i);
        }
        rows.push(row);
    }
    dead
}

struct Search<'a> {
    types: &'a ModuleTypes,
    steps: usize,
}

/// What the first column of a matrix is split by.
#[derive(Clone, PartialEq)]
enum Head {
    Constructor(Name, usize),
    Tuple(usize),
}

impl Head {
    fn of(shape: &Shape) -> Option<Head> {
        match shape {
            Shape::Any => None,
            Shape::Constructor(name, fields) => Some(Head::Constructor(name.clone(), fields.len())),
            Shape::Tuple(fields) => Some(Head::Tuple(fields.len())),
        }
    }

    fn arity(&self) -> usize {
        match self {
            Head::Constructor(_, n) | Head::Tuple(n) => *n,
        }
    }

    fn rebuild(&self, fields: Vec<Shape>) -> Shape {
        match self {
            Head::Constructor(name, _) => Shape::Constructor(name.clone(), fields),
            Head::Tuple(_) => Shape::Tuple(fields),
        }
    }
}

/// The rows that can take a value under `head`, with its fields in place of the first column.
fn specialise(rows: &[Row], head: &Head) -> Vec<Row> {
    rows.iter().filter_map(|row| specialise_row(row, head)).collect()
}

fn specialise_row(row: &Row, head: &Head) -> Option<Row> {
    let fields = match (&row[0], head) {
        (Shape::Any, _) => vec![Shape::Any; head.arity()],
        (Shape::Constructor(name, fields), Head::Constructor(other, n)) if name == other => {
            let mut fields = fields.clone();
            fields.resize(*n, Shape::Any);
            fields
        }
        (Shape::Tuple(fields), Head::Tuple(n)) => {
            let mut fields = fields.clone();
            fields.resize(*n, Shape::Any);
            fields
        }
        _ => return None,
    };
    Some(fields.into_iter().chain(row[1..].iter().cloned()).collect())
}

/// The rows that take any value in the first column, without it.
fn default_rows(rows: &[Row]) -> Vec<Row> {
    rows.iter().filter(|row| row[0] == Shape::Any).map(|row| row[1..].to_vec()).collect()
}

impl Search<'_> {
    /// All heads that values of the first column can have; nothing where that is not known.
    fn heads(&self, rows: &[Row]) -> Option<Vec<Head>> {
        let first = rows.iter().find_map(|row| Head::of(&row[0]))?;
        match first {
            Head::Tuple(_) => Some(vec![first]),
            Head::Constructor(name, _) => {
                let (adt, _) = self.types.constructor(&name)?;
                let heads = adt.constructors.iter();
                Some(heads.map(|c| Head::Constructor(c.name.clone(), c.fields.len())).collect())
            }
        }
    }

    /// Values that no row takes.
    fn uncovered(&mut self, rows: &[Row], width: usize) -> Vec<Row> {
        self.steps += 1;
        if width == 0 {
            return if rows.is_empty() { vec![Vec::new()] } else { Vec::new() };
        }
        if self.steps > MAX_STEPS {
            return Vec::new();
        }
        let Some(heads) = self.heads(rows) else {
            let rest = self.uncovered(&default_rows(rows), width - 1);
            let with_any = |row: Row| [vec![Shape::Any], row].concat();
            return rest.into_iter().map(with_any).collect();
        };
        let mut found = Vec::new();
        for head in heads {
            let arity = head.arity();
            for row in self.uncovered(&specialise(rows, &head), arity + width - 1) {
                let mut fields = row;
                let rest = fields.split_off(arity);
                found.push([vec![head.rebuild(fields)], rest].concat());
                if found.len() >= MAX_MISSING {
                    return found;
                }
            }
        }
        found
    }

    /// Whether `row` takes a value that none of `rows` does.
    fn useful(&mut self, rows: &[Row], row: &Row) -> bool {
        self.steps += 1;
        if row.is_empty() {
            return rows.is_empty();
        }
        if self.steps > MAX_STEPS {
            return true;
        }
        if let Some(head) = Head::of(&row[0]) {
            let Some(special) = specialise_row(row, &head) else { return true };
            return self.useful(&specialise(rows, &head), &special);
        }
        let Some(heads) = self.heads(rows) else {
            return self.useful(&default_rows(rows), &row[1..].to_vec());
        };
        let used: Vec<Head> = rows.iter().filter_map(|row| Head::of(&row[0])).collect();
        if heads.iter().any(|head| !used.contains(head)) {
            return self.useful(&default_rows(rows), &row[1..].to_vec());
        }
        heads.iter().any(|head| {
            specialise_row(row, head)
                .is_some_and(|special| self.useful(&specialise(rows, head), &special))
        })
    }
}
