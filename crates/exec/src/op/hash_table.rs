//! Numbers for keys: equal keys get equal numbers, counted from 0 in order of appearance.
//!
//! This is the only hash table of the operators. Grouping, joins, DISTINCT and set operations keep
//! their data by number beside it. Keys are equal in the SQL sense: strings by collation, decimals
//! by value, NULL equal to NULL (a caller for which NULLs differ leaves them out).
//!
//! Raw bytes are looked up first; a collation key is made only for raw bytes that were never seen.

use std::hash::BuildHasher;
use std::sync::Arc;

use selkie_meter::ask;
use selkie_types::{CollationId, Column, ColumnData, DecimalValues, SqlResult, key};

use super::coded_keys::CodedKeys;
use super::hash_map::{BytesMap, WordMap};
use super::short_keys::pack_rows;

/// Number of a key that was not found.
pub(crate) const NOT_FOUND: u32 = u32::MAX;

/// Longest raw key that is packed into two words together with its length.
pub(super) const SHORT: usize = 15;

/// Memory for a new key, in copies of it: the key is built and stored, both raw and folded; the
/// folded key is longer.
const COPIES: usize = 5;

/// Encoding of the values of one key column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum KeyKind {
    /// Integers of one signedness, dates and times.
    Word,
    /// Signed integers compared with unsigned ones.
    MixedInt,
    /// Floating point.
    Double,
    /// Decimals at one scale.
    Decimal,
    /// Decimals whose scale differs between the two sides of a join.
    DecimalAnyScale,
    /// Strings that are equal only byte by byte.
    Binary,
    /// Strings under a collation.
    Text(CollationId),
}

impl KeyKind {
    /// Kind for columns compared with columns of the same type.
    pub(crate) fn of(ty: &selkie_types::SqlType) -> Self {
        use selkie_types::Physical;
        match ty.physical() {
            Physical::Double => Self::Double,
            Physical::Decimal => Self::Decimal,
            Physical::Bytes => Self::of_text(ty.collation),
            _ => Self::Word,
        }
    }

    /// The kind for the two sides of a join.
    pub(crate) fn of_join(key: &selkie_plan::physical::JoinKey) -> Self {
        use selkie_expr::CompareBy;
        match key.by {
            CompareBy::MixedInt => Self::MixedInt,
            CompareBy::Double => Self::Double,
            CompareBy::Decimal if key.left.ty.decimals == key.right.ty.decimals => Self::Decimal,
            CompareBy::Decimal => Self::DecimalAnyScale,
            CompareBy::Bytes(collation) => Self::of_text(collation),
            _ => Self::Word,
        }
    }

    /// The kind for strings of a collation.
    pub(crate) fn of_text(collation: CollationId) -> Self {
        if collation.is_binary() { Self::Binary } else { Self::Text(collation) }
    }
}

/// Map from keys to numbers.
#[derive(Debug)]
pub(crate) struct KeyTable {
    kinds: Vec<KeyKind>,
    /// Single integer keys, by value.
    words: WordMap<u64>,
    null_word: Option<u32>,
    short: WordMap<u128>,
    long: BytesMap,
    /// Collation keys, if there are strings that need them.
    folded: Option<BytesMap>,
    count: u32,
    buffer: Vec<u8>,
    fold_buffer: Vec<u8>,
    packed: Vec<u128>,
    coded: CodedKeys,
    /// Whether equal keys come one after the other, so that a single word that differs from the
    /// one before is new. Such words are in no map and cannot be found.
    sorted: bool,
    /// The last single word and its number.
    last: Option<(u64, u32)>,
}

/// A raw key in the form of the map that holds keys of its length.
#[derive(Clone, Copy)]
enum Raw<'a> {
    Short(u128),
    /// The bytes and their hash.
    Long(&'a [u8], u64),
}

impl<'a> Raw<'a> {
    #[inline]
    fn new(raw: &'a [u8], long: &BytesMap) -> Self {
        pack(raw).map_or_else(|| Self::Long(raw, long.hash(raw)), Self::Short)
    }
}

impl KeyTable {
    /// An empty table for keys of columns of these kinds.
    pub(crate) fn new(kinds: Vec<KeyKind>) -> Self {
        let text = kinds.iter().any(|k| matches!(k, KeyKind::Text(_)));
        Self {
            kinds,
            words: WordMap::default(),
            null_word: None,
            short: WordMap::default(),
            long: BytesMap::default(),
            folded: text.then(BytesMap::default),
            count: 0,
            buffer: Vec::new(),
            fold_buffer: Vec::new(),
            packed: Vec::new(),
            coded: CodedKeys::default(),
            sorted: false,
            last: None,
        }
    }

