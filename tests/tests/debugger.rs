//! The debugger: transcripts of sessions, laws, and clients that send anything.
//!
//! `UPDATE_EXPECT=1` writes the answers into the transcripts of `tests/debugger`.

use std::{path::PathBuf, process::Command, time::Duration};

use expect_test::expect_file;
use relay_tests::{
    client::{Client, PATIENCE, binary, framed},
    corpus,
    debug_session::{DebugSession, transcript},
};
use serde_json::{Value, json};

/// Returns the path of a program that only the test `name` writes.
pub(crate) fn file_for(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("relay-debugger-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join(format!("{name}.relay"))
}

pub(crate) fn program(name: &str, text: &str) -> DebugSession {
    let path = file_for(name);
    std::fs::write(&path, text).expect("the program can be written");
    DebugSession::start(path)
}

#[test]
fn transcripts_hold() {
    let folder = corpus::here().join("debugger");
    let written = corpus::files(&folder, &["txt"]);
    assert!(written.len() >= 10, "only {} transcripts were found", written.len());
    for (name, text) in written {
        let answered = transcript(&text, file_for(&name));
        expect_file![folder.join(&name)].assert_eq(&answered);
    }
}

const NETWORK: &str = "\
def @layer(%x: Tensor[(4, 4), float32], %n: int32) -> Tensor[(4, 4), float32] {
  let %h = nn.dense(%x, %x, units=4);
  let %y = tanh(multiply(%h, 0.1f));
  if (equal(%n, 0)) {
    %y
  } else {
    let %s = nn.softmax(%y);
    let %deep = @layer(add(%s, %x), subtract(%n, 1));
    multiply(%deep, %s)
  }
}

def @main(%x: Tensor[(4, 4), float32]) {
  %0 = @layer(%x, 2);
  %1 = exp(%0);
  let %g = fn (%a: Tensor[(4, 4), float32]) { let %b = add(%a, %0); sqrt(%b) };
  let %r = %g(%1);
  sum(%r)
}
";

/// Steps forward by n and back by n end at the same frames and values, and so do the same steps again.
#[test]
fn steps_back_are_the_inverse_of_steps() {
    let mut random = fastrand::Rng::with_seed(1);
    for round in 0..4 {
        let mut session = program(&format!("inverse{round}"), NETWORK);
        let launch = json!({ "random": 3, "stopOnEntry": true });
        session.launch(&launch);
        session.resume("configurationDone", json!({}));
        let mut states = vec![(session.state(), "")];
        for _ in 0..24 {
            let step = if random.u8(0..3) == 0 { "next" } else { "stepIn" };
            if session.resume(step, json!({})).ends_with("ended\n") {
                // The same session up to the last stop.
                session = DebugSession::start(file_for(&format!("inverse{round}")));
                session.launch(&launch);
                session.resume("configurationDone", json!({}));
                for (expected, step) in &states[1..] {
                    session.resume(step, json!({}));
                    assert_eq!(session.state(), *expected);
                }
                break;
            }
            states.push((session.state(), step));
            if states.len() > 20 {
                break;
            }
        }
        assert!(states.len() > 4, "{states:?}");
        let back = random.usize(2..states.len());
        for (expected, _) in states.iter().rev().skip(1).take(back) {
            let at = session.resume("stepBack", json!({}));
            assert!(at.contains("stopped: step") || at.contains("stopped: entry"), "{at}");
            assert_eq!(session.state(), *expected);
        }
        for (expected, step) in &states[states.len() - back..] {
            session.resume(step, json!({}));
            assert_eq!(session.state(), *expected);
        }
    }
}

