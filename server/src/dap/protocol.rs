//! The messages of the Debug Adapter Protocol, as far as they are answered:
//! <https://microsoft.github.io/debug-adapter-protocol/specification>.
//!
//! Lines and columns are those of the client, as [`Positions`](super::program::Positions) converts them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::{protocol::TensorView, run::tensor_view::ViewOptions};

/// A message of the client.
#[derive(Deserialize)]
pub(super) struct ClientMessage {
    /// Its number.
    #[serde(default)]
    pub(super) seq: i64,
    /// `request`; clients answer no requests of this server.
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// The name of the request.
    #[serde(default)]
    pub(super) command: String,
    /// Its arguments.
    #[serde(default)]
    pub(super) arguments: Json,
}

/// A message to the client.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum ServerMessage {
    /// The answer to a request.
    Response(Response),
    /// An event.
    Event(Event),
}

/// The answer to a request.
#[derive(Serialize)]
pub(super) struct Response {
    pub(super) request_seq: i64,
    pub(super) success: bool,
    pub(super) command: String,
    /// The reason of a failure, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<Body>,
}

/// An event.
#[derive(Serialize)]
#[serde(tag = "event", content = "body", rename_all = "lowercase")]
pub(super) enum Event {
    /// Breakpoints can be set.
    Initialized,
    /// The run stopped.
    Stopped(StoppedEvent),
    /// A text for the console.
    Output(OutputEvent),
    /// The run ended.
    #[serde(rename_all = "camelCase")]
    Exited {
        /// That of the command `run`: 0, 1 after a failure, 2 if the run could not start.
        exit_code: i64,
    },
    /// The session is over.
    Terminated,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoppedEvent {
    /// `entry`, `step`, `breakpoint`, `function breakpoint`, `exception`, `pause` or `goto`.
    pub(super) reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    pub(super) thread_id: i64,
    pub(super) all_threads_stopped: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) hit_breakpoint_ids: Vec<i64>,
}

#[derive(Serialize)]
pub(super) struct OutputEvent {
    /// `console`, `stdout` or `stderr`.
    pub(super) category: &'static str,
    pub(super) output: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<Source>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<i64>,
}

/// The body of a response.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Body {
    Capabilities(Json),
    #[serde(rename_all = "camelCase")]
    Breakpoints {
        breakpoints: Vec<BreakpointState>,
    },
    Locations {
        breakpoints: Vec<BreakpointLocation>,
    },
    Threads {
        threads: Vec<Thread>,
    },
    #[serde(rename_all = "camelCase")]
    Frames {
        stack_frames: Vec<StackFrame>,
        total_frames: usize,
    },
    Scopes {
        scopes: Vec<Scope>,
    },
    Variables {
        variables: Vec<Variable>,
    },
    Evaluated {
        result: String,
        #[serde(flatten)]
        details: ValueDetails,
    },
    #[serde(rename_all = "camelCase")]
    Changed {
        value: String,
        #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
        ty: Option<String>,
        variables_reference: i64,
    },
    #[serde(rename_all = "camelCase")]
    Exception {
        exception_id: String,
        description: String,
        break_mode: &'static str,
    },
    Targets {
        targets: Vec<GotoTarget>,
    },
    #[serde(rename_all = "camelCase")]
    Continued {
        all_threads_continued: bool,
    },
    Completions {
        targets: Vec<CompletionTarget>,
    },
    #[serde(rename_all = "camelCase")]
    Memory {
        address: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        unreadable_bytes: Option<usize>,
    },
    Tensor(Box<TensorView>),
    Failure {
        error: ErrorText,
    },
}

/// A completion in the console.
#[derive(Serialize)]
pub(super) struct CompletionTarget {
    pub(super) label: String,
    /// The text to insert, if it is not the label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<String>,
    /// The column from which on it replaces `length` UTF-16 code units.
    pub(super) start: i64,
    pub(super) length: i64,
}

/// The reason of a failure.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ErrorText {
    pub(super) id: i64,
    pub(super) format: String,
    pub(super) show_user: bool,
}

#[derive(Serialize, Clone)]
pub(super) struct Source {
    pub(super) name: String,
    pub(super) path: String,
}

#[derive(Serialize, Default)]
pub(super) struct BreakpointState {
    pub(super) id: i64,
    pub(super) verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<Source>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) column: Option<i64>,
}

#[derive(Serialize)]
pub(super) struct BreakpointLocation {
    pub(super) line: i64,
    pub(super) column: i64,
}

/// A place to which a stopped run can go back.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GotoTarget {
    pub(super) id: i64,
    pub(super) label: String,
    pub(super) line: i64,
    pub(super) column: i64,
    pub(super) end_line: i64,
    pub(super) end_column: i64,
}

