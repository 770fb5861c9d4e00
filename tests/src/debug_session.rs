//! A client of the debugger, and transcripts of sessions with it.
//!
//! A transcript begins with a program, followed by `===` and the commands of a user, each of which begins with `> `.
//! The lines after a command are what the debugger answers.
//!
//! ```text
//! def @main(%x: int32) { add(%x, %x) }
//! ===
//! > launch {"inputs": {"x": 1}, "stopOnEntry": true}
//! > start
//! stopped: entry
//!   @main 1:1
//! > variables
//! %x = 1: int32
//! ```

use std::{path::PathBuf, process::Command};

use serde_json::{Value, json};

use crate::client::{Client, PATIENCE, binary, framed};

/// A session of the debugger.
pub struct DebugSession {
    /// The connection.
    pub client: Client,
    seq: i64,
    program: PathBuf,
    breakpoints: Vec<Value>,
    functions: Vec<Value>,
    is_over: bool,
}

impl DebugSession {
    /// Starts a session for the program in a file.
    pub fn start(program: PathBuf) -> DebugSession {
        let client = Client::of(Command::new(binary()).arg("dap"));
        let (breakpoints, functions) = (Vec::new(), Vec::new());
        DebugSession { client, seq: 0, program, breakpoints, functions, is_over: false }
    }

    /// Sends a request, and returns its response.
    pub fn request(&mut self, command: &str, arguments: Value) -> Value {
        self.seq += 1;
        let seq = self.seq;
        let message =
            json!({ "seq": seq, "type": "request", "command": command, "arguments": arguments });
        self.client.raw(&framed(&message));
        self.client.wait_for(command, |message| {
            message["type"] == "response" && message["request_seq"] == seq
        })
    }

    /// Waits for an event, and returns the texts for the console before it and its body.
    pub fn event(&mut self, names: &[&str]) -> (String, Value) {
        let mut console = String::new();
        loop {
            let event = self.client.wait_for("an event", |message| message["type"] == "event");
            let name = event["event"].as_str().unwrap_or_default();
            if name == "output" {
                let line = event["body"]["line"].as_i64();
                let at = line.map_or(String::new(), |line| format!("{line}: "));
                let text = event["body"]["output"].as_str().unwrap_or_default();
                console += &format!("| {at}{}\n", text.trim_end().replace('\n', "\n| "));
            } else if names.contains(&name) {
                return (console, event);
            }
        }
    }

    /// Closes the connection, and returns the exit code.
    pub fn finish(mut self) -> Option<i32> {
        self.client.hang_up();
        self.client.exit_code(PATIENCE)
    }

    /// Launches the program with these arguments, without starting it.
    pub fn launch(&mut self, given: &Value) -> Value {
        self.request("initialize", json!({ "adapterID": "relay" }));
        let mut launch = json!({ "program": self.program });
        for (name, value) in given.as_object().into_iter().flatten() {
            launch[name] = value.clone();
        }
        self.request("launch", launch)
    }

    /// Sends a request after which the run goes on, and describes where it stops or ends.
    pub fn resume(&mut self, command: &str, mut arguments: Value) -> String {
        arguments["threadId"] = json!(1);
        let response = self.request(command, arguments);
        if response["success"] != true {
            return refused(&response);
        }
        let (console, event) = self.event(&["stopped", "terminated"]);
        if event["event"] == "terminated" {
            self.is_over = true;
            return format!("{console}ended\n");
        }
        let body = &event["body"];
        let text = body["text"].as_str().map_or(String::new(), |text| format!(", {text}"));
        let reason = body["reason"].as_str().unwrap_or_default();
        format!("{console}stopped: {reason}{text}\n{}", self.stack(3))
    }

    /// Returns the frames, the innermost first.
    pub fn frames(&mut self) -> Vec<Value> {
        let mut frames = self.request("stackTrace", json!({ "threadId": 1 }));
        frames["body"]["stackFrames"].as_array_mut().map(std::mem::take).unwrap_or_default()
    }

