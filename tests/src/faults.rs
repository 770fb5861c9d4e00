//! Faults in networks: single calls that compute another value of the same type, as after a wrong pass or import.

use std::{collections::HashMap, ops::Range};

use semantics::{Database, Severity, SourceFile, check_file};
use serde_json::Value;
use syntax::{
    Node, ParseLimits, SyntaxKind,
    ast::{self, AstNode},
};
use types::Type;

use crate::{calls, command::Folder, edit_kinds::Change};

/// What is wrong with a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum FaultKind {
    /// Another epsilon of a normalisation.
    Epsilon,
    /// Operands in the other order.
    Operands,
    /// Another padding with an equal shape.
    Padding,
    /// Another activation.
    Activation,
    /// Another axis of equal size.
    Axis,
    /// Another weight of the same type.
    Weight,
}

/// A wrong call.
#[derive(Clone, Debug)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The range of the call in the text before.
    pub call: Range<usize>,
    /// The change of the text.
    pub change: Change,
}

impl Fault {
    /// Returns a text with the fault.
    fn applied(&self, text: &str) -> String {
        let mut wrong = text.to_owned();
        self.change.apply(&mut wrong);
        wrong
    }
}

/// The types of the calls of a network, which is analysed once: each fault is an edit.
struct CallTypes {
    db: Database,
    file: SourceFile,
}

impl CallTypes {
    fn new(text: &str) -> CallTypes {
        let mut db = Database::new();
        db.set_tvm(false);
        let file = db.add_file(text, ParseLimits::default());
        CallTypes { db, file }
    }

    /// Returns the types of the results of all calls of a text; `None` if it has errors.
    fn of(&mut self, text: &str) -> Option<Vec<Type>> {
        self.db.replace_text(self.file, text, ParseLimits::default());
        let found = check_file(&self.db, self.file);
        if found.iter().any(|found| found.severity == Severity::Error) {
            return None;
        }
        let calls = calls::of_file(&self.db, self.file);
        Some(calls.into_iter().map(|call| call.result).collect())
    }
}

/// Returns the possible faults in the bindings of a network. Not all of them keep the types.
pub fn of_text(text: &str) -> Vec<Fault> {
    let parse = syntax::parse(text);
    let root = Node::root(&parse.green);
    let same_type = parameters(text, root);
    let mut found = Vec::new();
    for call in root.descendants().filter_map(ast::CallExpr::cast) {
        let (Some(callee), Some(list)) = (call.callee(), call.args()) else { continue };
        if callee.node().kind() != SyntaxKind::NAME_REF {
            continue;
        }
        let operator = &text[Range::<usize>::from(callee.range())];
        let mut add = |kind, range: Range<usize>, insert: String| {
            let change = Change { range, insert };
            found.push(Fault { kind, call: Range::from(call.range()), change });
        };
        let other = match operator {
            "nn.relu" | "tanh" => Some("sigmoid"),
            "sigmoid" => Some("nn.relu"),
            _ => None,
        };
        if let Some(other) = other {
            add(FaultKind::Activation, callee.range().into(), other.to_owned());
        }
        let args: Vec<Range<usize>> = list.args().map(|arg| arg.range().into()).collect();
        if let ("subtract" | "divide" | "power", [a, b]) = (operator, &args[..]) {
            let swapped = format!("{}, {}", &text[b.clone()], &text[a.clone()]);
            add(FaultKind::Operands, a.start..b.end, swapped);
        }
        for arg in &args {
            let others = same_type.get(&text[arg.clone()]).into_iter().flatten();
            for other in others.take(1) {
                add(FaultKind::Weight, arg.clone(), other.clone());
            }
        }
        for attr in list.attrs() {
            let (Some(name), Some(value)) = (attr.name(), attr.value()) else { continue };
            let range = Range::<usize>::from(value.range());
            match (&*name.text(), operator) {
                ("epsilon", _) => add(FaultKind::Epsilon, range, "0.1f".to_owned()),
                ("padding", _) => {
                    if let Some(moved) = moved_padding(&text[range.clone()]) {
                        add(FaultKind::Padding, range, moved);
                    }
                }
                (
                    "axis",
                    "nn.softmax" | "nn.bias_add" | "concatenate" | "take" | "nn.layer_norm",
                ) => {
                    for axis in other_axes(&text[range.clone()]) {
                        add(FaultKind::Axis, range.clone(), axis.to_string());
                    }
                }
                _ => {}
            }
        }
        if operator == "nn.softmax" && list.attrs().next().is_none() {
            for arg in &args {
                for axis in other_axes("-1") {
                    add(FaultKind::Axis, arg.end..arg.end, format!(", axis={axis}"));
                }
            }
        }
    }
    found
}

/// Returns axes that are another one than that in a text, whatever the rank is.
fn other_axes(text: &str) -> Vec<i64> {
    match text.parse::<i64>() {
        Ok(-1) => vec![0, -2],
        Ok(own) => (0..4).filter(|axis| *axis != own).collect(),
        Err(_) => Vec::new(),
    }
}

