//! highwater measures an autonomous coding loop from outside, and gives back its best iteration instead of its last.

pub mod config;
pub mod error;
pub mod model;
pub mod workspace;
