//! Diagnostics and changes of blocks in places of their host.

use semantics::{Code, Diagnostic};
use syntax::{Edit, TextRange, TextSize};

use super::{Block, Language, MAX_HOST, Mapping, blocks, notebook};

/// Returns the reason that a host cannot be searched, if there is one.
pub(crate) fn problem_of(text: &str, language: Language) -> Option<Diagnostic> {
    if text.len() > MAX_HOST {
        let most = MAX_HOST >> 20;
        let message =
            format!("this file has more than {most} MiB, the limit for Relay in other languages");
        let problem = Diagnostic::new(Code::FileTooLarge, TextRange::default(), message);
        return Some(problem.help("move the Relay to a `.relay` file"));
    }
    if language != Language::Notebook {
        return None;
    }
    let error = notebook::blocks(text).err()?;
    let line = error.line().saturating_sub(1);
    let start = text.split_inclusive('\n').take(line).map(str::len).sum::<usize>();
    let at = text.len().min(start + error.column().saturating_sub(1));
    let at = (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default();
    let range = TextRange::empty(TextSize::new(at as u32));
    let message = format!("this file is not a notebook: {error}");
    let problem = Diagnostic::new(Code::NotText, range, message);
    Some(problem.help("save it again with Jupyter, or check it under another extension"))
}

impl Mapping {
    /// Places a diagnostic of the block in the host. A fix that the host cannot write is left out.
    pub(crate) fn placed(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        diagnostic.range = self.range_to_host(diagnostic.range);
        for related in &mut diagnostic.related {
            related.range = self.range_to_host(related.range);
        }
        diagnostic.fixes.retain_mut(|fix| {
            fix.edits.iter_mut().all(|(range, text)| {
                *range = self.range_to_host(*range);
                self.written(text).map(|written| *text = written).is_some()
            })
        });
        diagnostic
    }
}

/// Returns the host with another text of its block `number`; `None` if the host cannot write it.
pub(crate) fn replaced(
    host: &str,
    language: Language,
    number: usize,
    block: &Block,
    text: &str,
) -> Option<String> {
    let edit = Edit::between(&block.text, text);
    let range = block.mapping.range_to_host(edit.range);
    let mut next = host[..usize::from(range.start())].to_owned();
    next += &block.mapping.written(&edit.insert)?;
    next += &host[usize::from(range.end())..];
    // Literals with different quotes may be joined: the text is read back, and must be the one that is wanted.
    let found = blocks(&next, language);
    (found.get(number)?.text == text && found.len() == blocks(host, language).len()).then_some(next)
}
