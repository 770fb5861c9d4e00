//! A graph variable that is bound like a local variable, or the reverse.

use syntax::TextRange;

use super::{Code, DefDiagnostic};
use crate::{body::BinderKind, check::site::ProblemSite};

pub(in crate::check) fn report(
    site: &ProblemSite<'_, '_, '_>,
    name: &str,
    kind: BinderKind,
) -> DefDiagnostic {
    let bare = &name[1..];
    let digits = bare.bytes().all(|b| b.is_ascii_digit());
    let message = match kind {
        BinderKind::Graph => {
            format!("`{name}` is not a graph variable: those are numbers, as in `%0`")
        }
        _ if digits => format!("the graph variable `{name}` cannot be bound here"),
        _ => format!("`{name}` is not a valid name: names begin with a letter"),
    };
    let diagnostic = site.diagnostic(Code::InvalidBinder, message);
    match kind {
        BinderKind::Graph if !bare.starts_with(|c: char| c.is_ascii_digit()) => {
            let mut edits = vec![(TextRange::empty(site.range.start()), "let ".to_owned())];
            // The newline ends a graph binding, but a `let` needs a `;`.
            edits.extend(site.end_of_graph_binding().map(|end| (end, ";".to_owned())));
            diagnostic.fix("Bind it with `let`", edits)
        }
        BinderKind::Graph => {
            let number: String = bare.chars().take_while(char::is_ascii_digit).collect();
            diagnostic.change(site.range, format!("%{number}"))
        }
        _ if digits => diagnostic.help("`%0 = …;` binds graph variables; write a name here"),
        _ => diagnostic.help(format!("write `%_{bare}`, or another name")),
    }
}
