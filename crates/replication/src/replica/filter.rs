//! Databases and tables that a connection applies: `replicate_do_db` and its relatives.
//!
//! Compat: the order of rules is MariaDB's. A database must pass the rules about databases. Then
//! the first table to which a rule about tables applies decides for the whole statement; if there
//! is none, the statement passes unless there are rules that take tables.
//!
//! Must not know how names are found in a statement.

mod pattern;

use std::borrow::Cow;

/// A kind of rule, called as its variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterRule {
    /// `replicate_do_db`.
    DoDb,
    /// `replicate_ignore_db`.
    IgnoreDb,
    /// `replicate_do_table`.
    DoTable,
    /// `replicate_ignore_table`.
    IgnoreTable,
    /// `replicate_wild_do_table`.
    WildDoTable,
    /// `replicate_wild_ignore_table`.
    WildIgnoreTable,
    /// `replicate_rewrite_db`.
    RewriteDb,
}

impl FilterRule {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::DoDb,
        Self::IgnoreDb,
        Self::DoTable,
        Self::IgnoreTable,
        Self::WildDoTable,
        Self::WildIgnoreTable,
        Self::RewriteDb,
    ];

    /// The variable of the rule.
    pub fn variable(self) -> &'static str {
        match self {
            Self::DoDb => "replicate_do_db",
            Self::IgnoreDb => "replicate_ignore_db",
            Self::DoTable => "replicate_do_table",
            Self::IgnoreTable => "replicate_ignore_table",
            Self::WildDoTable => "replicate_wild_do_table",
            Self::WildIgnoreTable => "replicate_wild_ignore_table",
            Self::RewriteDb => "replicate_rewrite_db",
        }
    }

    /// The rule of a variable.
    pub fn of(variable: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.variable() == variable)
    }
}

/// The rules of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplicaFilter {
    do_db: Vec<String>,
    ignore_db: Vec<String>,
    do_table: Vec<String>,
    ignore_table: Vec<String>,
    wild_do_table: Vec<String>,
    wild_ignore_table: Vec<String>,
    rewrite_db: Vec<(String, String)>,
    /// Whether names are compared without their letter case (`lower_case_table_names`).
    ignores_case: bool,
}

/// A text that is no list of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadRule;

impl ReplicaFilter {
    /// A filter without rules.
    pub fn new(ignores_case: bool) -> Self {
        Self { ignores_case, ..Self::default() }
    }

