//! `list` and `explain`: what is built in, and what it means.

use std::collections::BTreeMap;

use crate::analysis::{ACTIONS, CLASSES, DETECTORS, RULES, Word, monitor, steps};
use crate::cli::answers::{Explanation, List, Listed, VERSION};
use crate::cli::args::Listing;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::config;
use crate::error::{Error, Result};
use crate::ingest::transcript::{TRANSCRIPT_FORMATS, TranscriptFormat};
use crate::ingest::{self, FORMATS};
use crate::integrations::{self, AGENTS, Agent, Cap};
use crate::model::config::LoopConfig;
use crate::report::{self, FORMS, Form, REPORTS, Write};

pub fn list(context: &Context, what: Listing) -> Result<Exit> {
    let (name, members) = match what {
        Listing::Formats => ("formats", formats()),
        Listing::Rules => ("rules", RULES.iter().map(|rule| plain(rule.name, rule.about)).collect()),
        Listing::Detectors => ("detectors", detectors()),
        Listing::Classes => ("classes", words(CLASSES)),
        Listing::Actions => ("actions", words(ACTIONS)),
        Listing::Reports => ("reports", reports()),
        Listing::Transcripts => ("transcripts", transcripts()),
        Listing::Agents => ("agents", AGENTS.iter().map(|agent| plain(agent.name, agent.about)).collect()),
    };
    if context.jsonl() {
        members.iter().try_for_each(output::json)?;
    } else if context.json() {
        output::json(&List { schema_version: VERSION, list: name.to_owned(), members })?;
    } else {
        output::out(&table(context, what, &members));
    }
    Ok(Exit::Done)
}

fn words(words: &[Word]) -> Vec<Listed> {
    words.iter().map(|word| plain(word.name, word.about)).collect()
}

/// Those that read iterations, then those of `monitor` and of `steps`.
fn detectors() -> Vec<Listed> {
    let iterations = DETECTORS.iter().map(|one| plain(one.name, one.about));
    let calls = monitor::DETECTORS.iter().map(|one| plain(one.issue_type.name(), one.about));
    let steps = steps::RULES.iter().map(|one| plain(one.reason.name(), one.about));
    iterations.chain(calls).chain(steps).collect()
}

/// What there are reports of, then the forms in which other programs read them.
fn reports() -> Vec<Listed> {
    let reports = REPORTS.iter().map(|report| plain(report.name, report.about));
    reports.chain(FORMS.iter().map(|form| plain(form.name, form.about))).collect()
}

/// A rule at length.
fn docs(meaning: &str, formula: &str, source: &str) -> String {
    format!("{meaning}\n\nFormula: {formula}\nSource: {source}")
}

fn formats() -> Vec<Listed> {
    let listed = FORMATS.iter().map(|format| Listed {
        kind: Some(format.kind),
        written_by: Some(format.written_by.to_owned()),
        told_by: Some(format.told_by.to_owned()),
        has_end: Some(format.has_end),
        ..plain(format.name, format.about)
    });
    listed.collect()
}

fn transcripts() -> Vec<Listed> {
    let told_by = |format: &TranscriptFormat| Some(format.told_by.to_owned());
    let listed = |format: &&TranscriptFormat| Listed { told_by: told_by(format), ..plain(format.name, format.about) };
    TRANSCRIPT_FORMATS.iter().map(listed).collect()
}

fn plain(name: &str, about: &str) -> Listed {
    Listed {
        name: name.to_owned(),
        about: about.to_owned(),
        kind: None,
        written_by: None,
        told_by: None,
        has_end: None,
    }
}

