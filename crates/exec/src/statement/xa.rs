//! XA statements. States and names of branches are in [`crate::state::branches`]; their transitions
//! are here. A name must be released on every path that ends a branch (XA-1).

use selkie_engine::Xid;
use selkie_expr::VariableScope;
use selkie_plan::physical::OutputColumn;
use selkie_sql::ast::{self, Statement};
use selkie_types::error::catalogue::{
    ER_XA_RBROLLBACK, ER_XAER_DUPID, ER_XAER_INVAL, ER_XAER_NOTA, ER_XAER_OUTSIDE, ER_XAER_RMERR,
};
use selkie_types::{CollationId, SqlError, SqlResult, SqlType, TypeKind, Value};

use crate::query::execution::Execution;
use crate::recover_branches;
use crate::run::rows_out::{send, text};
use crate::state::branches::{Branch, BranchState, Branches, refusal_in, rolled_back};
use crate::{Instance, Outcome, ResultSink, Session};

/// Runs an XA statement.
pub(super) fn run(execution: &mut Execution<'_>, what: &ast::Xa) -> SqlResult<Outcome> {
    let (branches, session) = (&execution.instance.branches, &mut *execution.session);
    match what {
        ast::Xa::Start { xid, join, resume } => {
            start(branches, session, &name(xid), *join, *resume)?;
        }
        ast::Xa::End { xid, suspend, .. } => end(session, &name(xid), *suspend)?,
        ast::Xa::Prepare(xid) => {
            prepare(branches, session, &name(xid))?;
            if replays(session) {
                // The branch is anybody's to end, as if the session had gone.
                session.end_transaction(execution.instance)?;
            }
        }
        ast::Xa::Commit { xid, one_phase } => {
            let committed = commit(branches, session, &name(xid), *one_phase);
            if committed.is_err() {
                // A prepared branch stays prepared if its commit is refused.
                recover_branches(execution.instance)?;
            }
            committed?;
        }
        ast::Xa::Rollback(xid) => rollback(branches, session, &name(xid))?,
        ast::Xa::Recover { sql_format } => return recover(branches, *sql_format, execution.sink),
    }
    Ok(Outcome::ok())
}

/// Whether the session replays a binary log: `pseudo_slave_mode`.
fn replays(session: &Session) -> bool {
    let variable = (VariableScope::Session, "pseudo_slave_mode");
    let value = session.frame.hooks.variable(session, variable.0, variable.1);
    matches!(value, Ok(Value::Int(1) | Value::UInt(1)))
}

fn name(xid: &ast::Xid) -> Xid {
    // The parser accepts no larger format.
    let format = u32::try_from(xid.format).unwrap_or(u32::MAX);
    Xid { gtrid: xid.gtrid.clone(), bqual: xid.bqual.clone(), format }
}

fn invalid() -> SqlError {
    SqlError::new(&ER_XAER_INVAL, &[])
}

fn unknown() -> SqlError {
    SqlError::new(&ER_XAER_NOTA, &[])
}

fn outside() -> SqlError {
    SqlError::new(&ER_XAER_OUTSIDE, &[])
}

/// The session's branch; error 1399 if there is none.
fn own(session: &Session) -> SqlResult<Branch> {
    session.transaction.branch().cloned().ok_or_else(|| refusal_in("NON-EXISTING"))
}

fn start(
    branches: &Branches,
    session: &mut Session,
    xid: &Xid,
    join: bool,
    resume: bool,
) -> SqlResult<()> {
    if let (Some(branch), true) = (session.transaction.branch(), resume)
        && branch.state == BranchState::Idle
    {
        if branch.xid != *xid {
            return Err(unknown());
        }
        session.transaction.set_branch_state(BranchState::Active);
        return Ok(());
    }
    if join || resume || xid.gtrid.is_empty() {
        return Err(invalid());
    }
    session.transaction.check_no_branch()?;
    if session.in_transaction() || session.locked_tables.is_some() {
        return Err(outside());
    }
    if !branches.start(xid) {
        return Err(SqlError::new(&ER_XAER_DUPID, &[]));
    }
    let branch = Branch { xid: xid.clone(), state: BranchState::Active };
    session.transaction.begin_branch(&session.frame.settings, branch);
    Ok(())
}