    /// Replaces the rules of a kind by those of a list separated by commas.
    pub fn set(&mut self, rule: FilterRule, list: &str) -> Result<(), BadRule> {
        let mut new = Self::new(self.ignores_case);
        for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            new.add(rule, item)?;
        }
        if rule == FilterRule::RewriteDb {
            self.rewrite_db = new.rewrite_db;
        } else if let (Some(old), Some(new)) = (self.names_mut(rule), new.names_mut(rule)) {
            *old = std::mem::take(new);
        }
        Ok(())
    }

    /// Adds one rule, as an option does.
    pub fn add(&mut self, rule: FilterRule, item: &str) -> Result<(), BadRule> {
        let item = item.trim();
        if rule == FilterRule::RewriteDb {
            let (from, to) = item.split_once("->").ok_or(BadRule)?;
            let (from, to) = (from.trim(), to.trim());
            if from.is_empty() || to.is_empty() {
                return Err(BadRule);
            }
            self.rewrite_db.push((from.to_owned(), to.to_owned()));
            return Ok(());
        }
        let is_database = matches!(rule, FilterRule::DoDb | FilterRule::IgnoreDb);
        if !is_database && !item.contains('.') {
            return Err(BadRule);
        }
        self.names_mut(rule).into_iter().for_each(|names| names.push(item.to_owned()));
        Ok(())
    }

    /// The rules of a kind as a list.
    pub fn text(&self, rule: FilterRule) -> String {
        match self.names(rule) {
            Some(names) => names.join(","),
            None => {
                let pairs = self.rewrite_db.iter().map(|(from, to)| format!("{from}->{to}"));
                pairs.collect::<Vec<_>>().join(",")
            }
        }
    }

    /// Takes the rules of the kinds of which this filter has none from another one.
    pub fn complete_from(&mut self, other: &Self) {
        for rule in FilterRule::ALL {
            if let (Some(own), Some(others)) = (self.names_mut(rule), other.names(rule)) {
                if own.is_empty() {
                    others.clone_into(own);
                }
            } else if self.rewrite_db.is_empty() {
                self.rewrite_db.clone_from(&other.rewrite_db);
            }
        }
    }

    /// Whether everything passes unchanged.
    pub fn is_empty(&self) -> bool {
        FilterRule::ALL.into_iter().all(|rule| self.names(rule).is_none_or(<[_]>::is_empty))
            && self.rewrite_db.is_empty()
    }

    /// The database that stands here for one of the primary.
    pub fn rewritten<'a>(&'a self, schema: &'a str) -> &'a str {
        let found = self.rewrite_db.iter().find(|(from, _)| self.is_same(from, schema));
        found.map_or(schema, |(_, to)| to)
    }

    /// Whether rows of a table are applied; its database is rewritten already.
    pub fn takes_table(&self, schema: &str, table: &str) -> bool {
        self.takes_db(schema) && self.takes_tables(std::iter::once((schema, table)))
    }

    /// Whether a statement is applied: its default database is `schema`, and it changes `tables`.
    /// Without tables only the rules about databases count.
    pub fn takes_statement(&self, schema: &str, tables: &[(String, String)]) -> bool {
        let names = tables.iter().map(|(schema, table)| (schema.as_str(), table.as_str()));
        self.takes_db(schema) && (tables.is_empty() || self.takes_tables(names))
    }

    /// Whether a statement about a whole database (CREATE, ALTER, DROP) is applied.
    pub fn takes_database(&self, schema: &str) -> bool {
        // Compat: patterns are compared with the name of the database and a point.
        let key = format!("{schema}.");
        if !self.takes_db(schema) {
            return false;
        }
        if pattern::any(&self.wild_do_table, &key) {
            return true;
        }
        self.wild_do_table.is_empty() && !pattern::any(&self.wild_ignore_table, &key)
    }

    /// The rules about databases. Compat: without a default database a statement passes.
    fn takes_db(&self, schema: &str) -> bool {
        let has = |names: &[String]| names.iter().any(|name| self.is_same(name, schema));
        if schema.is_empty() || self.do_db.is_empty() && self.ignore_db.is_empty() {
            return true;
        }
        if self.do_db.is_empty() { !has(&self.ignore_db) } else { has(&self.do_db) }
    }

    /// The rules about tables.
    fn takes_tables<'n>(&self, tables: impl Iterator<Item = (&'n str, &'n str)>) -> bool {
        if self.has_no_tables() {
            return true;
        }
        for (schema, table) in tables {
            let key = format!("{schema}.{table}");
            let has = |names: &[String]| names.iter().any(|name| self.is_same(name, &key));
            if has(&self.do_table) {
                return true;
            }
            if has(&self.ignore_table) {
                return false;
            }
            if pattern::any(&self.wild_do_table, &key) {
                return true;
            }
            if pattern::any(&self.wild_ignore_table, &key) {
                return false;
            }
        }
        self.do_table.is_empty() && self.wild_do_table.is_empty()
    }

    fn has_no_tables(&self) -> bool {
        [&self.do_table, &self.ignore_table, &self.wild_do_table, &self.wild_ignore_table]
            .into_iter()
            .all(Vec::is_empty)
    }

    fn is_same(&self, a: &str, b: &str) -> bool {
        a == b || self.ignores_case && folded(a) == folded(b)
    }

    /// The list of a kind; none for pairs.
    fn names(&self, rule: FilterRule) -> Option<&[String]> {
        Some(match rule {
            FilterRule::DoDb => &self.do_db,
            FilterRule::IgnoreDb => &self.ignore_db,
            FilterRule::DoTable => &self.do_table,
            FilterRule::IgnoreTable => &self.ignore_table,
            FilterRule::WildDoTable => &self.wild_do_table,
            FilterRule::WildIgnoreTable => &self.wild_ignore_table,
            FilterRule::RewriteDb => return None,
        })
    }

    fn names_mut(&mut self, rule: FilterRule) -> Option<&mut Vec<String>> {
        Some(match rule {
            FilterRule::DoDb => &mut self.do_db,
            FilterRule::IgnoreDb => &mut self.ignore_db,
            FilterRule::DoTable => &mut self.do_table,
            FilterRule::IgnoreTable => &mut self.ignore_table,
            FilterRule::WildDoTable => &mut self.wild_do_table,
            FilterRule::WildIgnoreTable => &mut self.wild_ignore_table,
            FilterRule::RewriteDb => return None,
        })
    }
}

/// A name without its letter case.
fn folded(name: &str) -> Cow<'_, str> {
    if name.chars().any(char::is_uppercase) {
        Cow::Owned(name.to_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}
