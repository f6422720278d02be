//! SHOW statements about state that only the server has: accounts, privileges, the binary log,
//! replication.
//!
//! Must not answer a SHOW that is a query over `information_schema`.

use selkie_sql::ast::{AccountName as Said, Show, ShowWhat};
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlMode, SqlResult, SqlType, TypeKind, Value};

use super::answer::{Answer, long_text, no_rows, text_rows};
use super::names;
use crate::accounts::{Identity, Privileges, Shown, show_create_user, show_grants};
use crate::binlog;
use crate::dumps::show_replicas;
use crate::replica;
use crate::session::Shared;
use crate::variables::ids;

/// Answers a SHOW statement if it belongs to the server; otherwise `None`.
pub(super) fn show(shared: &Shared, statement: &Show) -> SqlResult<Option<Answer>> {
    if let Some(needed) = replication_privileges(&statement.what) {
        shared.access.lock().check_global(needed)?;
    }
    Ok(Some(match &statement.what {
        ShowWhat::Grants(name) => grants(shared, name.as_ref())?,
        ShowWhat::CreateUser(name) => create_user(shared, name.as_ref())?,
        ShowWhat::Privileges => privileges(),
        ShowWhat::MasterStatus => binlog::show_status(&shared.server)?,
        ShowWhat::SlaveStatus(name) => replica::show_status(shared, name.as_ref())?,
        ShowWhat::AllSlavesStatus => replica::show_all(shared),
        ShowWhat::SlaveHosts => show_replicas(&shared.server),
        ShowWhat::BinaryLogs => binlog::show_logs(&shared.server)?,
        ShowWhat::PluginsSoname(_) => no_rows(&["Name", "Status", "Type", "Library", "License"]),
        ShowWhat::Profiles => profiles(shared),
        ShowWhat::Authors => no_rows(&["Name", "Location", "Comment"]),
        ShowWhat::Contributors => no_rows(&["Name", "Location", "Comment"]),
        _ => return Ok(None),
    }))
}

/// Privileges needed to see the state of replication.
fn replication_privileges(what: &ShowWhat) -> Option<Privileges> {
    Some(match what {
        ShowWhat::SlaveHosts => Privileges::REPLICATION_MASTER_ADMIN,
        ShowWhat::SlaveStatus(_) | ShowWhat::AllSlavesStatus => {
            Privileges::SUPER | Privileges::SLAVE_MONITOR
        }
        ShowWhat::MasterStatus | ShowWhat::BinaryLogs => {
            Privileges::SUPER | Privileges::BINLOG_MONITOR
        }
        _ => return None,
    })
}

/// Fails unless the session may see the events of the binary log, or of relay files.
pub(crate) fn check_log_events(shared: &Shared, what: &ShowWhat) -> SqlResult<()> {
    let needed = match what {
        ShowWhat::RelaylogEvents { .. } => Privileges::SLAVE_MONITOR,
        _ => Privileges::BINLOG_MONITOR,
    };
    shared.access.lock().check_global(needed)
}

/// Fails (1044) unless the account is the session's own or the session may read the account tables.
fn check_may_see(shared: &Shared, own: bool) -> SqlResult<()> {
    match own {
        true => Ok(()),
        false => shared.access.lock().check_database("mysql", Privileges::SELECT),
    }
}

fn grants(shared: &Shared, name: Option<&Said>) -> SqlResult<Answer> {
    let identity = shared.access.lock().identity().clone();
    let user = Some(identity.account.clone());
    let (shown, title) = match name {
        // Compat: without FOR the list also has the grants of the active role and of PUBLIC.
        None => (Shown { user, role: identity.role, public: true }, identity.account.to_string()),
        Some(Said::CurrentUser) => {
            (Shown { user, ..Shown::default() }, identity.account.to_string())
        }
        Some(Said::CurrentRole) => {
            let own = &identity.account;
            let role = identity.role.ok_or_else(|| {
                SqlError::new(&ER_NONEXISTING_GRANT, &[&own.user, &own.host_text()])
            })?;
            (Shown { role: Some(role.clone()), ..Shown::default() }, role)
        }
        Some(said) => shown_of(shared, said, &identity)?,
    };
    let mut lines = show_grants(&shared.server.accounts.current(), &shown)?;
    let mode = SqlMode::from_bits(shared.var(ids().sql_mode).as_u64()).unwrap_or_default();
    if mode.contains(SqlMode::ANSI_QUOTES) {
        lines.iter_mut().for_each(|line| *line = in_double_quotes(line));
    }
    let title = format!("Grants for {title}");
    Ok(text_rows(&[(&title, 1024)], lines.into_iter().map(|l| vec![l]).collect()))
}

/// A line with its names in the quotes of ANSI_QUOTES.
fn in_double_quotes(line: &str) -> String {
    let mut open = None;
    let requoted = line.chars().map(|c| {
        match open {
            None if matches!(c, '`' | '\'') => open = Some(c),
            Some(quote) if quote == c => open = None,
            _ => return c,
        }
        if c == '`' { '"' } else { c }
    });
    requoted.collect()
}

fn shown_of(shared: &Shared, said: &Said, own: &Identity) -> SqlResult<(Shown, String)> {
    let name = names::user_or_role(shared, said)?;
    let title = name.to_string();
    if name.is_public() {
        return Ok((Shown { public: true, ..Shown::default() }, title));
    }
    if name.host.is_none() {
        check_may_see(shared, own.role.as_deref() == Some(&name.user))?;
        return Ok((Shown { role: Some(name.user), ..Shown::default() }, title));
    }
    check_may_see(shared, own.account == name)?;
    Ok((Shown { user: Some(name), ..Shown::default() }, title))
}

fn create_user(shared: &Shared, name: Option<&Said>) -> SqlResult<Answer> {
    let account = names::user(shared, name.unwrap_or(&Said::CurrentUser))?;
    let is_own = shared.access.lock().identity().account == account;
    check_may_see(shared, is_own)?;
    let lines = show_create_user(&shared.server.accounts.current(), &account)?;
    let rows = lines.into_iter().map(|line| vec![line]).collect();
    Ok(text_rows(&[(&format!("CREATE USER for {account}"), 1024)], rows))
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

/// The rows of SHOW ENGINE: one row with the report, or none.
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

#[cfg(test)]
mod tests {
    #[test]
    fn only_quotes_of_names_change() {
        let line = "GRANT USAGE ON *.* TO `u`@`h` IDENTIFIED BY PASSWORD 'a`b'";
        let wanted = "GRANT USAGE ON *.* TO \"u\"@\"h\" IDENTIFIED BY PASSWORD 'a`b'";
        assert_eq!(super::in_double_quotes(line), wanted);
    }
}
