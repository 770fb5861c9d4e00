//! `relay.reduce`: the smallest module that still has a diagnostic of a document.
//!
//! A reduction has its own thread and its own database, since it analyses hundreds of modules. It ends soon after the
//! request is cancelled.

use std::{
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::Duration,
};

use interpreter::Limits;
use semantics::{Code, Rules, Severity};
use serde::Deserialize;
use syntax::TextRange;
use tokio::sync::{Semaphore, oneshot};
use tower_lsp::{
    jsonrpc::{Error, Result},
    lsp_types::{ExecuteCommandParams, Position, Url},
};

use super::{
    request::request_failed,
    runs::{Cancel, CancelGuard},
    snapshot::Snapshot,
};
use crate::{
    panics,
    protocol::ReducedModule,
    reduce::{JudgeSettings, Keep, reduce},
    run::arguments::Inputs,
};

/// The command that reduces a document.
pub(super) const REDUCE: &str = "relay.reduce";
/// The largest number of reductions at once.
const MOST: usize = 2;
/// The stack size, for the deepest nesting that settings allow.
const STACK: usize = 16 << 20;

/// A permit for each reduction that may still start.
static FREE: Semaphore = Semaphore::const_new(MOST);

/// The parameters of `relay.reduce`.
#[derive(Deserialize)]
struct ReduceParams {
    uri: Url,
    /// A position in the diagnostic, or else in its line.
    position: Position,
    /// The code of the diagnostic, if there are several.
    code: Option<String>,
}

/// What is reduced.
pub(super) struct Subject {
    text: String,
    code: Code,
    place: TextRange,
    rules: Rules,
}

/// Finds the diagnostic of a command: an error at the position before other findings there, and before those in its
/// line.
pub(super) fn subject(snapshot: &Snapshot, command: ExecuteCommandParams) -> Result<Subject> {
    let argument = command.arguments.into_iter().next().unwrap_or_default();
    let params: ReduceParams = serde_json::from_value(argument).map_err(|error| {
        let form = "{\"uri\": …, \"position\": …}";
        Error::invalid_params(format!("`{REDUCE}` takes an object such as {form}: {error}"))
    })?;
    let host = snapshot.document(&params.uri)?;
    let nothing = || request_failed("there is no diagnostic here".to_owned());
    let at = host.offset(params.position, snapshot.encoding).ok_or_else(nothing)?;
    let (document, at) = match &host.host {
        None => (host, at),
        Some(_) => host.block_at(at).ok_or_else(nothing)?,
    };
    let text = document.file.text(&snapshot.db).to_string();
    let found = semantics::check_file(&snapshot.db, document.file);
    let line = |range: TextRange| document.lines.line_at(range.start());
    let of_line = document.lines.line_at(at);
    let is_wanted = |code: Code| params.code.as_ref().is_none_or(|wanted| code.name() == wanted);
    let diagnostic = found
        .iter()
        .filter(|d| is_wanted(d.code))
        .filter(|d| d.range.contains_inclusive(at) || line(d.range) == of_line)
        .min_by_key(|d| {
            (!d.range.contains_inclusive(at), d.severity != Severity::Error, d.range.len())
        })
        .ok_or_else(nothing)?;
    let rules = snapshot.config.setup.rules;
    Ok(Subject { text, code: diagnostic.code, place: diagnostic.range, rules })
}

/// Reduces a module on a thread of its own. Dropping the future ends that.
pub(super) async fn run(subject: Subject) -> Result<ReducedModule> {
    let permit = FREE.try_acquire().map_err(|_| {
        let message = "modules are already being reduced: cancel one of them first";
        request_failed(format!("{MOST} {message}"))
    })?;
    let (reply, receiver) = oneshot::channel();
    let guard = CancelGuard(Cancel::default());
    let cancelled = guard.0.0.flag.clone();
    let work = move || {
        let done = panics::caught(|| reduced(&subject, &cancelled));
        let done = done.unwrap_or_else(|panicked| Err(panicked.message("this reduction")));
        // Fails if the client has cancelled the request.
        let _ = reply.send(done.map_err(request_failed));
        drop(permit);
    };
    let spawned = thread::Builder::new().name("reduce".into()).stack_size(STACK).spawn(work);
    let answer = match spawned {
        Ok(_) => receiver.await.unwrap_or_else(|_| Err(Error::internal_error())),
        Err(error) => Err(request_failed(format!("no thread can be started: {error}"))),
    };
    drop(guard);
    answer
}

fn reduced(
    subject: &Subject,
    cancelled: &Arc<AtomicBool>,
) -> std::result::Result<ReducedModule, String> {
    let setting = JudgeSettings {
        keep: Keep::Code(subject.code),
        inputs: Inputs::default(),
        limits: Limits::default(),
        time: Duration::ZERO,
        jobs: 1,
        operators: None,
        cancelled: cancelled.clone(),
        rules: subject.rules,
        place: Some(subject.place),
    };
    let found = reduce(&subject.text, setting, &mut |_, _| Ok(()))?;
    Ok(ReducedModule {
        text: found.text,
        code: subject.code.name(),
        shows: found.what,
        bindings: found.bindings,
        tried: found.tried,
    })
}
