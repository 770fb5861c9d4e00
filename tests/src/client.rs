//! A client of the language server, over standard input and output of the real binary.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Arc, Condvar, Mutex, OnceLock,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{figures::WATCHDOG, notes::note};

/// The timeout of a test.
pub const PATIENCE: Duration = WATCHDOG;

/// The binary: `RELAY_ANALYZER`, absolute or relative to the workspace, or built in the profile of the tests.
pub fn binary() -> PathBuf {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY
        .get_or_init(|| {
            if let Some(path) = std::env::var_os("RELAY_ANALYZER") {
                // Tests run in the folder of this package. An absolute path replaces that of the workspace.
                return crate::corpus::here().join("..").join(path);
            }
            build(&profile())
        })
        .clone()
}

/// The folder that the tests were built into.
fn profile() -> PathBuf {
    let exe = std::env::current_exe().expect("the test's own path");
    exe.parent().and_then(|deps| deps.parent()).expect("a target folder").to_owned()
}

fn build(profile: &Path) -> PathBuf {
    note(
        "builds relay-analyzer, with a line for each crate; `RELAY_ANALYZER` names a program that is built already",
    );
    let mut build = Command::new(env!("CARGO"));
    // With `--package` the dependencies would have other features than in the tests, and be built again.
    build.args(["build", "--workspace", "--bin", "relay-analyzer"]);
    if profile.ends_with("release") {
        build.arg("--release");
    }
    let status = build.current_dir(crate::corpus::here().join("..")).status();
    assert!(status.is_ok_and(|status| status.success()), "the binary does not build");
    profile.join(format!("relay-analyzer{}", std::env::consts::EXE_SUFFIX))
}

/// A running server and the messages that it has sent.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    incoming: Receiver<(Instant, Value)>,
    /// The arrival time of the last awaited message, before it was parsed.
    pub arrived: Instant,
    /// The messages that were received and not requested yet.
    pub unread: VecDeque<Value>,
    next_id: i64,
    /// True while nothing is read.
    is_paused: Arc<(Mutex<bool>, Condvar)>,
}

impl Client {
    /// Starts the server without a handshake.
    pub fn spawn() -> Client {
        Client::run(Command::new(binary()).stderr(Stdio::inherit()))
    }

    /// Starts a server that panics according to `RELAY_TEST_PANIC`, with a handshake.
    pub fn start_with_panics(panics: &str) -> Client {
        let mut server = Command::new(binary());
        // The printed panics are expected.
        server.env("RELAY_TEST_PANIC", panics).stderr(Stdio::null());
        let abilities = json!({ "general": { "positionEncodings": ["utf-8"] } });
        Client::run(&mut server).shake_hands(abilities, Value::Null)
    }

    /// Starts the server by a command to which `lsp` is added.
    pub fn run(server: &mut Command) -> Client {
        Client::of(server.arg("lsp"))
    }

