//! Decodes stored rows or index entries into batches: first the columns of the filter, the others
//! only for rows that pass. Must not change the order of rows.

use std::borrow::Cow;
use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_engine::{IndexCodec, RowSet};
use selkie_expr::{EvalContext, Expr};
use selkie_types::key::KeyReader;
use selkie_types::{
    Batch, ByteRows, Charset, Column, ColumnData, Physical, RowCorrupt, RowLayout, SqlMode,
    SqlResult, SqlType, TypeKind, Value,
};

use super::ahead::LaneScan;
use super::columns::Block;
use super::computed;
use super::encoded::Encoded;
use crate::run::row_filter::RowFilter;
use crate::state::error::corrupt;
use crate::state::parts::PREFIX;

/// Rows to decode.
#[derive(Clone, Copy)]
enum Source<'s> {
    /// As they are stored, or as entries of an index.
    Rows(&'s RowSet),
    /// Of a column group. Its columns are those of the decoder.
    Block(&'s Block<'s>),
}

/// Decoder of the rows of one scan.
pub(crate) struct Decoder<'r> {
    layout: &'r RowLayout,
    /// Position in the layout of each column read.
    places: Cow<'r, [usize]>,
    /// Positions in `places` of the output columns, if `narrow`.
    output: &'r [usize],
    filter: RowFilter<'r>,
    filter_columns: &'r [bool],
    /// The table, for its computed columns.
    table: &'r TableInfo,
    /// Positions of the columns in the table.
    columns: &'r [usize],
    /// Columns to compute rather than read.
    computed: &'r [(usize, Expr)],
    /// Whether rows are index entries.
    covering: bool,
    /// Codec of the clustered key; places after those of the layout refer to its parts.
    clustered: Option<&'r IndexCodec>,
    row_keys: bool,
    /// Whether only `output` is given.
    narrow: bool,
    /// Whether CHAR values get the trailing spaces that are not stored.
    padded: bool,
}

impl<'r> Decoder<'r> {
    /// A decoder of `columns` of the table's rows, in this order.
    pub(crate) fn new(table: &'r TableInfo, columns: &'r [usize]) -> Self {
        Self {
            layout: &table.def.layout,
            places: columns.into(),
            table,
            columns: &[],
            computed: &[],
            output: &[],
            filter: RowFilter::new(&[]),
            filter_columns: &[],
            covering: false,
            clustered: None,
            row_keys: false,
            narrow: false,
            padded: false,
        }
    }

    /// A decoder of `columns` of the table from entries of an index. Columns that are not in the
    /// index are read from the clustered key.
    pub(crate) fn of_entries(
        table: &'r TableInfo,
        codecs: &'r [IndexCodec],
        index: usize,
        columns: &'r [usize],
    ) -> Self {
        let layout = codecs[index].entry_layout();
        let parts = &table.def.indexes[index].parts;
        let behind = table.def.primary().map_or(&[][..], |key| &key.parts);
        let parts: Vec<usize> = parts.iter().chain(behind).map(|part| part.column).collect();
        // A computed column has no place.
        let place = |column| parts.iter().position(|part| *part == column).unwrap_or(0);
        Self {
            layout,
            places: columns.iter().map(|column| place(*column)).collect(),
            covering: true,
            clustered: codecs.first(),
            ..Self::new(table, columns)
        }
    }

    /// Gives only some of the columns; the others serve the filter.
    pub(crate) fn with_output(mut self, output: &'r [usize]) -> Self {
        self.output = output;
        self.narrow = true;
        self
    }

    /// Computes some of the columns from the others; `columns` are the decoded columns of the
    /// table.
    pub(crate) fn with_computed(
        mut self,
        computed: &'r [(usize, Expr)],
        columns: &'r [usize],
    ) -> Self {
        self.computed = computed;
        self.columns = columns;
        self
    }

    /// Output columns with their places.
    fn given_out(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let count = if self.narrow { self.output.len() } else { self.places.len() };
        (0..count).map(|at| {
            let column = if self.narrow { self.output[at] } else { at };
            (column, self.places[column])
        })
    }

    /// Drops rows that fail a condition; `columns` marks the columns that the conditions read.
    pub(crate) fn with_filter(mut self, filter: &'r [Expr], columns: &'r [bool]) -> Self {
        self.filter = RowFilter::new(filter);
        self.filter_columns = columns;
        self
    }

    /// Adds the clustered key as the last column.
    pub(crate) fn with_keys(mut self, row_keys: bool) -> Self {
        self.row_keys = row_keys;
        self
    }

