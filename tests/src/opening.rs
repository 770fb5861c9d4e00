//! The steps of the analysis for opening a file and for one keystroke.

use ide::{inlay::HintOptions, layers::Grouping, lens, links};
use semantics::{
    Database, Def, DefKind, SourceFile, all_defs, body, check_file, inference, scopes, types_in,
};
use syntax::{Edit, LineIndex, ParseLimits, TextRange, TextSize, format, format::Style};

/// An open file, with the state of its steps.
pub struct OpenFile {
    /// The database, empty before the first step.
    pub db: Database,
    /// The file, after the first step.
    pub file: Option<SourceFile>,
    /// The text.
    pub text: String,
    lines: Option<LineIndex>,
}

/// One step, which relies on the previous ones in [`STEPS`].
pub struct Step {
    /// The name of the step.
    pub name: &'static str,
    run: fn(&mut OpenFile, SourceFile, &LineIndex),
}

impl OpenFile {
    /// Creates an unopened text.
    pub fn new(text: String) -> OpenFile {
        OpenFile { db: Database::new(), file: None, text, lines: None }
    }

    /// Runs one step.
    pub fn run(&mut self, step: &Step) {
        let file = match self.file {
            Some(file) => file,
            None => {
                let file = self.db.add_file(&self.text, ParseLimits::default());
                *self.file.insert(file)
            }
        };
        let lines = self.lines.take().unwrap_or_else(|| LineIndex::new(&self.text));
        (step.run)(self, file, &lines);
        self.lines = Some(lines);
    }

    /// Returns the range of the whole text.
    fn whole(&self) -> TextRange {
        TextRange::up_to(TextSize::of(self.text.as_str()))
    }

    /// Returns the first name on the line in the middle of the text, or in the second half of a single
    /// line; the middle if there is no name. In texts that repeat a piece, this is always the same name.
    fn middle(&self) -> TextSize {
        let lines = self.text.bytes().filter(|&byte| byte == b'\n').count();
        let from = if lines < 8 {
            self.text.len() / 2
        } else {
            self.text.match_indices('\n').nth(lines / 2).map_or(0, |(at, _)| at + 1)
        };
        let from = (0..=from).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or_default();
        let name = self.text[from..].find(['%', '@']).map_or(0, |after| after + 1);
        TextSize::new((from + name) as u32)
    }
}

/// Asserts that `file` contains exactly the bytes of the text, without copying them.
fn assert_lossless(opened: &OpenFile, file: SourceFile) {
    let parse = file.parse(&opened.db);
    assert_eq!(usize::from(parse.green.text_len()), opened.text.len(), "the tree lost something");
}

/// Returns the definitions of a file with a body.
fn computing(opened: &OpenFile, file: SourceFile) -> impl Iterator<Item = Def<'_>> {
    let computes = |kind| matches!(kind, DefKind::Fn | DefKind::Expr);
    all_defs(&opened.db, file).filter(move |def| computes(def.kind(&opened.db)))
}

