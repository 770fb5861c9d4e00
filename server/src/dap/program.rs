//! The program that is debugged: its text at the launch, its points, and the positions of the client.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use interpreter::{Limits, Point, PointKind};
use semantics::{Database, Def, DefKind, Diagnostic, Severity, SourceFile, View, body::Callee};
use syntax::{Encoding, LineColumn, LineIndex, TextRange, TextSize};

use super::protocol::Source;
use crate::{
    analyzer::Options,
    input,
    project::{Project, Projects},
    run::failure,
};

/// How the client counts.
#[derive(Clone, Copy)]
pub(super) struct Positions {
    /// The number of the first line.
    pub(super) line: i64,
    /// The number of the first column; columns are UTF-16 code units.
    pub(super) column: i64,
}

/// A program. Its text stays that of the launch when the file is edited. Clones share all that is large.
#[derive(Clone)]
pub(super) struct Program {
    /// The database; clones share its results.
    pub(super) db: Database,
    /// The file.
    pub(super) file: SourceFile,
    /// Its text.
    pub(super) text: Arc<str>,
    /// The lines of the text.
    pub(super) lines: Arc<LineIndex>,
    /// The absolute path.
    pub(super) path: PathBuf,
    /// The settings of the analysis.
    pub(super) options: Options,
    /// The limits of a run.
    pub(super) limits: Limits,
    /// How the client counts.
    pub(super) positions: Positions,
    /// The errors of the text, at which runs stop.
    pub(super) errors: Vec<Diagnostic>,
    /// Computed by the first call of [`Program::points`]: a run without breakpoints needs none.
    points: Arc<OnceLock<Vec<Point>>>,
    /// Computed by the first call of [`Program::calls`].
    calls: Arc<OnceLock<Vec<TextRange>>>,
}

impl Program {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// The message for a file that cannot be read.
    pub(super) fn load(path: &Path, positions: Positions) -> Result<Program, String> {
        let path = std::path::absolute(path).map_err(|error| input::cannot_read(path, &error))?;
        let loaded = path.parent().and_then(|folder| Projects::default().of_folder(folder));
        let project = match &loaded {
            Some(loaded) if loaded.problems.is_empty() => (*loaded.project).clone(),
            Some(loaded) => {
                let shown = loaded.shown_path();
                return Err(format!("`{shown}` has problems: correct it, and start again"));
            }
            None => Project::default(),
        };
        let read = input::read_file(&path, project.code_size.unwrap_or(input::MAX_CODE))?;
        if let Some(problem) = &read.problem {
            return Err(format!("{}: {}", read.path, problem.message));
        }
        let options = Options { setup: project.setup().of_runs(), ..Options::from(&project) };
        let mut db = Database::new();
        db.set_up(&options.setup);
        let file = db.add_file(read.text.clone(), options.limits);
        db.set_levels(file, &options.levels);
        let found = semantics::check_file(&db, file);
        let errors = found.iter().filter(|d| d.severity == Severity::Error).cloned().collect();
        // A stop may last for hours.
        let limits = Limits { time: None, ..project.run_limits() };
        let lines = Arc::new(LineIndex::new(&read.text));
        let (points, calls) = (Arc::default(), Arc::default());
        let text = read.text.into();
        Ok(Program {
            db,
            file,
            text,
            lines,
            path,
            options,
            limits,
            positions,
            errors,
            points,
            calls,
        })
    }

    /// Returns the points of all definitions, in the order of the text.
    pub(super) fn points(&self) -> &[Point] {
        self.points.get_or_init(|| all_points(&self.db, self.file))
    }

    /// Returns the ranges of the calls of operators and functions in all definitions, by their beginnings.
    pub(super) fn calls(&self) -> &[TextRange] {
        self.calls.get_or_init(|| all_calls(&self.db, self.file))
    }

    /// Returns the source of the file.
    pub(super) fn source(&self) -> Source {
        let name = self.path.file_name().map(|name| name.to_string_lossy().into_owned());
        Source { name: name.unwrap_or_default(), path: self.path.display().to_string() }
    }

    /// Returns the text of a range.
    pub(super) fn at(&self, range: TextRange) -> &str {
        self.text.get(std::ops::Range::<usize>::from(range)).unwrap_or_default()
    }

    /// Returns the line and the column of an offset.
    pub(super) fn position(&self, offset: TextSize) -> (i64, i64) {
        let at = self.lines.line_column(offset, Encoding::Utf16);
        let Positions { line, column } = self.positions;
        (i64::from(at.line) + line, i64::from(at.column) + column)
    }

    /// Returns the 0-based line of an offset.
    pub(super) fn line(&self, offset: TextSize) -> u32 {
        self.lines.line_at(offset)
    }

    /// Returns the offset of a line and a column; the end of the text for a line after it.
    pub(super) fn offset(&self, (line, column): (i64, i64)) -> TextSize {
        let number = |at: i64, first: i64| u32::try_from(at.saturating_sub(first).max(0));
        let line = number(line, self.positions.line).unwrap_or(u32::MAX);
        let column = number(column, self.positions.column).unwrap_or(u32::MAX);
        let at = self.lines.offset(LineColumn { line, column }, Encoding::Utf16);
        at.unwrap_or(self.lines.text_len())
    }

    /// Returns the point before the body of a definition.
    pub(super) fn definition_point(&self, name: &str) -> Option<Point> {
        let mut defs = semantics::all_defs(&self.db, self.file);
        let def = defs.find(|def| def.kind(&self.db) == DefKind::Fn && def.name(&self.db) == name);
        let own = def?.range(&self.db);
        let is_entry =
            |point: &&Point| point.kind == PointKind::Definition && own.contains_range(point.range);
        self.points().iter().find(is_entry).copied()
    }

    /// Returns the definition at a place.
    pub(super) fn def_at(&self, at: TextSize) -> Option<Def<'_>> {
        semantics::def_at(&self.db, self.file, at).map(|(_, def)| def)
    }

    /// Describes the errors of the text in one line.
    pub(super) fn errors_in_short(&self) -> Option<String> {
        let first = self.errors.first()?;
        let line = self.line(first.range.start()) + 1;
        let count = ide::words::counted(self.errors.len() as u64, "error");
        let summary = failure::summary_of(first);
        Some(format!("the program has {count}, at which it stops: line {line}: {summary}"))
    }
}

/// Returns the ranges of the calls of operators and functions, not those of constructors, which evaluate nothing. Those
/// that are no points are nested, or follow a `=`.
fn all_calls(db: &Database, file: SourceFile) -> Vec<TextRange> {
    let views = semantics::all_defs(db, file).filter_map(|def| View::new(db, def));
    let mut all = Vec::new();
    for view in views {
        for (unit, _) in view.body.units() {
            let calls = view.calls(unit).filter(|(call, _)| match call.callee {
                Callee::Operator(operator) => view.types.constructor(operator.name).is_none(),
                Callee::Name(_) => false,
                Callee::Expr(_) => true,
            });
            all.extend(calls.map(|(_, range)| range));
        }
    }
    all.sort_by_key(|range| (range.start(), std::cmp::Reverse(range.end())));
    all
}

fn all_points(db: &Database, file: SourceFile) -> Vec<Point> {
    let views = semantics::all_defs(db, file).filter_map(|def| View::new(db, def));
    let mut points: Vec<Point> = views.flat_map(|view| interpreter::points(&view)).collect();
    points.sort_by_key(|point| (point.range.start(), point.range.end()));
    points
}
