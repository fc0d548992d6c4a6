//! Many writers at once: what was acknowledged is there, once, and the chain is whole (PROMISES H4, H1). So it is when
//! others are killed meanwhile, and where nobody gets a lock. `HIGHWATER_SOAK=1` lets 32 write 100 records each, has locking
//! fail by strace, and writes on overlayfs.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use highwater::model::ids::Iteration;

use crate::disks::{Mount, skipped};
use crate::support::work::{Work, copy};
use crate::support::{Answer, Project, answer, can_trace, is_soak};

/// How many write at once, how many records each, and how many other writers are killed meanwhile.
struct Race {
    writers: usize,
    records: usize,
    kills: usize,
}

/// What was acknowledged: its number, its label, and the record before it.
type Acknowledged = (u32, String, String);

/// A loop with nothing but a baseline.
fn prepared() -> Work {
    let project = Project::new();
    project.tests(&[("a", true), ("b", true)]);
    project.run(&["begin", "--loop", "loop"]).expect(0);
    Work::of(project.root())
}

fn program() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("highwater"))
}

fn acknowledged(answer: &Answer, label: &str) -> Acknowledged {
    let record = answer.json();
    let number = u32::try_from(record["iteration"].as_u64().unwrap()).unwrap();
    (number, label.to_owned(), record["previous_record"].as_str().unwrap().to_owned())
}

