//! How often each file was read, and whether the reads told anything new.
//!
//! A long turn reads ten thousand files, and a hook reads at every call what was counted before it, for the sake of a file or
//! two: so what was written down stays the text that it is, a line a file, `COUNT NOTHING_NEW HASHES PATH`, with `-` for hashes
//! that are not known, and a line is understood when its file is asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Reads of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reads {
    /// All of this turn.
    pub count: u64,
    /// What they returned since the file was edited, by hashes of the hashes that were given; `None` while none is known.
    pub seen: Option<BTreeSet<u64>>,
    /// Those among them that returned what an earlier one had returned.
    pub nothing_new: u64,
}

/// Reads by path.
#[derive(Clone, Debug, Default)]
pub struct AllReads {
    /// Files that were not asked for since this was read again, a line each.
    text: String,
    known: BTreeMap<String, Reads>,
}

impl AllReads {
    /// Those of a file, if it was read.
    pub fn get(&self, path: &str) -> Option<Reads> {
        self.known.get(path).cloned().or_else(|| self.find(path).map(|(_, reads)| reads))
    }

    /// Those of a file; none if it was not read yet.
    pub fn of(&mut self, path: &str) -> &mut Reads {
        if !self.known.contains_key(path)
            && let Some((line, reads)) = self.find(path)
        {
            self.text.replace_range(line, "");
            self.known.insert(path.to_owned(), reads);
        }
        self.known.entry(path.to_owned()).or_default()
    }

    /// How often each file was read.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let unasked =
            self.text.lines().filter_map(Reads::parse).map(|(path, reads)| (path.replace(NEWLINE, "\n"), reads.count));
        let known = self.known.iter().map(|(path, reads)| (path.clone(), reads.count));
        unasked.chain(known).collect()
    }

    /// Where a file's line is in the text, its end included.
    fn find(&self, path: &str) -> Option<(std::ops::Range<usize>, Reads)> {
        let path = path.replace("\n", NEWLINE);
        let end_of_line = format!(" {path}\n");
        self.text.match_indices(&end_of_line).find_map(|(at, _)| {
            let begin = self.text.get(..at)?.rfind('\n').map_or(0, |newline| newline + 1);
            let end = at + end_of_line.len();
            let (found, reads) = Reads::parse(self.text.get(begin..end - 1)?)?;
            (found == path).then_some((begin..end, reads))
        })
    }
}

/// What stands for a line break in a path: no path of a file has it.
const NEWLINE: &str = "\0";

impl Serialize for AllReads {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = self.text.clone();
        self.known.iter().for_each(|(path, reads)| reads.write(&path.replace("\n", NEWLINE), &mut text));
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for AllReads {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AllReads, D::Error> {
        Ok(AllReads { text: String::deserialize(deserializer)?, known: BTreeMap::new() })
    }
}

/// FNV-1a: what is written down is compared by later builds too, and the standard library's hash may be another in them.
fn short(hash: &str) -> u64 {
    hash.bytes().fold(0xcbf2_9ce4_8422_2325, |short, byte| (short ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

impl Reads {
    /// One more result is known.
    pub fn returned(&mut self, hash: &str) {
        let is_new = self.seen.get_or_insert_default().insert(short(hash));
        self.nothing_new += u64::from(!is_new);
    }

    /// The file is another one now.
    pub fn edited(&mut self) {
        self.nothing_new = 0;
        self.seen = self.seen.is_some().then(BTreeSet::new);
    }

    fn write(&self, path: &str, text: &mut String) {
        let hashes = match &self.seen {
            None => "-".to_owned(),
            Some(seen) => seen.iter().map(|hash| format!("{hash:x}")).collect::<Vec<_>>().join(","),
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "{} {} {hashes} {path}", self.count, self.nothing_new);
    }

    fn parse(line: &str) -> Option<(&str, Reads)> {
        let mut words = line.splitn(4, ' ');
        let (count, nothing_new) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let hash = |word: &str| u64::from_str_radix(word, 16).ok();
        let seen = match words.next()? {
            "-" => None,
            "" => Some(BTreeSet::new()),
            hashes => Some(hashes.split(',').map(hash).collect::<Option<_>>()?),
        };
        Some((words.next()?, Reads { count, seen, nothing_new }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_that_are_written_down_stay_what_they_are() {
        assert_eq!([short(""), short("a")], [0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c]);
    }

    #[test]
    fn what_is_written_down_says_the_same_when_it_is_read_again() {
        let paths = ["a", "b a", "a b", "", "-", "1 0 - a", "a\nb", "b"];
        let mut all = AllReads::default();
        for (times, path) in paths.iter().enumerate() {
            for time in 0..=times {
                let reads = all.of(path);
                reads.count += 1;
                reads.returned(if time == 2 { "a b,c" } else { "d" });
            }
        }
        all.of("b").edited();
        all.of("unknown").count = 1;
        let again: AllReads = serde_json::from_str(&serde_json::to_string(&all).unwrap()).unwrap();
        assert_eq!(again.counts(), all.counts());
        let mut asked = again.clone();
        for path in paths.into_iter().chain(["unknown"]) {
            assert_eq!(again.get(path), all.get(path), "{path:?}");
            assert_eq!(Some(asked.of(path).clone()), all.get(path), "{path:?}");
        }
        assert!(asked.text.is_empty() && asked.get("never").is_none() && all.get("b a").unwrap().nothing_new == 1);
        assert_eq!(asked.counts(), all.counts());
        let damaged = AllReads { text: "1 0\nx 0 - a\n1 0 g a\n".into(), ..AllReads::default() };
        assert_eq!((damaged.get("a"), damaged.counts().len()), (None, 0));
    }
}
