//! The log on standard error, for developers.

use tracing_subscriber::{
    Layer, filter::Targets, fmt::format::FmtSpan, layer::SubscriberExt, util::SubscriberInitExt,
};

use crate::report::stderr;

/// The variable that turns the log on: a level, or levels of modules, as in `debug` and
/// `warn,relay_analyzer::lsp=trace`.
const VARIABLE: &str = "RELAY_LOG";

/// Starts the log if [`VARIABLE`] is set. Each span is logged once, when it ends, with its busy and idle
/// times.
pub(crate) fn start() {
    let Some(filter) = std::env::var_os(VARIABLE).filter(|filter| !filter.is_empty()) else {
        return;
    };
    let targets: Targets = match filter.to_string_lossy().parse() {
        Ok(targets) => targets,
        Err(error) => {
            let example = format!("as in {VARIABLE}=debug or {VARIABLE}=relay_analyzer::lsp=trace");
            stderr::warning(&format!("{VARIABLE} is ignored: {error}; {example}"));
            return;
        }
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_thread_names(true)
        .with_span_events(FmtSpan::CLOSE)
        .with_filter(targets);
    // Fails if there is a log already; this is called once.
    let _ = tracing_subscriber::registry().with(lines).try_init();
}
