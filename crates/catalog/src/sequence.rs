//! Sequences: the definition kept in a table of one row, and the arithmetic of its numbers.
//!
//! Numbers are reserved in blocks. The stored row holds the first number that is not reserved, so a
//! crash skips numbers but never gives one twice. No I/O here: the executor reads and writes the
//! row.

use selkie_types::{SqlType, TypeKind, Value};

use crate::{ColumnInfo, TableInfo};

/// Numbers in a block when the definition has no `CACHE`.
const CACHE: i64 = 1000;

/// The row of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceDef {
    /// The first number that is not reserved.
    pub reserved_until: i64,
    /// `MINVALUE`.
    pub min: i64,
    /// `MAXVALUE`.
    pub max: i64,
    /// `START`.
    pub start: i64,
    /// `INCREMENT`; 0 means `auto_increment_increment`.
    pub increment: i64,
    /// `CACHE`; 0 reserves single numbers.
    pub cache: i64,
    /// `CYCLE`.
    pub cycle: bool,
    /// Number of times the sequence started again.
    pub round: i64,
}

/// Options of a sequence in a statement. `None`: not given. `Some(None)`: reset to the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct SequenceChange {
    /// `START`.
    pub start: Option<i64>,
    /// `INCREMENT`.
    pub increment: Option<i64>,
    /// `MINVALUE`.
    pub min: Option<Option<i64>>,
    /// `MAXVALUE`.
    pub max: Option<Option<i64>>,
    /// `CACHE`.
    pub cache: Option<i64>,
    /// `CYCLE`.
    pub cycle: Option<bool>,
    /// `RESTART`.
    pub restart: Option<Option<i64>>,
}

impl SequenceDef {
    /// A new sequence; `None` if its options contradict each other.
    pub fn new(said: &SequenceChange) -> Option<Self> {
        let increment = said.increment.unwrap_or(1);
        let (min, max) = bounds(increment);
        let min = said.min.flatten().unwrap_or(min);
        let max = said.max.flatten().unwrap_or(max);
        let start = said.start.unwrap_or(if increment < 0 { max } else { min });
        let def = Self {
            reserved_until: start,
            min,
            max,
            start,
            increment,
            cache: said.cache.unwrap_or(CACHE),
            cycle: said.cycle.unwrap_or(false),
            round: 0,
        };
        def.is_valid().then_some(def)
    }

    /// The sequence after ALTER; `None` if its options contradict each other.
    pub fn altered(&self, said: &SequenceChange) -> Option<Self> {
        let increment = said.increment.unwrap_or(self.increment);
        let (min, max) = bounds(increment);
        let start = said.start.unwrap_or(self.start);
        let def = Self {
            min: said.min.map_or(self.min, |given| given.unwrap_or(min)),
            max: said.max.map_or(self.max, |given| given.unwrap_or(max)),
            start,
            increment,
            cache: said.cache.unwrap_or(self.cache),
            cycle: said.cycle.unwrap_or(self.cycle),
            reserved_until: said.restart.map_or(self.reserved_until, |at| at.unwrap_or(start)),
            // Compat: the count of rounds starts again.
            round: 0,
        };
        def.is_valid().then_some(def)
    }

    /// Whether the options agree with one another.
    pub fn is_valid(&self) -> bool {
        let step = self.increment.unsigned_abs().max(1).min(i64::MAX as u64) as i64;
        let in_range = match self.increment < 0 {
            true => self.reserved_until <= self.max,
            false => self.reserved_until >= self.min,
        };
        self.max >= self.start
            && self.max > self.min
            && self.start >= self.min
            && self.max != i64::MAX
            && self.min != i64::MIN
            && self.cache >= 0
            && self.cache < (i64::MAX - step) / step
            && in_range
    }

    /// The sequence as a row of its table.
    pub fn to_row(&self) -> [Value; 8] {
        [
            Value::Int(self.reserved_until),
            Value::Int(self.min),
            Value::Int(self.max),
            Value::Int(self.start),
            Value::Int(self.increment),
            Value::UInt(self.cache as u64),
            Value::UInt(self.cycle.into()),
            Value::Int(self.round),
        ]
    }

