//! The ratio of the progress score against CPython's own answers.

use std::path::Path;

use highwater::analysis::progress::{ratio, ratio_of_bags};

#[test]
fn it_is_cpythons_to_the_last_bit_on_five_thousand_random_pairs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/difflib/pairs.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let (mut pairs, mut differ) = (0, 0);
    for (n, line) in text.lines().enumerate() {
        let (a, b, plain, junk): (String, String, f64, f64) = serde_json::from_str(line).unwrap();
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        assert_eq!(ratio(&a, &b, false, u64::MAX), Some(plain), "line {}", n + 1);
        assert_eq!(ratio(&a, &b, true, u64::MAX), Some(junk), "line {}, autojunk", n + 1);
        assert!(ratio_of_bags(&a, &b) >= plain, "line {}", n + 1);
        pairs += 1;
        differ += usize::from(plain != junk);
    }
    assert!(pairs >= 5000 && differ >= 100, "{pairs} pairs, autojunk changes {differ}");
}
