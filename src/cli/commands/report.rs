//! `report`: an iteration, the selection or the loop, as markdown, as JSON, or in a form that another program reads.

use std::path::Path;

use crate::analysis::{DETECTORS, RULES};
use crate::cli::args::{LoopChoice, ReportFormat};
use crate::cli::commands::log;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::disk;
use crate::engine::{self, SoFar, Unnamed, iteration_details, iteration_report, loop_so_far, newest, selection_report};
use crate::error::{Error, ErrorKind, Result};
use crate::model::ids::Iteration;
use crate::report::{self, OneIteration, RuleText, WholeLoop, Write};
use crate::store::Store;

/// What a report is about.
enum Subject {
    Iteration(Iteration),
    Selection,
    Summary,
}

pub fn run(
    context: &Context,
    choice: &LoopChoice,
    what: Option<&str>,
    format: ReportFormat,
    file: Option<&Path>,
) -> Result<Exit> {
    let format = if context.json() { ReportFormat::JSON } else { format };
    let text = text(context, &context.store(choice, Unnamed::OpenElseClosed)?, what, format)?;
    match file {
        Some(file) => disk::write_named(&context.folder.join(file), text.as_bytes())?,
        None => output::out(&text),
    }
    Ok(Exit::Done)
}

/// The report; without a subject the loop as a whole, or the newest iteration where the form tells one.
///
/// # Errors
/// A usage error if the form does not tell that; if records cannot be read.
pub fn text(context: &Context, store: &Store, what: Option<&str>, format: ReportFormat) -> Result<String> {
    let subject = what.map(subject).transpose()?;
    match report::form(&format.name()) {
        Some(form) => foreign(context, store, subject, form),
        None if format == ReportFormat::JSON => json(context, store, subject.unwrap_or(Subject::Summary)),
        None => markdown(context, store, subject.unwrap_or(Subject::Summary)),
    }
}

fn subject(what: &str) -> Result<Subject> {
    match what {
        "selection" => Ok(Subject::Selection),
        "summary" => Ok(Subject::Summary),
        number => number.parse().map(Subject::Iteration).map_err(|_| {
            Error::usage(format!("{number:?} is no report"))
                .help("name an iteration by its number, or write selection or summary")
        }),
    }
}

fn markdown(context: &Context, store: &Store, subject: Subject) -> Result<String> {
    match subject {
        Subject::Selection => selection_report(&context.layout, store),
        Subject::Summary => {
            let so_far = so_far(context, store)?;
            report::summary_markdown(store.id(), &so_far.points, &so_far.best, store.selection()?.as_ref())
        }
        Subject::Iteration(number) => iteration_report(&context.layout, store, &so_far(context, store)?, number),
    }
}

/// The loop as far as its records are sound. Who reads a report later does not see what was said beside it: where the disk
/// does not give a record, there is none.
fn so_far(context: &Context, store: &Store) -> Result<SoFar> {
    let so_far = loop_so_far(&context.layout, store)?;
    if let Some(unread) = so_far.damaged.iter().find(|one| one.error.kind == ErrorKind::Failed) {
        return Err(unread.error.clone());
    }
    context.say_left_out(&so_far.damaged);
    Ok(so_far)
}

/// What `show`, `log` and `finish` print.
fn json(context: &Context, store: &Store, subject: Subject) -> Result<String> {
    match subject {
        Subject::Iteration(number) => output::line(&engine::iteration(store, number)?.record),
        Subject::Selection => output::line(&engine::selection(&context.layout, store)?),
        Subject::Summary => {
            let so_far = so_far(context, store)?;
            output::line(&log::answer(store.id(), &so_far.points, &so_far.best))
        }
    }
}

fn foreign(context: &Context, store: &Store, subject: Option<Subject>, form: &report::Form) -> Result<String> {
    let tells_only =
        |what: &str, help: &str| Error::usage(format!("{} tells {what} and nothing else", form.name)).help(help);
    match form.write {
        Write::Markdown(write) => {
            Ok(write(store.id(), &markdown(context, store, subject.unwrap_or(Subject::Summary))?))
        }
        Write::Loop(write) => {
            if !matches!(subject, None | Some(Subject::Summary)) {
                return Err(tells_only("the loop as a whole", "name summary, or nothing"));
            }
            let so_far = so_far(context, store)?;
            let selection = store.selection()?;
            write(&WholeLoop {
                loop_id: store.id(),
                points: &so_far.points,
                best: &so_far.best,
                selection: selection.as_ref(),
            })
        }
        Write::Iteration(write) => {
            let number = match subject {
                None => newest(store)?.record.iteration,
                Some(Subject::Iteration(number)) => number,
                Some(Subject::Selection | Subject::Summary) => {
                    return Err(tells_only("one iteration", "name it by its number; without one, it is the newest"));
                }
            };
            let details = iteration_details(&context.layout, store, number)?;
            let rules = RULES.iter().map(|rule| RuleText { name: rule.name, about: rule.about, meaning: rule.meaning });
            let detectors =
                DETECTORS.iter().map(|one| RuleText { name: one.name, about: one.about, meaning: one.meaning });
            write(&OneIteration {
                record: &details.record,
                best: &details.best,
                cases: details.cases.as_ref(),
                places: &details.places,
                rules: &rules.chain(detectors).collect::<Vec<_>>(),
            })
        }
    }
}
