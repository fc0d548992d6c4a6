//! JSON values that may be of any type, because no figure depends on them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::ingest::values::leading_in;

/// A value that no figure depends on: whatever its type is, it spoils nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Loose {
    /// A string.
    Text(String),
    /// A whole number that is not negative.
    Number(u64),
    /// Something else, or nothing.
    #[default]
    Other,
}

impl Loose {
    /// The string, or the number as one.
    pub(super) fn text(self) -> Option<String> {
        match self {
            Loose::Text(text) => Some(text),
            Loose::Number(number) => Some(number.to_string()),
            Loose::Other => None,
        }
    }

    /// Whether it is a string.
    pub(super) fn is_text(&self) -> bool {
        matches!(self, Loose::Text(_))
    }

    /// The number, or that with which the string begins: the first line of `12-14`.
    pub(super) fn leading(&self) -> Loose {
        match self {
            Loose::Text(text) => leading_in(text).map_or(Loose::Other, |(number, _)| Loose::Number(number)),
            Loose::Number(number) => Loose::Number(*number),
            Loose::Other => Loose::Other,
        }
    }

    /// The line from 1 where lines are counted from 0.
    pub(super) fn one_based(&self) -> Loose {
        self.number().and_then(|line| line.checked_add(1)).map_or(Loose::Other, Loose::Number)
    }

    /// The number.
    pub(super) fn number(&self) -> Option<u64> {
        if let Loose::Number(number) = self { Some(*number) } else { None }
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Loose, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Loose, E> {
        Ok(Loose::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Loose, E> {
        Ok(Loose::Text(text))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Loose, E> {
        Ok(Loose::Number(number))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Loose, E> {
        Ok(Loose::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Loose, E> {
        Ok(Loose::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Loose, E> {
        Ok(Loose::Other)
    }

    fn visit_unit<E>(self) -> Result<Loose, E> {
        Ok(Loose::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Loose, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Loose::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Loose, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Loose::Other)
    }
}

/// A value that is only there or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct There;

impl<'de> Deserialize<'de> for There {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<There, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| There)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_figure_depends_on_may_be_of_any_type() {
        let values: Vec<Loose> = serde_json::from_str("[\"a\", 7, -1, 1.5, null, true, [1], {\"a\": 2}]").unwrap();
        let texts: Vec<_> = values.into_iter().filter_map(Loose::text).collect();
        assert_eq!(texts, ["a", "7"]);
    }

    #[test]
    fn lines_may_be_ranges_or_counted_from_zero() {
        let text = |text: &str| Loose::Text(text.to_owned());
        let found = [text("12-14").leading(), text("x").leading(), Loose::Number(3).leading()];
        assert_eq!(found, [Loose::Number(12), Loose::Other, Loose::Number(3)]);
        assert_eq!(
            [Loose::Number(0).one_based(), Loose::Number(u64::MAX).one_based()],
            [Loose::Number(1), Loose::Other]
        );
    }
}
