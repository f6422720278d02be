//! Checks the project's own rules.
fn main() {}
