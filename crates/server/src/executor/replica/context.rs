//! The context of a statement: what the status variables of its event say.
//!
//! A setting that the event does not name has the value that the primary would have named none
//! for. Must not run statements. Variables are set only if the context is another than the last.

use selkie_replication::DecodeResult;
use selkie_replication::codec::{StatusVar, StatusVars, flags2};
use selkie_types::error::catalogue::{
    ER_UNKNOWN_CHARACTER_SET, ER_UNKNOWN_COLLATION, ER_UNKNOWN_TIME_ZONE,
};
use selkie_types::{CollationId, Locale, SqlError, SqlResult};

use super::super::session::ExecutorSession;
use super::options::names;
use crate::session::Shared;
use crate::variables::{SessionVars, VarValue, ids};

/// Bits of `sql_mode` up to the last one that is known, TIME_ROUND_FRACTIONAL.
const KNOWN_MODES: u64 = (1 << 35) - 1;

/// The part of a context that is the same for most statements of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plain {
    flags2: u32,
    sql_mode: Option<u64>,
    auto_increment: (u16, u16),
    /// Client, connection, server.
    charsets: Option<(u16, u16, u16)>,
    locale: u16,
}

/// The settings that an event says its statement ran with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    plain: Plain,
    time_zone: &'a [u8],
    /// Number of `collation_database`, if it is not the default database's own.
    collation_database: Option<u16>,
    /// User and host that the statement's definitions belong to.
    pub(super) invoker: Option<(&'a [u8], &'a [u8])>,
    /// Microseconds behind the header's seconds.
    pub(super) micros: u32,
    /// Extra flags of the group.
    pub(super) group_flags: u8,
}

/// The context that the session's variables have now.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    plain: Option<Plain>,
    time_zone: Vec<u8>,
    /// The default database, and what the event said of its collation.
    database: Option<(Box<str>, Option<u16>)>,
}

impl<'a> Context<'a> {
    pub(super) fn read(status: StatusVars<'a>) -> DecodeResult<Self> {
        let plain =
            Plain { flags2: 0, sql_mode: None, auto_increment: (1, 1), charsets: None, locale: 0 };
        let mut context = Self {
            plain,
            time_zone: &[],
            collation_database: None,
            invoker: None,
            micros: 0,
            group_flags: 0,
        };
        for var in status.iter() {
            context.take(var?);
        }
        Ok(context)
    }

    fn take(&mut self, var: StatusVar<'a>) {
        let plain = &mut self.plain;
        match var {
            StatusVar::Flags2(flags) => plain.flags2 = flags,
            StatusVar::SqlMode(mode) => plain.sql_mode = Some(mode & KNOWN_MODES),
            StatusVar::AutoIncrement(increment, offset) => {
                plain.auto_increment = (increment, offset);
            }
            StatusVar::Charset(client, connection, server) => {
                plain.charsets = Some((client, connection, server));
            }
            StatusVar::TimeZone(name) => self.time_zone = name,
            StatusVar::LcTimeNames(number) => plain.locale = number,
            StatusVar::CollationDatabase(number) => self.collation_database = Some(number),
            StatusVar::Invoker(user, host) => self.invoker = Some((user, host)),
            StatusVar::HrNow(micros) => self.micros = micros,
            StatusVar::GtidFlags3(flags, _) => self.group_flags = flags,
            // The catalog is always the same, and the others say nothing about the statement.
            StatusVar::CatalogNul(_)
            | StatusVar::Catalog(_)
            | StatusVar::TableMapForUpdate(_)
            | StatusVar::Xid(_)
            | StatusVar::Other(..)
            | StatusVar::Unknown(..) => {}
        }
    }

    /// Whether `IF EXISTS` is implied.
    pub(super) fn implies_if_exists(&self) -> bool {
        self.plain.flags2 & flags2::IF_EXISTS != 0
    }
}

impl Held {
    /// Gives the session the context of a statement. The next one is set anew if this fails.
    pub(super) fn set(
        &mut self,
        inner: &mut ExecutorSession,
        context: &Context<'_>,
        schema: &str,
    ) -> SqlResult<()> {
        let is_same = self.plain == Some(context.plain) && self.time_zone == context.time_zone;
        if !is_same {
            self.plain = None;
            // The database's collation may be the server's, which changes too.
            self.database = None;
            set_plain(&inner.shared, &context.plain)?;
            set_time_zone(&inner.shared, context.time_zone)?;
            self.plain = Some(context.plain);
            self.time_zone.clear();
            self.time_zone.extend_from_slice(context.time_zone);
            inner.shared.settings_changed();
        }
        self.enter(inner, context, schema)
    }

