//! What the JSON formats of findings share: walking through their lists without holding them, counting what they
//! hold, levels by their usual words.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::LintTally;
pub(super) use super::loose::{Loose, There};
use crate::error::{Error, Reject, Result};
use crate::ingest::entries::{Entries, Fault, take};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::json::{self, Key};
use crate::ingest::text::{Lines, LongLine, first_lines, printable};
use crate::ingest::values::Few;
use crate::ingest::{Finding, Format, Head, Level, Parsed, Sort};
use crate::model::figures::Figures;

/// Findings of one file, which are held until all of them were read; a file with more is refused.
pub(super) type OfAFile<T> = Few<T, 150_000>;

/// Where the list of a document stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// The document is the list.
    Top,
    /// The document is an object; the list is under this key.
    Under(&'static str),
    /// The one or the other.
    TopOrUnder(&'static str),
    /// The document is the list, or the one element of it.
    TopOrAlone,
}

/// Reads one document, handing over the elements of its list one by one.
///
/// # Errors
/// Of `each`, with the place; malformed, cut; not this format if the list is missing.
pub(super) fn elements<T, F>(input: &Input<'_>, place: Place, each: F) -> Result<()>
where
    T: DeserializeOwned,
    F: FnMut(T) -> Result<()>,
{
    let (fault, each) = (Fault::default(), RefCell::new(each));
    let seed = Elements { place, each: &each, fault: &fault, element: PhantomData };
    fault.ours(match place {
        Place::Under(name) => json::object(input, seed.under(name)),
        Place::Top | Place::TopOrUnder(_) | Place::TopOrAlone => json::document(input, seed),
    })
}

/// Reads all documents, each of them a list, handing over their elements one by one.
///
/// # Errors
/// As for [`elements`].
pub(super) fn elements_of_all<T, F>(input: &Input<'_>, each: F) -> Result<()>
where
    T: DeserializeOwned,
    F: FnMut(T) -> Result<()>,
{
    let (fault, each) = (Fault::default(), RefCell::new(each));
    let seed = || Elements { place: Place::Top, each: &each, fault: &fault, element: PhantomData };
    fault.ours(json::documents(input, seed))
}

/// Reads the members of the object under the key `name` one by one. PHP writes an object without members as a list.
///
/// # Errors
/// As for [`elements`]; malformed if two members have one name.
pub(super) fn members_under<T, F>(input: &Input<'_>, name: &'static str, each: F) -> Result<()>
where
    T: DeserializeOwned,
    F: FnMut(String, T) -> Result<()>,
{
    let (fault, each) = (Fault::default(), RefCell::new(each));
    let seed = Members { each: &each, may_be_list: true, fault: &fault, member: PhantomData };
    fault.ours(json::object(input, Under { key: Key { name, seed }, fault: &fault }))
}

/// Reads all documents, each of them an object, handing over their members one by one.
///
/// # Errors
/// As for [`members_under`].
pub(super) fn members_of_all<T, F>(input: &Input<'_>, each: F) -> Result<()>
where
    T: DeserializeOwned,
    F: FnMut(String, T) -> Result<()>,
{
    let (fault, each) = (Fault::default(), RefCell::new(each));
    let seed = || Members { each: &each, may_be_list: false, fault: &fault, member: PhantomData };
    fault.ours(json::documents(input, seed))
}

/// Reads lines that are one object each. `each` tells whether the object is one of the report's; other lines are passed
/// over, but for those with which `begins` that are no JSON.
///
/// # Errors
/// Of `each`; malformed where a line is cut; not this format if no line is one of the report's.
pub(super) fn lines<T, F>(input: &Input<'_>, begins: &[&str], mut each: F) -> Result<()>
where
    T: DeserializeOwned,
    F: FnMut(T) -> Result<bool>,
{
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::EscapedTwice)?;
    let mut is_there = false;
    while let Some(line) = lines.next()? {
        let text = line.text.trim_start();
        if !text.starts_with('{') {
            continue;
        }
        match serde_json::from_str::<T>(text) {
            Ok(element) => is_there |= each(element).map_err(|error| error.line(line.number))?,
            Err(_) if begins.iter().any(|begin| text.starts_with(begin)) || !line.ended => {
                return Err(Error::report(Reject::Malformed, "a line of the report is cut or not as expected")
                    .line(line.number)
                    .help("the run was probably cut short; run it again"));
            }
            // Another program's.
            Err(_) => {}
        }
    }
    if is_there { Ok(()) } else { Err(foreign("no line of it is one of the report's JSON objects")) }
}

/// The JSON is that of something else.
pub(super) fn foreign(why: &str) -> Error {
    Error::report(Reject::NotThisFormat, why)
}

/// An object with one key that is read, which must be there.
struct Under<'a, S> {
    key: Key<S>,
    fault: &'a Fault,
}

impl<'de, S: DeserializeSeed<'de, Value = ()>> DeserializeSeed<'de> for Under<'_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, S: DeserializeSeed<'de, Value = ()>> Visitor<'de> for Under<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let name = self.key.name;
        match self.key.find(map)? {
            true => Ok(()),
            false => self.fault.through(Err(foreign(&format!("the JSON object has no key {name}")))),
        }
    }
}

/// A list; `null` is an empty one.
struct Elements<'a, T, F> {
    place: Place,
    each: &'a RefCell<F>,
    fault: &'a Fault,
    element: PhantomData<T>,
}

