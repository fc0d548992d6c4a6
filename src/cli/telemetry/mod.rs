//! Telling an iteration to an OpenTelemetry collector: one export of metrics and one of a span, over HTTP as JSON.
//!
//! Nothing is sent unless the program was built with the feature `otlp` and the environment names an endpoint. Both exports
//! together take two seconds at most; whatever goes wrong is one line on stderr and changes nothing.

mod bodies;
mod names;
mod settings;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cli::context::Context;
use crate::cli::post::{Fault, post};
use crate::disk::hash::id_of;
use crate::error::Result;
use crate::model::ids::Iteration;
use crate::model::record::IterationRecord;
use crate::store::Store;
use bodies::Ids;
use settings::{Settings, Signal};

/// Both exports together.
const LONGEST: Duration = Duration::from_secs(2);

/// Exports a record that was made just now. Answers what a person should know, if anything.
#[must_use]
pub fn export(context: &Context, record: &IterationRecord) -> Option<String> {
    if !cfg!(feature = "otlp") {
        return None;
    }
    let settings = Settings::read(|name| std::env::var(name).ok());
    if settings.traces.is_none() && settings.metrics.is_none() {
        return None;
    }
    let deadline = Instant::now() + LONGEST;
    let ids = match ids(context, record) {
        Ok(ids) => ids,
        Err(error) => return Some(told(&error.message)),
    };
    let traces = settings.traces.as_ref().map(|signal| (signal, bodies::traces(record, &ids, &settings.resource)));
    let metrics = settings.metrics.as_ref().map(|signal| (signal, bodies::metrics(record, &settings.resource)));
    // Side by side: one that is slow leaves the other its time.
    let sent = std::thread::scope(|scope| {
        let jobs = [traces, metrics].into_iter().flatten();
        let jobs: Vec<_> =
            jobs.map(|(signal, body)| scope.spawn(move || send(&context.folder, signal, &body, deadline))).collect();
        jobs.into_iter().filter_map(|job| job.join().ok()).collect::<Vec<_>>()
    });
    sent.into_iter().find_map(|sent| sent.err()).map(|fault| told(&fault.why))
}

fn told(why: &str) -> String {
    format!("warning: telemetry was not sent: the collector {why}")
}

fn send(folder: &Path, signal: &Signal, body: &Value, deadline: Instant) -> Result<(), Fault> {
    let deadline = deadline.min(Instant::now() + signal.timeout);
    post(folder, &signal.url, &signal.headers, &body.to_string(), deadline).map(drop)
}

/// The trace is the loop's, told from others of its name by its baseline; the spans are its iterations.
fn ids(context: &Context, record: &IterationRecord) -> Result<Ids> {
    let baseline = if record.iteration == Iteration::BASELINE {
        record.started_at
    } else {
        Store::new(&context.layout, record.loop_id.clone()).load(Iteration::BASELINE)?.record.started_at
    };
    let trace = id_of(format!("{}\0{}", record.loop_id, baseline.to_rfc3339()).as_bytes());
    let span = |iteration: Iteration| id_of(format!("{trace}\0{iteration}").as_bytes());
    Ok(Ids::new(&trace, record, span))
}
