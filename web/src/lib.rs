//! The language server as a module of WebAssembly, for a web worker.
//!
//! Messages of the protocol pass through a buffer in the memory of the module. The interface is six exported
//! functions and an imported clock. `wasm-bindgen` is not used: its tool takes minutes to build, and its
//! generated script would be larger than the one that calls these functions.
//!
//! A host calls `start` once. For each message of the client it calls `allocate` with the length, writes the
//! message there, and calls `receive`. It calls `work` until there is nothing to do at the moment, and after
//! each call reads the messages for the client with `take` and `message`. If a call traps, the instance
//! cannot be used any more: `fault` returns the reason, and the host creates a new instance.

#![expect(unsafe_code, reason = "names that the host calls, and its clock; no unsafe block")]

use std::cell::RefCell;

use parking_lot::Mutex;
use server::EmbeddedServer;

/// The session and the buffers of messages.
#[derive(Default)]
struct State {
    session: Option<EmbeddedServer>,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// The message of the panic that ended the instance. Separate from the state, which stays borrowed.
static FAULT: Mutex<String> = Mutex::new(String::new());

#[cfg(target_arch = "wasm32")]
mod host {
    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        /// Returns the milliseconds since an arbitrary time.
        pub(crate) safe fn now() -> f64;
    }
}

/// Starts the session.
#[unsafe(no_mangle)]
pub extern "C" fn start() {
    #[cfg(target_arch = "wasm32")]
    clock::host::install(|| host::now());
    server::on_panic(|message| {
        *FAULT.lock() = message;
    });
    STATE.with_borrow_mut(|state| state.session = Some(EmbeddedServer::default()));
}

/// Allocates the buffer for a message of the client, and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.incoming.clear();
        state.incoming.resize(length, 0);
        state.incoming.as_mut_ptr()
    })
}

/// Receives the message that was written to [`allocate`].
#[unsafe(no_mangle)]
pub extern "C" fn receive() {
    STATE.with_borrow_mut(|state| {
        let body = std::mem::take(&mut state.incoming);
        if let Some(session) = &mut state.session {
            session.receive(&body);
        }
    });
}

/// Does a unit of work. Returns the milliseconds until there is more, which is zero for more work now, and
/// negative if there is none before the next message.
#[unsafe(no_mangle)]
pub extern "C" fn work() -> f64 {
    let next = STATE.with_borrow_mut(|state| state.session.as_mut().and_then(EmbeddedServer::work));
    next.map_or(-1.0, |time| time.as_secs_f64() * 1000.0)
}

/// Moves the next message for the client to the buffer. Returns its length, or zero if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn take() -> usize {
    STATE.with_borrow_mut(|state| {
        state.outgoing = state.session.as_mut().and_then(EmbeddedServer::take).unwrap_or_default();
        state.outgoing.len()
    })
}

/// Returns the address of the message that [`take`] or [`fault`] moved to the buffer.
#[unsafe(no_mangle)]
pub extern "C" fn message() -> *const u8 {
    let fault = FAULT.lock();
    match fault.is_empty() {
        true => STATE.with_borrow(|state| state.outgoing.as_ptr()),
        false => fault.as_ptr(),
    }
}

/// Moves the message of the panic that ended the instance to the buffer. Returns its length, or zero if
/// there was no panic.
#[unsafe(no_mangle)]
pub extern "C" fn fault() -> usize {
    FAULT.lock().len()
}