impl<'a, T, F> Elements<'a, T, F> {
    /// The list under that key of an object.
    fn under(self, name: &'static str) -> Under<'a, Elements<'a, T, F>> {
        let fault = self.fault;
        Under { key: Key { name, seed: Elements { place: Place::Top, ..self } }, fault }
    }
}

impl<'de, T: DeserializeOwned, F: FnMut(T) -> Result<()>> DeserializeSeed<'de> for Elements<'_, T, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: DeserializeOwned, F: FnMut(T) -> Result<()>> Visitor<'de> for Elements<'_, T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        json::each(|| take(self.fault, |element| (self.each.borrow_mut())(element))).visit_seq(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        match self.place {
            Place::Under(name) | Place::TopOrUnder(name) => self.under(name).visit_map(map),
            Place::TopOrAlone => {
                let element = T::deserialize(MapAccessDeserializer::new(map))?;
                self.fault.through((self.each.borrow_mut())(element))
            }
            Place::Top => self.fault.through(Err(foreign("a JSON object stands where a list is expected"))),
        }
    }
}

/// An object of which every member is read.
struct Members<'a, T, F> {
    each: &'a RefCell<F>,
    /// Whether an empty list stands for an object without members.
    may_be_list: bool,
    fault: &'a Fault,
    member: PhantomData<T>,
}

impl<'de, T: DeserializeOwned, F: FnMut(String, T) -> Result<()>> DeserializeSeed<'de> for Members<'_, T, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: DeserializeOwned, F: FnMut(String, T) -> Result<()>> Visitor<'de> for Members<'_, T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if self.may_be_list && list.next_element::<IgnoredAny>()?.is_none() {
            return Ok(());
        }
        self.fault.through(Err(foreign("a JSON list stands where an object is expected")))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let of = |name: String| Ok(take(self.fault, |member| (self.each.borrow_mut())(name, member)));
        Entries { of, fault: self.fault }.visit_map(map)
    }
}

/// What a report says of one finding beside its level.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// The rule's name.
    pub rule: Loose,
    /// The file.
    pub path: Loose,
    /// Line, from 1.
    pub line: Loose,
    /// Its text.
    pub message: Loose,
}

/// Most words for a severity that are named in warnings.
const UNKNOWN_WORDS_NAMED: usize = 5;

/// Counts the findings of one report.
#[derive(Debug)]
pub(super) struct Findings {
    tally: LintTally,
    tool: String,
    sort: Sort,
    unknown_words: BTreeSet<String>,
    /// The report's own totals.
    pub declared: Figures,
    /// What is odd about it.
    pub warnings: Vec<String>,
}

impl Findings {
    /// Of a tool; that it found nothing is a measurement, too.
    pub(super) fn new(tool: &str, sort: Sort) -> Findings {
        let mut tally = LintTally::default();
        tally.tool(tool, sort);
        let (unknown_words, declared) = (BTreeSet::new(), Figures::default());
        Findings { tally, tool: tool.to_owned(), sort, unknown_words, declared, warnings: Vec::new() }
    }

    /// For reports that name the tool beside each finding: nothing is known yet.
    pub(super) fn of_any_tool(tool: &str) -> Findings {
        Findings { tally: LintTally::default(), ..Findings::new(tool, Sort::Linter) }
    }

