//! Texts that are something else as a whole, which have one error: what they are, and how to get Relay from it.

use syntax::{OtherText, TextRange};

use crate::{
    db::{Db, SourceFile},
    diagnostic::{Code, Diagnostic},
};

/// The help for a module in memory.
const PRINT: &str =
    "print the module itself: `print(mod)`, or `mod.astext()` for its text with the weights";
/// The help for the product of a compilation.
const BEFORE: &str = "print the Relay module before it is compiled: `print(mod)` or `mod.astext()`";

/// Returns the error about a text that is something else. The other findings about it would be about a language that
/// it does not have.
pub(in crate::check) fn check(db: &dyn Db, file: SourceFile) -> Option<Diagnostic> {
    let (kind, range) = syntax::other_text(&file.parse(db))?;
    Some(of(kind, range))
}

fn of(kind: OtherText, range: TextRange) -> Diagnostic {
    use OtherText::*;
    let (what, help) = match kind {
        ObjectPrint => ("the print of an object", PRINT),
        Bytecode => ("the bytecode of TVM's virtual machine", BEFORE),
        Tir => ("a function of TIR", BEFORE),
        TvmScript => ("a module in TVMScript", BEFORE),
        Relax => (
            "a module of Relax",
            "TVM has no way from Relax to Relay: import the model with `relay.frontend`, and print the module",
        ),
        Traceback => (
            "a traceback of Python",
            "print the module before the call that fails: `print(mod)` or `mod.astext()`",
        ),
        Python => (
            "a program of Python",
            "run it, and print the module that it makes: `print(mod)` or `mod.astext()`",
        ),
        GraphJson => ("a graph of TVM's graph executor", BEFORE),
        Json => (
            "JSON",
            "save a module of `tvm.ir.save_json` with the extension `.json`, or print it: `print(tvm.ir.load_json(text))`",
        ),
        Onnx => (
            "a model of ONNX",
            "import it: `mod, params = relay.frontend.from_onnx(model)`, and `print(mod)`",
        ),
        Pbtxt => (
            "a graph of TensorFlow",
            "import it: `mod, params = relay.frontend.from_tensorflow(graph)`, and `print(mod)`",
        ),
        TorchScript => (
            "a graph of TorchScript",
            "import it: `mod, params = relay.frontend.from_pytorch(module, shapes)`, and `print(mod)`",
        ),
        Hlo => ("a module of HLO", IMPORT),
        StableHlo => ("a module of StableHLO, a dialect of MLIR", IMPORT),
        Mlir => ("a module of MLIR", IMPORT),
        Llvm => ("a module of LLVM", BEFORE),
        C => ("a program of C", BEFORE),
        Html => ("a web page", "copy the text that the page shows, or save it as plain text"),
    };
    let message = format!("this is {what}, and not Relay");
    Diagnostic::new(Code::OtherText, range, message).help(help)
}

/// The help for a model of another framework.
const IMPORT: &str = "import the model that it was made of with `relay.frontend`, and print the module: `print(mod)`";
