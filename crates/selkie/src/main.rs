//! The `selkie` command: its allocator and its arguments. The server, or the benchmarks, do the
//! rest.
//!
//! The allocator must count, because the limits of memory rely on it (`selkie_meter`).

#![forbid(unsafe_code)]

use std::process::ExitCode;

use mimalloc::MiMalloc;
use selkie_meter::Counting;

#[global_allocator]
static ALLOCATOR: Counting<MiMalloc> = Counting(MiMalloc);

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    match arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        Some(("inspect", rest)) => selkie_server::inspect(rest),
        Some(("bench", rest)) => bench(rest),
        _ => selkie_server::main(&arguments),
    }
}

#[cfg(feature = "bench")]
fn bench(arguments: &[String]) -> ExitCode {
    selkie_bench::main(arguments)
}

#[cfg(not(feature = "bench"))]
#[expect(clippy::print_stderr, reason = "a program of the command line")]
fn bench(_: &[String]) -> ExitCode {
    eprintln!("selkie: `selkie bench` is not part of this build; build it with `--features bench`");
    ExitCode::from(2)
}
