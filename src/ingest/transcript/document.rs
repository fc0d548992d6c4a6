//! A transcript that is one JSON object: its steps as they come, so that those before a cut are read.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::Reading;
use crate::error::{ErrorKind, Result};
use crate::ingest::Input;
use crate::ingest::entries::List;
use crate::ingest::json::{self, items};

/// What is read of the object.
pub(super) struct Keys {
    /// The key of the list of steps.
    pub steps: &'static str,
    /// The key of what is told of the whole.
    pub whole: &'static str,
}

/// Reads an object. `step` gets each element of its list, `whole` the value of the other key. Where it is cut or broken, what
/// comes after is one thing that is not understood.
///
/// # Errors
/// If the bytes cannot be read.
pub(super) fn each_step(
    input: &Input<'_>,
    reading: &mut Reading,
    keys: &Keys,
    step: fn(&Value, &mut Reading),
    whole: fn(&Value, &mut Reading),
) -> Result<()> {
    match json::object(input, Object { reading, keys, step, whole }) {
        Err(error) if matches!(error.kind, ErrorKind::Report(_)) => {
            reading.skip();
            Ok(())
        }
        other => other,
    }
}

struct Object<'r> {
    reading: &'r mut Reading,
    keys: &'r Keys,
    step: fn(&Value, &mut Reading),
    whole: fn(&Value, &mut Reading),
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == self.keys.steps {
                map.next_value_seed(List(items(|step| {
                    (self.step)(&step, self.reading);
                    Ok(())
                })))?;
            } else if key == self.keys.whole {
                (self.whole)(&map.next_value()?, self.reading);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}
