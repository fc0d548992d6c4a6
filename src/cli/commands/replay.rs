//! `replay`: a stored loop judged again, under its own config or another, and what would change. Nothing is written.

use crate::analysis;
use crate::cli::answers::{Replay, ReplayChange, ReplayVerdict, VERSION};
use crate::cli::args::LoopChoice;
use crate::cli::commands::gate::best_answer;
use crate::cli::context::Context;
use crate::cli::diagnostic::printable;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::engine::{Replayed, Unnamed, frozen_config, no_iterations, replay};
use crate::error::Result;
use crate::model::config::LoopConfig;
use crate::model::record::IterationRecord;
use crate::model::trajectory::{BestTracker, Point};
use crate::model::units::Score;
use crate::report;

pub fn run(context: &Context, choice: &LoopChoice) -> Result<Exit> {
    let store = context.store(choice, Unnamed::OpenElseClosed)?;
    let other = context.named_config()?;
    let (replayed, damaged) =
        context.with_session(|session| replay(session, &store, other.as_ref().map(|(config, _)| config)))?;
    context.say_left_out(&damaged);
    let Some(first) = replayed.first() else {
        return Err(damaged.into_iter().next().map_or_else(|| no_iterations(&store), |damaged| damaged.error));
    };
    let own = frozen_config(&context.layout, &store, first.stored.config)?.config;
    let now = other.as_ref().map_or(&own, |(config, _)| config);
    let answer = Replay {
        schema_version: VERSION,
        loop_id: store.id().clone(),
        config: other.as_ref().map(|(_, path)| path.display().to_string()),
        iterations: u64::try_from(replayed.len()).unwrap_or(u64::MAX),
        changes: replayed.iter().filter(|one| one.stored != one.judged).map(change).collect(),
        stored_best: best_answer(&best(&replayed, |one| &one.stored, &own)),
        replayed_best: best_answer(&best(&replayed, |one| &one.judged, now)),
        damaged: damaged.iter().map(|damaged| damaged.iteration).collect(),
    };
    if context.json() {
        output::json(&answer)?;
    } else {
        output::out(&page(context, &answer));
    }
    Ok(Exit::Done)
}

fn best(replayed: &[Replayed], side: fn(&Replayed) -> &IterationRecord, config: &LoopConfig) -> BestTracker {
    let points: Vec<Point> = replayed.iter().map(|one| Point::of(side(one))).collect();
    analysis::best(&points, config)
}

fn change(one: &Replayed) -> ReplayChange {
    let (stored, judged) = (alerts(&one.stored), alerts(&one.judged));
    let only_in =
        |these: &[String], those: &[String]| these.iter().filter(|alert| !those.contains(alert)).cloned().collect();
    ReplayChange {
        iteration: one.stored.iteration,
        stored: verdict(&one.stored),
        replayed: verdict(&one.judged),
        alerts_gone: only_in(&stored, &judged),
        alerts_new: only_in(&judged, &stored),
    }
}

fn verdict(record: &IterationRecord) -> ReplayVerdict {
    ReplayVerdict {
        classification: record.classification,
        class_rule: record.class_rule.clone(),
        quality_score: record.quality_score.as_ref().map(|score| score.total),
        acceptable: record.acceptable,
        recommendation: record.recommendation.clone(),
    }
}

/// `coverage_regression (high)`, and what it is about where that tells it from others.
fn alerts(record: &IterationRecord) -> Vec<String> {
    let name = |alert: &crate::model::verdict::Alert| {
        let subject = alert.subject.as_deref().map(|subject| format!(" of {subject}")).unwrap_or_default();
        let observed = if alert.observe_only { ", observed" } else { "" };
        format!("{}{subject} ({}{observed})", alert.rule, alert.severity.name())
    };
    record.alerts.iter().map(name).collect()
}

fn page(context: &Context, answer: &Replay) -> String {
    let under = answer.config.as_ref().map_or("its own config".to_owned(), |file| file.clone());
    let head = format!(
        "loop {}: {} iterations judged again under {under}, {} of them otherwise",
        answer.loop_id,
        answer.iterations,
        answer.changes.len()
    );
    let mut page = format!("{}\n", printable(&head));
    let rows: Vec<Vec<String>> = answer.changes.iter().flat_map(rows).collect();
    if !rows.is_empty() {
        page.push_str(&report::terminal::table(&["iteration", "what", "recorded", "now"], &rows, context.screen()));
    }
    let best = |best: &Option<crate::cli::answers::Best>| {
        best.as_ref().map_or("none".to_owned(), |best| format!("{} ({})", best.iteration, score(best.quality_score)))
    };
    let (stored, replayed) = (best(&answer.stored_best), best(&answer.replayed_best));
    page.push_str(&if stored == replayed {
        format!("best: {stored}, as before\n")
    } else {
        format!("best: {replayed} instead of {stored}\n")
    });
    page
}

/// What differs, a row each.
fn rows(change: &ReplayChange) -> Vec<Vec<String>> {
    let (then, now) = (&change.stored, &change.replayed);
    let class = |verdict: &ReplayVerdict| {
        let name = verdict.classification.map_or("none", |class| class.name());
        format!("{name} ({})", verdict.class_rule)
    };
    let acceptable = |verdict: &ReplayVerdict| if verdict.acceptable { "yes" } else { "no" }.to_owned();
    let advice = |verdict: &ReplayVerdict| verdict.recommendation.reason.clone();
    let list = |alerts: &[String]| alerts.join(", ");
    let mut pairs = vec![
        ("class", class(then), class(now)),
        ("score", score(then.quality_score), score(now.quality_score)),
        ("acceptable", acceptable(then), acceptable(now)),
        ("alerts", list(&change.alerts_gone), list(&change.alerts_new)),
        ("recommended", advice(then), advice(now)),
    ];
    pairs.retain(|(_, then, now)| then != now);
    if pairs.is_empty() {
        // Evidence, a confidence or an open loss: the JSON answer and `show` tell it.
        pairs.push(("details", String::new(), String::new()));
    }
    let number = change.iteration.to_string();
    pairs.into_iter().map(|(what, then, now)| vec![number.clone(), what.to_owned(), then, now]).collect()
}

fn score(score: Option<Score>) -> String {
    score.map_or("–".to_owned(), |score| score.to_string())
}
