//! `relay-analyzer explain`

use std::io::Write;

use semantics::Code;

use super::{Failure, Outcome};

/// The width of prose.
const WIDTH: usize = 80;

pub(super) fn run(code: Option<&str>) -> Result<Outcome, Failure> {
    let mut out = anstream::stdout().lock();
    match code {
        Some(name) => write!(out, "{}", page(find(name)?))?,
        None => write!(out, "{}", list())?,
    }
    Ok(Outcome::Clean)
}

/// Lists all codes with their titles.
fn list() -> String {
    let bold = anstyle::Style::new().bold();
    let width = Code::ALL.iter().map(|code| code.name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for &code in Code::ALL {
        let level = match code {
            _ if code.is_tvm() => "tvm",
            _ if code.is_on_request() => "off",
            _ => code.severity().name(),
        };
        text += &format!("{bold}{code:width$}{bold:#}  {level:7}  {}\n", code.title());
    }
    text
}

/// Finds a code by name, which may be copied from a message: `error[shape-mismatch]`.
fn find(name: &str) -> Result<Code, String> {
    let name = name.split_once('[').map_or(name, |(_, rest)| rest);
    let written = name.trim_end_matches([']', ':']).trim();
    let name = written.to_lowercase();
    if let Some(code) = Code::from_name(&name) {
        return Ok(code);
    }
    let quoted = |codes: Vec<&str>| {
        let codes: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
        codes.join(", ")
    };
    // `name` may be a part of the name, as in `explain shape`.
    let is_part = |code: &&Code| {
        !name.is_empty() && name.split('-').all(|word| code.name().split('-').any(|w| w == word))
    };
    let alike: Vec<&str> = Code::ALL.iter().filter(is_part).map(|code| code.name()).collect();
    let nearest =
        Code::ALL.iter().map(|code| (operators::distance(&name, code.name()), code.name()));
    let near = |&(distance, _): &(usize, &str)| distance < usize::MAX;
    let hint = match nearest.filter(near).min() {
        _ if !alike.is_empty() => format!("; there is {}.", quoted(alike)),
        Some((distance, near)) if distance <= name.chars().count() / 2 => {
            format!(", did you mean `{near}`?")
        }
        Some((_, near)) => format!("; the nearest is `{near}`."),
        None => ".".to_owned(),
    };
    Err(format!("there is no code `{written}`{hint} `relay-analyzer explain` lists all"))
}

/// Formats the page of a code: prose wrapped, examples indented.
fn page(code: Code) -> String {
    let bold = anstyle::Style::new().bold();
    let dim = anstyle::Style::new().dimmed();
    let level = match code {
        _ if code.is_tvm() => "hint; an error with `--tvm`",
        _ if code.is_on_request() => "off",
        _ => code.severity().name(),
    };
    let mut text = format!("{bold}{code}{bold:#} ({level}): {}\n", code.title());
    let mut paragraph = String::new();
    let mut in_block = false;
    for line in code.readable_page().lines() {
        if line.trim_start().starts_with("```") {
            text += &wrap(&std::mem::take(&mut paragraph));
            if !in_block {
                text.push('\n');
            }
            in_block = !in_block;
        } else if in_block {
            // The comments name the diagnostics of their line.
            let (before, comment) = line.find("//").map_or((line, ""), |at| line.split_at(at));
            let indent = if line.is_empty() { "" } else { "    " };
            text += &format!("{indent}{before}");
            if !comment.is_empty() {
                text += &format!("{dim}{comment}{dim:#}");
            }
            text.push('\n');
        } else if line.trim().is_empty() {
            text += &wrap(&std::mem::take(&mut paragraph));
        } else {
            paragraph += line;
            paragraph.push(' ');
        }
    }
    text + &wrap(&paragraph)
}

/// Wraps a paragraph, with an empty line before it; nothing for an empty one.
fn wrap(paragraph: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in words(paragraph) {
        let width = word.chars().count();
        text.push_str(match column {
            0 => "\n",
            _ if column + 1 + width > WIDTH => {
                column = 0;
                "\n"
            }
            _ => " ",
        });
        column += width + usize::from(column > 0);
        text += word;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Splits a paragraph into words. Code in backquotes is one word with adjacent punctuation.
fn words(paragraph: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut in_code = false;
    for (at, c) in paragraph.char_indices() {
        if c == '`' {
            in_code = !in_code;
        } else if c.is_whitespace() && !in_code {
            words.push(&paragraph[start..at]);
            start = at + c.len_utf8();
        }
    }
    words.push(&paragraph[start..]);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_fit_a_terminal() {
        for &code in Code::ALL {
            let page = anstream::adapter::strip_str(&page(code)).to_string();
            assert!(!page.contains("```"), "{page}");
            assert!(page.ends_with('\n') && !page.ends_with("\n\n"), "{page:?}");
            assert!(!page.contains("\n\n\n"), "{page}");
            let prose = page.lines().skip(1).filter(|line| !line.starts_with(' '));
            assert!(prose.clone().count() > 1, "{page}");
            for line in prose {
                assert!(line.chars().count() <= WIDTH, "{line}");
            }
        }
    }

    #[test]
    fn similar_names_are_suggested() {
        let named = |name| find(name).map(Code::name);
        assert_eq!(named("shape-mismatch"), Ok("shape-mismatch"));
        assert_eq!(named("error[Shape-Mismatch]:"), Ok("shape-mismatch"));
        let message =
            |name| named(name).expect_err("no code").replace("`relay-analyzer explain`", "");
        assert_eq!(
            message("shape-mismach"),
            "there is no code `shape-mismach`, did you mean `shape-mismatch`?  lists all"
        );
        assert_eq!(
            message("layout"),
            "there is no code `layout`; there is `invalid-layout`.  lists all"
        );
        assert!(message("xyz").starts_with("there is no code `xyz`; the nearest is `"));
        assert!(message("").starts_with("there is no code ``"));
        assert!(message("E0308").starts_with("there is no code `E0308`"));
    }

    #[test]
    fn code_in_prose_is_not_broken() {
        assert_eq!(words("a `b c`, d"), ["a", "`b c`,", "d"]);
        assert_eq!(wrap(""), "");
        let long = "word ".repeat(20);
        assert!(wrap(&long).lines().all(|line| line.len() <= WIDTH));
    }
}
