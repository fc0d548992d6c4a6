#![no_main]

use highwater::ingest::Input;
use highwater::ingest::console::console;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for parsed in console(&Input::bytes("fuzz", data)) {
        highwater_fuzz::check(&parsed);
    }
});
