//! The tools: what they are called, what they take, and whether they change anything. None runs a command of its caller's.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::bounds::{allow_left_out, bounded};
use super::calls;
use super::parameters::{Arguments, Parameter, Takes, schema};
use crate::cli::args::{LoopChoice, ReportFormat};
use crate::cli::context::Context;
use crate::cli::diagnostic;
use crate::cli::schemas::SCHEMAS;
use crate::engine::Unnamed;
use crate::error::{Error, Result};
use crate::store::Store;

/// What every tool works on.
pub struct Server<'a> {
    pub context: &'a Context,
    /// The loop that is meant where a call names none.
    pub choice: &'a LoopChoice,
}

impl Server<'_> {
    /// The loop that a call is about.
    ///
    /// # Errors
    /// Usage if its name is none; bad input if there is none.
    pub fn store(&self, arguments: &Arguments<'_>, unnamed: Unnamed) -> Result<Store> {
        let named = arguments.text(LOOP_ID.name).map(str::parse).transpose()?;
        let choice = LoopChoice { id: named.or_else(|| self.choice.id.clone()) };
        self.context.store(&choice, unnamed)
    }
}

/// What a tool came to.
pub struct Answer {
    /// For clients that read no structured answers.
    pub text: String,
    /// As the tool's schema says.
    pub structured: Value,
}

impl Answer {
    /// # Errors
    /// None in practice: every number is finite.
    pub fn new(text: String, shape: &impl Serialize) -> Result<Answer> {
        let structured = serde_json::to_value(shape)
            .map_err(|error| Error::bug("an answer cannot be written as JSON").because(error.to_string()))?;
        Ok(Answer { text, structured })
    }
}

/// A tool.
pub struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    pub parameters: &'static [Parameter],
    /// The name of its answer's schema.
    pub answer: &'static str,
    /// Whether it writes anything: the store or the work tree.
    pub changes: bool,
    pub call: fn(&Server<'_>, &Arguments<'_>) -> Result<Answer>,
}

const LOOP_ID: Parameter = optional("loop_id", "The loop; without it, the newest open one", Takes::Text);

const fn optional(name: &'static str, about: &'static str, takes: Takes) -> Parameter {
    Parameter { name, about, takes, is_required: false }
}

const fn required(name: &'static str, about: &'static str, takes: Takes) -> Parameter {
    Parameter { name, about, takes, is_required: true }
}

/// The tools, in the order in which they are listed.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "status",
        title: "Where the loop stands",
        about: "The newest iteration, its class, what is recommended, the best so far, losses that are open.",
        parameters: &[LOOP_ID],
        answer: "status",
        changes: false,
        call: calls::status,
    },
    Tool {
        name: "assess",
        title: "Judgement of the newest iteration",
        about: "Class, quality score, every alert with its evidence, open findings, the recommendation and its reasons.",
        parameters: &[LOOP_ID],
        answer: "verdict",
        changes: false,
        call: calls::assess,
    },
    Tool {
        name: "history",
        title: "Trajectory",
        about: "The iterations with scores, classes, tests, coverage and recommendations: the newest page first, and in the \
                answer's before, what gives the page before it.",
        parameters: &[
            LOOP_ID,
            optional("before", "Only iterations before this one", Takes::Iteration),
            optional("limit", "Iterations of a page, at most [default: 20]", Takes::UpTo(100)),
        ],
        answer: "history",
        changes: false,
        call: calls::history,
    },
    Tool {
        name: "compare",
        title: "What differs between two iterations",
        about: "Metrics, tests by name and files that differ from iteration a to iteration b.",
        parameters: &[
            LOOP_ID,
            required("a", "From this iteration", Takes::Iteration),
            required("b", "To this iteration", Takes::Iteration),
        ],
        answer: "diff",
        changes: false,
        call: calls::compare,
    },
    Tool {
        name: "best",
        title: "The best iteration so far",
        about: "The iteration that finish would choose now, with its figures.",
        parameters: &[LOOP_ID],
        answer: "peak",
        changes: false,
        call: calls::best,
    },
    Tool {
        name: "report",
        title: "A report, page by page",
        about: "The report of an iteration, of the selection or of the whole loop; next_offset gives the page that follows.",
        parameters: &[
            LOOP_ID,
            optional(
                "what",
                "An iteration's number, selection, or summary [default: the loop; where the format tells one iteration, the newest]",
                Takes::Text,
            ),
            optional("format", "The text format [default: md]", Takes::OneOf(ReportFormat::names)),
            optional("offset", "Where the page begins, in bytes [default: 0]", Takes::UpTo(1 << 40)),
        ],
        answer: "report-page",
        changes: false,
        call: calls::report,
    },
    Tool {
        name: "explain",
        title: "What a word means",
        about: "A rule's, detector's, class's, action's, report's or report format's meaning, formula, and thresholds \
                in force.",
        parameters: &[LOOP_ID, required("rule", "Its name, as alerts and recommendations have it", Takes::Text)],
        answer: "explanation",
        changes: false,
        call: calls::explain,
    },
    Tool {
        name: "record",
        title: "Record an iteration",
        about: "Reads the reports that were written since the last iteration, keeps the files, judges, and adds an \
                iteration to the loop. It runs no tests: run them first.",
        parameters: &[
            LOOP_ID,
            optional("label", "Words for the iteration", Takes::Text),
            optional("metrics", "Metrics of one's own, by name", Takes::Numbers),
            optional("estimate", "How much of the goal is reached, in percent", Takes::Number(100.0)),
        ],
        answer: "verdict",
        changes: true,
        call: calls::record,
    },
    Tool {
        name: "restore",
        title: "Put an iteration's files back",
        about: "Writes the files of an iteration into the work tree, and removes those that it did not have; what is \
                replaced is kept first, and `highwater undo` gives it back. Only says what it would do, unless dry_run \
                is false.",
        parameters: &[
            LOOP_ID,
            required("iteration", "The iteration", Takes::Iteration),
            optional("dry_run", "Change nothing [default: true]", Takes::Flag),
        ],
        answer: "restored",
        changes: true,
        call: calls::restore,
    },
];