    /// Starts any server with pipes for standard input and output.
    pub fn of(server: &mut Command) -> Client {
        let mut child =
            server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts");
        let stdin = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, incoming) = channel();
        let is_paused = Arc::<(Mutex<bool>, Condvar)>::default();
        let pause = is_paused.clone();
        std::thread::spawn(move || {
            let wait = || {
                let is_paused = pause.0.lock().expect("no thread panics");
                drop(pause.1.wait_while(is_paused, |is_paused| *is_paused));
            };
            while let Some(body) = {
                wait();
                read_message(&mut stdout)
            } {
                let arrived = Instant::now();
                let Ok(message) = serde_json::from_slice(&body) else { break };
                if sender.send((arrived, message)).is_err() {
                    break;
                }
            }
        });
        Client {
            child,
            stdin,
            incoming,
            arrived: Instant::now(),
            unread: VecDeque::new(),
            next_id: 1,
            is_paused,
        }
    }

    /// Starts the server, with a handshake with these capabilities and options.
    pub fn start_with(capabilities: Value, options: Value) -> Client {
        Client::spawn().shake_hands(capabilities, options)
    }

    /// Performs a handshake with these capabilities and options.
    pub fn shake_hands(self, capabilities: Value, options: Value) -> Client {
        let mut client = self;
        let answer = client.request(
            "initialize",
            json!({
                "processId": null, "rootUri": null,
                "capabilities": capabilities, "initializationOptions": options,
            }),
        );
        assert_eq!(answer["result"]["serverInfo"]["name"], "relay-analyzer", "{answer}");
        client.notify("initialized", json!({}));
        client
    }

    /// Starts the server, with a handshake that selects UTF-8.
    pub fn start() -> Client {
        Client::start_with(json!({ "general": { "positionEncodings": ["utf-8"] } }), Value::Null)
    }

    /// Writes raw bytes to the server.
    pub fn raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("standard input is open");
        stdin.write_all(bytes).expect("the server reads");
        stdin.flush().expect("the server reads");
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        self.raw(&framed(message));
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request without waiting; returns its id.
    pub fn ask(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        let message = match params {
            Value::Null => json!({ "jsonrpc": "2.0", "id": id, "method": method }),
            params => json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }),
        };
        self.send(&message);
        id
    }

    /// Sends a request and waits for its response.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Waits for the response to a request.
    pub fn answer(&mut self, id: i64) -> Value {
        self.wait_for(&format!("the answer to request {id}"), |message| {
            message["id"] == id && message.get("method").is_none()
        })
    }

    /// Waits for a notification or request of the server.
    pub fn expect(&mut self, method: &str) -> Value {
        self.wait_for(method, |message| message["method"] == method)
    }

    /// Waits for the diagnostics of a document; those of older versions are skipped.
    pub fn diagnostics(&mut self, uri: &str, version: i64) -> Value {
        let message = self.wait_for(&format!("diagnostics of version {version}"), |message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri
                && message["params"]["version"].as_i64().is_none_or(|v| v >= version)
        });
        message["params"]["diagnostics"].clone()
    }

    /// Waits for the first matching message; the others stay unread.
    pub fn wait_for(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.unread.iter().position(&wanted) {
            return self.unread.remove(at).expect("it is there");
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.incoming.recv_timeout(left) {
                Ok((arrived, message)) if wanted(&message) => {
                    self.arrived = arrived;
                    return message;
                }
                Ok((_, message)) => self.unread.push_back(message),
                Err(RecvTimeoutError::Timeout) => {
                    panic!("{what} did not come; unread: {:#?}", self.unread)
                }
                Err(RecvTimeoutError::Disconnected) => panic!("the server is gone, without {what}"),
            }
        }
    }

    /// Receives messages until none has arrived for a while.
    pub fn drain(&mut self, quiet: Duration) -> Vec<Value> {
        while let Ok((_, message)) = self.incoming.recv_timeout(quiet) {
            self.unread.push_back(message);
        }
        self.unread.drain(..).collect()
    }

    /// Opens a document at version 1.
    pub fn open(&mut self, uri: &str, text: &str) {
        self.notify(
            "textDocument/didOpen",
            json!({ "textDocument": { "uri": uri, "languageId": "relay", "version": 1, "text": text } }),
        );
    }

    /// Replaces a range of a document: `(line, column)` to `(line, column)`.
    pub fn edit(&mut self, uri: &str, version: i64, from: (u32, u32), to: (u32, u32), text: &str) {
        self.notify(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": uri, "version": version },
                "contentChanges": [{ "range": range(from, to), "text": text }],
            }),
        );
    }

    /// Replaces the whole of a document.
    pub fn replace(&mut self, uri: &str, version: i64, text: &str) {
        self.notify(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": uri, "version": version },
                "contentChanges": [{ "text": text }],
            }),
        );
    }

    /// Returns the process identifier of the server.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the resident memory of the server in bytes, if available.
    pub fn resident(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
        Some(kilobytes * 1024)
    }

    /// Returns the CPU time of the server, if available.
    pub fn cpu(&self) -> Option<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks: u64 =
            fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
        Some(Duration::from_millis(ticks * 10))
    }

    /// Returns the CPU time of the server in nanoseconds, of the threads that have not ended, if
    /// available.
    pub fn cpu_time(&self) -> Option<Duration> {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).ok()?;
        let time = |thread: std::fs::DirEntry| -> Option<u64> {
            let times = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
            times.split_whitespace().next()?.parse().ok()
        };
        Some(Duration::from_nanos(threads.flatten().filter_map(time).sum()))
    }

    /// Stops to read what the server writes, until [`resume`](Self::resume). The message that is being
    /// read is read to its end.
    pub fn pause(&self) {
        *self.is_paused.0.lock().expect("no thread panics") = true;
    }

    /// Goes on to read.
    pub fn resume(&self) {
        *self.is_paused.0.lock().expect("no thread panics") = false;
        self.is_paused.1.notify_all();
    }

    /// Shuts the server down; returns its exit code.
    pub fn finish(mut self) -> Option<i32> {
        let answer = self.request("shutdown", Value::Null);
        assert!(answer.get("error").is_none(), "{answer}");
        self.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
        self.exit_code(PATIENCE)
    }

    /// Waits for the server to end.
    pub fn exit_code(&mut self, patience: Duration) -> Option<i32> {
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            if let Ok(Some(status)) = self.child.try_wait() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        None
    }

    /// Closes the server's standard input.
    pub fn hang_up(&mut self) {
        self.stdin = None;
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the bytes of a message.
pub fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// A range of the protocol.
pub fn range(from: (u32, u32), to: (u32, u32)) -> Value {
    let at = |(line, character): (u32, u32)| json!({ "line": line, "character": character });
    json!({ "start": at(from), "end": at(to) })
}

/// A document and a place in it.
pub fn at(uri: &str, line: u32, character: u32) -> Value {
    json!({
        "textDocument": { "uri": uri },
        "position": { "line": line, "character": character },
    })
}

fn read_message(from: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    Some(body)
}