    /// An empty table for keys of which equal ones come one after the other, and are not searched
    /// for.
    pub(crate) fn of_sorted(kinds: Vec<KeyKind>) -> Self {
        Self { sorted: true, ..Self::new(kinds) }
    }

    /// Keys numbered so far.
    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }

    fn single_word(&self, columns: &[Arc<Column>]) -> bool {
        self.kinds == [KeyKind::Word] && word_slice(&columns[0]).is_some()
    }

    /// Appends each row's key number to `ids` and the positions of rows with new keys to `new`; new
    /// keys get the next numbers.
    pub(crate) fn assign(
        &mut self,
        columns: &[Arc<Column>],
        rows: usize,
        ids: &mut Vec<u32>,
        new: &mut Vec<u32>,
    ) -> SqlResult<()> {
        ids.reserve(rows);
        if self.single_word(columns) {
            self.assign_words(&columns[0], rows, ids, new);
            return Ok(());
        }
        if self.coded.combine(columns, rows) {
            return self.assign_coded(columns, ids, new);
        }
        let mut packed = std::mem::take(&mut self.packed);
        let is_short = pack_rows(&self.kinds, columns, rows, &mut packed);
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut last = None;
        for row in 0..rows {
            if let Some(&key) = packed.get(row).filter(|_| is_short) {
                // Rows with equal keys often come together.
                let known = last.filter(|(before, _)| *before == key).map(|(_, id)| id);
                if let Some(id) = known.or_else(|| self.short.get(key)) {
                    last = Some((key, id));
                    ids.push(id);
                    continue;
                }
            }
            buffer.clear();
            put_row(&self.kinds, columns, row, &mut buffer);
            ask(buffer.len() * COPIES)?;
            let before = self.count;
            let id = self.assign_raw(&buffer, columns, row);
            if self.count > before {
                new.push(row as u32);
            }
            ids.push(id);
        }
        self.buffer = buffer;
        self.packed = packed;
        Ok(())
    }

    /// As [`Self::assign`] for keys whose combinations of entries are known.
    fn assign_coded(
        &mut self,
        columns: &[Arc<Column>],
        ids: &mut Vec<u32>,
        new: &mut Vec<u32>,
    ) -> SqlResult<()> {
        let from = ids.len();
        ids.extend(self.coded.combinations.iter().map(|at| self.coded.ids[*at as usize]));
        // Combinations are rarely new: the loop above has no branch for that.
        if !ids[from..].contains(&NOT_FOUND) {
            return Ok(());
        }
        let mut coded = std::mem::take(&mut self.coded);
        let mut buffer = Vec::new();
        for (row, &combination) in coded.combinations.iter().enumerate() {
            let known = &mut coded.ids[combination as usize];
            if *known == NOT_FOUND {
                buffer.clear();
                put_row(&self.kinds, columns, row, &mut buffer);
                ask(buffer.len() * COPIES)?;
                let before = self.count;
                *known = self.assign_raw(&buffer, columns, row);
                if self.count > before {
                    new.push(row as u32);
                }
            }
            ids[from + row] = *known;
        }
        self.coded = coded;
        Ok(())
    }

    /// As [`Self::assign`] for all the keys that an empty table will have, if they are single words
    /// without NULL; false if they are not. No key may be added then.
    pub(crate) fn number_words(&mut self, column: &Column, ids: &mut Vec<u32>) -> bool {
        let is_plain = !column.is_constant() && column.validity().is_none();
        let Some(words) = word_slice(column).filter(|_| is_plain && self.kinds == [KeyKind::Word])
        else {
            return false;
        };
        ids.reserve(column.len());
        let all = (0..column.len()).map(|row| words.get(row));
        match self.words.number_dense(all, ids) {
            Some(count) => self.count = count,
            None => {
                self.words.reserve(column.len());
                self.assign_words(column, column.len(), ids, &mut Vec::new());
            }
        }
        true
    }

    /// Makes lookups cheaper in a table that gets no more keys.
    pub(crate) fn seal(&mut self) {
        self.words.seal();
    }

    fn assign_words(
        &mut self,
        column: &Column,
        rows: usize,
        ids: &mut Vec<u32>,
        new: &mut Vec<u32>,
    ) {
        let Some(words) = word_slice(column) else { return };
        if rows == column.len() && column.validity().is_none() && !column.is_constant() {
            let mut row = 0;
            return words.for_each(|word| {
                ids.push(self.assign_word(word, row, new));
                row += 1;
            });
        }
        for row in 0..rows {
            let id = match column.is_null(row) {
                true => self.assign_null(row as u32, new),
                false => self.assign_word(words.get(column.physical_row(row)), row as u32, new),
            };
            ids.push(id);
        }
    }

    fn assign_null(&mut self, row: u32, new: &mut Vec<u32>) -> u32 {
        if let Some(id) = self.null_word {
            return id;
        }
        new.push(row);
        let id = self.count;
        self.count += 1;
        *self.null_word.insert(id)
    }

    #[inline]
    fn assign_word(&mut self, word: u64, row: u32, new: &mut Vec<u32>) -> u32 {
        // Rows with equal keys often come together.
        if let Some((before, id)) = self.last
            && before == word
        {
            return id;
        }
        let next = self.count;
        let id = if self.sorted { next } else { self.words.insert(word, next) };
        if id == next {
            self.count += 1;
            new.push(row);
        }
        self.last = Some((word, id));
        id
    }

    fn assign_raw(&mut self, raw: &[u8], columns: &[Arc<Column>], row: usize) -> u32 {
        let next = self.count;
        let key = Raw::new(raw, &self.long);
        if let Some(id) = self.get(key) {
            return id;
        }
        let id = match &mut self.folded {
            None => next,
            Some(map) => {
                self.fold_buffer.clear();
                put_folded(&self.kinds, columns, row, &mut self.fold_buffer);
                let hash = map.hash(&self.fold_buffer);
                map.insert(&self.fold_buffer, hash, next)
            }
        };
        match key {
            Raw::Short(word) => self.short.insert(word, id),
            Raw::Long(raw, hash) => self.long.insert(raw, hash, id),
        };
        if id == next {
            self.count += 1;
        }
        id
    }

    /// Appends each row's key number to `ids`, [`NOT_FOUND`] for keys that are not in the table.
    pub(crate) fn find(&self, columns: &[Arc<Column>], rows: usize, ids: &mut Vec<u32>) {
        ids.reserve(rows);
        if self.single_word(columns) {
            return self.find_words(&columns[0], rows, ids);
        }
        let mut packed = Vec::new();
        let is_short = pack_rows(&self.kinds, columns, rows, &mut packed);
        if is_short && self.folded.is_none() {
            ids.extend(packed.iter().map(|key| self.short.get(*key).unwrap_or(NOT_FOUND)));
            return;
        }
        let mut buffer = Vec::with_capacity(64);
        for row in 0..rows {
            let short = packed.get(row).filter(|_| is_short);
            if let Some(id) = short.and_then(|key| self.short.get(*key)) {
                ids.push(id);
                continue;
            }
            buffer.clear();
            put_row(&self.kinds, columns, row, &mut buffer);
            ids.push(self.find_raw(&buffer, columns, row));
        }
    }

    fn find_words(&self, column: &Column, rows: usize, ids: &mut Vec<u32>) {
        let Some(words) = word_slice(column) else { return };
        if column.validity().is_none() && !column.is_constant() {
            return words.for_each(|word| ids.push(self.words.find(word).unwrap_or(NOT_FOUND)));
        }
        for row in 0..rows {
            let found = match column.is_null(row) {
                true => self.null_word,
                false => self.words.find(words.get(column.physical_row(row))),
            };
            ids.push(found.unwrap_or(NOT_FOUND));
        }
    }

    /// Size in memory of a table for more than a few keys, about, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let folded = self.folded.as_ref().map_or(0, BytesMap::memory);
        self.words.memory() + self.short.memory() + self.long.memory() + folded
    }

    fn get(&self, key: Raw<'_>) -> Option<u32> {
        match key {
            Raw::Short(word) => self.short.get(word),
            Raw::Long(raw, hash) => self.long.get(raw, hash),
        }
    }

    fn find_raw(&self, raw: &[u8], columns: &[Arc<Column>], row: usize) -> u32 {
        let found = self.get(Raw::new(raw, &self.long));
        if let (None, Some(map)) = (found, &self.folded) {
            let mut folded = Vec::with_capacity(raw.len() * 2);
            put_folded(&self.kinds, columns, row, &mut folded);
            return map.get(&folded, map.hash(&folded)).unwrap_or(NOT_FOUND);
        }
        found.unwrap_or(NOT_FOUND)
    }
}

