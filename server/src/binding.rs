//! Parameters that become constants of the metadata section, and constants that become parameters.

use std::{
    collections::{BTreeMap, btree_map},
    io::Write,
    path::Path,
};

use ide::{edit::apply_all, references::references};
use interpreter::Tensor;
use semantics::{
    Def, DefKind, Severity, View,
    body::{Expr, LocalRef, UnitId},
    metadata,
};
use syntax::{Node, SyntaxKind, TextRange, TextSize};
use types::Type;
use weights::{CONSTANT, EMPTY, Header, Section, append};

use crate::{
    analyzer::Analyzer,
    files, input,
    weights::{Known, decoded},
};

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

/// Returns the parameters of a function, each with its node, in order.
fn params_of<'v>(view: &'v View<'_>) -> Vec<(LocalRef, Node<'v>)> {
    let node = view.def.node(view.db);
    let list = node.child(SyntaxKind::PARAM_LIST);
    let nodes = list.into_iter().flat_map(|list| list.children().collect::<Vec<_>>());
    let nodes = nodes.filter(|node| node.kind() == SyntaxKind::PARAM);
    let header = view.body.header().map(|header| header.params.clone()).unwrap_or_default();
    let refs = header.into_iter().map(|binder| LocalRef { unit: UnitId::HEADER, binder });
    refs.zip(nodes).collect()
}

/// Returns the range of each parameter up to the next one or the end of the list: with the comments
/// that follow it.
fn places_of(view: &View<'_>, all: &[(LocalRef, Node<'_>)]) -> Vec<TextRange> {
    let list = view.def.node(view.db).child(SyntaxKind::PARAM_LIST);
    let end = list.map_or(TextSize::new(0), |list| list.range().end() - TextSize::new(1));
    let starts = all.iter().map(|(_, node)| node.start());
    let ends = starts.clone().skip(1).chain([end]);
    let start = view.def.start(view.db);
    starts.zip(ends).map(|(from, to)| TextRange::new(from, to.max(from)) + start).collect()
}

/// Writes a module whose parameters of `@main` are constants where an array has their name. Returns
/// the names of these parameters.
///
/// # Errors
/// The message if the module has errors, nothing is bound, an array has another type, or a file
/// cannot be read or written.
pub(crate) fn bind(text: &str, known: &Known, output: &Path) -> Result<Vec<String>, String> {
    let mut analyzer = checked(text)?;
    let view = main_of(&mut analyzer)?;
    let (db, file) = (view.db, view.def.file(view.db));
    let parts = weights::split(text.as_bytes()).map_err(|error| error.to_string())?;
    let old = if parts.section.is_empty() { EMPTY } else { parts.section };
    let section = Section::scan(old.as_bytes());
    let (mut edits, mut bound): (Vec<(TextRange, String)>, Vec<String>) = (Vec::new(), Vec::new());
    let mut uses: Vec<(TextRange, usize)> = Vec::new();
    let all = params_of(&view);
    let places = places_of(&view, &all);
    let mut kept = Vec::new();
    for ((binding, _), place) in all.iter().zip(&places) {
        let name = view.binder(*binding).name.trim_start_matches('%').to_owned();
        let Some(ty) = known.type_of(&name)? else {
            let text = parts.code.get(std::ops::Range::<usize>::from(*place)).unwrap_or_default();
            kept.push(text.trim_end().trim_end_matches(',').to_owned());
            continue;
        };
        let declared = view.binding_type(*binding);
        if declared.as_tensor().is_some() && *declared != ty {
            return Err(format!("`%{name}` is {declared}, and the array `{name}` is {ty}"));
        }
        let range = view.binding_range(*binding);
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
        edits.push((range, format!("meta[{CONSTANT}][{number}]")));
    }
    let list = places.first().zip(places.last()).map(|(first, last)| first.cover(*last));
    edits.extend(list.map(|list| (list, kept.join(", "))));
    let code = apply_all(parts.code, &edits);
    let appended = append(old, &section, entries.len())
        .ok_or_else(|| "constants cannot be added to the metadata section".to_owned())?;
    let mut problem = None;
    let written = files::write(output, |out| {
        out.write_all(code.as_bytes())?;
        if !code.ends_with("\n\n") && parts.section.is_empty() {
            writeln!(out)?;
        }
        let mut at = 0;
        for (place, inserted) in &appended.inserted {
            out.write_all(&old.as_bytes()[at..*place])?;
            out.write_all(inserted.as_bytes())?;
            at = *place;
        }
        out.write_all(&old.as_bytes()[at..appended.arrays])?;
        for (number, &param) in entries.iter().enumerate() {
            let tensor = match known.read(&bound[param]) {
                Ok(tensor) => tensor,
                Err(message) => {
                    problem = Some(message);
                    return Err(std::io::Error::other("it is incomplete"));
                }
            };
            let comma = if appended.follows || number > 0 { ", \n    \"" } else { "\n    \"" };
            out.write_all(comma.as_bytes())?;
            let header = Header::write(tensor.dtype(), tensor.shape()).unwrap_or_default();
            weights::encode(out, &header, |to| tensor.write_le(|part| to.write_all(part)))?;
            out.write_all(b"\"")?;
        }
        if !appended.follows && !entries.is_empty() {
            out.write_all(b"\n  ")?;
        }
        out.write_all(&old.as_bytes()[appended.arrays..])
    });
    finished(output, problem, written)?;
    Ok(bound)
}

