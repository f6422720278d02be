//! The rows of an event on their way into a table: images become rows, rows are found and changed,
//! some thousand at a time.
//!
//! Must not end a statement or a transaction.

use std::sync::Arc;

use selkie_catalog::SequenceDef;
use selkie_plan::physical::RowRules;
use selkie_replication::codec::Change;
use selkie_replication::images::{Images, Value as ImageValue};
use selkie_types::{ByteRows, Condition, Level, RowDraft, RowLayout, SqlError, SqlResult, Value};

use super::failure::{Applied, Broken};
use super::find::Finder;
use super::shape::{Prepared, Side};
use super::{Rules, convert};
use crate::dml::RowChanger;
use crate::run::defaults::default_of_column;
use crate::run::{Env, sequence};
use crate::state::columns::column_of;
use crate::state::error::corrupt;

/// Rows and bytes of rows that are changed at a time.
const MOST_ROWS: usize = 16_384;
const MOST_BYTES: usize = 16 << 20;

/// Changes the rows of one event.
pub(super) struct Changes<'r> {
    env: Env<'r>,
    prepared: &'r Prepared,
    changer: RowChanger<'r>,
    /// A row of defaults: images begin with it.
    defaults: Vec<u8>,
    is_idempotent: bool,
}

/// Rows of one side as they are read.
struct Read<'a> {
    rows: ByteRows,
    values: Vec<ImageValue<'a>>,
}

impl<'r> Changes<'r> {
    pub(super) fn new(env: Env<'r>, prepared: &'r Prepared, rules: &Rules) -> SqlResult<Self> {
        let info = &prepared.info;
        let changer = RowChanger::new(env, info)?;
        let default = |(at, column): (usize, &selkie_catalog::ColumnInfo)| {
            let value = default_of_column(env.eval, column).filter(|_| !info.is_computed(at));
            value.unwrap_or_else(|| match column.nullable {
                true => Value::Null,
                false => Value::zero_of(&column.ty),
            })
        };
        let values: Vec<Value> = info.columns.iter().enumerate().map(default).collect();
        let mut defaults = Vec::new();
        info.def.layout.encode_values(&values, &mut defaults);
        let is_idempotent = rules.is_idempotent;
        Ok(Self { env, prepared, changer, defaults, is_idempotent })
    }

