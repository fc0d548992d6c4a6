//! What a terminal shows, and what stands there no more.

use super::{read, stream, tests_of, told};

/// A test prints a summary of Vitest's into its report.
#[test]
fn a_document_may_stand_behind_npm_s_spinner() {
    assert_eq!(told(&stream("npx-vitest-junit.txt")), [("junit", vec![12, 5, 3, 0, 4])]);
}

#[test]
fn a_line_that_is_painted_anew_ends_as_at_a_carriage_return() {
    let finding = |codes: &str| told(&format!("Checking formatting...\nsrc/a.css{codes}[warn] src/a.css\n"));
    let expected = finding("\r");
    assert_eq!(expected.len(), 1);
    for codes in ["\x1b[2K\x1b[1G", "\x1b[1G\x1b[0K", "\x1b[G\x1b[K", "\x1b[999D\x1b[K", "\x1b[1000D\x1b[2K"] {
        assert_eq!(finding(codes), expected, "{codes:?}");
    }
}

/// Mocha has such marks, too.
#[test]
fn marks_of_others_name_no_test_of_node_s() {
    let text = stream("npm-jest-mocha-node.txt");
    assert_eq!(tests_of(&text), [11, 6, 3, 0, 2, 0, 0]);
    let node = read(&text).into_iter().find(|report| report.format.name == "node-test-text").unwrap();
    let highwater::ingest::Details::Tests(tests) = node.details else { panic!() };
    assert_eq!(tests.cases.cases.keys().collect::<Vec<_>>(), ["c1", "c2"]);
}
