//! What the JSON formats of tests share: objects that are read key by key, so that a list of any length is never held,
//! and values that may be anything.

use std::fmt;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value;

use super::{CASE_BYTES, TestTally, UNITS_KEPT, milliseconds, texts};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
pub(super) use crate::ingest::json::items;
use crate::ingest::json::{Elements, ListOf};
use crate::ingest::text::{Lines, LongLine, printable};
use crate::ingest::{CUT_HELP, Details, Format, Parsed, add};
use crate::model::cases::TestCase;
use crate::model::figures::Figures;

/// Takes the keys of an object as they come.
pub(super) trait Keys {
    /// Reads the value of `key` out of `map`, and says `true`; or leaves it, and says `false`.
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error>;
}

/// An object whose keys are taken by a [`Keys`]. A key that is taken may not come twice; the others are passed over.
/// `null` is an object without keys.
pub(super) struct Object<'k, K>(pub &'k mut K);

impl<'de, K: Keys> DeserializeSeed<'de> for Object<'_, K> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, K: Keys> Visitor<'de> for Object<'_, K> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut taken: Vec<String> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if taken.contains(&key) {
                return Err(A::Error::custom(format!("the key {:?} comes twice", printable(&key, 40))));
            }
            if self.0.key(&key, &mut map)? {
                taken.push(key);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Objects, each read key by key by a [`Keys`] of its own, which is handed over when its object ends.
pub(super) struct Objects<M, F> {
    make: M,
    take: F,
}

/// A list of [`Objects`] made by `make`, for `take`.
pub(super) fn objects<K: Keys, M: FnMut() -> K, F: FnMut(K) -> Result<()>>(make: M, take: F) -> ListOf<Objects<M, F>> {
    ListOf(Objects { make, take })
}

impl<K: Keys, M: FnMut() -> K, F: FnMut(K) -> Result<()>> Elements for Objects<M, F> {
    fn next<'de, A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<bool, A::Error> {
        let mut keys = (self.make)();
        if list.next_element_seed(Object(&mut keys))?.is_none() {
            return Ok(false);
        }
        (self.take)(keys).map_err(|error| A::Error::custom(&error.message))?;
        Ok(true)
    }
}

/// After so many results that are kept, the room that they took while they waited is given back.
const GIVEN_BACK: usize = 10_000;

/// Results of a unit whose name may come after them. They are counted as they come, and held until the name is known; what
/// there is no room for is not kept by name.
#[derive(Default)]
pub(super) struct Waiting {
    results: Vec<(String, TestCase)>,
    bytes: usize,
}

impl Waiting {
    /// Counts a result, and holds it.
    pub(super) fn add(&mut self, name: String, case: TestCase, tally: &mut TestTally) -> Result<()> {
        tally.count(case.outcome, 1)?;
        let bytes = CASE_BYTES + name.len() + texts(&case);
        if tally.hold(bytes) {
            self.bytes += bytes;
            self.results.push((name, case));
        } else {
            tally.release(bytes);
            tally.details.dropped = tally.details.dropped.saturating_add(1);
        }
        Ok(())
    }

    /// Puts the title of a unit around before the names.
    pub(super) fn name(&mut self, title: &str, tally: &mut TestTally) {
        for (name, _) in &mut self.results {
            *name = format!("{title}::{name}");
        }
        let bytes = self.results.len() * (title.len() + 2);
        // What is held already stays.
        let _ = tally.hold(bytes);
        self.bytes += bytes;
    }

    /// Holds what another one held, too.
    pub(super) fn append(&mut self, mut other: Waiting) {
        self.bytes += other.bytes;
        self.results.append(&mut other.results);
    }

    /// Keeps what was held under the ids that `id` makes of the names.
    pub(super) fn keep(mut self, tally: &mut TestTally, mut id: impl FnMut(String, &mut TestCase) -> String) {
        tally.release(self.bytes);
        self.results.reverse();
        while let Some((name, mut case)) = self.results.pop() {
            let id = id(name, &mut case);
            tally.keep(&id, case);
            // Else they would take room twice.
            if self.results.len().is_multiple_of(GIVEN_BACK) {
                self.results.shrink_to_fit();
            }
        }
    }
}

