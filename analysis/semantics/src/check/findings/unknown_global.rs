//! A global that the module does not define.

use super::{Site, unknown_name::is_printed};
use crate::diagnostic::{Code, DefDiagnostic, ExternalName, NameSet};

pub(super) fn report(site: &Site<'_, '_, '_>, name: &str) -> Option<DefDiagnostic> {
    let (view, range, expr_ref) = (site.view, site.at(), site.expr_ref()?);
    let diagnostic =
        site.diagnostic(Code::UnknownGlobal, format!("the module does not define `{name}`"));
    let bare = &name[1..];
    let local = format!("%{bare}");
    if view.binds_name(&local) {
        let help = format!("`{local}` is a variable here");
        return Some(diagnostic.help(help).change(range, local));
    }
    let diagnostic = diagnostic.or_similar(name, range, &[NameSet::Globals]);
    let constructor = view.types.constructor(bare).is_some();
    if constructor || operators::find(bare).is_some() {
        let what = if constructor { "a constructor" } else { "an operator" };
        let help = format!("`{bare}` is {what}, which has no sigil");
        return Some(diagnostic.help(help).change(range, bare));
    }
    if !is_printed(view, expr_ref) {
        return Some(diagnostic);
    }
    Some(diagnostic.or_external(ExternalName {
        code: Code::ExternalGlobal,
        message: format!("the text does not contain `{name}`: its type is taken from the comment"),
        help: "print the whole module to see it, too: `print(mod)`, not `print(mod[\"main\"])`",
    }))
}
