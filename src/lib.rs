//! highwater measures an autonomous coding loop from outside, and gives back its best iteration instead of its last.
//!
//! After each iteration it reads the reports that the project's own tools wrote, judges the iteration against those before
//! it, keeps a snapshot, and says what to do next: continue, stop, roll back, ask a person. At the end it selects the peak.
//! The command line is one use of this library; the journey through it is short:
//!
//! ```
//! use highwater::{config, disk::layout::Layout, engine, store::Store};
//! # use std::time::Duration;
//! # fn main() -> Result<(), highwater::error::Error> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let junit = |failures: &str| format!("<testsuite><testcase name=\"a\"/><testcase name=\"b\">{failures}</testcase></testsuite>");
//! # let tests = |failures| std::fs::write(folder.path().join("junit.xml"), junit(failures)).unwrap();
//! let layout = Layout::new(folder.path());
//! let store = Store::new(&layout, "auth".parse()?);
//! let now = chrono::Utc::now();
//! let session = engine::Session { layout: &layout, now, wait: Duration::from_secs(10), on_progress: &|_, _| {} };
//! let offer = || engine::Offer { discover: true, started_at: now, ..engine::Offer::default() };
//!
//! # tests("<failure/>");
//! let opening = engine::Opening { id: store.id().clone(), config: config::defaults()?, goal: None };
//! engine::begin(&session, &opening, offer())?;
//!
//! # tests("");
//! // The agent worked, the tests ran: one of two failed, now both pass.
//! let recorded = engine::record(&session, &store, offer())?;
//! assert_eq!(recorded.record.classification.map(|class| class.name()), Some("forward"));
//! assert_eq!(recorded.best.iteration.map(|best| best.0), Some(1));
//!
//! let finishing = engine::Finishing { target: engine::Target::default(), verification: None };
//! let finished = engine::finish(&session, &store, &finishing)?;
//! assert_eq!(finished.selection.selected.map(|peak| peak.0), Some(1));
//! # Ok(())
//! # }
//! ```
//!
//! Rooms, from the ground up; each uses only those below it, and `tests/it/architecture.rs` holds them to it: [`model`] and
//! [`error`]; the pure [`config`], [`ingest`], [`analysis`] and [`report`]; [`disk`]; [`workspace`], [`store`] and
//! [`snapshot`]; [`engine`]; [`integrations`]; [`cli`].

// The library is checked without its tests as well.
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests set up files of their own"))]

pub mod analysis;
pub mod cli;
pub mod config;
pub mod disk;
pub mod engine;
pub mod error;
pub mod ingest;
pub mod integrations;
pub mod model;
pub mod report;
pub mod snapshot;
pub mod store;
pub mod workspace;
