//! Fixtures with random damage: whatever becomes of them, parsing never panics, and what is accepted adds up.

use std::panic::{AssertUnwindSafe, catch_unwind};

use highwater::disk::hash::id_of;
use highwater::engine::hook::Answer;
use highwater::error::Reject;
use highwater::ingest::console::console;
use highwater::ingest::transcript::{parse_transcript, transcript_format};
use highwater::ingest::{self, Input, Parsed, merge};
use highwater::integrations::{AGENTS, Payload};
use rayon::prelude::*;

use crate::support::is_soak;

/// Mutations of each fixture: all of them with `HIGHWATER_SOAK`, as in `.ci/run`, else as many as fit into some kilobytes,
/// 12 at most.
const MUTATIONS: u64 = 2_000;
const QUICK_BYTES: usize = 12_000;
/// Longest fixture that is damaged.
const LONGEST: usize = 64 * 1024;

/// xorshift64*: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }

    /// A piece of something that long, at most 400 bytes.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        start..start + self.below((length - start).min(400) + 1)
    }
}

/// What numbers become.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "3.7",
    "1e400",
    "NaN",
    "4294967296",
    "2147483648",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999",
    "",
    "+5",
    "\"12\"",
];
/// Bytes that mean something somewhere.
const BYTES: &[u8] = b"\0\n\r\t\x1b \"'<>&;/{}[](),:=-+.%0x\\\xc2\x9b\xff\xfe\xef";

/// One to three changes.
fn damaged(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(3) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        match random.below(8) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = BYTES[random.below(BYTES.len())],
            2 => bytes.insert(at, BYTES[random.below(BYTES.len())]),
            3 => drop(bytes.drain(random.range(bytes.len()))),
            4 => bytes.truncate(at),
            // A piece once more, beside itself or elsewhere.
            5 | 6 => {
                let piece = random.range(bytes.len());
                let copy = bytes[piece.clone()].to_vec();
                let to = if random.below(2) == 0 { piece.end } else { at };
                bytes.splice(to..to, copy);
            }
            _ => {
                let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit).map(|ahead| at + ahead) else {
                    continue;
                };
                let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                bytes.splice(start..start + digits, NUMBERS[random.below(NUMBERS.len())].bytes());
            }
        }
    }
    bytes
}

/// What is wrong with figures that were accepted, if anything.
fn absurd(parsed: &Parsed) -> Option<String> {
    let figures = &parsed.figures;
    let sum = |parts: &[Option<u64>]| parts.iter().try_fold(0u64, |sum, part| sum.checked_add((*part)?));
    let pairs = [
        (figures.lines_covered, figures.lines_total),
        (figures.branches_covered, figures.branches_total),
        (figures.functions_covered, figures.functions_total),
        (figures.statements_covered, figures.statements_total),
        (figures.regions_covered, figures.regions_total),
        (figures.flaky, figures.passed),
    ];
    if pairs.iter().any(|(part, whole)| part.is_some() && part > whole) {
        return Some("a part is larger than its whole".into());
    }
    if figures.tests.is_some()
        && sum(&[figures.passed, figures.failed, figures.errored, figures.skipped]) != figures.tests
    {
        return Some("the tests do not add up".into());
    }
    if figures.total.is_some() && sum(&[figures.errors, figures.warnings, figures.notes]) != figures.total {
        return Some("the findings do not add up".into());
    }
    let json = serde_json::to_value(figures).unwrap();
    let is_null = |value: &serde_json::Value| value.is_null();
    if json.as_object().unwrap().values().any(is_null) {
        return Some("a figure is no finite number".into());
    }
    let measurement = merge::merge(std::slice::from_ref(parsed));
    let complexity = measurement.complexity_score.unwrap_or(0.0);
    (!complexity.is_finite() || complexity < 0.0).then(|| format!("complexity is {complexity}"))
}

