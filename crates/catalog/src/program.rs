//! Stored routines and triggers as they are kept: their text, and what it depends on.
//!
//! A body is kept as it was written and parsed when it is first run by a session.

use selkie_types::SqlType;
use serde::{Deserialize, Serialize};

/// What the meaning of a program's text depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramContext {
    /// `user@host` of the definer.
    pub definer: String,
    /// `sql_mode` when it was made.
    pub sql_mode: u64,
    /// `character_set_client` when it was made.
    pub client_charset: String,
    /// `collation_connection` when it was made.
    pub connection_collation: String,
    /// The collation of its schema when it was made.
    pub database_collation: String,
    /// Microseconds since 1970.
    pub created: i64,
    /// Microseconds since 1970.
    pub modified: i64,
}

/// A stored procedure or function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Routine {
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// A function, not a procedure.
    pub function: bool,
    /// The text of its parameters.
    pub parameters_text: String,
    /// Its parameters.
    pub parameters: Vec<RoutineParameter>,
    /// What it returns, written in full.
    pub returns_text: String,
    /// What it returns, if that does not depend on a table.
    pub returns: Option<SqlType>,
    /// Its body.
    pub body: String,
    /// `COMMENT`.
    pub comment: String,
    /// `CONTAINS SQL` and the like.
    pub data_access: String,
    /// `DETERMINISTIC`.
    pub deterministic: bool,
    /// `SQL SECURITY INVOKER`.
    pub invoker: bool,
    /// What its text depends on.
    pub context: ProgramContext,
}

/// A parameter of a routine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoutineParameter {
    /// Its name.
    pub name: String,
    /// `IN`, `OUT` or `INOUT`.
    pub mode: String,
    /// Its type, if that does not depend on a table.
    pub ty: Option<SqlType>,
}

impl Routine {
    /// `PROCEDURE` or `FUNCTION`.
    pub fn kind(&self) -> &'static str {
        if self.function { "FUNCTION" } else { "PROCEDURE" }
    }

    /// The statement that makes it, from its kind on.
    pub fn definition(&self) -> String {
        let mut out = format!(
            "{} {}({})",
            self.kind(),
            crate::quote_identifier(&self.name),
            self.parameters_text
        );
        if self.function {
            out.push_str(" RETURNS ");
            out.push_str(&self.returns_text);
        }
        out.push('\n');
        if self.data_access != "CONTAINS SQL" {
            out.push_str(&format!("    {}\n", self.data_access));
        }
        if self.deterministic {
            out.push_str("    DETERMINISTIC\n");
        }
        if self.invoker {
            out.push_str("    SQL SECURITY INVOKER\n");
        }
        if !self.comment.is_empty() {
            out.push_str(&format!("    COMMENT {}\n", selkie_types::quote_string(&self.comment)));
        }
        out.push_str(&self.body);
        out
    }

    /// `schema.name`.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.schema, self.name)
    }
}

/// A trigger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trigger {
    /// Its schema and its table's.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// The table.
    pub table: String,
    /// `BEFORE`, not `AFTER`.
    pub before: bool,
    /// `INSERT`, `UPDATE` or `DELETE`.
    pub event: String,
    /// Its place among those of the same time and event, from 1.
    pub order: u32,
    /// The statement that made it, from TRIGGER up to its body.
    pub head: String,
    /// Where in `head` the table's name stands.
    pub table_at: (usize, usize),
    /// Its body.
    pub body: String,
    /// What its text depends on.
    pub context: ProgramContext,
}

impl Trigger {
    /// The statement that makes it, from TRIGGER on.
    pub fn definition(&self) -> String {
        format!("{} {}", self.head, self.body)
    }

    /// Whether its body may name a column.
    pub fn may_name(&self, column: &str) -> bool {
        self.body.to_lowercase().contains(&column.to_lowercase())
    }

    /// The same trigger of its table under another name.
    pub fn with_table(&self, table: &str) -> Self {
        let quoted = crate::quote_identifier(table);
        let (start, end) = self.table_at;
        let mut head = self.head.clone();
        if start <= end && head.is_char_boundary(start) && head.get(start..end).is_some() {
            head.replace_range(start..end, &quoted);
        }
        // Compat: the word before the name is written anew too.
        let on = head[..start.min(head.len())].trim_end().len().saturating_sub(2);
        if head.get(on..on + 2).is_some_and(|word| word.eq_ignore_ascii_case("on")) {
            head.replace_range(on..on + 2, "ON");
        }
        let table_at = (start, start + quoted.len());
        Self { table: table.to_owned(), head, table_at, ..self.clone() }
    }
}

/// `` `user`@`host` `` of an account kept as `user@host`.
pub fn quoted_account(account: &str) -> String {
    match account.rsplit_once('@') {
        Some((user, host)) => {
            format!("{}@{}", crate::quote_identifier(user), crate::quote_identifier(host))
        }
        None => crate::quote_identifier(account),
    }
}
