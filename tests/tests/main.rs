//! One program for the tests of the crates together: a program for each file would take minutes to link.
//! `cargo test --release --workspace --test all mdtest::` runs the tests of one file.
//!
//! Programs of their own have the tests that count allocations or replace the hook of panics, and those with
//! editors.

mod action;
mod algebra;
mod archives;
mod batch;
mod between;
mod between_laws;
mod binding;
mod bisections;
mod cascades;
mod casts;
mod changing_files;
mod cli;
mod cli_output;
mod code_views;
mod codes;
mod colourings;
mod compared_values;
mod comparisons;
mod completion;
mod computed;
mod conformance;
mod debugger;
mod debugger_clients;
mod debugger_recall;
mod delivery;
mod dependencies;
mod differences;
mod docs;
mod effects;
mod embedded;
mod empties;
mod fixes;
mod format;
mod hostile;
mod incremental;
mod install;
mod kernels;
mod kinds;
mod large;
mod latency;
mod laws;
mod layers;
mod limits;
mod log;
mod mdtest;
mod modules;
mod one_change;
mod operator_calls;
mod operator_values;
mod outputs;
mod pasted;
mod protocol;
mod protocol_robustness;
mod queries;
mod reading;
mod reading_edits;
mod reductions;
mod relations;
mod releases;
mod reparse;
mod requests;
mod results;
mod run;
mod run_command;
mod run_limits;
mod run_values;
mod saved;
mod settings;
mod single_fixes;
mod soak;
mod source_map;
mod sources;
mod tensor_views;
mod tree_sitter;
mod web;
mod weights;
mod writing;

/// A file of tests that no program contains would be forgotten.
#[test]
fn every_file_of_tests_is_in_a_program() {
    let folder = relay_tests::corpus::here().join("tests");
    let manifest = include_str!("../Cargo.toml");
    for (file, _) in relay_tests::corpus::files(&folder, &["rs"]) {
        let name = file.strip_suffix(".rs").unwrap_or(&file);
        let is_module = include_str!("main.rs").contains(&format!("\nmod {name};\n"));
        let has_program = manifest.contains(&format!("path = \"tests/{file}\""));
        assert!(is_module != has_program, "{file} is in no program, or in two");
    }
}
