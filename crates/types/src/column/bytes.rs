//! Byte strings of a column, one after the other in one buffer.
//! Offsets have 32 bits: one column of a batch must stay below 4 GiB.

/// Byte strings of any length; `offsets` has one entry more than there are rows.
///
/// A batch holds less than 4 GiB of string data; the executor ends a batch long before.
#[derive(Clone, Debug)]
pub struct BytesColumn {
    offsets: Vec<u32>,
    data: Vec<u8>,
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
        Self { offsets, data: Vec::new() }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of row `row`.
    #[inline]
    pub fn get(&self, row: usize) -> &[u8] {
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
        self.data.extend_from_slice(bytes);
        self.end_row();
    }

    /// The buffer. A row's bytes may be appended to it in pieces, then [`Self::end_row`].
    pub fn buffer(&mut self) -> &mut Vec<u8> {
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

    /// Appends all rows of `other`.
    pub fn append(&mut self, other: &Self) {
        let base = *self.offsets.last().unwrap_or(&0);
        self.data.extend_from_slice(&other.data);
        self.offsets.extend(other.offsets[1..].iter().map(|o| o + base));
    }

    /// All rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        self.offsets.windows(2).map(|w| &self.data[w[0] as usize..w[1] as usize])
    }

    /// Offsets, `len + 1` of them.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// All rows' bytes.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Removes all rows and keeps the buffers.
    pub fn clear(&mut self) {
        self.offsets.truncate(1);
        self.data.clear();
    }

    /// Keeps the first `len` rows.
    pub fn truncate(&mut self, len: usize) {
        self.offsets.truncate(len + 1);
        self.data.truncate(*self.offsets.last().unwrap_or(&0) as usize);
    }

    /// Size in memory, in bytes.
    pub fn memory(&self) -> usize {
        self.offsets.capacity() * 4 + self.data.capacity()
    }
}
