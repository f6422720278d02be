//! SHOW of what only the server knows: accounts, privileges, replication that is not there.
//!
//! Must not answer what is a query over `information_schema`.

use selkie_sql::ast::{AccountName as Said, Show, ShowWhat};
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult, SqlType, TypeKind, Value};

use super::answer::{Answer, long_text, no_rows, text_rows};
use super::names;
use crate::accounts::{AccountName, Privileges, show_create_user, show_grants};
use crate::session::Shared;

/// Answers SHOW if it is the server's.
pub(super) fn show(shared: &Shared, statement: &Show) -> SqlResult<Option<Answer>> {
    Ok(Some(match &statement.what {
        ShowWhat::Grants(name) => grants(shared, name.as_ref())?,
        ShowWhat::CreateUser(name) => create_user(shared, name.as_ref())?,
        ShowWhat::Privileges => privileges(),
        ShowWhat::MasterStatus => {
            no_rows(&["File", "Position", "Binlog_Do_DB", "Binlog_Ignore_DB"])
        }
        ShowWhat::SlaveStatus(_) | ShowWhat::AllSlavesStatus => no_rows(SLAVE_STATUS),
        ShowWhat::SlaveHosts => no_rows(&["Server_id", "Host", "Port", "Master_id"]),
        ShowWhat::BinaryLogs | ShowWhat::BinlogEvents { .. } => {
            return Err(SqlError::new(&ER_NO_BINARY_LOGGING, &[]));
        }
        ShowWhat::PluginsSoname(_) => no_rows(&["Name", "Status", "Type", "Library", "License"]),
        ShowWhat::Profiles => profiles(shared),
        ShowWhat::Authors => no_rows(&["Name", "Location", "Comment"]),
        ShowWhat::Contributors => no_rows(&["Name", "Location", "Comment"]),
        _ => return Ok(None),
    }))
}

/// Names of the columns of SHOW SLAVE STATUS that tools look at first.
const SLAVE_STATUS: &[&str] = &[
    "Slave_IO_State",
    "Master_Host",
    "Master_User",
    "Master_Port",
    "Connect_Retry",
    "Master_Log_File",
    "Read_Master_Log_Pos",
    "Relay_Log_File",
    "Relay_Log_Pos",
    "Relay_Master_Log_File",
    "Slave_IO_Running",
    "Slave_SQL_Running",
    "Last_Errno",
    "Last_Error",
    "Exec_Master_Log_Pos",
    "Seconds_Behind_Master",
];

fn said_name(shared: &Shared, name: Option<&Said>) -> SqlResult<AccountName> {
    names::user_or_role(shared, name.unwrap_or(&Said::CurrentUser))
}

/// Those of others are shown to who may read the accounts.
fn check_may_see(shared: &Shared, name: &AccountName) -> SqlResult<()> {
    let access = shared.access.lock();
    let own = access.identity();
    let held = shared.server.accounts.current().roles_of(&own.account);
    let is_own = own.account == *name || name.host.is_none() && held.contains(&name.user);
    if is_own { Ok(()) } else { access.check_database("mysql", Privileges::SELECT) }
}

fn grants(shared: &Shared, name: Option<&Said>) -> SqlResult<Answer> {
    let account = said_name(shared, name)?;
    check_may_see(shared, &account)?;
    let acl = shared.server.accounts.current();
    let mut lines = show_grants(&acl, &account)?;
    // Compat: one's own grants include those of the active role.
    let role = shared.access.lock().identity().role.clone();
    if let (None, Some(role)) = (name, role) {
        lines.extend(show_grants(&acl, &AccountName::role(&role))?);
    }
    let title = format!("Grants for {account}");
    Ok(text_rows(&[(&title, 1024)], lines.into_iter().map(|l| vec![l]).collect()))
}

fn create_user(shared: &Shared, name: Option<&Said>) -> SqlResult<Answer> {
    let account = said_name(shared, name)?;
    check_may_see(shared, &account)?;
    let line = show_create_user(&shared.server.accounts.current(), &account)?;
    Ok(text_rows(&[(&format!("CREATE USER for {account}"), 1024)], vec![vec![line]]))
}

fn profiles(shared: &Shared) -> Answer {
    let mut number = SqlType::new(TypeKind::Int, 10, 0);
    number.unsigned = true;
    let columns = vec![
        ("Query_ID".to_owned(), number),
        ("Duration".to_owned(), SqlType::new(TypeKind::Double, 10, 8)),
        ("Query".to_owned(), super::answer::text(300)),
    ];
    let row = |(id, seconds, text): (u64, f64, String)| {
        vec![Value::UInt(id), Value::Double(seconds), Value::bytes(text)]
    };
    Answer::Rows { columns, rows: crate::profiles::list(shared).into_iter().map(row).collect() }
}

/// The rows of SHOW ENGINE: one with the report, if there is one.
pub(crate) fn engine_rows(report: Option<String>) -> Answer {
    let rows = report.map(|report| vec!["InnoDB".to_owned(), String::new(), report]);
    let mut answer =
        text_rows(&[("Type", 10), ("Name", 512), ("Status", 0)], rows.into_iter().collect());
    if let Answer::Rows { columns, .. } = &mut answer {
        columns[2].1 = long_text();
    }
    answer
}

fn privileges() -> Answer {
    let rows = Privileges::ALL.each().map(|(bit, name)| {
        let context = if Privileges::COLUMN.has(bit) {
            "Tables"
        } else if Privileges::TABLE.has(bit) {
            "Databases,Tables"
        } else if Privileges::DATABASE.has(bit) {
            "Databases"
        } else {
            "Server Admin"
        };
        vec![capitalised(name), context.to_owned(), String::new()]
    });
    text_rows(&[("Privilege", 25), ("Context", 37), ("Comment", 70)], rows.collect())
}

fn capitalised(words: &str) -> String {
    let lower = words.to_ascii_lowercase();
    let mut chars = lower.chars();
    chars.next().map_or(String::new(), |c| c.to_ascii_uppercase().to_string() + chars.as_str())
}
