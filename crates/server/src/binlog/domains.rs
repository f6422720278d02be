//! FLUSH BINARY LOGS DELETE_DOMAIN_ID: domains of which no file has a group leave the state.
//!
//! Must not remove a domain that a reader of the files would still meet.

use selkie_replication::Gtid;
use selkie_replication::gtid::BinlogState;
use selkie_types::error::catalogue::*;
use selkie_types::{Condition, SqlError, SqlResult};

use crate::admin::Notes;
use crate::server::Server;

/// Removes domains, and begins a new file. Without a log it does nothing. Compat: if the state has
/// none of them, no file is begun, unless no domain was named.
pub(crate) fn delete_domains(server: &Server, domains: &[u64], notes: &mut Notes) -> SqlResult<()> {
    let Some(binlog) = server.binlog() else { return Ok(()) };
    binlog.change_state(|state| {
        let first = binlog.log().files().into_iter().next();
        let Some((file, _)) = first else { return Ok(None) };
        let before = binlog.groups_before(file)?;
        without(state, &before, domains, notes)
    })
}

/// The state without the domains, if that is another one; `before` are the groups before the first
/// file.
fn without(
    mut state: BinlogState,
    before: &[Gtid],
    domains: &[u64],
    notes: &mut Notes,
) -> SqlResult<Option<BinlogState>> {
    let mut is_changed = domains.is_empty();
    for (at, domain) in domains.iter().enumerate() {
        if domains.get(..at).unwrap_or_default().contains(domain) {
            continue;
        }
        let number = u32::try_from(*domain).ok();
        let of_domain = |gtid: &Gtid| Some(gtid.domain) == number;
        let has: Vec<Gtid> = state.gtids().filter(|gtid| of_domain(gtid)).collect();
        if has.is_empty() {
            let text = format!(
                "The gtid domain being deleted ('{domain}') is not in the current binlog state"
            );
            let error = SqlError::with_message(&ER_BINLOG_CANT_DELETE_GTID_DOMAIN, text);
            notes.push(Condition::from_error(selkie_types::Level::Warning, &error));
            continue;
        }
        if !has.iter().all(|gtid| before.contains(gtid)) {
            let reason = format!(
                "binlog files may contain gtids from the domain ('{domain}') being deleted. Make \
                 sure to first purge those files"
            );
            return Err(SqlError::new(&ER_BINLOG_CANT_DELETE_GTID_DOMAIN, &[&reason]));
        }
        is_changed |= number.is_some_and(|number| state.forget(number));
    }
    Ok(is_changed.then_some(state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_leave_only_with_their_files() {
        let state: BinlogState = "0-1-7,1-2-3,1-1-4".parse().unwrap();
        let before: Vec<Gtid> = ["1-2-3", "1-1-4", "0-1-6"].map(|g| g.parse().unwrap()).to_vec();
        let mut notes = Notes::new();
        let mut ask = |domains: &[u64]| without(state.clone(), &before, domains, &mut notes);
        let left = ask(&[1, 1]).unwrap().map(|state| state.to_string());
        assert_eq!(left.as_deref(), Some("0-1-7"));
        assert_eq!(ask(&[0]).unwrap_err().code(), 1076);
        assert_eq!(ask(&[5]).unwrap(), None);
        assert!(ask(&[]).unwrap().is_some());
        assert_eq!(notes.len(), 1);
    }
}