    /// Sets the default database, which need not exist.
    fn enter(
        &mut self,
        inner: &mut ExecutorSession,
        context: &Context<'_>,
        schema: &str,
    ) -> SqlResult<()> {
        let is_entered = inner.session.frame.schema.as_deref().unwrap_or_default() == schema;
        let is_known = self.database.as_ref().is_some_and(|(name, collation)| {
            **name == *schema && *collation == context.collation_database
        });
        if is_entered && is_known {
            return Ok(());
        }
        self.database = None;
        let snapshot = inner.instance.catalog.snapshot();
        let found = snapshot.schema(schema);
        let own = found.map(|found| found.collation);
        let collation = match context.collation_database {
            Some(number) => collation(number)?,
            None => own.unwrap_or_else(|| server_collation(&inner.shared)),
        };
        let name = found.map_or(schema, |found| &found.name);
        let name = (!name.is_empty()).then_some(name);
        if !is_entered {
            inner.session.frame.schema = name.map(Into::into);
            inner.session.frame.settings.version += 1;
            inner.shared.schema_changed(name);
        }
        let mut vars = inner.shared.vars.lock();
        let (of_database, charset) = (ids().collation_database, ids().character_set_database);
        set_collation(&mut vars, (charset, of_database), collation);
        drop(vars);
        inner.shared.settings_changed();
        self.database = Some((schema.into(), context.collation_database));
        Ok(())
    }

    /// Forgets what the session has: a statement may have changed it.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

fn set_plain(shared: &Shared, plain: &Plain) -> SqlResult<()> {
    let (ids, names) = (ids(), names());
    let globals = &shared.server.globals;
    let locale = Locale::from_number(u32::from(plain.locale)).unwrap_or_else(Locale::english);
    let charsets = match plain.charsets {
        Some((client, connection, server)) => {
            Some((collation(client)?, collation(connection)?, collation(server)?))
        }
        None => None,
    };
    let mode = match plain.sql_mode {
        Some(bits) => VarValue::Uint(bits),
        None => globals.get(ids.sql_mode),
    };
    let mut vars = shared.vars.lock();
    let has = |flag: u32| VarValue::Bool(plain.flags2 & flag != 0);
    let lacks = |flag: u32| VarValue::Bool(plain.flags2 & flag == 0);
    vars.set(names.sql_auto_is_null, has(flags2::AUTO_IS_NULL));
    vars.set(ids.check_constraint_checks, lacks(flags2::NO_CHECK_CONSTRAINTS));
    vars.set(ids.explicit_defaults_for_timestamp, has(flags2::EXPLICIT_DEFAULTS));
    vars.set(ids.foreign_key_checks, lacks(flags2::NO_FOREIGN_KEYS));
    vars.set(ids.unique_checks, lacks(flags2::NO_UNIQUE_CHECKS));
    vars.set(names.sql_if_exists, has(flags2::IF_EXISTS));
    vars.set(names.system_versioning_insert_history, has(flags2::INSERT_HISTORY));
    vars.set(ids.sql_mode, mode);
    let (increment, offset) = plain.auto_increment;
    vars.set(ids.auto_increment_increment, VarValue::Uint(increment.max(1).into()));
    vars.set(ids.auto_increment_offset, VarValue::Uint(offset.max(1).into()));
    vars.set(ids.lc_time_names, VarValue::text(locale.name));
    if let Some((client, connection, server)) = charsets {
        vars.set(ids.character_set_client, VarValue::text(client.charset().name()));
        let of_connection = (ids.character_set_connection, ids.collation_connection);
        set_collation(&mut vars, of_connection, connection);
        set_collation(&mut vars, (ids.character_set_server, ids.collation_server), server);
    }
    Ok(())
}

fn set_time_zone(shared: &Shared, name: &[u8]) -> SqlResult<()> {
    let id = ids().time_zone;
    let zone = match name {
        // Nothing the statement does depends on it.
        [] => shared.server.globals.get(id),
        name => {
            let name = String::from_utf8_lossy(name);
            if selkie_expr::TimeZone::parse(&name).is_none() {
                return Err(SqlError::new(&ER_UNKNOWN_TIME_ZONE, &[&name]));
            }
            VarValue::text(name)
        }
    };
    shared.vars.lock().set(id, zone);
    Ok(())
}

/// Sets a collation and its character set, which are variables of their own.
fn set_collation(
    vars: &mut SessionVars,
    (charset, collation): (crate::variables::VarId, crate::variables::VarId),
    value: CollationId,
) {
    vars.set(charset, VarValue::text(value.charset().name()));
    vars.set(collation, VarValue::text(value.name()));
}

fn server_collation(shared: &Shared) -> CollationId {
    let name = shared.var(ids().collation_server);
    CollationId::from_name(name.as_str()).unwrap_or(CollationId::UTF8MB4_GENERAL_CI)
}

/// Numbers of the collations that MySQL 8 alone has: `utf8mb4_0900_ai_ci` and its relatives.
const OF_MYSQL: std::ops::RangeInclusive<u16> = 255..=323;

/// The collation with a number of a primary.
fn collation(number: u16) -> SqlResult<CollationId> {
    if let Some(known) = CollationId::from_number(number) {
        return Ok(known);
    }
    match OF_MYSQL.contains(&number) {
        true => CollationId::from_name("utf8mb4_unicode_520_ci")
            .ok_or_else(|| SqlError::new(&ER_UNKNOWN_COLLATION, &[&"utf8mb4_unicode_520_ci"])),
        false => Err(SqlError::new(&ER_UNKNOWN_CHARACTER_SET, &[&format!("#{number}")])),
    }
}
