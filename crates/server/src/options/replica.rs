//! Options of a replica that are no variables, and the rules about databases and tables, each for
//! one connection or for all: `--name.replicate-do-db=db`.
//!
//! Must not know connections; they take their rules from here when they begin.

use selkie_replication::replica::{FilterRule, ParallelMode, ReplicaFilter};

use super::apply::{Parsed, Settings};
use crate::variables::{parse_option, registry};

/// Name of the variable that connections have each a value of.
const PARALLEL_MODE: &str = "slave_parallel_mode";

/// Options of a replica.
#[derive(Clone, Debug)]
pub struct ReplicaOptions {
    /// `--skip-slave-start`.
    pub skips_start: bool,
    /// `--show-slave-auth-info`.
    pub shows_accounts: bool,
    /// `--replicate-same-server-id`.
    pub takes_own_groups: bool,
    /// `--master-info-file`.
    pub info_file: String,
    /// `--master-retry-count`.
    pub retry_count: u64,
    /// Whether names of tables are compared without their letter case.
    pub ignores_case: bool,
    /// Rules with the names of their connections in lower case; the default one's are for all.
    filters: Vec<(String, FilterRule, String)>,
    /// `slave_parallel_mode` by the names of connections in lower case.
    modes: Vec<(String, ParallelMode)>,
}

impl Default for ReplicaOptions {
    fn default() -> Self {
        Self {
            skips_start: false,
            shows_accounts: false,
            takes_own_groups: false,
            info_file: "master.info".to_owned(),
            retry_count: 100_000,
            ignores_case: false,
            filters: Vec::new(),
            modes: Vec::new(),
        }
    }
}

impl ReplicaOptions {
    /// The rules that options give for a connection alone.
    pub(crate) fn filter(&self, connection: &str) -> ReplicaFilter {
        let mut filter = ReplicaFilter::new(self.ignores_case);
        let connection = connection.to_lowercase();
        for (_, rule, item) in self.filters.iter().filter(|(name, ..)| *name == connection) {
            // Their form was checked when the option was read.
            let _ = filter.add(*rule, item);
        }
        filter
    }

    /// The parallel mode that options give for a connection.
    pub(crate) fn parallel_mode(&self, connection: &str) -> ParallelMode {
        let connection = connection.to_lowercase();
        let of = |name: &str| self.modes.iter().rev().find(|(of, _)| of == name);
        of(&connection).or_else(|| of("")).map(|(_, mode)| *mode).unwrap_or_default()
    }
}

/// An option of a replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReplicaOption {
    SkipStart,
    ShowAccounts,
    SameServerId,
    InfoFile,
    RetryCount,
    /// `slave_parallel_mode` of a connection.
    ParallelMode,
    /// A rule for a connection.
    Filter(FilterRule),
}

impl ReplicaOption {
    /// The option called `name`, in lower case with underscores; a switch has lost its first word.
    pub(super) fn of(name: &str) -> Option<Self> {
        let rule = name.rsplit_once('.').map_or(name, |(_, rule)| rule);
        Some(match name {
            "slave_start" => Self::SkipStart,
            "show_slave_auth_info" => Self::ShowAccounts,
            "replicate_same_server_id" => Self::SameServerId,
            "master_info_file" => Self::InfoFile,
            "master_retry_count" => Self::RetryCount,
            _ if rule == PARALLEL_MODE => Self::ParallelMode,
            _ => Self::Filter(FilterRule::of(rule)?),
        })
    }

    /// Whether the option needs a value.
    pub(super) fn takes_value(&self) -> bool {
        !matches!(self, Self::SkipStart | Self::ShowAccounts | Self::SameServerId)
    }
}

/// Applies one of these options.
pub(super) fn apply(
    settings: &mut Settings,
    option: ReplicaOption,
    parsed: &Parsed<'_>,
) -> Result<(), String> {
    let is_on = !parsed.value.is_some_and(|value| {
        ["0", "off", "false"].iter().any(|word| value.eq_ignore_ascii_case(word))
    });
    let replica = &mut settings.replica;
    match option {
        // The name without its first word says the contrary.
        ReplicaOption::SkipStart => replica.skips_start = (parsed.switch == Some(false)) == is_on,
        ReplicaOption::ShowAccounts => {
            replica.shows_accounts = parsed.switch.unwrap_or(true) && is_on;
        }
        ReplicaOption::SameServerId => {
            replica.takes_own_groups = parsed.switch.unwrap_or(true) && is_on;
        }
        _ => {
            let value = match (parsed.switch, parsed.value) {
                (None, Some(value)) => value,
                _ => return Err(format!("option '--{}' requires an argument", parsed.text)),
            };
            return apply_value(replica, option, parsed.text, value);
        }
    }
    Ok(())
}

