//! Texts that are something else as a whole: the print of an object, a traceback, a module of another compiler.
//!
//! ```text
//! CallNode(Op(nn.relu), [Var(x, ty=TensorType([2, 3], float32))], (nullptr), [])
//! ```
//!
//! [`of`] is asked only after syntax errors were found, and about a text in which nothing is Relay. It looks for
//! what one kind of text has at the beginning of a line and Relay has nowhere. Only the beginning of the text is
//! searched, so that the cost does not grow with it.

use crate::{Node, Parse, Source, SyntaxKind, TextRange, error::range};

/// The most bytes that are searched.
const SEARCHED: usize = 8 * 1024;

/// What a text is in place of Relay.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OtherText {
    /// `CallNode(Op(nn.relu), …)`: what `repr` shows of an object of Relay.
    ObjectPrint,
    /// The listing of the virtual machine's bytecode.
    Bytecode,
    /// TIR as `print` shows it before TVM 0.10, and the loops of TVM 0.6.
    Tir,
    /// TIR in TVMScript.
    TvmScript,
    /// Relax, in TVMScript.
    Relax,
    /// A traceback of Python.
    Traceback,
    /// A program of Python.
    Python,
    /// The graph of TVM's graph executor.
    GraphJson,
    /// Any other JSON.
    Json,
    /// A model of ONNX, in one of its texts.
    Onnx,
    /// A graph of TensorFlow, as text of protocol buffers.
    Pbtxt,
    /// A graph of TorchScript or of PyTorch's FX.
    TorchScript,
    /// A module of HLO.
    Hlo,
    /// A module of StableHLO or MHLO, which are dialects of MLIR.
    StableHlo,
    /// A module of another dialect of MLIR.
    Mlir,
    /// A module of LLVM.
    Llvm,
    /// C, C++ or CUDA.
    C,
    /// A web page.
    Html,
}

/// Returns what the text of a parse is in place of Relay, and the line that shows it. `None` for a text that is
/// Relay, with errors or without, and for one that is not known.
pub fn other_text(parse: &Parse) -> Option<(OtherText, TextRange)> {
    let root = Node::root(&parse.green);
    let is_broken = parse.errors.iter().any(|error| !error.kind.is_compat());
    if !is_broken && !is_around_nothing(root) || has_relay(root) {
        return None;
    }
    let mut end = SEARCHED.min(root.byte_len());
    while !root.is_boundary(end) {
        end -= 1;
    }
    of(&root.part(0..end)?)
}

/// Returns true if a text without syntax errors has only lines of logs, TIR functions, and what could be calls: `Var(x,
/// ty=…)`, `CallNode(Op(nn.relu), [Var(x)])`.
fn is_around_nothing(root: Node<'_>) -> bool {
    let is_foreign = |item: Node<'_>| match item.kind() {
        SyntaxKind::BANNER_ITEM | SyntaxKind::TIR_ITEM => true,
        SyntaxKind::EXPR_ITEM => {
            item.first_token().is_some_and(|word| word.text() == "Var" || is_node(word.text()))
        }
        _ => false,
    };
    // Most files begin with a module.
    root.children().next().is_some() && root.children().all(is_foreign)
}

/// Returns true if an item can only be one of Relay: `def @f`, a type, `#[version = "0.0.5"]`, and an expression with
/// bindings or calls of variables.
fn has_relay(root: Node<'_>) -> bool {
    root.children().any(|item| match item.kind() {
        SyntaxKind::VERSION | SyntaxKind::METADATA_ITEM => true,
        SyntaxKind::FN_DEF => {
            let name = item.child(SyntaxKind::NAME).and_then(|name| name.first_token());
            item.token(SyntaxKind::DEF_KW).is_some()
                && name.is_some_and(|name| name.kind() == SyntaxKind::GLOBAL)
        }
        SyntaxKind::TYPE_DEF => item.first_token().is_some_and(|word| word.text() == "type"),
        SyntaxKind::EXPR_ITEM => item.children().any(is_relay),
        _ => false,
    })
}

/// Returns true for an expression that no other language has: `fn (%x: T) { … }`, and a block that begins with
/// `let %x` or `free_var %x`.
fn is_relay(expr: Node<'_>) -> bool {
    match expr.kind() {
        SyntaxKind::FN_EXPR => expr.first_token().is_some_and(|word| word.text() == "fn"),
        SyntaxKind::BLOCK | SyntaxKind::BLOCK_EXPR | SyntaxKind::CHUNK => {
            expr.children().take(MAX_STATEMENTS).any(is_relay)
        }
        SyntaxKind::LET_STMT | SyntaxKind::FREE_VAR_STMT => {
            expr.child(SyntaxKind::NAME).is_some_and(|name| name.first_token().is_some())
        }
        _ => false,
    }
}

