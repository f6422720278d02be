//! The `selkie` command: `serve` and its configuration.
fn main() {}
