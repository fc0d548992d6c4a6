//! `diff A B`: metrics, tests by name and files that differ.

use crate::cli::answers::{Difference, FileDifference, TestDifference, VERSION};
use crate::cli::args::LoopChoice;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::engine::{self, Unnamed, change_name, changed_files, difference};
use crate::error::Result;
use crate::model::ids::{Iteration, LoopId};
use crate::model::trajectory::Point;
use crate::report::{
    self,
    terminal::{DiffTests, DiffView},
};
use crate::snapshot::tree::Change;

pub fn run(context: &Context, choice: &LoopChoice, a: Iteration, b: Iteration) -> Result<Exit> {
    let store = context.store(choice, Unnamed::OpenElseClosed)?;
    let found = difference(&context.layout, &store, a, b)?;
    if context.json() {
        output::json(&answer(store.id(), found))?;
        return Ok(Exit::Done);
    }
    let files = changed_files(&found.files);
    let view = DiffView {
        a: &Point::of(&found.a),
        b: &Point::of(&found.b),
        deltas: &found.deltas,
        tests: found.tests.as_ref().map(|tests| DiffTests {
            lost: &tests.removed,
            broken: &tests.newly_failing,
            fixed: &tests.fixed,
            newly_skipped: &tests.newly_skipped,
            unskipped: &tests.unskipped,
            added: &tests.added,
            renamed: &tests.renamed,
        }),
        files: &files,
    };
    output::out(&report::terminal::diff(&view, context.screen()));
    Ok(Exit::Done)
}

pub fn answer(loop_id: &LoopId, found: engine::Difference) -> Difference {
    let file = |change: &Change| FileDifference { path: change.path.clone(), change: change_name(change).to_owned() };
    Difference {
        schema_version: VERSION,
        loop_id: loop_id.clone(),
        a: found.a.iteration,
        b: found.b.iteration,
        deltas: found.deltas,
        tests: found.tests.map(|tests| TestDifference {
            lost: tests.removed,
            added: tests.added,
            broken: tests.newly_failing,
            fixed: tests.fixed,
            newly_skipped: tests.newly_skipped,
            unskipped: tests.unskipped,
            renamed: tests.renamed,
        }),
        files: found.files.iter().map(file).collect(),
    }
}