    fn stack(&mut self, most: usize) -> String {
        let mut out = String::new();
        let frames = self.frames();
        for frame in frames.iter().take(most) {
            let name = frame["name"].as_str().unwrap_or_default();
            out += &format!("  {name} {}:{}\n", frame["line"], frame["column"]);
        }
        if frames.len() > most {
            out += &format!("  … {} more\n", frames.len() - most);
        }
        out
    }

    /// Returns the variables of a frame, with the names of their scopes before those that are captured.
    pub fn variables(&mut self, frame: i64) -> Vec<Value> {
        let scopes = self.request("scopes", json!({ "frameId": frame }));
        let mut all = Vec::new();
        for scope in scopes["body"]["scopes"].as_array().into_iter().flatten() {
            let reference = &scope["variablesReference"];
            let found = self.request("variables", json!({ "variablesReference": reference }));
            for mut variable in found["body"]["variables"].as_array().cloned().unwrap_or_default() {
                variable["scope"] = reference.clone();
                if scope["name"] == "Captured" {
                    variable["name"] = json!(format!(
                        "captured {}",
                        variable["name"].as_str().unwrap_or_default()
                    ));
                }
                all.push(variable);
            }
        }
        all
    }

    /// Returns the state of the innermost frame: the places of all frames, and its variables.
    pub fn state(&mut self) -> String {
        let stack = self.stack(usize::MAX);
        stack + &shown(&self.variables(1))
    }

