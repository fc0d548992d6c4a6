#![no_main]

use highwater::model::record::IterationRecord;
use highwater::store;

// A record that is accepted can be stored again and is the same then.
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(record) = store::parse::<IterationRecord>(data) {
        let stored = store::encode(&record).expect("it can be stored");
        assert_eq!(store::parse::<IterationRecord>(&stored).expect("it is valid"), record);
    }
});
