//! Metadata of a result column, as the protocol sends it to the client. Data only. CREATE TABLE ...
//! SELECT makes its columns from it too.

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
    /// Alias of the column's table.
    pub table: Arc<str>,
    /// Name of the column's table.
    pub org_table: Arc<str>,
    /// Name of the column in its table.
    pub org_name: Arc<str>,
    /// Compat: announced like a column of a table, since it is one or MariaDB keeps it in a
    /// temporary table.
    pub kept: bool,
    /// Announcement of its digits.
    pub text: TextOf,
    /// Part of the primary key.
    pub primary_key: bool,
    /// The single column of a unique index.
    pub unique_key: bool,
    /// First column of an index that has other columns or is not unique.
    pub multiple_key: bool,
    /// Part of some index, or of the key of groups.
    pub part: PartOf,
    /// AUTO_INCREMENT.
    pub auto_increment: bool,
    /// No default value: the column is NOT NULL and has no DEFAULT.
    pub no_default: bool,
    /// Column that changes with the row.
    pub on_update_now: bool,
    /// TIMESTAMP column that is set to the current time by itself.
    pub sets_itself: bool,
}

/// Compat: what makes a text, which MariaDB's announcements tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextOf {
    /// An expression: with decimals.
    #[default]
    Expression,
    /// A function without decimals.
    Function,
    /// An aggregate that joins texts: without decimals, and with the length of its type.
    Joined,
    /// A function whose times show all digits of the fraction, or none.
    AsNeeded,
}

/// A thing that a column is a part of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartOf {
    /// Nothing.
    #[default]
    Nothing,
    /// Some index.
    Index,
    /// Compat: the key, which may be NULL, of groups or distinct rows in a temporary table.
    Groups,
}

impl OutputColumn {
    /// A column of no table, which may be NULL.
    pub fn computed(name: &str, ty: SqlType) -> Self {
        Self {
            name: name.into(),
            ty,
            nullable: true,
            schema: Arc::default(),
            table: Arc::default(),
            org_table: Arc::default(),
            org_name: Arc::default(),
            kept: false,
            text: TextOf::default(),
            primary_key: false,
            unique_key: false,
            multiple_key: false,
            part: PartOf::Nothing,
            auto_increment: false,
            no_default: false,
            on_update_now: false,
            sets_itself: false,
        }
    }
}
