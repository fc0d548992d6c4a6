//! Numbers and objects as reports write them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::entries::hash;
use super::text::printable;

/// Most elements of a list, and keys of an object, that are held at a time.
const MOST_HELD: usize = 250_000;

/// Digits and nothing else, below 2⁶⁴.
#[inline]
pub(super) fn whole(text: &str) -> Option<u64> {
    let (number, rest) = leading(text.as_bytes())?;
    rest.is_empty().then_some(number)
}

/// The number that digits at the beginning make, below 2⁶⁴, and what comes after them.
#[inline]
pub(super) fn leading(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (mut number, mut rest) = (0_u64, bytes);
    while let [digit @ b'0'..=b'9', after @ ..] = rest {
        number = number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
        rest = after;
    }
    (rest.len() < bytes.len()).then_some((number, rest))
}

/// As [`leading`], of a text.
pub(super) fn leading_in(text: &str) -> Option<(u64, &str)> {
    let (number, rest) = leading(text.as_bytes())?;
    Some((number, text.get(text.len() - rest.len()..)?))
}

/// A whole number of which one below zero counts as zero: hits of a counter that overflowed, a line that is none.
#[inline]
pub(super) fn whole_or_below(text: &str) -> Option<u64> {
    // By pattern: what strips a prefix calls a comparison for the one byte.
    let (is_below, digits) = match text.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let (number, []) = leading(digits)? else { return None };
    Some(if is_below { 0 } else { number })
}

/// Whether a count of hits is above zero. Some tools write such counts as fractions without a rest (`1.0`), or in six digits
/// (`1.23457e+06`), as GCC 9 does.
pub(super) fn is_hit(text: &str) -> Option<bool> {
    if let Some(hits) = whole_or_below(text) {
        return Some(hits > 0);
    }
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    let hits = real_as_whole(text.parse().ok().filter(|_| is_number && !text.starts_with('+'))?)?;
    Some(hits > 0)
}

/// The whole number that a number with a fraction or an exponent is, if it is one; below zero is zero.
fn real_as_whole(number: f64) -> Option<u64> {
    // Above it, not every whole number can be told from its neighbours.
    let is_whole = number.fract() == 0.0 && number.abs() < 2_f64.powi(53);
    if !is_whole {
        return None;
    }
    if number < 0.0 { Some(0) } else { format!("{:.0}", number.abs()).parse().ok() }
}

/// A count or line number in JSON: below zero, or `null`, is zero. GCC 9 writes large ones as `1.23457e+06`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count(pub u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Count, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

struct CountVisitor;

