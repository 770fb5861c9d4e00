//! Logs of passes that keep the values of a network, of which one is wrong.

use fastrand::Rng;
use serde_json::Value;

use crate::{
    command::Folder,
    faults::{FaultKind, faulty},
};

/// A log with one wrong pass.
#[derive(Clone, Debug)]
pub struct FaultyLog {
    /// The text.
    pub text: String,
    /// The number of modules.
    pub modules: usize,
    /// The number of the first module with the fault.
    pub wrong: usize,
    /// The line of the wrong call in this module, from 0 in the log.
    pub line: usize,
    /// What is wrong.
    pub kind: FaultKind,
}

/// What `bisect` says of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Search {
    /// True if it names the wrong pass.
    pub is_pass: bool,
    /// True if it names the binding of the wrong call.
    pub is_binding: bool,
    /// The number of modules that it ran.
    pub runs: usize,
}

impl FaultyLog {
    /// Searches the log.
    ///
    /// # Panics
    /// The program writes no document.
    pub fn search(&self) -> Search {
        let folder = Folder::new("faulty-log", &[("run.log", self.text.as_bytes())]);
        let run = folder.run(&["bisect", "run.log", "--format", "json"]);
        let found: Value = serde_json::from_str(&run.out)
            .unwrap_or_else(|error| panic!("{error}: {} {}", run.out, run.err));
        let offset = found["pair"]["after"][0].as_u64();
        let line = offset.map(|at| self.text[..at as usize].matches('\n').count());
        Search {
            is_pass: found["index"].as_u64() == Some(self.wrong as u64),
            is_binding: line == Some(self.line),
            runs: found["runs"].as_u64().expect("a number") as usize,
        }
    }

    /// Returns the number of runs that a search may take.
    pub fn most_runs(&self) -> usize {
        self.modules.ilog2() as usize + 2
    }
}

/// What a pass that keeps the values does. The lines of a module stay where they are.
#[derive(Clone, Copy)]
enum Pass {
    Nothing,
    /// Gives the graph bindings other numbers.
    Renumber,
    /// Removes the types of expressions.
    RemoveTypes,
    /// Exchanges the operands of a sum or product.
    Commute,
    /// Computes an activation by another operator.
    ReplaceActivation,
}

const PASSES: [Pass; 5] =
    [Pass::Nothing, Pass::Renumber, Pass::RemoveTypes, Pass::Commute, Pass::ReplaceActivation];

impl Pass {
    /// Returns a module after the pass, which changes the first line from `start` on that it can.
    fn apply(self, module: &str, start: usize) -> String {
        match self {
            Pass::Nothing => module.to_owned(),
            Pass::Renumber => renumbered(module),
            Pass::RemoveTypes => without_types(module),
            Pass::Commute => with_line(module, start, commuted),
            Pass::ReplaceActivation => with_line(module, start, |line| {
                let (head, rest) = line.split_once("nn.relu(")?;
                let (operand, rest) = rest.split_once(')')?;
                Some(format!("{head}maximum({operand}, 0f){rest}"))
            }),
        }
    }
}

/// Returns a module in which the number of each graph binding is one more.
fn renumbered(module: &str) -> String {
    let mut parts = module.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let (number, rest) = part.split_at(end);
        out += "%";
        match number.parse::<u64>() {
            Ok(number) => out += &(number + 1).to_string(),
            Err(_) => out += number,
        }
        out += rest;
    }
    out
}

fn without_types(module: &str) -> String {
    let mut parts = module.split(" /* ty=");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| out + part.split_once("*/").map_or("", |(_, rest)| rest))
}

/// Returns a module in which `change` was applied to the first line from `start` on for which it has a result.
fn with_line(module: &str, start: usize, change: impl Fn(&str) -> Option<String>) -> String {
    let mut lines: Vec<String> = module.split('\n').map(str::to_owned).collect();
    let changed =
        lines.iter_mut().skip(start).find_map(|line| change(line).map(|changed| (line, changed)));
    if let Some((line, changed)) = changed {
        *line = changed;
    }
    lines.join("\n")
}

fn commuted(line: &str) -> Option<String> {
    let operator = [" add(", " multiply("].into_iter().find(|operator| line.contains(operator))?;
    let (head, rest) = line.split_once(operator)?;
    let (operands, rest) = rest.split_once(')')?;
    let (a, b) = operands.split_once(", ")?;
    let is_simple = |operand: &str| !operand.contains([',', '(', '=']);
    (is_simple(a) && is_simple(b)).then(|| format!("{head}{operator}{b}, {a}){rest}"))
}

/// Returns a log of `modules` modules of a network, of which one of the passes introduces a fault; `None` if the network
/// has no call that can be wrong, or all values stay equal bit by bit.
pub fn faulty_log(network: &str, modules: usize, random: &mut Rng) -> Option<FaultyLog> {
    let fault = faulty(network, 1, random)?;
    fault.culprits(network)?;
    let (at, kind) = fault.faults[0];
    let line_in_module = fault.text[..at].matches('\n').count();
    let wrong = random.usize(1..modules);
    // Both are changed alike, so that a line that a fault changed is the only one that differs.
    let mut both = [network.to_owned(), fault.text];
    let lines = network.lines().count();
    let mut text = String::new();
    let mut line = 0;
    for number in 0..modules {
        text += &format!("Print IR after: Pass{number}\n");
        if number == wrong {
            line = text.matches('\n').count() + line_in_module;
        }
        text += &both[usize::from(number >= wrong)];
        text += "\n";
        let pass = PASSES[random.usize(..PASSES.len())];
        let start = random.usize(..lines);
        both = both.map(|module| pass.apply(&module, start));
    }
    Some(FaultyLog { text, modules, wrong, line, kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_change_one_thing() {
        let module = "def @f(%x: int32) {\n  %0 = add(%x, %x.1) /* ty=int32 */;\n  nn.relu(%0)\n}";
        let after = |pass: Pass, start| pass.apply(module, start);
        assert!(after(Pass::Renumber, 0).contains("  %1 = add(%x, %x.1) /* ty=int32 */;\n"));
        assert!(after(Pass::Renumber, 0).contains("nn.relu(%1)"));
        assert!(after(Pass::RemoveTypes, 0).contains("add(%x, %x.1);\n"));
        assert!(after(Pass::Commute, 0).contains("add(%x.1, %x) /*"));
        assert_eq!(after(Pass::Commute, 2), module);
        assert!(after(Pass::ReplaceActivation, 0).contains("  maximum(%0, 0f)\n"));
    }
}
