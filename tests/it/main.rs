//! Everything that is tested through the crate's public face or the built program. One test program links once.

mod architecture;
mod bad_input;
mod cli;
mod commands;
mod console;
mod corpus;
mod goldens;
mod hourbook;
mod keeping;
mod properties;
mod restore;
mod roundtrip;
mod schemas;
mod support;
mod vectors;
mod writers;
