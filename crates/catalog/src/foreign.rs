//! Foreign keys: their stored definition, and their text in error messages and SHOW CREATE TABLE.
//! Rows are checked by the executor, not here.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::{TableInfo, quote_identifier};

/// Action on referencing rows when a referenced row changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ForeignKeyAction {
    /// Refuse the change.
    #[default]
    Restrict,
    /// Refuse the change; shown as written.
    NoAction,
    /// Apply the same change to the referencing rows.
    Cascade,
    /// Set the referencing columns to NULL.
    SetNull,
    /// Never stored: it is taken as `Restrict`.
    SetDefault,
}

impl ForeignKeyAction {
    /// Whether the action refuses changes of referenced rows.
    pub fn refuses(self) -> bool {
        !matches!(self, Self::Cascade | Self::SetNull)
    }
}

/// A foreign key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// Constraint name, unique in the schema.
    pub name: String,
    /// Referencing columns.
    pub columns: Vec<String>,
    /// Referenced schema.
    pub referenced_schema: String,
    /// Referenced table; it need not exist.
    pub referenced_table: String,
    /// Referenced columns.
    pub referenced_columns: Vec<String>,
    /// `ON DELETE`.
    pub on_delete: ForeignKeyAction,
    /// `ON UPDATE`.
    pub on_update: ForeignKeyAction,
}

impl ForeignKey {
    /// Whether a change of a referenced row may change referencing rows.
    pub fn cascades(&self) -> bool {
        !self.on_delete.refuses() || !self.on_update.refuses()
    }

    /// Whether it refers to `schema`.`table`.
    pub fn refers_to(&self, schema: &str, table: &str) -> bool {
        self.referenced_table == table && self.referenced_schema == schema
    }

    /// The constraint as SHOW CREATE TABLE of a table of `schema` gives it.
    pub fn clause(&self, schema: &str) -> String {
        let mut referenced = quote_identifier(&self.referenced_table);
        if self.referenced_schema != schema {
            referenced = format!("{}.{referenced}", quote_identifier(&self.referenced_schema));
        }
        let mut out = self.clause_to(&referenced);
        for (event, action) in [("DELETE", self.on_delete), ("UPDATE", self.on_update)] {
            if let Some(action) = action_text(action) {
                let _ = write!(out, " ON {event} {action}");
            }
        }
        out
    }

    fn clause_to(&self, referenced: &str) -> String {
        format!(
            "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {referenced} ({})",
            quote_identifier(&self.name),
            identifiers(&self.columns),
            identifiers(&self.referenced_columns)
        )
    }

    /// The constraint of `schema`.`table` as errors 1451 and 1452 show it.
    pub fn in_error(&self, schema: &str, table: &str) -> String {
        let (schema_text, table) = (quote_identifier(schema), quote_identifier(table));
        format!("{schema_text}.{table}, {}", self.clause(schema))
    }

    /// The constraint of `child` as error 1701 shows it: without actions, all names qualified.
    pub fn in_truncate_error(&self, child: &TableInfo) -> String {
        let referenced = format!(
            "{}.{}",
            quote_identifier(&self.referenced_schema),
            quote_identifier(&self.referenced_table)
        );
        format!(
            "{}.{}, {}",
            quote_identifier(child.schema()),
            quote_identifier(child.name()),
            self.clause_to(&referenced)
        )
    }
}

/// Quoted names with commas between them.
fn identifiers(names: &[String]) -> String {
    names.iter().map(|name| quote_identifier(name)).collect::<Vec<_>>().join(", ")
}

/// A foreign key's action as written; RESTRICT is the default and not shown.
pub fn action_text(action: ForeignKeyAction) -> Option<&'static str> {
    match action {
        ForeignKeyAction::Restrict => None,
        ForeignKeyAction::NoAction => Some("NO ACTION"),
        ForeignKeyAction::Cascade => Some("CASCADE"),
        ForeignKeyAction::SetNull => Some("SET NULL"),
        ForeignKeyAction::SetDefault => Some("SET DEFAULT"),
    }
}
