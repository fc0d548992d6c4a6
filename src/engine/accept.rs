//! Closing an open finding on purpose.

use chrono::{DateTime, Utc};

use super::{Session, newest};
use crate::disk::lock::Lock;
use crate::error::{Error, Result};
use crate::model::verdict::Accepted;
use crate::store::Store;

/// Notes that open findings are meant; the next record closes them.
///
/// # Errors
/// Bad input if a rule has no open finding, naming those that are; a failure if the disk says no.
pub fn accept(session: &Session<'_>, store: &Store, rules: &[String], reason: &str, at: DateTime<Utc>) -> Result<()> {
    // A record that is being made reads the notes under this lock.
    let _writer = Lock::exclusive(&store.paths().lock(), session.wait)?;
    let newest = newest(store)?.record;
    let open: Vec<&str> =
        newest.open_findings.iter().filter(|f| f.accepted.is_none()).map(|f| f.alert.rule.as_str()).collect();
    for rule in rules {
        if !open.contains(&rule.as_str()) {
            let are_open = if open.is_empty() {
                "no finding is open".to_owned()
            } else {
                format!("open are: {}", open.join(", "))
            };
            return Err(Error::bad_input(format!("no open finding of {rule}"))
                .because(are_open)
                .help("`highwater status` lists the open findings"));
        }
    }
    for rule in rules {
        store.accept(newest.iteration, &Accepted { rule: rule.clone(), reason: reason.to_owned(), at })?;
    }
    Ok(())
}
