//! The planner's view of a session: values of variables, and traits through which it asks for
//! types, privileges and row counts. The planner must not reach the session in any other way.

use selkie_catalog::TableInfo;
use selkie_engine::RangeEstimate;
use selkie_expr::{Expr, VariableScope};
use selkie_types::error::catalogue::{
    ER_DBACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR, ER_UNKNOWN_SYSTEM_VARIABLE,
};
use selkie_types::{CollationId, Privileges, SqlError, SqlResult, SqlType, Value};

use crate::estimate::{Assumption, Given};

/// Variables that change the meaning or the shape of a plan, besides those of expressions.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanVariables {
    /// `sql_select_limit`; `u64::MAX` means no limit.
    pub sql_select_limit: u64,
    /// `max_join_size` without `sql_big_selects`: most rows that a query of tables may examine.
    pub max_join_size: Option<u64>,
    /// `lower_case_table_names` is not 0: names of schemas and tables are case-insensitive.
    pub lower_case_names: bool,
    /// `foreign_key_checks`.
    pub foreign_key_checks: bool,
    /// `standard_compliant_cte`.
    pub standard_compliant_cte: bool,
    /// `updatable_views_with_limit`.
    pub updatable_views_with_limit: bool,
    /// `note_verbosity` has `unusable_keys`.
    pub note_unusable_keys: bool,
    /// `use_stat_tables`.
    pub use_stat_tables: StatTables,
    /// `system_versioning_asof`, a time in the session's time zone; `None` for DEFAULT.
    pub as_of: Option<Box<str>>,
    /// `system_versioning_insert_history`.
    pub insert_history: bool,
    /// `optimizer_use_condition_selectivity`, 1 to 5.
    pub condition_selectivity: u8,
    /// The plan is for EXPLAIN, which shows estimates that plans do not need.
    pub explains: bool,
    /// `sql_auto_is_null`.
    pub auto_is_null: bool,
    /// Treatment of outer joins and subqueries.
    pub joins: JoinSwitches,
    /// Treatment of derived tables. Only EXPLAIN follows it.
    pub derived: DerivedSwitches,
}

/// Flags of `optimizer_switch` about joins and subqueries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinSwitches {
    /// `table_elimination`.
    pub table_elimination: bool,
    /// `semijoin`. Only EXPLAIN follows it.
    pub semijoin: bool,
    /// `subquery_cache`. Only EXPLAIN follows it.
    pub subquery_cache: bool,
    /// Neither `semijoin` nor `materialization`: the subqueries of WHERE run for each row.
    pub runs_subqueries: bool,
}

/// Flags of `optimizer_switch` about derived tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DerivedSwitches {
    /// `derived_merge`.
    pub merge: bool,
    /// `derived_with_keys`.
    pub with_keys: bool,
}

/// A plan's use of engine-independent statistics, those in `mysql.table_stats`,
/// `mysql.column_stats` and `mysql.index_stats`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatTables {
    /// Nothing.
    Unused,
    /// Those of columns and indexes, before what ANALYZE says: COMPLEMENTARY. Each engine knows its
    /// number of rows.
    Columns,
    /// Numbers of rows too, before those of engines: PREFERABLY.
    First,
}

impl PlanVariables {
    /// Values of a server without options.
    pub const DEFAULT: Self = Self {
        sql_select_limit: u64::MAX,
        max_join_size: None,
        lower_case_names: false,
        foreign_key_checks: true,
        standard_compliant_cte: true,
        updatable_views_with_limit: true,
        note_unusable_keys: false,
        use_stat_tables: StatTables::First,
        as_of: None,
        insert_history: false,
        condition_selectivity: 4,
        explains: false,
        auto_is_null: false,
        joins: JoinSwitches {
            table_elimination: true,
            semijoin: true,
            subquery_cache: true,
            runs_subqueries: false,
        },
        derived: DerivedSwitches { merge: true, with_keys: true },
    };
}

impl Default for PlanVariables {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Settings of a session.
#[derive(Clone, Debug)]
pub struct Settings<'a> {
    /// Variables.
    pub variables: &'a PlanVariables,
    /// Current database, if any.
    pub schema: Option<&'a str>,
    /// Types of the `?` parameters if they are known. A missing type is a string.
    pub parameters: &'a [SqlType],
    /// They are variables of a stored program, whose collations count as much as those of columns.
    pub variables_of_program: bool,
    /// Collation of string literals, if not the connection's: that of PREPARE.
    pub literals: Option<CollationId>,
    /// The transaction locks the rows it reads (SERIALIZABLE).
    pub lock_reads: bool,
    /// Rows of tables from which another table is filled or updated are locked (REPEATABLE READ and
    /// above).
    pub lock_sources: bool,
    /// Tables that LOCK TABLES allows.
    pub listed: Listed,
}

/// Tables that a statement may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Any.
    Any,
    /// LOCK TABLES is in effect: only those on its list, whether others exist or not. Compat: one
    /// that is locked once can be used at one place of the statement.
    Once,
    /// As `Once`, but at any number of places: the statement is one of a function or trigger.
    Often,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Self {
            variables: &PlanVariables::DEFAULT,
            schema: None,
            parameters: &[],
            variables_of_program: false,
            literals: None,
            lock_reads: false,
            lock_sources: false,
            listed: Listed::Any,
        }
    }
}

/// Types and privileges of objects outside the statement: variables, routines, locked tables.
pub trait Environment {
    /// Type of the user variable `@name`; `None` if it was never set.
    fn user_variable(&self, _name: &str) -> Option<SqlType> {
        None
    }

