//! Byte strings of a column, one after the other in one buffer, or as codes of a dictionary.
//! Offsets have 32 bits: one column of a batch must stay below 4 GiB.

use std::sync::Arc;

/// Byte strings of any length; `offsets` has one entry more than there are rows.
///
/// A batch holds less than 4 GiB of string data; the executor ends a batch long before.
#[derive(Clone, Debug)]
pub struct BytesColumn {
    offsets: Vec<u32>,
    data: Vec<u8>,
    /// In place of both: the rows as entries of a dictionary.
    coded: Option<Box<Coded>>,
}

/// Rows as numbers of entries.
#[derive(Clone, Debug)]
struct Coded {
    codes: Vec<u32>,
    /// Not coded itself.
    entries: Arc<BytesColumn>,
}

impl Default for BytesColumn {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl BytesColumn {
    /// An empty column with room for `rows`.
    pub fn with_capacity(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { offsets, data: Vec::new(), coded: None }
    }

    /// Rows that are the entries with these numbers.
    ///
    /// # Panics
    /// If the entries are codes themselves.
    pub fn of_codes(codes: Vec<u32>, entries: Arc<BytesColumn>) -> Self {
        assert!(entries.coded.is_none(), "a dictionary has no dictionary");
        debug_assert!(codes.iter().all(|code| (*code as usize) < entries.len()));
        Self { coded: Some(Box::new(Coded { codes, entries })), ..Self::with_capacity(0) }
    }

    /// The number of each row's entry, and the entries, if the rows are kept so.
    pub fn codes(&self) -> Option<(&[u32], &Arc<BytesColumn>)> {
        self.coded.as_ref().map(|coded| (&coded.codes[..], &coded.entries))
    }

    /// Whether rows of `other` are codes that can be appended to these.
    pub fn shares_entries(&self, other: &Self) -> bool {
        match (&self.coded, &other.coded) {
            (Some(own), Some(other)) => Arc::ptr_eq(&own.entries, &other.entries),
            (None, Some(_)) => self.is_empty(),
            _ => false,
        }
    }

    /// Copies the strings of coded rows into the buffer.
    pub fn expand(&mut self) {
        let Some(coded) = self.coded.take() else { return };
        self.offsets.reserve(coded.codes.len());
        for code in coded.codes {
            self.push(coded.entries.get(code as usize));
        }
    }

    /// Number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.coded {
            None => self.offsets.len() - 1,
            Some(coded) => coded.codes.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of row `row`.
    #[inline]
    pub fn get(&self, row: usize) -> &[u8] {
        match &self.coded {
            None => self.plain(row),
            Some(coded) => coded.entries.plain(coded.codes[row] as usize),
        }
    }

    #[inline]
    fn plain(&self, row: usize) -> &[u8] {
        &self.data[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// Reserves room for `rows` more rows of the average length so far, within a limit.
    pub fn expect(&mut self, rows: usize) {
        const MOST: usize = 1 << 16;
        let mean = self.data.len() / self.len().max(1);
        self.data.reserve((mean * rows).min(MOST));
    }

    /// Appends a row.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        self.expand();
        self.data.extend_from_slice(bytes);
        self.end_row();
    }

    /// The buffer. A row's bytes may be appended to it in pieces, then [`Self::end_row`].
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.expand();
        &mut self.data
    }

    /// Ends the row whose bytes were appended to [`Self::buffer`].
    ///
    /// # Panics
    /// If the batch exceeds 4 GiB.
    #[inline]
    pub fn end_row(&mut self) {
        let end = u32::try_from(self.data.len()).expect("a batch holds less than 4 GiB");
        self.offsets.push(end);
    }

    /// Appends all rows of `other`. Entries of one dictionary stay codes.
    pub fn append(&mut self, other: &Self) {
        if let Some(more) = &other.coded {
            if self.shares_entries(other) {
                let own = self.coded.get_or_insert_with(|| {
                    Box::new(Coded { codes: Vec::new(), entries: more.entries.clone() })
                });
                return own.codes.extend_from_slice(&more.codes);
            }
            return other.iter().for_each(|row| self.push(row));
        }
        self.expand();
        let base = *self.offsets.last().unwrap_or(&0);
        self.data.extend_from_slice(&other.data);
        self.offsets.extend(other.offsets[1..].iter().map(|o| o + base));
    }

