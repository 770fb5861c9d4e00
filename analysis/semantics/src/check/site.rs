//! The places of problems of lowering and of syntax errors, for the files that report them.

use syntax::{Node, SyntaxError, SyntaxKind, TextRange};

use super::check_view::CheckView;
use crate::{
    adt::TypeDef,
    body::*,
    diagnostic::{Code, DefDiagnostic},
};

/// The place of a problem.
pub(super) struct ProblemSite<'s, 'a, 'db> {
    owner: Owner<'s, 'a, 'db>,
    /// The problem.
    pub(super) problem: &'s Problem,
    /// The range of the problem, from the start of the definition.
    pub(super) range: TextRange,
}

/// What has a problem.
enum Owner<'s, 'a, 'db> {
    Unit(&'s CheckView<'a, 'db>, UnitId),
    Type(&'s TypeDef),
}

impl<'s, 'a, 'db> ProblemSite<'s, 'a, 'db> {
    /// Creates the place of a problem of a unit.
    pub(super) fn of_unit(
        view: &'s CheckView<'a, 'db>,
        unit: UnitId,
        problem: &'s Problem,
    ) -> ProblemSite<'s, 'a, 'db> {
        let range = view.place(unit, problem.range);
        ProblemSite { owner: Owner::Unit(view, unit), problem, range }
    }

    /// Creates the place of a problem of a type definition, which has no calls.
    pub(super) fn of_type(type_def: &'s TypeDef, problem: &'s Problem) -> Self {
        let range = type_def.range(problem.range);
        ProblemSite { owner: Owner::Type(type_def), problem, range }
    }

    /// Returns the range of another place.
    pub(super) fn place(&self, id: RangeId) -> TextRange {
        match self.owner {
            Owner::Unit(view, unit) => view.place(unit, id),
            Owner::Type(type_def) => type_def.range(id),
        }
    }

    /// Returns the view and the unit; `None` in a type definition.
    pub(super) fn unit(&self) -> Option<(&'s CheckView<'a, 'db>, UnitId)> {
        match self.owner {
            Owner::Unit(view, unit) => Some((view, unit)),
            Owner::Type(_) => None,
        }
    }

    /// Returns the text of the problem; an empty one in a type definition, which has no values.
    pub(super) fn text(&self) -> String {
        self.unit().map_or_else(String::new, |(view, _)| view.text(self.range))
    }

    /// Returns the call whose attributes begin at the problem.
    pub(super) fn call_with_attributes(&self) -> Option<&'s CallData> {
        let (view, unit) = self.unit()?;
        view.unit(unit).calls.iter().find(|call| {
            call.written.first().is_some_and(|attr| attr.name_range == self.problem.range)
        })
    }

    /// Returns the call whose callee is the place of the problem.
    pub(super) fn call_of_callee(&self) -> Option<&'s CallData> {
        let (view, unit) = self.unit()?;
        view.unit(unit).calls.iter().find(|call| call.callee_range == self.problem.range)
    }

    /// Returns the end of the statement at the problem, if it binds a graph variable without a `;`.
    pub(super) fn end_of_graph_binding(&self) -> Option<TextRange> {
        let (view, _) = self.unit()?;
        let path = view.root().path_to(self.range);
        let statement = path.iter().rfind(|node| node.kind() == SyntaxKind::GRAPH_STMT)?;
        let is_open = statement.token(SyntaxKind::SEMICOLON).is_none();
        is_open.then(|| TextRange::empty(statement.range().end()))
    }

    /// Creates a diagnostic at the problem.
    pub(super) fn diagnostic(&self, code: Code, message: impl Into<String>) -> DefDiagnostic {
        DefDiagnostic::new(code, self.range, message)
    }
}

/// The place of a syntax error.
pub(super) struct SyntaxSite<'s, 't> {
    /// The tree of the file.
    pub(super) root: &'s Node<'t>,
    /// The error.
    pub(super) error: &'s SyntaxError,
    /// False over the limit of diagnostics: lookups in the tree are slow.
    pub(super) is_shown: bool,
}

impl SyntaxSite<'_, '_> {
    /// Returns the text of the token at the error; an empty one if there is none, or if it is not shown.
    pub(super) fn text(&self) -> String {
        let range = self.error.range;
        let token = self.is_shown.then(|| self.root.token_at(range.start())).flatten();
        let token = token.filter(|token| token.range() == range);
        token.map_or_else(String::new, |token| token.text().to_owned())
    }
}