/// The steps in their order.
pub const STEPS: &[Step] = &[
    Step { name: "parse", run: |opened, file, _| assert_lossless(opened, file) },
    Step {
        name: "bodies",
        run: |opened, file, _| computing(opened, file).for_each(|def| drop(body(&opened.db, def))),
    },
    Step {
        name: "names",
        run: |opened, file, _| {
            computing(opened, file).for_each(|def| drop(scopes(&opened.db, def)))
        },
    },
    Step {
        name: "inference",
        run: |opened, file, _| {
            computing(opened, file).for_each(|def| drop(inference(&opened.db, def)));
        },
    },
    Step { name: "check", run: |opened, file, _| drop(check_file(&opened.db, file)) },
    Step { name: "types", run: |opened, file, _| drop(types_in(&opened.db, file)) },
    Step {
        name: "tokens",
        run: |opened, file, _| drop(ide::highlight::highlight(&opened.db, file, None)),
    },
    Step {
        name: "symbols",
        run: |opened, file, _| {
            drop(ide::symbols::outline(&opened.db, file, Grouping::Names));
            drop(ide::symbols::listed(&file.parse(&opened.db)));
        },
    },
    Step {
        name: "folding",
        run: |opened, file, lines| drop(ide::folding::folds(&opened.db, file, lines)),
    },
    Step {
        name: "inlay hints",
        run: |opened, file, lines| {
            let wanted = HintOptions { types: true, parameters: true, block_ends: true };
            drop(ide::inlay::hints(&opened.db, file, lines, opened.whole(), wanted));
        },
    },
    Step { name: "lenses", run: |opened, file, _| drop(lens::lenses(&opened.db, file)) },
    Step { name: "links", run: |opened, file, _| drop(links::links(&opened.db, file)) },
    Step {
        name: "reading view",
        run: |opened, file, lines| drop(ide::reading::reading(&opened.db, file, lines)),
    },
    Step {
        name: "shapes",
        run: |opened, file, _| drop(ide::shapes::shapes(&opened.db, file, None)),
    },
    Step {
        name: "questions at a place",
        run: |opened, file, _| {
            let (db, at) = (&opened.db, opened.middle());
            drop(ide::hover::hover(db, file, at));
            drop(ide::goto::definition(db, file, at));
            drop(ide::references::references(db, file, at));
            drop(ide::signature::signature_help(db, file, at));
            drop(ide::selection::ranges(db, file, at));
            drop(ide::type_at::type_at(db, file, at));
            drop(ide::why::why_shape(db, file, at));
            drop(ide::linked::linked_ranges(db, file, at));
            let abilities = ide::completion::Abilities { snippets: true };
            drop(ide::completion::completions(db, file, at, abilities));
        },
    },
    Step {
        name: "rename",
        run: |opened, file, _| {
            drop(ide::rename::rename(&opened.db, file, opened.middle(), "renamed"))
        },
    },
    Step {
        name: "actions",
        run: |opened, file, _| {
            for range in [TextRange::empty(opened.middle()), opened.whole()] {
                drop(ide::actions::actions(&opened.db, file, range));
            }
        },
    },
    Step {
        name: "format",
        run: |opened, file, _| {
            let parse = file.parse(&opened.db);
            for style in [Style::Tvm, Style::Reading] {
                drop(format::format(&opened.text, &parse, style));
            }
        },
    },
    Step {
        name: "keystroke",
        run: |opened, file, _| {
            let range = TextRange::empty(opened.middle());
            let edit = Edit { range, insert: "q".into() };
            edit.apply(&mut opened.text);
            opened.db.apply(file, &edit);
            drop(check_file(&opened.db, file));
            let range = TextRange::at(range.start(), TextSize::of('q'));
            let edit = Edit { range, insert: String::new() };
            edit.apply(&mut opened.text);
            opened.db.apply(file, &edit);
            drop(check_file(&opened.db, file));
        },
    },
    Step {
        name: "check as TVM",
        run: |opened, file, _| {
            opened.db.set_tvm(true);
            drop(check_file(&opened.db, file));
            drop(types_in(&opened.db, file));
        },
    },
];

/// The number of actions that are resolved at each end of the list.
const MAX_RESOLVED: usize = 32;

/// Steps with several full checks, after [`STEPS`].
pub const HEAVY_STEPS: &[Step] = &[
    Step {
        name: "changes",
        run: |opened, file, _| {
            for range in [TextRange::empty(opened.middle()), opened.whole()] {
                // The user applies one action at a time. There is one for each error, and those for the
                // whole file come last.
                let actions = ide::actions::actions(&opened.db, file, range);
                let last = actions.len().saturating_sub(MAX_RESOLVED).max(MAX_RESOLVED);
                for action in actions.iter().take(MAX_RESOLVED).chain(actions.iter().skip(last)) {
                    // The reason of a refusal does not matter here.
                    drop(ide::actions::resolve(&opened.db, file, range, action.id));
                }
            }
        },
    },
    Step { name: "conversion", run: |opened, _, _| drop(semantics::to_tvm(&opened.text)) },
];