/// Every value that is shown is that of the same run without a debugger, and that of its own expression.
#[test]
fn values_are_those_of_their_expressions() {
    let text = "\
def @main(%x: Tensor[(3, 4), float32], %w: Tensor[(5, 4), float32]) {
  %0 = nn.dense(%x, %w, units=5);
  %1 = nn.softmax(%0, axis=-1);
  %2 = (%1, exp(%0));
  let %s = split(%x, indices_or_sections=2, axis=1);
  let %t = concatenate(%s, axis=1);
  let %m = mean(%2.1, axis=[0], keepdims=True);
  add(%m, %1)
}
";
    let mut session = program("expressions", text);
    session.launch(&json!({ "random": 5 }));
    let path = file_for("expressions");
    let breakpoints = json!({
        "source": { "path": path }, "breakpoints": [{ "line": 8 }],
    });
    session.request("setBreakpoints", breakpoints);
    session.resume("configurationDone", json!({}));
    for (name, expression) in [
        ("%0", "nn.dense(%x, %w, units=5)"),
        ("%1", "nn.softmax(%0, axis=-1)"),
        ("%2.1", "exp(%0)"),
        ("%s.0", "split(%x, indices_or_sections=2, axis=1).0"),
        ("%t", "concatenate(%s, axis=1)"),
        ("%m", "mean(%2.1, axis=[0], keepdims=True)"),
    ] {
        let same = format!("all(equal({name}, {expression}))");
        let found = session.request("evaluate", json!({ "expression": same, "frameId": 1 }));
        assert_eq!(found["body"]["result"], "True", "{same}: {found}");
    }
    let ended = session.resume("continue", json!({}));
    let run = Command::new(binary())
        .arg("run")
        .arg(&path)
        .args(["--random", "5"])
        .output()
        .expect("the program runs");
    let printed = String::from_utf8(run.stdout).expect("UTF-8");
    let shown: Vec<&str> = ended.lines().filter_map(|line| line.strip_prefix("| ")).collect();
    assert_eq!(shown, printed.lines().collect::<Vec<_>>());
}

/// A file that the run reads when it is repeated is not overwritten.
#[test]
fn files_that_a_run_reads_are_not_saved_over() {
    let text = "def @main(%x: Tensor[(2), float32]) { let %y = add(%x, 1f); multiply(%y, %y) }\n";
    let start = |inputs: Value| {
        let mut session = program("read", text);
        session.launch(&json!({ "inputs": { "x": inputs }, "stopOnEntry": true }));
        session.resume("configurationDone", json!({}));
        session
    };
    let evaluate = |session: &mut DebugSession, expression: &str| {
        session.request("evaluate", json!({ "expression": expression, "context": "repl" }))
    };
    let mut session = start(json!([1, 2]));
    let saved = evaluate(&mut session, "save(%x, \"read.npy\")");
    assert_eq!(saved["success"], true, "{saved}");
    let mut session = start(json!("read.npy"));
    assert_eq!(evaluate(&mut session, "%x[1]")["body"]["result"], "2");
    let refused = evaluate(&mut session, "save(%x, \"read.npy\")");
    assert_eq!(refused["success"], false, "{refused}");
    let saved = evaluate(&mut session, "save(%x, \"other.npy\")");
    assert_eq!(saved["success"], true, "{saved}");
}

/// A run that never ends can be paused, looked at and ended.
#[test]
fn endless_runs_are_paused_and_ended() {
    let text = "\
def @loop(%n: int32) -> int32 {
  let %m = add(%n, 1);
  @loop(%m)
}

def @main(%n: int32) { @loop(%n) }
";
    let mut session = program("endless", text);
    session.launch(&json!({ "inputs": { "n": 0 } }));
    assert_eq!(session.request("configurationDone", json!({}))["success"], true);
    assert_eq!(session.request("stackTrace", json!({ "threadId": 1 }))["success"], false);
    // A run that has not begun stops at its first event.
    let mut paused = session.resume("pause", json!({}));
    while paused.starts_with("stopped: pause\n  @main ") {
        session.request("continue", json!({ "threadId": 1 }));
        std::thread::sleep(Duration::from_millis(50));
        paused = session.resume("pause", json!({}));
    }
    assert!(paused.starts_with("stopped: pause\n  @loop "), "{paused}");
    assert!(session.state().contains("%n = "), "the values are those of a repeated run");
    session.request("continue", json!({ "threadId": 1 }));
    session.request("terminate", json!({}));
    session.event(&["terminated"]);
    session.request("disconnect", json!({}));
    assert_eq!(session.finish(), Some(0));
}

