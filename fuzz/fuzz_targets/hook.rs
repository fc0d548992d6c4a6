#![no_main]

use highwater::engine::hook::Answer;
use highwater::integrations::{AGENTS, Payload};

// Whatever an agent hands to a hook, each dialect answers it with one JSON object or not at all.
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(payload) = Payload::parse(data) else { return };
    for agent in AGENTS {
        let Some(event) = agent.read(&payload) else { continue };
        for answer in
            [Answer::Context("x".into()), Answer::Note("x".into()), Answer::Refuse("x".into()), Answer::End("x".into())]
        {
            if let Some(reply) = agent.reply(&event, &answer) {
                let object: serde_json::Map<String, serde_json::Value> =
                    serde_json::from_str(&reply).expect("one object");
                drop(object);
            }
        }
    }
});
