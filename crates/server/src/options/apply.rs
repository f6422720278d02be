//! Sets variables from options.
//!
//! Must not read files.

use std::time::Duration;

use super::logs::{self, BinlogOptions};
use super::other::{Meaning, meaning};
use super::replica::{self, ReplicaOptions};
use super::source::Sources;
use crate::performance::Wish;
use crate::variables::{Kind, Link, OptionArgument, VarDef, VarValue, parse_option, registry};

/// Variables after all options, with the warnings for the log.
#[derive(Debug)]
pub struct Settings {
    /// Value of each variable of the registry.
    pub values: Vec<VarValue>,
    /// Whether an option set the variable, by variable.
    pub given: Vec<bool>,
    /// Whether TLS is on, by `--ssl` or by another TLS option. Compat: a later TLS option switches
    /// TLS on again.
    pub tls_wanted: bool,
    /// Time to wait for a port that is in use.
    pub port_wait: Duration,
    /// Whether an option may be named by the start of its name.
    pub takes_prefixes: bool,
    /// The binary log's options.
    pub binlog: BinlogOptions,
    /// Options of a replica.
    pub replica: ReplicaOptions,
    /// Switches of `performance_schema`.
    pub(crate) measured: Vec<Wish>,
    /// Plugins that are switched off.
    pub without: Vec<&'static str>,
    /// Warnings for the log.
    pub warnings: Vec<String>,
}

/// Applies the options to `values` in order; the error is the sentence to refuse the start with.
pub fn apply(values: Vec<VarValue>, sources: &Sources) -> Result<Settings, String> {
    let given = vec![false; values.len()];
    let binlog = BinlogOptions::default();
    let mut settings = Settings {
        values,
        given,
        tls_wanted: false,
        port_wait: Duration::ZERO,
        takes_prefixes: true,
        binlog,
        replica: ReplicaOptions::default(),
        measured: Vec::new(),
        without: Vec::new(),
        warnings: Vec::new(),
    };
    let plugins = named_plugins(&sources.options);
    settings.warnings.extend(plugins.iter().map(|plugin| {
        format!(
            "plugin '{plugin}' is not available; options that begin with its name have no effect"
        )
    }));
    for option in &sources.options {
        settings.apply_option(option, &plugins)?;
    }
    Ok(settings)
}

/// Names of the plugins in `plugin-load` and `plugin-load-add`, in lower case. Packages of MariaDB
/// put such lines into option files that every server on the machine reads.
fn named_plugins(options: &[String]) -> Vec<String> {
    let loads = options.iter().map(|o| parse(o)).filter(|p| p.name.starts_with("plugin_load"));
    let mut names: Vec<String> = loads
        .flat_map(|load| load.value.unwrap_or_default().split([';', ':']))
        .filter_map(|plugin| plugin.split('=').next())
        .map(|name| name.trim_end_matches(".so").replace('-', "_").to_ascii_lowercase())
        .filter(|name| !name.is_empty())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Whether an option belongs to a plugin: it has the plugin's name, or that name as a prefix.
fn belongs_to(plugin: &str, option: &str) -> bool {
    option.strip_prefix(plugin).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// A parsed option.
pub(super) struct Parsed<'a> {
    pub(super) text: &'a str,
    name: String,
    pub(super) value: Option<&'a str>,
    loose: bool,
    /// False for `--skip-name`, true for `--enable-name`.
    pub(super) switch: Option<bool>,
    maximum: bool,
}

fn parse(option: &str) -> Parsed<'_> {
    let text = option.trim_start_matches("--");
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let mut name = name.replace('-', "_").to_ascii_lowercase();
    let mut take = |prefix: &str| match name.strip_prefix(prefix) {
        Some(rest) => {
            name = rest.to_owned();
            true
        }
        None => false,
    };
    let loose = take("loose_");
    let maximum = take("maximum_");
    // Names that start like a switch but are variables stay unchanged.
    let switch = if registry().find(&name).is_some() {
        None
    } else if take_switch(&mut name, &["skip_", "disable_"]) {
        Some(false)
    } else if take_switch(&mut name, &["enable_"]) {
        Some(true)
    } else {
        None
    };
    Parsed { text, name, value, loose, switch, maximum }
}

fn take_switch(name: &mut String, prefixes: &[&str]) -> bool {
    let found = prefixes.iter().find_map(|p| name.strip_prefix(p)).map(str::to_owned);
    found.map(|rest| *name = rest).is_some()
}

impl Settings {
    /// The value of a variable.
    pub fn get(&self, def: &VarDef) -> &VarValue {
        &self.values[usize::from(def.id.0)]
    }

