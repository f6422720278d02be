//! What a session tells the planner. Plain values: the planner asks nobody.

use selkie_catalog::TableInfo;
use selkie_engine::RangeEstimate;
use selkie_expr::VariableScope;
use selkie_types::error::catalogue::{
    ER_DBACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR, ER_UNKNOWN_SYSTEM_VARIABLE,
};
use selkie_types::{Privileges, SqlError, SqlResult, SqlType};

/// Variables that change the meaning or the shape of a plan, beside those of expressions.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanVariables {
    /// `sql_select_limit`; `u64::MAX` is none.
    pub sql_select_limit: u64,
    /// `lower_case_table_names` is not 0: names of schemas and tables in any case.
    pub lower_case_names: bool,
    /// `foreign_key_checks`.
    pub foreign_key_checks: bool,
    /// `standard_compliant_cte`.
    pub standard_compliant_cte: bool,
    /// `updatable_views_with_limit`.
    pub updatable_views_with_limit: bool,
    /// `note_verbosity` has `unusable_keys`.
    pub note_unusable_keys: bool,
}

impl PlanVariables {
    /// The values of a server without options.
    pub const DEFAULT: Self = Self {
        sql_select_limit: u64::MAX,
        lower_case_names: false,
        foreign_key_checks: true,
        standard_compliant_cte: true,
        updatable_views_with_limit: true,
        note_unusable_keys: false,
    };
}

impl Default for PlanVariables {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What a session tells of itself.
#[derive(Clone, Debug)]
pub struct Settings<'a> {
    /// Its variables.
    pub variables: &'a PlanVariables,
    /// Current database, if one is chosen.
    pub schema: Option<&'a str>,
    /// Types of the `?` parameters, when they are known; a missing one is a string.
    pub parameters: &'a [SqlType],
    /// Reads of a transaction that locks what it reads (SERIALIZABLE).
    pub lock_reads: bool,
    /// Rows that another table is filled or updated from are locked (REPEATABLE READ and above).
    pub lock_sources: bool,
    /// LOCK TABLES holds: other tables cannot be used, whether they exist or not.
    pub listed_only: bool,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Self {
            variables: &PlanVariables::DEFAULT,
            schema: None,
            parameters: &[],
            lock_reads: false,
            lock_sources: false,
            listed_only: false,
        }
    }
}

/// Types the binder asks for: of variables and routines that live in the session or elsewhere.
pub trait Environment {
    /// Type of the user variable `@name`; `None` if it was never set.
    fn user_variable(&self, _name: &str) -> Option<SqlType> {
        None
    }

    /// Type of the system variable `@@name`; fails if there is none in this scope. The name of a
    /// component has that of its structure before a dot.
    fn system_variable(&self, _scope: VariableScope, name: &str) -> SqlResult<SqlType> {
        Err(SqlError::new(&ER_UNKNOWN_SYSTEM_VARIABLE, &[&name]))
    }

    /// Fails unless LOCK TABLES, where it was used, locked the table under this name (1100), and to
    /// be written if it is (1099).
    fn check_locked(&self, _table: &TableInfo, _name: &str, _written: bool) -> SqlResult<()> {
        Ok(())
    }

    /// Who may use what.
    fn permissions(&self) -> &dyn Permissions;

    /// What the stored function `schema`.`name` returns and takes; `None` if there is none.
    fn stored_function(&self, _schema: &str, _name: &str) -> Option<StoredFunction> {
        None
    }
}

/// Who may use which tables and columns. The methods' own bodies allow everything.
pub trait Permissions {
    /// What `who`, the session's account if `None`, may do with every column of a table.
    fn granted(&self, _who: Option<&str>, _schema: &str, _table: &str) -> Privileges {
        Privileges::ALL
    }

    /// Fails (1142) unless `who` may use a table so, or some column of it.
    fn check_table(
        &self,
        _who: Option<&str>,
        _schema: &str,
        _table: &str,
        _wanted: Privileges,
    ) -> SqlResult<()> {
        Ok(())
    }

    /// Fails (1143) unless `who` may use a column so.
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

    /// Fails (1370) unless the session's account may run a stored function.
    fn check_function(&self, _schema: &str, _name: &str) -> SqlResult<()> {
        Ok(())
    }

    /// 1142.
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

    /// 1044.
    fn schema_denied(&self, _who: Option<&str>, schema: &str) -> SqlError {
        SqlError::new(&ER_DBACCESS_DENIED_ERROR, &[&"", &"", &schema])
    }

    /// Fails (1449) unless an account that defined a view exists.
    fn check_definer(&self, _definer: &str) -> SqlResult<()> {
        Ok(())
    }
}

/// Everything is allowed to everybody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unrestricted;

impl Permissions for Unrestricted {}

/// Signature of a stored function.
#[derive(Clone, Debug)]
pub struct StoredFunction {
    /// How many parameters it has.
    pub parameters: usize,
    /// Type of the result.
    pub returns: SqlType,
    /// `DETERMINISTIC`.
    pub deterministic: bool,
}

/// An environment without variables and routines.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEnvironment;

impl Environment for NoEnvironment {
    fn permissions(&self) -> &dyn Permissions {
        &Unrestricted
    }
}

/// Numbers the planner asks for while it compares plans.
pub trait StatisticsSource {
    /// Rows of a table now.
    fn table_rows(&self, table: &TableInfo) -> Option<f64>;

    /// Rows of a range of an index whose bounds are known.
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

/// Knows nothing but what ANALYZE stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoredStatistics;

impl StatisticsSource for StoredStatistics {
    fn table_rows(&self, table: &TableInfo) -> Option<f64> {
        table.statistics.as_ref().map(|s| s.rows as f64)
    }
}
