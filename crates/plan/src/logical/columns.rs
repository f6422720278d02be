//! The columns of a statement by number. Numbers are never reused within a
//! statement, so an expression can move between operators unchanged.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_engine::{LockMode, LockWait};
use selkie_expr::{Coercibility, Expr, Origin};
use selkie_meter::tick;
use selkie_types::SqlType;

use super::{ColumnId, ColumnSet, UnitId, Units};
use crate::physical::{OuterColumn, TextOf};

/// Number of a table instance (an occurrence of a table in FROM).
pub(crate) type RelationId = usize;

/// A table instance.
#[derive(Clone, Debug)]
pub(crate) struct RelationInfo {
    /// The table.
    pub table: Arc<TableInfo>,
    /// Its alias, or its name.
    pub alias: Box<str>,
    /// Number of its first column; the others follow in order.
    pub first: ColumnId,
    /// Column with its row keys, if a statement changes the table.
    pub row_key: Option<ColumnId>,
    /// Lock on its rows.
    pub lock: LockMode,
    /// Behaviour when a row is locked.
    pub wait: LockWait,
    /// Positions of the indexes that a hint allows; `None` for all.
    pub allowed: Option<Vec<usize>>,
    /// Whether a table scan is to be avoided (`FORCE INDEX`).
    pub forced: bool,
    /// Leaves of a partitioned table that a `PARTITION` clause allows, rising; `None` for all.
    pub parts: Option<Arc<[u16]>>,
    /// Columns that are computed when rows are read: position and expression over the table's
    /// columns, in order of computation.
    pub computed: Vec<(usize, Expr)>,
    /// Whether FOR SYSTEM_TIME chooses versions of its rows.
    pub is_historical: bool,
    /// Whether it is read to answer IN in a change of one table.
    pub answers: bool,
    /// Whether a statement changes it alone.
    pub changed_alone: bool,
    /// Positions of columns that conditions compare as another type, so that no key finds them.
    /// Only EXPLAIN asks.
    pub unusable: Vec<usize>,
}

impl RelationInfo {
    /// Positions in the table of the columns in `set` and of their source columns.
    pub(crate) fn positions(&self, set: &ColumnSet) -> Vec<usize> {
        let columns = 0..self.table.columns.len();
        if self.computed.is_empty() {
            return columns.filter(|at| set.contains(self.first + at)).collect();
        }
        let mut read: Vec<bool> = columns.map(|at| set.contains(self.first + at)).collect();
        self.add_sources(&mut read);
        (0..read.len()).filter(|at| read[*at]).collect()
    }

    /// Adds the source columns of the computed columns in `read`.
    fn add_sources(&self, read: &mut [bool]) {
        for (at, e) in self.computed.iter().rev() {
            if read[*at] {
                e.for_each_column(&mut |source| read[source] = true);
            }
        }
    }

    /// Whether the column at a position of the table is computed.
    pub(crate) fn is_computed(&self, column: usize) -> bool {
        self.computed.iter().any(|(at, _)| *at == column)
    }

    /// Keeps only the computed columns that are in `read` or are sources of one in `read`. The
    /// others stay NULL, as in the stored row.
    pub(crate) fn compute_only(&mut self, read: &ColumnSet) {
        let columns = 0..self.table.columns.len();
        let mut read: Vec<bool> = columns.map(|at| read.contains(self.first + at)).collect();
        self.add_sources(&mut read);
        self.computed.retain(|(at, _)| read[*at]);
    }
}

/// Properties of a column.
#[derive(Clone, Debug)]
pub(crate) struct ColumnInfo {
    /// Type.
    pub ty: SqlType,
    /// Whether its operator can make it NULL.
    pub nullable: bool,
    /// The table column that it is, if it is one.
    pub origin: Option<(RelationId, usize)>,
    /// The table column that changes when this one is assigned to, as a column of a view.
    pub written: Option<(RelationId, usize)>,
    /// Compat: MariaDB keeps it in a temporary table and announces it like a column of a table.
    pub kept: bool,
    /// Compat: the table column that it is announced as, if it is none itself: a common table's, or
    /// the greatest of a column.
    pub announced: Option<(RelationId, usize)>,
    /// Announcement of a text.
    pub text: TextOf,
    /// Compat: hexadecimal literals in a query that is merged into the outer query. They still act
    /// as numbers.
    pub hex: bool,
    /// Compat: a result of a query that is merged into the outer query: the type that the outer
    /// query shows, when the column itself holds more digits.
    pub shown: Option<Box<SqlType>>,
    /// Coercibility of its collation, if it is that of an expression: a literal of a derived table
    /// stays one.
    pub coercibility: Option<Coercibility>,
    /// The unit that it belongs to.
    pub unit: UnitId,
}

