//! A stopped run, as the client looks at it: frames, scopes, variables and expressions.

use std::{path::Path, sync::Arc};

use interpreter::{CallVariable, Tensor, Value};
use semantics::View;
use syntax::TextRange;

use super::{
    evaluator::Evaluator,
    program::Program,
    protocol::{
        Body, FrameArguments, Scope, SetVariableArguments, StackFrame, StackTraceArguments,
        ValueDetails, Variable, VariablesArguments,
    },
    recall::Recall,
    runner,
    stop::{Order, Reason, Stop, StoppedCall},
    variables::{ArgumentLines, Node, Nodes},
};
use crate::run::arguments;

/// A stopped run.
pub(super) struct StoppedRun {
    /// The reason of the stop.
    pub(super) reason: Reason,
    calls: Vec<StoppedCall>,
    omitted: Option<(usize, usize)>,
    recall: Recall,
    pub(super) evaluator: Evaluator,
    pub(super) nodes: Nodes,
}

impl StoppedRun {
    /// Creates the view of a stop.
    pub(super) fn new(
        stop: Stop,
        evaluator: Evaluator,
        (function, arguments): (Option<String>, Arc<Vec<Value>>),
        lines: Arc<ArgumentLines>,
    ) -> StoppedRun {
        let Stop { reason, calls, omitted, at, edits } = stop;
        let recall = Recall { evaluator: evaluator.clone(), function, arguments, at, edits };
        StoppedRun { reason, calls, omitted, recall, evaluator, nodes: Nodes::new(lines) }
    }

    /// Computes values that variables of a frame had, which were released.
    ///
    /// # Errors
    /// That takes too long.
    pub(super) fn recall(&mut self, frame: usize, names: &[TextRange]) -> Result<(), String> {
        let Some(stopped) = self.calls.get_mut(frame).filter(|_| !names.is_empty()) else {
            return Ok(());
        };
        for (name, value) in self.recall.values(stopped.call.serial, names)? {
            let same = stopped.variables.iter_mut().filter(|variable| variable.name == name);
            same.for_each(|variable| variable.value = value.clone());
        }
        Ok(())
    }

    /// Returns the value of a variable of a frame, which is computed again if it was released.
    ///
    /// # Errors
    /// That takes too long.
    pub(super) fn recalled(
        &mut self,
        frame: usize,
        name: TextRange,
    ) -> Result<Option<Value>, String> {
        self.recall(frame, &[name])?;
        let mut own = self.calls.get(frame).into_iter().flat_map(|stopped| &stopped.variables);
        Ok(own.find(|variable| variable.name == name).map(|variable| variable.value.clone()))
    }

    /// Returns the number of the innermost call, and the number of calls.
    pub(super) fn innermost(&self) -> (u64, usize) {
        let serial = self.calls.first().map_or(0, |stopped| stopped.call.serial);
        let depth = self.calls.last().map_or(0, |stopped| stopped.inner + 1);
        (serial, depth)
    }

    /// Returns the program.
    pub(super) fn program(&self) -> &Program {
        self.evaluator.program()
    }

    /// Returns true if the innermost call may have come to a point: it is in the same function, and not after the place
    /// of the stop.
    pub(super) fn has_passed(&self, point: TextRange) -> bool {
        let Some(innermost) = self.calls.first() else { return false };
        let (file, place) = innermost.call.place;
        let program = self.program();
        let def = |range: TextRange| program.def_at(range.start());
        file == program.file && point.start() <= place.start() && def(point) == def(place)
    }

    /// Returns the number of the call of a frame.
    ///
    /// # Errors
    /// There is no such frame.
    pub(super) fn serial(&self, given: &FrameArguments) -> Result<u64, String> {
        Ok(self.frame(given.frame_id)?.1.call.serial)
    }

    /// Returns a frame with its position.
    ///
    /// # Errors
    /// There is no such frame.
    pub(super) fn frame(&self, id: i64) -> Result<(usize, &StoppedCall), String> {
        let at = id.checked_sub(1).and_then(|at| usize::try_from(at).ok());
        let found = at.and_then(|at| Some((at, self.calls.get(at)?)));
        found.ok_or_else(|| format!("there is no frame {id} where the run has stopped"))
    }

    /// Returns the frames, the innermost first.
    pub(super) fn frames(&self, given: &StackTraceArguments) -> Result<Body, String> {
        let program = self.evaluator.program();
        let mut frames = Vec::new();
        for (at, stopped) in self.calls.iter().enumerate() {
            if let Some((count, before)) = self.omitted
                && at == before
            {
                let calls = ide::words::counted(count as u64, "more call");
                frames.push(label(&format!("… {calls} …")));
            }
            let (file, range) = stopped.call.place;
            let is_own = file == program.file;
            let name = match stopped.call.function.as_str() {
                "" => "the expression",
                name => name,
            };
            let (line, column) = program.position(range.start());
            let (end_line, end_column) = program.position(range.end());
            frames.push(StackFrame {
                id: at as i64 + 1,
                name: match is_own {
                    true => name.to_owned(),
                    false => format!("{name} (prelude)"),
                },
                source: is_own.then(|| program.source()),
                line: if is_own { line } else { 0 },
                column: if is_own { column } else { 0 },
                end_line: is_own.then_some(end_line),
                end_column: is_own.then_some(end_column),
                can_restart: is_own,
                presentation_hint: (!is_own).then_some("subtle"),
            });
        }
        let total_frames = frames.len();
        let levels = if given.levels == 0 { usize::MAX } else { given.levels };
        let stack_frames = frames.into_iter().skip(given.start_frame).take(levels).collect();
        Ok(Body::Frames { stack_frames, total_frames })
    }