/// Hands over each line that is a JSON object; returns the number of the last line. Other lines, and objects that do not
/// hold `marker`, are passed over: what a tool prints beside its events.
///
/// # Errors
/// Malformed if an event is damaged or cut; what `take` says, with the line.
pub(super) fn events<T: DeserializeOwned>(
    input: &Input<'_>,
    marker: &str,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<u64> {
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::EscapedTwice)?;
    let mut last = 0;
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.trim();
        if !text.starts_with('{') {
            continue;
        }
        let taken = match serde_json::from_str::<T>(text) {
            Ok(event) => take(event),
            Err(_) if !line.ended => {
                Err(Error::report(Reject::Malformed, "report ends inside an event").help(CUT_HELP))
            }
            Err(_) if text.contains(marker) => Err(Error::report(Reject::Malformed, "an event is damaged")
                .help("something else wrote into the same file; let the tool write to a file of its own")),
            Err(_) => Ok(()),
        };
        taken.map_err(|error| error.line(last))?;
    }
    Ok(last)
}

/// A stream whose last event never came.
pub(super) fn cut_short(what: &str, last_line: u64) -> Error {
    Error::report(Reject::Malformed, format!("report ends before {what}")).line(last_line.max(1)).help(CUT_HELP)
}

/// A report that lacks what its format is told by.
pub(super) fn lacks(format: &Format, what: &str) -> Error {
    Error::report(Reject::NotThisFormat, format!("not a {} report: it has no {what}", format.name))
}

/// A status that the tool is not known to write.
pub(super) fn unknown_status(status: &str) -> Error {
    Error::report(Reject::Malformed, format!("a test has the status {:?}", printable(status, 40)))
}

/// The text, if the value is one.
pub(super) fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.trim().is_empty())
}

/// A line number from 1.
pub(super) fn line(value: &Value) -> Option<u64> {
    value.as_u64().filter(|line| *line > 0)
}

/// A path, made fit to be shown.
pub(super) fn path(value: &Value) -> Option<String> {
    text(value).map(|path| printable(path, 1000))
}

/// Milliseconds of a number of seconds; none if it is anything else.
pub(super) fn seconds(value: &Value) -> Option<u64> {
    value.is_number().then(|| milliseconds(&value.to_string()))?
}

/// Whole milliseconds of a number of them; none if it is anything else.
pub(super) fn whole_milliseconds(value: &Value) -> Option<u64> {
    let number = value.is_number().then(|| value.to_string())?;
    milliseconds(&number).map(|thousandths| thousandths / 1000)
}

/// How often a test ran, where the report counts the times before the last.
pub(super) fn attempts(retries: &Value) -> u32 {
    retries.as_u64().and_then(|retries| u32::try_from(retries).ok()).map_or(1, |retries| retries.saturating_add(1))
}

/// Counts `number` units that failed outside any test, of which some names are known.
pub(super) fn unit_failures(tally: &mut TestTally, number: u64, names: impl Iterator<Item = String>) -> Result<()> {
    tally.details.unit_failures = add(tally.details.unit_failures, number)?;
    let room = UNITS_KEPT.saturating_sub(tally.details.failed_units.len());
    let known = usize::try_from(number).unwrap_or(usize::MAX).min(room);
    tally.details.failed_units.extend(names.map(|name| printable(&name, 200)).take(known));
    Ok(())
}