    /// The sequence stored in a row; `None` if the row is not one of a sequence.
    pub fn from_row(row: &[Value]) -> Option<Self> {
        let int = |at: usize| match row.get(at) {
            Some(Value::Int(v)) => Some(*v),
            Some(Value::UInt(v)) => i64::try_from(*v).ok(),
            _ => None,
        };
        Some(Self {
            reserved_until: int(0)?,
            min: int(1)?,
            max: int(2)?,
            start: int(3)?,
            increment: int(4)?,
            cache: int(5)?,
            cycle: int(6)? != 0,
            round: int(7)?,
        })
    }

    /// The statement that creates it, without the options of its table.
    pub fn show(&self, quoted_name: &str) -> String {
        let cache = match self.cache {
            0 => "nocache".to_owned(),
            cache => format!("cache {cache}"),
        };
        let Self { start, min, max, increment, .. } = self;
        let cycle = if self.cycle { "cycle" } else { "nocycle" };
        format!(
            "CREATE SEQUENCE {quoted_name} start with {start} minvalue {min} maxvalue {max} \
             increment by {increment} {cache} {cycle}"
        )
    }
}

fn bounds(increment: i64) -> (i64, i64) {
    if increment < 0 { (i64::MIN + 1, -1) } else { (1, i64::MAX - 1) }
}

/// A sequence in use: its row and the next reserved number.
#[derive(Clone, Copy, Debug)]
pub struct SequenceState {
    /// The row as stored.
    pub def: SequenceDef,
    next: i64,
    /// `auto_increment_increment` and `_offset`, for sequences without a step of their own.
    series: (i64, i64),
}

/// Result of a request for the next number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextValue {
    /// A number from a block that is already stored.
    Reserved(i64),
    /// A number that may be given out once the row is stored.
    ToStore(i64),
    /// No number is left.
    RunOut,
}

impl SequenceState {
    /// The state after a server start, with nothing reserved. `series`: `auto_increment_increment`
    /// and `auto_increment_offset`.
    pub fn new(def: SequenceDef, series: (i64, i64)) -> Self {
        let mut state = Self { def, next: def.reserved_until, series };
        state.adjust(def.reserved_until);
        state
    }

    fn step(&self) -> i64 {
        if self.def.increment == 0 { self.series.0.max(1) } else { self.def.increment }
    }

    fn adjust(&mut self, value: i64) {
        self.next = value;
        if self.def.increment != 0 {
            return;
        }
        let step = self.step();
        let offset = if step == 1 { 0 } else { self.series.1.rem_euclid(step) };
        let add = (offset - value.rem_euclid(step)).rem_euclid(step);
        self.next = match value.checked_add(add) {
            Some(next) if next <= self.def.max => next,
            _ => self.def.max.saturating_add(1),
        };
    }

    fn after(&self, value: i64) -> i64 {
        let next = value.checked_add(self.step());
        match self.step() > 0 {
            true => next.filter(|n| *n <= self.def.max).unwrap_or(self.def.max.saturating_add(1)),
            false => next.filter(|n| *n >= self.def.min).unwrap_or(self.def.min.saturating_sub(1)),
        }
    }

    fn is_before(&self, value: i64, limit: i64) -> bool {
        if self.step() > 0 { value < limit } else { value > limit }
    }

    /// The next number. After [`NextValue::ToStore`] the caller must store the new `def` or drop
    /// the state.
    pub fn next_value(&mut self) -> NextValue {
        for _ in 0..2 {
            let value = self.next;
            if self.is_before(value, self.def.reserved_until) {
                self.next = self.after(value);
                return NextValue::Reserved(value);
            }
            let block = self.step().saturating_mul(self.def.cache.max(1));
            let until = self.def.reserved_until.checked_add(block);
            let until = match self.step() > 0 {
                true => until.filter(|u| *u <= self.def.max).unwrap_or(self.def.max + 1),
                false => until.filter(|u| *u >= self.def.min).unwrap_or(self.def.min - 1),
            };
            if self.is_before(value, until) {
                self.def.reserved_until = until;
                self.next = self.after(value);
                return NextValue::ToStore(value);
            }
            if !self.def.cycle {
                break;
            }
            self.def.round += 1;
            self.def.reserved_until = if self.step() > 0 { self.def.min } else { self.def.max };
            self.adjust(self.def.reserved_until);
        }
        NextValue::RunOut
    }

