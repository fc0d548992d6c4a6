//! Objects of JSON whose entries are read one by one, so that none of any length is held.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};

use super::json::{Elements, Key, ListOf};
use super::text::printable;
use crate::error::{Error, Result};

/// Keys of one object that are known to have been there. One that comes twice is found among these.
const KEYS_KNOWN: usize = 300_000;

/// [`Key`], where the key must be there.
pub(super) struct Required<S>(pub Key<S>);

impl<'de, S: DeserializeSeed<'de, Value = ()>> DeserializeSeed<'de> for Required<S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, S: DeserializeSeed<'de, Value = ()>> Visitor<'de> for Required<S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let name = self.0.name;
        if self.0.find(map)? { Ok(()) } else { Err(A::Error::missing_field(name)) }
    }
}

/// A list that `null` is not.
pub(super) struct List<E>(pub ListOf<E>);

impl<'de, E: Elements> DeserializeSeed<'de> for List<E> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self.0)
    }
}

/// Our own error on its way through serde, which passes on no more than its text.
#[derive(Default)]
pub(super) struct Fault(RefCell<Option<Error>>);

impl Fault {
    /// For serde; kept until [`Fault::ours`] is asked.
    pub(super) fn through<T, E: serde::de::Error>(&self, outcome: Result<T>) -> Result<T, E> {
        outcome.map_err(|error| {
            let text = error.message.clone();
            *self.0.borrow_mut() = Some(error);
            E::custom(text)
        })
    }

    /// What came out of serde, with our own error where it was that, and the place where it was met.
    pub(super) fn ours<T>(&self, read: Result<T>) -> Result<T> {
        read.map_err(|error| match self.0.take() {
            Some(ours) => ours.placed(error.into_fault().place),
            None => error,
        })
    }
}

/// An object of any length with any keys, none of them twice: what each holds is read by the seed that its key gets. `null`
/// is an empty one.
pub(super) struct Entries<'a, F> {
    /// Gives the seed of a key.
    pub of: F,
    /// Where its error is kept.
    pub fault: &'a Fault,
}

impl<'de, S, F> DeserializeSeed<'de> for Entries<'_, F>
where
    S: DeserializeSeed<'de, Value = ()>,
    F: FnMut(String) -> Result<S>,
{
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, S, F> Visitor<'de> for Entries<'_, F>
where
    S: DeserializeSeed<'de, Value = ()>,
    F: FnMut(String) -> Result<S>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let mut known = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            let hash = hash(&key);
            if known.contains(&hash) {
                return Err(A::Error::custom(format!("the key {:?} stands twice", printable(&key, 40))));
            }
            if known.len() < KEYS_KNOWN {
                known.insert(hash);
            }
            map.next_value_seed(self.fault.through((self.of)(key))?)?;
        }
        Ok(())
    }
}

/// An entry, or an object that holds such entries, where one object has both.
pub(super) enum Nested<'a, F, S> {
    /// An entry.
    One(S),
    /// An object of entries.
    Many(Entries<'a, F>),
}

impl<'de, S, F> DeserializeSeed<'de> for Nested<'_, F, S>
where
    S: DeserializeSeed<'de, Value = ()>,
    F: FnMut(String) -> Result<S>,
{
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self {
            Nested::One(entry) => entry.deserialize(deserializer),
            Nested::Many(entries) => entries.deserialize(deserializer),
        }
    }
}

/// The hash that stands for a key, where keys would take too much memory. It is quick and spreads well; keys that are made to
/// meet in it spoil only the report that holds them.
#[inline]
pub(super) fn hash(key: &str) -> u64 {
    let mix = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word) * 0x9e37_79b9_7f4a_7c15;
        u64::try_from((product ^ (product >> 64)) & u128::from(u64::MAX)).unwrap_or_default()
    };
    let (words, rest) = key.as_bytes().as_chunks::<8>();
    let hash = words.iter().fold(!0, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    mix(hash, rest.iter().fold(1, |word, byte| word << 8 | u64::from(*byte)))
}

/// A value that is handed to a function.
pub(super) struct Take<'a, T, F> {
    take: F,
    fault: &'a Fault,
    of: PhantomData<T>,
}

/// [`Take`] for `take`, whose error is kept in `fault`.
pub(super) fn take<T: DeserializeOwned, F: FnOnce(T) -> Result<()>>(fault: &Fault, take: F) -> Take<'_, T, F> {
    Take { take, fault, of: PhantomData }
}

impl<'de, T: DeserializeOwned, F: FnOnce(T) -> Result<()>> DeserializeSeed<'de> for Take<'_, T, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let value = T::deserialize(deserializer)?;
        self.fault.through((self.take)(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::json;

    fn read(text: &str) -> Result<Vec<(String, u64)>> {
        let (fault, entries) = (Fault::default(), RefCell::new(Vec::new()));
        let of = |key: String| {
            if key == "x" {
                return Err(Error::report(Reject::Refused, "no x").help("leave it out"));
            }
            let entries = &entries;
            Ok(take(&fault, move |value: u64| {
                entries.borrow_mut().push((key, value));
                Ok(())
            }))
        };
        let object = Required(Key { name: "a", seed: Entries { of, fault: &fault } });
        fault.ours(json::object(&Input::bytes("x", text.as_bytes()), object))?;
        Ok(entries.into_inner())
    }

    #[test]
    fn entries_come_one_by_one_and_no_key_twice() {
        assert_eq!(read("{\"a\":{\"b\":1,\"c\":2},\"d\":0}").unwrap(), [("b".to_owned(), 1), ("c".to_owned(), 2)]);
        assert_eq!(read("{\"a\":null}").unwrap(), []);
        for bad in ["{\"a\":{\"b\":1,\"b\":1}}", "{\"a\":{\"b\":\"1\"}}", "{\"a\":[]}", "{}", "{\"a\":{},\"a\":{}}"] {
            assert_eq!(read(bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
    }

    #[test]
    fn an_error_of_ours_comes_through_whole_with_its_place() {
        let error = read("{\n\"a\":{\"x\":1}}").unwrap_err();
        assert_eq!((error.reject(), error.help.as_deref()), (Some(Reject::Refused), Some("leave it out")));
        assert_eq!(error.place.line, Some(2));
    }
}
