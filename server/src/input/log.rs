//! Named modules: a file, or one of the modules in a log such as that of a pass pipeline.

use std::{
    borrow::Cow,
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
    path::Path,
    sync::Arc,
};

use diff::log::{LogModule, outline, split};
use parking_lot::Mutex;
use semantics::Code;
use syntax::{Encoding, LineColumn, LineIndex, TextSize};

use super::{HEAD, Input, cannot_read, is_plain, read, read_file, readable, shown};

/// A module that the user named.
#[derive(Clone)]
pub(crate) struct NamedModule {
    /// The path, with the index of the module if there are several: `run.log#7`.
    pub(crate) name: String,
    /// The text.
    pub(crate) text: String,
    /// The offset of the text in the file.
    pub(crate) offset: usize,
    /// The number of lines before it in the file.
    pub(crate) first_line: u32,
    /// True if it is the text of a module that TVM saved, whose release is known.
    pub(crate) is_saved: bool,
}

/// A log with its modules.
pub(crate) struct Log {
    /// The path, as the user wrote it.
    pub(crate) path: String,
    /// The modules.
    pub(crate) modules: Vec<LogModule>,
    /// The number of its lines.
    lines: u32,
    source: Source,
}

/// The text of a log.
enum Source {
    Text(Arc<String>),
    /// A file from which modules are read on demand. It is not mapped: a compiler that truncates the log
    /// would kill the process.
    File(Mutex<File>),
}

/// Reads a log; of a regular file, only the offsets of its modules. Modules are parsed one at a time, so
/// only the offsets of a tree limit the size of each.
///
/// # Errors
/// The message for a file that cannot be read or is not text.
pub(crate) fn read_log(path: &Path) -> Result<Log, String> {
    log_by(path, read)
}

/// Does the same for a file that a client names; see [`read_file`].
///
/// # Errors
/// The same, and the message for a file that is not regular.
pub(crate) fn read_log_file(path: &Path) -> Result<Log, String> {
    log_by(path, read_file)
}

/// Reads a log, with `read` for what is not a plain file.
fn log_by(path: &Path, read: fn(&Path, u64) -> Result<Input, String>) -> Result<Log, String> {
    if let Some(file) = plain_file(path) {
        let failed = |error: std::io::Error| cannot_read(path, &error);
        let (modules, lines) = outline(&file).map_err(failed)?;
        let source = Source::File(Mutex::new(file));
        return Ok(Log { path: path.display().to_string(), modules, lines, source });
    }
    let input = read(path, u64::from(u32::MAX))?;
    if let Some(problem) = input.problem.filter(|problem| problem.code != Code::InvalidUtf8) {
        return Err(format!("{}: {}", shown(path), problem.message));
    }
    Ok(Log::new(input.path, Arc::new(input.text)))
}

/// Opens a regular file of plain text; `None` for all others, such as pipes, archives and files that
/// cannot be read.
fn plain_file(path: &Path) -> Option<File> {
    if path.as_os_str() == "-" || !path.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let mut head = Vec::new();
    BufReader::new(&file).take(HEAD as u64).read_to_end(&mut head).ok()?;
    file.rewind().ok()?;
    is_plain(&head).then_some(file)
}

/// Reads a module that is named by a file, or by a log with the index of the module or the pass in
/// its header: `run.log#7`, `run.log#FuseOps`. Of several modules of one pass it is the last.
///
/// # Errors
/// The message for a missing file or module.
pub(crate) fn read_module(name: &Path, max_code: u64) -> Result<NamedModule, String> {
    let text = name.to_str().unwrap_or_default();
    let parted = text.rsplit_once('#').filter(|_| !name.exists());
    let Some((path, name)) = parted else { return whole(name, max_code) };
    let log = read_log(Path::new(path))?;
    let number = log.find(name)?;
    log.module(number, format!("{path}#{name}"))
}

fn whole(path: &Path, max_code: u64) -> Result<NamedModule, String> {
    let input = read(path, max_code)?;
    if let Some(problem) = input.problem.filter(|problem| problem.code != Code::InvalidUtf8) {
        return Err(format!("{}: {}", shown(path), problem.message));
    }
    let modules = split(&input.text);
    // A duplicate definition is an error in one module, and does not make the file a log.
    let begins = |module: &LogModule| {
        module.pass.is_some() || input.text[module.range.clone()].starts_with("#[version")
    };
    match modules.as_slice() {
        [_, rest @ ..] if rest.iter().any(begins) => Err(format!(
            "`{0}` contains {1} modules: name one of them, as in `{0}#{2}`",
            shown(path),
            modules.len(),
            modules.len() - 1
        )),
        _ => Ok(NamedModule {
            name: input.path,
            text: input.text,
            offset: 0,
            first_line: 0,
            is_saved: input.saved.is_some(),
        }),
    }
}