    /// All rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        (0..self.len()).map(|row| self.get(row))
    }

    /// All rows' bytes; nothing if the rows are codes.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Removes all rows and keeps the buffers.
    pub fn clear(&mut self) {
        self.coded = None;
        self.offsets.truncate(1);
        self.data.clear();
    }

    /// Keeps the first `len` rows.
    pub fn truncate(&mut self, len: usize) {
        if let Some(coded) = &mut self.coded {
            return coded.codes.truncate(len);
        }
        self.offsets.truncate(len + 1);
        self.data.truncate(*self.offsets.last().unwrap_or(&0) as usize);
    }

    /// Size in memory, in bytes. Of coded rows it is about what their strings would take, since
    /// whoever keeps or evaluates them may copy these.
    pub fn memory(&self) -> usize {
        let coded = self.coded.as_ref().map_or(0, |coded| {
            let mean = coded.entries.data.len() / coded.entries.len().max(1);
            coded.codes.capacity() * 4 + coded.codes.len() * mean
        });
        self.offsets.capacity() * 4 + self.data.capacity() + coded
    }

    /// Size of all rows' strings, in bytes.
    pub fn text_size(&self) -> usize {
        match &self.coded {
            None => self.data.len(),
            Some(coded) => {
                coded.codes.iter().map(|&code| coded.entries.len_of(code as usize)).sum()
            }
        }
    }

    #[inline]
    fn len_of(&self, row: usize) -> usize {
        (self.offsets[row + 1] - self.offsets[row]) as usize
    }

    /// Moves the strings into a dictionary of which each row is an entry, so that rows picked from
    /// the column are codes.
    pub fn into_entries(self) -> Self {
        if self.coded.is_some() {
            return self;
        }
        Self::of_codes((0..self.len() as u32).collect(), Arc::new(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coded() -> BytesColumn {
        let mut entries = BytesColumn::default();
        [&b"a"[..], b"", b"long"].into_iter().for_each(|entry| entries.push(entry));
        BytesColumn::of_codes(vec![2, 0, 0, 1], Arc::new(entries))
    }

    #[test]
    fn coded_rows_are_their_entries() {
        let mut column = coded();
        assert_eq!(column.iter().collect::<Vec<_>>(), [&b"long"[..], b"a", b"a", b""]);
        column.truncate(2);
        assert_eq!((column.len(), column.get(0)), (2, &b"long"[..]));
        column.push(b"new");
        assert!(column.codes().is_none());
        assert_eq!(column.iter().collect::<Vec<_>>(), [&b"long"[..], b"a", b"new"]);
    }

    #[test]
    fn rows_become_entries() {
        let mut column = BytesColumn::default();
        [&b"a"[..], b"", b"long"].into_iter().for_each(|row| column.push(row));
        let column = column.into_entries();
        assert_eq!(
            column.codes().map(|(codes, entries)| (codes, entries.len())),
            Some((&[0, 1, 2][..], 3))
        );
        assert_eq!(column.iter().collect::<Vec<_>>(), [&b"a"[..], b"", b"long"]);
        assert_eq!(coded().text_size(), 6);
        assert!(coded().memory() >= coded().text_size() - 2);
    }

    #[test]
    fn coded_rows_are_appended_as_strings() {
        let mut column = BytesColumn::default();
        column.append(&coded());
        assert!(column.codes().is_some(), "an empty column takes the dictionary");
        let mut column = BytesColumn::default();
        column.push(b"x");
        column.append(&coded());
        assert_eq!(column.iter().collect::<Vec<_>>(), [&b"x"[..], b"long", b"a", b"a", b""]);
        let mut column = coded();
        let same = column.clone();
        column.append(&same);
        assert_eq!(column.codes().map(|(codes, _)| codes), Some(&[2, 0, 0, 1, 2, 0, 0, 1][..]));
        column.truncate(4);
        column.append(&coded());
        assert!(column.codes().is_none());
        assert_eq!((column.len(), column.get(7)), (8, &b""[..]));
        column.clear();
        assert_eq!(column.len(), 0);
    }
}