/// A run without breakpoints passes over events. Where it stops at a failure, and the way back from there, are those of a
/// run that looks at each.
#[test]
fn events_that_a_run_passes_over_count() {
    let text = "\
def @layer(%x: Tensor[(64, 64), float32], %n: int32) -> Tensor[(64, 64), float32] {
  %0 = nn.dense(%x, %x, units=64);
  %1 = multiply(%0, 0.01f);
  %2 = nn.relu(%1);
  let %h = add(%2, %x);
  if (equal(%n, 0)) {
    %h
  } else {
    let %deep = @layer(clip(%h, a_min=0f, a_max=1f), subtract(%n, 1));
    multiply(%deep, 0.5f)
  }
}

def @main(%x: Tensor[(64, 64), float32], %y: Tensor[(?), float32]) {
  let %r = @layer(%x, 5);
  let %z: Tensor[(3), float32] = add(%y, %y);
  (%r, %z)
}
";
    let mut sessions = [false, true].map(|looks| {
        let mut session = program("passed", text);
        session.launch(&json!({ "random": 1, "inputs": { "y": [1, 2] } }));
        session.request("setExceptionBreakpoints", json!({ "filters": ["failed"] }));
        if looks {
            // Never called.
            let functions = json!({ "breakpoints": [{ "name": "nn.softmax" }] });
            session.request("setFunctionBreakpoints", functions);
        }
        let stopped = session.resume("configurationDone", json!({}));
        assert!(stopped.contains("stopped: exception, `%z` is declared as"), "{stopped}");
        session
    });
    for _ in 0..40 {
        // Which values were released depends on the times of the checkpoints.
        let [passed, looked] =
            sessions.each_mut().map(|session| session.resume("stepBack", json!({})));
        assert_eq!(passed, looked);
    }
}

/// A client that goes away ends the process, also while the program runs or is stopped.
#[test]
fn clients_may_go_away() {
    for (inputs, entry) in [(json!({ "n": 0 }), false), (json!({ "n": 0 }), true)] {
        let text = "def @main(%n: int32) -> int32 { @main(add(%n, 1)) }\n";
        let mut session = program("gone", text);
        session.launch(&json!({ "inputs": inputs, "stopOnEntry": entry }));
        session.request("configurationDone", json!({}));
        assert_eq!(session.finish(), Some(0));
    }
}

/// Bytes that are no messages are reported, and the session goes on.
#[test]
fn malformed_messages_are_reported() {
    let mut session = program("malformed", NETWORK);
    for bytes in [
        &b"Content-Length: 5\r\n\r\n{\"a\":"[..],
        b"Content-Length: x\r\n\r\n",
        b"noise\r\n\r\n",
        b"Content-Length: 4\r\n\r\nnull",
        b"Content-Length: 2\r\n\r\n[]",
        b"Content-Length: 2\r\n\r\n{}",
    ] {
        session.client.raw(bytes);
    }
    session.client.raw(&framed(&json!({ "type": "response", "request_seq": 3, "success": true })));
    assert_eq!(session.request("no such request", json!({}))["success"], false);
    assert_eq!(session.request("launch", json!([1]))["success"], false);
    assert_eq!(session.launch(&json!({ "random": 1 }))["success"], true);
    assert!(session.resume("configurationDone", json!({})).ends_with("ended\n"));
}

