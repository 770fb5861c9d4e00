//! Reading files: every file gives a text, or a reason why it has none.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use semantics::Diagnostic;
use syntax::{TextRange, TextSize};

/// How many bytes of code a file may hold beside its metadata section, by default.
pub(crate) const MAX_CODE: u64 = 64 << 20;

/// A file that was read.
pub(crate) struct Input {
    /// Its path, as the user wrote it.
    pub(crate) path: String,
    /// Its text. Bytes that are no UTF-8 are replaced one by one, so that places stay as they are.
    pub(crate) text: String,
    /// What is wrong with the file itself. Where something is, the text says nothing of worth.
    pub(crate) problem: Option<Diagnostic>,
}

/// The files that the arguments name: files as they are, folders by the rules of `.gitignore`.
///
/// # Errors
/// A message for a path that is not there.
pub(crate) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" || !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        let mut walk = ignore::WalkBuilder::new(path);
        walk.require_git(false).sort_by_file_path(Path::cmp);
        for entry in walk.build() {
            let entry = entry.map_err(|error| error.to_string())?;
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            if is_file && is_relay(entry.path()) {
                files.push(entry.into_path());
            }
        }
        if files.len() == before {
            return Err(format!(
                "there is no `.relay` or `.rly` file in `{}`: name the files themselves if they end otherwise",
                path.display()
            ));
        }
    }
    Ok(files)
}

fn is_relay(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "relay" || extension == "rly")
}

/// Reads a file; `-` is standard input.
///
/// # Errors
/// A message, where the file cannot be read at all.
pub(crate) fn read(path: &Path, max_code: u64) -> Result<Input, String> {
    let shown = path.display().to_string();
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        std::fs::File::open(path).and_then(|mut file| {
            // Four gigabytes are the most that a tree can address.
            let size = file.metadata().map_or(0, |data| data.len());
            if size > u64::from(u32::MAX) {
                return Ok(());
            }
            bytes.reserve(size as usize + 1);
            file.read_to_end(&mut bytes).map(drop)
        })
    };
    read.map_err(|error| format!("cannot read `{shown}`: {error}"))?;
    Ok(text_of(shown, bytes, max_code))
}

/// The text of a file's bytes.
pub(crate) fn text_of(path: String, bytes: Vec<u8>, max_code: u64) -> Input {
    let refuse = |path: String, code: &'static str, message: String, help: &str| Input {
        path,
        text: String::new(),
        problem: Some(Diagnostic::new(code, TextRange::default(), message).help(help)),
    };
    let head = &bytes[..bytes.len().min(8 << 10)];
    let nul = memchr::memchr(0, head);
    let strange = head.iter().filter(|&&b| b < 32 && !matches!(b, b'\t' | b'\n' | b'\r')).count();
    if strange * 10 > head.len() || nul.is_some() && std::str::from_utf8(head).is_err() {
        let help = "Relay modules are text, as `print(mod)` or `mod.astext()` gives it";
        return refuse(path, "not-text", "this file is not text".into(), help);
    }
    // A metadata section may be as long as it likes: it is one token, read on demand.
    let code = memchr::memmem::find(&bytes, b"#[metadata]").unwrap_or(bytes.len());
    if code as u64 > max_code || bytes.len() as u64 > u64::from(u32::MAX) {
        let message = format!(
            "this file holds {} MB of code, and {} MB is the most that is looked at",
            code >> 20,
            max_code >> 20
        );
        return refuse(
            path,
            "file-too-large",
            message,
            "raise the limit with `--max-size`, in megabytes",
        );
    }
    match String::from_utf8(bytes) {
        Ok(text) => Input { path, text, problem: None },
        Err(error) => {
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
            let at = TextSize::new(at as u32);
            let others = match count {
                1 => String::new(),
                n => format!(", nor are {} more after it", n - 1),
            };
            let problem = Diagnostic::new(
                "invalid-utf8",
                TextRange::at(at, 1.into()),
                format!("the byte 0x{byte:02X} is not UTF-8{others}"),
            )
            .help("save the file as UTF-8");
            Input {
                path,
                text: String::from_utf8(bytes).unwrap_or_default(),
                problem: Some(problem),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(bytes: &[u8]) -> Option<&'static str> {
        text_of("a".into(), bytes.to_vec(), 100).problem.map(|problem| problem.code)
    }

    #[test]
    fn texts_and_others() {
        assert_eq!(code(b""), None);
        assert_eq!(code(b"def @main() { 1 }"), None);
        assert_eq!(code("%ä".as_bytes()), None);
        assert_eq!(code(b"a\0b, a character that is reported where it stands"), None);
        assert_eq!(code(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0]), Some("not-text"));
        assert_eq!(code(b"\xff\xfed\0e\0f\0 \0@\0m\0"), Some("not-text"));
        assert_eq!(code(&[b'a'; 101]), Some("file-too-large"));
        let mut weights = b"def @main() { 1 } #[metadata] ".to_vec();
        weights.extend([b'a'; 500]);
        assert_eq!(code(&weights), None);
    }

    #[test]
    fn places_stay_where_bytes_are_no_utf8() {
        let input = text_of("a".into(), b"ab\xff\xc3(cd\xe2\x82".to_vec(), 100);
        assert_eq!(input.text, "ab??(cd??");
        let problem = input.problem.expect("a problem");
        assert_eq!((problem.code, u32::from(problem.range.start())), ("invalid-utf8", 2));
        assert_eq!(problem.message, "the byte 0xFF is not UTF-8, nor are 3 more after it");
    }
}