    fn apply_option(&mut self, option: &str, plugins: &[String]) -> Result<(), String> {
        let parsed = parse(option);
        match meaning(&parsed.name) {
            Meaning::Unknown if plugins.iter().any(|p| belongs_to(p, &parsed.name)) => Ok(()),
            Meaning::Variable(name) => self.set(name, &parsed),
            Meaning::Prefix(name) if self.takes_prefixes => {
                self.warnings.push(format!(
                    "Using unique option prefix '{}' is error-prone and can break in the \
                     future. Please use the full name '{}' instead.",
                    parsed.name,
                    name.replace('_', "-")
                ));
                self.set(name, &parsed)
            }
            Meaning::Accepted => Ok(()),
            Meaning::Plugin(plugin) => {
                self.without.retain(|other| *other != plugin);
                if !is_on(&parsed)? {
                    self.without.push(plugin);
                }
                Ok(())
            }
            Meaning::Tls => {
                self.tls_wanted = is_on(&parsed)?;
                Ok(())
            }
            Meaning::PortWait => {
                let seconds = parsed.value.and_then(|seconds| seconds.parse().ok());
                self.port_wait = Duration::from_secs(seconds.ok_or_else(|| unknown(&parsed))?);
                Ok(())
            }
            Meaning::Prefixes => {
                self.takes_prefixes = is_on(&parsed)?;
                Ok(())
            }
            Meaning::Removed => {
                self.warnings.push(format!(
                    "'{}' was removed. It does nothing now and exists only \
                     for compatibility with old my.cnf files.",
                    parsed.name.replace('_', "-")
                ));
                Ok(())
            }
            Meaning::Consumer(consumer) => {
                let on = is_on(&parsed)?;
                self.measured.push(Wish::Consumer(consumer, on));
                Ok(())
            }
            Meaning::Instrument => {
                let (pattern, value) =
                    parsed.value.unwrap_or_default().split_once('=').unwrap_or_default();
                let (pattern, value) = (pattern.trim().to_owned(), value.trim().to_owned());
                self.measured.push(Wish::Instruments(pattern, value));
                Ok(())
            }
            Meaning::Log(option) => logs::apply(self, option, &parsed),
            Meaning::Replica(option) => replica::apply(self, option, &parsed),
            Meaning::Unknown | Meaning::Prefix(_) | Meaning::Ambiguous(_) if parsed.loose => {
                self.warnings.push(unknown(&parsed));
                Ok(())
            }
            Meaning::Unknown | Meaning::Prefix(_) => Err(unknown(&parsed)),
            Meaning::Ambiguous(_) if !self.takes_prefixes => Err(unknown(&parsed)),
            Meaning::Ambiguous(names) => {
                Err(format!("ambiguous option '--{}' ({})", parsed.text, names.join(", ")))
            }
        }
    }

    fn set(&mut self, name: &'static str, parsed: &Parsed<'_>) -> Result<(), String> {
        if parsed.maximum {
            return Ok(());
        }
        let Some(def) = registry().find(name) else { return Err(unknown(parsed)) };
        let text = match (parsed.switch, parsed.value, &def.kind) {
            (Some(on), None, _) => if on { "1" } else { "0" }.to_owned(),
            (Some(_), Some(_), _) => return Err(unknown(parsed)),
            (None, Some(value), _) => value.to_owned(),
            (None, None, Kind::Bool) => "1".to_owned(),
            (None, None, _) if def.argument == OptionArgument::Required => {
                return Err(format!("option '--{}' requires an argument", parsed.text));
            }
            (None, None, Kind::Text) => String::new(),
            (None, None, _) => "1".to_owned(),
        };
        let (value, note) = parse_option(def, &text)?;
        self.warnings.extend(note);
        self.store(def, value);
        Ok(())
    }

    /// Names of variables that an option set although they have no effect here.
    pub fn without_effect(&self) -> Vec<&'static str> {
        let given = registry().all().iter().filter(|d| self.given[usize::from(d.id.0)]);
        given.filter(|d| !d.effect).map(|d| d.name).collect()
    }

    fn store(&mut self, def: &VarDef, value: VarValue) {
        let at = usize::from(def.id.0);
        if let Some(Link::Twin(twin)) = def.link {
            self.derive(twin, value.clone());
        }
        self.values[at] = value;
        self.given[at] = true;
        self.tls_wanted |= def.name.starts_with("ssl_");
    }

    /// Sets a variable whose value follows from other values.
    pub fn derive(&mut self, name: &str, value: VarValue) {
        if let Some(def) = registry().find(name) {
            self.values[usize::from(def.id.0)] = value;
        }
    }

    /// Whether an option set the variable.
    pub fn is_given(&self, name: &str) -> bool {
        registry().find(name).is_some_and(|d| self.given[usize::from(d.id.0)])
    }
}

/// The value of a switch that is no variable: `--ssl`, `--ssl=0`, `--skip-ssl`.
fn is_on(parsed: &Parsed<'_>) -> Result<bool, String> {
    match (parsed.switch, parsed.value) {
        (Some(on), None) => Ok(on),
        (None, value) => {
            let off = ["0", "off", "false"];
            Ok(!value.is_some_and(|v| off.iter().any(|o| v.eq_ignore_ascii_case(o))))
        }
        (Some(_), Some(_)) => Err(unknown(parsed)),
    }
}