/// Returns the parameters by name, each with the others of its type, the next one first.
fn parameters(text: &str, root: Node<'_>) -> HashMap<String, Vec<String>> {
    let slice = |node: Node<'_>| text[Range::<usize>::from(node.range())].to_owned();
    let defs = root.descendants().filter_map(ast::FnDef::cast);
    let params = defs.filter_map(ast::FnDef::params).flat_map(|list| list.params());
    let mut by_type: HashMap<String, Vec<String>> = HashMap::new();
    for param in params {
        let (Some(name), Some(ty)) = (param.name(), param.ty()) else { continue };
        // A change of a scalar, such as a scale, is no other weight.
        if ty.node().kind() == SyntaxKind::TENSOR_TYPE {
            by_type.entry(slice(ty.node())).or_default().push(slice(name.node()));
        }
    }
    let mut others = HashMap::new();
    for names in by_type.into_values() {
        for at in 0..names.len() {
            let next = names[at + 1..].iter().chain(&names[..at]).cloned().collect();
            others.insert(names[at].clone(), next);
        }
    }
    others
}

/// Returns `[0, 1, 2, 1]` for `[1, 1, 1, 1]`: the same sum in each direction.
fn moved_padding(text: &str) -> Option<String> {
    let numbers = text.trim_matches(['[', ']']).split(',').map(|number| number.trim().parse().ok());
    let mut numbers: Vec<u32> = numbers.collect::<Option<_>>()?;
    let half = numbers.len() / 2;
    let at = (0..half).find(|at| numbers[*at] > 0).filter(|_| half * 2 == numbers.len())?;
    numbers[at] -= 1;
    numbers[at + half] += 1;
    Some(format!("{numbers:?}"))
}

/// A network with faults.
#[derive(Clone, Debug)]
pub struct FaultyNetwork {
    /// The text.
    pub text: String,
    /// The faults in the order of their calls, each with the offset of its call in the text.
    pub faults: Vec<(usize, FaultKind)>,
}

impl FaultyNetwork {
    /// Compares the network with the one without faults, and returns the offsets of the calls in the text that are named
    /// as culprits, the first divergence first; none if the comparison fails. `None` if all values are equal bit by bit:
    /// a mask of ones is subtracted from one in either order.
    pub fn culprits(&self, right: &str) -> Option<Vec<usize>> {
        let files = [("a.relay", right.as_bytes()), ("b.relay", self.text.as_bytes())];
        let folder = Folder::new("faults", &files);
        let run = folder.run(&["compare", "a.relay", "b.relay", "--format", "json"]);
        let document: Value = serde_json::from_str(&run.out).unwrap_or_default();
        let pairs = document["pairs"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_same = |errors: &Value| errors["max_abs"] == 0.0;
        let mut locals = pairs.iter().map(|pair| &pair["local"]);
        if is_same(&document["result"]) && locals.all(is_same) {
            return None;
        }
        let culprits = pairs.iter().filter(|pair| pair["culprit"] == true);
        let start = |pair: &Value| usize::try_from(pair["after"][0].as_u64()?).ok();
        Some(culprits.filter_map(start).collect())
    }
}

/// Returns a network with `count` faults in different calls; `None` if it has too few. Each kind is as likely as others.
pub fn faulty(text: &str, count: usize, random: &mut fastrand::Rng) -> Option<FaultyNetwork> {
    let mut by_kind: Vec<Vec<Fault>> = Vec::new();
    for fault in of_text(text) {
        match by_kind.iter_mut().find(|of| of[0].kind == fault.kind) {
            Some(of) => of.push(fault),
            None => by_kind.push(vec![fault]),
        }
    }
    let mut types = CallTypes::new(text);
    let right = types.of(text)?;
    let mut chosen: Vec<Fault> = Vec::new();
    // Each round removes a fault or is the last one.
    while chosen.len() < count {
        by_kind.retain(|of| !of.is_empty());
        if by_kind.is_empty() {
            return None;
        }
        let kind = random.usize(..by_kind.len());
        let at = random.usize(..by_kind[kind].len());
        let fault = by_kind[kind].swap_remove(at);
        let is_apart = chosen
            .iter()
            .all(|other| other.call.end <= fault.call.start || fault.call.end <= other.call.start);
        if is_apart && types.of(&fault.applied(text)).as_ref() == Some(&right) {
            chosen.push(fault);
        }
    }
    chosen.sort_by_key(|fault| fault.call.start);
    let mut wrong = text.to_owned();
    let mut faults = Vec::new();
    for fault in chosen.iter().rev() {
        let before = wrong.len();
        fault.change.apply(&mut wrong);
        let grown = wrong.len() as i64 - before as i64;
        faults.iter_mut().for_each(|(at, _): &mut (usize, _)| *at = (*at as i64 + grown) as usize);
        faults.push((fault.call.start, fault.kind));
    }
    faults.reverse();
    Some(FaultyNetwork { text: wrong, faults })
}
