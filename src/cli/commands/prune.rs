//! `prune`: drops the snapshots that no loop needs.

use super::verify::ranges;
use crate::cli::answers::{Prune, PrunedLoop, VERSION};
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::interrupt;
use crate::cli::output;
use crate::cli::size::in_words;
use crate::engine::{Pruning, prune};
use crate::error::Result;

pub fn run(context: &Context, dry_run: bool) -> Result<Exit> {
    interrupt::watch_pending(&context.layout);
    let pruning = context.with_session(|session| prune(session, dry_run))?;
    for note in &pruning.notes {
        context.say(&format!("note: {note}"));
    }
    if context.json() {
        output::json(&answer(pruning, dry_run))?;
    } else {
        output::out(&page(&pruning, dry_run));
    }
    Ok(Exit::Done)
}

fn answer(pruning: Pruning, dry_run: bool) -> Prune {
    let pruned = pruning.pruned;
    Prune {
        schema_version: VERSION,
        dry_run,
        removed_packs: pruned.removed_packs,
        rewritten_packs: pruned.rewritten_packs,
        dropped_objects: pruned.dropped_objects,
        waiting_objects: pruned.waiting_objects,
        freed_bytes: pruned.freed_bytes,
        loops: pruning.let_go.into_iter().map(|(loop_id, let_go)| PrunedLoop { loop_id, let_go }).collect(),
    }
}

fn page(pruning: &Pruning, dry_run: bool) -> String {
    let pruned = &pruning.pruned;
    let mut page = String::new();
    for (id, iterations) in &pruning.let_go {
        page.push_str(&format!("loop {id} is closed and needs no snapshot of {}\n", ranges(iterations)));
    }
    if pruned.dropped_objects == 0 {
        page.push_str("nothing to drop\n");
    } else {
        page.push_str(&format!(
            "{}: {} objects, {} ({} packs removed, {} written anew)\n",
            if dry_run { "would drop" } else { "dropped" },
            pruned.dropped_objects,
            in_words(pruned.freed_bytes),
            pruned.removed_packs,
            pruned.rewritten_packs
        ));
    }
    if pruned.waiting_objects > 0 {
        page.push_str(&format!(
            "not yet: {} objects that nobody needs, in packs that are younger than a day or mostly needed\n",
            pruned.waiting_objects
        ));
    }
    page
}
