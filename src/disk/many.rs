//! Many waits for the disk at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};

/// Does something for each item that mostly waits for the disk: many at a time if there are many. The error is that of the
/// first item that has one.
///
/// # Errors
/// What `work` says.
pub fn for_each<T: Sync>(items: &[T], work: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    /// So many are worth a thread.
    const MANY: usize = 4;
    /// A disk that is asked to sync many files at once does it in few writes.
    const THREADS: usize = 16;
    let threads = THREADS.min(items.len() / MANY);
    if threads < 2 {
        return items.iter().try_for_each(work);
    }
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None::<(usize, Error)>));
    let work_off = || loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(item) = items.get(at) else { break };
        if let Err(error) = work(item) {
            // Those before it were begun before it.
            next.store(items.len(), Ordering::Relaxed);
            let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
            if failed.as_ref().is_none_or(|(first, _)| at < *first) {
                *failed = Some((at, error));
            }
        }
    };
    std::thread::scope(|scope| {
        // Where no thread is to be had, this one does it alone.
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, work_off).is_ok();
        (1..threads).all(start);
        work_off();
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), |(_, error)| Err(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_done_and_the_first_error_is_told() {
        for count in [3, 300] {
            let done = AtomicUsize::new(0);
            let items: Vec<usize> = (0..count).collect();
            let work = |faulty: &[usize], item: &usize| {
                done.fetch_add(1, Ordering::Relaxed);
                if faulty.contains(item) { Err(Error::failed(item.to_string())) } else { Ok(()) }
            };
            for_each(&items, |item| work(&[], item)).unwrap();
            assert_eq!(done.load(Ordering::Relaxed), count);
            let error = for_each(&items, |item| work(&[count - 1, count / 2], item)).unwrap_err();
            assert_eq!(error.message, (count / 2).to_string());
        }
    }
}
