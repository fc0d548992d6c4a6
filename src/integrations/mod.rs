//! Agent CLIs: where each one's hooks are configured, and what goes there.

pub mod install;
