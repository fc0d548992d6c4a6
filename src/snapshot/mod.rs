//! Copies of the work tree: packs of content-addressed objects, and the walk that fills them.
//!
//! A snapshot is the id of a root directory. Equal directories have equal ids, so that two snapshots are compared only
//! where they differ, and an iteration that changed ten files stores what is new in ten files and the directories around
//! them.

mod below;
pub mod capture;
pub mod census;
mod disposable;
pub mod gather;
mod git_config;
mod git_index;
mod gitignore;
mod index;
pub mod lines;
pub mod listings;
mod merged;
mod names;
pub mod objects;
pub mod pack;
pub mod packed;
pub mod prune;
pub mod reach;
mod read;
pub mod repair;
pub mod restore;
mod rules;
pub mod tree;
mod walk;