/// Holds the report's own totals, which do not have the failed units, against what was counted.
pub(super) fn declare(parsed: &mut Parsed, said: Figures) {
    let units = match &parsed.details {
        Details::Tests(details) => details.unit_failures,
        _ => 0,
    };
    let less_units = |count: Option<u64>| count.map(|count| count.saturating_sub(units));
    let found = Figures {
        tests: less_units(parsed.figures.tests),
        errored: less_units(parsed.figures.errored),
        ..parsed.figures.clone()
    };
    let found = found.counts();
    let mut differ = false;
    for (key, said) in said.counts() {
        if let Some((_, found)) = found.iter().find(|(other, found)| *other == key && *found != said) {
            parsed.warnings.push(format!("the report's own totals say {key} {said}, but its tests add up to {found}"));
            differ = true;
        }
    }
    if differ {
        parsed.declared = Some(said);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::json;
    use crate::ingest::test::junit;
    use crate::model::cases::Outcome;
    use serde_json::json;

    struct List(Vec<u64>);

    impl Keys for List {
        fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
            if key == "list" {
                map.next_value_seed(items(|number: u64| {
                    self.0.push(number);
                    if number > 8 { Err(unknown_status("9")) } else { Ok(()) }
                }))?;
            }
            Ok(key == "list")
        }
    }

    fn read(text: &str) -> Result<Vec<u64>> {
        let mut list = List(Vec::new());
        json::object(&Input::bytes("x", text.as_bytes()), Object(&mut list)).map(|()| list.0)
    }

    #[test]
    fn p20_keys_that_are_taken_come_once() {
        assert_eq!(read("{\"a\": 1, \"list\": [1, 2], \"a\": 2}").unwrap(), [1, 2]);
        assert!(read("{\"list\": null}").unwrap().is_empty());
        let twice = read("{\"list\": [1],\n \"list\": []}").unwrap_err();
        assert_eq!((twice.reject(), twice.place.line), (Some(Reject::Malformed), Some(2)));
        let refused = read("{\"list\": [9]}").unwrap_err();
        assert!(refused.message.contains("the status \"9\""), "{refused}");
        assert!(
            read("{\"list\": [-1]}").is_err() && read("{\"list\": [1.5]}").is_err() && read("{\"list\": 1}").is_err()
        );
    }

    #[test]
    fn events_are_lines_and_other_lines_are_passed_over() {
        let read = |text: &str| {
            let mut seen = Vec::new();
            let take = |event: std::collections::BTreeMap<String, u64>| {
                seen.extend(event.into_values());
                Ok(())
            };
            events(&Input::bytes("x", text.as_bytes()), "\"e\"", take).map(|last| (seen, last))
        };
        assert_eq!(read("x\n{\"e\": 1}\r\n {\"e\": 2}\n{\"o\": []}\n[1]\n").unwrap(), (vec![1, 2], 5));
        let damaged = read("{\"e\": 1}\n{\"e\": 1\n").unwrap_err();
        assert_eq!((damaged.message.as_str(), damaged.place.line), ("an event is damaged", Some(2)));
        assert_eq!(read("{\"e\": 1}\n{").unwrap_err().message, "report ends inside an event");
    }

    #[test]
    fn p34_durations_are_numbers_or_absent() {
        assert_eq!(seconds(&json!(0.25)), Some(250));
        assert_eq!(whole_milliseconds(&json!(6.19)), Some(6));
        assert_eq!(whole_milliseconds(&json!(12)), Some(12));
        for odd in [json!("12"), json!(-1), json!(1e-7), json!(null), json!([1])] {
            assert_eq!((seconds(&odd), whole_milliseconds(&odd)), (None, None), "{odd}");
        }
        assert_eq!((attempts(&json!(2)), attempts(&json!(null)), attempts(&json!(u64::MAX))), (3, 1, 1));
        assert_eq!((line(&json!(0)), line(&json!(3)), text(&json!(" "))), (None, Some(3), None));
    }

    #[test]
    fn p28_totals_are_compared_without_the_failed_units() {
        let mut tally = TestTally::new(false);
        unit_failures(&mut tally, 2, ["a".to_owned()].into_iter()).unwrap();
        assert!(unit_failures(&mut tally, u64::MAX, std::iter::empty()).is_err());
        let mut parsed = tally.finish(&junit::FORMAT).unwrap();
        declare(&mut parsed, Figures { tests: Some(0), errored: Some(0), ..Figures::default() });
        assert_eq!((parsed.declared.clone(), parsed.warnings.len()), (None, 0));
        declare(&mut parsed, Figures { tests: Some(1), ..Figures::default() });
        assert_eq!(parsed.declared.unwrap().tests, Some(1));
        assert_eq!(parsed.warnings, ["the report's own totals say tests 1, but its tests add up to 0"]);
    }

    #[test]
    fn p18_results_that_wait_for_a_name_are_counted_and_dropped_where_there_is_no_room() {
        let mut tally = TestTally::new(false);
        let mut waiting = Waiting::default();
        let name = "n".repeat(50_000);
        for number in 0..1_000 {
            waiting.add(format!("{name}{number}"), TestCase::new(Outcome::Passed), &mut tally).unwrap();
        }
        let held = waiting.results.len();
        let mut file = Waiting::default();
        file.append(waiting);
        file.keep(&mut tally, |name, _| format!("a::{}", name.trim_start_matches('n')));
        assert!(tally.hold(super::super::KEPT_BYTES / 2), "room is given back");
        let parsed = tally.finish(&junit::FORMAT).unwrap();
        let Details::Tests(details) = &parsed.details else { panic!("tests") };
        assert_eq!((parsed.figures.tests, details.cases.cases.len()), (Some(1_000), held));
        assert_eq!(details.dropped, 1_000 - u64::try_from(held).unwrap());
        assert!(held > 100 && held < 1_000, "{held}");
    }
}
