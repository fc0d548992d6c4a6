//! Answers are short: an agent pays for every word that it reads. What is left out of an answer is counted in it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Bytes of the structured part of an answer, written as JSON: with its text, some five thousand tokens.
pub const ANSWER_BYTES: usize = 12_000;

/// The key that tells what was left out.
const LEFT_OUT: &str = "left_out";

/// Members of a list and characters of a text that are kept; the first pair that makes the answer short enough is taken.
const STEPS: [(usize, usize); 6] = [(100, 2_000), (50, 1_000), (20, 500), (8, 300), (3, 200), (1, 100)];

/// An object with more keys than any shape of ours has is a map, and is cut like a list.
const FIELDS: usize = 40;

/// The answer, cut to [`ANSWER_BYTES`] if it is longer; `None` if that cannot be done.
///
/// A list that is cut is named in `left_out`, with how many of its members are missing; a text that is cut ends in `…`.
pub fn bounded(answer: Value) -> Option<Value> {
    if fits(&answer) {
        return Some(answer);
    }
    STEPS.iter().find_map(|(members, characters)| {
        let mut shorter = answer.clone();
        let mut left_out = BTreeMap::new();
        cut(&mut shorter, "", *members, *characters, &mut left_out);
        if !left_out.is_empty() {
            shorter.as_object_mut()?.insert(LEFT_OUT.to_owned(), json!(left_out));
        }
        fits(&shorter).then_some(shorter)
    })
}

/// Adds what [`bounded`] may add to the schema of an answer.
pub fn allow_left_out(schema: &mut Value) {
    let about = "The answer was cut: how many members of which lists are missing, by their paths.";
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        let counts = json!({"type": "integer", "minimum": 1});
        properties.insert(
            LEFT_OUT.to_owned(),
            json!({"description": about, "type": "object", "additionalProperties": counts}),
        );
    }
}

fn fits(answer: &Value) -> bool {
    answer.to_string().len() <= ANSWER_BYTES
}

fn cut(value: &mut Value, path: &str, members: usize, characters: usize, left_out: &mut BTreeMap<String, usize>) {
    let mut leave_out = |count: usize| {
        if count > 0 {
            *left_out.entry(path.to_owned()).or_default() += count;
        }
    };
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(characters) {
                text.truncate(end);
                text.push('…');
            }
        }
        Value::Array(list) => {
            leave_out(list.len().saturating_sub(members));
            list.truncate(members);
            list.iter_mut().for_each(|one| cut(one, path, members, characters, left_out));
        }
        Value::Object(fields) => {
            if fields.len() > FIELDS {
                let kept = members.min(FIELDS);
                leave_out(fields.len().saturating_sub(kept));
                *fields = std::mem::take(fields).into_iter().take(kept).collect();
            }
            for (key, one) in fields.iter_mut() {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                cut(one, &path, members, characters, left_out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_answer_is_left_as_it_is() {
        let answer = json!({"files": ["a", "b"], "text": "x".repeat(5_000)});
        assert_eq!(bounded(answer.clone()), Some(answer));
    }

    #[test]
    fn what_is_left_out_is_counted_by_its_path() {
        let names: Vec<String> = (0..5_000).map(|n| format!("tests/test_module.py::test_{n}")).collect();
        let answer = json!({"a": 1, "tests": {"broken": names, "fixed": ["one"]}, "files": []});
        let cut = bounded(answer).unwrap();
        let kept = cut["tests"]["broken"].as_array().unwrap().len();
        assert!(kept >= 50, "{kept}");
        assert_eq!(cut["left_out"], json!({"tests.broken": 5_000 - kept}));
        assert_eq!((&cut["a"], &cut["tests"]["fixed"]), (&json!(1), &json!(["one"])));
        assert!(cut.to_string().len() <= ANSWER_BYTES);
    }

    #[test]
    fn lists_of_lists_and_maps_are_cut_and_long_texts_end_in_an_ellipsis() {
        let inner: Vec<String> = (0..300).map(|n| n.to_string()).collect();
        let map: serde_json::Map<String, Value> =
            (0..1_000).map(|n| (format!("metric{n}"), json!("é".repeat(300)))).collect();
        let cut = bounded(json!({"lists": vec![inner; 300], "map": map, "text": "é".repeat(50_000)})).unwrap();
        let text = cut["text"].as_str().unwrap();
        assert!(text.ends_with("é…") && text.chars().count() <= 2_001);
        let kept = cut["lists"].as_array().unwrap().len();
        // The lists that are left, and the members of each of them.
        assert_eq!(cut["left_out"]["lists"], json!(300 - kept + kept * (300 - kept)));
        let kept = cut["map"].as_object().unwrap().len();
        assert_eq!(cut["left_out"]["map"], json!(1_000 - kept));
    }

    #[test]
    fn what_cannot_be_cut_is_no_answer() {
        assert_eq!(bounded(json!({"k".repeat(ANSWER_BYTES): 1})), None);
    }
}