    /// Returns the scopes of a frame.
    pub(super) fn scopes(&mut self, given: &FrameArguments) -> Result<Body, String> {
        let (frame, stopped) = self.frame(given.frame_id)?;
        let captured = stopped.variables.iter().filter(|variable| variable.is_captured).count();
        let own = stopped.variables.len() - captured;
        let mut scope = |name, presentation_hint, is_captured, named_variables| Scope {
            name,
            presentation_hint,
            variables_reference: self.nodes.number(Node::Scope { frame, is_captured }),
            named_variables,
            expensive: false,
        };
        let mut scopes = vec![scope("Variables", Some("locals"), false, own)];
        if captured > 0 {
            scopes.push(scope("Captured", None, true, captured));
        }
        Ok(Body::Scopes { scopes })
    }

    /// Returns the variables of a scope, or the parts of a value.
    pub(super) fn variables(&mut self, given: &VariablesArguments) -> Result<Body, String> {
        let node = self.node(given.variables_reference)?;
        if let Node::Released { frame, name } = node {
            let found = self.recalled(frame, name)?;
            let text = self.evaluator.program().at(name).to_owned();
            let shown = found.map(|value| {
                let value = if matches!(value, Value::Released) { Value::Empty } else { value };
                self.nodes.frame_variable(frame, (&text, name), &value)
            });
            return Ok(Body::Variables { variables: shown.into_iter().collect() });
        }
        let Node::Scope { frame, is_captured } = node else {
            let variables = self.nodes.parts(&node, given.start, given.count);
            let is_wanted = |variable: &Variable| match given.filter.as_deref() {
                Some("indexed") => variable.name.starts_with('['),
                Some("named") => !variable.name.starts_with('['),
                _ => true,
            };
            let variables = variables.into_iter().filter(is_wanted).collect();
            return Ok(Body::Variables { variables });
        };
        if given.filter.as_deref() == Some("indexed") {
            return Ok(Body::Variables { variables: Vec::new() });
        }
        let own = self.of_scope(frame, is_captured);
        let count = if given.count == 0 { usize::MAX } else { given.count };
        let mut variables = Vec::new();
        for variable in own.into_iter().skip(given.start).take(count) {
            let name = self.evaluator.program().at(variable.name).to_owned();
            let place = (name.as_str(), variable.name);
            variables.push(self.nodes.frame_variable(frame, place, &variable.value));
        }
        Ok(Body::Variables { variables })
    }

    fn node(&self, number: i64) -> Result<Node, String> {
        let node = self.nodes.get(number).cloned();
        node.ok_or_else(|| format!("there is no value {number} where the run has stopped"))
    }

    fn of_scope(&self, frame: usize, is_captured: bool) -> Vec<CallVariable> {
        let variables = self.calls.get(frame).map_or(&[][..], |stopped| &stopped.variables);
        variables.iter().filter(|variable| variable.is_captured == is_captured).cloned().collect()
    }

    /// Sets a variable. Returns the order for the run, and the answer.
    pub(super) fn set(&mut self, given: &SetVariableArguments) -> Result<(Order, Body), String> {
        let Node::Scope { frame, is_captured } = self.node(given.variables_reference)? else {
            return Err("only variables can be set, not the parts of their values".to_owned());
        };
        let program = self.evaluator.program();
        let stopped = self.calls.get_mut(frame).ok_or("there is no such frame")?;
        let inner = stopped.inner;
        let place = stopped.call.place.1;
        let mut variables = stopped.variables.iter_mut();
        let variable = variables.rfind(|variable| {
            variable.is_captured == is_captured && program.at(variable.name) == given.name
        });
        let variable =
            variable.ok_or_else(|| format!("there is no variable `{}` here", given.name))?;
        let Value::Tensor(tensor) = &variable.value else {
            return Err(match &variable.value {
                Value::Empty => format!("`{}` has no value yet", given.name),
                Value::Released => format!(
                    "`{}` is not used any more: step back to before its last use to set it",
                    given.name
                ),
                other => {
                    format!("`{}` is {}: only tensors can be set", given.name, other.describe())
                }
            });
        };
        let value = match given.value.trim() {
            "zeros" => {
                let zeros = Tensor::zeros(tensor.dtype(), tensor.shape());
                Value::from(zeros.ok_or("there is no memory for the zeros")?)
            }
            text => {
                let def = program.def_at(place.start());
                let view = def.and_then(|def| View::new(&program.db, def));
                let view = view.ok_or("the definition cannot be analysed")?;
                let folder = runner::folder(program);
                let folder: &Path = &folder;
                arguments::written_value(text, &tensor.ty(), &view.types, folder)?
            }
        };
        variable.value = value.clone();
        let name = variable.name;
        let Variable { value: text, details, .. } = self.nodes.value(&given.name, &value);
        let ValueDetails { ty, variables_reference, .. } = details;
        let changed = Body::Changed { value: text, ty, variables_reference };
        Ok((Order::Set { inner, name, value }, changed))
    }
}

fn label(text: &str) -> StackFrame {
    StackFrame { name: text.to_owned(), presentation_hint: Some("label"), ..StackFrame::default() }
}
