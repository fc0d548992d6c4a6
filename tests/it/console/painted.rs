//! What a terminal shows, and what stands there no more.

use super::{stream, told};

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