    /// A report that names no tool because it has no finding is that of the tool it was made for.
    pub(super) fn is_clean(&mut self) {
        self.tally.tool(&self.tool, self.sort);
    }

    /// The level that a word means. None and words that are not known are errors: they make a tool fail, as far as one
    /// can know.
    pub(super) fn level(&mut self, word: Option<&str>) -> Level {
        let Some(word) = word.filter(|word| !word.is_empty()) else { return Level::Error };
        level_of(word).unwrap_or_else(|| {
            if self.unknown_words.len() < UNKNOWN_WORDS_NAMED {
                self.unknown_words.insert(printable(word, 40));
            }
            Level::Error
        })
    }

    /// Counts a finding that the project silenced.
    pub(super) fn suppressed(&mut self) {
        self.tally.suppressed = self.tally.suppressed.saturating_add(1);
    }

    /// Counts a finding of the report's tool.
    ///
    /// # Errors
    /// A count is too large.
    pub(super) fn add(&mut self, level: Level, told: Told) -> Result<()> {
        let (tool, sort) = (self.tool.clone(), self.sort);
        self.add_of(tool, sort, level, told)
    }

    /// Counts findings that are only counted.
    ///
    /// # Errors
    /// A count is too large.
    pub(super) fn count(&mut self, level: Level, number: u64) -> Result<()> {
        self.tally.count(&self.tool, self.sort, level, number)
    }

    /// Counts errors and warnings that a summary tells beyond those that are listed.
    ///
    /// # Errors
    /// A count is too large.
    pub(super) fn complete(&mut self, [errors, warnings]: [u64; 2]) -> Result<()> {
        let [_, _, notes] = self.tally.sums()?;
        self.tally.complete((&self.tool, self.sort), [errors, warnings, notes])
    }

    /// Counts a finding of another tool.
    ///
    /// # Errors
    /// A count is too large.
    pub(super) fn add_of(&mut self, tool: String, sort: Sort, level: Level, told: Told) -> Result<()> {
        let full = |text: &String| !text.trim().is_empty();
        let rule = told.rule.text().filter(full).map(|rule| printable(&rule, 200));
        let message = told.message.text().and_then(|text| first_lines(&text));
        let finding = Finding {
            tool,
            level,
            path: told.path.text().filter(full).map(|path| printable(&path, 1000)),
            line: told.line.number().filter(|line| *line > 0),
            message: message.or_else(|| rule.clone()).unwrap_or_default(),
            rule,
        };
        self.tally.finding(finding, sort)
    }

    /// The report, warned about where its own totals differ.
    ///
    /// # Errors
    /// A sum is too large.
    pub(super) fn finish(self, format: &'static Format) -> Result<Parsed> {
        let mut parsed = self.tally.finish(format)?;
        parsed.warnings.extend(self.warnings);
        for word in self.unknown_words {
            parsed.warnings.push(format!("severity {word:?} is not known and counted as an error"));
        }
        for (key, said) in self.declared.counts() {
            let found = parsed.figures.counts().into_iter().find(|(other, _)| *other == key).map(|(_, count)| count);
            if let Some(found) = found.filter(|found| *found != said) {
                let warning = format!("the report's own totals say {key} {said}, but its elements add up to {found}");
                parsed.warnings.push(warning);
                parsed.declared = Some(self.declared.clone());
            }
        }
        Ok(parsed)
    }
}

/// The words in which tools tell how bad a finding is, in any case.
pub(super) fn level_of(word: &str) -> Option<Level> {
    match word.to_ascii_lowercase().as_str() {
        "error" | "fatal" | "critical" | "blocker" | "high" => Some(Level::Error),
        "warning" | "warn" | "medium" | "moderate" | "major" | "minor" => Some(Level::Warning),
        "note" | "notice" | "info" | "information" | "informational" | "hint" | "style" | "advice" | "refactor"
        | "convention" | "suggestion" | "low" | "negligible" | "undefined" | "unknown" | "inventory" | "experiment" => {
            Some(Level::Note)
        }
        _ => None,
    }
}

/// The level of a CVSS score, from 0 to 10, by its qualitative scale. <https://www.first.org/cvss/v3.1/specification-document>
pub(super) fn level_of_score(score: &str) -> Option<Level> {
    let score: f64 = score.parse().ok().filter(|score| (0.0..=10.0).contains(score))?;
    Some(match score {
        7.0.. => Level::Error,
        4.0.. => Level::Warning,
        _ => Level::Note,
    })
}

