//! The tables of the database `mysql` and the view `mysql.user`, as MariaDB 10.11 defines them.
//!
//! Must not change: tools read these tables.

use std::fmt::Write;

use crate::accounts::SYSTEM_ACCOUNT;

const TABLES: &str = include_str!("../../../data/system_tables.sql");

/// Name of each table with the statement that creates it.
pub(super) fn tables() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLES.split(";\n").filter_map(|text| {
        let text = &text[text.find("CREATE TABLE")?..];
        let (_, after) = text.split_once("mysql.")?;
        Some((after.split_once(' ')?.0, text))
    })
}

/// Name of the view over the accounts.
pub(super) const VIEW: &str = "user";

/// Columns of the view for privileges: the first is for bit 0, the next for bit 1, and so on.
const PRIVILEGES: &str = "Select Insert Update Delete Create Drop Reload Shutdown Process File \
    Grant References Index Alter Show_db Super Create_tmp_table Lock_tables Execute Repl_slave \
    Repl_client Create_view Show_view Create_routine Alter_routine Create_user Event Trigger \
    Create_tablespace Delete_history";

/// The statement that creates the view, which shows accounts in the layout of older versions.
pub(super) fn view() -> String {
    let (user, host) = SYSTEM_ACCOUNT;
    let mut text = format!(
        "CREATE DEFINER=`{user}`@`{host}` SQL SECURITY DEFINER VIEW mysql.{VIEW} AS SELECT Host, \
         User, IF(JSON_VALUE(Priv, '$.plugin') IN ('mysql_native_password', \
         'mysql_old_password'), IFNULL(JSON_VALUE(Priv, '$.authentication_string'), ''), '') AS \
         Password"
    );
    for (bit, name) in PRIVILEGES.split_whitespace().enumerate() {
        let bit = 1_u64 << bit;
        let _ = write!(text, ", IF(JSON_VALUE(Priv, '$.access') & {bit}, 'Y', 'N') AS {name}_priv");
    }
    text.push_str(
        ", ELT(IFNULL(JSON_VALUE(Priv, '$.ssl_type'), 0) + 1, '', 'ANY', 'X509', 'SPECIFIED') AS \
         ssl_type",
    );
    for name in ["ssl_cipher", "x509_issuer", "x509_subject"] {
        let _ = write!(text, ", IFNULL(JSON_VALUE(Priv, '$.{name}'), '') AS {name}");
    }
    for (name, ty) in [
        ("max_questions", "UNSIGNED"),
        ("max_updates", "UNSIGNED"),
        ("max_connections", "UNSIGNED"),
        ("max_user_connections", "SIGNED"),
    ] {
        let _ = write!(text, ", CAST(IFNULL(JSON_VALUE(Priv, '$.{name}'), 0) AS {ty}) AS {name}");
    }
    for name in ["plugin", "authentication_string"] {
        let _ = write!(text, ", IFNULL(JSON_VALUE(Priv, '$.{name}'), '') AS {name}");
    }
    text.push_str(
        ", IF(IFNULL(JSON_VALUE(Priv, '$.password_last_changed'), 1) = 0, 'Y', 'N') AS \
         password_expired, ELT(IFNULL(JSON_VALUE(Priv, '$.is_role'), 0) + 1, 'N', 'Y') AS is_role, \
         IFNULL(JSON_VALUE(Priv, '$.default_role'), '') AS default_role, \
         CAST(IFNULL(JSON_VALUE(Priv, '$.max_statement_time'), 0.0) AS DECIMAL(12,6)) AS \
         max_statement_time FROM mysql.global_priv",
    );
    text
}

/// Columns of `mysql.db` with the privilege of each.
pub(super) const DATABASE_COLUMNS: &[(&str, &str)] = &[
    ("Select_priv", "SELECT"),
    ("Insert_priv", "INSERT"),
    ("Update_priv", "UPDATE"),
    ("Delete_priv", "DELETE"),
    ("Create_priv", "CREATE"),
    ("Drop_priv", "DROP"),
    ("Grant_priv", "GRANT OPTION"),
    ("References_priv", "REFERENCES"),
    ("Index_priv", "INDEX"),
    ("Alter_priv", "ALTER"),
    ("Create_tmp_table_priv", "CREATE TEMPORARY TABLES"),
    ("Lock_tables_priv", "LOCK TABLES"),
    ("Create_view_priv", "CREATE VIEW"),
    ("Show_view_priv", "SHOW VIEW"),
    ("Create_routine_priv", "CREATE ROUTINE"),
    ("Alter_routine_priv", "ALTER ROUTINE"),
    ("Execute_priv", "EXECUTE"),
    ("Event_priv", "EVENT"),
    ("Trigger_priv", "TRIGGER"),
    ("Delete_history_priv", "DELETE HISTORY"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_has_its_name() {
        let names: Vec<&str> = tables().map(|(name, _)| name).collect();
        assert_eq!(names.len(), 29);
        assert!(names.contains(&"global_priv") && names.contains(&"slow_log"));
        assert!(view().contains("& 536870912, 'Y', 'N') AS Delete_history_priv"));
    }
}