fn finished(
    path: &Path,
    problem: Option<String>,
    written: std::io::Result<()>,
) -> Result<(), String> {
    match (problem, written) {
        (Some(message), _) => Err(message),
        (None, Err(error)) => Err(format!("cannot write `{}`: {error}", input::shown(path))),
        (None, Ok(())) => Ok(()),
    }
}

/// Writes a module whose constants in `@main` are parameters, and the tensors by the names of these
/// parameters. Returns the names.
///
/// # Errors
/// The message if the module has errors, has no constants, or a file cannot be read or written.
pub(crate) fn lift(
    text: &str,
    output: &Path,
    params: Option<&Path>,
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
    let taken: Vec<String> = params_of(&view)
        .iter()
        .map(|(binding, _)| view.binder(*binding).name.to_string())
        .collect();
    let mut names: BTreeMap<u32, String> = BTreeMap::new();
    let mut added = Vec::new();
    let mut edits = Vec::new();
    for (range, entry) in uses {
        if let btree_map::Entry::Vacant(place) = names.entry(entry) {
            let array = section.array_of(CONSTANT, entry);
            let header = array.and_then(|array| section.header(array));
            let header = header.ok_or_else(|| {
                format!("`meta[{CONSTANT}][{entry}]` is not a tensor that could be read")
            })?;
            let mut name = format!("constant_{entry}");
            while taken.contains(&format!("%{name}")) || text.contains(&format!("%{name}")) {
                name.push('_');
            }
            added.push(format!("%{name}: {}", Type::from(header.ty.clone())));
            place.insert(name);
        }
        edits.push((range, format!("%{}", names[&entry])));
    }
    if names.is_empty() {
        return Err("`@main` uses no constants of the metadata section".to_owned());
    }
    let all = params_of(&view);
    let place: TextSize = match all.last() {
        Some((_, node)) => node.range().end() + view.def.start(db),
        None => {
            let list = view.def.node(db).child(SyntaxKind::PARAM_LIST);
            let list = list.ok_or_else(|| "`@main` has no list of parameters".to_owned())?;
            list.start() + TextSize::new(1) + view.def.start(db)
        }
    };
    let comma = if all.is_empty() { "" } else { ", " };
    edits.push((TextRange::empty(place), format!("{comma}{}", added.join(", "))));
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
    let parts = weights::split(text.as_bytes()).map_err(|error| error.to_string())?;
    let out = if is_empty {
        format!("{}\n", apply_all(parts.code, &edits).trim_end())
    } else {
        let dropped = semantics::drop_constants(db, view.module, &gone)
            .ok_or_else(|| "the metadata section cannot be edited".to_owned())?;
        // The new parameters go before the new numbers.
        let renumbered =
            dropped.into_iter().filter(|(range, _)| !edits.iter().any(|(own, _)| own == range));
        let all: Vec<(TextRange, String)> = edits.iter().cloned().chain(renumbered).collect();
        apply_all(text, &all)
    };
    if let Some(path) = params {
        let weights = data.weights();
        let tensor = |(&entry, name): (&u32, &String)| -> std::io::Result<(String, Tensor)> {
            let array = section.array_of(CONSTANT, entry);
            let tensor = array.and_then(|array| decoded(section, array, &weights.payload(array)?));
            let damaged = || std::io::Error::other(format!("entry {entry} cannot be decoded"));
            Ok((name.clone(), tensor.ok_or_else(damaged)?))
        };
        let written = files::write(path, |out| arrays::write_npz(out, names.iter().map(tensor)));
        finished(path, None, written)?;
    }
    let written = files::write(output, |file| file.write_all(out.as_bytes()));
    finished(output, None, written)?;
    Ok(names.into_values().collect())
}