    /// Does what a line of a transcript says, and returns the answer.
    fn command(&mut self, line: &str) -> String {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "launch" => {
                let given: Value = serde_json::from_str(rest).expect("JSON after `launch`");
                let response = self.launch(&given);
                if response["success"] == true { String::new() } else { refused(&response) }
            }
            "break" => {
                self.breakpoints.push(breakpoint(rest));
                let arguments = json!({
                    "source": { "path": self.program }, "breakpoints": self.breakpoints,
                });
                verified(&self.request("setBreakpoints", arguments), "breakpoints")
            }
            "locations" => {
                let (first, last) = rest.split_once('-').unwrap_or((rest, rest));
                let line = |text: &str| text.parse::<i64>().expect("lines");
                let arguments = json!({
                    "source": { "path": self.program },
                    "line": line(first), "endLine": line(last),
                });
                let found = self.request("breakpointLocations", arguments);
                let all = found["body"]["breakpoints"].as_array().map_or(&[][..], Vec::as_slice);
                let places = all.iter().map(|at| format!("{}:{}", at["line"], at["column"]));
                format!("{}\n", places.collect::<Vec<_>>().join(" "))
            }
            "runTo" => {
                // As VS Code does: a breakpoint that is there until the next stop.
                let of = |all: &[Value], program: &PathBuf| json!({ "source": { "path": program }, "breakpoints": all });
                let with = [&*self.breakpoints, &[breakpoint(rest)]].concat();
                let set = self.request("setBreakpoints", of(&with, &self.program));
                let set = verified(&set, "breakpoints");
                let stopped = self.resume("continue", json!({}));
                self.request("setBreakpoints", of(&self.breakpoints, &self.program));
                format!("{set}{stopped}")
            }
            "clear" => {
                self.breakpoints.clear();
                let source = json!({ "path": self.program });
                let arguments = json!({ "source": source, "breakpoints": [] });
                self.request("setBreakpoints", arguments);
                String::new()
            }
            "function" => {
                let mut wanted =
                    breakpoint(&format!("0 {}", rest.split_once(' ').map_or("", |r| r.1)));
                wanted["name"] = json!(rest.split(' ').next());
                self.functions.push(wanted);
                let arguments = json!({ "breakpoints": self.functions });
                verified(&self.request("setFunctionBreakpoints", arguments), "breakpoints")
            }
            "filters" => {
                let filters: Vec<&str> = rest.split_whitespace().collect();
                self.request("setExceptionBreakpoints", json!({ "filters": filters }));
                String::new()
            }
            "start" => self.resume("configurationDone", json!({})),
            "continue" | "next" | "stepIn" | "stepOut" | "stepBack" | "reverseContinue" => {
                self.resume(word, json!({}))
            }
            "restart" => {
                let frame: i64 = rest.parse().expect("the number of a frame");
                self.resume("restartFrame", json!({ "frameId": frame }))
            }
            "goto" => {
                let source = json!({ "path": self.program });
                let line: i64 = rest.parse().expect("a line");
                let given = json!({ "source": source, "line": line });
                let found = self.request("gotoTargets", given);
                let target = &found["body"]["targets"][0];
                if target.is_null() {
                    return "no targets\n".to_owned();
                }
                let label = target["label"].as_str().unwrap_or_default();
                let went = self.resume("goto", json!({ "targetId": target["id"] }));
                format!("to {label}\n{went}")
            }
            "stack" => self.stack(usize::MAX),
            "variables" => {
                let frame = rest.parse().unwrap_or(1);
                shown(&self.variables(frame))
            }
            "expand" => {
                let mut level = self.variables(1);
                for name in rest.split(" > ") {
                    let found = level.iter().find(|variable| variable["name"] == name);
                    let reference = found.map(|variable| variable["variablesReference"].clone());
                    let Some(reference) = reference else { return format!("there is no {name}\n") };
                    let found =
                        self.request("variables", json!({ "variablesReference": reference }));
                    level = found["body"]["variables"].as_array().cloned().unwrap_or_default();
                }
                shown(&level)
            }
            "evaluate" => {
                let arguments = json!({ "expression": rest, "frameId": 1 });
                let response = self.request("evaluate", arguments);
                if response["success"] != true {
                    return refused(&response);
                }
                format!("{}\n", value(&response["body"], "result"))
            }
            "set" => {
                let (name, text) = rest.split_once(" = ").expect("`NAME = VALUE`");
                let variables = self.variables(1);
                let variable = variables.iter().find(|variable| variable["name"] == name);
                let scope = variable.map(|variable| variable["scope"].clone());
                let arguments = json!({ "variablesReference": scope, "name": name, "value": text });
                let response = self.request("setVariable", arguments);
                if response["success"] != true {
                    return refused(&response);
                }
                format!("{}\n", value(&response["body"], "value"))
            }
            "hover" => {
                let context = json!({ "expression": rest, "frameId": 1, "context": "hover" });
                refused(&self.request("evaluate", context))
            }
            "complete" => {
                // `|` is the cursor.
                let column =
                    rest.find('|').map_or(rest.len(), |at| rest[..at].encode_utf16().count());
                let arguments = json!({
                    "text": rest.replacen('|', "", 1), "column": column + 1, "frameId": 1,
                });
                let response = self.request("completions", arguments);
                completed(&response, 6)
            }
            "memory" => {
                let mut words = rest.split(' ');
                let variables = self.variables(1);
                let name = words.next().unwrap_or_default();
                let variable = variables.iter().find(|variable| variable["name"] == name);
                let mut number =
                    || words.next().map(|word| word.parse::<i64>().expect("an offset, a count"));
                let arguments = json!({
                    "memoryReference": variable.map_or(json!(name), |v| v["memoryReference"].clone()),
                    "offset": number(), "count": number(),
                });
                let response = self.request("readMemory", arguments);
                match response["success"] == true {
                    true => format!("{}\n", response["body"]),
                    false => refused(&response),
                }
            }
            "view" => {
                let mut given: Value = serde_json::from_str(rest).expect("JSON after `view`");
                given["frameId"] = json!(1);
                let response = self.request("relay/tensor", given);
                if response["success"] != true {
                    return refused(&response);
                }
                drawn(&response["body"])
            }
            "exception" => {
                let response = self.request("exceptionInfo", json!({ "threadId": 1 }));
                let body = &response["body"];
                format!("{}: {}\n", text(&body["exceptionId"]), text(&body["description"]))
            }
            other => panic!("a transcript has no command `{other}`"),
        }
    }
}

