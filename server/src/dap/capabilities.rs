//! What the debugger offers to clients.

use super::protocol::{Capabilities, ExceptionFilter};

/// The filters of exceptions.
const FILTERS: [ExceptionFilter; 5] = [
    ExceptionFilter {
        filter: "failed",
        label: "Failures",
        description: "Stops where the run fails: an operator rejects its arguments, no arm matches, a limit is reached",
        default: true,
    },
    ExceptionFilter {
        filter: "declaredSize",
        label: "Declared Sizes",
        description: "Stops where a value does not have its declared size, without the other failures",
        default: false,
    },
    ExceptionFilter {
        filter: "nan",
        label: "NaN",
        description: "Stops after an operator whose result has NaN",
        default: false,
    },
    ExceptionFilter {
        filter: "infinity",
        label: "Infinities",
        description: "Stops after an operator whose result has infinities",
        default: false,
    },
    ExceptionFilter {
        filter: "overflow",
        label: "Integer Overflow",
        description: "Stops after an operator on integers whose exact result does not fit their type",
        default: false,
    },
];

/// Returns what the debugger can do.
pub(super) fn capabilities() -> Capabilities {
    Capabilities {
        supports_configuration_done_request: true,
        supports_function_breakpoints: true,
        supports_conditional_breakpoints: true,
        supports_hit_conditional_breakpoints: true,
        supports_log_points: true,
        supports_evaluate_for_hovers: true,
        supports_step_back: true,
        supports_restart_frame: true,
        supports_set_variable: true,
        supports_exception_info_request: true,
        supports_terminate_request: true,
        supports_breakpoint_locations_request: true,
        supports_goto_targets_request: true,
        supports_delayed_stack_trace_loading: true,
        supports_completions_request: true,
        completion_trigger_characters: ["%", "@", "."],
        supports_read_memory_request: true,
        exception_breakpoint_filters: FILTERS.into(),
    }
}
