//! Values that events set for the next statement only: numbers, seeds, user variables.
//!
//! Must not touch the session before the statement runs: it may be filtered.

use selkie_exec::Session;
use selkie_replication::codec::{Intvar, Rand, UserValue, UserVar};
use selkie_replication::images::{decimal_bytes, read_decimal};
use selkie_types::{CollationId, SqlType, Value};

use super::failures;
use crate::backend::Failed;

/// Values for the next statement.
#[derive(Debug, Default)]
pub(super) struct Once {
    insert_id: Option<u64>,
    last_insert_id: Option<u64>,
    seeds: Option<(u32, u32)>,
    variables: Vec<(String, Value, SqlType)>,
}

impl Once {
    pub(super) fn intvar(&mut self, intvar: Intvar) -> Result<(), Failed> {
        match intvar.which {
            Intvar::LAST_INSERT_ID => self.last_insert_id = Some(intvar.value),
            Intvar::INSERT_ID => self.insert_id = Some(intvar.value),
            // Compat: an unknown kind is ignored.
            _ => {}
        }
        Ok(())
    }

    pub(super) fn rand(&mut self, rand: Rand) -> Result<(), Failed> {
        self.seeds = Some((rand.seed1 as u32, rand.seed2 as u32));
        Ok(())
    }

    pub(super) fn user_variable(&mut self, variable: &UserVar<'_>) -> Result<(), Failed> {
        let name = String::from_utf8_lossy(variable.name).into_owned();
        let (value, ty) = match &variable.value {
            None => (Value::Null, SqlType::null()),
            Some(value) => value_of(value)?,
        };
        self.variables.push((name, value, ty));
        Ok(())
    }

    /// Gives the values to the session. They are taken.
    pub(super) fn give(&mut self, session: &Session) {
        let Self { insert_id, last_insert_id, seeds, variables } = std::mem::take(self);
        if insert_id.is_some() {
            *session.core.next_insert_id.lock() = insert_id;
        }
        if let Some(id) = last_insert_id {
            session.values.last_insert_id.set(id);
            session.values.auto_is_null.generated();
        }
        seeds.iter().for_each(|seeds| session.core.random_seeds.set(*seeds));
        for (name, value, ty) in variables {
            selkie_expr::Session::set_user_variable(session, &name, value, &ty);
        }
    }

    /// Takes the values from the session again, and what the statement made of them.
    pub(super) fn take_back(session: &Session) {
        *session.core.next_insert_id.lock() = None;
        session.values.last_insert_id.set(0);
        session.values.auto_is_null.forget();
        session.core.random_seeds.forget();
        let mut variables = session.core.variables.lock();
        if !variables.is_empty() {
            variables.clear();
        }
    }
}

fn value_of(value: &UserValue<'_>) -> Result<(Value, SqlType), Failed> {
    let unreadable = || failures::of_text("value of a user variable");
    let eight = || <[u8; 8]>::try_from(value.bytes).map_err(|_| unreadable());
    Ok(match value.kind {
        UserValue::REAL => (Value::Double(f64::from_le_bytes(eight()?)), SqlType::double()),
        UserValue::INT if value.is_unsigned() => {
            (Value::UInt(u64::from_le_bytes(eight()?)), SqlType::bigint_unsigned())
        }
        UserValue::INT => (Value::Int(i64::from_le_bytes(eight()?)), SqlType::bigint()),
        UserValue::DECIMAL => {
            let [precision, scale, digits @ ..] = value.bytes else { return Err(unreadable()) };
            let digits = digits.get(..decimal_bytes(*precision, *scale)).ok_or_else(unreadable)?;
            let number = read_decimal(digits, *precision, *scale).map_err(|_| unreadable())?;
            (Value::Decimal(number), SqlType::decimal(u32::from(*precision), *scale))
        }
        UserValue::STRING => {
            let known = u16::try_from(value.collation).ok().and_then(CollationId::from_number);
            let collation = known.unwrap_or(CollationId::UTF8MB4_GENERAL_CI);
            let characters = u32::try_from(value.bytes.len()).unwrap_or(u32::MAX);
            (Value::bytes(value.bytes), SqlType::varchar(characters, collation))
        }
        _ => return Err(unreadable()),
    })
}