    /// `SETVAL`. `None`: the value is behind the current one and is ignored. Otherwise: whether the
    /// new `def` must be stored.
    pub fn set_value(&mut self, value: i64, is_used: bool, round: i64) -> Option<bool> {
        let value = if is_used { self.after(value) } else { value };
        if self.def.round > round
            || (self.def.round == round && self.is_before(value, self.next))
            || (self.def.round < round && !self.def.cycle)
        {
            return None;
        }
        let new_round = self.def.round != round;
        self.def.round = round;
        self.adjust(value);
        let beyond = self.is_before(self.def.reserved_until, self.next);
        if beyond || new_round {
            self.def.reserved_until = self.next;
        }
        Some(beyond || new_round)
    }
}

/// Column name, whether it is unsigned, whether it is a flag, comment.
const COLUMNS: [(&str, bool, bool, &str); 8] = [
    ("next_not_cached_value", false, false, ""),
    ("minimum_value", false, false, ""),
    ("maximum_value", false, false, ""),
    (
        "start_value",
        false,
        false,
        "start value when sequences is created or value if RESTART is used",
    ),
    ("increment", false, false, "increment value"),
    ("cache_size", true, false, ""),
    (
        "cycle_option",
        true,
        true,
        "0 if no cycles are allowed, 1 if the sequence should begin a new cycle when \
         maximum_value is passed",
    ),
    ("cycle_count", false, false, "How many cycles have been done"),
];

/// The columns of a sequence.
pub fn sequence_columns() -> Vec<ColumnInfo> {
    let column = |(name, unsigned, flag, comment): &(&str, bool, bool, &str)| {
        let (kind, width) = if *flag { (TypeKind::TinyInt, 1) } else { (TypeKind::BigInt, 21) };
        let mut ty = SqlType::new(kind, width, 0);
        ty.unsigned = *unsigned;
        ColumnInfo { comment: (*comment).to_owned(), ..ColumnInfo::not_null(name, ty) }
    };
    COLUMNS.iter().map(column).collect()
}

/// The reason why a table cannot be a sequence, as in error 4086.
pub fn sequence_fault(table: &TableInfo) -> Option<String> {
    let wanted = sequence_columns();
    if table.columns.len() != wanted.len() {
        return Some("Wrong number of columns".to_owned());
    }
    if !table.def.indexes.is_empty() {
        return Some("Sequence tables cannot have any keys".to_owned());
    }
    if !table.checks.is_empty() {
        return Some("Sequence tables cannot have any constraints".to_owned());
    }
    let differs = |(own, wanted): &(&ColumnInfo, &ColumnInfo)| {
        !own.name.eq_ignore_ascii_case(&wanted.name)
            || own.ty.kind != wanted.ty.kind
            || own.ty.unsigned != wanted.ty.unsigned
            || own.nullable
            || own.generated.is_some()
            || own.check.is_some()
    };
    let bad = table.columns.iter().zip(&wanted).find(differs);
    bad.map(|(own, _)| own.name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(state: &mut SequenceState, count: usize) -> Vec<NextValue> {
        (0..count).map(|_| state.next_value()).collect()
    }

    #[test]
    fn blocks_are_stored_before_their_first_number_is_given() {
        let said = SequenceChange { cache: Some(2), max: Some(Some(3)), ..Default::default() };
        let def = SequenceDef::new(&said).unwrap();
        let mut state = SequenceState::new(def, (1, 1));
        use NextValue::{Reserved, RunOut, ToStore};
        assert_eq!(numbers(&mut state, 4), [ToStore(1), Reserved(2), ToStore(3), RunOut]);
        assert_eq!(state.def.reserved_until, 4);
    }

    #[test]
    fn cycles_begin_at_the_other_end() {
        let said = SequenceChange {
            increment: Some(-1),
            min: Some(Some(1)),
            max: Some(Some(3)),
            cache: Some(10),
            cycle: Some(true),
            ..Default::default()
        };
        let mut state = SequenceState::new(SequenceDef::new(&said).unwrap(), (1, 1));
        use NextValue::{Reserved, ToStore};
        assert_eq!(numbers(&mut state, 4), [ToStore(3), Reserved(2), Reserved(1), ToStore(3)]);
        assert_eq!(state.def.round, 1);
    }

    #[test]
    fn setval_goes_forward_only() {
        let mut state = SequenceState::new(SequenceDef::new(&Default::default()).unwrap(), (1, 1));
        assert_eq!(state.set_value(10, true, 0), Some(true));
        assert_eq!(state.set_value(5, true, 0), None);
        assert_eq!(state.next_value(), NextValue::ToStore(11));
    }
}
