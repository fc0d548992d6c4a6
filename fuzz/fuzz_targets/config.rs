#![no_main]

use highwater::config;

// A config that is accepted is one that can be written down and read again.
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(effective) = config::load(text, "fuzz") {
        let written = config::to_yaml(&effective.config).expect("it can be written");
        assert_eq!(config::load(&written, "written").expect("it is valid").config, effective.config);
    }
});
