//! Archives of saved models, compiled packages and the Model Library Format.
//!
//! Nothing is unpacked: entries are found by name and read in place. An archive is rejected as a whole if
//! a name leads out of it, if it has a link, or if an entry extends beyond its end. Archives are not
//! compressed, so no entry is longer than the file.

use std::{
    io::{ErrorKind, Read, Seek, SeekFrom},
    ops::Range,
};

use crate::{Error, Plan, convert, graph::short};

/// The largest number of entries of an archive.
const MAX_ENTRIES: usize = 1 << 16;
/// The longest name of an entry that is read, in bytes.
const LONGEST_NAME: u64 = 1 << 16;
/// The longest text that is read from an archive, in bytes.
const MAX_TEXT: u64 = u32::MAX as u64;

/// The content of an archive.
#[derive(Default)]
pub struct Package {
    /// The text of the module, converted if it was saved as JSON.
    pub text: Option<String>,
    /// The range of the parameters in the archive, as `save_param_dict` writes them.
    pub params: Option<Range<u64>>,
    /// The memory plan of the graph executor.
    pub plan: Option<Plan>,
}

/// Returns true if a file is a tar archive, by its first 512 bytes.
pub fn is_archive(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

struct Entry {
    name: String,
    range: Range<u64>,
}

/// Reads an archive of `length` bytes.
///
/// # Errors
/// It is damaged or hostile, has no known contents, or its module cannot be read.
pub fn open<R: Read + Seek>(mut archive: R, length: u64) -> Result<Package, Error> {
    let entries = entries(&mut archive, length)?;
    let named = |name: &str| entries.iter().find(|entry| entry.name == name);
    let like = |folder: &str, end: &str| -> Vec<&Entry> {
        let is_like = |entry: &&Entry| entry.name.starts_with(folder) && entry.name.ends_with(end);
        entries.iter().filter(is_like).collect()
    };
    let mut package = Package::default();
    if let Some(entry) = named("model.json") {
        let text = read(&mut archive, entry)?;
        let inside = |error: Error| Error { place: within("model.json", &error.place), ..error };
        package.text = Some(convert(&text).map_err(inside)?);
        package.params = named("model.params").map(|entry| entry.range.clone());
        return Ok(package);
    }
    // The Model Library Format, in its current and its first version.
    let modules = match named("src/relay.txt") {
        Some(entry) => vec![entry],
        None => like("src/", ".relay"),
    };
    package.text = match modules[..] {
        [] => None,
        [entry] => Some(read(&mut archive, entry)?),
        [first, ..] => {
            let message =
                format!("it contains {} modules, such as `{}`", modules.len(), short(&first.name));
            return Err(Error::new("many-modules", "", message));
        }
    };
    let params = match named("mod.params") {
        Some(entry) => vec![entry],
        None => like("parameters/", ".params"),
    };
    if let [entry] = params[..] {
        package.params = Some(entry.range.clone());
    }
    let plans = match named("mod.json") {
        Some(entry) => vec![entry],
        None => like("executor-config/graph/", ".graph")
            .into_iter()
            .chain(named("executor-config/graph/graph.json"))
            .chain(named("runtime-config/graph/graph.json"))
            .collect(),
    };
    if let [entry] = plans[..] {
        let text = read(&mut archive, entry)?;
        let inside = |error: Error| Error { place: within(&entry.name, &error.place), ..error };
        package.plan = Some(Plan::read(&text).map_err(inside)?);
    }
    if package.text.is_none() && package.plan.is_none() {
        let message =
            "it contains neither a module (`model.json`, `src/*.relay`) nor a plan (`mod.json`)";
        return Err(Error::new("no-module", "", message));
    }
    Ok(package)
}

fn within(entry: &str, place: &str) -> String {
    let entry = short(entry);
    if place.is_empty() { format!("`{entry}`") } else { format!("`{entry}`: {place}") }
}

/// Returns the files of an archive after validating all entries.
fn entries<R: Read + Seek>(archive: &mut R, length: u64) -> Result<Vec<Entry>, Error> {
    let broken =
        |message: &str| Error::new("bad-archive", "", format!("the archive is damaged: {message}"));
    // The messages about headers quote bytes of the file.
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::UnexpectedEof => broken("it ends too soon"),
        ErrorKind::Other | ErrorKind::InvalidData => broken("the header of an entry is damaged"),
        _ => broken(&error.to_string()),
    };
    archive.seek(SeekFrom::Start(0)).map_err(failed)?;
    let mut tar = tar::Archive::new(archive);
    let mut found = Vec::new();
    // Only headers of 512 bytes are read; entries with long names are never requested.
    for (number, entry) in tar.entries_with_seek().map_err(failed)?.raw(true).enumerate() {
        if number == MAX_ENTRIES {
            return Err(broken(&format!("it has more than {MAX_ENTRIES} entries")));
        }
        let entry = entry.map_err(failed)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let shown = short(&name).into_owned();
        let kind = entry.header().entry_type();
        let leads_out = |name: &str| {
            let message =
                format!("the archive is refused: the name `{}` leads out of it", short(name));
            Err(Error::new("bad-archive", "", message))
        };
        if is_outside(&name) {
            return leads_out(&name);
        }
        if kind.is_symlink() || kind.is_hard_link() {
            let message = format!("the archive is rejected: `{shown}` is a link");
            return Err(Error::new("bad-archive", "", message));
        }
        let from = entry.raw_file_position();
        let end = from.checked_add(entry.size()).filter(|&end| end <= length);
        let Some(end) = end else {
            return Err(broken(&format!("`{shown}` is longer than the archive")));
        };
        if kind.is_character_special() || kind.is_block_special() || kind.is_fifo() {
            let message = format!("the archive is refused: `{shown}` is a device or a pipe");
            return Err(Error::new("bad-archive", "", message));
        }
        if kind.is_gnu_longname() || kind.is_pax_local_extensions() {
            // The name of the next entry, where it is longer than the field of a header.
            for name in long_names(entry, kind.is_gnu_longname()).map_err(failed)? {
                if is_outside(&name) {
                    return leads_out(&name);
                }
            }
            continue;
        }
        if kind.is_file() || kind.is_contiguous() {
            let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
            found.push(Entry { name, range: from..end });
        }
    }
    Ok(found)
}