#[test]
fn n3_n4_damaged_fixtures_never_panic_and_what_is_accepted_adds_up() {
    let fault = |(index, (name, path)): (usize, (String, std::path::PathBuf))| {
        let format = ingest::format(&name).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        if bytes.is_empty() || bytes.len() > LONGEST {
            return Vec::new();
        }
        let quick = u64::try_from((QUICK_BYTES / bytes.len()).clamp(2, 12)).unwrap();
        let seeds = 0..if is_soak() { MUTATIONS } else { quick };
        let one = |seed: u64| {
            let mut random = Random::new(seed << 16 | u64::try_from(index).unwrap());
            let damaged = damaged(&bytes, &mut random);
            let input = Input::bytes("damaged", &damaged);
            // Named, or told by its content, for which every format is asked.
            let given = Some(format).filter(|_| seed % 10 != 1);
            let read = || match seed % 200 {
                // As what a command printed, where one tool's report is not all there is. That takes longest.
                2 => console(&input),
                _ => ingest::parse(&input, given).into_iter().collect(),
            };
            let outcome = catch_unwind(AssertUnwindSafe(|| read().iter().find_map(absurd)));
            let fault = outcome.unwrap_or_else(|_| Some("a panic".into()));
            fault.map(|fault| format!("{} with seed {seed}: {fault}", path.display()))
        };
        seeds.filter_map(one).collect::<Vec<_>>()
    };
    let fixtures = super::corpus::fixtures().into_iter().map(|(name, path, _)| (name, path)).enumerate();
    let fixtures: Vec<_> = fixtures.collect();
    assert!(fixtures.len() > 100);
    let faults: Vec<String> = fixtures.into_par_iter().with_max_len(1).flat_map_iter(fault).collect();
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn damaged_transcripts_never_panic_and_never_fail() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/transcripts");
    let mut read = 0;
    for (index, entry) in walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().enumerate() {
        let path = entry.unwrap().into_path();
        let name = path.parent().and_then(std::path::Path::file_name).unwrap().to_string_lossy().into_owned();
        let Some(format) = transcript_format(&name) else { continue };
        let bytes = std::fs::read(&path).unwrap_or_default();
        for seed in 0..if is_soak() { MUTATIONS } else { 16 } {
            let mut random = Random::new(seed << 16 | u64::try_from(index).unwrap());
            let damaged = damaged(&bytes, &mut random);
            let input = Input::bytes("damaged", &damaged);
            let outcome = catch_unwind(AssertUnwindSafe(|| parse_transcript(&input, Some(format), id_of)));
            match outcome.unwrap_or_else(|_| panic!("{} with seed {seed}: a panic", path.display())) {
                Ok(_) => read += 1,
                Err(error) => assert_eq!(error.reject(), Some(Reject::Empty), "{} with seed {seed}", path.display()),
            }
        }
    }
    assert!(read > 100, "{read}");
}

#[test]
fn g1_a_damaged_payload_is_answered_with_one_object_or_none() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hooks");
    let answers =
        [Answer::Context("x".into()), Answer::Note("x".into()), Answer::Refuse("x".into()), Answer::End("x".into())];
    let mut read = 0;
    for entry in walkdir::WalkDir::new(&root).sort_by_file_name() {
        let path = entry.unwrap().into_path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        for seed in 0..if is_soak() { MUTATIONS } else { 40 } {
            let Ok(payload) = Payload::parse(&damaged(&bytes, &mut Random::new(seed))) else { continue };
            for agent in AGENTS {
                let Some(event) = agent.read(&payload) else { continue };
                read += 1;
                for reply in answers.iter().filter_map(|answer| agent.reply(&event, answer)) {
                    let object = serde_json::from_str::<serde_json::Map<_, _>>(&reply);
                    assert!(object.is_ok(), "{} with seed {seed}: {reply}", path.display());
                }
            }
        }
    }
    assert!(read > 500, "{read}");
}

/// The same damage on every machine, so that a seed in a message can be tried again.
#[test]
fn damage_follows_from_its_seed() {
    let text = b"<a b='12'>some text, 34</a>";
    let all = |seed| damaged(text, &mut Random::new(seed));
    assert_eq!(all(7), all(7));
    let different: std::collections::BTreeSet<Vec<u8>> = (0..200).map(all).collect();
    assert!(different.len() > 150, "{}", different.len());
}
