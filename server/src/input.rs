//! Reads files: each yields a text, or a diagnostic that explains why it has none.

mod folder;
mod log;
mod saved;

use std::{
    collections::HashSet,
    fs::{File, OpenOptions},
    io::{self, Read},
    path::{Path, PathBuf},
};

pub(crate) use folder::{Contents, cannot_read, contents};
pub(crate) use log::{Log, NamedModule, read_log, read_log_file, read_module};
pub(crate) use saved::SavedContent;
use semantics::{Code, Diagnostic};
use syntax::{TextRange, TextSize};
use weights::Stamp;

use crate::{files::Identity, report::escape};

/// The default limit on the code of a file in bytes, without its metadata section.
pub(crate) const MAX_CODE: u64 = 64 << 20;

/// A file that was read.
pub(crate) struct Input {
    /// The path, as the user wrote it.
    pub(crate) path: String,
    /// The text. Invalid UTF-8 is replaced byte by byte, which preserves offsets.
    pub(crate) text: String,
    /// The problem with the file itself; with one, the text is not analysed.
    pub(crate) problem: Option<Diagnostic>,
    /// The other contents of a file that TVM saved as JSON or in an archive, whose text was converted.
    /// Such a file is never written.
    pub(crate) saved: Option<SavedContent>,
    /// The state in which a regular file was read.
    pub(crate) stamp: Option<Stamp>,
}

/// The number of bytes that decide whether a file is text.
const HEAD: usize = 8 << 10;
/// The size of a read in bytes.
const STEP: usize = 256 << 10;
/// The longest path that a message quotes in full, in characters.
const LONGEST_PATH: usize = 200;
/// The start of the metadata section, whose size is not limited: it is one token that is parsed on
/// demand.
const METADATA: &[u8] = b"#[metadata]";

/// Returns the files that the arguments name, each once, also if it is named by a link or is in a folder that
/// is named, too. Folders are searched by the rules of `.gitignore`.
pub(crate) fn files(paths: &[PathBuf]) -> Contents {
    let mut all = Contents::default();
    for path in paths {
        if path.as_os_str() == "-" || !path.is_dir() {
            all.files.push(path.clone());
            continue;
        }
        let mut found = contents(path, usize::MAX);
        if found.files.is_empty() && found.problems.is_empty() {
            found.problems.push(format!(
                "there is no `.relay` or `.rly` file in `{}`: name files with other extensions explicitly",
                shown(path)
            ));
        }
        all.files.append(&mut found.files);
        all.problems.append(&mut found.problems);
        all.links.append(&mut found.links);
    }
    if paths.len() > 1 {
        let mut known = HashSet::new();
        let mut has_stdin = false;
        all.files.retain(|path| match path.as_os_str() == "-" {
            true => !std::mem::replace(&mut has_stdin, true),
            false => Identity::at(path).map_or(true, |identity| known.insert(identity)),
        });
    }
    all
}

/// Formats a path for a message: in one line, escaped, the middle of a long one left out.
pub(crate) fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    let text = escape::terminal(&text);
    let length = text.chars().count();
    if length <= LONGEST_PATH {
        return text.into_owned();
    }
    let half = LONGEST_PATH / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(length - half).collect();
    format!("{start}…{end}")
}

/// Reads a file that the user names; `-` is standard input. Links are followed, and pipes are read,
/// as in `check <(program)`.
///
/// # Errors
/// The message for a file that cannot be read.
pub(crate) fn read(path: &Path, max_code: u64) -> Result<Input, String> {
    let failed = |error| cannot_read(path, &error);
    if path.as_os_str() == "-" {
        let bytes = bytes_of(io::stdin().lock(), 0, max_code).map_err(failed)?;
        return Ok(text_of(path.display().to_string(), bytes, max_code));
    }
    read_opened(path, File::open(path).map_err(failed)?, max_code)
}

/// Reads a file that a client names: never a pipe, which would keep a worker waiting, or a device.
///
/// # Errors
/// The message for a file that is not regular or cannot be read.
pub(crate) fn read_file(path: &Path, max_code: u64) -> Result<Input, String> {
    let file = weights::open_file(path).map_err(|error| cannot_read(path, &error))?;
    read_opened(path, file, max_code)
}