impl Visitor<'_> for CountVisitor {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_u64<E>(self, number: u64) -> Result<Count, E> {
        Ok(Count(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Count, E> {
        Ok(Count(u64::try_from(number).unwrap_or(0)))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Count, E> {
        let odd = || E::invalid_value(serde::de::Unexpected::Float(number), &self);
        real_as_whole(number).map(Count).ok_or_else(odd)
    }

    fn visit_unit<E>(self) -> Result<Count, E> {
        Ok(Count(0))
    }
}

/// An object with any keys, none of them twice. `null` is an empty one.
#[derive(Debug)]
pub(super) struct Unique<T>(pub BTreeMap<String, T>);

impl<T> Default for Unique<T> {
    fn default() -> Unique<T> {
        Unique(BTreeMap::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Unique<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Unique<T>, D::Error> {
        deserializer.deserialize_any(UniqueVisitor(PhantomData))
    }
}

struct UniqueVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for UniqueVisitor<T> {
    type Value = Unique<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<Unique<T>, E> {
        Ok(Unique::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unique<T>, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some((key, value)) = map.next_entry::<String, T>()? {
            if entries.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {:?} stands twice", printable(&key, 40))));
            }
            entries.insert(key, value);
            fits(entries.len(), MOST_HELD)?;
        }
        Ok(Unique(entries))
    }
}

fn fits<E: serde::de::Error>(held: usize, most: usize) -> Result<(), E> {
    if held > most {
        return Err(E::custom(format!("more than {most} values stand side by side")));
    }
    Ok(())
}

/// Likewise, with hashes for keys: an object of many small values. `null` is an empty one.
#[derive(Debug)]
pub(super) struct Hashed<T>(Vec<(u64, T)>);

impl<T> Hashed<T> {
    /// What stands under a key, if anything.
    pub(super) fn get(&self, key: u64) -> Option<&T> {
        let at = self.0.binary_search_by_key(&key, |(key, _)| *key).ok()?;
        self.0.get(at).map(|(_, value)| value)
    }

    /// Hashes of keys, and what stands under them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(u64, T)> {
        self.0.iter()
    }
}

impl<T> Default for Hashed<T> {
    fn default() -> Hashed<T> {
        Hashed(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Hashed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hashed<T>, D::Error> {
        deserializer.deserialize_any(HashedVisitor(PhantomData))
    }
}

struct HashedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for HashedVisitor<T> {
    type Value = Hashed<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<Hashed<T>, E> {
        Ok(Hashed::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Hashed<T>, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<Cow<'de, str>, T>()? {
            entries.push((hash(&key), value));
            fits(entries.len(), MOST_HELD)?;
        }
        entries.sort_unstable_by_key(|(key, _)| *key);
        if entries.windows(2).any(|pair| matches!(pair, [(one, _), (other, _)] if one == other)) {
            return Err(A::Error::custom("a key stands twice"));
        }
        Ok(Hashed(entries))
    }
}

/// A list that is held, and therefore has an end. `null` is no list.
#[derive(Clone, Debug)]
pub(super) struct Few<T, const MOST: usize = MOST_HELD>(pub Vec<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for Few<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Few<T, MOST>, D::Error> {
        deserializer.deserialize_seq(FewVisitor(PhantomData))
    }
}

struct FewVisitor<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for FewVisitor<T, MOST> {
    type Value = Few<T, MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Few<T, MOST>, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = list.next_element()? {
            elements.push(element);
            fits(elements.len(), MOST)?;
        }
        Ok(Few(elements))
    }
}

impl<T, const MOST: usize> IntoIterator for Few<T, MOST> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<T, const MOST: usize> Default for Few<T, MOST> {
    fn default() -> Few<T, MOST> {
        Few(Vec::new())
    }
}

/// The first element of a list, whose others are read and let go; an object that stands where others write a list.
#[derive(Clone, Debug)]
pub(super) struct First<T>(pub Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for First<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<First<T>, D::Error> {
        deserializer.deserialize_any(FirstVisitor(PhantomData))
    }
}

struct FirstVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FirstVisitor<T> {
    type Value = First<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<First<T>, A::Error> {
        let first = list.next_element()?;
        while list.next_element::<T>()?.is_some() {}
        Ok(First(first))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<First<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|alone| First(Some(alone)))
    }
}

impl<T> Default for First<T> {
    fn default() -> First<T> {
        First(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p24_only_digits_are_a_number() {
        assert_eq!((whole("12"), whole("007"), whole_or_below("-3")), (Some(12), Some(7), Some(0)));
        for odd in ["", "+5", "1,234", "12 ", "3.7", "1e3", "１", "18446744073709551616", "--1", "-"] {
            assert_eq!((whole(odd), whole_or_below(odd)), (None, None), "{odd}");
        }
    }

    #[test]
    fn hits_may_be_written_with_an_exponent_or_an_empty_fraction() {
        for (text, expected) in
            [("0", false), ("7", true), ("-3", false), ("1.23457e+06", true), ("1.0", true), ("0.0", false)]
        {
            assert_eq!(is_hit(text), Some(expected), "{text}");
        }
        for odd in ["", "3.7", "1e400", "inf", "nan", "+5", "1e", "1,0", "18446744073709551616", "e5", "."] {
            assert_eq!(is_hit(odd), None, "{odd}");
        }
    }

    #[test]
    fn p22_p23_a_count_in_json_is_whole_and_fits() {
        let read = |text: &str| serde_json::from_str::<Count>(text).map(|count| count.0).ok();
        assert_eq!([read("3"), read("-3"), read("null"), read("0")], [Some(3), Some(0), Some(0), Some(0)]);
        assert_eq!([read("1.23457e+06"), read("12.0"), read("-2.0")], [Some(1_234_570), Some(12), Some(0)]);
        for odd in ["3.7", "18446744073709551616", "1e400", "\"3\"", "true", "[]"] {
            assert_eq!(read(odd), None, "{odd}");
        }
    }

    #[test]
    fn of_a_list_the_first_is_kept_and_all_are_read() {
        let read = |text: &str| serde_json::from_str::<First<u64>>(text).map(|first| first.0).ok();
        assert_eq!([read("[3,4]"), read("[]"), read("[3,\"4\"]"), read("3")], [Some(Some(3)), Some(None), None, None]);
    }

    #[test]
    fn p20_a_key_stands_once() {
        let read = |text: &str| serde_json::from_str::<Unique<u64>>(text).map(|entries| entries.0.len()).ok();
        assert_eq!([read("{\"a\":1,\"b\":2}"), read("{}"), read("null")], [Some(2), Some(0), Some(0)]);
        assert_eq!([read("{\"a\":1,\"a\":1}"), read("[]"), read("{\"a\":\"1\"}")], [None; 3]);
        let hashed = |text: &str| serde_json::from_str::<Hashed<u64>>(text).ok();
        let two = hashed("{\"b\":2,\"a\":1}").unwrap();
        assert_eq!((two.get(hash("a")), two.get(hash("b")), two.get(hash("c"))), (Some(&1), Some(&2), None));
        assert!(hashed("{\"b\":2,\"a\":1,\"b\":2}").is_none() && hashed("null").unwrap().0.is_empty());
    }

    #[test]
    fn p19_what_is_held_has_an_end() {
        let list = |length: usize| format!("[{}1]", "1,".repeat(length - 1));
        let few = |text: &str| serde_json::from_str::<Few<u8>>(text).map(|list| list.0.len()).ok();
        assert_eq!(
            (few(&list(MOST_HELD)), few(&list(MOST_HELD + 1)), few("[]"), few("{}")),
            (Some(MOST_HELD), None, Some(0), None)
        );
        let object: String = (0..=MOST_HELD).map(|key| format!(",\"{key}\":1")).collect();
        let object = format!("{{\"a\":1{object}}}");
        assert!(
            serde_json::from_str::<Unique<u8>>(&object).is_err()
                && serde_json::from_str::<Hashed<u8>>(&object).is_err()
        );
    }
}
