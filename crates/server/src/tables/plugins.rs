//! What is built in, under the names MariaDB lists it.
//!
//! Must list only what works.

use selkie_types::Value;

use super::{Row, text};
use crate::variables::VERSION;

const BUILT_IN: &[(&str, &str)] = &[
    ("mysql_native_password", "AUTHENTICATION"),
    ("caching_sha2_password", "AUTHENTICATION"),
    ("unix_socket", "AUTHENTICATION"),
    ("MEMORY", "STORAGE ENGINE"),
    ("InnoDB", "STORAGE ENGINE"),
    ("MyISAM", "STORAGE ENGINE"),
    ("Aria", "STORAGE ENGINE"),
    ("CSV", "STORAGE ENGINE"),
    ("SEQUENCE", "STORAGE ENGINE"),
];

pub(super) fn rows() -> Vec<Row> {
    BUILT_IN.iter().map(|(name, kind)| row(name, kind)).collect()
}

fn row(name: &str, kind: &str) -> Row {
    vec![
        ("PLUGIN_NAME", text(name)),
        ("PLUGIN_VERSION", text("1.0")),
        ("PLUGIN_STATUS", text("ACTIVE")),
        ("PLUGIN_TYPE", text(kind)),
        ("PLUGIN_TYPE_VERSION", text("101119.0")),
        ("PLUGIN_LIBRARY", Value::Null),
        ("PLUGIN_LIBRARY_VERSION", Value::Null),
        ("PLUGIN_AUTHOR", text("Selkie")),
        ("PLUGIN_DESCRIPTION", text("")),
        ("PLUGIN_LICENSE", text("Apache-2.0")),
        ("LOAD_OPTION", text("FORCE")),
        ("PLUGIN_MATURITY", text("Beta")),
        ("PLUGIN_AUTH_VERSION", text(VERSION)),
    ]
}
