//! Units of a statement: queries, each of one SELECT or of several combined ones. Only EXPLAIN
//! reads them; nothing that runs depends on them.

use selkie_types::Condition;

use super::PlanNode;

/// Facts of a statement that only EXPLAIN tells.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Aliases of tables that need not be read, since their outer joins change nothing.
    pub eliminated: Vec<Box<str>>,
    /// The units of its text, the statement's own first; none if it has only its own.
    pub units: Vec<Unit>,
    /// Numbers of the SELECTs whose HAVING is never true.
    pub impossible: Vec<u64>,
    /// Notes about names and aggregates of subqueries that belong to blocks around them.
    pub resolved: Vec<Condition>,
}

/// A query inside the statement, or the statement's own.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// Its kind.
    pub kind: UnitKind,
    /// Numbers of its SELECTs, in order of the text. Those of views and of common tables that are
    /// read again follow all others.
    pub numbers: Vec<u64>,
    /// Number of the SELECT that contains it; 0 for the statement's own.
    pub within: u64,
    /// Position of the unit whose combined rows are sorted by it.
    pub orders: Option<usize>,
    /// Whether its rows are those of combined SELECTs, sorted.
    pub sorted: bool,
    /// Compat: whether conditions of the query around it are tested on its rows.
    pub tested: bool,
    /// Whether rows are found in it by keys.
    pub has_keys: bool,
}

/// Kind of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnitKind {
    /// The statement's own query.
    #[default]
    Statement,
    /// A subquery that is a value.
    Subquery,
    /// A subquery whose rows are compared: that of IN, ANY or ALL.
    Compared,
    /// A table that MariaDB merges into the query around it.
    Merged,
    /// A table whose rows MariaDB keeps: a derived table, a view or a common table.
    Kept,
}

/// A node that gives the rows of tables that are units, the outermost first.
#[derive(Clone, Debug, Default)]
pub struct UnitTables {
    /// Positions of the units in [`Told::units`].
    pub units: Vec<usize>,
    /// The alias of the outermost.
    pub alias: Box<str>,
    /// Names of the node's columns in it, as far as they are known.
    pub names: Vec<Option<Box<str>>>,
}

impl PlanNode {
    /// Whether it gives the rows of a table that is a unit.
    pub fn is_unit_table(&self) -> bool {
        self.of_units.is_some()
    }
}
