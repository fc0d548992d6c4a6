//! `demo`: a recorded real loop, fed through the same code as `record` and `finish`. Home of fs_extra, which copies the
//! recording's trees into the demo's own work tree and nothing else.

use std::path::{Path, PathBuf};

use fs_extra::dir::CopyOptions;
use include_dir::{Dir, include_dir};

use super::log::answer as log_answer;
use super::restore::page;
use crate::cli::answers::{self, VERSION};
use crate::cli::context::{Context, now};
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::config;
use crate::disk::{self, layout::Layout};
use crate::engine::{self, Finished, Finishing, Offer, Opening, Recorded, Session, Target};
use crate::error::{Error, Result};
use crate::model::ids::{Iteration, LoopId, ObjectId};
use crate::report::terminal::Destination;
use crate::report::{self, Screen};
use crate::snapshot::capture::capture;
use crate::store::Store;

/// Twelve iterations of a small Python project: what each changed in the tree, the reports that pytest, coverage.py and ruff
/// wrote, and what pytest printed.
static RECORDING: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/fixtures/loops/hourbook/iterations");

const LOOP: &str = "hourbook";

const ABOUT: &str =
    "A recorded loop of 12 iterations: an agent at work on a small Python project, with pytest, coverage.py and ruff.";

/// The iteration in which three failing tests were deleted.
const DELETION: Iteration = Iteration(4);

pub fn run(context: &Context, keep: Option<&Path>) -> Result<Exit> {
    let folder = folder(context, keep)?;
    let (recording, work) = (folder.join("recording"), folder.join("work"));
    disk::make_directory(&recording)?;
    disk::make_directory(&work)?;
    RECORDING
        .extract(&recording)
        .map_err(|error| Error::failed("cannot unpack the recording").at(&recording).because(error.to_string()))?;

    let layout = Layout::new(&work);
    let id: LoopId = LOOP.parse()?;
    let store = Store::new(&layout, id.clone());
    let session =
        Session { layout: &layout, now: now(), wait: std::time::Duration::from_secs(10), on_progress: &|_, _| {} };
    if !context.json() {
        output::out(&format!("{}\n", report::terminal::beside("", ABOUT, context.screen())));
    }
    for name in names() {
        let recorded = iteration(&session, &store, &recording.join(&name), &work)?;
        if !context.json() {
            output::out(&line(&recorded, context.screen()));
        }
    }

    let so_far = engine::loop_so_far(&layout, &store)?;
    if !context.json() {
        output::out("\n$ highwater log\n\n");
        output::out(&report::terminal::log(
            &id,
            &so_far.points,
            &so_far.best,
            &so_far.config.select.primary,
            None,
            context.screen(),
        ));
        output::out(&format!("\n{}", report::terminal::beside("", &about_the_deletion(&so_far), context.screen())));
        output::out("\n$ highwater finish\n\n");
    }
    let finished = engine::finish(&session, &store, &Finishing { target: Target::default(), verification: None })?;
    let Some(peak) = finished.selection.selected else { return Err(Error::bug("the demo found no peak")) };
    let (peak_tree, restored_tree) = (engine::iteration(&store, peak)?.record.tree, tree_of(&session)?);
    if peak_tree != restored_tree {
        return Err(
            Error::bug("the restored tree is not the peak's").because(format!("{restored_tree}, not {peak_tree}"))
        );
    }
    if context.json() {
        output::json(&answers::Demo {
            schema_version: VERSION,
            log: log_answer(&id, &so_far.points, &so_far.best),
            selection: finished.selection,
            peak_tree,
            restored_tree,
            reports: Some(store.paths().reports().display().to_string()),
        })?;
    } else {
        output::out(&report::terminal::selected(&finished.selection, &finished.points, context.screen()));
        output::out(&ending(context.screen(), &store, &finished, peak, peak_tree, &work));
    }
    Ok(Exit::Done)
}

/// Where it all happens: what was asked for, else a fresh temporary folder, which is left for a look around.
fn folder(context: &Context, keep: Option<&Path>) -> Result<PathBuf> {
    if let Some(keep) = keep {
        let folder = context.folder.join(keep);
        if disk::metadata(&folder)?.is_some() && !disk::list(&folder)?.is_empty() {
            return Err(Error::bad_input("the folder is not empty; nothing was changed")
                .at(&folder)
                .help("name one that is empty or not there yet"));
        }
        disk::make_directory(&folder)?;
        return Ok(folder);
    }
    let made = tempfile::Builder::new().prefix("highwater-demo-").tempdir();
    made.map(tempfile::TempDir::keep)
        .map_err(|error| Error::failed("cannot make a temporary folder").because(error.to_string()))
}

