//! JSON_ARRAYAGG and JSON_OBJECTAGG.

use std::sync::Arc;

use selkie_types::{Column, SqlResult, SqlType, Value};

use super::state::{Groups, State, same_kind};
use super::{Aggregate, AggregateKind};
use crate::context::EvalContext;
use crate::json::{put_sql_value, put_string};
use crate::kernel::BytesOut;

/// Documents of each group, without their brackets.
pub(super) struct JsonAgg {
    object: bool,
    distinct: bool,
    types: Vec<SqlType>,
    /// Whether a string argument is JSON already.
    is_json: bool,
    groups: Vec<Option<Vec<u8>>>,
}

impl JsonAgg {
    pub(super) fn new(a: &Aggregate) -> Self {
        Self {
            object: a.kind == AggregateKind::JsonObjectAgg,
            distinct: a.distinct,
            types: a.args.iter().map(|e| e.ty.clone()).collect(),
            is_json: a.args.last().is_some_and(crate::json::is_json),
            groups: Vec::new(),
        }
    }

    fn append(&mut self, group: usize, text: &[u8]) {
        match &mut self.groups[group] {
            None => self.groups[group] = Some(text.to_vec()),
            Some(joined) => {
                let separator: &[u8] = if self.object { b", " } else { b"," };
                joined.extend_from_slice(separator);
                joined.extend_from_slice(text);
            }
        }
    }
}

impl State for JsonAgg {
    fn resize(&mut self, groups: usize) {
        self.groups.resize(groups, None);
    }

    fn update(
        &mut self,
        groups: Groups<'_>,
        rows: usize,
        args: &[Arc<Column>],
        _: &EvalContext<'_>,
    ) -> SqlResult<()> {
        debug_assert!(!self.distinct || !self.object);
        for row in 0..rows {
            let mut text = Vec::new();
            if self.object {
                let Value::Bytes(name) = args[0].value(row) else { continue };
                put_string(&mut text, &name);
                text.push(b':');
            }
            let last = self.types.len() - 1;
            put_sql_value(&mut text, &args[last].value(row), &self.types[last], self.is_json);
            self.append(groups.of(row), &text);
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn State>, map: &[u32], _: &EvalContext<'_>) -> SqlResult<()> {
        let other = same_kind::<Self>(other);
        for (from, &to) in other.groups.into_iter().zip(map) {
            if let Some(text) = from {
                self.append(to as usize, &text);
            }
        }
        Ok(())
    }

    fn finish(&mut self, _: &EvalContext<'_>) -> SqlResult<Column> {
        let (open, close) = if self.object { (b'{', b'}') } else { (b'[', b']') };
        let mut out = BytesOut::new(self.groups.len());
        for group in &self.groups {
            out.write(|buffer| {
                let Some(text) = group else { return false };
                buffer.push(open);
                buffer.extend_from_slice(text);
                buffer.push(close);
                true
            });
        }
        Ok(out.finish())
    }

    fn memory(&self) -> usize {
        self.groups.iter().flatten().map(|g| g.capacity() + 24).sum()
    }
}
