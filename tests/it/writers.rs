//! Many writers at once: what was acknowledged is there, once, and the chain is whole (PROMISES H4).

use std::collections::BTreeMap;

use crate::support::{Project, answer};

const WRITERS: usize = 8;
const RECORDS: usize = 25;

#[test]
fn eight_writers_of_25_records_lose_none() {
    let project = Project::new();
    project.tests(&[("a", true), ("b", true)]);
    project.run(&["begin", "--loop", "busy"]).expect(0);
    let acknowledged: Vec<(u32, String, String)> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let project = &project;
                scope.spawn(move || {
                    let mut heads = Vec::new();
                    for n in 0..RECORDS {
                        let label = format!("{writer}-{n}");
                        let output = project.command(&["record", "--json", "--label", &label]).output().unwrap();
                        let answer = answer(&output).expect(0);
                        let record = answer.json();
                        let number = u32::try_from(record["iteration"].as_u64().unwrap()).unwrap();
                        heads.push((number, label, record["previous_record"].as_str().unwrap().to_owned()));
                    }
                    heads
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(acknowledged.len(), WRITERS * RECORDS);
    let log = project.run(&["log", "--json"]).expect(0).json();
    assert_eq!(log["iterations"].as_array().unwrap().len(), WRITERS * RECORDS + 1);
    let mut by_number = BTreeMap::new();
    for (number, label, previous) in acknowledged {
        assert!(by_number.insert(number, (label, previous)).is_none(), "iteration {number} was given twice");
    }
    for (number, (label, previous)) in &by_number {
        let record = project.run(&["show", &number.to_string(), "--json"]).expect(0).json();
        assert_eq!(record["label"], label.as_str());
        assert_eq!(record["previous_record"], previous.as_str());
    }
    project.run(&["verify", "--recompute"]).expect(0);
}
