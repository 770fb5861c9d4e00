//! Counts the uses of expressions: an expression with a single use is printed at that use.

use crate::{
    Error,
    graph::{Graph, Id},
};

/// The uses of expressions in one function.
pub(crate) struct Uses {
    /// The function in which each expression last occurred, and the number of its uses there.
    counts: Vec<(u32, u32)>,
    /// The function in which each expression was visited, and true if the visit is finished.
    visited: Vec<(u32, bool)>,
    function: u32,
}

/// The remaining work, on the heap because chains of calls are long.
enum Step {
    Visit(Id),
    Done(Id),
}

impl Uses {
    pub(crate) fn new(nodes: usize) -> Uses {
        Uses { counts: vec![(0, 0); nodes], visited: vec![(0, false); nodes], function: 0 }
    }

    /// Returns true if an expression is used at most once in the function that was counted last.
    pub(crate) fn is_single(&self, id: Id) -> bool {
        let (function, count) = self.counts[id as usize];
        function != self.function || count < 2
    }

    /// Counts the uses in a function, or in another expression.
    pub(crate) fn count(&mut self, graph: &Graph<'_>, root: Id) -> Result<(), Error> {
        self.function += 1;
        let mut steps = vec![Step::Visit(root)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Done(id) => self.visited[id as usize] = (self.function, true),
                Step::Visit(id) => {
                    match self.visited[id as usize] {
                        (function, true) if function == self.function => continue,
                        (function, false) if function == self.function => {
                            return Err(graph.bad(id, "the expression contains itself"));
                        }
                        _ => {}
                    }
                    self.visited[id as usize] = (self.function, false);
                    steps.push(Step::Done(id));
                    let begin = steps.len();
                    if graph.kind(id) == "relay.Let" {
                        self.bindings(graph, id, &mut steps)?;
                    } else {
                        let steps = &mut steps;
                        children(graph, id, &mut |child| {
                            self.add(child);
                            steps.push(Step::Visit(child));
                        })?;
                    }
                    // The first part is visited first.
                    steps[begin..].reverse();
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, id: Id) {
        let entry = &mut self.counts[id as usize];
        *entry = if entry.0 == self.function {
            (self.function, entry.1 + 1)
        } else {
            (self.function, 1)
        };
    }

    /// Visits a chain of bindings as a whole, even if its end was visited in another chain.
    fn bindings(
        &mut self,
        graph: &Graph<'_>,
        first: Id,
        steps: &mut Vec<Step>,
    ) -> Result<(), Error> {
        let mut chain = Vec::new();
        let mut at = first;
        while graph.kind(at) == "relay.Let" {
            if chain.len() == graph.nodes.len() {
                return Err(graph.bad(first, "the expression contains itself"));
            }
            chain.push(at);
            for part in ["var", "value"] {
                let part = graph.link(at, part)?;
                self.add(part);
                steps.push(Step::Visit(part));
            }
            at = graph.link(at, "body")?;
            self.add(at);
        }
        steps.push(Step::Visit(at));
        steps.extend(chain.into_iter().skip(1).rev().map(Step::Done));
        Ok(())
    }
}

/// Passes the direct parts of an expression to `give`, with repetitions.
fn children(graph: &Graph<'_>, id: Id, give: &mut dyn FnMut(Id)) -> Result<(), Error> {
    let one = |name: &str, give: &mut dyn FnMut(Id)| graph.link(id, name).map(give);
    let all = |name: &str, give: &mut dyn FnMut(Id)| {
        graph.list(id, name).map(|list| list.iter().copied().for_each(give))
    };
    match graph.kind(id) {
        "relay.Call" => {
            one("op", give)?;
            all("args", give)
        }
        "relay.Tuple" => all("fields", give),
        "relay.TupleGetItem" => one("tuple_value", give),
        "relay.RefCreate" => one("value", give),
        "relay.RefRead" => one("ref", give),
        "relay.RefWrite" => {
            one("ref", give)?;
            one("value", give)
        }
        "relay.If" => {
            one("cond", give)?;
            one("true_branch", give)?;
            one("false_branch", give)
        }
        "relay.Function" => {
            all("params", give)?;
            one("body", give)
        }
        "relay.Match" => {
            one("data", give)?;
            for &clause in graph.list(id, "clauses")? {
                give(graph.link(clause, "rhs")?);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
