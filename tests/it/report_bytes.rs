//! What may happen to the bytes of any report, done to every fixture: other encodings and line ends change nothing, and
//! what a crash leaves is refused.

use std::path::Path;

use highwater::error::Reject;
use highwater::ingest::{self, Format, Input};
use highwater::model::figures::Figures;

use crate::corpus::fixtures;

/// A good fixture as text, without a byte order mark.
struct Good {
    format: &'static Format,
    name: String,
    text: String,
    figures: Figures,
}

/// The good ones that are not too long for a quick test.
fn good() -> Vec<Good> {
    let read = |(format, path, expected): (String, std::path::PathBuf, serde_json::Map<String, serde_json::Value>)| {
        let bytes = std::fs::read(&path).unwrap();
        if expected.contains_key("reject") || bytes.len() > 20_000 {
            return None;
        }
        let format = ingest::format(&format).unwrap();
        let figures = ingest::parse(&Input::bytes("whole", &bytes), Some(format)).unwrap().figures;
        let text = String::from_utf8(bytes).ok()?.trim_start_matches('\u{feff}').to_owned();
        Some(Good { format, name: path.display().to_string(), text, figures })
    };
    let all: Vec<Good> = fixtures().into_iter().filter_map(read).collect();
    assert!(all.len() > ingest::FORMATS.len(), "{}", all.len());
    all
}

/// What is wrong with the bytes' figures, if anything.
fn differs(good: &Good, how: &str, bytes: &[u8]) -> Option<String> {
    let Good { format, name, figures, .. } = good;
    match ingest::parse(&Input::bytes("x", bytes), None) {
        Ok(parsed) if parsed.format == *format && parsed.figures == *figures => None,
        Ok(parsed) => Some(format!("{name}, {how}: {:?} {:?}", parsed.format, parsed.figures.counts())),
        Err(error) => Some(format!("{name}, {how}: {error}")),
    }
}

#[test]
fn p08_p09_every_fixture_in_every_encoding() {
    let mut wrong = Vec::new();
    for good in good() {
        let text = &good.text;
        let marked = |mark: [u8; 2], unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
            mark.into_iter().chain(text.encode_utf16().flat_map(unit)).collect()
        };
        let lines = text.replace("\r\n", "\n");
        for (how, bytes) in [
            ("UTF-8 with its mark", format!("\u{feff}{text}").into_bytes()),
            ("UTF-16LE", marked([0xff, 0xfe], u16::to_le_bytes)),
            ("UTF-16BE", marked([0xfe, 0xff], u16::to_be_bytes)),
            ("CRLF", lines.replace('\n', "\r\n").into_bytes()),
            ("CR", lines.replace('\n', "\r").into_bytes()),
        ] {
            wrong.extend(differs(&good, how, &bytes));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// JSON with no blanks between its values, or with each on a line of its own.
fn laid_out(json: &str, between: &str) -> String {
    let (mut text, mut in_string, mut escaped) = (String::new(), false, false);
    for c in json.chars().filter(|c| *c != '\n' && *c != '\r') {
        if !in_string && c.is_whitespace() {
            continue;
        }
        text.push(c);
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = in_string,
            '"' => in_string = !in_string,
            ',' | '{' | '[' | ':' if !in_string => text.push_str(between),
            _ => {}
        }
    }
    text
}

#[test]
fn every_fixture_laid_out_in_another_way() {
    let tags = regex::Regex::new(r">\s+<").unwrap();
    let (mut wrong, mut checked) = (Vec::new(), [0; 3]);
    for good in good() {
        let text = &good.text;
        let is_one_document = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        let mut others = Vec::new();
        if text.trim_start().starts_with('<') {
            checked[0] += 1;
            let (declaration, body) = text.split_once("?>").unwrap_or(("<?xml version=\"1.0\"", text));
            others.push(("no blanks between tags", tags.replace_all(text, "><").into_owned()));
            others.push(("a comment", format!("{declaration}?><!-- <a b='c'> -->{body}\n<!-- end -->\n")));
        } else if is_one_document && !good.name.ends_with(".jsonl") {
            checked[1] += 1;
            others.push(("compact", laid_out(text, "")));
            others.push(("a line each", laid_out(text, "\n    ")));
        } else if good.format.name.ends_with("-text") {
            checked[2] += 1;
            others.push(("blank lines around", format!("\n\n{text}\n\n")));
        }
        wrong.extend(others.iter().filter_map(|(how, other)| differs(&good, how, other.as_bytes())));
    }
    assert!(wrong.is_empty() && checked.iter().all(|count| *count > 60), "{checked:?}\n{}", wrong.join("\n"));
}

#[test]
fn p09_every_xml_in_declared_latin_1() {
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for good in good().iter().filter(|good| good.text.trim_start().starts_with('<')) {
        let text = good.text.trim_start();
        let body = match text.split_once("?>") {
            Some((declaration, body)) if declaration.starts_with("<?xml") => body,
            _ => text,
        };
        let text = format!("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><!-- \u{e9}t\u{e9} -->{body}");
        let Ok(bytes) = text.chars().map(|c| u8::try_from(u32::from(c))).collect::<Result<Vec<u8>, _>>() else {
            continue;
        };
        checked += 1;
        wrong.extend(differs(good, "Latin-1", &bytes));
    }
    assert!(wrong.is_empty() && checked > 30, "{checked}\n{}", wrong.join("\n"));
}

#[test]
fn p04_what_a_crash_leaves_of_every_fixture() {
    let mut wrong = Vec::new();
    for Good { format, name, text, figures } in good() {
        let half = text.char_indices().map(|(at, _)| at).rfind(|at| *at <= text.len() / 2).unwrap_or(0);
        let bytes = [text.as_bytes().get(..half).unwrap_or_default(), &[0; 4096]].concat();
        match ingest::parse(&Input::bytes("x", &bytes), Some(format)) {
            Err(error) if error.reject().is_some() => {}
            Ok(parsed) if parsed.figures == figures => {}
            other => wrong.push(format!("{name}: {:?}", other.map(|parsed| parsed.figures.counts()))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn p06_no_xml_stands_twice_in_one_file() {
    let is_xml = |good: &Good| good.text.trim_start().starts_with('<');
    let mut checked = 0;
    for Good { format, name, text, .. } in good().into_iter().filter(is_xml) {
        let error = ingest::parse(&Input::bytes("x", text.repeat(2).as_bytes()), Some(format)).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::Malformed), "{name}");
        checked += 1;
    }
    assert!(checked > 30, "{checked}");
}

/// Every number of the design's list of bad reports is in the name of a test.
#[test]
fn every_bad_report_has_a_test_by_its_number() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let text = ["bad_input.rs", "bad_reports.rs", "report_bytes.rs"]
        .map(|file| std::fs::read_to_string(here.join(file)).unwrap())
        .concat();
    let names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("fn p")).collect();
    let has = |number: &u32| names.iter().any(|name| format!("p{name}").contains(&format!("p{number:02}_")));
    let missing: Vec<u32> = (1..=43).filter(|number| !has(number)).collect();
    assert_eq!(missing, Vec::<u32>::new());
}
