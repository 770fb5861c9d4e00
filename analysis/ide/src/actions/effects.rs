//! The effects of parts of a definition, for actions that move or remove them.

use semantics::{View, effects::Effects};
use syntax::{Node, SyntaxKind, TextRange, TextSize};

/// The message of an action that refuses to move an expression with effects.
pub(super) const ORDER: &str =
    "the order of effects, such as the reads and writes of references, could change";

/// The expressions of a definition that have effects of their own.
pub(super) struct Steps<'v> {
    root: Node<'v>,
    /// Their ranges, from the start of the definition.
    steps: Vec<(TextRange, Effects)>,
}

impl<'v> Steps<'v> {
    /// Returns those of a view.
    pub(super) fn of(view: &'v View<'_>) -> Steps<'v> {
        let start = view.def.start(view.db);
        let effects = view.effects();
        let steps = effects.steps().iter().map(|&(at, effects)| (view.range(at) - start, effects));
        Steps { root: view.def.node(view.db), steps: steps.collect() }
    }

    /// Returns the effects of all expressions.
    pub(super) fn all(&self) -> Effects {
        self.steps.iter().fold(Effects::empty(), |all, (_, effects)| all | *effects)
    }

    /// Returns the effects of the evaluation of an expression or a statement.
    pub(super) fn of_node(&self, node: Node<'_>) -> Effects {
        self.within(node.range())
    }

    /// Returns the effects of what is evaluated between two places of a block. Functions are not called
    /// where they are defined, and graph bindings are evaluated where they are used.
    pub(super) fn between(&self, from: TextSize, to: TextSize) -> Effects {
        if from < to { self.within(TextRange::new(from, to)) } else { Effects::empty() }
    }

    fn within(&self, range: TextRange) -> Effects {
        let is_deferred = |node: &Node<'_>, step: TextRange| {
            let is_inside = range.contains_range(node.range());
            match node.kind() {
                SyntaxKind::FN_EXPR => is_inside && node.range() != step,
                SyntaxKind::GRAPH_STMT => is_inside && node.range() != range,
                _ => false,
            }
        };
        let steps = self.steps.iter().filter(|(step, _)| range.contains_range(*step));
        let evaluated = steps.filter(|(step, _)| {
            !self.root.path_to(*step).iter().any(|node| is_deferred(node, *step))
        });
        evaluated.fold(Effects::empty(), |all, (_, effects)| all | *effects)
    }
}
