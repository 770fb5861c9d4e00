//! What the debugger offers to clients.

use serde_json::{Value as Json, json};

/// Returns what the debugger can do, with the filters of exceptions.
pub(super) fn capabilities() -> Json {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsEvaluateForHovers": true,
        "supportsStepBack": true,
        "supportsRestartFrame": true,
        "supportsSetVariable": true,
        "supportsExceptionInfoRequest": true,
        "supportsTerminateRequest": true,
        "supportsBreakpointLocationsRequest": true,
        "supportsGotoTargetsRequest": true,
        "supportsDelayedStackTraceLoading": true,
        "supportsCompletionsRequest": true,
        "completionTriggerCharacters": ["%", "@", "."],
        "supportsReadMemoryRequest": true,
        "exceptionBreakpointFilters": [
            {
                "filter": "failed",
                "label": "Failures",
                "description": "Stops where the run fails: an operator rejects its arguments, no arm matches, a limit is reached",
                "default": true,
            },
            {
                "filter": "declaredSize",
                "label": "Declared Sizes",
                "description": "Stops where a value does not have its declared size, without the other failures",
                "default": false,
            },
            {
                "filter": "nan",
                "label": "NaN",
                "description": "Stops after an operator whose result has NaN",
                "default": false,
            },
            {
                "filter": "infinity",
                "label": "Infinities",
                "description": "Stops after an operator whose result has infinities",
                "default": false,
            },
            {
                "filter": "overflow",
                "label": "Integer Overflow",
                "description": "Stops after an operator on integers whose exact result does not fit their type",
                "default": false,
            },
        ],
    })
}
