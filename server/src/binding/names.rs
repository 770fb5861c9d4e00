//! The names of parameters that became constants: a comment after each use keeps them, like those in
//! which TVM prints the source of an expression, as in `meta[relay.Constant][0] /* span=w:0:0 */`.

use std::collections::{BTreeMap, HashSet};

use ide::shapes::layer;
use semantics::View;
use syntax::{Node, SyntaxKind, TextRange};

/// Returns the comment that keeps the name of a parameter after its constant; none for the name that
/// the constant has anyway.
pub(super) fn note(name: &str, entry: usize) -> String {
    match name == plain(entry) {
        true => String::new(),
        false => format!(" /* span={name}:0:0 */"),
    }
}

/// Returns the name of a constant without a note.
fn plain(entry: impl std::fmt::Display) -> String {
    format!("constant_{entry}")
}

/// The comment after a constant that names its source.
#[derive(Clone)]
pub(super) struct Note {
    /// The range of the comment.
    pub(super) range: TextRange,
    source: String,
    /// True if the comment says nothing else.
    is_only: bool,
}

impl Note {
    /// Returns the first such comment after the expression at `range` of the file.
    pub(super) fn after(view: &View<'_>, range: TextRange) -> Option<Note> {
        let (root, start) = (view.def.node(view.db), view.def.start(view.db));
        let mut at = range.end().checked_sub(start)?;
        loop {
            let token = root.token_at(at).filter(|token| token.kind().is_trivia())?;
            at = token.range().end();
            let text = token.text().strip_prefix("/*").and_then(|text| text.strip_suffix("*/"));
            let Some((before, source)) = text.and_then(|text| text.rsplit_once("span=")) else {
                continue;
            };
            let is_only = before.trim().is_empty();
            let range = token.range() + start;
            return Some(Note { range, source: layer(source.trim()), is_only });
        }
    }

    /// Returns true if the comment only says that the source is called `name`.
    pub(super) fn is_only(&self, name: &str) -> bool {
        self.is_only && self.source == name
    }

    /// Returns the source as the name of a variable. TVM prints sources that no variable of its text
    /// is called, such as `aten::linear_0`: only a note of its own keeps such a name.
    fn name(&self) -> Option<&str> {
        let name = self.source.as_str();
        let parse = syntax::parse(&format!("def @f(%{name}: int32) {{ 0 }}"));
        let def = Node::root(&parse.green).child(SyntaxKind::FN_DEF)?;
        let param = def.child(SyntaxKind::PARAM_LIST)?.child(SyntaxKind::PARAM)?;
        let written = param.child(SyntaxKind::NAME)?;
        // A number is the name of a binding, which is unique in the module.
        let is_variable = usize::from(written.range().len()) == name.len() + 1
            && written.first_token().is_some_and(|token| token.kind() == SyntaxKind::LOCAL)
            && parse.errors.iter().all(|error| error.kind.is_compat());
        let is_readable = parse.errors.is_empty();
        (is_variable && (is_readable || self.is_only)).then_some(name)
    }
}

/// The names of parameters for constants, none of which is used in the function.
pub(super) struct Names {
    used: HashSet<String>,
    /// The names that notes keep, by entry.
    kept: BTreeMap<u32, String>,
}

impl Names {
    /// Collects the names in a function, and those of the notes after the uses of entries.
    pub(super) fn new<'n>(
        view: &View<'_>,
        uses: impl Iterator<Item = (u32, &'n Option<Note>)>,
    ) -> Names {
        let mut used: HashSet<String> = HashSet::new();
        for unit in &view.body.units {
            let binders = unit.binders.iter().map(|binder| &binder.name);
            let names = binders.chain(unit.frees.iter().map(|free| &free.name));
            used.extend(names.map(|name| name.trim_start_matches('%').to_owned()));
        }
        let mut kept = BTreeMap::new();
        for (entry, note) in uses {
            if let Some(name) = note.as_ref().and_then(Note::name)
                && !kept.contains_key(&entry)
                && used.insert(name.to_owned())
            {
                kept.insert(entry, name.to_owned());
            }
        }
        Names { used, kept }
    }

    /// Returns the name of the parameter for an entry: that of its note, or its number.
    pub(super) fn name_of(&mut self, entry: u32) -> String {
        if let Some(kept) = self.kept.remove(&entry) {
            return kept;
        }
        let mut name = plain(entry);
        // Each round makes the name longer than one more of the names that are used.
        while !self.used.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}
