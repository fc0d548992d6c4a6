//! `coverlet-json`: coverlet's own format, its default. Written after its definition, the modules, documents, classes and
//! methods of coverlet's `CoverageResult`: <https://github.com/coverlet-coverage/coverlet>.

use std::cell::{Cell, RefCell};

use serde::Deserialize;

use super::{FileTally, Files};
use crate::error::{Error, Reject, Result};
use crate::ingest::entries::{Entries, Fault, take};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::text::printable;
use crate::ingest::values::{Count, Few, Unique, whole};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// coverlet's own.
pub const FORMAT: Format = Format {
    name: "coverlet-json",
    kind: ReportKind::Coverage,
    about: "coverlet JSON: lines and branches of each method",
    written_by: "coverlet (format json, its default)",
    told_by: "JSON objects of modules, files, classes and methods with Lines and Branches",
    has_end: true,
    counting: "The lines of all methods by file and line number; branches by line, offset and path.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    // Names of modules, files and methods may hold dots, which paths of keys are made with. Keys are told four deep, which
    // is as far as the method; what is in it stands in the text.
    let modules = head.keys().first().is_some_and(|module| [".dll", ".exe"].iter().any(|end| module.ends_with(end)));
    let has = |key: &str| head.text().contains(key);
    if modules && has("\"Lines\":") && has("\"Branches\":") && has("::") {
        return Sniff::Sure("modules with methods that have Lines and Branches".into());
    }
    Sniff::No
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Method {
    lines: Unique<Count>,
    #[serde(default)]
    branches: Few<Branch>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Branch {
    line: Count,
    offset: Count,
    path: Count,
    hits: Count,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let fault = &Fault::default();
    let (files, has_module) = (&RefCell::new(Files::default()), &Cell::new(false));
    // Module → file → class → method.
    let module = |_| {
        has_module.set(true);
        let file = move |path: String| {
            files.borrow_mut().open(&printable(&path, usize::MAX))?;
            let method = move |name: String| {
                Ok(take(fault, move |method: Method| match files.borrow_mut().current() {
                    Some(tally) => method.add_to(&name, tally),
                    None => Ok(()),
                }))
            };
            let class = move |_| Ok(Entries { of: method, fault });
            Ok(Entries { of: class, fault })
        };
        Ok(Entries { of: file, fault })
    };
    fault.ours(json::object(input, Entries { of: module, fault }))?;
    if !has_module.get() {
        return Err(Error::report(Reject::NotThisFormat, "not a report of coverlet: it has no module"));
    }
    files.take().finish(&FORMAT)
}

impl Method {
    fn add_to(self, name: &str, tally: &mut FileTally) -> Result<()> {
        for (line, hits) in self.lines.0 {
            let number = whole(&line).ok_or_else(|| {
                let why = format!("line number {:?} is no whole number", printable(&line, 40));
                Error::report(Reject::Malformed, why)
            })?;
            tally.line(number, hits.0 > 0)?;
        }
        for Branch { line, offset, path, hits } in self.branches.0 {
            tally.branch(line.0, &format!("{name} {} {}", offset.0, path.0), hits.0 > 0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(methods: &str) -> Result<Parsed> {
        let text = format!("{{\"Shop.dll\":{{\"/p/A.cs\":{{\"Shop.A\":{methods}}}}}}}");
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    #[test]
    fn methods_of_one_file_share_its_lines() {
        let branch = |path: u64, hits: u64| {
            format!("{{\"Line\":3,\"Offset\":7,\"EndOffset\":9,\"Path\":{path},\"Ordinal\":{path},\"Hits\":{hits}}}")
        };
        let methods = format!(
            "{{\"System.Void A::F()\":{{\"Lines\":{{\"3\":2,\"4\":0}},\"Branches\":[{},{}]}},\"System.Void A::G()\":{{\"Lines\":{{\"4\":1,\"9\":0}},\"Branches\":[{}]}}}}",
            branch(0, 2),
            branch(1, 0),
            branch(0, 0)
        );
        let counts: Vec<u64> = read(&methods).unwrap().figures.counts().into_iter().map(|(_, count)| count).collect();
        assert_eq!(counts, [2, 3, 1, 3], "lines, branches");
    }

    #[test]
    fn what_is_no_method_is_refused() {
        for bad in [
            "{\"F\":{}}",
            "{\"F\":{\"Lines\":{\"x\":1}}}",
            "{\"F\":{\"Lines\":{\"1\":1.5}}}",
            "[]",
            "{\"F\":{\"Lines\":{\"1\":1",
        ] {
            assert_eq!(read(bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
        let none = crate::ingest::parse(&Input::bytes("x", b"{}"), Some(&FORMAT)).unwrap_err();
        assert_eq!(none.reject(), Some(Reject::NotThisFormat));
    }
}