    /// Value of an expression over parameters and user variables; `None` before they have values.
    fn value_at_planning(&self, _constant: &Expr) -> Option<Value> {
        None
    }

    /// Type of the system variable `@@name`; an error if the scope has none. The name of a
    /// component has the name of its structure before a dot.
    fn system_variable(&self, _scope: VariableScope, name: &str) -> SqlResult<SqlType> {
        Err(SqlError::new(&ER_UNKNOWN_SYSTEM_VARIABLE, &[&name]))
    }

    /// After LOCK TABLES, an error unless the table is locked under this name (1100), and for
    /// writing if `written` (1099).
    fn check_locked(&self, _table: &TableInfo, _name: &str, _written: bool) -> SqlResult<()> {
        Ok(())
    }

    /// The session's privileges.
    fn permissions(&self) -> &dyn Permissions;

    /// Schema and full name of the function of a package that a call means, if it means one.
    fn package_function(
        &self,
        _schema: Option<&str>,
        _name: &str,
    ) -> SqlResult<Option<(Box<str>, Box<str>)>> {
        Ok(None)
    }

    /// Signature of the stored function `schema`.`name`; `None` if there is none.
    fn stored_function(&self, _schema: &str, _name: &str) -> Option<StoredFunction> {
        None
    }
}

/// Privileges on tables and columns. The default methods allow everything.
pub trait Permissions {
    /// Privileges of `who` on all columns of a table; `None` is the session's account.
    fn granted(&self, _who: Option<&str>, _schema: &str, _table: &str) -> Privileges {
        Privileges::ALL
    }

    /// An error (1142) unless `who` has the privilege `wanted` on the table or on one of its
    /// columns.
    fn check_table(
        &self,
        _who: Option<&str>,
        _schema: &str,
        _table: &str,
        _wanted: Privileges,
    ) -> SqlResult<()> {
        Ok(())
    }

    /// An error (1143) unless `who` has the privilege `wanted` on the column.
    fn check_column(
        &self,
        _who: Option<&str>,
        _schema: &str,
        _table: &str,
        _column: &str,
        _wanted: Privileges,
    ) -> SqlResult<()> {
        Ok(())
    }

    /// An error (1370) unless the session's account may run the stored function.
    fn check_function(&self, _schema: &str, _name: &str) -> SqlResult<()> {
        Ok(())
    }

    /// Error 1142.
    fn table_denied(
        &self,
        _who: Option<&str>,
        schema: &str,
        table: &str,
        wanted: Privileges,
    ) -> SqlError {
        let nobody = "";
        SqlError::new(
            &ER_TABLEACCESS_DENIED_ERROR,
            &[&wanted.refused(), &nobody, &nobody, &schema, &table],
        )
    }

    /// Error 1044.
    fn schema_denied(&self, _who: Option<&str>, schema: &str) -> SqlError {
        SqlError::new(&ER_DBACCESS_DENIED_ERROR, &[&"", &"", &schema])
    }

    /// An error (1449) unless the account that defined a view exists.
    fn check_definer(&self, _definer: &str) -> SqlResult<()> {
        Ok(())
    }
}

/// Permissions that allow everything to every account.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unrestricted;

impl Permissions for Unrestricted {}

/// Signature of a stored function.
#[derive(Clone, Debug)]
pub struct StoredFunction {
    /// Number of parameters.
    pub parameters: usize,
    /// Type of the result.
    pub returns: SqlType,
    /// `DETERMINISTIC`.
    pub deterministic: bool,
    /// Whether it is one result for all rows of a group.
    pub aggregate: bool,
}

/// An environment without variables and routines.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEnvironment;

impl Environment for NoEnvironment {
    fn permissions(&self) -> &dyn Permissions {
        &Unrestricted
    }
}

/// Row counts for the planner, read while it compares plans.
pub trait StatisticsSource {
    /// Current number of rows of a table.
    fn table_rows(&self, table: &TableInfo) -> Option<f64>;

    /// Engine-independent statistics that are used.
    fn stat_tables(&self) -> StatTables {
        StatTables::First
    }

    /// The level of `optimizer_use_condition_selectivity`, if the plan is for EXPLAIN, which shows
    /// the share of rows that conditions leave.
    fn shown_level(&self) -> Option<u8> {
        None
    }

    /// Whether an index is younger than the snapshot that the statement reads.
    fn is_too_young(&self, _table: &TableInfo, _index: usize) -> bool {
        false
    }

    /// Share of a table's rows, from 0 to 1, that a scan of these columns reads by column groups.
    fn grouped_share(&self, _table: &TableInfo, _columns: &[usize]) -> f64 {
        0.0
    }

    /// Share of the pages of a table's rows that are not in memory, from 0 to 1.
    fn uncached_share(&self, _table: &TableInfo) -> f64 {
        0.0
    }

    /// Values of the parameters of a plan that other values may use: estimates count with them, but
    /// the plan must not depend on them in any other way.
    fn given(&self) -> Given<'_> {
        &[]
    }

    /// Notes an estimate that follows from these values.
    fn assume(&self, _assumption: Assumption) {}

    /// Number of rows in a range of an index with known bounds.
    fn range_rows(
        &self,
        _table: &TableInfo,
        _index: usize,
        _lower: &selkie_engine::Bound,
        _upper: &selkie_engine::Bound,
    ) -> Option<RangeEstimate> {
        None
    }
}

/// Row counts from ANALYZE only.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoredStatistics;

impl StatisticsSource for StoredStatistics {
    fn table_rows(&self, table: &TableInfo) -> Option<f64> {
        table.statistics.as_ref().map(|s| s.rows as f64)
    }
}
