//! Rules of single variables: names that must exist, texts with a required form, values that are of
//! the right kind but refused here.
//!
//! Must not depend on the session, only on the value. The embedded table names the rule of a
//! variable.

mod names;
mod text;
mod time_zone;

pub(crate) use names::OLD_LOCALE;

use selkie_types::{SqlMode, SqlResult, Value};

use super::def::VarDef;
use super::value::VarValue;

macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident = $name:literal;)*) => {
        /// A rule that checks a variable's values.
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        pub enum Rule {
            $($(#[$doc])* $rule,)*
        }

        impl Rule {
            /// The rule that the table calls `name`.
            pub(super) fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$rule),)*
                    _ => None,
                }
            }
        }
    };
}

rules! {
    /// AFTER_COMMIT, the second member.
    AfterCommit = "after_commit";
    /// A time of SYSTEM_TIME, or DEFAULT.
    AsOf = "as_of";
    /// A character set.
    Charset = "charset";
    /// A character set or NULL.
    CharsetOrNull = "charset_or_null";
    /// A character set that the parser can read, for client text.
    ClientCharset = "client_charset";
    /// A collation.
    Collation = "collation";
    /// A storage engine.
    Engine = "engine";
    /// A storage engine or NULL.
    EngineOrNull = "engine_or_null";
    /// Any text except NULL, which is a wrong argument and not a wrong value.
    GtidState = "gtid_state";
    /// A locale.
    Locale = "locale";
    /// A file that a log can be written to.
    LogFile = "log_file";
    /// Targets of logs: at least one.
    LogOutput = "log_output";
    /// The name of a replication source.
    MasterName = "master_name";
    /// Any text; NULL is stored as the empty text.
    NeverNull = "never_null";
    /// Any text except the empty one and NULL.
    NotEmpty = "not_empty";
    /// Any text except NULL.
    NotNull = "not_null";
    /// Operators of a search in boolean mode.
    Operators = "operators";
    /// Networks in CIDR form.
    Networks = "networks";
    /// A table of stop words.
    StopWords = "stop_words";
    /// ON or OFF, but none of the later members.
    OnOrOff = "on_or_off";
    /// Pairs of schemas, `a->b`.
    Rewrites = "rewrites";
    /// Names or patterns of tables, each with its schema.
    TableList = "table_list";
    /// SQL modes; some imply others.
    SqlMode = "sql_mode";
    /// A directory that can be written to.
    Directory = "directory";
    /// Names of variables.
    Tracked = "tracked";
    /// A time zone.
    TimeZone = "time_zone";
}

impl Rule {
    /// Whether the values are names from one fixed list of the server.
    pub fn is_of_names(self) -> bool {
        use Rule::{Charset, CharsetOrNull, ClientCharset, Collation, Locale};
        matches!(self, Charset | CharsetOrNull | ClientCharset | Collation | Locale)
    }
}

/// The value that `SET def = given` stores in a variable of kind text.
pub(super) fn assign_text(def: &VarDef, given: &Value) -> SqlResult<VarValue> {
    match def.rule {
        Some(Rule::Charset | Rule::CharsetOrNull | Rule::ClientCharset) => {
            names::charset(def, given)
        }
        Some(Rule::Collation) => names::collation(def, given),
        Some(Rule::Engine | Rule::EngineOrNull) => names::engine(def, given),
        Some(Rule::Locale) => names::locale(def, given),
        Some(Rule::Tracked) => names::tracked(def, given),
        Some(Rule::TimeZone) => time_zone::assign(def, given),
        _ => text::assign(def, given),
    }
}

/// The value that an option gives to a variable of kind text; the error is a sentence for the log.
pub(super) fn option_text(def: &VarDef, text: &str) -> Result<VarValue, String> {
    match def.rule {
        None | Some(Rule::LogFile | Rule::Directory | Rule::StopWords) => Ok(VarValue::text(text)),
        Some(_) if text.is_empty() => Ok(VarValue::text("")),
        Some(_) => assign_text(def, &Value::bytes(text)).map_err(|e| e.message().to_owned()),
    }
}

/// The value of a text that only an option may give. Compat: SET does not disable the scheduler.
pub(super) fn only_by_option(def: &VarDef, text: &str) -> Option<VarValue> {
    let is_disabled = text == "2" || text.eq_ignore_ascii_case("DISABLED");
    (def.rule == Some(Rule::OnOrOff) && is_disabled).then_some(VarValue::Enum(2))
}

/// Whether a value of the right kind is allowed for the variable.
pub(super) fn is_good(def: &VarDef, value: &VarValue) -> bool {
    match (def.rule, value) {
        (Some(Rule::LogOutput), VarValue::Uint(bits)) => *bits != 0,
        (Some(Rule::OnOrOff), VarValue::Enum(at)) => *at < 2,
        // No reader of tables waits for replicas yet, so that the other member would be a lie.
        (Some(Rule::AfterCommit), VarValue::Enum(at)) => *at == 1,
        _ => true,
    }
}

/// The bits with those they imply: some modes of `sql_mode` stand for several.
pub(super) fn complete_set(def: &VarDef, bits: u64) -> u64 {
    match def.rule {
        Some(Rule::SqlMode) => SqlMode::from_bits(bits).map_or(bits, |m| m.bits()),
        _ => bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::registry;

    fn code(name: &str, value: Value) -> u16 {
        let def = registry().find(name).unwrap();
        assign_text(def, &value).err().map_or(0, |e| e.code())
    }

    #[test]
    fn names_must_exist() {
        assert_eq!(code("character_set_client", Value::bytes("foo")), 1115);
        assert_eq!(code("character_set_client", Value::bytes("utf16")), 1231);
        assert_eq!(code("character_set_client", Value::Null), 1231);
        assert_eq!(code("character_set_results", Value::Null), 0);
        assert_eq!(code("collation_connection", Value::bytes("foo")), 1273);
        assert_eq!(code("default_storage_engine", Value::bytes("foo")), 1286);
        assert_eq!(code("default_storage_engine", Value::Null), 1231);
        assert_eq!(code("enforce_storage_engine", Value::Null), 0);
        assert_eq!(code("lc_time_names", Value::bytes("xx")), 1649);
        assert_eq!(code("session_track_system_variables", Value::bytes("a")), 1193);
        assert_eq!(code("init_connect", Value::Int(5)), 1232);
        assert_eq!(code("default_master_connection", Value::bytes("a".repeat(192))), 1231);
    }

    #[test]
    fn time_zones() {
        for good in ["+05:30", "-12:59", "+13:00", "SYSTEM", "UTC", "Europe/Berlin"] {
            assert_eq!(code("time_zone", Value::bytes(good)), 0, "{good}");
        }
        for bad in ["foo", "+13:01", "5:30", "+1", "+", "-13:00", "+14:00"] {
            assert_eq!(code("time_zone", Value::bytes(bad)), 1298, "{bad}");
        }
        assert_eq!(code("time_zone", Value::Int(5)), 1232);
        assert_eq!(code("time_zone", Value::Null), 1231);
    }
}
