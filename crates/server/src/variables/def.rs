//! One variable's definition, read from the embedded table.
//!
//! Must not hold values.

/// Position of a variable in the registry.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u16);

/// Where a variable has values.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One value for the server.
    Global,
    /// One for the server, from which each session starts with its own.
    Session,
    /// One for each session, none for the server.
    SessionOnly,
}

/// What values a variable takes.
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
        /// Values are rounded down to a multiple.
        block: i64,
    },
    /// Unsigned integer.
    Uint {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
        /// Values are rounded down to a multiple.
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
    /// Any of `names`, separated by commas.
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

/// How the variable's startup option takes its argument.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum OptionArgument {
    /// There is no option.
    NoOption,
    /// Must be given.
    Required,
    /// May be left out.
    Optional,
    /// Is never given.
    None,
}

/// A system variable.
#[derive(Clone, Debug)]
pub struct VarDef {
    /// Position in the registry.
    pub id: VarId,
    /// Name as SHOW VARIABLES spells it.
    pub name: &'static str,
    /// Where it has values.
    pub scope: Scope,
    /// What values it takes.
    pub kind: Kind,
    /// Default as text; `None` is NULL or computed at startup.
    pub default: Option<&'static str>,
    /// Names of an enumeration or set.
    pub names: Vec<&'static str>,
    /// Whether SET may change it.
    pub access: Access,
    /// Its startup option.
    pub argument: OptionArgument,
}

impl VarDef {
    /// Reads a line of the table.
    pub(super) fn parse(id: VarId, line: &'static str) -> Option<Self> {
        let fields: Vec<&'static str> = line.split('\t').collect();
        let &[name, scope, kind, default, min, max, block, names, access, argument] = &fields[..]
        else {
            return None;
        };
        let names = optional(names).map_or(Vec::new(), |n| n.split(',').collect());
        Some(Self {
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
        })
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

fn number<T: std::str::FromStr>(field: &str, otherwise: T) -> T {
    field.parse().unwrap_or(otherwise)
}

fn parse_kind(kind: &str, min: &str, max: &str, block: &str, no_names: bool) -> Kind {
    let signed = |low: i64, high: i64| Kind::Int {
        min: number(min, low),
        max: number(max, high),
        block: number(block, 1).max(1),
    };
    let unsigned = |high: u64| Kind::Uint {
        min: number(min, 0),
        max: number(max, high),
        block: number(block, 1).max(1),
    };
    match kind {
        "bool" => Kind::Bool,
        "i64" => signed(i64::MIN, i64::MAX),
        "i32" => signed(i64::from(i32::MIN), i64::from(i32::MAX)),
        "u64" => unsigned(u64::MAX),
        "u32" => unsigned(u64::from(u32::MAX)),
        "double" => Kind::Double { min: number(min, 0.0), max: number(max, f64::MAX) },
        // Names of character sets, collations and locales are checked by rules of their own.
        "enum" if no_names => Kind::Text,
        "enum" => Kind::Enum,
        "set" => Kind::Set,
        "flags" => Kind::Flags,
        _ => Kind::Text,
    }
}
