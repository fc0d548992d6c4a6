//! `codecov-json`: Codecov's own format, defined by its documentation,
//! <https://docs.codecov.com/docs/codecov-custom-coverage-format>. Hits of a line may be a fraction, of branches or regions.

use std::cell::RefCell;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::{FileTally, Files};
use crate::error::Result;
use crate::ingest::entries::{Entries, Fault, Required, take};
use crate::ingest::input::Input;
use crate::ingest::json::{self, Key, items};
use crate::ingest::text::printable;
use crate::ingest::values::whole;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Codecov's JSON.
pub const FORMAT: Format = Format {
    name: "codecov-json",
    kind: ReportKind::Coverage,
    about: "JSON for Codecov: hits of each line of each file",
    written_by: "cargo llvm-cov --codecov, kcov (codecov.json), hpc-codecov, Devel::Cover",
    told_by: "a JSON object with nothing but coverage and messages, and files with numbered lines under coverage",
    has_end: true,
    counting: "Each line that is not null, covered if its hits, or the first number of a fraction, are above zero. Of \
               a list the first element is no line.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    // A file's name may hold dots, as paths of keys do: no more of a key is looked at than its beginning and its end.
    let is_ours = |key: &String| ["coverage", "messages"].contains(&key.split('.').next().unwrap_or_default());
    let in_coverage = || head.keys().iter().filter_map(|key| key.strip_prefix("coverage."));
    let has_lines = || in_coverage().any(|key| key.rsplit_once('.').is_some_and(|(_, line)| whole(line).is_some()));
    let has_list = || head.text().contains("[null") || head.text().contains("[\n");
    if head.keys().iter().all(is_ours) && in_coverage().next().is_some() && (has_lines() || has_list()) {
        return Sniff::Sure("files with lines under the key coverage".into());
    }
    Sniff::No
}

/// One file: its lines by number, or by position.
struct File(FileTally);

impl<'de> Deserialize<'de> for File {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<File, D::Error> {
        deserializer.deserialize_any(FileVisitor)
    }
}

struct FileVisitor;

impl<'de> Visitor<'de> for FileVisitor {
    type Value = File;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the lines of a file")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<File, A::Error> {
        let mut tally = FileTally::default();
        while let Some((line, Hits(covered))) = map.next_entry::<String, Hits>()? {
            let number = whole(&line).ok_or_else(|| {
                A::Error::custom(format!("line number {:?} is no whole number", printable(&line, 40)))
            })?;
            if let Some(covered) = covered {
                tally.line(number, covered).map_err(|error| A::Error::custom(&error.message))?;
            }
        }
        Ok(File(tally))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<File, A::Error> {
        let (mut tally, mut next) = (FileTally::default(), 0);
        items(|Hits(covered)| {
            let number = next;
            next += 1;
            covered.map_or(Ok(()), |covered| tally.line(number, covered))
        })
        .visit_seq(list)?;
        Ok(File(tally))
    }
}

/// Whether a line was hit: `3`, `"1/2"`, `true` for in part; `null` where there is nothing to run.
struct Hits(Option<bool>);

impl<'de> Deserialize<'de> for Hits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hits, D::Error> {
        deserializer.deserialize_any(HitsVisitor)
    }
}

struct HitsVisitor;

impl Visitor<'_> for HitsVisitor {
    type Value = Hits;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hits of a line")
    }

    fn visit_u64<E>(self, hits: u64) -> Result<Hits, E> {
        Ok(Hits(Some(hits > 0)))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Hits, E> {
        Ok(Hits(Some(false)))
    }

    fn visit_bool<E>(self, hit: bool) -> Result<Hits, E> {
        Ok(Hits(Some(hit)))
    }

    fn visit_unit<E>(self) -> Result<Hits, E> {
        Ok(Hits(None))
    }

    fn visit_str<E: serde::de::Error>(self, hits: &str) -> Result<Hits, E> {
        let taken = match hits.split_once('/') {
            Some((taken, all)) => whole(all).and(whole(taken)),
            None => whole(hits),
        };
        let bad = || E::custom(format!("{:?} is no number of hits", printable(hits, 40)));
        Ok(Hits(Some(taken.ok_or_else(bad)? > 0)))
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (fault, files) = (&Fault::default(), &RefCell::new(Files::default()));
    let of = |path: String| {
        Ok(take(fault, move |File(tally)| files.borrow_mut().join(&printable(&path, usize::MAX), tally)))
    };
    fault.ours(json::object(input, Required(Key { name: "coverage", seed: Entries { of, fault } })))?;
    files.take().finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    fn read(files: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", format!("{{\"coverage\":{{{files}}}}}").as_bytes()), None)
    }

    #[test]
    fn lines_are_numbered_or_listed() {
        let counts = |files: &str| {
            let figures = read(files).unwrap().figures;
            (figures.lines_covered, figures.lines_total, figures.branches_total)
        };
        let numbered = r#""src/a.rs":{"1":0,"2":1,"3":"1/2","4":"0/2","6":null,"7":5}"#;
        assert_eq!(counts(numbered), (Some(3), Some(5), None));
        let list = r#""b.py":[null,1,0,null,true,"1/3"]"#;
        assert_eq!(counts(list), (Some(3), Some(4), None));
        assert_eq!(counts(&format!("{numbered},{list}")), (Some(6), Some(9), None));
        assert_eq!(counts(r#""a.b":{"1":-1}"#), (Some(0), Some(1), None));
    }

    #[test]
    fn what_is_no_line_is_malformed_and_what_says_more_another_format() {
        for bad in [r#""1":"x""#, r#""1":"1/x""#, r#""1":1.5"#, r#""1":1,"x":1"#] {
            assert_eq!(read(&format!("\"a\":{{{bad}}}")).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
        assert_eq!(read("").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