    /// Adds trailing spaces to CHAR values under PAD_CHAR_TO_FULL_LENGTH.
    pub(crate) fn with_padding(mut self, eval: &EvalContext<'_>) -> Self {
        let mode = eval.types.sql_mode;
        self.padded = mode.contains(SqlMode::PAD_CHAR_TO_FULL_LENGTH);
        self
    }

    /// Whether the fixed-length part of a row holds all columns.
    pub(crate) fn is_fixed_only(&self) -> bool {
        let is_fixed =
            |(column, &at): (usize, &usize)| self.is_computed(column) || self.layout.is_fixed(at);
        !self.covering && self.places.iter().enumerate().all(is_fixed)
    }

    /// Whether the scan must return clustered keys.
    pub(crate) fn wants_keys(&self) -> bool {
        let parts = self.layout.columns().len();
        self.row_keys || self.covering && self.places.iter().any(|place| *place >= parts)
    }

    /// Bytes of the leaf's number before a clustered key.
    fn leaf_bytes(&self) -> usize {
        if self.table.partitions.is_some() { PREFIX } else { 0 }
    }

    /// The column at a place, for all rows or those at positions `numbers`.
    fn column(
        &self,
        source: Source<'_>,
        (at, place): (usize, usize),
        numbers: Option<&[u32]>,
    ) -> SqlResult<Arc<Column>> {
        let set = match source {
            Source::Rows(set) => set,
            Source::Block(block) => {
                let column = block.column(self.layout, (at, place), numbers)?;
                return Ok(Arc::new(self.padded(column, &self.layout.columns()[place].ty)));
            }
        };
        let rows = self.rows(set);
        let behind = place.checked_sub(self.layout.columns().len());
        let column = match (behind.zip(self.clustered), numbers) {
            (Some((part, clustered)), _) => {
                let column = key_column((clustered, part), self.leaf_bytes(), &set.keys, numbers)?;
                self.padded(column, &clustered.part(part).ty)
            }
            (None, None) => {
                let column = self.layout.decode(rows, place).map_err(corrupt)?;
                self.padded(column, &self.layout.columns()[place].ty)
            }
            (None, Some(numbers)) => {
                let column = self.layout.decode_selected(rows, place, numbers).map_err(corrupt)?;
                self.padded(column, &self.layout.columns()[place].ty)
            }
        };
        Ok(Arc::new(column))
    }

    fn padded(&self, column: Column, ty: &SqlType) -> Column {
        let is_text = ty.kind == TypeKind::Char && !ty.collation.is_binary();
        if self.padded && is_text { padded(&column, ty) } else { column }
    }

