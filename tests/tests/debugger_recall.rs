//! What the debugger computes again: values that a run has released, and moments before a stop.

#[cfg(target_os = "linux")]
use std::{process::Command, time::Duration};

use relay_tests::debug_session::DebugSession;
#[cfg(target_os = "linux")]
use relay_tests::{client::binary, figures::at_most};
use serde_json::{Value, json};

use super::debugger::{file_for, program};

/// A deep recursion has a bounded stack trace, and a step back from its end.
#[test]
fn deep_recursions_are_shown_in_part() {
    let text = "\
def @deep(%n: int32) -> int32 {
  if (equal(%n, 0)) {
    0
  } else {
    let %rest = @deep(subtract(%n, 1));
    add(%rest, 1)
  }
}

def @main(%n: int32) {
  let %r = @deep(%n);
  multiply(%r, 2)
}
";
    let mut session = program("deep", text);
    session.launch(&json!({ "inputs": { "n": 5000 } }));
    let path = file_for("deep");
    let breakpoints = json!({ "source": { "path": path }, "breakpoints": [{ "line": 3 }] });
    session.request("setBreakpoints", breakpoints);
    session.resume("configurationDone", json!({}));
    let frames = session.frames();
    assert_eq!(frames.len(), 601, "500 innermost, 100 outermost, and a label");
    assert!(frames[500]["name"].as_str().is_some_and(|name| name.contains("more calls")));
    assert_eq!(frames[600]["name"], "@main");
    let before = session.state();
    session.resume("stepBack", json!({}));
    session.resume("next", json!({}));
    assert_eq!(session.state(), before);
}

/// Writes references, and takes long enough for checkpoints.
const COUNTING: &str = "\
def @count(%r: ref(int32), %n: int32) -> int32 {
  let %old = ref_read(%r);
  if (equal(%n, 0)) {
    %old
  } else {
    let %sum = add(%old, %n);
    let %u = ref_write(%r, %sum);
    let %rest = @count(%r, subtract(%n, 1));
    subtract(%rest, %n)
  }
}

def @main(%n: int32) {
  let %r = ref(0);
  let %a = @count(%r, %n);
  add(%a, ref_read(%r))
}
";

/// Going back from a checkpoint shows what going forward has shown, with the contents of references.
#[test]
fn checkpoints_have_the_values_of_the_run() {
    let mut session = program("checkpoints", COUNTING);
    session.launch(&json!({ "inputs": { "n": 20_000 } }));
    let functions = json!({ "breakpoints": [{ "name": "@count", "hitCondition": "19950" }] });
    session.request("setFunctionBreakpoints", functions);
    let at = session.resume("configurationDone", json!({}));
    assert!(at.starts_with("stopped: function breakpoint\n  @count "), "{at}");
    let value = |session: &mut DebugSession, expression: &str| {
        let given = json!({ "expression": expression, "frameId": 1 });
        session.request("evaluate", given)["body"]["result"].as_str().unwrap_or("").to_owned()
    };
    assert_eq!(value(&mut session, "%n"), "51");
    let sum: i64 = (52..=20_000).sum();
    assert_eq!(value(&mut session, "ref_read(%r)"), sum.to_string());
    let header = session.state();
    session.resume("stepIn", json!({}));
    let mut states = vec![session.state()];
    for _ in 0..12 {
        session.resume("stepIn", json!({}));
        states.push(session.state());
    }
    for expected in states.iter().rev().skip(1) {
        session.resume("stepBack", json!({}));
        assert_eq!(session.state(), *expected);
    }
    // These steps are not remembered: they go to the binding before.
    for _ in 0..6 {
        session.resume("stepBack", json!({}));
    }
    assert_eq!(value(&mut session, "ref_read(%r)"), (sum - 52).to_string());
    // Steps pass headers, but not that with the breakpoint.
    for _ in 0..6 {
        session.resume("stepIn", json!({}));
    }
    assert_eq!(session.state(), states[0]);
    let at = session.resume("reverseContinue", json!({}));
    assert!(at.starts_with("stopped: function breakpoint"), "{at}");
    assert_eq!(session.state(), header);
    let at = session.resume("reverseContinue", json!({}));
    assert!(at.starts_with("stopped: entry"), "{at}");
    let at = session.resume("continue", json!({}));
    assert!(at.starts_with("stopped: function breakpoint"), "{at}");
    assert_eq!(session.state(), header);
    session.request("setFunctionBreakpoints", json!({ "breakpoints": [] }));
    let ended = session.resume("continue", json!({}));
    // The recursion takes from the sum what it has added.
    assert_eq!(ended, format!("| {} (int32)\nended\n", (1..=20_000).sum::<i64>()));
}

