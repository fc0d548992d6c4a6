//! `verify`: everything stored is as it was written, and the numbers come out again.

use crate::cli::answers::{VERSION, Verify, VerifyFinding};
use crate::cli::args::LoopChoice;
use crate::cli::context::Context;
use crate::cli::diagnostic::printable;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::engine::{self, Repaired, Unnamed, Verified, verify};
use crate::error::{Error, Result};
use crate::model::ids::{Iteration, LoopId, ObjectId};

pub fn run(context: &Context, choice: &LoopChoice, head: Option<&str>, recompute: bool, repair: bool) -> Result<Exit> {
    let head = head.map(parse_head).transpose()?;
    let store = context.store(choice, Unnamed::OpenElseClosed)?;
    let repaired =
        if repair { context.with_session(|session| engine::repair(session, &store))? } else { Repaired::default() };
    let verified = context.with_session(|session| verify(session, &store, head, recompute))?;
    let exit = if verified.findings.is_empty() { Exit::Done } else { Exit::BadInput };
    if context.json() {
        output::json(&answer(store.id(), verified, repaired))?;
    } else {
        for file in repaired.written {
            output::out(&format!("made again: {}\n", printable(&file)));
        }
        for file in repaired.set_aside {
            output::out(&format!("set aside: {} (damaged; what it held whole is in other packs)\n", printable(&file)));
        }
        output::out(&page(store.id(), &verified, head.is_some(), recompute));
    }
    Ok(exit)
}

/// `N:HASH`, as `record` printed it.
fn parse_head(text: &str) -> Result<(Iteration, ObjectId)> {
    let wrong = || {
        Error::usage(format!("{text:?} is no head"))
            .help("write N:HASH, the iteration's number and the 64 digits that `record` printed after it")
    };
    let (number, hash) = text.split_once(':').ok_or_else(wrong)?;
    Ok((number.parse().map_err(|_| wrong())?, hash.parse().map_err(|_| wrong())?))
}

fn answer(loop_id: &LoopId, verified: Verified, repaired: Repaired) -> Verify {
    Verify {
        schema_version: VERSION,
        loop_id: loop_id.clone(),
        is_sound: verified.findings.is_empty(),
        records: verified.records,
        objects: verified.objects,
        artifacts: verified.artifacts,
        head_iteration: verified.head.map(|(iteration, _)| iteration),
        head: verified.head.map(|(_, id)| id),
        findings: verified
            .findings
            .into_iter()
            .map(|finding| VerifyFinding { file: finding.file, fault: finding.fault })
            .collect(),
        restorable: verified.restorable,
        let_go: verified.let_go,
        repaired: repaired.written,
        set_aside: repaired.set_aside,
    }
}

fn page(loop_id: &LoopId, verified: &Verified, had_head: bool, recomputed: bool) -> String {
    let mut page = format!(
        "loop {loop_id}: {} records, {} objects, {} stored reports checked\n",
        verified.records, verified.objects, verified.artifacts
    );
    for finding in &verified.findings {
        page.push_str(&printable(&format!("damaged: {}: {}", finding.file, finding.fault)));
        page.push('\n');
    }
    page.push_str(&format!("restorable: {}\n", ranges(&verified.restorable)));
    if !verified.let_go.is_empty() {
        page.push_str(&format!("let go by prune: {}\n", ranges(&verified.let_go)));
    }
    if let Some((iteration, id)) = verified.head {
        page.push_str(&format!("head: {iteration}:{id}\n"));
    }
    if verified.findings.is_empty() {
        page.push_str("everything is as it was written\n");
        if recomputed {
            page.push_str("the stored reports give the stored metrics again\n");
        }
        if !had_head {
            page.push_str("(a cut at the end shows only against a head kept outside: --head N:HASH)\n");
        }
    }
    page
}

/// `0–7, 9`.
pub fn ranges(iterations: &[Iteration]) -> String {
    let mut parts: Vec<(Iteration, Iteration)> = Vec::new();
    for iteration in iterations {
        match parts.last_mut() {
            Some((_, last)) if last.next() == *iteration => *last = *iteration,
            _ => parts.push((*iteration, *iteration)),
        }
    }
    if parts.is_empty() {
        return "none".into();
    }
    let shown: Vec<String> =
        parts.iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}–{b}") }).collect();
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_numbers_are_shown_as_ranges() {
        let shown = |numbers: &[u32]| ranges(&numbers.iter().map(|n| Iteration(*n)).collect::<Vec<_>>());
        assert_eq!(shown(&[]), "none");
        assert_eq!(shown(&[0, 1, 2, 4, 6, 7]), "0–2, 4, 6–7");
    }

    #[test]
    fn a_head_is_a_number_and_a_hash() {
        assert!(parse_head(&format!("3:{}", "ab".repeat(32))).is_ok());
        for bad in ["3", "3:ab", ":", "x:00"] {
            assert!(parse_head(bad).is_err(), "{bad}");
        }
    }
}