#[derive(Serialize)]
pub(super) struct Thread {
    pub(super) id: i64,
    pub(super) name: String,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct StackFrame {
    pub(super) id: i64,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<Source>,
    pub(super) line: i64,
    pub(super) column: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_line: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_column: Option<i64>,
    pub(super) can_restart: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) presentation_hint: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Scope {
    pub(super) name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) presentation_hint: Option<&'static str>,
    pub(super) variables_reference: i64,
    pub(super) named_variables: usize,
    pub(super) expensive: bool,
}

/// A value as the client shows it.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) presentation_hint: Option<PresentationHint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) evaluate_name: Option<String>,
    #[serde(flatten)]
    pub(super) details: ValueDetails,
}

/// The type, the parts and the bytes of a value.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct ValueDetails {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(super) ty: Option<String>,
    pub(super) variables_reference: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) indexed_variables: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) named_variables: Option<usize>,
    /// A reference of the bytes of a tensor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) memory_reference: Option<String>,
}

#[derive(Serialize, Default)]
pub(super) struct PresentationHint {
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) attributes: Vec<&'static str>,
    /// True for a value that is only computed if the client asks for it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) lazy: bool,
}

/// The arguments of `initialize`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeArguments {
    /// True without it, as the next one.
    pub(super) lines_start_at1: Option<bool>,
    pub(super) columns_start_at1: Option<bool>,
}

/// The arguments of `launch`, those of a configuration of the client.
#[derive(Deserialize, Default, Clone)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LaunchArguments {
    /// The file.
    pub(super) program: String,
    /// The function; that of the command `run` without one.
    pub(super) function: Option<String>,
    /// Arguments by the names of parameters, as of `--input`.
    pub(super) inputs: Map<String, Json>,
    /// `.npz` and `.params` files with arguments, as of `--inputs`.
    pub(super) archives: Vec<String>,
    /// `.params` files with weights, as of `--params`.
    pub(super) params: Vec<String>,
    /// The seed of missing arguments.
    pub(super) random: Option<u64>,
    /// Stops before the first binding.
    pub(super) stop_on_entry: bool,
    /// Runs without stopping.
    pub(super) no_debug: bool,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct SourceArguments {
    pub(super) path: Option<String>,
}

/// The arguments of `setBreakpoints` and `setFunctionBreakpoints`, which have no source.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct SetBreakpointsArguments {
    pub(super) source: SourceArguments,
    pub(super) breakpoints: Vec<WantedBreakpoint>,
}

/// A breakpoint as the client sets it: in a line, or by the name of an operator or a definition.
#[derive(Deserialize, Default, Clone)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WantedBreakpoint {
    pub(super) name: String,
    pub(super) line: i64,
    pub(super) column: Option<i64>,
    pub(super) condition: Option<String>,
    pub(super) hit_condition: Option<String>,
    pub(super) log_message: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct SetExceptionBreakpointsArguments {
    pub(super) filters: Vec<String>,
}

/// The arguments of `breakpointLocations` and `gotoTargets`.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PlaceArguments {
    pub(super) source: SourceArguments,
    pub(super) line: i64,
    pub(super) column: Option<i64>,
    pub(super) end_line: Option<i64>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct GotoArguments {
    pub(super) target_id: i64,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct StackTraceArguments {
    pub(super) start_frame: usize,
    pub(super) levels: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FrameArguments {
    pub(super) frame_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct VariablesArguments {
    pub(super) variables_reference: i64,
    /// `indexed` or `named`; both without it.
    pub(super) filter: Option<String>,
    #[serde(default)]
    pub(super) start: usize,
    /// 0 stands for all.
    #[serde(default)]
    pub(super) count: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetVariableArguments {
    pub(super) variables_reference: i64,
    pub(super) name: String,
    pub(super) value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EvaluateArguments {
    pub(super) expression: String,
    pub(super) frame_id: Option<i64>,
    /// `repl` in the console, `watch`, `hover` and others elsewhere.
    pub(super) context: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompletionsArguments {
    pub(super) frame_id: Option<i64>,
    pub(super) text: String,
    pub(super) column: i64,
    /// The line of the text, by default the first one.
    pub(super) line: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadMemoryArguments {
    pub(super) memory_reference: String,
    #[serde(default)]
    pub(super) offset: i64,
    pub(super) count: usize,
}

/// The arguments of `relay/tensor`: an expression, or a reference of a variable.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TensorArguments {
    pub(super) expression: Option<String>,
    pub(super) variables_reference: Option<i64>,
    /// What the view calls the tensor, by default the expression.
    pub(super) name: Option<String>,
    pub(super) frame_id: Option<i64>,
    /// The expression of the tensor that it is compared with.
    pub(super) other: Option<String>,
    #[serde(flatten)]
    pub(super) options: ViewOptions,
}