impl Race {
    /// Runs it and checks the loop. `start` starts the program.
    fn run(&self, work: &Work, what: &str, start: &(dyn Fn() -> Command + Sync)) {
        let (busy, killed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let began = Instant::now();
        let all: Vec<Acknowledged> = std::thread::scope(|scope| {
            let busy = &busy;
            let mut writers: Vec<_> =
                (0..self.writers).map(|writer| scope.spawn(move || self.write(work, writer, start, busy))).collect();
            writers.push(scope.spawn(|| self.kill(work, &killed)));
            writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
        });
        let (busy, killed, seconds) = (busy.into_inner(), killed.into_inner(), began.elapsed().as_secs_f64());
        assert!(all.len() >= self.writers * self.records);
        assert!(killed > 0 || self.kills == 0, "nobody was killed: nothing was proved");
        let (store, mut by_number) = (work.store(), BTreeMap::new());
        for (number, label, previous) in all {
            assert!(by_number.insert(number, (label, previous)).is_none(), "{what}: {number} was given twice");
        }
        for (number, (label, previous)) in &by_number {
            let record = store.load(Iteration(*number)).unwrap().record;
            assert_eq!(record.label.as_ref(), Some(label), "{what}: {number}");
            assert_eq!(record.previous_record.unwrap().to_string(), *previous, "{what}: {number}");
        }
        let (numbers, newest) = (store.numbers().unwrap(), store.newest_number().unwrap().unwrap());
        assert_eq!(numbers.len(), newest.0 as usize + 1, "{what}: a number is missing");
        assert!(numbers.len() > by_number.len(), "{what}: fewer than were acknowledged");
        let (findings, restorable) = work.verified();
        assert!(findings.is_empty() && restorable.len() == numbers.len(), "{what}: {findings:?}");
        eprintln!(
            "{what}: {} acknowledged in {seconds:.1} s and there, {killed} killed of whom {} were done, {busy} told that others write",
            by_number.len(),
            numbers.len() - 1 - by_number.len(),
        );
    }

    fn write(
        &self,
        work: &Work,
        writer: usize,
        start: &(dyn Fn() -> Command + Sync),
        busy: &AtomicUsize,
    ) -> Vec<Acknowledged> {
        let mut done = Vec::new();
        while done.len() < self.records {
            let label = format!("{writer}-{}", done.len());
            let answer = answer(&work.command(start(), &["record", "--json", "--label", &label]).output().unwrap());
            // Waiting is bounded, and who waited in vain is told for whom.
            if answer.code == 1 && answer.stderr.contains("the store is busy") {
                busy.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            done.push(acknowledged(&answer.expect(0), &label));
        }
        done
    }

    fn kill(&self, work: &Work, killed: &AtomicUsize) -> Vec<Acknowledged> {
        let mut done = Vec::new();
        for n in 0..self.kills {
            let label = format!("killed-{n}");
            let mut command = work.command(program(), &["record", "--json", "--label", &label]);
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis((n as u64).wrapping_mul(37) % 401));
            child.kill().unwrap();
            let answer = answer(&child.wait_with_output().unwrap());
            if answer.code == 0 {
                done.push(acknowledged(&answer, &label));
            } else {
                killed.fetch_add(1, Ordering::Relaxed);
            }
        }
        done
    }
}

#[test]
fn eight_writers_of_25_records_lose_none() {
    let race = Race { writers: 8, records: 25, kills: 20 };
    race.run(&prepared(), "8 writers", &program);
}

/// Takes the locks away: a directory has the name.
#[test]
fn who_opens_loops_at_once_gets_one_each_and_hooks_share_one() {
    let project = Project::new();
    project.tests(&[("a", true), ("b", true)]);
    let work = Work::of(project.root());
    let at_once = |arguments: &[&str], input: &dyn Fn(usize) -> String| -> Vec<Answer> {
        let start = |n: usize| {
            let mut command = work.command(program(), arguments);
            let mut child =
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            // Who does not read it does not keep it open.
            let _ = child.stdin.take().unwrap().write_all(input(n).as_bytes());
            child
        };
        let children: Vec<_> = (0..6).map(start).collect();
        children.into_iter().map(|child| answer(&child.wait_with_output().unwrap())).collect()
    };
    let begun: BTreeSet<String> = at_once(&["begin", "--json"], &|_| String::new())
        .into_iter()
        .map(|answer| answer.expect(0).json()["loop_id"].to_string())
        .collect();
    assert_eq!(begun.len(), 6, "{begun:?}");
    for id in &begun {
        work.run(&["finish", "--loop", id.trim_matches('"')]).expect(0);
    }
    // Six agents end a turn where no loop is open.
    let payload = |n: usize| {
        let fields = [("hook_event_name", "Stop".to_owned()), ("session_id", n.to_string()), ("cwd", "/".to_owned())];
        serde_json::to_string(&BTreeMap::from(fields)).unwrap()
    };
    at_once(&["hook", "run", "--agent", "claude"], &payload).into_iter().for_each(|answer| drop(answer.expect(0)));
    let loops = work.run(&["loops", "--json"]).expect(0).json();
    let open: Vec<_> = loops["loops"].as_array().unwrap().iter().filter(|one| one["is_closed"] == false).collect();
    assert_eq!((open.len(), &open[0]["newest"]), (1, &5.into()), "{loops}");
    assert!(!work.path(".progress/.faults.log").exists());
}

#[test]
fn who_verifies_beside_others_finds_nothing() {
    let work = prepared();
    let (writing, verified) = (AtomicUsize::new(2), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let (work, writing) = (&work, &writing);
            scope.spawn(move || {
                for round in 0..12 {
                    std::fs::write(work.path("work"), format!("{writer}.{round}")).unwrap();
                    work.run(&["record"]).expect(0);
                    work.run(&["restore", "0"]).expect(0);
                    work.run(&["prune"]).expect(0);
                }
                writing.fetch_sub(1, Ordering::Relaxed);
            });
        }
        while writing.load(Ordering::Relaxed) > 0 {
            let answer = work.run(&["verify", "--json"]);
            assert!(answer.code == 0, "{answer:?}");
            verified.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert!(verified.into_inner() >= 5, "it was hardly verified meanwhile");
}

fn without_locks(work: &Work) {
    for lock in [work.layout.lock(), work.store().paths().lock()] {
        let _ = std::fs::remove_file(&lock);
        std::fs::create_dir(&lock).unwrap();
    }
}

#[test]
fn writers_without_locks_lose_none() {
    let work = prepared();
    without_locks(&work);
    let race = Race { writers: 6, records: 6, kills: 6 };
    race.run(&work, "6 writers without locks", &program);
}

#[test]
fn many_more_writers_lose_none() {
    if !is_soak() {
        return;
    }
    Race { writers: 32, records: 100, kills: 200 }.run(&prepared(), "32 writers", &program);

    let work = prepared();
    without_locks(&work);
    Race { writers: 16, records: 25, kills: 50 }.run(&work, "16 writers without locks", &program);

    if can_trace() {
        let log = tempfile::NamedTempFile::new().unwrap();
        let failing = || {
            let mut strace = Command::new("strace");
            strace.args(["-f", "-qq", "-A", "-o"]).arg(log.path()).args(["-e", "trace=flock"]);
            strace.args(["-e", "inject=flock:error=ENOLCK"]).arg(assert_cmd::cargo::cargo_bin!("highwater"));
            strace
        };
        Race { writers: 8, records: 25, kills: 0 }.run(&prepared(), "8 writers whose locks fail", &failing);
        let injected = std::fs::read_to_string(log.path()).unwrap().matches("(INJECTED)").count();
        assert!(injected >= 8 * 25, "{injected} locks failed: nothing was proved");
    }

    let place = tempfile::tempdir().unwrap();
    let folder = |name: &str| {
        let folder = place.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        folder.display().to_string()
    };
    copy(prepared().root(), Path::new(&folder("lower")));
    let layers =
        format!("lowerdir={0}/lower,upperdir={1},workdir={2}", place.path().display(), folder("upper"), folder("work"));
    match Mount::new(&place.path().join("merged"), &["-t", "overlay", "-o", &layers], Path::new("overlay")) {
        Ok(mount) => {
            Race { writers: 8, records: 25, kills: 20 }.run(&Work::at(mount.at()), "8 writers on overlayfs", &program)
        }
        Err(why) => skipped(&format!("no overlayfs can be mounted ({why})")),
    }
}