/// All columns and table instances of a statement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    columns: Vec<ColumnInfo>,
    /// Table instances.
    pub relations: Vec<RelationInfo>,
    /// Full-text searches in them.
    pub searches: Vec<crate::physical::Search>,
    /// Columns of derived tables that searches can be in.
    pub texts: Vec<TextColumn>,
    /// The units of the statement.
    pub units: Units,
}

/// A column of a derived table that is a column of a table below, with the keys of that table's
/// rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextColumn {
    /// The column.
    pub id: ColumnId,
    /// The table instance below, and the position of its column.
    pub of: (RelationId, usize),
    /// The column of keys.
    pub key: ColumnId,
}

impl Columns {
    /// Adds a column.
    pub(crate) fn add(&mut self, ty: SqlType, nullable: bool) -> ColumnId {
        self.columns.push(ColumnInfo {
            ty,
            nullable,
            origin: None,
            written: None,
            kept: false,
            announced: None,
            text: TextOf::default(),
            hex: false,
            shown: None,
            coercibility: None,
            unit: self.units.current(),
        });
        self.columns.len() - 1
    }

    /// Adds an instance of a table with its columns.
    pub(crate) fn add_relation(&mut self, table: Arc<TableInfo>, alias: &str) -> RelationId {
        let relation = self.relations.len();
        let first = self.columns.len();
        let unit = self.units.current();
        self.columns.extend(table.columns.iter().enumerate().map(|(at, c)| ColumnInfo {
            ty: c.ty.clone(),
            nullable: c.nullable,
            origin: Some((relation, at)),
            written: Some((relation, at)),
            kept: false,
            announced: None,
            text: TextOf::default(),
            hex: false,
            shown: None,
            coercibility: None,
            unit,
        }));
        self.relations.push(RelationInfo {
            table,
            alias: alias.into(),
            first,
            row_key: None,
            lock: LockMode::None,
            wait: LockWait::Default,
            allowed: None,
            forced: false,
            parts: None,
            computed: Vec::new(),
            is_historical: false,
            changed_alone: false,
            answers: false,
            unusable: Vec::new(),
        });
        relation
    }

    /// Properties of `id`.
    pub(crate) fn get(&self, id: ColumnId) -> &ColumnInfo {
        &self.columns[id]
    }

    /// Mutable properties of `id`.
    pub(crate) fn get_mut(&mut self, id: ColumnId) -> &mut ColumnInfo {
        &mut self.columns[id]
    }

    /// Number of columns.
    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }

    /// The expression that reads `id`.
    pub(crate) fn expr(&self, id: ColumnId) -> Expr {
        tick(64);
        let info = self.get(id);
        let mut expr = Expr::column(id, self.operand_type(id), info.nullable);
        if let Some((relation, at)) = info.origin {
            expr.origin = Origin::new(self.relations[relation].table.clone(), at);
        }
        if expr.ty.is_string() {
            expr.ty.unsigned = info.hex;
        }
        if let Some(coercibility) = info.coercibility {
            expr.coercibility = coercibility;
        }
        expr
    }

    /// The type of a column in expressions.
    pub(crate) fn operand_type(&self, id: ColumnId) -> SqlType {
        let info = self.get(id);
        match info.kept || info.origin.or(info.announced).is_some() {
            true => info.ty.of_operand(),
            false => info.ty.clone(),
        }
    }

    /// The table instance and position that `id` is announced as.
    pub(crate) fn announced(&self, id: ColumnId) -> Option<(&RelationInfo, usize)> {
        let info = self.get(id);
        let found = info.origin.or(info.announced);
        found.map(|(relation, at)| (&self.relations[relation], at))
    }

    /// A slot that a column fills, and the table's column that it is.
    pub(crate) fn filled(&self, (slot, id): &(usize, ColumnId)) -> (usize, Option<OuterColumn>) {
        let outer = self.table_column(*id).map(|(relation, column)| {
            let (table, alias) = (relation.table.clone(), relation.alias.clone());
            OuterColumn { table, alias, column }
        });
        (*slot, outer)
    }

    /// The table instance and position of `id`, if it is a column of a table.
    pub(crate) fn table_column(&self, id: ColumnId) -> Option<(&RelationInfo, usize)> {
        self.get(id).origin.map(|(relation, at)| (&self.relations[relation], at))
    }
}