impl Tool {
    /// As `tools/list` tells it; `None` if no schema has the name of its answer.
    pub fn definition(&self) -> Option<Value> {
        Some(json!({
            "name": self.name,
            "title": self.title,
            "description": self.about,
            "inputSchema": schema(self.parameters),
            "outputSchema": self.answer_schema()?,
            "annotations": {
                "readOnlyHint": !self.changes,
                "destructiveHint": self.changes,
                "idempotentHint": !self.changes,
                "openWorldHint": false,
            },
        }))
    }

    /// As published, and with what bounding may add. The dialect is the protocol's own, and is not named again.
    fn answer_schema(&self) -> Option<Value> {
        let published = SCHEMAS.iter().find(|schema| schema.name == self.answer)?;
        let mut schema: Value = serde_json::from_str(published.text).ok()?;
        schema.as_object_mut()?.remove("$schema");
        drop_widths(&mut schema);
        allow_left_out(&mut schema);
        Some(schema)
    }

    /// The result of a call. What cannot be done is a result too, that says so: its reader can act on it.
    pub fn answer(&self, server: &Server<'_>, arguments: &Map<String, Value>) -> Value {
        let answer = Arguments::checked(self.parameters, arguments)
            .and_then(|arguments| (self.call)(server, &arguments))
            .and_then(|answer| {
                let structured = bounded(answer.structured).ok_or_else(|| {
                    Error::bad_input("the answer is too long for a tool").help("the command line prints it whole")
                })?;
                Ok(Answer { structured, ..answer })
            });
        let content = |text: &str| json!([{"type": "text", "text": text}]);
        match answer {
            Ok(answer) => {
                json!({"content": content(&answer.text), "structuredContent": answer.structured, "isError": false})
            }
            Err(error) => json!({"content": content(diagnostic::render(&error, false).trim_end()), "isError": true}),
        }
    }
}

/// How wide a number is in memory is no format that JSON Schema knows: clients warn of each one.
fn drop_widths(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|key, value| key != "format" || !value.is_string() || value == "date-time");
            fields.values_mut().for_each(drop_widths);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_widths),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_valid_schemas_of_objects() {
        for tool in TOOLS {
            let definition = tool.definition().expect(tool.name);
            for schema in ["inputSchema", "outputSchema"] {
                let schema = &definition[schema];
                assert_eq!(schema["type"], "object", "{}", tool.name);
                assert!(jsonschema::meta::is_valid(schema), "{}", tool.name);
            }
            assert!(definition["outputSchema"]["properties"]["left_out"].is_object(), "{}", tool.name);
            let text = definition["outputSchema"].to_string();
            let formats: Vec<&str> =
                text.split("\"format\":\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
            assert!(formats.iter().all(|format| *format == "date-time"), "{}: {formats:?}", tool.name);
            assert!(tool.parameters.iter().any(|one| one.name == "loop_id"), "{}", tool.name);
        }
    }

    #[test]
    fn only_record_and_restore_may_change_anything() {
        let changing: Vec<&str> = TOOLS.iter().filter(|tool| tool.changes).map(|tool| tool.name).collect();
        assert_eq!(changing, ["record", "restore"]);
    }
}