fn apply_value(
    replica: &mut ReplicaOptions,
    option: ReplicaOption,
    text: &str,
    value: &str,
) -> Result<(), String> {
    match option {
        ReplicaOption::InfoFile => value.clone_into(&mut replica.info_file),
        ReplicaOption::RetryCount => {
            replica.retry_count =
                value.parse().map_err(|_| format!("Unknown suffix used for '{text}'"))?;
        }
        ReplicaOption::ParallelMode => {
            let def = registry().find(PARALLEL_MODE).ok_or("no variable")?;
            let (mode, _) = parse_option(def, value)?;
            replica.modes.push((connection_of(text), ParallelMode::of(mode.as_u64())));
        }
        ReplicaOption::Filter(rule) => {
            let mut checked = ReplicaFilter::new(false);
            if checked.add(rule, value).is_err() {
                return Err(format!("Bad syntax in {}: '{value}'", rule.variable()));
            }
            replica.filters.push((connection_of(text), rule, value.to_owned()));
        }
        _ => {}
    }
    Ok(())
}

/// The name of the connection that an option is for, in lower case.
fn connection_of(text: &str) -> String {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    name.rsplit_once('.').map_or("", |(connection, _)| connection).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::super::source::Sources;
    use super::*;
    use crate::variables::startup_values;

    fn applied(options: &[&str]) -> Result<ReplicaOptions, String> {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        super::super::apply(startup_values(), &Sources { options }).map(|s| s.replica)
    }

    #[test]
    fn switches() {
        for (option, skips) in [
            ("--skip-slave-start", true),
            ("--skip_slave_start=1", true),
            ("--skip-slave-start=0", false),
            ("--slave-start=0", true),
            ("--show-slave-auth-info", false),
        ] {
            assert_eq!(applied(&[option]).unwrap().skips_start, skips, "{option}");
        }
        assert!(applied(&["--show-slave-auth-info"]).unwrap().shows_accounts);
        assert!(!applied(&["--skip-show-slave-auth-info"]).unwrap().shows_accounts);
        assert_eq!(applied(&["--master-info-file=m.info"]).unwrap().info_file, "m.info");
        assert!(applied(&["--master-info-file"]).is_err());
        assert!(applied(&["--master-retry-count=x"]).is_err());
    }

    #[test]
    fn parallel_modes_of_connections() {
        let options = applied(&["--slave-parallel-mode=minimal", "--X.slave_parallel_mode=none"]);
        let options = options.unwrap();
        assert_eq!(options.parallel_mode("x"), ParallelMode::None);
        assert_eq!(options.parallel_mode(""), ParallelMode::Minimal);
        assert_eq!(ReplicaOptions::default().parallel_mode("y"), ParallelMode::Optimistic);
        assert!(applied(&["--slave-parallel-mode=some"]).is_err());
    }

    #[test]
    fn rules_of_connections() {
        let options = applied(&[
            "--replicate-do-db=a",
            "--replicate_do_db=b",
            "--My-Name.replicate-do-db=c",
            "--replicate-rewrite-db=f->g",
        ]);
        let options = options.unwrap();
        let text = |name: &str, rule| options.filter(name).text(rule);
        assert_eq!(text("", FilterRule::DoDb), "a,b");
        assert_eq!(text("my-name", FilterRule::DoDb), "c");
        assert_eq!(text("", FilterRule::RewriteDb), "f->g");
        assert!(options.filter("other").is_empty());
        let mut all = options.filter("my-name");
        all.complete_from(&options.filter(""));
        assert_eq!(all.text(FilterRule::DoDb), "c");
        assert_eq!(all.text(FilterRule::RewriteDb), "f->g");
        for bad in ["--replicate-do-table=a", "--x.replicate-rewrite-db=a", "--x.y=1"] {
            assert!(applied(&[bad]).is_err(), "{bad}");
        }
    }
}
