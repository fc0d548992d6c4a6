//! `complexipy-json`: what complexipy writes as JSON: the cognitive complexity of each Python function, which is not the
//! cyclomatic one.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::values::Few;
use crate::ingest::{Format, Parsed, add, json};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;
use crate::model::units::Quantity;

/// JSON of complexipy.
pub const FORMAT: Format = Format {
    name: "complexipy-json",
    kind: ReportKind::Metric,
    about: "complexipy JSON: cognitive complexity of each Python function",
    written_by: "complexipy --output-format json, complexipy --output-json",
    told_by: "a JSON list of objects with complexity, file_name and function_name",
    has_end: true,
    counting: "cognitive_complexity.total and .max, both lower, over all functions.",
    sniff: |head| head.by_keys(&["complexity", "file_name", "function_name"]),
    parse,
};

#[derive(Deserialize)]
struct Function {
    complexity: u64,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let Few(functions): Few<Function> = json::document(input, PhantomData)?;
    let Some(most) = functions.iter().map(|function| function.complexity).max() else {
        return Err(Error::report(Reject::NoResult, "no function was measured"));
    };
    let total = functions.iter().map(|function| function.complexity).try_fold(0, add)?;
    let mut metrics = Metrics::default();
    for (name, value) in [("total", total), ("max", most)] {
        let name = format!("cognitive_complexity.{name}");
        metrics.add(&name, Some(Quantity::from(value).as_f64()), None, Some(Direction::Lower));
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_add_up() {
        let one = |complexity: &str| {
            format!(r#"{{"complexity":{complexity},"file_name":"a.py","function_name":"f","path":"a.py"}}"#)
        };
        let text = format!("[{},{}]", one("3"), one("5"));
        let metrics = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap().figures.metrics;
        let value = |name: &str| metrics[&format!("cognitive_complexity.{name}")].value;
        assert_eq!((value("total"), value("max")), (Some(8.0), Some(5.0)));
        assert_eq!(parse(&Input::bytes("x", b"[]")).unwrap_err().reject(), Some(Reject::NoResult));
        let odd = parse(&Input::bytes("x", format!("[{}]", one("-1")).as_bytes())).unwrap_err();
        assert_eq!(odd.reject(), Some(Reject::Malformed));
    }
}
