//! ROUND, TRUNCATE, CEILING and FLOOR of dates and times: they change the fraction of a second.
//! Called by `round.rs` for temporal arguments.

use selkie_types::error::catalogue::ER_WRONG_VALUE_FOR_TYPE;
use selkie_types::temporal::MICROS_PER_DAY;
use selkie_types::{Column, DateTime, Physical, SqlResult, SqlType, Time, TypeKind};

use crate::cast;
use crate::expr::{CallOption, Expr};
use crate::function::Binding;
use crate::kernel::{Frame, map, try_map};

/// Handling of the removed digits of the fraction.
#[derive(Clone, Copy)]
pub(super) enum Way {
    Nearest,
    Down,
    Up,
    /// Towards zero.
    Cut,
}

impl Way {
    fn from_number(number: i64) -> Self {
        [Self::Nearest, Self::Down, Self::Up, Self::Cut][(number & 3) as usize]
    }

    /// `micros` in whole multiples of `unit`.
    fn apply(self, micros: i64, unit: i64) -> i64 {
        let down = micros.div_euclid(unit) * unit;
        let up = if down == micros { down } else { down + unit };
        match self {
            Self::Down => down,
            Self::Up => up,
            Self::Cut => micros / unit * unit,
            Self::Nearest if (micros - down) * 2 == unit && micros < 0 => down,
            Self::Nearest if (micros - down) * 2 >= unit => up,
            Self::Nearest => down,
        }
    }
}

/// The call for a temporal argument, with `places` digits of the fraction; `None` for other types.
pub(super) fn bind(b: &mut Binding<'_>, way: Way, places: Option<i64>) -> Option<SqlResult<Expr>> {
    if !b.args[0].ty.is_temporal() {
        return None;
    }
    let arg = std::mem::replace(&mut b.args[0], Expr::null());
    let mut b = Binding::new(b.function, vec![arg], b.types);
    cast::local(&mut b.args[0]);
    cast::to_dates_of_mode(&mut b.args[0]);
    let fsp = places.map_or(b.args[0].ty.decimals, |places| places.clamp(0, 6) as u8);
    b.option = CallOption::Number(way as i64);
    Some(match b.args[0].ty.physical() {
        Physical::Date => {
            b.int(0);
            let mut ty = SqlType::new(TypeKind::Int, 8, 0);
            ty.unsigned = true;
            b.strict(ty, |f| Ok(map(f, |v: i64| v as u64)))
        }
        Physical::Time => b.maybe(SqlType::time(fsp), times),
        _ => b.maybe(SqlType::datetime(fsp), datetimes),
    })
}

fn step(frame: &Frame<'_>, micros: i64) -> i64 {
    let CallOption::Number(way) = frame.call.option else { return micros };
    Way::from_number(way).apply(micros, 10i64.pow(6 - u32::from(frame.ty.decimals.min(6))))
}

fn times(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map(frame, |t: Time| Time::clamped(step(frame, t.0)).0))
}

fn datetimes(frame: &Frame<'_>) -> SqlResult<Column> {
    try_map(frame, |v: DateTime| {
        let micros = step(frame, v.micros_of_day());
        if micros < MICROS_PER_DAY {
            return Ok(Some(DateTime::from_date_and_micros(v.date(), micros)));
        }
        // Compat: no day follows those of year 0.
        if v.year() == 0 || v.date().has_zero_part() {
            let shown = v.date().to_string();
            frame.ctx.warn(&ER_WRONG_VALUE_FOR_TYPE, &[&"date", &shown, &"round(datetime)"]);
            return Ok(None);
        }
        let next = DateTime::from_linear_micros(v.date().midnight().linear_micros() + micros);
        // The last instant of the calendar is not rounded up.
        Ok(Some(next.unwrap_or(v.truncate_to(frame.ty.decimals))))
    })
}

#[cfg(test)]
mod tests {
    use super::Way;

    #[test]
    fn ways() {
        let all =
            |micros| [Way::Nearest, Way::Down, Way::Up, Way::Cut].map(|w| w.apply(micros, 10));
        assert_eq!(all(15), [20, 10, 20, 10]);
        assert_eq!(all(-15), [-20, -20, -10, -10]);
        assert_eq!(all(-14), [-10, -20, -10, -10]);
        assert_eq!(all(20), [20, 20, 20, 20]);
    }
}
