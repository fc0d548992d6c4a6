//! What SimpleCov's two JSON files have in common: a file's lines by position, as Coveralls has them too, and its branches.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::FileTally;
use crate::error::Result;
use crate::ingest::json::items;
use crate::ingest::values::{Count, Unique};

/// One source file: either its lines alone, or an object with them.
#[derive(Debug, Default)]
pub(super) struct Source(pub FileTally);

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Source, D::Error> {
        deserializer.deserialize_any(SourceVisitor)
    }
}

struct SourceVisitor;

impl<'de> Visitor<'de> for SourceVisitor {
    type Value = Source;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the lines of a file, or an object with them")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Source, A::Error> {
        Lines::deserialize(SeqAccessDeserializer::new(list)).map(|lines| Source(lines.0))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Source, A::Error> {
        let (mut lines, mut branches): (Option<Lines>, Option<Branches>) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            let is_new = match key.as_str() {
                "lines" => lines.replace(map.next_value()?).is_none(),
                "branches" => branches.replace(map.next_value()?).is_none(),
                _ => map.next_value::<serde::de::IgnoredAny>().map(|_| true)?,
            };
            if !is_new {
                return Err(A::Error::custom(format!("the key {key:?} stands twice")));
            }
        }
        let Lines(mut tally) = lines.ok_or_else(|| A::Error::missing_field("lines"))?;
        tally.join(branches.unwrap_or_default().0).map_err(|error| A::Error::custom(&error.message))?;
        Ok(Source(tally))
    }
}

/// Lines by position.
pub(super) struct Lines(pub FileTally);

impl<'de> Deserialize<'de> for Lines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Lines, D::Error> {
        let (mut tally, mut number) = (FileTally::default(), 0);
        deserializer.deserialize_seq(items(|Hits(hits)| {
            number += 1;
            hits.map_or(Ok(()), |count| tally.line(number, count > 0))
        }))?;
        Ok(Lines(tally))
    }
}

/// Hits of a line or a branch; `null`, or a word such as `"ignored"`, where there is nothing to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Hits(Option<u64>);

impl<'de> Deserialize<'de> for Hits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hits, D::Error> {
        deserializer.deserialize_any(HitsVisitor)
    }
}

struct HitsVisitor;

impl Visitor<'_> for HitsVisitor {
    type Value = Hits;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number, null or a word")
    }

    fn visit_u64<E>(self, hits: u64) -> Result<Hits, E> {
        Ok(Hits(Some(hits)))
    }

    fn visit_i64<E>(self, hits: i64) -> Result<Hits, E> {
        Ok(Hits(Some(u64::try_from(hits).unwrap_or(0))))
    }

    fn visit_unit<E>(self) -> Result<Hits, E> {
        Ok(Hits(None))
    }

    fn visit_str<E>(self, _: &str) -> Result<Hits, E> {
        Ok(Hits(None))
    }
}

/// Branches by a name that is theirs alone in their file.
#[derive(Debug, Default)]
struct Branches(FileTally);

impl<'de> Deserialize<'de> for Branches {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Branches, D::Error> {
        deserializer.deserialize_any(BranchesVisitor)
    }
}

struct BranchesVisitor;

impl<'de> Visitor<'de> for BranchesVisitor {
    type Value = Branches;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("branches")
    }

    fn visit_unit<E>(self) -> Result<Branches, E> {
        Ok(Branches::default())
    }

    /// The result set's: condition → branch → hits.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Branches, A::Error> {
        let mut branches = FileTally::default();
        while let Some((condition, arms)) = map.next_entry::<String, Unique<Count>>()? {
            let line = line_of(&condition);
            for (arm, count) in arms.0 {
                let added = branches.branch(line, &format!("{condition} {arm}"), count.0 > 0);
                added.map_err(|error| A::Error::custom(&error.message))?;
            }
        }
        Ok(Branches(branches))
    }

    /// The formatter's: one object a branch.
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Branches, A::Error> {
        #[derive(serde::Deserialize)]
        struct Branch {
            coverage: Hits,
            #[serde(default)]
            start_line: Count,
        }
        let (mut branches, mut place) = (FileTally::default(), 0_u64);
        items(|Branch { coverage: Hits(hits), start_line }| {
            place += 1;
            hits.map_or(Ok(()), |count| branches.branch(start_line.0, &place.to_string(), count > 0))
        })
        .visit_seq(list)?;
        Ok(Branches(branches))
    }
}

/// The line of a condition: `[:if, 0, 6, 4, 10, 7]` has its number, and then line and column of its beginning and of its end.
fn line_of(condition: &str) -> u64 {
    condition.split(", ").nth(2).and_then(|line| line.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(texts: &[&str]) -> [u64; 4] {
        let mut tally = FileTally::default();
        for text in texts {
            tally.join(serde_json::from_str::<Source>(text).unwrap().0).unwrap();
        }
        let taken = tally.branches.values().filter(|taken| **taken).count();
        let (branches, lines) = (tally.branches.len(), tally.lines.finish());
        [lines.covered(), lines.total(), u64::try_from(taken).unwrap(), u64::try_from(branches).unwrap()]
    }

    #[test]
    fn null_and_words_are_no_lines() {
        assert_eq!(counts(&["[null,1,0,\"ignored\",-1]"]), [1, 3, 0, 0]);
        assert_eq!(counts(&["{\"lines\":[null,1],\"source\":[],\"branches\":null}"]), [1, 1, 0, 0]);
    }

    #[test]
    fn branches_are_an_object_or_a_list() {
        let map = "{\"branches\":{\"[:if, 0]\":{\"[:then, 1]\":1,\"[:else, 2]\":0}},\"lines\":[1]}";
        assert_eq!(counts(&[map]), [1, 1, 1, 2]);
        assert_eq!(counts(&[map, &map.replace(":0}", ":3}")]), [1, 1, 2, 2], "two commands add up");
        let list = "{\"lines\":[],\"branches\":[{\"type\":\"then\",\"coverage\":0},{\"coverage\":2},{\"coverage\":\"ignored\"}]}";
        assert_eq!(counts(&[list]), [0, 0, 1, 2]);
    }

    #[test]
    fn anything_else_is_no_source() {
        for bad in ["{}", "{\"lines\":[1.5]}", "{\"lines\":[],\"lines\":[]}", "3", "{\"lines\":[],\"branches\":[1]}"] {
            assert!(serde_json::from_str::<Source>(bad).is_err(), "{bad}");
        }
    }
}
