//! Named modules: a file, or one of the modules in a log such as that of a pass pipeline.

use std::path::Path;

use diff::log::{LogModule, split};
use semantics::Code;
use syntax::TextSize;

use super::{read, shown};

/// A module that the user named.
pub(crate) struct NamedModule {
    /// The path, with the index of the module if there are several: `run.log#7`.
    pub(crate) name: String,
    /// The text.
    pub(crate) text: String,
    /// The offset of the text in the file.
    pub(crate) offset: usize,
    /// The number of lines before it in the file.
    pub(crate) first_line: u32,
}

/// A log with its modules.
pub(crate) struct Log {
    /// The path, as the user wrote it.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
    /// The modules.
    pub(crate) modules: Vec<LogModule>,
}

/// Reads a log. Modules are parsed one by one, so only the offsets of a tree limit its size.
///
/// # Errors
/// The message for a file that cannot be read or is not text.
pub(crate) fn read_log(path: &Path) -> Result<Log, String> {
    let input = read(path, u64::from(u32::MAX))?;
    if let Some(problem) = input.problem.filter(|problem| problem.code != Code::InvalidUtf8) {
        return Err(format!("{}: {}", shown(path), problem.message));
    }
    Ok(Log::new(input.path, input.text))
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
    Ok(log.module(number, format!("{path}#{name}")))
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
            "`{0}` holds {1} modules: name one of them, as in `{0}#{2}`",
            shown(path),
            modules.len(),
            modules.len() - 1
        )),
        _ => Ok(NamedModule { name: input.path, text: input.text, offset: 0, first_line: 0 }),
    }
}

impl Log {
    /// Creates a log from its text.
    pub(crate) fn new(path: String, text: String) -> Log {
        let modules = split(&text);
        Log { path, text, modules }
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
                    "`{path}` holds {} modules, numbered from 0: `relay-analyzer passes` lists them",
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
                "`{path}` holds no module of a pass `{}`; there are: {}",
                crate::report::escape::terminal(name),
                names.join(", ")
            )
        })
    }

    /// Returns the index of the module at an offset in the log, and the offset in the module.
    ///
    /// # Errors
    /// The message with the places of modules, if none is at the offset.
    pub(crate) fn place(&self, offset: TextSize) -> Result<(usize, TextSize), String> {
        let at = usize::from(offset);
        let found = self.modules.iter().position(|module| module.range.contains(&at));
        let Some(number) = found else {
            let lines: Vec<String> =
                self.modules.iter().take(8).map(|module| (module.line + 1).to_string()).collect();
            return Err(match lines.is_empty() {
                true => "this log has no modules".to_owned(),
                false => {
                    format!(
                        "there is no module at this position: modules start at lines {}",
                        lines.join(", ")
                    )
                }
            });
        };
        let start = self.modules[number].range.start;
        Ok((number, TextSize::new((at - start) as u32)))
    }

    /// Returns a module by its index.
    pub(crate) fn module(&self, number: usize, name: String) -> NamedModule {
        let module = &self.modules[number];
        NamedModule {
            name,
            text: module.text(&self.text).into_owned(),
            offset: module.range.start,
            first_line: module.line,
        }
    }
}
