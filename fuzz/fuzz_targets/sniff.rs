#![no_main]

use highwater::ingest::{Input, parse};

// The format is told by the content.
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(parsed) = parse(&Input::bytes("fuzz", data), None) {
        highwater_fuzz::check(&parsed);
    }
});
