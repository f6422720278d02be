//! What a result set tells the client about its columns. Data only.

use std::sync::Arc;

use selkie_types::SqlType;

/// A column of the result set.
#[derive(Clone, Debug)]
pub struct OutputColumn {
    /// Name or alias.
    pub name: Arc<str>,
    /// Type.
    pub ty: SqlType,
    /// Whether NULL may appear.
    pub nullable: bool,
    /// Database of the table the column is from; empty for expressions.
    pub schema: Arc<str>,
    /// Alias of that table.
    pub table: Arc<str>,
    /// Its own name.
    pub org_table: Arc<str>,
    /// The column's own name.
    pub org_name: Arc<str>,
    /// Compat: announced as a column of a table is: it is one, or one of a temporary table.
    pub kept: bool,
    /// Compat: a text that announces no decimals, as some functions' do not.
    pub whole: bool,
    /// Part of the primary key.
    pub primary_key: bool,
    /// The single column of a unique index.
    pub unique_key: bool,
    /// The first column of an index, which is not unique or has others.
    pub multiple_key: bool,
    /// Part of some index.
    pub part_of_key: bool,
    /// AUTO_INCREMENT.
    pub auto_increment: bool,
    /// No default value: the column is NOT NULL and has no DEFAULT.
    pub no_default: bool,
    /// Column that changes with the row.
    pub on_update_now: bool,
    /// TIMESTAMP column that is set to the current time by itself.
    pub sets_itself: bool,
}
