//! Reasons why a saved module cannot be read.

use std::fmt;

/// A reason why a saved module cannot be read: a code, the place, the reason, and a way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The kind of the failure, in lower case with hyphens.
    pub code: &'static str,
    /// The place in the file, such as a node; empty where it is the file itself.
    pub place: String,
    /// The reason.
    pub message: String,
    /// The way out; empty where there is none.
    pub help: &'static str,
}

impl Error {
    pub(crate) fn new(
        code: &'static str,
        place: impl Into<String>,
        message: impl Into<String>,
    ) -> Error {
        let help = match code {
            "unknown-node-kind" => {
                "load the file with the TVM that wrote it, and save what `astext()` gives"
            }
            "unknown-version" => {
                "load it with a TVM that reads it, and save it with TVM 0.6 to 0.19"
            }
            "too-deep" | "too-long" | "too-many-nodes" => {
                "load the file with TVM, and save the text that `astext()` gives"
            }
            "no-module" => "save a module or a function with `tvm.ir.save_json`",
            "bad-archive" => "get the archive again, or pack it anew",
            "many-modules" => "unpack the archive, and name one of them",
            "not-json" | "bad-graph" => "save the module again with `tvm.ir.save_json`",
            _ => "",
        };
        Error { code, place: place.into(), message: message.into(), help }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        write!(f, "{} [{}]", self.message, self.code)?;
        if !self.help.is_empty() {
            write!(f, "; {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
