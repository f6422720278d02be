//! NEXT VALUE FOR, PREVIOUS VALUE FOR, SETVAL. They become expressions that the executor evaluates;
//! here only the sequence and the privileges are checked.

use selkie_expr::{Expr, ExprKind, SequenceAsk, SequenceCall};
use selkie_sql::ast;
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::{
    ER_NO_SUCH_TABLE, ER_NOT_SEQUENCE, ER_NOT_SEQUENCE2, ER_UNKNOWN_SEQUENCES,
};
use selkie_types::{Privileges, SqlError, SqlResult, SqlType};

use super::Binder;
use super::access::Wanted;
use super::scope::{Clause, Scope};

impl Binder<'_> {
    /// A call of the sequence `name`.
    pub(super) fn sequence(&mut self, name: &ast::TableName, ask: SequenceAsk) -> SqlResult<Expr> {
        let wanted = match ask {
            SequenceAsk::Previous => Privileges::SELECT,
            SequenceAsk::Set { .. } => Privileges::INSERT,
            _ => Privileges::SELECT | Privileges::INSERT,
        };
        let common = || self.visible.iter().any(|(n, _)| identifier_eq(n, &name.name.value));
        if name.schema.is_none() && common() {
            return Err(SqlError::new(&ER_NOT_SEQUENCE2, &[&name.name]));
        }
        let found = self.using_tables(Wanted::all(wanted), |b| b.find_table(name));
        // Compat: the error for sequences is only raised for the first table of a statement.
        let first = self.tables.is_empty() && self.scopes.iter().all(begins_statement);
        let table = found.map_err(|error| match first && error.is(&ER_NO_SUCH_TABLE) {
            true => SqlError::new(&ER_UNKNOWN_SEQUENCES, &[&name.name]).before(error),
            false => error,
        })?;
        if !table.is_sequence() {
            return Err(SqlError::new(&ER_NOT_SEQUENCE, &[&table.schema(), &table.name()]));
        }
        if ask != SequenceAsk::Previous {
            self.takes_numbers.push(table.clone());
        }
        let call = SequenceCall { schema: table.schema().into(), name: table.name().into(), ask };
        let mut expr = Expr::new(ExprKind::Sequence(Box::new(call)), SqlType::bigint(), true);
        expr.ty = SqlType::bigint();
        Ok(expr)
    }
}

/// Whether no table can precede a sequence named in the block.
fn begins_statement(scope: &Scope) -> bool {
    scope.sources.is_empty() && scope.clause != Clause::Default
}
