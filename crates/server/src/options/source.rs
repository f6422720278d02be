//! Sources of options and their order: option files, then the command line.
//!
//! Must not interpret options, except those that choose option files.

use std::path::{Path, PathBuf};

use super::file;

/// Options in the order in which they apply: files first, the command line last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// `--name` or `--name=value`.
    pub options: Vec<String>,
}

/// Option files that are read if the command line names none.
fn default_files() -> Vec<PathBuf> {
    let mut files = vec![PathBuf::from("/etc/my.cnf"), PathBuf::from("/etc/mysql/my.cnf")];
    files.extend(std::env::var_os("HOME").map(|home| Path::new(&home).join(".my.cnf")));
    files
}

/// Collects the options of the files and of `arguments`, which do not include the program's name.
pub fn collect(arguments: &[String]) -> Result<Sources, String> {
    let mut options = Vec::new();
    let mut rest = arguments;
    let mut files = Some(default_files());
    let mut extra = None;
    // Compat: these options are recognized only before all others.
    while let Some((first, tail)) = rest.split_first() {
        if first == "--no-defaults" {
            files = None;
        } else if let Some(path) = first.strip_prefix("--defaults-file=") {
            file::read(Path::new(path), &mut options)?;
            files = None;
        } else if let Some(path) = first.strip_prefix("--defaults-extra-file=") {
            extra = Some(PathBuf::from(path));
        } else {
            break;
        }
        rest = tail;
    }
    for path in files.into_iter().flatten().filter(|p| p.exists()) {
        file::read(&path, &mut options)?;
    }
    if let Some(path) = extra {
        file::read(&path, &mut options)?;
    }
    options.extend(join_values(rest)?);
    Ok(Sources { options })
}

/// Converts `--name value` and the short forms to `--name=value`.
fn join_values(arguments: &[String]) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_bytes() {
            [b'-', b'-', ..] if argument.contains('=') => out.push(argument.clone()),
            [b'-', b'-', ..] if super::other::takes_value(argument) => {
                let value = arguments
                    .next()
                    .ok_or_else(|| format!("option '{argument}' requires an argument"))?;
                out.push(format!("{argument}={value}"));
            }
            [b'-', b'-', ..] => out.push(argument.clone()),
            [b'-', short, rest @ ..] => {
                let name = super::other::long_name(*short)
                    .ok_or_else(|| format!("unknown option '-{}'", char::from(*short)))?;
                let value = match rest {
                    [] => arguments.next().cloned().unwrap_or_default(),
                    _ => argument[2..].to_owned(),
                };
                out.push(format!("--{name}={value}"));
            }
            _ => return Err(format!("Too many arguments (first extra is '{argument}').")),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(arguments: &[&str]) -> Result<Vec<String>, String> {
        let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        collect(&arguments).map(|s| s.options)
    }

    #[test]
    fn forms() {
        let got = collected(&["--no-defaults", "--port", "1", "-P2", "-h", "/d", "--skip-x"]);
        assert_eq!(got.unwrap(), ["--port=1", "--port=2", "--datadir=/d", "--skip-x"]);
        assert!(collected(&["--no-defaults", "extra"]).is_err());
        assert!(collected(&["--no-defaults", "-Z"]).is_err());
        assert!(collected(&["--defaults-file=/nonexistent"]).is_err());
    }
}
