//! Names of servers on the command line.
//!
//! `selkie`, `mariadb`, `mysql`: the installed program is started. `mariadb=/path/to/mariadbd`:
//! that program is started. `NAME=HOST:PORT` or `NAME=/path/to/socket`: a running server.

use std::net::ToSocketAddrs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::program::Program;
use crate::error::{Failure, Result};
use crate::wire::Address;

/// A server to measure.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    /// Name in reports.
    pub(crate) name: String,
    pub(super) program: Option<Program>,
    pub(super) binary: Option<PathBuf>,
    pub(super) address: Option<Address>,
    pub(super) user: String,
    pub(super) password: String,
}

impl Spec {
    /// Parses a list separated by commas.
    pub(crate) fn parse_list(text: &str, user: &str, password: &str) -> Result<Vec<Self>> {
        text.split(',').map(|one| Self::parse(one.trim(), user, password)).collect()
    }

    fn parse(text: &str, user: &str, password: &str) -> Result<Self> {
        let (name, place) = match text.split_once('=') {
            Some((name, place)) => (name, Some(place)),
            None if text.contains([':', '/']) => (text, Some(text)),
            None => (text, None),
        };
        let mut spec = Self {
            name: name.to_owned(),
            program: None,
            binary: None,
            address: None,
            user: user.to_owned(),
            password: password.to_owned(),
        };
        match place {
            None => spec.program = Some(program(name)?),
            Some(path) if path.starts_with('/') && is_socket(path) => {
                spec.address = Some(Address::Unix(path.into()));
            }
            Some(path) if path.starts_with('/') => {
                spec.program = Some(program(name)?);
                spec.binary = Some(path.into());
            }
            Some(host) => spec.address = Some(Address::Tcp(resolve(host)?)),
        }
        Ok(spec)
    }
}

fn program(name: &str) -> Result<Program> {
    Program::find(name).ok_or_else(|| {
        Failure::said(format!(
            "'{name}' is neither selkie, mariadb or mysql nor NAME=HOST:PORT nor NAME=/path/to/socket"
        ))
    })
}

fn is_socket(path: &str) -> bool {
    Path::new(path).metadata().is_ok_and(|meta| meta.file_type().is_socket())
}

fn resolve(host: &str) -> Result<std::net::SocketAddr> {
    let found = host.to_socket_addrs().ok().and_then(|mut all| all.next());
    found.ok_or_else(|| {
        Failure::said(format!("'{host}' is not HOST:PORT, or the host is not known"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_named_or_found() {
        let list =
            Spec::parse_list("selkie,other=127.0.0.1:3306, mysql=/usr/sbin/mysqld", "root", "");
        let list = list.unwrap();
        assert_eq!(
            list.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(),
            ["selkie", "other", "mysql"]
        );
        assert!(list[0].program.is_some() && list[1].address.is_some() && list[2].binary.is_some());
        assert!(Spec::parse_list("oracle", "root", "").is_err());
        assert!(Spec::parse_list("x=nowhere", "root", "").is_err());
    }
}
