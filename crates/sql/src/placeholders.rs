//! Finds the placeholders whose value may be of any length without changing the plan: those that
//! are compared, and those that are stored unchanged.

use crate::ast::walk::{points, table};
use crate::ast::{
    Assignment, DeleteTarget, Expr, ExprKind, InsertSource, Mention, Portion, SelectItem, Statement,
};

/// For each of `count` placeholders: whether values of all lengths have the same plan.
pub fn of_any_length(statement: &Statement, count: usize) -> Box<[bool]> {
    let mut found = Found(vec![false; count]);
    match statement.clone() {
        Statement::Query(mut query) => query.for_each_mention(&mut |m| found.note(m)),
        Statement::Insert(mut insert) => {
            match &mut insert.source {
                InsertSource::Values(rows) => {
                    rows.iter_mut().flatten().for_each(|e| found.stored(e))
                }
                InsertSource::Set(assignments) => found.assigned(assignments),
                InsertSource::Query(query) => query.for_each_mention(&mut |m| found.note(m)),
            }
            found.assigned(&mut insert.on_duplicate);
            found.returned(&mut insert.returning);
        }
        Statement::Update(mut update) => {
            update.tables.iter_mut().for_each(|t| table(t, &mut |m| found.note(m)));
            update.portion.iter_mut().for_each(|p| found.portion(p));
            found.assigned(&mut update.assignments);
            update.where_clause.iter_mut().for_each(|e| found.read(e));
        }
        Statement::Delete(mut delete) => {
            match &mut delete.target {
                DeleteTarget::Multi { from, .. } => {
                    from.iter_mut().for_each(|t| table(t, &mut |m| found.note(m)));
                }
                DeleteTarget::Single(t) => points(&mut t.system_time, &mut |m| found.note(m)),
            }
            delete.portion.iter_mut().for_each(|p| found.portion(p));
            delete.where_clause.iter_mut().for_each(|e| found.read(e));
            found.returned(&mut delete.returning);
        }
        _ => {}
    }
    found.0.into()
}

struct Found(Vec<bool>);

impl Found {
    fn set(&mut self, number: u32) {
        self.0.get_mut(number as usize).into_iter().for_each(|found| *found = true);
    }

    fn note(&mut self, mention: Mention<'_>) {
        if let Mention::Compared(number) = mention {
            self.set(number);
        }
    }

    fn portion(&mut self, portion: &mut Portion) {
        [&mut portion.from, &mut portion.to].into_iter().for_each(|e| self.stored(e));
    }

    fn read(&mut self, e: &mut Expr) {
        e.for_each_mention(&mut |m| self.note(m));
    }

    fn stored(&mut self, e: &mut Expr) {
        match e.kind {
            ExprKind::Param(number) => self.set(number),
            _ => self.read(e),
        }
    }

    fn assigned(&mut self, assignments: &mut [Assignment]) {
        assignments.iter_mut().for_each(|a| self.stored(&mut a.value));
    }

    fn returned(&mut self, items: &mut [SelectItem]) {
        for item in items {
            if let SelectItem::Expr { expr, .. } = item {
                self.read(expr);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{ParseOptions, parse};

    fn of(text: &str) -> String {
        let parsed = parse(text.as_bytes(), &ParseOptions::default()).unwrap();
        let found = of_any_length(&parsed.statement, parsed.params as usize);
        found.iter().map(|any| if *any { 'x' } else { '-' }).collect()
    }

    #[test]
    fn what_is_compared_or_stored() {
        assert_eq!(of("SELECT ?, a = ? FROM t WHERE b LIKE ? AND c IN (?, ?) LIMIT ?"), "-xxxx-");
        assert_eq!(
            of("SELECT 1 FROM t JOIN u ON t.a = ? WHERE b BETWEEN ? AND ? OR CONCAT(?, b) > ?"),
            "xxx-x"
        );
        assert_eq!(
            of("SELECT (SELECT ? FROM u WHERE a = ?) FROM (SELECT ? FROM v WHERE b <> ?) d"),
            "-x-x"
        );
        assert_eq!(
            of("INSERT INTO t VALUES (?, ? + 1), (NULLIF(?, 1), ?) ON DUPLICATE KEY UPDATE a = ?"),
            "x--xx"
        );
        assert_eq!(of("INSERT INTO t SELECT ? FROM u WHERE a = ?"), "-x");
        assert_eq!(of("UPDATE t SET a = ?, b = IF(?, 1, ?) WHERE c = ?"), "x--x");
        assert_eq!(of("DELETE FROM t WHERE a = ? AND COALESCE(?, b) = c"), "x-");
        assert_eq!(of("CREATE TABLE t AS SELECT ? FROM u WHERE a = ?"), "--");
    }
}
