//! What each tool does: it asks the engine as the command of the same purpose does, and words the answer in a line or two.

use std::fmt::Write;

use crate::cli::answers::{LogLine, VERSION};
use crate::cli::args::{Inputs, ReportFormat, check_metric_name};
use crate::cli::commands::gate::best_answer;
use crate::cli::commands::log::lines;
use crate::cli::commands::status::LoopStanding;
use crate::cli::commands::{diff, list, record as recording, report as reporting, restore as restoring};
use crate::cli::tool_answers::{History, Peak, ReportPage, Verdict};
use crate::engine::{self, Target, Unnamed, difference, frozen_config, given, loop_so_far, newest};
use crate::error::{Error, Result};
use crate::model::record::IterationRecord;
use crate::model::trajectory::BestTracker;
use crate::report::for_agent;

use super::parameters::Arguments;
use super::tools::{Answer, Server};

/// Iterations of a page of the history, unless the caller says how many.
const PAGE: u64 = 20;

/// Bytes of a page as JSON: of the history, and of a report, which is told twice.
const HISTORY_BYTES: usize = 10_000;
const REPORT_BYTES: usize = 6_000;

pub fn status(server: &Server<'_>, arguments: &Arguments<'_>) -> Result<Answer> {
    let standing = LoopStanding::of(server.context, &server.store(arguments, Unnamed::OpenElseClosed)?)?;
    Answer::new(for_agent(&standing.newest.record, &standing.best), &standing.answer())
}

pub fn assess(server: &Server<'_>, arguments: &Arguments<'_>) -> Result<Answer> {
    let standing = LoopStanding::of(server.context, &server.store(arguments, Unnamed::OpenElseClosed)?)?;
    judged(&standing.newest.record, &standing.best)
}

fn judged(record: &IterationRecord, best: &BestTracker) -> Result<Answer> {
    let for_agent = for_agent(record, best);
    let refused = record.sources.iter().filter_map(|source| {
        let error = source.error.as_ref()?;
        Some(format!("{}: {} ({})", source.path, error.message, error.code))
    });
    let verdict = Verdict {
        schema_version: VERSION,
        loop_id: record.loop_id.clone(),
        iteration: record.iteration,
        classification: record.classification,
        class_rule: record.class_rule.clone(),
        quality_score: record.quality_score.as_ref().map(|score| score.total),
        alerts: record.alerts.clone(),
        open_findings: record.open_findings.clone(),
        recommendation: record.recommendation.clone(),
        best: best_answer(best),
        refused: refused.collect(),
        for_agent: for_agent.clone(),
    };
    let mut text = for_agent;
    if !verdict.refused.is_empty() {
        let _ = write!(text, " Reports that gave no numbers: {}.", verdict.refused.len());
    }
    Answer::new(text, &verdict)
}

pub fn history(server: &Server<'_>, arguments: &Arguments<'_>) -> Result<Answer> {
    let store = server.store(arguments, Unnamed::OpenElseClosed)?;
    let so_far = loop_so_far(&server.context.layout, &store)?;
    let mut all = lines(&so_far.points, &so_far.best);
    let count = all.len();
    if let Some(before) = arguments.iteration("before") {
        all.retain(|line| line.iteration < before);
    }
    let limit = usize::try_from(arguments.whole("limit").unwrap_or(PAGE).max(1)).unwrap_or(usize::MAX);
    let mut page = all.split_off(all.len().saturating_sub(limit));
    let mut bytes = 0;
    // At least one, however long it is: the next page must be another one.
    let fitting = page.iter().rev().take_while(|line| {
        let was = bytes;
        bytes += serde_json::to_string(line).map_or(0, |line| line.len());
        was == 0 || bytes <= HISTORY_BYTES
    });
    let page = page.split_off(page.len() - fitting.count());
    let earliest = page.first().map(|line| line.iteration);
    let first = so_far.points.first().map(|point| point.iteration);
    let mut text = format!("loop {}: {count} iterations", store.id());
    for line in &page {
        let _ = write!(text, "\n{}", in_words(line));
    }
    if !so_far.damaged.is_empty() {
        let _ = write!(text, "\n{} more cannot be read: `highwater verify` names them", so_far.damaged.len());
    }
    let history = History {
        schema_version: VERSION,
        loop_id: store.id().clone(),
        best: so_far.best.iteration,
        count: u64::try_from(count).unwrap_or(u64::MAX),
        iterations: page,
        before: earliest.filter(|earliest| first.is_some_and(|first| first < *earliest)),
    };
    Answer::new(text, &history)
}

