//! `hook run`: an agent's hook. It answers in the agent's dialect or not at all, exits 0 and leaves stderr alone: whatever
//! fails here is ours, and the agent goes on as if we were not there. Faults go to `faults.log`.

use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use crate::cli::args::LoopChoice;
use crate::cli::child::{self, Echo};
use crate::cli::commands::run::{keep, open_loop};
use crate::cli::context::{self, Context, now};
use crate::cli::exit::Exit;
use crate::cli::inputs::measured_with;
use crate::cli::{estimator, output};
use crate::disk::{self, layout::Layout};
use crate::engine::hook::{Answer, Decision, EndOfTurn, Happened, LoopEvent, ToolCall, decide};
use crate::engine::{Offer, Recorded, Target, best_so_far, config_in_force, newest, restore_iteration, watch};
use crate::error::{Error, Result};
use crate::integrations::{self, Agent, Payload};
use crate::model::ids::{LoopId, ObjectId};
use crate::report;
use crate::store::{self, Store, faults::Fault};

/// How long a hook waits for another writer: whoever called it waits too.
const WAIT: Duration = Duration::from_millis(1500);

/// Bytes of a payload: a tool's whole output may be in it.
const MAX_PAYLOAD: u64 = 64 << 20;

/// Answers one event of an agent's session.
pub fn run(context: &Context, asked: &str, choice: &LoopChoice, payload: Option<&OsStr>) -> Exit {
    let mut known = Known::default();
    if let Err(error) = answer(context, asked, choice, payload, &mut known) {
        known.note(&error);
    }
    Exit::Done
}

/// Keeps a fault of a hook of which nothing is known.
pub fn swallow(error: &Error) -> Exit {
    Known::default().note(error);
    Exit::Done
}

/// What is known of an event so far: where its fault belongs, should there be one.
#[derive(Default)]
struct Known {
    agent: Option<&'static str>,
    event: Option<String>,
    layout: Option<Layout>,
    of_loop: Option<LoopId>,
}

impl Known {
    /// Keeps a fault if there is a place for it; a fault in doing so is nobody's concern any more.
    fn note(&self, error: &Error) {
        let here = || Some(Layout::new(&context::nearest_root(&std::env::current_dir().ok()?).ok()?));
        let Some(layout) = self.layout.clone().or_else(here) else { return };
        if !disk::check_store(&layout).is_ok_and(|is_there| is_there) {
            return;
        }
        let log = self.of_loop.as_ref().map_or_else(|| layout.faults(), |id| layout.of_loop(id).faults());
        let _ = store::faults::note(&log, &Fault::new(now(), self.agent, self.event.as_deref(), error));
    }
}

fn answer(
    context: &Context,
    asked: &str,
    choice: &LoopChoice,
    payload: Option<&OsStr>,
    known: &mut Known,
) -> Result<()> {
    let payload = Payload::parse(&read(payload)?)?;
    let asked = match asked {
        "detected" => None,
        name => Some(integrations::agent(name).ok_or_else(|| Error::usage(format!("no agent is named {name:?}")))?),
    };
    let agent = integrations::detect(&payload, asked, |variable| std::env::var_os(variable).is_some());
    known.agent = Some(agent.name);
    let Some(event) = agent.read(&payload) else { return Ok(()) };
    known.event = Some(event.name.clone());
    let context = context.moved_to(folder(agent, &event).unwrap_or_else(|| context.folder.clone()))?;
    known.layout = Some(context.layout.clone());
    let store = open_loop(&context, choice)?;
    known.of_loop = store.as_ref().map(|store| store.id().clone());
    let hook = Hook { context: &context, choice, agent, event: &event };
    let answer = match (&event.happened, store) {
        (Happened::PostIteration(turn), store) => hook.end_of_turn(turn, store.as_ref())?,
        (_, None) => Answer::Nothing,
        (Happened::Activity(call), Some(store)) => hook.tool_call(call, &store)?,
        (Happened::PreLoop | Happened::LoopDecision, Some(store)) => {
            let stored = newest(&store)?;
            let best = best_so_far(&context.layout, &store, &stored)?;
            Answer::Context(report::for_agent(&stored.record, &best))
        }
        (Happened::PostLoop, Some(store)) => {
            store.set_refusals(&event.session, 0)?;
            Answer::Nothing
        }
    };
    if let Some(reply) = agent.reply(&event, &answer) {
        output::out(&format!("{reply}\n"));
    }
    Ok(())
}