/// A program of large tensors, each of which is used once.
fn large_tensors(count: usize) -> String {
    let mut text = "def @main(%x: Tensor[(1024, 1024), float32]) {\n".to_owned();
    text += "  let %v0 = add(%x, 1f);\n";
    for number in 1..count {
        text += &format!("  let %v{number} = add(%v{}, 1f);\n", number - 1);
    }
    text + &format!("  max(%v{})\n}}\n", count - 1)
}

/// Values that were released are computed again, for the client, for expressions and for conditions.
#[test]
fn released_values_are_computed_again() {
    let mut session = program("released", &large_tensors(4));
    session.launch(&json!({ "random": 1 }));
    let path = file_for("released");
    let at = |line: u32, condition: Value| {
        let breakpoint = json!({ "line": line, "condition": condition });
        json!({ "source": { "path": path }, "breakpoints": [breakpoint] })
    };
    session.request("setBreakpoints", at(5, Value::Null));
    session.resume("configurationDone", json!({}));
    let variables = session.variables(1);
    let released = variables.iter().find(|v| v["name"] == "%v0").expect("a variable");
    assert_eq!(released["presentationHint"]["lazy"], true, "{variables:?}");
    let wanted = json!({ "variablesReference": released["variablesReference"] });
    let found = session.request("variables", wanted);
    let value = &found["body"]["variables"][0];
    assert_eq!(value["type"], "Tensor[(1024, 1024), float32]", "{found}");
    let same = json!({ "expression": "all(equal(%v1, add(%v0, 1f)))", "frameId": 1 });
    assert_eq!(session.request("evaluate", same)["body"]["result"], "True");
    session.request("setBreakpoints", at(6, json!("mean(%v0) > 100f")));
    session.request("setBreakpoints", at(6, json!("mean(%v0) > -100f")));
    let stopped = session.resume("continue", json!({}));
    assert_eq!(stopped, "stopped: breakpoint\n  @main 6:3\n");
}

/// Returns the most memory that a process has had, in kB, when `ends` returns true or the process has ended.
#[cfg(target_os = "linux")]
fn peak_of(process: u32, mut ends: impl FnMut() -> bool) -> u64 {
    let mut peak = 0;
    loop {
        let is_over = ends();
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        match number {
            Some(number) if !is_over => peak = number,
            _ => return peak.max(number.unwrap_or(0)),
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A debugged run with steps back takes at most 1.3 times the memory of a run.
#[cfg(target_os = "linux")]
#[test]
fn steps_back_take_little_memory() {
    const WEIGHTS: usize = 64;
    let ty = "Tensor[(1024, 1024), float32]";
    let weights: Vec<String> = (0..WEIGHTS).map(|at| format!(", %w{at}: {ty}")).collect();
    let mut text =
        format!("def @main(%x: {ty}{}) {{\n  let %v0 = add(%x, 1f);\n", weights.concat());
    for at in 1..80 {
        text += &format!("  let %v{at} = add(%v{}, %w{});\n", at - 1, at % WEIGHTS);
    }
    text += "  max(%v79)\n}\n";
    let mut session = program("memory", &text);
    let path = file_for("memory");
    let mut run = Command::new(binary())
        .arg("run")
        .arg(&path)
        .args(["--random", "1"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("the program runs");
    let process = run.id();
    let plain = peak_of(process, || run.try_wait().is_ok_and(|status| status.is_some()));
    session.launch(&json!({ "random": 1 }));
    let breakpoints = json!({ "source": { "path": path }, "breakpoints": [{ "line": 82 }] });
    session.request("setBreakpoints", breakpoints);
    session.resume("configurationDone", json!({}));
    for _ in 0..3 {
        session.resume("stepBack", json!({}));
    }
    assert!(session.state().contains("%v75 = "), "{}", session.state());
    let debugged = peak_of(session.client.id(), || true);
    at_most("memory of a debugged run with steps back, in kB", debugged, plain * 13 / 10);
}
