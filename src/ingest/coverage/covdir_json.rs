//! `covdir-json`: what `grcov -t covdir` writes: a tree of folders, with the hits of each line of each file. Written after its
//! source, <https://github.com/mozilla/grcov/blob/master/src/covdir.rs>.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::{FileTally, Files};
use crate::error::{Error, Reject, Result};
use crate::ingest::entries::{Entries, Fault};
use crate::ingest::input::Input;
use crate::ingest::json::{self, items};
use crate::ingest::text::printable;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// grcov's covdir.
pub const FORMAT: Format = Format {
    name: "covdir-json",
    kind: ReportKind::Coverage,
    about: "covdir JSON: a tree of folders with the hits of each line of each file",
    written_by: "grcov -t covdir",
    told_by: "JSON objects with children, or coverage, and coveragePercent, linesCovered, linesTotal",
    has_end: true,
    counting: "Lines by file and number; what is below zero is no line.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    // What is told of the root may stand behind all of its children.
    let has = |key: &str| head.text().contains(key);
    let is_tree = head.has_key("children") || head.has_key("coverage");
    match is_tree && ["\"coveragePercent\":", "\"linesCovered\":", "\"linesTotal\":"].into_iter().all(has) {
        true => Sniff::Sure("folders with coveragePercent and linesTotal".into()),
        false => Sniff::No,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (fault, files) = (Fault::default(), RefCell::new(Files::default()));
    let has_any = fault.ours(json::object(input, Node { path: String::new(), files: &files, fault: &fault }))?;
    if !has_any {
        return Err(Error::report(Reject::NotThisFormat, "not grcov's covdir: it has no children"));
    }
    files.into_inner().finish(&FORMAT)
}

/// A folder or a file.
struct Node<'a> {
    path: String,
    files: &'a RefCell<Files>,
    fault: &'a Fault,
}

/// Tells whether it is one.
impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a folder or a file")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let Node { path, files, fault } = self;
        let mut is_node = false;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "children" => {
                    is_node = true;
                    let of = |name: String| {
                        let path = if path.is_empty() { name } else { format!("{path}/{name}") };
                        Ok(Child(Node { path, files, fault }))
                    };
                    map.next_value_seed(Entries { of, fault })?;
                }
                "coverage" => {
                    is_node = true;
                    let (mut tally, mut line) = (FileTally::default(), 0_u64);
                    map.next_value_seed(items(|hits: i64| {
                        line += 1;
                        if hits < 0 { Ok(()) } else { tally.line(line, hits > 0) }
                    }))?;
                    fault.through(files.borrow_mut().join(&printable(&path, usize::MAX), tally))?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(is_node)
    }
}

struct Child<'a>(Node<'a>);

impl<'de> DeserializeSeed<'de> for Child<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.deserialize(deserializer).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn files_have_the_paths_of_the_tree() {
        let told = "\"coveragePercent\":50.0,\"linesCovered\":1,\"linesMissed\":1,\"linesTotal\":2";
        let file = |name: &str| format!("\"{name}\":{{\"coverage\":[-1,3,0],{told},\"name\":\"{name}\"}}");
        let folder = format!("\"src\":{{\"children\":{{{},{}}},{told},\"name\":\"src\"}}", file("a.rs"), file("b.rs"));
        let text = format!("{{\"children\":{{{folder},{}}},{told},\"name\":\"\"}}", file("c.rs"));
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!(
            (parsed.format, parsed.figures.lines_covered, parsed.figures.lines_total),
            (&FORMAT, Some(3), Some(6))
        );
        let Details::Coverage(details) = parsed.details else { panic!("coverage") };
        assert_eq!(details.files.keys().collect::<Vec<_>>(), ["c.rs", "src/a.rs", "src/b.rs"]);
        assert_eq!(details.files["src/a.rs"].lines.iter().collect::<Vec<_>>(), [(2, true), (3, false)]);
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        for (text, reject) in [
            ("{\"linesTotal\":2}", Reject::NotThisFormat),
            ("{\"children\":{\"a\":{\"coverage\":[1.5]}}}", Reject::Malformed),
            ("{\"children\":{\"a\":[]}}", Reject::Malformed),
            ("{\"children\":{\"a\":{\"coverage\":[1", Reject::Malformed),
        ] {
            assert_eq!(read(text).unwrap_err().reject(), Some(reject), "{text}");
        }
    }
}
