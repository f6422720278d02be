//! `cargo run -p selkie-tidy`: checks the project's own rules and prints what breaks them.
//!
//! The rules: layers between crates and inside some, engines known by name, a purpose at the top of
//! every file, lengths of files and functions, `bool` parameters, wide structs, paths in documents,
//! width of comments. `--update` writes the ratchet again after something has shrunk. Must not
//! depend on the product.

#![forbid(unsafe_code)]
#![allow(clippy::print_stderr, reason = "a program of the command line")]

mod documents;
mod engines;
mod layers;
mod lengths;
mod modules;
mod ratchet;
mod signatures;
mod sources;
mod ways;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let update = std::env::args().any(|argument| argument == "--update");
    let files = sources::read(&root);
    let mut findings = layers::check(&root);
    findings.extend(sources::check(&files));
    findings.extend(modules::check(&files));
    findings.extend(engines::check(&files));
    let excesses = [lengths::measure(&files), signatures::measure(&files)].concat();
    findings.extend(ratchet::check(&root, &excesses, update));
    findings.extend(documents::check(&root));
    findings.extend(ways::check(&root, &files));
    findings.iter().for_each(|finding| eprintln!("tidy: {finding}"));
    eprintln!("tidy: {} files, {} findings", files.len(), findings.len());
    if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
