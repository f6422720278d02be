//! Definition of one variable, read from a line of the embedded table
//! (`data/system_variables.tsv`).
//!
//! Must not hold values.

use super::rules::Rule;
use crate::accounts::Privileges;

/// Position of a variable in the registry.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u16);

/// Scope of a variable's values.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One value for the server.
    Global,
    /// One for the server; each session starts with it and has its own.
    Session,
    /// One for each session, none for the server.
    SessionOnly,
}

/// Kind of a variable's values.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// ON or OFF.
    Bool,
    /// Signed integer.
    Int {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
        /// Values are rounded down to a multiple of this.
        block: i64,
    },
    /// Unsigned integer.
    Uint {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
        /// Values are rounded down to a multiple of this.
        block: u64,
    },
    /// Floating point with six decimals.
    Double {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// A string or NULL.
    Text,
    /// One of `names`.
    Enum,
    /// Any subset of `names`, separated by commas.
    Set,
    /// `name=on|off|default` for each of `names`, separated by commas.
    Flags,
}

/// Whether SET may change a variable.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Only at startup.
    ReadOnly,
    /// At any time.
    Writable,
}

/// Use of an argument by the variable's startup option.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum OptionArgument {
    /// There is no option.
    NoOption,
    /// The argument is required.
    Required,
    /// The argument is optional.
    Optional,
    /// There is no argument.
    None,
}

/// A system variable.
#[derive(Clone, Debug)]
pub struct VarDef {
    /// Position in the registry.
    pub id: VarId,
    /// Name as SHOW VARIABLES spells it.
    pub name: &'static str,
    /// Scope of its values.
    pub scope: Scope,
    /// Kind of its values.
    pub kind: Kind,
    /// Default as text; `None` if it is NULL or computed at startup.
    pub default: Option<&'static str>,
    /// Names of an enumeration or set.
    pub names: Vec<&'static str>,
    /// Whether SET may change it.
    pub access: Access,
    /// Argument of its startup option.
    pub argument: OptionArgument,
    /// Whether it has an effect on this server, or states a fact about it.
    pub effect: bool,
    /// Privileges for SET GLOBAL; one of them is enough.
    pub global_privileges: Privileges,
    /// Privileges for the session's value; one of them is enough, and none is needed if this is
    /// empty.
    pub own_privileges: Privileges,
    /// Whether it is deprecated.
    pub deprecated: Option<Deprecated>,
    /// A variable that changes with it.
    pub link: Option<Link>,
    /// The rule that checks its values.
    pub rule: Option<Rule>,
    /// Its value without options, if that differs from the default.
    pub start: Option<&'static str>,
    /// Whether a session's value is always the server's and cannot be set.
    pub follows: bool,
    /// Whether `SET ... = DEFAULT` is refused.
    pub no_default: bool,
    /// Whether SET STATEMENT cannot set it.
    pub alone: bool,
    /// Whether only a session's value can be set, although the server has one.
    pub own_only: bool,
    /// Whether each key cache has its own value.
    pub component: bool,
    /// Whether it is NULL until an option or SET gives it a value.
    pub unset: bool,
    /// Whether it returns to OFF right after it was switched on.
    pub momentary: bool,
    /// Whether it is a number of 32 bits.
    pub narrow: bool,
    /// Whether it has a startup option although the column for that says it has none.
    pub has_option: bool,
}

/// A deprecated variable.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Deprecated {
    /// Its replacement.
    pub instead: Option<&'static str>,
}

/// Relation of two variables.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// Both are names of the same value.
    Twin(&'static str),
    /// ON means that a set contains a member, or that it does not.
    Member {
        /// The set.
        set: &'static str,
        /// The member.
        name: &'static str,
        /// The value that means the set contains the member.
        on: bool,
    },
}

