//! Parameters that become constants of the metadata section, and constants that become parameters.

mod names;
mod params;

use std::{
    collections::{BTreeMap, HashSet, btree_map},
    fs::File,
    io::{BufWriter, Write},
};

use ide::{
    edit::{apply_all, line_break, with_line_break},
    references::references,
};
use interpreter::Tensor;
use semantics::{
    Def, DefKind, Severity, View,
    body::{Expr, LocalRef, UnitId},
    metadata,
};
use syntax::TextRange;
use types::Type;
use weights::{CONSTANT, EMPTY, Header, Section, append};

use crate::{
    analyzer::Analyzer,
    files::Target,
    run::arguments,
    weights::{NamedArrays, decoded},
};
use names::{Names, Note};
use params::ParamList;

/// Analyzes a module, which must have no errors.
fn checked(text: &str) -> Result<Analyzer, String> {
    let mut analyzer = Analyzer::default();
    let found = analyzer.check(text).diagnostics;
    match found.iter().find(|diagnostic| diagnostic.severity == Severity::Error) {
        Some(error) => Err(format!("the module has an error: {}", error.message)),
        None => Ok(analyzer),
    }
}

/// Returns `@main`, which no other function may call: its parameters change.
fn main_of(analyzer: &mut Analyzer) -> Result<View<'_>, String> {
    let (db, file) = analyzer.database();
    let is_main = |def: &Def<'_>| def.kind(db) == DefKind::Fn && def.name(db) == "@main";
    let view = semantics::all_defs(db, file).find(is_main).and_then(|def| View::new(db, def));
    let view = view.ok_or_else(|| "the module has no function `@main`".to_owned())?;
    match semantics::users_of(db, view.module, "@main").next() {
        Some(_) => {
            Err("`@main` is called in the module, so that its parameters must stay".to_owned())
        }
        None => Ok(view),
    }
}

/// Returns the list of parameters of a function.
fn list_of<'t>(view: &View<'_>, code: &'t str) -> Result<ParamList<'t>, String> {
    ParamList::new(code, view.def.node(view.db), view.def.start(view.db))
        .ok_or_else(|| "`@main` has no list of parameters".to_owned())
}

/// Writes a module whose parameters of `@main` are constants where an array has their name. Returns
/// the names of these parameters.
///
/// # Errors
/// The message if the module has errors, nothing is bound, an array has another type, or a file
/// cannot be read or written.
pub(crate) fn bind(
    text: &str,
    known: &NamedArrays,
    output: &Target,
) -> Result<Vec<String>, String> {
    let mut analyzer = checked(text)?;
    let view = main_of(&mut analyzer)?;
    let (db, file) = (view.db, view.def.file(view.db));
    let parts = weights::split(text.as_bytes()).map_err(|error| error.to_string())?;
    let old = if parts.section.is_empty() { EMPTY } else { parts.section };
    let section = Section::scan(old.as_bytes());
    let (mut edits, mut bound): (Vec<(TextRange, String)>, Vec<String>) = (Vec::new(), Vec::new());
    let mut uses: Vec<(TextRange, usize)> = Vec::new();
    let mut removed: HashSet<usize> = HashSet::new();
    let params = view.body.header().map(|header| header.params.as_slice()).unwrap_or_default();
    for (number, &binder) in params.iter().enumerate() {
        let binding = LocalRef { unit: UnitId::HEADER, binder };
        let name = view.binder(binding).name.trim_start_matches('%').to_owned();
        let Some((dtype, shape)) = known.type_of(&name)? else { continue };
        let declared = view.binding_type(binding);
        // As a run takes the array for the parameter.
        arguments::takes(declared, dtype, &shape)
            .map_err(|is| format!("`%{name}` is of type {declared}, and {is}"))?;
        removed.insert(number);
        let range = view.binding_range(binding);
        let places = references(db, file, range.start()).unwrap_or_default();
        let places = places.into_iter().filter(|place| !place.is_definition);
        uses.extend(places.map(|place| (place.range, bound.len())));
        bound.push(name);
    }
    if bound.is_empty() {
        return Err("no parameter of `@main` has the name of an array".to_owned());
    }
    // What no use refers to needs no entry. The others are numbered in the order of the text, as TVM
    // numbers them.
    uses.sort_by_key(|(range, _)| range.start());
    let mut entries: Vec<usize> = Vec::new();
    let appended = append(old, &section, 0)
        .ok_or_else(|| "constants cannot be added to the metadata section".to_owned())?;
    for (range, param) in uses {
        let entry = entries.iter().position(|known| *known == param).unwrap_or_else(|| {
            entries.push(param);
            entries.len() - 1
        });
        let number = appended.first as usize + entry;
        let note = names::note(&bound[param], number);
        edits.push((range, format!("meta[{CONSTANT}][{number}]{note}")));
    }
    edits.extend(list_of(&view, parts.code)?.without(|number| removed.contains(&number)));
    let code = apply_all(parts.code, &edits);
    let appended = append(old, &section, entries.len())
        .ok_or_else(|| "constants cannot be added to the metadata section".to_owned())?;
    let line_break = line_break(parts.code);
    let mut problem = None;
    let written = output.write(|out| {
        // What is new has the line breaks of the code.
        let add = |out: &mut BufWriter<File>, text: &str| {
            out.write_all(with_line_break(text, line_break).as_bytes())
        };
        let copy = |out: &mut BufWriter<File>, part: &str| match parts.section.is_empty() {
            true => add(out, part),
            false => out.write_all(part.as_bytes()),
        };
        out.write_all(code.as_bytes())?;
        if parts.section.is_empty() && !code.ends_with(&line_break.repeat(2)) {
            out.write_all(line_break.as_bytes())?;
        }
        let mut at = 0;
        for (place, inserted) in &appended.inserted {
            copy(out, &old[at..*place])?;
            add(out, inserted)?;
            at = *place;
        }
        copy(out, &old[at..appended.arrays])?;
        for (number, &param) in entries.iter().enumerate() {
            let tensor = match known.read(&bound[param]) {
                Ok(tensor) => tensor,
                Err(message) => {
                    problem = Some(message);
                    return Err(std::io::Error::other("it is incomplete"));
                }
            };
            let comma = if appended.follows || number > 0 { ", \n    \"" } else { "\n    \"" };
            add(out, comma)?;
            let header = Header::write(tensor.dtype(), tensor.shape()).unwrap_or_default();
            weights::encode(out, &header, |to| tensor.write_le(|part| to.write_all(part)))?;
            out.write_all(b"\"")?;
        }
        if !appended.follows && !entries.is_empty() {
            add(out, "\n  ")?;
        }
        copy(out, &old[appended.arrays..])
    });
    match (problem, written) {
        (Some(message), _) => Err(message),
        (None, written) => written.map(|_| bound).map_err(|error| output.error(&error)),
    }
}