fn read_opened(path: &Path, file: File, max_code: u64) -> Result<Input, String> {
    let data = file.metadata().ok();
    let stamp = data.as_ref().filter(|data| data.is_file()).map(Stamp::of);
    // The parameters of an archive are not read for its module.
    if let Some(data) = data.as_ref().filter(|data| data.is_file())
        && let Some(input) = saved::archived(path, &file, data.len(), max_code)
    {
        return Ok(input);
    }
    let bytes = bytes_of(file, data.map_or(0, |data| data.len()), max_code);
    let bytes = bytes.map_err(|error| cannot_read(path, &error))?;
    Ok(Input { stamp, ..text_of(path.display().to_string(), bytes, max_code) })
}

/// Returns true if a file is a text and not what TVM saved as JSON or in an archive.
pub(crate) fn is_text(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(!::saved::is_archive(&head) && !::saved::is_saved(&head))
}

/// Reads a file that was found in a folder.
///
/// # Errors
/// It is no longer a regular file, or cannot be read.
pub(crate) fn read_found(path: &Path, max_code: u64) -> io::Result<Input> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        use rustix::fs::OFlags;
        // A link or a pipe may have replaced the file since it was found.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    let data = file.metadata()?;
    if !data.is_file() {
        return Err(io::Error::other("it is no longer a regular file"));
    }
    let bytes = bytes_of(file, data.len(), max_code)?;
    Ok(text_of(path.display().to_string(), bytes, max_code))
}

/// Reads the bytes of a text up to the limit: devices are endless, and the size of a file may be
/// wrong.
fn bytes_of(mut from: impl Read, size: u64, max_code: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut step = HEAD;
    let mut max_code = max_code;
    // Ends with the input, or when it exceeds the limits on code and on offsets of a tree.
    loop {
        let before = bytes.len();
        (&mut from).take(step as u64).read_to_end(&mut bytes)?;
        let read = bytes.len() - before;
        if read < step || is_binary(&bytes) || is_too_large(&bytes, max_code) {
            return Ok(bytes);
        }
        if before == 0 {
            if ::saved::is_saved(&bytes) {
                // The limit holds for the converted text.
                max_code = u64::from(u32::MAX);
            }
            // Reserves the declared size at once; unused memory is not committed if the size is
            // wrong.
            let rest = size.min(u64::from(u32::MAX)).min(max_code.saturating_add(1));
            bytes.try_reserve(rest as usize).map_err(io::Error::from)?;
        }
        step = STEP.max(bytes.len());
    }
}

/// Returns true if the start of a file shows that it is not text.
fn is_binary(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    let nul = memchr::memchr(0, head);
    let strange = head.iter().filter(|&&b| b < 32 && !matches!(b, b'\t' | b'\n' | b'\r')).count();
    strange * 10 > head.len() || nul.is_some() && std::str::from_utf8(head).is_err()
}

/// Returns true if the code exceeds its limit, or the file the offsets of a tree.
fn is_too_large(bytes: &[u8], max_code: u64) -> bool {
    let most = usize::try_from(max_code).unwrap_or(usize::MAX);
    let is_code_too_long = || {
        // The section may start at the last permitted byte.
        let end = bytes.len().min(most.saturating_add(METADATA.len()));
        memchr::memmem::find(&bytes[..end], METADATA).is_none()
    };
    bytes.len() as u64 > u64::from(u32::MAX) || bytes.len() > most && is_code_too_long()
}

