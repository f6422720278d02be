//! Table references.
//! Compat: joins have parentheses around them, except in EXPLAIN's text (`bare_joins`).

use selkie_types::stack;

use super::Writer;
use crate::ast::{
    HintAction, HintPurpose, HistoryPoint, IndexHint, Join, JoinCondition, JoinKind, SystemTime,
    TableFactor, TableName, TableRef,
};

impl Writer<'_> {
    pub(super) fn table_name(&mut self, name: &TableName) {
        // Only the pseudo-table has this name without a schema: real tables are qualified here.
        if name.schema.is_none() && &*name.name.value == "dual" {
            return self.str("dual");
        }
        if let Some(schema) = &name.schema {
            self.schema(schema);
        }
        self.ident(&name.name);
    }

    /// The tables of FROM. Compat: commas are printed as joins.
    pub(super) fn tables(&mut self, tables: &[TableRef]) {
        for (i, table) in tables.iter().enumerate() {
            self.str(if i > 0 { " join " } else { "" });
            self.outer_table(table);
        }
    }

    /// A table of FROM, or the left side of a join there.
    fn outer_table(&mut self, table: &TableRef) {
        match table {
            TableRef::Join(join) if self.bare_joins => self.joined(join),
            _ => self.table(table),
        }
    }

    fn table(&mut self, table: &TableRef) {
        stack::ensure();
        match table {
            TableRef::Table(factor) => self.factor(factor),
            TableRef::Derived(derived) => {
                self.str("(");
                self.query(&derived.query);
                self.str(")");
                if let Some(time) = &derived.system_time {
                    self.system_time(time);
                }
                self.str(" ");
                self.ident(&derived.alias);
            }
            TableRef::JsonTable(table) => self.json_table(table),
            TableRef::Join(join) => self.join(join),
        }
    }

    fn factor(&mut self, factor: &TableFactor) {
        self.table_name(&factor.name);
        if !factor.partitions.is_empty() {
            self.str(" PARTITION (");
            self.list(&factor.partitions, Self::ident);
            self.str(")");
        }
        if let Some(time) = &factor.system_time {
            self.system_time(time);
        }
        if let Some(alias) = &factor.alias {
            self.str(" ");
            self.ident(alias);
        }
        for hint in &factor.hints {
            self.hint(hint);
        }
    }

    fn system_time(&mut self, time: &SystemTime) {
        self.str(" FOR SYSTEM_TIME ");
        match time {
            SystemTime::All => self.str("ALL"),
            SystemTime::AsOf(at) => {
                self.str("AS OF ");
                self.point(at);
            }
            SystemTime::Between(from, to) => {
                self.str("BETWEEN ");
                self.point(from);
                self.str(" AND ");
                self.point(to);
            }
            SystemTime::FromTo(from, to) => {
                self.str("FROM ");
                self.point(from);
                self.str(" TO ");
                self.point(to);
            }
            // No query has it.
            SystemTime::Ended(_) => self.str("ALL"),
        }
    }

    fn point(&mut self, point: &HistoryPoint) {
        self.str(if point.is_transaction { "TRANSACTION " } else { "TIMESTAMP " });
        self.operand(&point.expr, 8);
    }

    fn hint(&mut self, hint: &IndexHint) {
        self.str(match hint.action {
            HintAction::Use => " USE INDEX ",
            HintAction::Force => " FORCE INDEX ",
            HintAction::Ignore => " IGNORE INDEX ",
        });
        self.str(match hint.purpose {
            None => "(",
            Some(HintPurpose::Join) => "FOR JOIN (",
            Some(HintPurpose::OrderBy) => "FOR ORDER BY (",
            Some(HintPurpose::GroupBy) => "FOR GROUP BY (",
        });
        self.list(&hint.indexes, Self::ident);
        self.str(")");
    }

    fn join(&mut self, join: &Join) {
        self.str("(");
        self.joined(join);
        self.str(")");
    }

    fn joined(&mut self, join: &Join) {
        let natural = matches!(join.condition, JoinCondition::Natural);
        self.outer_table(&join.left);
        self.str(if natural { " natural" } else { "" });
        self.str(match join.kind {
            JoinKind::Inner => " join ",
            JoinKind::Straight => " straight_join ",
            JoinKind::Left => " left join ",
            JoinKind::Right => " right join ",
        });
        self.table(&join.right);
        match &join.condition {
            JoinCondition::On(condition) => {
                self.str(" on(");
                self.whole_condition(condition);
                self.str(")");
            }
            JoinCondition::Using(columns) => {
                self.str(" using (");
                self.list(columns, Self::ident);
                self.str(")");
            }
            JoinCondition::None | JoinCondition::Natural => {}
        }
    }
}
