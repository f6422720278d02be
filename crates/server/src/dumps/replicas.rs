//! Replicas that have registered: SHOW SLAVE HOSTS.
//!
//! Must not be taken for the readers: a replica may be registered and read nothing.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use selkie_protocol::replica::RegisterSlave;
use selkie_types::{SqlType, TypeKind, Value};

use crate::admin::{Answer, answer_text};
use crate::server::Server;

/// A registered replica.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Replica {
    host: String,
    port: u16,
    master_id: u32,
    /// Its connection.
    connection: u64,
}

/// Registered replicas by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Replicas(Mutex<BTreeMap<u32, Replica>>);

impl Replicas {
    /// Registers a replica. It takes the place of another one with its number. `own` is the number
    /// of this server.
    pub(crate) fn register(&self, said: &RegisterSlave<'_>, connection: u64, own: u32) {
        let replica = Replica {
            host: String::from_utf8_lossy(said.host).into_owned(),
            port: said.port,
            master_id: if said.master_id == 0 { own } else { said.master_id },
            connection,
        };
        self.0.lock().insert(said.server_id, replica);
    }

    /// Removes the replica of a connection.
    pub(crate) fn leave(&self, connection: u64) {
        self.0.lock().retain(|_, replica| replica.connection != connection);
    }

    /// Number of registered replicas.
    pub(crate) fn count(&self) -> usize {
        self.0.lock().len()
    }
}

/// SHOW SLAVE HOSTS.
pub(crate) fn show_replicas(server: &Server) -> Answer {
    let number = |digits| {
        let mut ty = SqlType::new(TypeKind::Int, digits, 0);
        ty.unsigned = true;
        ty
    };
    let columns = [
        ("Server_id", number(10)),
        ("Host", answer_text(64)),
        ("Port", number(7)),
        ("Master_id", number(10)),
    ];
    let replicas = server.logs.replicas.0.lock();
    let rows = replicas.iter().map(|(server_id, replica)| {
        vec![
            Value::UInt(u64::from(*server_id)),
            Value::bytes(replica.host.clone()),
            Value::UInt(u64::from(replica.port)),
            Value::UInt(u64::from(replica.master_id)),
        ]
    });
    let rows = rows.collect();
    Answer::Rows { columns: columns.into_iter().map(|(n, ty)| (n.to_owned(), ty)).collect(), rows }
}