/// Any requests in any order are answered. `RELAY_DEBUGGER_ROUNDS` sets the number of sessions, of about 150 requests
/// each.
#[test]
fn any_order_of_requests_leaves_the_session_alive() {
    let mut random = fastrand::Rng::with_seed(7);
    let path = file_for("any_order");
    std::fs::write(&path, NETWORK).expect("the program can be written");
    let number = |random: &mut fastrand::Rng| match random.u8(0..4) {
        0 => json!(random.i64(-2..4)),
        1 => json!(random.i64(0..30)),
        2 => json!(i64::MAX),
        _ => json!(1),
    };
    let commands = [
        "initialize",
        "launch",
        "configurationDone",
        "setBreakpoints",
        "setFunctionBreakpoints",
        "setExceptionBreakpoints",
        "breakpointLocations",
        "threads",
        "stackTrace",
        "scopes",
        "variables",
        "setVariable",
        "evaluate",
        "completions",
        "readMemory",
        "relay/tensor",
        "exceptionInfo",
        "continue",
        "next",
        "stepIn",
        "stepOut",
        "stepBack",
        "reverseContinue",
        "restartFrame",
        "gotoTargets",
        "goto",
        "pause",
        "terminate",
        "cancel",
        "attach",
        "nonsense",
    ];
    let expressions = [
        "%x",
        "%0",
        "add(%x, %x)",
        "mean(%y)",
        "%",
        "(((",
        "@layer(%x, 1)",
        "}",
        "%x[0, -1]",
        "%x[9]",
        "save(%x, \"\")",
    ];
    let rounds = std::env::var("RELAY_DEBUGGER_ROUNDS");
    let rounds = rounds.map_or(20, |rounds| rounds.parse::<u32>().expect("a number"));
    let mut total = 0;
    for round in 0..rounds {
        let mut client = Client::of(Command::new(binary()).arg("dap"));
        let mut sent = 0;
        let mut answered = 0;
        let mut send = |client: &mut Client, command: &str, arguments: Value| {
            sent += 1;
            let message = json!({ "seq": sent, "type": "request", "command": command, "arguments": arguments });
            client.raw(&framed(&message));
        };
        if round % 4 > 0 {
            let launch = json!({ "program": path, "random": 1, "stopOnEntry": round % 2 == 0 });
            send(&mut client, "launch", launch);
            send(&mut client, "configurationDone", json!({}));
        }
        for _ in 0..150 {
            let command = commands[random.usize(0..commands.len())];
            // These end a session early.
            if matches!(command, "terminate" | "continue") && random.u8(0..8) > 0 {
                continue;
            }
            let expression = expressions[random.usize(0..expressions.len())];
            let breakpoint = json!({
                "line": number(&mut random),
                "column": if random.bool() { number(&mut random) } else { Value::Null },
                "condition": if random.bool() { json!(expression) } else { Value::Null },
                "hitCondition": if random.u8(0..4) == 0 { json!("> 1") } else { Value::Null },
            });
            let arguments = match random.u8(0..12) {
                0 => Value::Null,
                1 => json!([1, "x"]),
                2 => json!({ "frameId": "x", "variablesReference": -1.5, "breakpoints": 3 }),
                _ => json!({
                    "program": path, "random": 1, "threadId": 1,
                    "source": { "path": path }, "breakpoints": [breakpoint],
                    "filters": ["nan", "failed", "x"], "line": number(&mut random),
                    "frameId": number(&mut random),
                    "variablesReference": number(&mut random), "start": 0, "count": 3,
                    "targetId": number(&mut random),
                    "name": "%x", "value": "zeros", "expression": expression,
                    "text": expression, "column": number(&mut random), "slice": "[0]",
                    "memoryReference": number(&mut random).to_string(),
                    "offset": number(&mut random),
                }),
            };
            send(&mut client, command, arguments);
        }
        send(&mut client, "disconnect", json!({}));
        while answered < sent {
            let message = client.wait_for("an answer", |message| message["type"] == "response");
            answered += 1;
            assert_eq!(message["request_seq"], answered, "answers are in order: {message}");
            assert!(message["success"].is_boolean(), "{message}");
        }
        client.hang_up();
        assert_eq!(client.exit_code(PATIENCE), Some(0), "round {round}");
        total += sent;
    }
    println!("{total} requests were answered");
}

/// The port is one of this machine, and serves a client after another one has gone.
#[test]
fn ports_serve_clients_one_after_another() {
    use std::{
        io::{BufRead, BufReader, Read, Write},
        net::TcpStream,
        process::Stdio,
    };
    let mut server = Command::new(binary())
        .args(["dap", "--port", "0"])
        .stderr(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .expect("the debugger starts");
    let mut line = String::new();
    let mut errors = BufReader::new(server.stderr.take().expect("a pipe"));
    errors.read_line(&mut line).expect("a line");
    let address = line.trim().rsplit(' ').next().expect("an address").to_owned();
    assert!(address.starts_with("127.0.0.1:"), "{line}");
    for _ in 0..2 {
        let mut stream = TcpStream::connect(&address).expect("a connection");
        let message = json!({ "seq": 1, "type": "request", "command": "disconnect" });
        stream.write_all(&framed(&message)).expect("it is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the debugger closes the connection");
        assert!(answer.contains("\"success\":true"), "{answer}");
    }
    server.kill().expect("it is ended");
    let _ = server.wait();
}