/// The most statements of an expression that are looked at.
const MAX_STATEMENTS: usize = 64;

/// Returns what a text is, and the line that shows it.
fn of(text: &str) -> Option<(OtherText, TextRange)> {
    let mut start = 0;
    let mut is_first = true;
    for line in text.split_inclusive('\n') {
        let at = start + line.len() - line.trim_start().len();
        let shown = line.trim();
        start += line.len();
        if shown.is_empty() {
            continue;
        }
        let rest = &text[at..];
        let first = if std::mem::take(&mut is_first) { of_beginning(rest) } else { None };
        if let Some(kind) = first.or_else(|| of_line(shown, rest)) {
            return Some((refined(kind, text), range(at, at + shown.len())));
        }
    }
    None
}

/// Returns what a text is by its first characters, which later lines may have for other reasons.
fn of_beginning(text: &str) -> Option<OtherText> {
    let bare = |n: usize| text[n..].trim_start();
    match text.as_bytes().first()? {
        // `{"nodes": [`, and not the block `{ %x }`.
        b'{' if bare(1).starts_with('"') && has_key(bare(1)) => Some(OtherText::Json),
        b'[' if bare(1).starts_with(['{', '"', '[']) => Some(OtherText::Json),
        b'<' => {
            let head: String = text.chars().take(16).collect::<String>().to_ascii_lowercase();
            let is_page = ["<!doc", "<html", "<head", "<body", "<?xml", "<svg", "<!--"]
                .iter()
                .any(|tag| head.starts_with(tag));
            match is_page {
                true => Some(OtherText::Html),
                false => bare(1).starts_with("ir_version:").then_some(OtherText::Onnx),
            }
        }
        _ => None,
    }
}

/// Returns true if a string and a colon begin `text`.
fn has_key(text: &str) -> bool {
    let rest = text.get(1..).and_then(|rest| Some(&rest[rest.find('"')? + 1..]));
    rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
}

/// The beginnings of lines by which texts of other kinds are recognised.
const BEGINNINGS: &[(OtherText, &[&str])] = &[
    (OtherText::Bytecode, &["VM Function[", "VM Const[", "opcode, fields", "# reg file size"]),
    (OtherText::Tir, &["primfn(", "PrimFunc([", "// attr ["]),
    (OtherText::Relax, &["@R.function", "@relax.function", "from tvm.script import relax"]),
    (OtherText::TvmScript, &["@T.prim_func", "@tir.prim_func", "@tvm.script.", "@I.ir_module"]),
    (OtherText::TvmScript, &["# from tvm.script import", "from tvm.script import"]),
    (OtherText::Traceback, &["Traceback (most recent call last)"]),
    (OtherText::Hlo, &["HloModule ", "HloModule,"]),
    (OtherText::Mlir, &["module {", "module @", "module attributes"]),
    (OtherText::Mlir, &["builtin.module", "\"builtin.module\""]),
    (OtherText::Llvm, &["; ModuleID = ", "source_filename = \"", "target datalayout = "]),
    (OtherText::Llvm, &["target triple = "]),
    (OtherText::TorchScript, &["graph():"]),
    (OtherText::Onnx, &["ir_version:", "opset_import {", "opset_import:"]),
    (OtherText::C, &["#include <", "#include \"", "#pragma once", "#ifndef ", "#define "]),
    (OtherText::C, &["extern \"C\""]),
];

/// Returns what a text is by one of its lines. `rest` is the text from the line on.
fn of_line(line: &str, rest: &str) -> Option<OtherText> {
    use OtherText::*;
    if is_object(line) {
        return Some(ObjectPrint);
    }
    let begins = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
    if let Some((kind, _)) = BEGINNINGS.iter().find(|(_, words)| begins(words)) {
        return Some(*kind);
    }
    let is_tir = line.starts_with('@') && line.contains(" = primfn(")
        || line.starts_with("produce ") && line.ends_with('{');
    let is_onnx = line.starts_with("graph ") && rest.contains("[FLOAT") || is_onnx_function(line);
    let has_node = line.starts_with("node {");
    let kinds = [
        (Tir, is_tir),
        (TvmScript, line == "@ir_module"),
        (Mlir, line.starts_with("func.func ") && has_mlir_operation(rest)),
        (Llvm, begins(&["define ", "declare "]) && has_llvm_type(line)),
        (TorchScript, line.starts_with("graph(%") && line.contains(" : ")),
        (Onnx, is_onnx || has_node && rest.contains("op_type: \"")),
        (Pbtxt, has_node && rest.contains("op: \"")),
        (C, is_c_function(line)),
        (Python, is_python(line)),
    ];
    kinds.into_iter().find(|(_, is_shown)| *is_shown).map(|(kind, _)| kind)
}

/// Returns true for the name of a class of TVM's objects: `CallNode`.
fn is_node(word: &str) -> bool {
    word.len() > "Node".len() && word.ends_with("Node")
}

