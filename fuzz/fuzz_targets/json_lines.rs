#![no_main]

use highwater_fuzz::{Family, parse};

libfuzzer_sys::fuzz_target!(|data: &[u8]| parse(Family::JsonLines, data));