/// Writes a module whose constants in `@main` are parameters, and the tensors by the names of these
/// parameters. Returns the names.
///
/// # Errors
/// The message if the module has errors, has no constants, or a file cannot be read or written.
pub(crate) fn lift(
    text: &str,
    output: &Target,
    params: Option<&Target>,
) -> Result<Vec<String>, String> {
    let mut analyzer = checked(text)?;
    let view = main_of(&mut analyzer)?;
    let db = view.db;
    let data = metadata(db, view.module)
        .ok_or_else(|| "the module has no metadata section, and no constants".to_owned())?;
    let section = data.weights().section();
    // The constants of `@main` in the order of the text, with their uses.
    let mut uses: Vec<(TextRange, u32)> = Vec::new();
    for (number, _) in view.body.units() {
        for (_, expr, range) in view.exprs(number) {
            if let Expr::Meta(meta) = expr
                && meta.key == CONSTANT
            {
                uses.push((range, meta.index));
            }
        }
    }
    uses.sort_by_key(|(range, _)| range.start());
    let notes: Vec<Option<Note>> =
        uses.iter().map(|(range, _)| Note::after(&view, *range)).collect();
    let mut chosen = Names::new(&view, uses.iter().map(|(_, entry)| *entry).zip(&notes));
    let mut names: BTreeMap<u32, String> = BTreeMap::new();
    let mut added = Vec::new();
    let mut edits = Vec::new();
    for ((range, entry), note) in uses.into_iter().zip(notes) {
        if let btree_map::Entry::Vacant(place) = names.entry(entry) {
            let array = section.array_of(CONSTANT, entry);
            let header = array.and_then(|array| section.header(array));
            let header = header.ok_or_else(|| {
                format!("`meta[{CONSTANT}][{entry}]` is not a tensor that could be read")
            })?;
            let name = chosen.name_of(entry);
            added.push(format!("%{name}: {}", Type::from(header.ty.clone())));
            place.insert(name);
        }
        let name = &names[&entry];
        // The note about the constant would repeat the name of the parameter.
        let whole =
            note.filter(|note| note.is_only(name)).map_or(range, |note| range.cover(note.range));
        edits.push((whole, format!("%{name}")));
    }
    if names.is_empty() {
        return Err("`@main` uses no constants of the metadata section".to_owned());
    }
    let parts = weights::split(text.as_bytes()).map_err(|error| error.to_string())?;
    edits.extend(list_of(&view, parts.code)?.with(&added));
    // Constants that other functions use stay.
    let stays = |entry: u32| {
        semantics::uses_of_entry(db, view.module, CONSTANT, entry)
            .iter()
            .any(|(user, _)| user.def != view.def)
    };
    let gone: BTreeMap<u32, Option<u32>> =
        names.keys().filter(|entry| !stays(**entry)).map(|&entry| (entry, None)).collect();
    let is_empty = gone.len() == section.entries(CONSTANT).len()
        && section.kinds().all(|(kind, entries)| kind == CONSTANT || entries.is_empty());
    let out = if is_empty {
        format!("{}{}", apply_all(parts.code, &edits).trim_end(), line_break(parts.code))
    } else {
        let dropped = semantics::drop_constants(db, view.module, &gone)
            .ok_or_else(|| "the metadata section cannot be edited".to_owned())?;
        // The new parameters go before the new numbers.
        let is_lifted = |range: &TextRange| edits.iter().any(|(own, _)| own.contains_range(*range));
        let renumbered = dropped.into_iter().filter(|(range, _)| !is_lifted(range));
        let all: Vec<(TextRange, String)> = edits.iter().cloned().chain(renumbered).collect();
        apply_all(text, &all)
    };
    if let Some(params) = params {
        let weights = data.weights();
        let tensor = |(&entry, _): (&u32, &String)| -> std::io::Result<Tensor> {
            let array = section.array_of(CONSTANT, entry);
            let tensor = array.and_then(|array| decoded(section, array, &weights.payload(array)?));
            tensor.ok_or_else(|| std::io::Error::other(format!("entry {entry} cannot be decoded")))
        };
        let listed: Vec<&str> = names.values().map(String::as_str).collect();
        params
            .write(|out| match params.has_extension("params") {
                true => arrays::write_params(out, &listed, names.iter().map(tensor)),
                false => {
                    let named = |entry: (&u32, &String)| Ok((entry.1.clone(), tensor(entry)?));
                    arrays::write_npz(out, names.iter().map(named))
                }
            })
            .map_err(|error| params.error(&error))?;
    }
    output.write_text(&out).map_err(|error| output.error(&error))?;
    Ok(names.into_values().collect())
}
