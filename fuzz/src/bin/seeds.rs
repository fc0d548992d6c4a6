//! Fills `fuzz/corpus/TARGET` with the fixtures that each target can start from:
//! `cargo run --manifest-path fuzz/Cargo.toml --bin seeds`.

use std::fs;
use std::path::Path;

use highwater::ingest;
use highwater_fuzz::{FAMILIES, family, formats};

/// Largest seed: longer inputs are not tried.
const LARGEST: usize = 65_000;

fn main() -> std::io::Result<()> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR"));
    let write = |target: &str, name: &str, bytes: &[u8]| -> std::io::Result<()> {
        let folder = fuzz.join("corpus").join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), bytes)
    };
    let reports = fuzz.join("../fixtures/reports");
    for folder in fs::read_dir(&reports)? {
        let name = folder?.file_name().into_string().expect("a name of ours");
        let Some(format) = ingest::format(&name) else { continue };
        let family = family(format);
        let target = FAMILIES.iter().find(|(one, _)| *one == family).map_or("text", |(_, target)| target);
        let place = formats(family).iter().position(|one| *one == format).and_then(|place| u8::try_from(place).ok());
        for file in fs::read_dir(reports.join(&name))? {
            let file = file?;
            let bytes = fs::read(file.path())?;
            let seed = format!("{name}-{}", file.file_name().to_string_lossy());
            if bytes.len() <= LARGEST && !matches!(file.file_name().to_str(), Some("expected.json" | "README.md")) {
                write(target, &seed, &[&[place.unwrap_or(0)], bytes.as_slice()].concat())?;
                write("sniff", &seed, &bytes)?;
                if target == "text" {
                    write("console", &seed, &bytes)?;
                }
            }
        }
    }
    for agent in fs::read_dir(fuzz.join("../fixtures/hooks"))? {
        let agent = agent?;
        if agent.file_type()?.is_dir() {
            for payload in fs::read_dir(agent.path())? {
                let payload = payload?;
                let seed = format!("{}-{}", agent.file_name().to_string_lossy(), payload.file_name().to_string_lossy());
                write("hook", &seed, &fs::read(payload.path())?)?;
            }
        }
    }
    write("config", "default", &fs::read(fuzz.join("../src/config/default.yaml"))?)?;
    write("config", "some", b"limits:\n  reports: 7\nrules: {coverage_regression: off}\n")?;
    write("record", "least", b"{\"schema_version\":1,\"loop_id\":\"a\",\"iteration\":0}")?;
    write(
        "watching",
        "calls",
        b"{\"id\":\"1\",\"tool\":\"Read\",\"args\":{\"file_path\":\"a\"},\"result\":{\"hash\":\"1\"}}\n",
    )?;
    write("watching", "states", b"{\"tests_failed\":1}\n{}\n")?;
    println!("seeds are in {}", fuzz.join("corpus").display());
    Ok(())
}
