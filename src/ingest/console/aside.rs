//! Findings, looked for beside the tests. To ask all linters about a line takes longer than to ask all test tools, so that
//! of a long output another thread does it.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use super::lint::Findings;
use crate::ingest::Parsed;

/// What is handed over at once: an output of less is not worth a thread.
const BATCH_BYTES: usize = 32 * 1024;

/// Batches that wait: whoever reads may be ahead by so many.
const WAITING: usize = 4;

/// What the linters are told, in its order.
enum Said {
    /// The linters so far: another thread asks them from now on.
    Begin(Box<Findings>),
    Line(String),
    EndRuns,
    Leave,
    Take,
}

/// The linters, and what they were not told yet.
pub(super) struct Aside {
    /// Unless a thread has them.
    findings: Option<Box<Findings>>,
    thread: Option<Listener>,
    untold: Vec<Said>,
    bytes: usize,
}

struct Listener {
    hear: SyncSender<Vec<Said>>,
    told: Receiver<Vec<Parsed>>,
    thread: JoinHandle<()>,
}

impl Default for Aside {
    fn default() -> Aside {
        Aside { findings: Some(Box::new(Findings::new())), thread: None, untold: Vec::new(), bytes: 0 }
    }
}

impl Aside {
    /// See [`Findings::line`].
    pub(super) fn line(&mut self, text: &str) {
        self.bytes = self.bytes.saturating_add(text.len()).saturating_add(size_of::<Said>());
        self.untold.push(Said::Line(text.to_owned()));
        if self.bytes >= BATCH_BYTES {
            self.begin();
            self.hand_over();
        }
    }

    /// See [`Findings::end_runs`].
    pub(super) fn end_runs(&mut self) {
        // Said twice it says no more.
        if !matches!(self.untold.last(), Some(Said::EndRuns)) {
            self.untold.push(Said::EndRuns);
        }
    }

    /// See [`Findings::leave`].
    pub(super) fn leave(&mut self) -> Vec<Parsed> {
        self.ask(Said::Leave)
    }

    /// See [`Findings::take`].
    pub(super) fn take(&mut self) -> Vec<Parsed> {
        self.ask(Said::Take)
    }

    /// Starts the thread. Where none can be had, everything is done here.
    fn begin(&mut self) {
        if self.thread.is_some() {
            return;
        }
        let ((hear, heard), (tell, told)) = (sync_channel::<Vec<Said>>(WAITING), channel());
        let listen = move || {
            let mut findings = None;
            for batch in heard {
                // Nobody asks any more.
                if hear_all(&mut findings, batch).is_some_and(|found| tell.send(found).is_err()) {
                    return;
                }
            }
        };
        if let Ok(thread) = thread::Builder::new().spawn(listen)
            && let Some(findings) = self.findings.take()
        {
            self.thread = Some(Listener { hear, told, thread });
            self.untold.insert(0, Said::Begin(findings));
        }
    }

    /// What is found, if that is asked for here.
    fn hand_over(&mut self) -> Option<Vec<Parsed>> {
        self.bytes = 0;
        let batch = std::mem::take(&mut self.untold);
        match &self.thread {
            Some(listener) => match listener.hear.send(batch) {
                Ok(()) => None,
                Err(_) => self.pass_on_panic(),
            },
            None => hear_all(&mut self.findings, batch),
        }
    }

    fn ask(&mut self, question: Said) -> Vec<Parsed> {
        self.untold.push(question);
        let here = self.hand_over();
        let there = self.thread.as_ref().map(|listener| listener.told.recv());
        match there {
            Some(Ok(found)) => Some(found),
            Some(Err(_)) => self.pass_on_panic(),
            None => here,
        }
        .unwrap_or_default()
    }

    /// The thread ends before its time only if a reader panicked.
    fn pass_on_panic(&mut self) -> Option<Vec<Parsed>> {
        let panic = self.thread.take().and_then(|listener| listener.thread.join().err());
        panic.map(|panic| resume_unwind(panic))
    }
}

/// Tells the linters what was heard, and what they found if that was asked for.
fn hear_all(linters: &mut Option<Box<Findings>>, said: Vec<Said>) -> Option<Vec<Parsed>> {
    let mut found = None;
    for one in said {
        match (one, linters.as_mut()) {
            (Said::Begin(begun), _) => *linters = Some(begun),
            (Said::Line(text), Some(findings)) => findings.line(&text),
            (Said::EndRuns, Some(findings)) => findings.end_runs(),
            (Said::Leave, Some(findings)) => found = Some(findings.leave()),
            (Said::Take, Some(findings)) => found = Some(findings.take()),
            (_, None) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_output_a_thread_finds_the_same_in_the_same_order() {
        let (mut here, mut aside) = (Findings::new(), Aside::default());
        for package in ["a", "b"] {
            for at in 1..2000 {
                let text = match at % 400 {
                    0 => format!("{package}.c:{at}:2: warning: unused variable [-Wunused]"),
                    200 => format!("{package}.py:{at}:1: F401 [*] `os` imported but unused"),
                    _ => format!("words of the build of {package}, line {at}"),
                };
                here.line(&text);
                aside.line(&text);
                if at % 1000 == 999 {
                    here.end_runs();
                    aside.end_runs();
                }
            }
            let found = here.leave();
            assert_eq!(format!("{:?}", aside.leave()), format!("{found:?}"));
            assert!(found.len() > 1 && aside.thread.is_some(), "{found:?}");
        }
        let last = "c.c:1:2: error: no";
        here.line(last);
        aside.line(last);
        let found = here.take();
        assert_eq!((format!("{:?}", aside.take()), found.len()), (format!("{found:?}"), 1));
    }

    #[test]
    fn of_a_short_output_no_thread_is_started() {
        let mut aside = Aside::default();
        aside.line("c.c:1:2: error: no");
        assert!(aside.thread.is_none());
        assert_eq!(aside.take().len(), 1);
    }
}
