use super::*;

/// The built-in defaults.
fn settings() -> Settings {
    crate::analysis::testing::config().progress
}

const PREVIOUS: &str = "Ran tests: 3 failed, 5 passed";
const CURRENT: &str = "Ran tests: 2 failed, 6 passed";

fn score(values: [Option<f64>; 4]) -> f64 {
    use SignalName::{Checklist, FileChanges, Markers, OutputDiff};
    let names = [OutputDiff, FileChanges, Markers, Checklist];
    let values: Vec<_> = names.into_iter().zip(values).collect();
    weighted(&values).iter().map(|signal| signal.weight * signal.value).sum()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 5e-7
}

/// An iteration of which only the outputs and the changed lines are known.
fn of(previous: &str, current: &str, changed_lines: Option<u64>) -> ProgressScore {
    let evidence = Evidence { is_first: false, previous: Some(previous), current: Some(current), changed_lines };
    progress(&evidence, &settings()).unwrap()
}

#[test]
fn v15_the_ratio_and_the_score_with_and_without_a_repository() {
    let (ratio, by) = similarity(PREVIOUS, CURRENT, &settings());
    assert!(close(ratio, 0.931034) && by == ComparedBy::CodePoints, "{ratio}");
    let difference = Some(1.0 - ratio);
    assert!(close(score([difference, Some(0.12), Some(0.5), Some(1.0)]), 0.331690));
    assert!(close(score([difference, None, Some(0.5), Some(1.0)]), 0.422414));
    let weights: Vec<f64> = of(PREVIOUS, CURRENT, None).signals.iter().map(|signal| signal.weight).collect();
    let expected = [0.428571, 0.357143, 0.214286];
    assert!(weights.iter().zip(expected).all(|(a, b)| close(*a, b)) && weights.len() == 3, "{weights:?}");
}

#[test]
fn v15_a_checked_item_alone_is_progress_and_49_lines_alone_are_not() {
    let settings = settings();
    let of_score = |score| ProgressScore { score, is_first: false, signals: Vec::new(), compared_by: None };
    assert!(!of_score(score([Some(0.0), Some(0.0), Some(0.0), Some(1.0)])).is_none(&settings));
    assert!(of_score(score([Some(0.0), Some(0.49), Some(0.0), Some(0.0)])).is_none(&settings));
    let same = of("same", "same", Some(49));
    assert!(close(same.score, 0.147) && same.is_none(&settings));
    assert!(!of("same", "same", Some(50)).is_none(&settings));
}

#[test]
fn all_four_signals_come_from_the_texts() {
    let current = "<progress>login</progress>\n- [x] login\n";
    let score = of("- [ ] login\n", current, Some(250));
    let value = |name| score.signals.iter().find(|signal| signal.name == name).map(|signal| signal.value);
    assert_eq!(value(SignalName::FileChanges), Some(1.0));
    assert_eq!(value(SignalName::Markers), Some(0.5));
    assert_eq!(value(SignalName::Checklist), Some(1.0));
    assert!(value(SignalName::OutputDiff).unwrap() > 0.0);
    let names: Vec<&str> = score.signals.iter().map(|signal| signal.name.name()).collect();
    assert_eq!(names, ["output_diff", "file_changes", "markers", "checklist"]);
}

#[test]
fn the_first_iteration_is_1_and_never_none_whatever_it_said() {
    for current in [None, Some(""), Some("x")] {
        let evidence = Evidence { is_first: true, current, ..Evidence::default() };
        let score = progress(&evidence, &settings()).unwrap();
        assert!(score.score == 1.0 && !score.is_none(&settings()));
    }
}

#[test]
fn what_is_unknown_takes_no_part() {
    let settings = settings();
    assert_eq!(progress(&Evidence::default(), &settings), None);
    let lines = Evidence { changed_lines: Some(20), ..Evidence::default() };
    assert!(close(progress(&lines, &settings).unwrap().score, 0.2));
    // An output before that nobody recorded is not an empty one.
    let alone = Evidence { current: Some("- [x] a <progress></progress>"), ..Evidence::default() };
    let alone = progress(&alone, &settings).unwrap();
    let names: Vec<SignalName> = alone.signals.iter().map(|signal| signal.name).collect();
    assert_eq!((names, alone.score), (vec![SignalName::Markers], 0.5));
    assert_eq!(of("", "x", None).signals[0].value, 1.0);
    assert_eq!(of("x", " \n", None).signals[0].value, 0.0);
}