/// The recording's folders, in order: `000`, `001`, …
fn names() -> Vec<String> {
    let mut names: Vec<String> = RECORDING.dirs().map(|dir| dir.path().display().to_string()).collect();
    names.sort();
    names
}

/// Makes the work tree what it was at this iteration, which tells what changed in it (nothing was ever removed), then begins
/// or records as `highwater` does.
fn iteration(session: &Session<'_>, store: &Store, recorded: &Path, work: &Path) -> Result<Recorded> {
    let copied = |error: fs_extra::error::Error| {
        Error::failed("cannot copy the recording").at(recorded).because(error.to_string())
    };
    let whole = CopyOptions::new().content_only(true).overwrite(true);
    for part in ["tree", "reports"] {
        fs_extra::dir::copy(recorded.join(part), work, &whole).map_err(copied)?;
    }
    let console = recorded.join("console.txt");
    let note = disk::read(&recorded.join("note.txt"), 1 << 16)?;
    let offer = Offer {
        discover: true,
        folder: work.to_path_buf(),
        console: Some(Ok(std::fs::File::open(&console).map_err(|error| Error::io("read", &console, &error))?)),
        label: Some(String::from_utf8_lossy(&note).trim().to_owned()),
        started_at: now(),
        ..Offer::default()
    };
    let session = Session { now: now(), ..*session };
    if store.numbers()?.is_empty() {
        let opening = Opening { id: store.id().clone(), config: config::defaults()?, goal: None };
        return engine::begin(&session, &opening, offer);
    }
    engine::record(&session, store, offer)
}

/// One line an iteration, as it comes.
fn line(recorded: &Recorded, screen: Screen) -> String {
    let record = &recorded.record;
    let score = record.quality_score.as_ref().map_or("   –  ".to_owned(), |score| score.total.to_string());
    let class = record.classification.map_or("–", |class| class.name());
    let what = record.recommendation.action.name();
    let target = record.recommendation.target.map_or(String::new(), |target| format!(" to {target}"));
    let label = record.label.as_deref().unwrap_or_default();
    let advice = format!("{what}{target}");
    let before = format!("{:>3}  {score}  {class:<10}  {advice:<14}  ", record.iteration.to_string());
    report::terminal::beside(&before, label, screen)
}

/// That the deletion raised the score and still is not the peak.
fn about_the_deletion(so_far: &engine::SoFar) -> String {
    let at = |iteration: Iteration| so_far.points.iter().find(|point| point.iteration == iteration);
    let before = at(DELETION).and_then(|point| point.parent).and_then(at);
    let (Some(deletion), Some(before)) = (at(DELETION), before) else { return String::new() };
    let (Some(was), Some(is)) = (before.score(), deletion.score()) else { return String::new() };
    let why = so_far.best.ineligible.get(&DELETION).map_or("it is eligible", String::as_str);
    format!(
        "Iteration {DELETION} deleted failing tests, and its score rose from {was} to {is}. It cannot be the peak: {why}."
    )
}

/// The root object of the work tree as it is now.
fn tree_of(session: &Session<'_>) -> Result<ObjectId> {
    let config = config::defaults()?;
    Ok(capture(session.layout, &config.capture, &config.limits, &[], &[], session.on_progress)?.0.root)
}

fn ending(screen: Screen, store: &Store, finished: &Finished, peak: Iteration, tree: ObjectId, work: &Path) -> String {
    let mut text = String::from("\n");
    text.extend(finished.outcome.as_ref().map(|outcome| page(outcome, Destination::WorkTree, screen)));
    // Absolute, because the lines are typed in another folder.
    let word = |path: &Path| report::quote(&path.display().to_string());
    let me = std::env::current_exe().map_or("highwater".to_owned(), |path| word(&path));
    text.push_str(&format!(
        "\nProof: the work tree was captured again, and its root is the one recorded\nfor iteration {peak}:\n  {tree}\n\n\
         Reports: {}\n\nLook around; delete the folder when you are done:\n  cd {}\n  {me} log\n  {me} diff 3 4\n  {me} undo\n",
        store.paths().reports().display(),
        word(work),
    ));
    text
}
