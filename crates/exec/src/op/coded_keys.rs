//! Keys of columns whose rows are entries of small dictionaries: a combination of entries is a
//! small number, so that the number of its key is found in an array.
//!
//! Must know nothing of equality: several combinations may have one key, since a collation may hold
//! different entries equal.

use std::sync::Arc;

use selkie_types::{BytesColumn, Column, ColumnData};

use super::hash_table::NOT_FOUND;

/// Most combinations of entries.
const MOST: usize = 4096;
/// Most combinations for each row of a batch with new dictionaries.
const MOST_PER_ROW: usize = 4;

/// The combinations of some dictionaries.
#[derive(Debug, Default)]
pub(super) struct CodedKeys {
    dictionaries: Vec<Arc<BytesColumn>>,
    /// The number of each combination's key, [`NOT_FOUND`] until it is known.
    pub(super) ids: Vec<u32>,
    /// The combination of each row of the last batch.
    pub(super) combinations: Vec<u32>,
}

/// A column's rows as entries; NULL is one entry more.
fn codes(column: &Column) -> Option<(&[u32], &Arc<BytesColumn>)> {
    match column.data() {
        ColumnData::Bytes(v) if !column.is_constant() => v.codes(),
        _ => None,
    }
}

impl CodedKeys {
    /// Finds the combination of each row; false if not all columns have dictionaries, or these have
    /// too many combinations.
    pub(super) fn combine(&mut self, columns: &[Arc<Column>], rows: usize) -> bool {
        let mut count = 1usize;
        for column in columns {
            let Some((_, entries)) = codes(column) else { return false };
            count = count.saturating_mul(entries.len() + 1);
        }
        let same = columns.len() == self.dictionaries.len()
            && columns.iter().zip(&self.dictionaries).all(|(column, known)| {
                codes(column).is_some_and(|(_, entries)| Arc::ptr_eq(entries, known))
            });
        if columns.is_empty() || count > MOST || (!same && count > rows * MOST_PER_ROW) {
            return false;
        }
        if !same {
            self.dictionaries.clear();
            let entries = columns.iter().filter_map(|column| codes(column));
            self.dictionaries.extend(entries.map(|(_, entries)| entries.clone()));
            self.ids.clear();
            self.ids.resize(count, NOT_FOUND);
        }
        self.combinations.clear();
        self.combinations.resize(rows, 0);
        for column in columns {
            let Some((codes, entries)) = codes(column) else { return false };
            let (null, kinds) = (entries.len() as u32, entries.len() as u32 + 1);
            let numbers = self.combinations.iter_mut().zip(codes);
            match column.validity() {
                None => numbers.for_each(|(number, code)| *number = *number * kinds + code),
                Some(valid) => numbers.enumerate().for_each(|(row, (number, code))| {
                    *number = *number * kinds + if valid.get(row) { *code } else { null };
                }),
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use selkie_types::{Bitmap, CollationId};

    use super::super::hash_table::{KeyKind, KeyTable};
    use super::*;

    fn dictionary(entries: &[&str]) -> Arc<BytesColumn> {
        let mut column = BytesColumn::default();
        entries.iter().for_each(|entry| column.push(entry.as_bytes()));
        Arc::new(column)
    }

    fn coded(codes: &[u32], entries: &Arc<BytesColumn>, valid: Option<&[bool]>) -> Arc<Column> {
        let data = ColumnData::Bytes(BytesColumn::of_codes(codes.to_vec(), entries.clone()));
        let valid = valid.map(|valid| valid.iter().copied().collect::<Bitmap>());
        Arc::new(Column::from_data(data, valid))
    }

    /// The same rows without dictionaries.
    fn plain(column: &Column) -> Arc<Column> {
        let mut out = Column::new(column.physical(), 0, column.len());
        (0..column.len()).for_each(|row| out.push(&column.value(row)));
        Arc::new(out)
    }

    #[test]
    fn keys_have_the_numbers_that_they_have_without_dictionaries() {
        let kind = KeyKind::Text(CollationId::UTF8MB4_GENERAL_CI);
        let (letters, others) = (dictionary(&["a", "A", "b", ""]), dictionary(&["x", "y"]));
        let valid = [true, false, true, true, true, false];
        let batches = [
            vec![coded(&[0, 1, 2, 3, 1, 0], &letters, None), coded(&[0; 6], &others, None)],
            vec![
                coded(&[2, 2, 0, 3, 3, 1], &letters, Some(&valid)),
                coded(&[0, 1, 1, 0, 0, 1], &others, None),
            ],
            vec![coded(&[1, 0, 0, 1, 1, 1], &others, None), coded(&[0; 6], &letters, None)],
        ];
        let (mut with, mut without) = (KeyTable::new(vec![kind; 2]), KeyTable::new(vec![kind; 2]));
        for batch in &batches {
            assert!(CodedKeys::default().combine(batch, 6));
            let mut results = Vec::new();
            let expanded: Vec<_> = batch.iter().map(|column| plain(column)).collect();
            for (table, columns) in [(&mut with, batch), (&mut without, &expanded)] {
                let (mut ids, mut new) = (Vec::new(), Vec::new());
                table.assign(columns, 6, &mut ids, &mut new).expect("no limit");
                results.push((ids, new));
            }
            assert_eq!(results[0], results[1]);
        }
    }

    #[test]
    fn many_combinations_are_no_numbers() {
        let names: Vec<String> = (0..70).map(|n| n.to_string()).collect();
        let entries = dictionary(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let column = coded(&[0; 5000], &entries, None);
        assert!(CodedKeys::default().combine(&vec![column.clone(); 1], 5000));
        assert!(!CodedKeys::default().combine(&vec![column; 2], 5000));
        let few = coded(&[0; 10], &entries, None);
        assert!(!CodedKeys::default().combine(&[few], 10));
    }
}