    fn rows<'s>(&self, set: &'s RowSet) -> &'s ByteRows {
        if self.covering { &set.entries } else { &set.rows }
    }

    /// Rows that pass the filter, and their positions in `set` unless all pass. `None` if none
    /// passes.
    pub(crate) fn decode(
        &self,
        eval: &EvalContext<'_>,
        set: &RowSet,
    ) -> SqlResult<Option<(Batch, Option<Vec<u32>>)>> {
        let rows = self.rows(set);
        if rows.is_empty() {
            return Ok(None);
        }
        if !self.computed.is_empty() {
            return self.decode_computing(eval, set);
        }
        self.decode_source(eval, Source::Rows(set))
    }

    /// Rows of a block that pass the filter; `None` if none passes. The decoder computes no columns
    /// and gives no keys.
    pub(crate) fn decode_block(
        &self,
        eval: &EvalContext<'_>,
        block: &Block<'_>,
        encoded: &mut Encoded,
    ) -> SqlResult<Option<Batch>> {
        if block.len() == 0 {
            return Ok(None);
        }
        if let Some(batch) = self.decode_encoded(eval, block, encoded)? {
            return Ok((batch.rows() > 0).then_some(batch));
        }
        Ok(self.decode_source(eval, Source::Block(block))?.map(|(batch, _)| batch))
    }

    /// The same for a block that nothing has touched, if no condition raises a warning.
    fn decode_encoded(
        &self,
        eval: &EvalContext<'_>,
        block: &Block<'_>,
        encoded: &mut Encoded,
    ) -> SqlResult<Option<Batch>> {
        if self.padded || !block.is_untouched() {
            return Ok(None);
        }
        let Some(conditions) = self.filter.conditions(eval) else { return Ok(None) };
        let given = self.given_out().map(|(column, _)| column);
        encoded.batch(eval, conditions, (given, self.places.len()), block)
    }

    /// This decoder for lanes; `None` if they cannot read for it.
    pub(crate) fn for_lanes(&self, eval: &EvalContext<'_>, encoded: &Encoded) -> Option<LaneScan> {
        let conditions = self.filter.conditions(eval).filter(|_| !self.padded)?;
        let given = self.given_out().map(|(column, _)| column).collect();
        LaneScan::new(eval, conditions, (given, self.places.len()), encoded)
    }

    fn decode_source(
        &self,
        eval: &EvalContext<'_>,
        set: Source<'_>,
    ) -> SqlResult<Option<(Batch, Option<Vec<u32>>)>> {
        if self.filter.is_empty() {
            return Ok(Some((self.all(set)?, None)));
        }
        let first = self.filter_batch(set)?;
        let Some(keep) = self.filter.keep(eval, &first)? else {
            return Ok(Some((self.finish(set, first, None)?, None)));
        };
        let numbers = keep.positions();
        if numbers.is_empty() {
            return Ok(None);
        }
        let batch = self.finish(set, first, Some(&numbers))?;
        Ok(Some((batch, Some(numbers))))
    }

    fn all(&self, set: Source<'_>) -> SqlResult<Batch> {
        let mut columns = Vec::with_capacity(self.places.len() + 1);
        for place in self.given_out() {
            columns.push(self.column(set, place, None)?);
        }
        columns.extend(self.keys(set, None));
        Ok(Batch::new(columns, self.len(set)))
    }

    fn len(&self, set: Source<'_>) -> usize {
        match set {
            Source::Rows(set) => self.rows(set).len(),
            Source::Block(block) => block.len(),
        }
    }

    /// The clustered keys, if they are given out.
    fn keys(&self, set: Source<'_>, numbers: Option<&[u32]>) -> Option<Arc<Column>> {
        match set {
            Source::Rows(set) if self.row_keys => Some(Arc::new(bytes_column(&set.keys, numbers))),
            Source::Rows(_) | Source::Block(_) => None,
        }
    }

    fn is_filtered(&self, column: usize) -> bool {
        self.filter_columns.get(column).copied().unwrap_or(true)
    }

    /// The columns the filter reads; other columns are NULL placeholders.
    fn filter_batch(&self, set: Source<'_>) -> SqlResult<Batch> {
        let rows = self.len(set);
        let nothing = Arc::new(Column::nulls(Physical::Int, 0, rows));
        let mut columns = Vec::with_capacity(self.places.len());
        for (column, &at) in self.places.iter().enumerate() {
            columns.push(match self.is_filtered(column) {
                true => self.column(set, (column, at), None)?,
                false => nothing.clone(),
            });
        }
        Ok(Batch::new(columns, rows))
    }

    /// Decodes the remaining columns for the rows that passed.
    fn finish(&self, set: Source<'_>, first: Batch, numbers: Option<&[u32]>) -> SqlResult<Batch> {
        let mut columns = Vec::with_capacity(self.places.len() + 1);
        for (column, at) in self.given_out() {
            columns.push(match (self.is_filtered(column), numbers) {
                (true, None) => first.column(column).clone(),
                (true, Some(numbers)) => Arc::new(first.column(column).gather(numbers)),
                (false, _) => self.column(set, (column, at), numbers)?,
            });
        }
        columns.extend(self.keys(set, numbers));
        Ok(Batch::new(columns, numbers.map_or(self.len(set), <[u32]>::len)))
    }
}