/// `total + count`, absent if either is not told.
pub(super) fn sum(total: Option<u64>, count: &Loose) -> Option<u64> {
    total?.checked_add(count.number()?)
}

/// The character with which the first value of the key begins, in a text that may be cut.
pub(super) fn value_begins(head: &Head<'_>, key: &str) -> Option<char> {
    let quoted = format!("\"{key}\"");
    let mut values = head.text().split(quoted.as_str()).skip(1);
    values.find_map(|after| after.trim_start().strip_prefix(':')?.trim_start().chars().next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::lint::sarif;

    fn numbers(text: &str, place: Place) -> Result<Vec<u64>> {
        let mut all = Vec::new();
        let each = |element: std::collections::BTreeMap<String, u64>| {
            let number = element.get("n").copied().ok_or_else(|| foreign("an element has no n"))?;
            all.push(number);
            Ok(())
        };
        elements(&Input::bytes("x", text.as_bytes()), place, each).map(|()| all)
    }

    #[test]
    fn a_list_is_found_where_it_stands() {
        assert_eq!(numbers("[{\"n\":1},{\"n\":2}]", Place::Top).unwrap(), [1, 2]);
        assert_eq!(numbers("{\"x\":[],\"l\":[{\"n\":1}]}", Place::Under("l")).unwrap(), [1]);
        assert_eq!(numbers("{\"l\":[{\"n\":1}]}", Place::TopOrUnder("l")).unwrap(), [1]);
        assert_eq!(numbers("{\"l\":null}", Place::Under("l")).unwrap(), [0; 0]);
        assert_eq!(numbers("[{\"n\":1},{\"n\":2}]", Place::TopOrAlone).unwrap(), [1, 2]);
        assert_eq!(numbers("x\n{\"n\":1}", Place::TopOrAlone).unwrap(), [1]);
        for (text, place, reject) in [
            ("{\"l\":[]}", Place::Top, Reject::NotThisFormat),
            ("{\"x\":[]}", Place::Under("l"), Reject::NotThisFormat),
            ("{\"x\":[]}", Place::TopOrUnder("l"), Reject::NotThisFormat),
            ("{\"l\":{}}", Place::Under("l"), Reject::NotThisFormat),
            ("{\"l\":1}", Place::Under("l"), Reject::Malformed),
            ("{\"l\":[],\"l\":[]}", Place::Under("l"), Reject::Malformed),
            ("[{\"n\":1},{\"n\":-2}]", Place::Top, Reject::Malformed),
            ("[{\"n\":1},{\"n\":2}", Place::Top, Reject::Malformed),
        ] {
            assert_eq!(numbers(text, place).unwrap_err().reject(), Some(reject), "{text}");
        }
        let error = numbers("[{\"n\":1},\n{}]", Place::Top).unwrap_err();
        assert_eq!((error.message.as_str(), error.place.line), ("an element has no n", Some(2)));
        assert_eq!(error.reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn members_are_read_once_and_php_s_empty_object_is_a_list() {
        let read = |text: &str| {
            let mut all = Vec::new();
            let input = Input::bytes("x", text.as_bytes());
            let each = |name: String, number: u64| {
                all.push((name, number));
                Ok(())
            };
            members_under(&input, "files", each).map(|()| all).map_err(|error| error.reject())
        };
        assert_eq!(read("{\"files\":{\"a\":1}}"), Ok(vec![("a".to_owned(), 1)]));
        assert_eq!(read("{\"files\":[]}"), Ok(Vec::new()));
        assert_eq!(read("{\"files\":[1]}"), Err(Some(Reject::NotThisFormat)));
        assert_eq!(read("{\"files\":{\"a\":1,\"a\":2}}"), Err(Some(Reject::Malformed)));
    }

    #[test]
    fn levels_have_many_words() {
        let mut findings = Findings::new("t", Sort::Linter);
        let levels = ["FATAL", "Warning", "style", "", "odd"].map(|word| findings.level(Some(word)));
        assert_eq!(levels, [Level::Error, Level::Warning, Level::Note, Level::Error, Level::Error]);
        assert_eq!(findings.level(None), Level::Error);
        let parsed = findings.finish(&sarif::FORMAT).unwrap();
        assert_eq!(parsed.warnings, ["severity \"odd\" is not known and counted as an error"]);
    }
}
