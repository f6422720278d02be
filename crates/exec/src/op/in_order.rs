//! Checks, in builds with debug assertions, that rows come in the order the plan relies on.
//!
//! A plan omits a sort where an operator gives the order by itself. If the plan is wrong about
//! that, wrong rows are the only sign. Must not change or reorder rows.

use selkie_plan::physical::SortKey;
use selkie_types::{Batch, ByteRows, SqlResult};

use super::sort_key::put_keys;
use super::{BoxOperator, Operator};
use crate::run::Env;

/// Passes rows on unchanged and asserts their order.
pub(super) struct InOrder<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    keys: &'r [SortKey],
    /// Sort key of the last row.
    last: Vec<u8>,
}

impl<'r> InOrder<'r> {
    pub(super) fn new(env: Env<'r>, input: BoxOperator<'r>, keys: &'r [SortKey]) -> Self {
        Self { env, input, keys, last: Vec::new() }
    }
}

impl Operator for InOrder<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let Some(batch) = self.input.next()? else { return Ok(None) };
        let mut keys = ByteRows::default();
        put_keys(self.env, self.keys, &batch, &mut keys)?;
        for row in 0..batch.rows() {
            let key = keys.get(row);
            assert!(self.last[..] <= *key, "rows are not in the order {:?}", self.keys);
            self.last.clear();
            self.last.extend_from_slice(key);
        }
        Ok(Some(batch))
    }
}