fn in_words(line: &LogLine) -> String {
    let class = line.classification.map_or("not judged", |class| class.name());
    let score = line.quality_score.map_or("no score".to_owned(), |score| format!("score {:.4}", score.get()));
    let mark = if line.is_best { ", the best so far" } else { "" };
    format!("iteration {}: {class}, {score}, {}{mark}", line.iteration, line.recommendation.action.name())
}

pub fn compare(server: &Server<'_>, arguments: &Arguments<'_>) -> Result<Answer> {
    let store = server.store(arguments, Unnamed::OpenElseClosed)?;
    let (a, b) = (arguments.required_iteration("a")?, arguments.required_iteration("b")?);
    let answer = diff::answer(store.id(), difference(&server.context.layout, &store, a, b)?);
    let mut text = format!("from iteration {a} to {b}: {} files differ", answer.files.len());
    match &answer.tests {
        Some(tests) => {
            let _ = write!(
                text,
                "; tests: {} broken, {} fixed, {} lost, {} added",
                tests.broken.len(),
                tests.fixed.len(),
                tests.lost.len(),
                tests.added.len()
            );
        }
        None => text.push_str("; the tests cannot be compared by name"),
    }
    Answer::new(text, &answer)
}

pub fn best(server: &Server<'_>, arguments: &Arguments<'_>) -> Result<Answer> {
    let store = server.store(arguments, Unnamed::OpenElseClosed)?;
    let newest = newest(&store)?.record.iteration;
    let so_far = loop_so_far(&server.context.layout, &store)?;
    let best = lines(&so_far.points, &so_far.best).into_iter().find(|line| line.is_best);
    let text = best.as_ref().map_or("no iteration can be the best yet".to_owned(), in_words);
    Answer::new(text, &Peak { schema_version: VERSION, loop_id: store.id().clone(), newest, best })
}

pub fn report(server: &Server<'_>, arguments: &Arguments<'_>) -> Result<Answer> {
    let store = server.store(arguments, Unnamed::OpenElseClosed)?;
    let format = arguments.text("format").and_then(ReportFormat::named).unwrap_or_default();
    let text = reporting::text(server.context, &store, arguments.text("what"), format)?;
    let offset = arguments.whole("offset").unwrap_or(0);
    let rest = usize::try_from(offset).ok().and_then(|offset| text.get(offset..)).ok_or_else(|| {
        Error::usage(format!("no page begins at {offset}")).help("begin at 0, and go on with each answer's next_offset")
    })?;
    let page = page_of(rest);
    let bytes = |text: &str| u64::try_from(text.len()).unwrap_or(u64::MAX);
    let answer = ReportPage {
        schema_version: VERSION,
        loop_id: store.id().clone(),
        what: arguments.text("what").map(str::to_owned),
        format: format.name(),
        bytes: bytes(&text),
        offset,
        text: page.to_owned(),
        next_offset: (page.len() < rest.len()).then(|| offset.saturating_add(bytes(page))),
    };
    Answer::new(page.to_owned(), &answer)
}

/// As much of a text as a page holds, in whole lines if possible.
fn page_of(text: &str) -> &str {
    let mut bytes = 0;
    let end = text.char_indices().find(|(_, character)| {
        bytes += match character {
            '"' | '\\' | '\n' | '\t' | '\r' => 2,
            control if control.is_ascii_control() => 6,
            plain => plain.len_utf8(),
        };
        bytes > REPORT_BYTES
    });
    let Some((end, _)) = end else { return text };
    let page = text.get(..end).unwrap_or(text);
    match page.rfind('\n') {
        Some(newline) => text.get(..=newline).unwrap_or(page),
        None => page,
    }
}