/// Tells whether a name is that of a file outside of the folder that an archive is unpacked in.
fn is_outside(name: &str) -> bool {
    name.starts_with(['/', '\\']) || name.split(['/', '\\']).any(|part| part == "..")
}

/// Returns the names in an entry that holds those of the next one.
fn long_names(entry: impl Read, is_gnu: bool) -> std::io::Result<Vec<String>> {
    let mut bytes = Vec::new();
    entry.take(LONGEST_NAME).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    if is_gnu {
        return Ok(vec![text.trim_end_matches('\0').to_owned()]);
    }
    // `LENGTH KEY=VALUE`, a line each.
    let records = text.lines().filter_map(|line| line.split_once(' ')?.1.split_once('='));
    Ok(records
        .filter(|(key, _)| matches!(*key, "path" | "linkpath"))
        .map(|(_, name)| name.to_owned())
        .collect())
}

fn read<R: Read + Seek>(archive: &mut R, entry: &Entry) -> Result<String, Error> {
    let place = || format!("`{}`", short(&entry.name));
    let failed = |error: std::io::Error| Error::new("bad-archive", place(), error.to_string());
    let length = entry.range.end - entry.range.start;
    if length > MAX_TEXT {
        return Err(Error::new("bad-archive", place(), "it is larger than 4 GB"));
    }
    archive.seek(SeekFrom::Start(entry.range.start)).map_err(failed)?;
    let mut bytes = Vec::new();
    archive.take(length).read_to_end(&mut bytes).map_err(failed)?;
    String::from_utf8(bytes).map_err(|_| Error::new("bad-archive", place(), "it is not UTF-8"))
}