/// mariadbd's sentence about an unknown option; with a value it is called a variable.
fn unknown(parsed: &Parsed<'_>) -> String {
    match parsed.value {
        Some(_) => format!("unknown variable '{}'", parsed.text),
        None => format!("unknown option '--{}'", parsed.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::startup_values;

    fn applied(options: &[&str]) -> Result<Settings, String> {
        let options = options.iter().map(|o| (*o).to_owned()).collect();
        apply(startup_values(), &Sources { options })
    }

    fn shown(options: &[&str], name: &str) -> String {
        let def = registry().find(name).unwrap();
        applied(options).unwrap().get(def).show(def)
    }

    #[test]
    fn options_of_plugins_that_are_loaded_elsewhere_have_no_effect() {
        let settings =
            applied(&["--provider-lz4=FORCE", "--plugin_load_add=provider_lz4"]).unwrap();
        assert_eq!(settings.warnings.len(), 1, "{:?}", settings.warnings);
        assert!(applied(&["--provider-lz4x=1", "--plugin-load=a.so;provider_lz4.so"]).is_err());
    }

    #[test]
    fn plugins_are_options() {
        for option in ["--innodb-trx", "--skip-innodb-cmp-reset", "--partition=FORCE"] {
            assert!(applied(&[option]).unwrap().warnings.is_empty(), "{option}");
        }
        let without = |options: &[&str]| applied(options).unwrap().without;
        assert!(without(&["--user-variables", "--innodb-trx=FORCE"]).is_empty());
        let off = ["--skip-user-variables", "--innodb-trx=OFF", "--thread-pool-waits=0"];
        assert_eq!(without(&off), ["user_variables", "innodb_trx", "thread_pool_waits"]);
        assert!(without(&["--skip-user-variables", "--user-variables=ON"]).is_empty());
    }

    #[test]
    fn forms_of_a_variable() {
        assert_eq!(shown(&["--max-connections=400"], "max_connections"), "400");
        assert_eq!(
            shown(&["--innodb_buffer_pool_size=1G"], "innodb_buffer_pool_size"),
            "1073741824"
        );
        assert_eq!(shown(&["--skip-networking"], "skip_networking"), "ON");
        assert_eq!(shown(&["--skip-innodb-doublewrite"], "innodb_doublewrite"), "OFF");
        assert_eq!(shown(&["--enable-local-infile"], "local_infile"), "ON");
        assert_eq!(
            shown(&["--transaction-isolation=READ-COMMITTED"], "tx_isolation"),
            "READ-COMMITTED"
        );
        assert_eq!(shown(&["--character-set-server=latin1"], "character_set_server"), "latin1");
        assert_eq!(shown(&["--sql-mode="], "sql_mode"), "");
        assert_eq!(shown(&["--tmpdir=/x", "--tmpdir=/y"], "tmpdir"), "/y");
    }

    #[test]
    fn logs_are_named_by_their_options() {
        let name = |options: &[&str]| applied(options).unwrap().binlog.name;
        assert_eq!(name(&[]), None);
        assert_eq!(name(&["--log-bin"]), Some(String::new()));
        assert_eq!(name(&["--log-bin=0"]), Some("0".to_owned()));
        assert_eq!(name(&["--log-bin=a", "--skip-log-bin"]), None);
        assert_eq!(name(&["--skip-log-bin", "--log-bin=a"]), Some("a".to_owned()));
        assert_eq!(name(&["--log-bin=a", "--log-basename=b"]), Some("b-bin".to_owned()));
        assert_eq!(name(&["--log-basename=b"]), None);
        assert_eq!(shown(&["--log-basename=b"], "general_log_file"), "b.log");
        assert_eq!(shown(&["--log-basename=b"], "relay_log"), "b-relay-bin");
        assert!(applied(&["--log-basename=b.c"]).is_err());
        assert!(applied(&["--binlog-do-db"]).is_err());
        let given = applied(&["--binlog-do-db=a", "--binlog-do-db=b"]).unwrap();
        assert_eq!(given.binlog.databases, ["a", "b"]);
    }

    #[test]
    fn unknown_options_are_named() {
        assert_eq!(applied(&["--foo=1"]).unwrap_err(), "unknown variable 'foo=1'");
        assert_eq!(applied(&["--foo"]).unwrap_err(), "unknown option '--foo'");
        assert!(applied(&["--loose-foo=1"]).unwrap().warnings[0].contains("foo=1"));
        assert!(applied(&["--max-con=5"]).unwrap_err().starts_with("ambiguous option"));
        assert!(applied(&["--max-connection=50"]).is_ok());
        let whole = |option| applied(&["--disable-getopt-prefix-matching", option]).unwrap_err();
        assert_eq!(whole("--max-connection=50"), "unknown variable 'max-connection=50'");
        assert_eq!(whole("--max-con=5"), "unknown variable 'max-con=5'");
    }
}
