//! `--binlog-do-db` and `--binlog-ignore-db`: the databases whose changes are logged.
//!
//! Must not know which database counts for a statement; callers do.

/// The databases that are logged, or those that are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseFilter {
    /// Databases that are logged; all if there are none.
    pub databases: Vec<String>,
    /// Databases that are not logged. Compat: they count only if `databases` has none.
    pub ignored: Vec<String>,
}

impl DatabaseFilter {
    /// Whether changes are logged that belong to a database. Compat: what has no database is
    /// logged.
    pub fn takes(&self, database: Option<&str>) -> bool {
        let Some(database) = database else { return true };
        let named = |list: &[String]| list.iter().any(|name| name == database);
        match self.databases.is_empty() {
            true => !named(&self.ignored),
            false => named(&self.databases),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_list_decides() {
        let filter = |databases: &[&str], ignored: &[&str]| DatabaseFilter {
            databases: databases.iter().map(|n| (*n).to_owned()).collect(),
            ignored: ignored.iter().map(|n| (*n).to_owned()).collect(),
        };
        assert!(filter(&[], &[]).takes(Some("a")));
        assert!(filter(&["a"], &["a"]).takes(Some("a")));
        assert!(!filter(&["a"], &[]).takes(Some("b")));
        assert!(!filter(&[], &["a"]).takes(Some("a")));
        assert!(filter(&[], &["a"]).takes(Some("b")));
        assert!(filter(&["a"], &[]).takes(None));
    }
}
