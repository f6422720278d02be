//! From a key of an index to the leaves that can have it: values of the columns that decide are
//! read from the key. Must not leave out a leaf with a row of that key (P4).

use selkie_engine::{IndexCodec, IndexDef};
use selkie_plan::partition::{Dimension, Router};
use selkie_types::Value;
use selkie_types::key::KeyReader;

/// The places of deciding columns in the keys of one index.
pub(super) struct KeyRoute {
    codec: IndexCodec,
    /// Parts of the columns that decide the partition, in the router's order; none if the index
    /// lacks one.
    parts: Vec<usize>,
    /// The same for the subpartition.
    subs: Vec<usize>,
}

impl KeyRoute {
    /// `None` if keys tell nothing about leaves.
    pub(super) fn new(router: &Router, index: &IndexDef, codec: &IndexCodec) -> Option<Self> {
        let of = |dimension| {
            let columns = router.columns_of(dimension);
            let part = |column: &usize| {
                let at = index.parts.iter().position(|part| part.column == *column)?;
                (index.parts[at].prefix.is_none() && codec.part(at).is_invertible()).then_some(at)
            };
            let places: Option<Vec<usize>> = columns.iter().map(part).collect();
            places.unwrap_or_default()
        };
        let (parts, subs) = (of(Dimension::Partitions), of(Dimension::Subpartitions));
        let tells = !index.hashed && (!parts.is_empty() || !subs.is_empty());
        tells.then(|| Self { codec: codec.clone(), parts, subs })
    }

    /// The leaves that rows with a key can be in, rising; `None`: any.
    pub(super) fn leaves(&self, router: &Router, key: &[u8]) -> Option<Vec<u16>> {
        let last = self.parts.iter().chain(&self.subs).max()?;
        let mut reader = KeyReader::new(key);
        let mut values = Vec::with_capacity(last + 1);
        for at in 0..=*last {
            let part = self.codec.part(at);
            match part.is_invertible() {
                true => values.push(part.decode(&mut reader)?),
                false => {
                    part.skip(&mut reader)?;
                    values.push(Value::Null);
                }
            }
        }
        let of = |dimension, places: &[usize]| {
            let point: Vec<Value> = places.iter().map(|at| values[*at].clone()).collect();
            let known = !places.is_empty();
            known.then(|| router.point(dimension, &point)).flatten()
        };
        let parts = of(Dimension::Partitions, &self.parts);
        let subs = of(Dimension::Subpartitions, &self.subs);
        let known = parts.is_some() || subs.is_some();
        known.then(|| router.combine(parts.as_deref(), subs.as_deref()))
    }
}
