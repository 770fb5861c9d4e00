//! Modules by name: a file, or one of the modules that a log holds.

use std::path::Path;

use diff::log::{LogModule, split};
use syntax::TextSize;

use super::{read, shown};

/// A module that a person named.
pub(crate) struct NamedModule {
    /// The file, with the module if it is one of several: `run.log#7`.
    pub(crate) name: String,
    /// Its text.
    pub(crate) text: String,
    /// Where the text begins in the file.
    pub(crate) offset: usize,
    /// The number of lines before it in the file.
    pub(crate) first_line: u32,
}

/// A log with its modules.
pub(crate) struct Log {
    /// Its path, as the user wrote it.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
    /// The modules in it.
    pub(crate) modules: Vec<LogModule>,
}

/// Reads a log. Only single modules are looked at, so a log may be as long as a tree can address.
///
/// # Errors
/// A message, where the file cannot be read or is not text.
pub(crate) fn read_log(path: &Path) -> Result<Log, String> {
    let input = read(path, u64::from(u32::MAX))?;
    if let Some(problem) = input.problem.filter(|problem| problem.code != "invalid-utf8") {
        return Err(format!("{}: {}", shown(path), problem.message));
    }
    Ok(Log::new(input.path, input.text))
}

/// Reads a module that is named by a file, or by a log and the number of the module or the pass
/// that its header names: `run.log#7`, `run.log#FuseOps`. Of several after one pass it is the last.
///
/// # Errors
/// A message, where there is no such file or module.
pub(crate) fn read_module(name: &Path, max_code: u64) -> Result<NamedModule, String> {
    let text = name.to_str().unwrap_or_default();
    let parted = text.rsplit_once('#').filter(|_| !name.exists());
    let Some((path, wanted)) = parted else { return whole(name, max_code) };
    let log = read_log(Path::new(path))?;
    let number = log.find(wanted)?;
    Ok(log.module(number, format!("{path}#{wanted}")))
}

fn whole(path: &Path, max_code: u64) -> Result<NamedModule, String> {
    let input = read(path, max_code)?;
    if let Some(problem) = input.problem.filter(|problem| problem.code != "invalid-utf8") {
        return Err(format!("{}: {}", shown(path), problem.message));
    }
    let modules = split(&input.text);
    // A name that is defined twice does not make a log: it is an error in a module.
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
    /// A log by its text.
    pub(crate) fn new(path: String, text: String) -> Log {
        let modules = split(&text);
        Log { path, text, modules }
    }

    /// The number of a module by what a person calls it: its number, or the pass that its header
    /// names. Of several after one pass it is the last.
    ///
    /// # Errors
    /// A message, where there is none.
    pub(crate) fn find(&self, wanted: &str) -> Result<usize, String> {
        let path = shown(Path::new(&self.path));
        match wanted.parse::<usize>() {
            Ok(number) if number < self.modules.len() => return Ok(number),
            Ok(_) => {
                return Err(format!(
                    "`{path}` holds {} modules, numbered from 0: `relay-analyzer passes` lists them",
                    self.modules.len()
                ));
            }
            Err(_) => {}
        }
        let is_wanted = |module: &LogModule| module.pass.as_deref() == Some(wanted);
        self.modules.iter().rposition(is_wanted).ok_or_else(|| {
            let mut names: Vec<&str> =
                self.modules.iter().filter_map(|m| m.pass.as_deref()).collect();
            names.dedup();
            names.truncate(20);
            format!(
                "`{path}` holds no module of a pass `{}`; there are: {}",
                crate::report::escape::terminal(wanted),
                names.join(", ")
            )
        })
    }

    /// The module at an offset of the log, and the offset in it.
    ///
    /// # Errors
    /// A message that says where modules are.
    pub(crate) fn place(&self, offset: TextSize) -> Result<(usize, TextSize), String> {
        let at = usize::from(offset);
        let found = self.modules.iter().position(|module| module.range.contains(&at));
        let Some(number) = found else {
            let lines: Vec<String> =
                self.modules.iter().take(8).map(|module| (module.line + 1).to_string()).collect();
            return Err(match lines.is_empty() {
                true => "there is no module in this log".to_owned(),
                false => {
                    format!("no module is there: modules begin at lines {}", lines.join(", "))
                }
            });
        };
        let start = self.modules[number].range.start;
        Ok((number, TextSize::new((at - start) as u32)))
    }

    /// The module with a number.
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
