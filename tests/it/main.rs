//! Everything that is tested through the crate's public face or the built program. One test program links once.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and sets up files of its own"
)]

mod architecture;
mod bad_input;
mod bad_reports;
mod cli;
mod commands;
mod console;
mod corpus;
mod damage;
mod difflib;
mod disks;
mod escape;
mod estimate;
mod exports;
mod faults;
mod folding;
mod goldens;
mod guest;
mod hook_install;
mod hooks;
mod hourbook;
mod importing;
mod interrupted;
mod keeping;
mod lost_lines;
#[cfg(feature = "mcp")]
mod mcp;
mod mending;
mod merging;
mod metamorphic;
mod monitor;
mod mutations;
mod old_loops;
mod own_metrics;
mod planted;
mod progress;
mod proofs;
mod properties;
mod pruning;
mod readme;
mod recipes;
mod recovery;
mod replay;
mod report_bytes;
mod restore;
mod roundtrip;
mod schemas;
mod shell;
mod silence;
mod steps;
mod support;
mod syncs;
mod tamper;
mod tests_ledger;
mod transcript_formats;
mod transcripts;
mod vectors;
mod writers;
