//! Compiles the generated parser and its scanner.

fn main() {
    let mut parser = cc::Build::new();
    // Large models are parsed in tests, too: an unoptimised parser takes ten times as long.
    parser.std("c11").include("src").opt_level(2).warnings(false);
    for file in ["src/parser.c", "src/scanner.c"] {
        parser.file(file);
        println!("cargo:rerun-if-changed={file}");
    }
    parser.compile("tree-sitter-relay");
}
