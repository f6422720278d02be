//! Stored routines and triggers as they are stored: their text and the settings its meaning depends
//! on.
//!
//! A body is stored as it was written. A session parses it when it first runs it.

use selkie_types::SqlType;
use serde::{Deserialize, Serialize};

/// Settings at creation on which the meaning of a program's text depends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramContext {
    /// `user@host` of the definer.
    pub definer: String,
    /// `sql_mode` at creation.
    pub sql_mode: u64,
    /// `character_set_client` at creation.
    pub client_charset: String,
    /// `collation_connection` at creation.
    pub connection_collation: String,
    /// The schema's collation at creation.
    pub database_collation: String,
    /// Time of creation in microseconds since 1970.
    pub created: i64,
    /// Time of the last change in microseconds since 1970.
    pub modified: i64,
}

/// Kinds of stored routines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoutineForm {
    /// `FUNCTION`.
    Function,
    /// `PROCEDURE`.
    Procedure,
    /// `PACKAGE`: what a package offers.
    Package,
    /// `PACKAGE BODY`: how it does it.
    PackageBody,
}

impl RoutineForm {
    /// A function or a procedure.
    pub fn of_function(function: bool) -> Self {
        if function { Self::Function } else { Self::Procedure }
    }

    /// The SQL words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Function => "FUNCTION",
            Self::Procedure => "PROCEDURE",
            Self::Package => "PACKAGE",
            Self::PackageBody => "PACKAGE BODY",
        }
    }
}

/// Parts of a package, which are stored as routines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PackagePart {
    /// `PACKAGE`.
    Specification,
    /// `PACKAGE BODY`.
    Body,
}

/// A stored procedure or function, or a part of a package.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Routine {
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Whether it is a function; otherwise it is a procedure.
    pub function: bool,
    /// The part of a package that it is.
    #[serde(default)]
    pub part: Option<PackagePart>,
    /// The routines of a package.
    #[serde(default)]
    pub members: Vec<PackageMember>,
    /// The text of its parameters.
    pub parameters_text: String,
    /// Its parameters.
    pub parameters: Vec<RoutineParameter>,
    /// The result of a function.
    #[serde(flatten)]
    pub returns: RoutineResult,
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
    /// Settings its text depends on.
    pub context: ProgramContext,
}

/// The result of a function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoutineResult {
    /// Text of its type, written in full; empty for a procedure.
    #[serde(rename = "returns_text")]
    pub text: String,
    /// Its type, if it does not depend on a table.
    #[serde(rename = "returns")]
    pub ty: Option<SqlType>,
    /// Whether it is one result for all rows of a group.
    #[serde(default)]
    pub aggregate: bool,
}

/// A routine of a package.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PackageMember {
    /// Its name.
    pub name: String,
    /// Whether it is a function.
    pub function: bool,
    /// Number of its parameters.
    pub parameters: usize,
    /// Return type of a function.
    pub returns: Option<SqlType>,
    /// `DETERMINISTIC`.
    pub deterministic: bool,
    /// Whether it can be called from outside of the package.
    pub public: bool,
}

impl PackageMember {
    /// A function or a procedure.
    pub fn form(&self) -> RoutineForm {
        RoutineForm::of_function(self.function)
    }
}

/// A parameter of a routine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoutineParameter {
    /// Its name.
    pub name: String,
    /// `IN`, `OUT` or `INOUT`.
    pub mode: String,
    /// Its type, unless it is a row or that of a column.
    pub ty: Option<SqlType>,
    /// The columns or the table whose type it has, as `TYPE OF` and names; `ROW` for a row whose
    /// fields are written down. Empty if `ty` is present.
    #[serde(default)]
    pub like: String,
}

impl Routine {
    /// The member `name` of a package.
    pub fn member(&self, form: RoutineForm, name: &str) -> Option<&PackageMember> {
        let is_it = |member: &&PackageMember| {
            member.form() == form && member.name.to_lowercase() == name.to_lowercase()
        };
        self.members.iter().find(is_it)
    }

    /// Its kind.
    pub fn form(&self) -> RoutineForm {
        match self.part {
            Some(PackagePart::Specification) => RoutineForm::Package,
            Some(PackagePart::Body) => RoutineForm::PackageBody,
            None => RoutineForm::of_function(self.function),
        }
    }

    /// `PROCEDURE`, `FUNCTION` and the like.
    pub fn kind(&self) -> &'static str {
        self.form().words()
    }

    /// The words before its name in the statement that creates it.
    pub fn created_as(&self) -> &'static str {
        if self.returns.aggregate { "AGGREGATE FUNCTION" } else { self.kind() }
    }

    /// The statement that creates it, without `CREATE` and the definer.
    pub fn definition(&self) -> String {
        let mut out = format!("{} {}", self.created_as(), crate::quote_identifier(&self.name));
        if self.part.is_none() {
            out.push_str(&format!("({})", self.parameters_text));
        }
        if self.function {
            let is_oracle = self.context.sql_mode & selkie_types::SqlMode::ORACLE.bits() != 0;
            out.push_str(if is_oracle { " RETURN " } else { " RETURNS " });
            out.push_str(&self.returns.text);
        }
        if self.part.is_none() {
            out.push('\n');
        }
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
        if self.part.is_some() {
            out.push(' ');
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
    /// Schema of the trigger and of its table.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its table.
    pub table: String,
    /// Whether it runs `BEFORE`; otherwise `AFTER`.
    pub before: bool,
    /// `INSERT`, `UPDATE` or `DELETE`.
    pub event: String,
    /// Its position among the triggers of the same table, time and event, from 1.
    pub order: u32,
    /// The statement that created it, from TRIGGER up to its body.
    pub head: String,
    /// Byte range in `head` from ON up to FOR. Earlier versions stored that of the table's name.
    pub table_at: (usize, usize),
    /// Its body.
    pub body: String,
    /// Settings its text depends on.
    pub context: ProgramContext,
}

impl Trigger {
    /// The statement that creates it, from TRIGGER on.
    pub fn definition(&self) -> String {
        // A head stored by an earlier version ends with its last word.
        let space = if self.head.ends_with(char::is_whitespace) { "" } else { " " };
        format!("{}{space}{}", self.head, self.body)
    }

    /// Whether its body may name a column: the body contains the name as text.
    pub fn may_name(&self, column: &str) -> bool {
        self.body.to_lowercase().contains(&column.to_lowercase())
    }

    /// The same trigger for a table that is renamed to `table`.
    pub fn with_table(&self, table: &str) -> Self {
        let quoted = crate::quote_identifier(table);
        let (start, end) = self.table_at;
        let mut head = self.head.clone();
        let Some(old) = head.get(start..end) else {
            return Self { table: table.to_owned(), ..self.clone() };
        };
        let new = if begins_with_on(old) { format!("ON {quoted} ") } else { quoted };
        head.replace_range(start..end, &new);
        let table_at = (start, start + new.len());
        Self { table: table.to_owned(), head, table_at, ..self.clone() }
    }
}

/// Whether the text begins with the word ON, which no table has as its unquoted name.
fn begins_with_on(text: &str) -> bool {
    let word = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).next();
    word.is_some_and(|word| word.eq_ignore_ascii_case("on"))
}

/// An account stored as `user@host`, as `` `user`@`host` ``.
pub fn quoted_account(account: &str) -> String {
    match account.rsplit_once('@') {
        Some((user, host)) => {
            format!("{}@{}", crate::quote_identifier(user), crate::quote_identifier(host))
        }
        None => crate::quote_identifier(account),
    }
}
