use std::io::{Read, Write};
fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let verbose = std::env::args().any(|a| a == "-v");
    let mut first = true;
    for part in text.split("\n---\n") {
        let converted = semantics::to_tvm(part);
        let mut out = std::io::stdout().lock();
        if !first {
            writeln!(out, "\n---").unwrap();
        }
        first = false;
        write!(out, "{}", converted.text.trim_end_matches('\n')).unwrap();
        if verbose {
            for d in &converted.left {
                write!(out, "\n// LEFT [{}] {} {:?}", d.code, d.message, d.help).unwrap();
            }
        }
    }
}