/// Converts the bytes of a file.
pub(crate) fn text_of(path: String, bytes: Vec<u8>, max_code: u64) -> Input {
    let refuse = |path: String, code: Code, message: String, help: &str| Input {
        path,
        text: String::new(),
        problem: Some(Diagnostic::new(code, TextRange::default(), message).help(help)),
        saved: None,
        stamp: None,
    };
    if ::saved::is_saved(&bytes) || ::saved::is_plan(&bytes) {
        return saved::converted(path, bytes, max_code);
    }
    if is_binary(&bytes) {
        let help = "Relay modules are text, as `print(mod)` and `mod.astext()` write it";
        return refuse(path, Code::NotText, "this file is not text".into(), help);
    }
    if is_too_large(&bytes, max_code) {
        let is_addressable = bytes.len() as u64 <= u64::from(u32::MAX);
        let (message, help) = match is_addressable {
            true => (
                format!(
                    "this file has more than {} MiB of code, the limit for analysis",
                    max_code >> 20
                ),
                "raise the limit with `--max-size`, in MiB",
            ),
            false => (
                "this file is larger than 4 GB, the limit for analysis".to_owned(),
                "move the weights to a `.params` file",
            ),
        };
        return refuse(path, Code::FileTooLarge, message, help);
    }
    let (text, invalid) = readable(bytes);
    let problem = invalid.map(|(at, byte, count)| {
        let others = match count {
            1 => String::new(),
            2 => ", nor is 1 more after it".to_owned(),
            n => format!(", nor are {} more after it", n - 1),
        };
        Diagnostic::new(
            Code::InvalidUtf8,
            TextRange::at(TextSize::new(at as u32), 1.into()),
            format!("the byte 0x{byte:02X} is not UTF-8{others}"),
        )
        .help("save the file as UTF-8")
    });
    Input { path, text, problem, saved: None, stamp: None }
}

/// Replaces each byte that is not UTF-8 by `?`, which preserves offsets. Also returns the offset and
/// value of the first one, and their number.
fn readable(bytes: Vec<u8>) -> (String, Option<(usize, u8, usize)>) {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return (text, None),
        Err(error) => error,
    };
    let at = error.utf8_error().valid_up_to();
    let mut bytes = error.into_bytes();
    let byte = bytes.get(at).copied().unwrap_or_default();
    let mut count = 0;
    let mut from = at;
    while let Err(error) = std::str::from_utf8(&bytes[from..]) {
        let start = from + error.valid_up_to();
        let end = error.error_len().map_or(bytes.len(), |len| start + len);
        bytes[start..end].fill(b'?');
        count += end - start;
        from = end;
    }
    (String::from_utf8(bytes).unwrap_or_default(), Some((at, byte, count)))
}

/// Returns true if the start of a file is that of plain text, and not of what TVM saved.
fn is_plain(head: &[u8]) -> bool {
    !is_binary(head)
        && !::saved::is_archive(head)
        && !::saved::is_saved(head)
        && !::saved::is_plan(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(bytes: &[u8]) -> Option<Code> {
        text_of("a".into(), bytes.to_vec(), 100).problem.map(|problem| problem.code)
    }

    #[test]
    fn binary_and_oversized_files_are_refused() {
        assert_eq!(code(b""), None);
        assert_eq!(code(b"def @main() { 1 }"), None);
        assert_eq!(code("%ä".as_bytes()), None);
        assert_eq!(code(b"a\0b, a character that is reported at its position"), None);
        assert_eq!(code(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0]), Some(Code::NotText));
        assert_eq!(code(b"\xff\xfed\0e\0f\0 \0@\0m\0"), Some(Code::NotText));
        assert_eq!(code(&[b'a'; 101]), Some(Code::FileTooLarge));
        let mut weights = b"def @main() { 1 } #[metadata] ".to_vec();
        weights.extend([b'a'; 500]);
        assert_eq!(code(&weights), None);
    }

    #[test]
    fn invalid_utf8_preserves_offsets() {
        let input = text_of("a".into(), b"ab\xff\xc3(cd\xe2\x82".to_vec(), 100);
        assert_eq!(input.text, "ab??(cd??");
        let problem = input.problem.expect("a problem");
        assert_eq!((problem.code, u32::from(problem.range.start())), (Code::InvalidUtf8, 2));
        assert_eq!(problem.message, "the byte 0xFF is not UTF-8, nor are 3 more after it");
        let problem = text_of("a".into(), b"a\xffb\xff".to_vec(), 100).problem.expect("a problem");
        assert_eq!(problem.message, "the byte 0xFF is not UTF-8, nor is 1 more after it");
    }
}