#[test]
fn times_alone_are_no_news() {
    let at = |seconds: &str| format!("12:00:{seconds} ran 8 tests in 1.{seconds}s");
    assert_eq!(of(&at("11"), &at("12"), None).signals[0].value, 0.0);
}

#[test]
fn a_word_in_a_repetitive_log_is_little_unless_python_s_default_is_asked_for() {
    let a = "test is ok ".repeat(60);
    let b = a.replacen("is", "was", 1);
    let similar = |autojunk| similarity(&a, &b, &Settings { autojunk, ..settings() }).0;
    assert!(similar(false) > 0.99, "{}", similar(false));
    assert!(similar(true) < 0.01, "{}", similar(true));
}

#[test]
fn long_outputs_are_compared_by_lines_and_the_longest_by_bags_of_them() {
    let few = Settings { max_codepoints: 10, ..settings() };
    let (ratio, by) = similarity("one\ntwo\nthree\nfour", "one\ntwo\n3\nfour", &few);
    assert_eq!((ratio, by), (0.75, ComparedBy::Lines));
    // Each of thirty thousand equal lines could begin a block at each of the others.
    let (a, b) = ("same\n".repeat(30_000), "same\n".repeat(10_000));
    let (ratio, by) = similarity_within(100_000, &a, &b, &settings());
    assert_eq!((ratio, by), (0.5, ComparedBy::BagOfLines));
}

/// How a loop stands after these scores, in order.
fn standing(scores: &[ProgressScore], settings: &Settings) -> Streak {
    scores.iter().fold(Streak::default(), |standing, score| standing.after(score, settings))
}

#[test]
fn three_in_a_row_are_stuck_and_talk_neither_counts_nor_saves() {
    let none = of("a", "a", Some(0));
    let talk = of("a", "zzz", Some(0));
    let work = of("a", "a", Some(90));
    let settings = settings();
    assert!(talk.is_talk_only(&settings) && !work.is_talk_only(&settings) && !none.is_talk_only(&settings));
    assert!(!of("a", "zzz", None).is_talk_only(&settings), "who knows what changed");
    let stuck = |scores: &[&ProgressScore]| {
        let scores: Vec<ProgressScore> = scores.iter().map(|score| (*score).clone()).collect();
        standing(&scores, &settings).is_stuck
    };
    assert!(!stuck(&[&none, &none]));
    assert!(stuck(&[&none, &none, &none]));
    assert!(!stuck(&[&none, &none, &work, &none]));
    assert!(stuck(&[&none, &talk, &none, &talk, &none]));
    assert!(!stuck(&[&talk; 5]));
    assert!(stuck(&[&talk; 6]));
    assert!(!stuck(&[&talk, &talk, &talk, &work, &talk, &talk, &talk]));
}

#[test]
fn a_score_without_the_output_neither_counts_nor_saves() {
    let settings = settings();
    let lines = |changed_lines| {
        progress(&Evidence { changed_lines: Some(changed_lines), ..Evidence::default() }, &settings).unwrap()
    };
    let none = of("a", "a", Some(0));
    let stood = standing(&[none.clone(), none.clone(), lines(3), lines(300)], &settings);
    assert_eq!((stood.without_progress, stood.is_stuck), (2, false));
    assert!(standing(&[none.clone(), none.clone(), lines(300), none], &settings).is_stuck);
}

#[test]
fn what_is_recorded_counts_on_from_what_was_recorded_before() {
    let settings = settings();
    let mut before: Option<Progress> = None;
    for (current, counts) in [("a", (1, 0, false)), ("zzz", (1, 1, false)), ("a", (2, 0, false)), ("a", (3, 0, true))] {
        let now = recorded(of("a", current, Some(0)), before.as_ref(), &settings).unwrap();
        assert_eq!((now.no_progress_count, now.talk_only_count, now.is_stuck), counts);
        assert_eq!((now.no_progress, now.talk_only), (current == "a", current == "zzz"));
        before = Some(now);
    }
}