fn end(session: &mut Session, xid: &Xid, suspend: bool) -> SqlResult<()> {
    if suspend {
        return Err(invalid());
    }
    let branch = own(session)?;
    if branch.state != BranchState::Active {
        return Err(branch.state.refusal());
    }
    if branch.xid != *xid {
        return Err(unknown());
    }
    session.transaction.set_branch_state(BranchState::Idle);
    Ok(())
}

fn prepare(branches: &Branches, session: &mut Session, xid: &Xid) -> SqlResult<()> {
    let branch = own(session)?;
    if branch.state != BranchState::Idle {
        return Err(branch.state.refusal());
    }
    if branch.xid != *xid {
        return Err(unknown());
    }
    let head = session.headline();
    let registered = session.register_transaction();
    let prepared = registered.and_then(|()| session.transaction.prepare(xid, head.as_ref()));
    if let Err(error) = prepared {
        tracing::error!("XA PREPARE failed: {error}");
        session.rollback()?;
        branches.end(xid);
        return Err(SqlError::new(&ER_XA_RBROLLBACK, &[]));
    }
    session.forget_seq_no(head.as_ref());
    session.transaction.set_branch_state(BranchState::Prepared);
    branches.prepared(xid);
    Ok(())
}

/// Prepares the session's open transaction as a branch, which then belongs to no session: a replica
/// learns the name only where the primary has prepared it.
pub fn prepare_transaction_as(
    instance: &Instance,
    session: &mut Session,
    xid: &Xid,
) -> SqlResult<()> {
    session.transaction.check_no_branch()?;
    if !instance.branches.start(xid) {
        return Err(SqlError::new(&ER_XAER_DUPID, &[]));
    }
    session.transaction.become_branch(Branch { xid: xid.clone(), state: BranchState::Idle });
    prepare(&instance.branches, session, xid)?;
    session.end_transaction(instance)
}

fn commit(branches: &Branches, session: &mut Session, xid: &Xid, one_phase: bool) -> SqlResult<()> {
    let Some(branch) = session.transaction.branch().filter(|branch| branch.xid == *xid).cloned()
    else {
        return commit_other(branches, session, xid, one_phase);
    };
    match (branch.state, one_phase) {
        (BranchState::Idle, true) | (BranchState::Prepared, false) => {}
        (BranchState::RollbackOnly(reason), _) => {
            session.rollback()?;
            branches.end(xid);
            return Err(rolled_back(reason));
        }
        (BranchState::Prepared, true) => return Err(invalid()),
        (state, _) => return Err(state.refusal()),
    }
    let result = session.commit_branch();
    branches.end(xid);
    result.map_err(|_| SqlError::new(&ER_XAER_RMERR, &[]))
}

/// Commits a branch without an owner; a branch that is not the session's own can only be such a
/// one.
fn commit_other(
    branches: &Branches,
    session: &Session,
    xid: &Xid,
    one_phase: bool,
) -> SqlResult<()> {
    if session.in_transaction() {
        return Err(outside());
    }
    if one_phase {
        return Err(invalid());
    }
    let mut transaction = branches.take(xid).ok_or_else(unknown)?;
    let head = session.headline();
    transaction.use_log_of(&session.transaction);
    let result = transaction.commit(head.as_ref());
    branches.end(xid);
    transaction.release_locks();
    result.map_err(|_| SqlError::new(&ER_XAER_RMERR, &[]))
}