fn table(context: &Context, what: Listing, members: &[Listed]) -> String {
    let screen = context.screen();
    if what != Listing::Formats {
        let rows: Vec<Vec<String>> = members.iter().map(|one| vec![one.name.clone(), one.about.clone()]).collect();
        return report::terminal::table(&["name", "about"], &rows, screen);
    }
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let rows: Vec<Vec<String>> = members
        .iter()
        .map(|one| {
            let kind = one.kind.map_or("", |kind| kind.name());
            // A format without an end shows a cut only inside a record.
            let mark = if one.has_end == Some(false) { "no" } else { "yes" };
            vec![one.name.clone(), kind.to_owned(), text(&one.written_by), text(&one.told_by), mark.to_owned()]
        })
        .collect();
    report::terminal::table(&["format", "kind", "written by", "told by", "cuts seen"], &rows, screen)
}

pub fn explain(context: &Context, name: &str) -> Result<Exit> {
    let explanation = explanation(name, || Ok(context.config()?.0.config))?;
    if context.json() {
        output::json(&explanation)?;
        return Ok(Exit::Done);
    }
    let Explanation { what, about, text, thresholds, .. } = explanation;
    let mut page =
        report::terminal::prose(&format!("{name} ({what}): {about}\n\n{}", text.trim_end()), context.screen());
    if !thresholds.is_empty() {
        page.push_str("\nIn force here:\n");
        for (key, value) in &thresholds {
            page.push_str(&format!("  {key}: {value}\n"));
        }
    }
    output::out(&page);
    Ok(Exit::Done)
}

/// What a name means, under a config that is loaded once the name is known to be one.
pub fn explanation(name: &str, config: impl FnOnce() -> Result<LoopConfig>) -> Result<Explanation> {
    let (what, about, text, keys): (&str, &str, String, &[&str]) = if let Some(rule) =
        RULES.iter().find(|rule| rule.name == name)
    {
        ("rule", rule.about, docs(rule.meaning, rule.formula, rule.source), rule.thresholds)
    } else if let Some(detector) = DETECTORS.iter().find(|detector| detector.name == name) {
        ("detector", detector.about, docs(detector.meaning, detector.formula, detector.source), detector.thresholds)
    } else if let Some((what, word)) = word(name) {
        (what, word.about, docs(word.meaning, word.formula, word.source), word.thresholds)
    } else if let Some(one) = monitor::DETECTORS.iter().find(|one| one.issue_type.name() == name) {
        let meaning = "Told by `highwater monitor`, which reads an agent's tool calls; and of an iteration's, if `record` gets \
                       their --transcript. It moves no recommendation.";
        ("detector", one.about, docs(meaning, one.formula, one.source), one.thresholds)
    } else if let Some(one) = steps::RULES.iter().find(|one| one.reason.name() == name) {
        let meaning = "Told by `highwater steps`, which reads a supervisor's states: the run is stuck. Of a loop's own \
                       iterations, stuck_candidate tells it.";
        ("detector", one.about, docs(meaning, one.formula, one.source), one.thresholds)
    } else if let Some(format) = ingest::format(name) {
        let cuts = if format.has_end {
            "A report that is cut anywhere is refused."
        } else {
            "The format has no end of its own: a cut is seen only inside a record."
        };
        // Some are written as well as read.
        let written = report::form(name).map(|form| format!("\nWritten: {}", form_text(form))).unwrap_or_default();
        let text = format!(
            "Written by: {}\nTold by: {}\nCounting: {}\n{cuts}{written}",
            format.written_by, format.told_by, format.counting
        );
        ("format", format.about, text, &[])
    } else if let Some(report) = REPORTS.iter().find(|report| report.name == name) {
        ("report", report.about, format!("`highwater report {name}` prints it; it is kept as {}.", report.file), &[])
    } else if let Some(form) = report::form(name) {
        ("report", form.about, form_text(form), &[])
    } else if let Some(agent) = integrations::agent(name) {
        ("agent", agent.about, answers_of(agent), &["hook.policy", "hook.max_consecutive_blocks"])
    } else if let Some(format) = TRANSCRIPT_FORMATS.iter().find(|format| format.name == name) {
        let text = format!(
            "Told by: {}\n`highwater record --transcript FILE` reads it, and `highwater monitor --transcript FILE`.",
            format.told_by
        );
        ("transcript", format.about, text, &[])
    } else {
        return Err(unknown(name));
    };
    let config = config()?;
    let leaves = config::leaves(&config)?;
    let mode = config_mode(&config, name, what)?;
    let thresholds: BTreeMap<String, serde_json::Value> =
        keys.iter().filter_map(|key| Some(((*key).to_owned(), leaves.get(*key)?.clone()))).chain(mode).collect();
    Ok(Explanation {
        schema_version: VERSION,
        name: name.to_owned(),
        what: what.to_owned(),
        about: about.to_owned(),
        text,
        thresholds,
    })
}