/// Returns true for the print of an object: `CallNode(Op(add), …`, `Var(x, ty=TensorType(…`.
fn is_object(line: &str) -> bool {
    let Some((word, arguments)) = line.split_once('(') else { return false };
    let is_word = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    // Names have no sigils there, and those of a pattern such as `TreeNode(LeafNode(%x), _)` have.
    if !is_word || !word.starts_with(|c: char| c.is_ascii_uppercase()) || line.contains('%') {
        return false;
    }
    let has_object = || {
        ["Op(", "Var(", "[", "Node(", "Constant(", "GlobalVar(", "TensorType(", "{GlobalVar"]
            .iter()
            .any(|object| arguments.trim_start().starts_with(object))
    };
    let is_variable = || word == "Var" && arguments.contains(", ty=");
    is_node(word) && (has_object() || arguments.contains("Node(") || arguments.contains("Var("))
        || is_variable()
        || matches!(word, "TensorType" | "FuncType" | "TupleType")
            && arguments.starts_with('[')
            && line.ends_with(')')
}

/// Returns true for the beginning of a function of MLIR whose operations are those of a dialect, with their types
/// behind them. `func.func @main(%x: tensor<2xf32>)` alone is a header that a person may write for Relay.
fn has_mlir_operation(rest: &str) -> bool {
    rest.lines().take(MAX_LINES).any(|line| {
        let line = line.trim_start();
        let is_return = ["return %", "func.return"].iter().any(|word| line.starts_with(word));
        is_return && line.contains(" : ")
    })
}

/// The most lines of a function that are looked at.
const MAX_LINES: usize = 200;

/// Returns true for the header of a graph of ONNX: `agraph (float[2, 3] X) => (float[2, 3] Y) {`.
fn is_onnx_function(line: &str) -> bool {
    line.contains(") => (")
        && line.starts_with(char::is_alphabetic)
        && line.contains('[')
        && !line.contains('%')
}

/// Returns true for a header of LLVM: `define i32 @main(ptr %x) {`.
fn has_llvm_type(line: &str) -> bool {
    line.contains(" @")
        && line.split([' ', '(', ',', '*']).any(|word| {
            let is_sized = |sign: char| {
                let digits = word.strip_prefix(sign);
                digits.is_some_and(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit()))
            };
            matches!(word, "void" | "ptr" | "float" | "double" | "dso_local") || is_sized('i')
        })
}

/// Returns true for the header of a function of C: `int main(void) {`, `static void f(float* x)`.
fn is_c_function(line: &str) -> bool {
    const TYPES: &[&str] = &[
        "int ",
        "void ",
        "float ",
        "double ",
        "static ",
        "typedef ",
        "int32_t ",
        "TVM_DLL ",
        "__global__ ",
        "template <",
        "template<",
        "struct ",
        "namespace ",
        "using namespace ",
    ];
    let is_function = line.contains('(') && line.ends_with(['{', ')', ',', ';']);
    let is_other = ["typedef ", "using namespace ", "template <", "template<"]
        .iter()
        .any(|word| line.starts_with(word));
    TYPES.iter().any(|ty| line.starts_with(ty))
        && !line.contains(['%', '@'])
        && (is_other || is_function)
}

/// Returns true for a statement that only Python has.
fn is_python(line: &str) -> bool {
    let is_import = line.strip_prefix("from ").is_some_and(|rest| rest.contains(" import "))
        || line.strip_prefix("import ").is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !rest.ends_with(';')
        });
    // `def main(x):` may be meant for Relay.
    let is_class = line.starts_with("class ") && line.ends_with(':');
    let is_method = line.starts_with("def ") && line.contains("(self");
    is_import || is_class || is_method || line.starts_with("#!/usr/bin/env python")
}

/// Returns the kind that the rest of the text shows, where the first line leaves it open.
fn refined(kind: OtherText, text: &str) -> OtherText {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match kind {
        OtherText::TvmScript | OtherText::Python
            if has(&["@R.function", "@relax.function", "R.Tensor(", "@relax."]) =>
        {
            OtherText::Relax
        }
        OtherText::Python if has(&["@T.prim_func", "T.handle", "@tvm.script."]) => {
            OtherText::TvmScript
        }
        OtherText::Python if has(&["__torch__.", "torch.", "annotate("]) && has(&["(self"]) => {
            OtherText::TorchScript
        }
        OtherText::Python if has(&["Traceback (most recent call last)"]) => OtherText::Traceback,
        OtherText::Mlir if has(&["stablehlo.", "mhlo.", "chlo."]) => OtherText::StableHlo,
        OtherText::Json if has(&["\"arg_nodes\"", "\"node_row_ptr\""]) => OtherText::GraphJson,
        kind => kind,
    }
}