pub fn explain(server: &Server<'_>, arguments: &Arguments<'_>) -> Result<Answer> {
    let name = arguments.text("rule").unwrap_or_default();
    let explanation = list::explanation(name, || {
        // What is in force for a loop that is named is what it froze.
        if arguments.text("loop_id").is_none() {
            return Ok(server.context.config()?.0.config);
        }
        let store = server.store(arguments, Unnamed::OpenElseClosed)?;
        let frozen = newest(&store)?.record.config;
        Ok(frozen_config(&server.context.layout, &store, frozen)?.config)
    })?;
    Answer::new(format!("{} ({}): {}", explanation.name, explanation.what, explanation.about), &explanation)
}

pub fn record(server: &Server<'_>, arguments: &Arguments<'_>) -> Result<Answer> {
    let store = server.store(arguments, Unnamed::Open)?;
    let metrics = arguments.numbers("metrics").into_iter().map(|(name, value)| {
        check_metric_name(name).map_err(Error::usage)?;
        Ok((name.to_owned(), given(&value)))
    });
    let inputs = Inputs {
        metrics: metrics.collect::<Result<_>>()?,
        label: arguments.text("label").map(str::to_owned),
        estimate: arguments.number("estimate").map(|percent| percent.to_string()),
        ..Inputs::default()
    };
    let recorded = recording::measure(server.context, &store, &inputs, recording::Asked::default())?;
    recording::export(server.context, &recorded);
    judged(&recorded.record, &recorded.best)
}

pub fn restore(server: &Server<'_>, arguments: &Arguments<'_>) -> Result<Answer> {
    let store = server.store(arguments, Unnamed::OpenElseClosed)?;
    let iteration = arguments.required_iteration("iteration")?;
    let dry_run = arguments.flag("dry_run").unwrap_or(true);
    let target = Target { paths: &[], into: None, dry_run };
    let outcome = server.context.with_session(|session| {
        if !dry_run {
            for note in engine::settle(session)? {
                server.context.say(&format!("note: {note}"));
            }
        }
        engine::restore_iteration(session, &store, iteration, target)
    })?;
    let answer = restoring::answer(&outcome, dry_run);
    let (written, removed) = (answer.restored.len(), answer.removed.len());
    let directories = match answer.directories_restored.len() + answer.directories_removed.len() {
        0 => String::new(),
        1 => ", 1 directory changed".to_owned(),
        count => format!(", {count} directories changed"),
    };
    let text = if dry_run {
        format!(
            "iteration {iteration} would write {written} files and remove {removed}{directories}; nothing was changed"
        )
    } else {
        format!(
            "iteration {iteration} is restored: {written} files written, {removed} removed{directories}; `highwater undo` \
             reverts it"
        )
    };
    Answer::new(text, &answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_text_are_whole_lines_and_make_up_the_text() {
        let text: String = (0..2_000).map(|n| format!("| {n} | \"naïve\" |\n")).collect();
        let mut rest = text.as_str();
        let mut pages = 0;
        while !rest.is_empty() {
            let page = page_of(rest);
            assert!(page.ends_with('\n') && serde_json::to_string(page).unwrap().len() <= REPORT_BYTES + 2);
            rest = rest.strip_prefix(page).unwrap();
            pages += 1;
        }
        assert!(pages > 3, "{pages}");
    }

    #[test]
    fn a_line_longer_than_a_page_is_cut_between_characters() {
        let text = "é".repeat(REPORT_BYTES);
        let page = page_of(&text);
        assert!(page.len() <= REPORT_BYTES && page.len() + 2 > REPORT_BYTES);
        assert_eq!(page_of("short"), "short");
    }
}