impl Log {
    /// Creates a log from its text.
    pub(crate) fn new(path: String, text: Arc<String>) -> Log {
        let modules = split(&text);
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let lines = u32::try_from(breaks).unwrap_or(u32::MAX).saturating_add(1);
        Log { path, modules, lines, source: Source::Text(text) }
    }

    /// Returns true if modules are read from a file on demand.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self.source, Source::File(_))
    }

    /// Returns the text of a module. Bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// The message for a module that is too large, or is no longer in the file.
    pub(crate) fn text(&self, number: usize) -> Result<Cow<'_, str>, String> {
        let module = &self.modules[number];
        let file = match &self.source {
            Source::Text(text) => return Ok(module.text(text)),
            Source::File(file) => file,
        };
        let path = Path::new(&self.path);
        if u32::try_from(module.range.len()).is_err() {
            let message = "is larger than 4 GB, the limit for analysis";
            return Err(format!("module {number} of `{}` {message}", shown(path)));
        }
        let mut bytes = vec![0; module.range.len()];
        let mut file = file.lock();
        let start = SeekFrom::Start(module.range.start as u64);
        file.seek(start)
            .and_then(|_| file.read_exact(&mut bytes))
            .map_err(|error| cannot_read(path, &error))?;
        drop(file);
        module.clear_noise(&mut bytes);
        Ok(Cow::Owned(readable(bytes).0))
    }

    /// Returns the index of a module by its index or the pass in its header. Of several modules of
    /// one pass it is the last.
    ///
    /// # Errors
    /// The message for a missing module.
    pub(crate) fn find(&self, name: &str) -> Result<usize, String> {
        let path = shown(Path::new(&self.path));
        match name.parse::<usize>() {
            Ok(number) if number < self.modules.len() => return Ok(number),
            Ok(_) => {
                return Err(format!(
                    "`{path}` contains {} modules, numbered from 0: `relay-analyzer passes` lists them",
                    self.modules.len()
                ));
            }
            Err(_) => {}
        }
        let is_wanted = |module: &LogModule| module.pass.as_deref() == Some(name);
        self.modules.iter().rposition(is_wanted).ok_or_else(|| {
            let mut names: Vec<&str> =
                self.modules.iter().filter_map(|m| m.pass.as_deref()).collect();
            names.dedup();
            names.truncate(20);
            format!(
                "`{path}` contains no module of a pass `{}`; its passes are: {}",
                crate::report::escape::terminal(name),
                names.join(", ")
            )
        })
    }

    /// Returns the index of the module at a place in the log, and the offset in the module.
    ///
    /// # Errors
    /// The message for a place that does not exist, or with the lines of modules if none is there.
    pub(crate) fn place(
        &self,
        at: LineColumn,
        encoding: Encoding,
    ) -> Result<(usize, TextSize), String> {
        if at.line >= self.lines {
            let line = at.line.saturating_add(1);
            return Err(format!("there is no line {line}: the log has {} lines", self.lines));
        }
        let found = self.modules.iter().rposition(|module| module.line <= at.line);
        if let Some(number) = found {
            let text = self.text(number)?;
            let own = LineColumn { line: at.line - self.modules[number].line, column: at.column };
            let offset = LineIndex::new(&text).offset(own, encoding);
            if let Some(offset) = offset.filter(|&offset| usize::from(offset) < text.len()) {
                return Ok((number, offset));
            }
        }
        let lines: Vec<String> =
            self.modules.iter().take(8).map(|module| (module.line + 1).to_string()).collect();
        Err(match lines.is_empty() {
            true => "this log has no modules".to_owned(),
            false => format!(
                "there is no module at this position: modules start at lines {}",
                lines.join(", ")
            ),
        })
    }

    /// Returns a module by its index.
    ///
    /// # Errors
    /// See [`Log::text`].
    pub(crate) fn module(&self, number: usize, name: String) -> Result<NamedModule, String> {
        let module = &self.modules[number];
        Ok(NamedModule {
            name,
            text: self.text(number)?.into_owned(),
            offset: module.range.start,
            first_line: module.line,
            is_saved: false,
        })
    }
}
