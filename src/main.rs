//! The `highwater` command.

use std::process::ExitCode;

// The C library's allocator asks the kernel page by page for what other threads than the first need: in a long loop that is a
// third of a record's calls, and a tenth of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    highwater::cli::run(std::env::args_os()).into()
}
