//! `loops`: all loops of this work tree, and the disk that each one takes.

use crate::cli::answers::{LoopLine, Loops, VERSION};
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::cli::size::in_words;
use crate::disk;
use crate::engine::{DiskUse, best_so_far, disk_use, newest};
use crate::error::Result;
use crate::report;
use crate::store::Store;

pub fn run(context: &Context) -> Result<Exit> {
    let none = DiskUse { loops: Vec::new(), packs_bytes: 0, unneeded_bytes: Some(0), set_aside_bytes: 0 };
    let found = if disk::check_store(&context.layout)? { disk_use(&context.layout)? } else { none };
    let mut lines = Vec::new();
    for (one, taken) in found.loops {
        let store = Store::new(&context.layout, one.id.clone());
        let Some(number) = store.newest_number()? else { continue };
        // A loop whose newest record is damaged is listed all the same: `verify` says what is wrong.
        let best = newest(&store).and_then(|stored| best_so_far(&context.layout, &store, &stored));
        if let Err(error) = &best {
            context.say(&format!("the best of loop {} is unknown: {error}", one.id));
        }
        lines.push(LoopLine {
            loop_id: one.id,
            is_closed: one.is_closed,
            newest: number,
            best: best.ok().and_then(|best| best.iteration),
            folder_bytes: taken.folder_bytes,
            own_bytes: taken.share.map(|share| share.own_bytes),
            shared_bytes: taken.share.map(|share| share.shared_bytes),
        });
    }
    if context.jsonl() {
        lines.iter().try_for_each(output::json)?;
    } else if context.json() {
        let DiskUse { packs_bytes, unneeded_bytes, set_aside_bytes, .. } = found;
        output::json(&Loops { schema_version: VERSION, loops: lines, packs_bytes, unneeded_bytes, set_aside_bytes })?;
    } else if lines.is_empty() {
        context.say("no loops here; `highwater begin -- CMD` opens one");
    } else {
        let rows: Vec<Vec<String>> = lines.iter().map(row).collect();
        let titles = ["loop", "state", "newest", "best", "records", "snapshots", "shared"];
        output::out(&report::terminal::table(&titles, &rows, context.screen()));
        output::out(&format!("all snapshots: {}\n", in_words(found.packs_bytes)));
        if let Some(unneeded) = found.unneeded_bytes.filter(|bytes| *bytes > 0) {
            output::out(&format!(
                "of no loop: {}; `highwater prune` drops what is older than a day\n",
                in_words(unneeded)
            ));
        }
        if found.set_aside_bytes > 0 {
            output::out(&format!(
                "damaged and set aside: {}; nothing reads .progress/objects/*.damaged, remove them when you like\n",
                in_words(found.set_aside_bytes)
            ));
        }
    }
    Ok(Exit::Done)
}

fn row(line: &LoopLine) -> Vec<String> {
    let size = |bytes: Option<u64>| bytes.map_or("–".to_owned(), in_words);
    vec![
        line.loop_id.to_string(),
        if line.is_closed { "closed" } else { "open" }.to_owned(),
        line.newest.to_string(),
        line.best.map_or("–".to_owned(), |best| best.to_string()),
        in_words(line.folder_bytes),
        size(line.own_bytes),
        size(line.shared_bytes),
    ]
}
