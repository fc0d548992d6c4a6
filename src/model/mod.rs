//! Plain data, serialized exactly as it is stored.
//!
//! Nothing in here reads a disk, a clock or the environment. A value that exists is valid: bounds are kept by
//! constructors, and unknown is `None`, never zero.

pub mod activity;
pub mod calls;
pub mod cases;
pub mod config;
pub mod custom;
pub mod edits;
pub mod figures;
pub mod fixtures;
pub mod ids;
pub mod ledger;
pub mod levels;
pub mod lost_lines;
pub mod metrics;
pub mod progress;
pub mod proof;
pub mod record;
pub mod reruns;
pub mod steps;
#[cfg(test)]
pub(crate) mod tests_support;
pub mod trajectory;
pub mod transitions;
pub mod tree;
pub mod units;
pub mod verdict;
pub mod watching;

/// The version that every file we write carries. Additive optional keys keep it; anything else raises it.
pub const SCHEMA_VERSION: u32 = 1;

/// For counts that are left out where they are 0.
fn is_zero(count: &u64) -> bool {
    *count == 0
}
