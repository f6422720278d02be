//! The measured servers: those that are running already, and those that are started and stopped
//! here.
//!
//! Must never connect to a server that was not named, nor leave a process behind.

mod launch;
mod process;
mod program;
mod spec;

use std::time::Duration;

use crate::error::Result;
use crate::wire::{Address, Connection};

pub(crate) use launch::Settings;
use launch::Started;
pub(crate) use process::pin_this_thread;
pub(crate) use spec::Spec;

/// A server that accepts connections.
#[derive(Debug)]
pub(crate) struct Server {
    /// Name in reports.
    pub(crate) name: String,
    /// Address it listens on.
    pub(crate) address: Address,
    /// Version it reports.
    pub(crate) version: String,
    user: String,
    password: String,
    pid: Option<u32>,
    started: Option<Started>,
}

impl Server {
    /// Finds the server of `spec`, or starts it.
    pub(crate) fn open(spec: &Spec, settings: &Settings) -> Result<Self> {
        let started = match &spec.program {
            Some(program) => Some(Started::start(*program, spec.binary.as_deref(), settings)?),
            None => None,
        };
        let address = match (&spec.address, &started) {
            (Some(address), _) => address.clone(),
            (None, Some(started)) => started.address(settings.socket),
            (None, None) => unreachable!("a specification names a program or an address"),
        };
        let pid = match &started {
            Some(started) => Some(started.pid()),
            None => process::listening_at(&address),
        };
        let mut server = Self {
            name: spec.name.clone(),
            address,
            version: String::new(),
            user: spec.user.clone(),
            password: spec.password.clone(),
            pid,
            started,
        };
        if let (Some(pid), Some(cores)) = (pid, &settings.server_cores) {
            process::pin(pid, cores)?;
        }
        server.version = server.connect("")?.version().to_owned();
        Ok(server)
    }

    /// Opens a connection to a database; without one if the name is empty.
    pub(crate) fn connect(&self, database: &str) -> Result<Connection> {
        Connection::open(&self.address, &self.user, &self.password, database)
    }

    /// CPU time its process has used, if the process is on this machine.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        process::cpu(self.pid?)
    }

    /// Its resident memory.
    pub(crate) fn resident_mib(&self) -> Option<f64> {
        process::resident_mib(self.pid?)
    }

    /// Command that started it, or its address, for the report.
    pub(crate) fn how(&self) -> String {
        match &self.started {
            Some(started) => started.command(),
            None => format!("runs at {}", self.address),
        }
    }

    /// Kills the process and starts it again on the same data. Returns the time until it answers;
    /// `None` if it was not started here.
    pub(crate) fn crash_and_recover(&mut self) -> Result<Option<Duration>> {
        let Some(started) = &mut self.started else { return Ok(None) };
        let took = started.crash_and_recover()?;
        self.pid = Some(started.pid());
        Ok(Some(took))
    }

    /// Stops the server and starts it again, so that its caches are empty. Returns false if it was
    /// not started here.
    pub(crate) fn restart(&mut self) -> Result<bool> {
        let Some(started) = &mut self.started else { return Ok(false) };
        started.restart()?;
        self.pid = Some(started.pid());
        Ok(true)
    }
}
