//! The bare contestants of `benches/trees.sh`: what nobody can be faster than who has to look at every file, and our snapshot
//! without the record around it.
//!
//! `trees walk DIR` looks at every file, `trees hash DIR` reads and hashes every file, `trees snapshot DIR` captures the work
//! tree into its store as `highwater record` does.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, reason = "a bench, not the product")]

use std::io::Read;
use std::path::Path;

use highwater::disk::layout::Layout;
use highwater::snapshot::capture::capture;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(contestant), Some(folder)) = (arguments.next(), arguments.next()) else {
        // `cargo bench` asks every bench to run.
        return println!("benches/trees.sh runs this");
    };
    let folder = Path::new(&folder);
    let counted = match contestant.as_str() {
        "walk" => bare_walk(folder, &mut |_, length| length),
        "hash" => {
            let mut buffer = vec![0; 256 << 10];
            bare_walk(folder, &mut |path, _| hash(path, &mut buffer))
        }
        _ => snapshot(folder),
    };
    println!("{counted}");
}

/// Looks at every file below the folder, by its name in the open folder; answers the sum of what `take` makes of them.
fn bare_walk(folder: &Path, take: &mut dyn FnMut(&Path, u64) -> u64) -> u64 {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() == ".git" || entry.file_name() == ".progress" {
            continue;
        }
        let meta = entry.metadata().unwrap();
        if meta.is_dir() {
            sum += bare_walk(&entry.path(), take);
        } else if meta.is_file() {
            sum += take(&entry.path(), meta.len());
        }
    }
    sum
}

fn hash(path: &Path, buffer: &mut [u8]) -> u64 {
    let mut file = std::fs::File::open(path).unwrap();
    let mut hasher = blake3::Hasher::new();
    loop {
        match file.read(buffer).unwrap() {
            0 => break u64::from(hasher.finalize().as_bytes()[0]),
            read => hasher.update(&buffer[..read]),
        };
    }
}

fn snapshot(folder: &Path) -> u64 {
    let config = highwater::config::defaults().unwrap();
    let layout = Layout::new(folder);
    let (captured, _) = capture(&layout, &config.capture, &config.limits, &[], &[], &|_, _| {}).unwrap();
    captured.files
}
