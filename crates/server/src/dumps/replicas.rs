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
    user: String,
    password: String,
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
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let replica = Replica {
            host: text(said.host),
            user: text(said.user),
            password: text(said.password),
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
    let shows_accounts = crate::replica::shows_accounts(server);
    let mut columns = vec![
        ("Server_id", number(10)),
        ("Host", answer_text(64)),
        ("Port", number(7)),
        ("Master_id", number(10)),
    ];
    if shows_accounts {
        columns.splice(2..2, [("User", answer_text(20)), ("Password", answer_text(20))]);
    }
    let replicas = server.logs.replicas.0.lock();
    let rows = replicas.iter().map(|(server_id, replica)| {
        let mut row = vec![
            Value::UInt(u64::from(*server_id)),
            Value::bytes(replica.host.clone()),
            Value::UInt(u64::from(replica.port)),
            Value::UInt(u64::from(replica.master_id)),
        ];
        if shows_accounts {
            let account = [&replica.user, &replica.password];
            row.splice(2..2, account.map(|text| Value::bytes(text.clone())));
        }
        row
    });
    let rows = rows.collect();
    Answer::Rows { columns: columns.into_iter().map(|(n, ty)| (n.to_owned(), ty)).collect(), rows }
}