fn rollback(branches: &Branches, session: &mut Session, xid: &Xid) -> SqlResult<()> {
    let own = session.transaction.branch().filter(|branch| branch.xid == *xid).cloned();
    let Some(branch) = own else {
        return rollback_other(branches, session, xid);
    };
    if branch.state == BranchState::Active {
        return Err(branch.state.refusal());
    }
    let result = session.rollback();
    branches.end(xid);
    result.map_err(|_| SqlError::new(&ER_XAER_RMERR, &[]))
}

fn rollback_other(branches: &Branches, session: &Session, xid: &Xid) -> SqlResult<()> {
    if session.in_transaction() {
        return Err(outside());
    }
    let mut transaction = branches.take(xid).ok_or_else(unknown)?;
    let head = session.headline();
    transaction.use_log_of(&session.transaction);
    let result = transaction.rollback(head.as_ref());
    branches.end(xid);
    transaction.release_locks();
    match result {
        Ok(true) => session.warn_incomplete_rollback(),
        Ok(false) => {}
        Err(_) => return Err(SqlError::new(&ER_XAER_RMERR, &[])),
    }
    Ok(())
}

fn recover(branches: &Branches, sql_format: bool, sink: &mut dyn ResultSink) -> SqlResult<Outcome> {
    let data =
        |xid: &Xid| if sql_format { as_sql(xid) } else { [&*xid.gtrid, &xid.bqual].concat() };
    let row = |xid: &Xid| {
        let number = |n: usize| Value::Int(n as i64);
        let (gtrid, bqual) = (number(xid.gtrid.len()), number(xid.bqual.len()));
        vec![Value::Int(xid.format.into()), gtrid, bqual, Value::bytes(data(xid))]
    };
    let rows: Vec<_> = branches.list().iter().map(row).collect();
    let not_null = |name, ty| OutputColumn { nullable: false, ..OutputColumn::computed(name, ty) };
    let number = SqlType::new(TypeKind::BigInt, 10, 0);
    let data_type = if sql_format { text(276) } else { SqlType::varchar(128, CollationId::BINARY) };
    let columns = [
        not_null("formatID", number.clone()),
        not_null("gtrid_length", number.clone()),
        not_null("bqual_length", number),
        not_null("data", data_type),
    ];
    send(sink, &columns, &rows)
}

/// A name in the syntax of XA statements.
fn as_sql(xid: &Xid) -> Vec<u8> {
    let plain = |b: &u8| (b' '..=b'~').contains(b) && !matches!(b, b'\'' | b'\\');
    let is_plain = xid.gtrid.iter().chain(&xid.bqual).all(plain);
    let put = |part: &[u8], out: &mut Vec<u8>| match is_plain {
        true => out.extend([b"'", part, b"'"].concat()),
        false => {
            out.extend_from_slice(b"X'");
            part.iter().for_each(|byte| out.extend(format!("{byte:02x}").into_bytes()));
            out.push(b'\'');
        }
    };
    let mut out = Vec::new();
    put(&xid.gtrid, &mut out);
    if !xid.bqual.is_empty() || xid.format != 1 {
        out.push(b',');
        put(&xid.bqual, &mut out);
    }
    if xid.format != 1 {
        out.extend(format!(",{}", xid.format).into_bytes());
    }
    out
}

/// Whether a statement is not allowed in a branch, because it ends the transaction or concerns the
/// whole server.
pub(super) fn is_refused(statement: &Statement) -> bool {
    matches!(statement, Statement::Flush(_) | Statement::Reset(_)) || statement.commits_implicitly()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_sql() {
        let shown = |gtrid: &[u8], bqual: &[u8], format| {
            let xid = Xid { gtrid: gtrid.into(), bqual: bqual.into(), format };
            String::from_utf8(as_sql(&xid)).unwrap()
        };
        assert_eq!(shown(b"a", b"", 1), "'a'");
        assert_eq!(shown(b"a", b"b", 1), "'a','b'");
        assert_eq!(shown(b"a", b"", 7), "'a','',7");
        assert_eq!(shown(b"a\xff", b"b", 5), "X'61ff',X'62',5");
    }
}
