//! Errors of reading saved modules.

use std::fmt;

/// The error of a saved module that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The kind of the error, in lower case with hyphens.
    pub code: &'static str,
    /// The place in the file, such as a node; empty for the whole file.
    pub place: String,
    /// The reason.
    pub message: String,
    /// A suggestion for the user, or an empty string.
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
                "load the file with the TVM version that wrote it, and save the output of `astext()`"
            }
            "unknown-version" => {
                "load the file with a TVM version that reads it, and save it with TVM 0.6 to 0.19"
            }
            "too-deep" | "too-long" | "too-many-nodes" => {
                "load the file with TVM, and save the output of `astext()`"
            }
            "lowered-function" => {
                "save the module before it is lowered, or without its functions in TIR; TVM prints those with `script()`"
            }
            "no-module" => "save a module or a function with `tvm.ir.save_json`",
            "bad-archive" => "download or create the archive again",
            "many-modules" => "unpack the archive, and name one of the modules",
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
