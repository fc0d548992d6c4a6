#![no_main]

use highwater::analysis::{monitor::Monitor, steps};
use highwater::ingest::Input;
use highwater::ingest::transcript::{TRANSCRIPT_FORMATS, parse_transcript};
use highwater::model::calls::CallLine;
use highwater::model::steps::State;

// Transcripts of every agent; lines of tool calls, and of supervisor states: a line that is none is passed over, as the commands do.
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let config = highwater::config::defaults().expect("the defaults are valid");
    for format in TRANSCRIPT_FORMATS {
        let _ = parse_transcript(&Input::bytes("fuzz", data), Some(format), highwater::disk::hash::id_of);
    }
    let (mut monitor, mut run) = (Monitor::new(Some("/repo")), steps::Run::default());
    for line in data.split(|byte| *byte == b'\n').take(200) {
        if let Ok(call) = serde_json::from_slice::<CallLine>(line) {
            let _ = monitor.take(call, &config).map(|watched| serde_json::to_string(&watched).expect("it can be told"));
        }
        if let Ok(state) = serde_json::from_slice::<State>(line) {
            let assessment = run.take(&state, &config, highwater::disk::hash::id_of);
            serde_json::to_string(&assessment).expect("it can be told");
        }
    }
});