/// Returns a transcript with the answers of the debugger instead of those that are written.
pub fn transcript(written: &str, program: PathBuf) -> String {
    let (code, session) = written.split_once("===\n").expect("`===` after the program");
    std::fs::write(&program, code).expect("the program can be written");
    let folder = program.parent().expect("a folder").display().to_string();
    let mut debugged = DebugSession::start(program);
    let mut out = format!("{code}===\n");
    for line in session.lines().filter_map(|line| line.strip_prefix("> ")) {
        out += &format!("> {line}\n{}", debugged.command(line).replace(&folder, "FOLDER"));
    }
    debugged.request("disconnect", json!({}));
    assert_eq!(debugged.finish(), Some(0));
    out
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn refused(response: &Value) -> String {
    format!("refused: {}\n", text(&response["body"]["error"]["format"]))
}

/// Describes the first completions: the label, what is inserted instead of it, and the range that it replaces.
fn completed(response: &Value, most: usize) -> String {
    if response["success"] != true {
        return refused(response);
    }
    let targets = response["body"]["targets"].as_array().map_or(&[][..], Vec::as_slice);
    let line = |target: &Value| {
        let insert = target["text"].as_str().map_or(String::new(), |text| format!(" → {text}"));
        let place = format!("{}+{}", target["start"], target["length"]);
        format!("{}{insert} ({}) at {place}\n", text(&target["label"]), text(&target["type"]))
    };
    targets.iter().take(most).map(line).collect()
}

/// Describes the view of a tensor: its slice, and the cells of its pictures.
fn drawn(view: &Value) -> String {
    let layouts = &view["layouts"];
    let mut out = format!(
        "{} {} {} {layouts}\n",
        text(&view["slice"]),
        text(&view["type"]),
        text(&view["summary"])
    );
    for name in ["picture", "other", "difference"] {
        let picture = &view[name];
        if picture.is_object() {
            out += &format!(
                "{name}: {}, {}, {} × {} {}\n",
                text(&picture["title"]),
                text(&picture["summary"]),
                picture["rows"],
                picture["columns"],
                picture["cells"],
            );
        }
    }
    if view["image"].is_object() {
        let image = &view["image"];
        out += &format!(
            "image: {} {} × {}, {}\n{}\n",
            text(&image["layout"]),
            image["width"],
            image["height"],
            text(&image["scale"]),
            text(&image["pixels"]),
        );
    }
    if let Some(numpy) = view["numpy"].as_str() {
        out += &format!("{numpy}\n");
    }
    out
}

fn value(body: &Value, name: &str) -> String {
    let ty = body["type"].as_str().map_or(String::new(), |ty| format!(": {ty}"));
    format!("{}{ty}", text(&body[name]))
}

fn shown(variables: &[Value]) -> String {
    let line =
        |variable: &Value| format!("{} = {}\n", text(&variable["name"]), value(variable, "value"));
    variables.iter().map(line).collect()
}

/// Describes the last breakpoint that was set.
fn verified(response: &Value, list: &str) -> String {
    let Some(state) = response["body"][list].as_array().and_then(|all| all.last()) else {
        return refused(response);
    };
    let message = state["message"].as_str().map_or(String::new(), |text| format!(" ({text})"));
    match (state["verified"] == true, &state["line"]) {
        (true, Value::Null) => format!("set{message}\n"),
        (true, line) => format!("set at {line}:{}{message}\n", state["column"]),
        (false, _) => format!("not set{message}\n"),
    }
}

/// Parses `LINE[:COLUMN] [if CONDITION] [hit COUNT] [log TEXT]`; one of the three.
fn breakpoint(written: &str) -> Value {
    let (place, rest) = written.split_once(' ').unwrap_or((written, ""));
    let (line, column) = place.split_once(':').unwrap_or((place, ""));
    let mut wanted = json!({ "line": line.parse::<i64>().expect("a line") });
    if let Ok(column) = column.parse::<i64>() {
        wanted["column"] = json!(column);
    }
    let (word, rest) = rest.split_once(' ').unwrap_or(("", ""));
    match word {
        "if" => wanted["condition"] = json!(rest),
        "hit" => wanted["hitCondition"] = json!(rest),
        "log" => wanted["logMessage"] = json!(rest),
        _ => {}
    }
    wanted
}