/// A class or an action, and which of the two it is.
fn word(name: &str) -> Option<(&'static str, &'static Word)> {
    let classes = CLASSES.iter().map(|word| ("class", word));
    classes.chain(ACTIONS.iter().map(|word| ("action", word))).find(|(_, word)| word.name == name)
}

/// How to have it written.
fn form_text(form: &Form) -> String {
    let what = match form.write {
        Write::Iteration(_) => "[ITER]",
        Write::Loop(_) => "",
        Write::Markdown(_) => "[ITER|selection|summary]",
    };
    let words = ["`highwater report", what, "--format", form.name];
    format!(
        "{}` prints it; `-o FILE` writes it.",
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    )
}

/// What `hook run` can answer an agent at the end of its turn.
fn answers_of(agent: &Agent) -> String {
    let ends = if agent.ends.is_empty() { "its dialect cannot; the end of the turn is allowed" } else { agent.ends };
    let cap = match agent.cap {
        Some(Cap { default, variable }) => {
            let default = default.map(|cap| format!("{cap} in a row"));
            let words = [default, variable.map(|name| format!("set by {name}"))];
            words.into_iter().flatten().collect::<Vec<_>>().join(", ")
        }
        None => "none of its own".to_owned(),
    };
    format!(
        "`highwater hook run --agent {}` answers its hooks.\nKeeps a turn going: {}\nEnds a run: {ends}\nCap on \
         refusals: {cap}",
        agent.name, agent.keeps_going
    )
}

/// Whether a rule or detector is on.
fn config_mode(config: &LoopConfig, name: &str, what: &str) -> Result<Option<(String, serde_json::Value)>> {
    if what != "rule" && what != "detector" {
        return Ok(None);
    }
    let mode = config.mode(name);
    let value =
        serde_json::to_value(mode).map_err(|error| Error::bug("a mode has no name").because(error.to_string()))?;
    Ok(Some((format!("rules.{name}"), value)))
}

fn unknown(name: &str) -> Error {
    let rules = RULES.iter().map(|rule| rule.name).chain(DETECTORS.iter().map(|one| one.name));
    let rules = rules.chain(monitor::DETECTORS.iter().map(|one| one.issue_type.name()));
    let rules = rules.chain(steps::RULES.iter().map(|one| one.reason.name()));
    let words = CLASSES.iter().chain(ACTIONS).map(|word| word.name);
    let all = rules.chain(words).chain(FORMATS.iter().map(|one| one.name)).chain(REPORTS.iter().map(|one| one.name));
    let all = all.chain(FORMS.iter().map(|one| one.name)).chain(AGENTS.iter().map(|one| one.name));
    let all: Vec<&str> = all.chain(TRANSCRIPT_FORMATS.iter().map(|one| one.name)).collect();
    let error = Error::usage(format!("nothing is named {name:?}"));
    let error = match config::nearest(name, &all) {
        Some(near) => error.because(format!("did you mean {near}?")),
        None => error,
    };
    error.help(
        "`highwater list formats`, `rules`, `detectors`, `classes`, `actions`, `reports`, `transcripts` and `agents` print the \
         names",
    )
}