/// The payload: the argument, else standard input.
fn read(argument: Option<&OsStr>) -> Result<Vec<u8>> {
    if let Some(argument) = argument {
        return Ok(argument.as_bytes().to_vec());
    }
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(Error::usage("the hook was given no payload").because("standard input is a terminal"));
    }
    let mut bytes = Vec::new();
    stdin
        .lock()
        .take(MAX_PAYLOAD + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::failed("cannot read the hook's payload").because(error.to_string()))?;
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= MAX_PAYLOAD => Ok(bytes),
        _ => Err(Error::bad_input(format!("the hook's payload is larger than {} MiB", MAX_PAYLOAD >> 20))),
    }
}

/// Where the agent works: its project, which it names in the environment, before the directory that it happens to be in.
fn folder(agent: &Agent, event: &LoopEvent) -> Option<PathBuf> {
    let project = agent.project.and_then(std::env::var_os).map(PathBuf::from);
    let is_there = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|meta| meta.is_dir());
    [project, event.folder.clone()].into_iter().flatten().find(is_there)
}

/// An event that concerns a loop.
struct Hook<'a> {
    context: &'a Context,
    choice: &'a LoopChoice,
    agent: &'static Agent,
    event: &'a LoopEvent,
}

impl Hook<'_> {
    /// Keeps the call, and answers what the monitor wants the agent to be told.
    fn tool_call(&self, call: &ToolCall, store: &Store) -> Result<Answer> {
        let who = &self.event.session;
        let told = self.context.with_patience(WAIT, |session| watch(session, store, who, call.clone()))?;
        Ok(if told.is_empty() { Answer::Nothing } else { Answer::Context(told.join("\n")) })
    }

    /// Records the iteration, and answers by what is recommended and the policy.
    fn end_of_turn(&self, turn: &EndOfTurn, store: Option<&Store>) -> Result<Answer> {
        if turn.is_unfinished {
            return Ok(Answer::Nothing);
        }
        let layout = &self.context.layout;
        // The user's own hooks run wherever an agent does: their home is no loop, and must not be kept as one.
        if store.is_none() && self.context.is_mere_home()? {
            return Ok(Answer::Nothing);
        }
        disk::open_store(layout)?;
        if !store::is_first_delivery(layout, &self.delivery(turn, store)?)? {
            return Ok(Answer::Nothing);
        }
        let config = match store {
            Some(store) => config_in_force(layout, store)?,
            None => self.context.config()?.0.config,
        };
        let mut offer = Offer {
            discover: true,
            folder: layout.root().to_path_buf(),
            transcripts: calls(turn, store)?.into_iter().collect(),
            ask: Some(estimator::ask),
            started_at: now(),
            ..Offer::default()
        };
        if !config.hook.command.is_empty() {
            let words: Vec<OsString> = config.hook.command.iter().map(OsString::from).collect();
            let limit = Duration::from_millis(config.hook.command_timeout_ms);
            measured_with(&mut offer, child::run(layout, &words, Some(layout.root()), Echo::Nowhere(limit))?);
        }
        let recorded = keep(self.context, self.choice, offer, WAIT)?;
        let store = Store::new(layout, recorded.record.loop_id.clone());
        if let Some(warning) = crate::cli::telemetry::export(self.context, &recorded.record) {
            self.note(&store, &Error::failed(warning));
        }

        let session = &self.event.session;
        let counted = if turn.was_refused == Some(false) { 0 } else { store.refusals(session)? };
        let refusals = counted.max(turn.refusals.unwrap_or_default());
        let most = self.agent.refusals(config.hook.max_consecutive_blocks, |name| std::env::var(name).ok());
        let refuse = |facts| if refusals < most { Answer::Refuse(facts) } else { Answer::End(facts) };
        let answer = match decide(config.hook.policy, &recorded.record.recommendation) {
            Decision::Allow => Answer::Nothing,
            Decision::Tell => Answer::Note(facts(&recorded)),
            Decision::End => Answer::End(facts(&recorded)),
            Decision::Refuse => refuse(facts(&recorded)),
            Decision::Restore => refuse(self.put_back(&store, &recorded).unwrap_or_else(|error| {
                self.note(&store, &error);
                format!("{} The work tree was not put back: {}.", facts(&recorded), error.said())
            })),
        };
        // Kept before it is said: a chain that cannot be counted must not go on.
        let is_refused = matches!(answer, Answer::Refuse(_));
        store.set_refusals(session, if is_refused { refusals.saturating_add(1) } else { 0 })?;
        Ok(answer)
    }

    /// Keeps a fault that does not keep the event from its answer.
    fn note(&self, store: &Store, error: &Error) {
        let fault = Fault::new(now(), Some(self.agent.name), Some(&self.event.name), error);
        let _ = store::faults::note(&store.paths().faults(), &fault);
    }

    /// What is the same for all deliveries of this end of a turn, and for no other end. Where nothing that the agent tells
    /// sets it apart, the number of iterations does: deliveries come together, and before any of them is recorded.
    fn delivery(&self, turn: &EndOfTurn, store: Option<&Store>) -> Result<ObjectId> {
        let is_same_turn = turn.was_refused == Some(true);
        let (mut length, mut newest) = (None, None);
        if turn.turn.is_none() || is_same_turn {
            let log = turn.transcript.as_ref().and_then(|path| std::fs::metadata(path).ok());
            length = log.map(|meta| meta.len());
            if length.is_none() {
                newest = store.map(Store::newest_number).transpose()?.flatten();
            }
        }
        let refused = (is_same_turn, turn.refusals);
        let told = (&self.event.session, &turn.turn, &turn.said, refused, length, newest);
        let bytes = serde_json::to_vec(&told)
            .map_err(|error| Error::bug("an event cannot be written as JSON").because(error.to_string()))?;
        Ok(disk::hash::id_of(&bytes))
    }

    /// Puts the recommended iteration back; what was there is kept first. Answers what the agent must know of it.
    fn put_back(&self, store: &Store, recorded: &Recorded) -> Result<String> {
        let facts = facts(recorded);
        let Some(target) = recorded.record.recommendation.target else { return Ok(facts) };
        let restored =
            self.context.with_patience(WAIT, |session| restore_iteration(session, store, target, Target::default()))?;
        let rescued = match restored.rescued_at.as_slice() {
            [] => String::new(),
            places => format!(" Files that were changed meanwhile are kept: {}.", places.join(", ")),
        };
        Ok(format!(
            "{facts} The work tree was put back to iteration {target}: {} files written, {} removed. What was there before \
             is kept.{rescued}",
            restored.restored.len(),
            restored.removed.len(),
        ))
    }
}

/// Where the tool calls of the iteration are: in the agent's own log, which tells tokens, too; else as its hooks told them.
fn calls(turn: &EndOfTurn, store: Option<&Store>) -> Result<Option<String>> {
    let newest = store.map(Store::newest_number).transpose()?.flatten();
    let told = store.zip(newest).map(|(store, newest)| store.paths().activity(newest.next()));
    let is_there = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|meta| meta.is_file());
    let found = [turn.transcript.clone(), told].into_iter().flatten().find(is_there);
    Ok(found.and_then(|path| path.to_str().map(str::to_owned)))
}

/// What the iteration came to, with the head that proves it.
fn facts(recorded: &Recorded) -> String {
    let record = &recorded.record;
    let facts = report::for_agent(record, &recorded.best);
    format!("{facts} Recorded by highwater as {} {}:{}.", record.loop_id, record.iteration, recorded.head)
}
