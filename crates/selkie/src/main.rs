//! The `selkie` command: its allocator and its arguments; everything else is the server's.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    if let Some(("inspect", rest)) = arguments.split_first().map(|(a, rest)| (a.as_str(), rest)) {
        return selkie_server::inspect(rest);
    }
    selkie_server::lifecycle::main(&arguments, &selkie_server::open_backend)
}
