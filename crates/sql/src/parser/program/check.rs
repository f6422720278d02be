//! Checks which statements may stand in which programs.
//! Compat: MariaDB checks when a program is created, so these errors come from the parser.

use selkie_types::error::catalogue::{
    ER_COMMIT_NOT_ALLOWED_IN_SF_OR_TRG, ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED,
    ER_SP_BADSTATEMENT, ER_SP_CANT_SET_AUTOCOMMIT, ER_SP_NO_DROP_SP, ER_SP_NO_RECURSIVE_CREATE,
    ER_SP_NO_RETSET, ER_STMT_NOT_ALLOWED_IN_SF_OR_TRG, ER_VIEW_SELECT_VARIABLE,
};
use selkie_types::{SqlError, SqlResult};

use super::scope::{Kind, Scope};
use super::{PResult, Parser};
use crate::ast::{
    Expr, ExprKind, Ident, Mention, Query, RoutineKind, SetItem, Statement, StoredKind, Transaction,
};
use crate::lexer::Token;

impl Parser<'_> {
    /// Refuses a statement that no program may contain, and records statements that only some
    /// programs may contain.
    pub(super) fn check_in_program(&mut self, statement: &Statement, at: Token) -> PResult<()> {
        if let Some(word) = refused(statement) {
            return self.fail(&ER_SP_BADSTATEMENT, &[&word]);
        }
        if let Some((def, word)) = definition(statement) {
            return self.fail(def, &[&word]);
        }
        if let Statement::Transaction(Transaction::Begin { .. }) = statement
            && self.raw(at).eq_ignore_ascii_case(b"begin")
        {
            return Err(self.error_at(at));
        }
        note(self.scope(), statement);
        Ok(())
    }
}

impl Parser<'_> {
    /// Refuses variables of the program in an expression of a column's definition.
    pub(in super::super) fn refuse_variables(
        &self,
        expr: &Expr,
        clause: &str,
        column: &Ident,
    ) -> PResult<()> {
        if self.program.is_none() {
            return Ok(());
        }
        let found = expr.find(&mut |e| matches!(e.kind, ExprKind::Param(_)).then_some(e.span));
        let Some(span) = found else { return Ok(()) };
        let name = String::from_utf8_lossy(&self.text[span.start as usize..span.end as usize]);
        let arguments: [&dyn std::fmt::Display; 3] = [&name, &clause, column];
        self.fail(&ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED, &arguments)
    }

    /// Refuses variables in the query of a view.
    pub(in super::super) fn refuse_variables_of_view(&self, query: &Query) -> PResult<()> {
        let mut found = false;
        query
            .clone()
            .for_each_mention(&mut |mention| found |= matches!(mention, Mention::Variable));
        if found { self.fail(&ER_VIEW_SELECT_VARIABLE, &[]) } else { Ok(()) }
    }
}

/// Name of a statement that no program may contain.
fn refused(statement: &Statement) -> Option<&'static str> {
    Some(match statement {
        Statement::Use(_) => "USE",
        Statement::LockTables(_) => "LOCK",
        Statement::UnlockTables => "UNLOCK",
        Statement::Handler(_) => "HANDLER",
        Statement::Help(_) => "HELP",
        Statement::LoadData(load) if load.xml => "LOAD XML",
        Statement::LoadData(_) => "LOAD DATA",
        Statement::CreateView(view) if view.alter => "ALTER VIEW",
        _ => return None,
    })
}

/// Error for a definition of a program inside a program.
fn definition(statement: &Statement) -> Option<(&'static selkie_types::ErrorDef, &'static str)> {
    let word = |kind: RoutineKind| match kind {
        RoutineKind::Function => "FUNCTION",
        _ => "PROCEDURE",
    };
    Some(match statement {
        Statement::CreateRoutine(create) => (&ER_SP_NO_RECURSIVE_CREATE, word(create.kind)),
        Statement::CreatePackage(create) if create.kind == RoutineKind::PackageBody => {
            (&ER_SP_NO_RECURSIVE_CREATE, "PACKAGE BODY")
        }
        Statement::CreatePackage(_) => (&ER_SP_NO_RECURSIVE_CREATE, "PACKAGE"),
        Statement::CreateTrigger(_) => (&ER_SP_NO_RECURSIVE_CREATE, "TRIGGER"),
        Statement::AlterRoutine(alter) => (&ER_SP_NO_DROP_SP, word(alter.kind)),
        Statement::DropStored(drop) => match drop.kind {
            StoredKind::Procedure => (&ER_SP_NO_DROP_SP, "PROCEDURE"),
            StoredKind::Function => (&ER_SP_NO_DROP_SP, "FUNCTION"),
            StoredKind::Package => (&ER_SP_NO_DROP_SP, "PACKAGE"),
            StoredKind::PackageBody => (&ER_SP_NO_DROP_SP, "PACKAGE BODY"),
            _ => return None,
        },
        _ => return None,
    })
}

fn note(scope: &mut Scope, statement: &Statement) {
    scope.dynamic |= matches!(
        statement,
        Statement::Prepare(_)
            | Statement::Execute(_)
            | Statement::ExecuteImmediate(_)
            | Statement::Deallocate(_)
    );
    scope.results |= sends_rows(statement);
    scope.commits |= commits(statement);
    match statement {
        Statement::Set(items) | Statement::SetStatement { items, .. } => {
            let is_autocommit = |item: &SetItem| matches!(item, SetItem::SystemVar { name, .. } if name.is("autocommit"));
            scope.autocommit |= items.iter().any(is_autocommit);
        }
        Statement::Reset(_) => scope.administers = Some("RESET"),
        Statement::Flush(_) => scope.administers = scope.administers.or(Some("FLUSH")),
        _ => {}
    }
}

/// Whether a statement always sends rows to the client.
fn sends_rows(statement: &Statement) -> bool {
    match statement {
        Statement::Query(query) => query.into.is_none(),
        Statement::Show(_)
        | Statement::Describe(_)
        | Statement::Explain(_)
        | Statement::TableMaintenance(_)
        | Statement::CacheIndexes(_) => true,
        Statement::Insert(insert) => !insert.returning.is_empty(),
        Statement::Delete(delete) => !delete.returning.is_empty(),
        _ => false,
    }
}

/// Whether a statement ends the transaction, explicitly or implicitly.
fn commits(statement: &Statement) -> bool {
    match statement {
        Statement::Transaction(what) => matches!(
            what,
            Transaction::Begin { .. } | Transaction::Commit { .. } | Transaction::Rollback { .. }
        ),
        other => other.commits_implicitly(),
    }
}

impl Scope {
    /// Refuses statements that functions and triggers must not contain.
    pub(in crate::parser) fn check_sub_statement(&self) -> SqlResult<()> {
        let what = match self.kind {
            Kind::Function => "function",
            Kind::Trigger(..) => "trigger",
            _ => return Ok(()),
        };
        let refused = |word: &str| SqlError::new(&ER_STMT_NOT_ALLOWED_IN_SF_OR_TRG, &[&word]);
        if self.dynamic {
            return Err(refused("Dynamic SQL"));
        }
        if self.results {
            return Err(SqlError::new(&ER_SP_NO_RETSET, &[&what]));
        }
        if self.autocommit {
            return Err(SqlError::new(&ER_SP_CANT_SET_AUTOCOMMIT, &[]));
        }
        if self.commits {
            return Err(SqlError::new(&ER_COMMIT_NOT_ALLOWED_IN_SF_OR_TRG, &[]));
        }
        self.administers.map_or(Ok(()), |word| Err(refused(word)))
    }
}
