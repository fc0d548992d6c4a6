//! What tools take, as a table: the schema that clients see and the check of what they send are made from it.

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::model::ids::Iteration;

/// One argument of a tool.
pub struct Parameter {
    pub name: &'static str,
    pub about: &'static str,
    pub takes: Takes,
    pub is_required: bool,
}

/// What an argument may be.
pub enum Takes {
    /// Text.
    Text,
    /// One of these words.
    OneOf(fn() -> Vec<String>),
    /// An iteration's number.
    Iteration,
    /// A whole number up to this one.
    UpTo(u64),
    /// A number from 0 up to this one.
    Number(f64),
    /// Numbers by name.
    Numbers,
    /// Yes or no.
    Flag,
}

impl Parameter {
    fn schema(&self) -> Value {
        let mut schema = match &self.takes {
            Takes::Text => json!({"type": "string"}),
            Takes::OneOf(words) => json!({"type": "string", "enum": words()}),
            Takes::Iteration => json!({"type": "integer", "minimum": 0, "maximum": u32::MAX}),
            Takes::UpTo(most) => json!({"type": "integer", "minimum": 0, "maximum": most}),
            Takes::Number(most) => json!({"type": "number", "minimum": 0, "maximum": most}),
            Takes::Numbers => json!({"type": "object", "additionalProperties": {"type": "number"}}),
            Takes::Flag => json!({"type": "boolean"}),
        };
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("description".to_owned(), json!(self.about));
        }
        schema
    }

    /// What is wrong with a value.
    fn fault(&self, value: &Value) -> Option<String> {
        let (is_right, expected) = match &self.takes {
            Takes::Text => (value.is_string(), "a text".to_owned()),
            Takes::OneOf(words) => {
                let words = words();
                let is_right = value.as_str().is_some_and(|text| words.iter().any(|word| word == text));
                (is_right, format!("one of: {}", words.join(", ")))
            }
            Takes::Iteration => (number(value).is_some(), "an iteration's number".to_owned()),
            Takes::UpTo(most) => {
                (value.as_u64().is_some_and(|n| n <= *most), format!("a whole number from 0 to {most}"))
            }
            Takes::Number(most) => {
                (value.as_f64().is_some_and(|n| (0.0..=*most).contains(&n)), format!("a number from 0 to {most}"))
            }
            Takes::Numbers => {
                let is_right = value.as_object().is_some_and(|fields| fields.values().all(Value::is_number));
                (is_right, "an object with a number for each name".to_owned())
            }
            Takes::Flag => (value.is_boolean(), "true or false".to_owned()),
        };
        (!is_right).then(|| format!("{} is {expected}", self.name))
    }
}

fn number(value: &Value) -> Option<Iteration> {
    u32::try_from(value.as_u64()?).ok().map(Iteration)
}

/// The JSON Schema of a tool's arguments.
pub fn schema(parameters: &[Parameter]) -> Value {
    let properties: Map<String, Value> = parameters.iter().map(|one| (one.name.to_owned(), one.schema())).collect();
    let required: Vec<&str> = parameters.iter().filter(|one| one.is_required).map(|one| one.name).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// Arguments that are as the table says.
pub struct Arguments<'a>(&'a Map<String, Value>);

impl<'a> Arguments<'a> {
    /// Checks them.
    ///
    /// # Errors
    /// Usage if one is unknown, missing, or not what it takes.
    pub fn checked(parameters: &[Parameter], values: &'a Map<String, Value>) -> Result<Arguments<'a>> {
        let known = || parameters.iter().map(|one| one.name).collect::<Vec<&str>>().join(", ");
        let fault = |fault: String| Err(Error::usage(fault).help(format!("the arguments are: {}", known())));
        for (name, value) in values {
            match parameters.iter().find(|one| one.name == name) {
                None => return fault(format!("there is no argument {name:?}")),
                Some(parameter) => {
                    if let Some(wrong) = parameter.fault(value) {
                        return fault(wrong);
                    }
                }
            }
        }
        match parameters.iter().find(|one| one.is_required && !values.contains_key(one.name)) {
            Some(missing) => fault(format!("{} is missing", missing.name)),
            None => Ok(Arguments(values)),
        }
    }

    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name)?.as_str()
    }

    pub fn whole(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64()
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_f64()
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name)?.as_bool()
    }

    /// The names and the numbers as they were written.
    pub fn numbers(&self, name: &str) -> Vec<(&'a str, String)> {
        let fields = self.0.get(name).and_then(Value::as_object);
        fields.into_iter().flatten().map(|(name, value)| (name.as_str(), value.to_string())).collect()
    }

    pub fn iteration(&self, name: &str) -> Option<Iteration> {
        number(self.0.get(name)?)
    }

    /// An iteration that must be there.
    ///
    /// # Errors
    /// Usage if it is not.
    pub fn required_iteration(&self, name: &str) -> Result<Iteration> {
        self.iteration(name).ok_or_else(|| Error::usage(format!("{name} is missing")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: [Parameter; 7] = [
        parameter("text", Takes::Text),
        parameter("word", Takes::OneOf(|| vec!["a".into(), "b".into()])),
        Parameter { is_required: true, ..parameter("iteration", Takes::Iteration) },
        parameter("few", Takes::UpTo(9)),
        parameter("percent", Takes::Number(100.0)),
        parameter("metrics", Takes::Numbers),
        parameter("flag", Takes::Flag),
    ];

    const fn parameter(name: &'static str, takes: Takes) -> Parameter {
        Parameter { name, about: "about", takes, is_required: false }
    }

    #[test]
    fn the_check_agrees_with_the_schema() {
        let schema = schema(&PARAMETERS);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let values = [
            json!("a"),
            json!("c"),
            json!(""),
            json!(0),
            json!(10),
            json!(100.5),
            json!(-1),
            json!(4_294_967_295_u64),
            json!(4_294_967_296_u64),
            json!(true),
            json!(null),
            json!([]),
            json!({}),
            json!({"p95": 1.5}),
            json!({"p95": "1.5"}),
        ];
        let mut right = 0;
        for name in PARAMETERS.iter().map(|one| one.name).chain(["unknown"]) {
            for value in &values {
                let arguments = json!({"iteration": 1, name: value});
                let checked = Arguments::checked(&PARAMETERS, arguments.as_object().unwrap()).is_ok();
                assert_eq!(checked, validator.is_valid(&arguments), "{arguments}");
                right += usize::from(checked);
            }
        }
        assert!(right > 10, "{right}");
        assert!(!validator.is_valid(&json!({})) && Arguments::checked(&PARAMETERS, &Map::new()).is_err());
    }
}
