//! The debugger: the Debug Adapter Protocol over standard input and output, or over a port of this machine.
//!
//! A session has three threads: one reads messages, one answers them, and one runs the program, which waits for orders
//! where it stops. Runs are those of the command `run`: [`execute`](crate::run::execute) with an observer.

mod breakpoints;
mod capabilities;
mod checkpoints;
mod completion;
mod console;
mod debugger;
mod edits;
mod evaluator;
mod position;
mod program;
mod protocol;
mod recall;
mod runner;
mod session;
mod sliced;
mod stop;
mod stopped;
mod tensor;
mod transport;
mod variables;

use std::{
    io,
    net::{Ipv4Addr, Shutdown, TcpListener},
    sync::mpsc::channel,
    thread,
};

use session::Session;
use stop::SessionEvent;
use transport::Output;

use crate::report::stderr;

/// Serves one client over standard input and output.
///
/// # Errors
/// A thread cannot be started.
pub(crate) fn serve() -> io::Result<()> {
    session(io::stdin(), io::stdout())
}

/// Serves clients over a port of this machine, one after another; 0 chooses the port, which is printed. Returns only
/// with an error.
///
/// # Errors
/// The port cannot be used.
pub(crate) fn listen(port: u16) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    stderr::note(&format!("listening on {}", listener.local_addr()?));
    for stream in listener.incoming() {
        let stream = stream?;
        let (input, end) = (stream.try_clone()?, stream.try_clone()?);
        session(input, stream)?;
        // The thread that reads messages may still wait for one. It fails if the client has closed the stream.
        let _ = end.shutdown(Shutdown::Both);
    }
    Ok(())
}

fn session(
    input: impl io::Read + Unpin + Send + 'static,
    output: impl io::Write + Send + 'static,
) -> io::Result<()> {
    let (sender, receiver) = channel();
    transport::read(input, sender.clone(), SessionEvent::Input)?;
    let output = Output::new(output);
    let serve = move || Session::serve(output, (sender, receiver));
    // Expressions nest as deeply as programs.
    let served =
        thread::Builder::new().name("session".into()).stack_size(runner::STACK).spawn(serve)?;
    served.join().map_err(|_| io::Error::other("the session panicked"))
}
