//! `autoresearch-tsv`: the table in which agents that follow autoresearch's instructions note one experiment a line: the
//! commit, the metric (`val_bpb`, 0.000000 for a crash), the memory, what became of it, and what was tried.

use super::{Fate, ForeignLoop, ForeignRun, LoopFormat, check_length, finite, no_value, unknown_status};
use crate::error::{Error, Reject, Result};
use crate::ingest::Head;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, printable};
use crate::model::metrics::Direction;

/// A table of autoresearch.
pub const FORMAT: LoopFormat = LoopFormat {
    name: "autoresearch-tsv",
    about: "results.tsv of autoresearch: commit, metric, memory, status, description",
    told_by: "a first line of names with tabs, commit and status among them",
    sniff,
    parse,
};

/// Columns that are no metric.
const WORDS: [&str; 6] = ["commit", "status", "description", "timestamp", "branch", "run"];

fn sniff(head: &Head<'_>) -> bool {
    head.first_line().is_some_and(|line| columns(line).is_some())
}

/// The names of the columns, if a line is a header.
fn columns(line: &str) -> Option<Vec<String>> {
    let names: Vec<String> = line.split('\t').map(|name| name.trim().to_ascii_lowercase()).collect();
    ["commit", "status"].iter().all(|wanted| names.iter().any(|name| name == wanted)).then_some(names)
}

fn parse(input: &Input<'_>) -> Result<ForeignLoop> {
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::Escaped)?;
    let mut table: Option<Table> = None;
    let mut told = ForeignLoop::default();
    while let Some(line) = lines.next()? {
        let (number, ended) = (line.number, line.ended);
        if line.text.trim().is_empty() {
            continue;
        }
        match &table {
            None => {
                let made = Table::of(&line.text).map_err(|error| error.line(number))?;
                told.metric = made.metric_name();
                told.direction = matches!(told.metric.as_str(), "val_bpb" | "val").then_some(Direction::Lower);
                table = Some(made);
            }
            Some(table) => {
                let run = table.run(&line.text, number, ended)?;
                told.runs.push(run);
                check_length(&told.runs, number)?;
            }
        }
    }
    Ok(told)
}

struct Table {
    names: Vec<String>,
    /// Which column is the metric.
    metric: usize,
}

impl Table {
    fn of(header: &str) -> Result<Table> {
        let not_this = |why: &str| Error::report(Reject::NotThisFormat, format!("not a table of runs: {why}"));
        let names = columns(header).ok_or_else(|| not_this("its first line does not name commit and status"))?;
        let is_metric = |name: &String| !WORDS.contains(&name.as_str()) && !name.starts_with("memory");
        let metric = names.iter().position(is_metric).ok_or_else(|| not_this("no column is a metric"))?;
        Ok(Table { names, metric })
    }

    fn metric_name(&self) -> String {
        self.names.get(self.metric).map(|name| plain(name)).unwrap_or_default()
    }

    fn run(&self, line: &str, number: u64, ended: bool) -> Result<ForeignRun> {
        let cells: Vec<&str> = line.split('\t').map(str::trim).collect();
        // The last column may be empty; a line that stops before it was cut, or was never whole.
        if cells.len() < self.names.len() && !(ended && cells.len() + 1 == self.names.len()) {
            let what = format!("a run has {} of {} columns", cells.len(), self.names.len());
            return Err(Error::report(Reject::Malformed, what).line(number));
        }
        let cell = |wanted: &str| {
            let at = self.names.iter().position(|name| name == wanted);
            at.and_then(|at| cells.get(at)).copied().filter(|cell| !cell.is_empty() && *cell != "-")
        };
        let status = cell("status").unwrap_or_default();
        let fate = Fate::of(status).ok_or_else(|| unknown_status(status, number))?;
        let value = match fate {
            // 0.000000 stands there.
            Fate::Failed => Err(no_value(status)),
            Fate::Kept | Fate::Discarded => finite(cells.get(self.metric).copied().unwrap_or_default()),
        };
        let others = self.names.iter().zip(&cells).enumerate().filter(|(at, _)| *at != self.metric);
        let others = others.filter(|(_, (name, _))| !WORDS.contains(&name.as_str()) && fate != Fate::Failed);
        let commit = cell("commit").map(|commit| printable(commit, 64));
        Ok(ForeignRun {
            value,
            others: others.filter_map(|(_, (name, text))| Some((plain(name), finite(text).ok()?))).collect(),
            fate,
            status: status.to_owned(),
            code: commit.clone(),
            commit,
            description: cell("description").map(|text| printable(text, 500)),
            at_ms: None,
            tokens: None,
        })
    }
}

/// The name as a metric's: what is no letter, digit, `_`, `-` or `.` becomes `_`.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ForeignLoop> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn a_crash_has_no_value_and_the_other_columns_are_metrics() {
        let told = read(
            "commit\tval_bpb\tmemory_gb\tstatus\tdescription\naaa1111\t0.9979\t44.0\tkeep\tbaseline\nbbb2222\t0.000000\t0.0\tcrash\twider, OOM\n",
        )
        .unwrap();
        assert_eq!((told.metric.as_str(), told.direction), ("val_bpb", Some(Direction::Lower)));
        let [first, second] = &told.runs[..] else { panic!("two runs") };
        assert_eq!((first.value.clone(), first.others.as_slice()), (Ok(0.9979), &[("memory_gb".to_owned(), 44.0)][..]));
        assert_eq!((second.fate, second.others.len()), (Fate::Failed, 0));
        assert_eq!(second.value, Err("the run ended as crash".to_owned()));
        assert_eq!((second.code.as_deref(), second.description.as_deref()), (Some("bbb2222"), Some("wider, OOM")));
    }

    #[test]
    fn a_line_that_is_cut_is_refused_with_its_place() {
        let header = "commit\tval_bpb\tmemory_gb\tstatus\tdescription\n";
        for cut in ["a\t0.9\t4\tkeep", "a\t0.9\n", "a\t0.9\t4\tkee\tx\n"] {
            let error = read(&format!("{header}b\t1.0\t4\tkeep\tx\n{cut}")).unwrap_err();
            assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(3)), "{cut}");
        }
        assert!(read(&format!("{header}b\t1.0\t4\tkeep\n")).is_ok(), "no description");
        assert_eq!(read("commit\tstatus\nx\tkeep\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