impl VarDef {
    /// Reads a line of the table; `None` if the line is malformed.
    pub(super) fn parse(id: VarId, line: &'static str) -> Option<Self> {
        let fields: Vec<&'static str> = line.split('\t').collect();
        let &[name, scope, kind, default, min, max, block, names, access, argument, attributes] =
            &fields[..]
        else {
            return None;
        };
        let names = optional(names).map_or(Vec::new(), |n| n.split(',').collect());
        let mut def = Self {
            id,
            name,
            scope: match scope {
                "G" => Scope::Global,
                "S" => Scope::Session,
                _ => Scope::SessionOnly,
            },
            kind: parse_kind(kind, min, max, block, names.is_empty()),
            default: optional(default),
            names,
            access: if access == "R" { Access::ReadOnly } else { Access::Writable },
            argument: match argument {
                "R" => OptionArgument::Required,
                "O" => OptionArgument::Optional,
                "N" => OptionArgument::None,
                _ => OptionArgument::NoOption,
            },
            effect: false,
            global_privileges: Privileges::SUPER,
            own_privileges: Privileges::NONE,
            deprecated: None,
            link: None,
            rule: None,
            start: None,
            follows: false,
            no_default: false,
            alone: false,
            own_only: false,
            component: false,
            unset: false,
            momentary: false,
            narrow: matches!(kind, "i32" | "u32"),
            has_option: argument != "-",
        };
        for attribute in optional(attributes).unwrap_or_default().split(' ') {
            def.take(attribute)?;
        }
        Some(def)
    }

    /// Reads an attribute.
    fn take(&mut self, attribute: &'static str) -> Option<()> {
        let (key, value) = match attribute.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (attribute, None),
        };
        match (key, value) {
            ("", None) => {}
            ("effect", None) => self.effect = true,
            ("follows", None) => self.follows = true,
            ("no_default", None) => self.no_default = true,
            ("option", None) => self.has_option = true,
            ("alone", None) => self.alone = true,
            ("own_only", None) => self.own_only = true,
            ("component", None) => self.component = true,
            ("unset", None) => self.unset = true,
            ("momentary", None) => self.momentary = true,
            ("old", instead) => self.deprecated = Some(Deprecated { instead }),
            ("global", Some(names)) => self.global_privileges = parse_privileges(names)?,
            ("own", Some(names)) => self.own_privileges = parse_privileges(names)?,
            ("rule", Some(name)) => self.rule = Some(Rule::from_name(name)?),
            ("start", Some(value)) => self.start = Some(value),
            ("twin", Some(name)) => self.link = Some(Link::Twin(name)),
            ("part" | "lack", Some(member)) => {
                let (set, name) = member.split_once('.')?;
                self.link = Some(Link::Member { set, name, on: key == "part" });
            }
            _ => return None,
        }
        Some(())
    }

    /// Whether sessions have a value of their own.
    pub fn has_session_value(&self) -> bool {
        self.scope != Scope::Global
    }

    /// Whether the server has a value.
    pub fn has_global_value(&self) -> bool {
        self.scope != Scope::SessionOnly
    }
}

fn optional(field: &'static str) -> Option<&'static str> {
    (field != "\\N").then_some(field)
}

/// Privileges in the form `SUPER+BINLOG-ADMIN`; names have hyphens instead of spaces.
fn parse_privileges(names: &str) -> Option<Privileges> {
    let one = |name: &str| Privileges::from_name(&name.replace('-', " "));
    names.split('+').try_fold(Privileges::NONE, |all, name| Some(all | one(name)?))
}

fn number<T: std::str::FromStr>(field: &str, otherwise: T) -> T {
    field.parse().unwrap_or(otherwise)
}

fn parse_kind(kind: &str, min: &str, max: &str, block: &str, no_names: bool) -> Kind {
    let signed = |low: i64, high: i64| Kind::Int {
        min: number(min, low),
        max: number(max, high),
        block: number(block, 1),
    };
    let unsigned = |high: u64| Kind::Uint {
        min: number(min, 0),
        max: number(max, high),
        block: number(block, 1),
    };
    match kind {
        "bool" => Kind::Bool,
        "i64" => signed(i64::MIN, i64::MAX),
        "i32" => signed(i64::from(i32::MIN), i64::from(i32::MAX)),
        "u64" => unsigned(u64::MAX),
        "u32" => unsigned(u64::from(u32::MAX)),
        "double" => Kind::Double { min: number(min, 0.0), max: number(max, f64::MAX) },
        // Rules of their own check the names of character sets, collations and locales.
        "enum" if no_names => Kind::Text,
        "enum" => Kind::Enum,
        "set" => Kind::Set,
        "flags" => Kind::Flags,
        _ => Kind::Text,
    }
}