/// A hash of each row's key; equal keys have equal hashes, on both sides of a join too. It is not
/// the one of the table, so that keys with equal hashes here are spread there.
pub(crate) fn hashes(kinds: &[KeyKind], columns: &[Arc<Column>], rows: usize) -> Vec<u64> {
    let state = foldhash::quality::FixedState::with_seed(0x5e1c);
    let mut buffer = Vec::with_capacity(64);
    let hash = |row| {
        buffer.clear();
        put_folded(kinds, columns, row, &mut buffer);
        state.hash_one(&buffer[..])
    };
    (0..rows).map(hash).collect()
}

/// Values of a column that are one machine word each.
#[derive(Clone, Copy)]
enum Words<'a> {
    Signed(&'a [i64]),
    Unsigned(&'a [u64]),
    Dates(&'a [selkie_types::Date]),
    Times(&'a [selkie_types::Time]),
    DateTimes(&'a [selkie_types::DateTime]),
}

impl Words<'_> {
    #[inline]
    fn get(self, row: usize) -> u64 {
        match self {
            Self::Signed(v) => v[row] as u64,
            Self::Unsigned(v) => v[row],
            Self::Dates(v) => v[row].0.into(),
            Self::Times(v) => v[row].0 as u64,
            Self::DateTimes(v) => v[row].0 as u64,
        }
    }

    fn for_each(self, mut f: impl FnMut(u64)) {
        match self {
            Self::Signed(v) => v.iter().for_each(|v| f(*v as u64)),
            Self::Unsigned(v) => v.iter().for_each(|v| f(*v)),
            Self::Dates(v) => v.iter().for_each(|v| f(v.0.into())),
            Self::Times(v) => v.iter().for_each(|v| f(v.0 as u64)),
            Self::DateTimes(v) => v.iter().for_each(|v| f(v.0 as u64)),
        }
    }
}

fn word_slice(column: &Column) -> Option<Words<'_>> {
    Some(match column.data() {
        ColumnData::Int(v) => Words::Signed(v),
        ColumnData::UInt(v) => Words::Unsigned(v),
        ColumnData::Date(v) => Words::Dates(v),
        ColumnData::Time(v) => Words::Times(v),
        ColumnData::DateTime(v) => Words::DateTimes(v),
        _ => return None,
    })
}

/// A raw key of up to [`SHORT`] bytes, packed with its length.
#[inline]
pub(super) fn pack(raw: &[u8]) -> Option<u128> {
    if raw.len() > SHORT {
        return None;
    }
    let mut bytes = [0; 16];
    bytes[..raw.len()].copy_from_slice(raw);
    bytes[15] = raw.len() as u8 + 1;
    Some(u128::from_le_bytes(bytes))
}

/// First byte of NULL in a key.
pub(super) const TAG_NULL: u8 = 255;

pub(super) fn put_row(kinds: &[KeyKind], columns: &[Arc<Column>], row: usize, out: &mut Vec<u8>) {
    for (kind, column) in kinds.iter().zip(columns) {
        if column.is_null(row) {
            out.push(TAG_NULL);
            continue;
        }
        match column.data() {
            ColumnData::Bytes(v) => put_bytes(v.get(column.physical_row(row)), out),
            _ => put_fixed(*kind, column, row, out),
        }
    }
}

/// Appends a row's folded key: strings by collation key, other values as in the raw key.
fn put_folded(kinds: &[KeyKind], columns: &[Arc<Column>], row: usize, out: &mut Vec<u8>) {
    for (kind, column) in kinds.iter().zip(columns) {
        if column.is_null(row) {
            out.push(TAG_NULL);
            continue;
        }
        match (kind, column.data()) {
            (KeyKind::Text(collation), ColumnData::Bytes(v)) => {
                out.push(1);
                key::put_text(out, *collation, v.get(column.physical_row(row)));
            }
            (_, ColumnData::Bytes(v)) => put_bytes(v.get(column.physical_row(row)), out),
            _ => put_fixed(*kind, column, row, out),
        }
    }
}

#[inline]
fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    match bytes.len() {
        len @ 0..250 => out.push(len as u8),
        len => {
            out.push(250);
            out.extend_from_slice(&(len as u64).to_le_bytes());
        }
    }
    out.extend_from_slice(bytes);
}

fn put_fixed(kind: KeyKind, column: &Column, row: usize, out: &mut Vec<u8>) {
    let at = column.physical_row(row);
    match column.data() {
        ColumnData::Int(v) => put_signed(v[at], out),
        ColumnData::UInt(v) => put_word(v[at], out),
        ColumnData::Date(v) => put_word(v[at].0.into(), out),
        ColumnData::Time(v) => put_signed(v[at].0, out),
        ColumnData::DateTime(v) => put_signed(v[at].0, out),
        // The sum turns negative zero into positive zero.
        ColumnData::Double(v) => put_word((v[at] + 0.0).to_bits(), out),
        ColumnData::Decimal(v) => match (kind, v.values()) {
            (KeyKind::DecimalAnyScale, _) => put_any_scale(v.get(at), out),
            (_, DecimalValues::I64(v)) => put_signed(v[at], out),
            _ => put_wide(v.unscaled(at), out),
        },
        ColumnData::Bytes(v) => put_bytes(v.get(at), out),
    }
}

/// Appends the fewest bytes that hold the number, after their count, so that most keys stay short.
/// A negative number is stored as its complement with another tag, so that signed and unsigned
/// columns agree.
#[inline]
fn put_word(v: u64, out: &mut Vec<u8>) {
    let len = 8 - v.leading_zeros() as usize / 8;
    out.push(len as u8);
    out.extend_from_slice(&v.to_le_bytes()[..len]);
}

#[inline]
fn put_signed(v: i64, out: &mut Vec<u8>) {
    if v >= 0 {
        return put_word(v as u64, out);
    }
    let start = out.len();
    put_word(!v as u64, out);
    out[start] |= 16;
}

fn put_wide(v: ethnum::I256, out: &mut Vec<u8>) {
    match i64::try_from(v) {
        Ok(v) => put_signed(v, out),
        Err(_) => {
            out.push(64);
            out.extend_from_slice(&v.to_le_bytes());
        }
    }
}

fn put_any_scale(v: selkie_types::Decimal, out: &mut Vec<u8>) {
    let v = v.normalised();
    out.push(v.scale());
    put_wide(v.unscaled(), out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_types::{Physical, Value};

    fn column(values: &[Value], physical: Physical) -> Arc<Column> {
        let mut column = Column::new(physical, 0, values.len());
        values.iter().for_each(|v| column.push(v));
        Arc::new(column)
    }

    fn ids(table: &mut KeyTable, columns: &[Arc<Column>]) -> (Vec<u32>, Vec<u32>) {
        let (mut ids, mut new) = (Vec::new(), Vec::new());
        table.assign(columns, columns[0].len(), &mut ids, &mut new).unwrap();
        (ids, new)
    }

    #[test]
    fn text_is_numbered_by_collation() {
        let mut table = KeyTable::new(vec![KeyKind::Text(CollationId::UTF8MB4_GENERAL_CI)]);
        let text = ["a", "A ", "b", "", "a"].map(Value::bytes);
        let (numbers, new) = ids(&mut table, &[column(&text, Physical::Bytes)]);
        assert_eq!((numbers, new), (vec![0, 0, 1, 2, 0], vec![0, 2, 3]));
        let mut found = Vec::new();
        table.find(
            &[column(&[Value::bytes("á"), Value::bytes("c")], Physical::Bytes)],
            2,
            &mut found,
        );
        assert_eq!(found, [0, NOT_FOUND]);
    }

    #[test]
    fn integers_and_nulls() {
        let mut table = KeyTable::new(vec![KeyKind::Word]);
        let values = [Value::Int(-1), Value::Null, Value::Int(5), Value::Null, Value::Int(-1)];
        let (numbers, new) = ids(&mut table, &[column(&values, Physical::Int)]);
        assert_eq!((numbers, new), (vec![0, 1, 2, 1, 0], vec![0, 1, 2]));
    }

    #[test]
    fn several_columns() {
        let mut table = KeyTable::new(vec![KeyKind::Word, KeyKind::Binary]);
        let a = column(&[Value::Int(1), Value::Int(1), Value::Int(-2)], Physical::Int);
        let long = "x".repeat(300);
        let b = column(&[&*long, "y", &*long].map(Value::bytes), Physical::Bytes);
        let (numbers, _) = ids(&mut table, &[a.clone(), b.clone()]);
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(ids(&mut table, &[a, b]).0, [0, 1, 2]);
    }
}
