//! The work tree as the loop's tools leave it: which report files are there, and whether they may be read.

pub mod reports;