/// Rows with computed columns.
impl Decoder<'_> {
    fn is_computed(&self, column: usize) -> bool {
        self.computed.iter().any(|(at, _)| *at == column)
    }

    fn decode_computing(
        &self,
        eval: &EvalContext<'_>,
        set: &RowSet,
    ) -> SqlResult<Option<(Batch, Option<Vec<u32>>)>> {
        let rows = self.rows(set);
        let first = |column| !self.filter.is_empty() && self.is_filtered(column);
        let mut columns = vec![self.nothing(rows.len()); self.places.len()];
        self.fill(eval, rows, &mut columns, &first)?;
        let keep = match self.filter.is_empty() {
            true => None,
            false => self.filter.keep(eval, &Batch::new(columns.clone(), rows.len()))?,
        };
        let Some(keep) = keep else {
            self.fill(eval, rows, &mut columns, &|column| !first(column))?;
            return Ok(Some((self.narrowed(columns, set, None), None)));
        };
        let numbers = keep.positions();
        if numbers.is_empty() {
            return Ok(None);
        }
        columns.iter_mut().for_each(|column| *column = Arc::new(column.gather(&numbers)));
        let mut passed = ByteRows::with_capacity(numbers.len());
        numbers.iter().for_each(|&row| passed.push(rows.get(row as usize)));
        self.fill(eval, &passed, &mut columns, &|column| !first(column))?;
        Ok(Some((self.narrowed(columns, set, Some(&numbers)), Some(numbers))))
    }

    fn nothing(&self, rows: usize) -> Arc<Column> {
        Arc::new(Column::nulls(Physical::Int, 0, rows))
    }

    /// Decodes the `wanted` columns, then computes the computed ones among them.
    fn fill(
        &self,
        eval: &EvalContext<'_>,
        rows: &ByteRows,
        columns: &mut [Arc<Column>],
        wanted: &dyn Fn(usize) -> bool,
    ) -> SqlResult<()> {
        for (column, &at) in self.places.iter().enumerate() {
            if wanted(column) && !self.is_computed(column) {
                let read = self.layout.decode(rows, at).map_err(corrupt)?;
                columns[column] = Arc::new(self.padded(read, &self.layout.columns()[at].ty));
            }
        }
        for (column, e) in self.computed.iter().filter(|(column, _)| wanted(*column)) {
            let input = Batch::new(columns.to_vec(), rows.len());
            columns[*column] = computed(eval, self.table, self.columns[*column], e, &input)?;
        }
        Ok(())
    }

    fn narrowed(&self, columns: Vec<Arc<Column>>, set: &RowSet, numbers: Option<&[u32]>) -> Batch {
        let rows = numbers.map_or(self.rows(set).len(), <[u32]>::len);
        let mut out: Vec<Arc<Column>> =
            self.given_out().map(|(column, _)| columns[column].clone()).collect();
        if self.row_keys {
            out.push(Arc::new(bytes_column(&set.keys, numbers)));
        }
        Batch::new(out, rows)
    }
}

/// One part of the clustered keys as a column, for all keys or those at positions `numbers`.
fn key_column(
    (clustered, part): (&IndexCodec, usize),
    leaf_bytes: usize,
    keys: &ByteRows,
    numbers: Option<&[u32]>,
) -> SqlResult<Column> {
    let read = |key: &[u8]| {
        let mut reader = KeyReader::new(key.get(leaf_bytes..)?);
        (0..part).try_for_each(|before| clustered.part(before).skip(&mut reader))?;
        clustered.part(part).decode(&mut reader)
    };
    let count = numbers.map_or(keys.len(), <[u32]>::len);
    let mut column = Column::new(clustered.part(part).ty.physical(), 0, count);
    let mut put = |key: &[u8]| {
        let value = read(key).ok_or_else(|| corrupt(RowCorrupt))?;
        column.push(&value);
        Ok(())
    };
    match numbers {
        None => keys.iter().try_for_each(&mut put)?,
        Some(numbers) => numbers.iter().try_for_each(|at| put(keys.get(*at as usize)))?,
    }
    Ok(column)
}

/// Removes the spaces that a scan added to CHAR columns.
pub(crate) fn unpad(table: &TableInfo, columns: &mut [Arc<Column>]) {
    for (column, info) in columns.iter_mut().zip(&table.columns) {
        if info.ty.kind != TypeKind::Char || info.ty.collation.is_binary() {
            continue;
        }
        let (space, _) = Charset::Utf8mb4.convert(b" ", info.ty.collation.charset());
        let mut out = Column::new(Physical::Bytes, 0, column.len());
        for row in 0..column.len() {
            match column.value(row) {
                Value::Bytes(text) => {
                    let mut kept = &text[..];
                    while let Some(shorter) = kept.strip_suffix(&space[..]) {
                        kept = shorter;
                    }
                    out.push(&Value::Bytes(kept.into()));
                }
                other => out.push(&other),
            }
        }
        *column = Arc::new(out);
    }
}

/// CHAR values padded with spaces to the column's length.
fn padded(column: &Column, ty: &SqlType) -> Column {
    let charset = ty.collation.charset();
    let (space, _) = Charset::Utf8mb4.convert(b" ", charset);
    let mut out = Column::new(Physical::Bytes, 0, column.len());
    for row in 0..column.len() {
        match column.value(row) {
            Value::Bytes(text) => {
                let missing = (ty.length as usize).saturating_sub(charset.char_count(&text));
                let mut whole = text.to_vec();
                whole.extend(space.iter().copied().cycle().take(missing * space.len()));
                out.push(&Value::Bytes(whole.into()));
            }
            other => out.push(&other),
        }
    }
    out
}

/// Byte strings as a column, all or those at positions `numbers`.
fn bytes_column(rows: &ByteRows, numbers: Option<&[u32]>) -> Column {
    let data = match numbers {
        None => rows.clone(),
        Some(numbers) => {
            let mut out = ByteRows::with_capacity(numbers.len());
            numbers.iter().for_each(|&row| out.push(rows.get(row as usize)));
            out
        }
    };
    Column::from_data(ColumnData::Bytes(data), None)
}