    fn layout(&self) -> &'r RowLayout {
        &self.prepared.info.def.layout
    }

    /// Applies the images of an event.
    pub(super) fn run(&self, change: Change, images: &[u8]) -> Applied<()> {
        let mut images = Images::new(images);
        while !images.is_empty() {
            self.env.check()?;
            let (before, after) = self.read(&mut images)?;
            match change {
                Change::Write => self.write(&after)?,
                Change::Update => self.update(&before, &after)?,
                Change::Delete => self.delete(&before)?,
            }
        }
        Ok(())
    }

    /// The next rows: as they were, and as they become.
    fn read<'a>(&'a self, images: &mut Images<'a>) -> Applied<(ByteRows, ByteRows)> {
        let mut draft = RowDraft::default();
        let new = || Read { rows: ByteRows::default(), values: Vec::new() };
        let (mut before, mut after) = (new(), new());
        let prepared = self.prepared;
        while !images.is_empty() && before.has_room() && after.has_room() {
            for (side, read) in [(&prepared.before, &mut before), (&prepared.after, &mut after)] {
                if let Some(side) = side {
                    self.read_one(side, images, &mut draft, read)?;
                }
            }
        }
        let mut done = [ByteRows::default(), ByteRows::default()];
        let sides = [(&prepared.before, before), (&prepared.after, after)];
        for ((side, read), done) in sides.into_iter().zip(&mut done) {
            if let Some(side) = side {
                *done = self.converted(side, read)?;
            }
        }
        let [before, after] = done;
        Ok((before, after))
    }

    fn read_one<'a>(
        &'a self,
        side: &Side,
        images: &mut Images<'a>,
        draft: &mut RowDraft<'a>,
        read: &mut Read<'a>,
    ) -> Applied<()> {
        let layout = self.layout();
        let mut refused = Vec::new();
        draft.begin(layout, &self.defaults).map_err(corrupt)?;
        side.rows.read(images, layout, draft, &mut read.values, &mut refused)?;
        refused.into_iter().for_each(|at| self.tell_null(at));
        draft.finish(layout, read.rows.buffer());
        read.rows.end_row();
        Ok(())
    }

    /// Compat: a NULL for a column that cannot be NULL leaves its default there.
    fn tell_null(&self, at: usize) {
        let error = SqlError::bad_null(&self.prepared.info.columns[at].name);
        self.env.eval.push(Condition::from_error(Level::Warning, &error));
    }

    /// The rows with the values that are converted.
    fn converted(&self, side: &Side, read: Read<'_>) -> Applied<ByteRows> {
        let width = side.converted.len();
        if width == 0 {
            return Ok(read.rows);
        }
        let (layout, count) = (self.layout(), read.rows.len());
        let mut stored = Vec::with_capacity(width);
        for (at, converted) in side.converted.iter().enumerate() {
            let mut values = column_of(&converted.from, count);
            for value in read.values.iter().skip(at).step_by(width) {
                values.push(&convert::value(value, converted.kind, &converted.from)?);
            }
            let values =
                self.changer.convert(converted.column, &Arc::new(values), &converted.from)?;
            // Each value as the only column of a row is in its stored form.
            let ty = &self.prepared.info.columns[converted.column].ty;
            let own = RowLayout::new([(ty, true)].into_iter());
            let mut rows = ByteRows::with_capacity(count);
            for row in 0..count {
                own.encode(&[&values], row, rows.buffer());
                rows.end_row();
            }
            stored.push((converted.column, own, rows));
        }
        let (mut out, mut draft) = (ByteRows::with_capacity(count), RowDraft::default());
        for row in 0..count {
            draft.begin(layout, read.rows.get(row)).map_err(corrupt)?;
            for (column, own, rows) in &stored {
                self.set(&mut draft, *column, (own, 0, rows.get(row)))?;
            }
            draft.finish(layout, out.buffer());
            out.end_row();
        }
        Ok(out)
    }

    /// Gives a column of a row in the making the value of a column of another row.
    fn set<'a>(
        &self,
        draft: &mut RowDraft<'a>,
        column: usize,
        (layout, at, row): (&RowLayout, usize, &'a [u8]),
    ) -> SqlResult<()> {
        if layout.is_null(row, at).map_err(corrupt)? {
            if !draft.set_null(self.layout(), column) {
                self.tell_null(column);
            }
            return Ok(());
        }
        match draft.set(self.layout(), column, layout.stored(row, at).map_err(corrupt)?) {
            true => Ok(()),
            false => Err(SqlError::internal("a value does not fit its column")),
        }
    }

    /// New rows with their generated columns.
    fn generated(&self, rules: &RowRules, rows: ByteRows) -> SqlResult<ByteRows> {
        match makes_values(rules) {
            true => self.changer.generate(rules, &rows),
            false => Ok(rows),
        }
    }

    fn write(&self, rows: &ByteRows) -> Applied<()> {
        if self.prepared.info.is_sequence() {
            return rows.iter().try_for_each(|row| self.set_sequence(row));
        }
        let made;
        let rows = match &self.prepared.after {
            Some(side) if makes_values(&side.rules) => {
                made = self.changer.generate(&side.rules, rows)?;
                &made
            }
            _ => rows,
        };
        match self.is_idempotent {
            true => self.changer.put(rows)?,
            false => self.changer.insert(rows)?,
        }
        Ok(())
    }

    /// A row of a sequence is its state, as far as the image has it.
    fn set_sequence(&self, row: &[u8]) -> Applied<()> {
        let (rt, info) = (self.env.rt, &self.prepared.info);
        let (instance, session) = (rt.instance, rt.session);
        let known = sequence::read_row(instance, session, rt.control, info)?.to_row();
        let columns = self.prepared.after.as_ref().map(|side| &side.columns[..]);
        let value = |(at, known): (usize, Value)| match columns.unwrap_or_default().contains(&at) {
            true => self.layout().value(row, at).map_err(corrupt),
            false => Ok(known),
        };
        let values: SqlResult<Vec<Value>> = known.into_iter().enumerate().map(value).collect();
        let def = SequenceDef::from_row(&values?);
        sequence::replace_row(instance, session, rt.control, info, def)?;
        Ok(())
    }

    fn update(&self, before: &ByteRows, after: &ByteRows) -> Applied<()> {
        let Some(side) = &self.prepared.after else { return Ok(()) };
        self.for_found(before, |keys, old, rows| {
            let mut new = ByteRows::with_capacity(rows.len());
            for (at, row) in rows.enumerate() {
                match side.is_complete {
                    true => new.push(after.get(row)),
                    false => self.merge(side, old.get(at), after.get(row), &mut new)?,
                }
            }
            let new = self.generated(&side.rules, new)?;
            self.changer.update(keys, old, &new)
        })
    }

    /// Appends a row with the values of an image, and otherwise those that it has.
    fn merge(&self, side: &Side, old: &[u8], image: &[u8], out: &mut ByteRows) -> SqlResult<()> {
        let mut draft = RowDraft::default();
        draft.begin(self.layout(), old).map_err(corrupt)?;
        for column in side.columns.iter().copied() {
            self.set(&mut draft, column, (self.layout(), column, image))?;
        }
        draft.finish(self.layout(), out.buffer());
        out.end_row();
        Ok(())
    }

    fn delete(&self, before: &ByteRows) -> Applied<()> {
        self.for_found(before, |keys, old, _| self.changer.delete(keys, old))
    }

    /// Calls `change` with the keys and the values of the rows that images are of, and with the
    /// numbers of the images. What it changes may be what later images are of.
    fn for_found(
        &self,
        wanted: &ByteRows,
        mut change: impl FnMut(&ByteRows, &ByteRows, std::ops::Range<usize>) -> SqlResult<()>,
    ) -> Applied<()> {
        let Some(side) = &self.prepared.before else { return Ok(()) };
        let info = &self.prepared.info;
        let finder =
            Finder { env: self.env, info, open: self.changer.open, telling: &side.telling };
        let mut from = 0;
        while from < wanted.len() {
            self.env.check()?;
            let found = finder.find(wanted, from)?;
            let to = from + found.keys.len();
            if to > from {
                change(&found.keys, &found.rows, from..to)?;
                from = to;
                continue;
            }
            if !self.is_idempotent {
                return Err(Broken::not_found(info.name(), found.said()));
            }
            from += 1;
        }
        Ok(())
    }
}

/// Whether new rows have values that no image gives them.
fn makes_values(rules: &RowRules) -> bool {
    !rules.generated.is_empty() || !rules.bounds.is_empty()
}

impl Read<'_> {
    fn has_room(&self) -> bool {
        self.rows.len() < MOST_ROWS && self.rows.data().len() < MOST_BYTES
    }
}
