//! JSON_OBJECTAGG.
//! Repeated names are kept; rows with a NULL name are left out.

use std::sync::Arc;

use selkie_meter::{ask, spend};
use selkie_types::{CollationId, Column, SqlResult, SqlType, Value};

use super::Aggregate;
use super::group_concat::in_charset;
use super::state::{Groups, State, length_at, same_kind};
use crate::context::EvalContext;
use crate::json::{put_sql_value, put_string};
use crate::kernel::BytesOut;

/// The document of each group, without its brackets.
pub(super) struct ObjectAgg {
    ty: SqlType,
    /// Whether a string value is a JSON document.
    is_json: bool,
    collation: CollationId,
    groups: Vec<Option<Vec<u8>>>,
}

impl ObjectAgg {
    pub(super) fn new(a: &Aggregate) -> Self {
        Self {
            ty: a.args[1].ty.clone(),
            is_json: crate::json::is_json(&a.args[1]),
            collation: a.ty.collation,
            groups: Vec::new(),
        }
    }

    fn append(&mut self, group: usize, text: &[u8]) {
        match &mut self.groups[group] {
            None => self.groups[group] = Some(text.to_vec()),
            Some(joined) => {
                joined.extend_from_slice(b", ");
                joined.extend_from_slice(text);
            }
        }
    }
}

impl State for ObjectAgg {
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
        for row in 0..rows {
            // The value is copied, converted to JSON and joined.
            ask(3 * length_at(args, row))?;
            let Value::Bytes(name) = args[0].value(row) else { continue };
            spend(name.len())?;
            let mut text = Vec::new();
            put_string(&mut text, &name);
            text.push(b':');
            put_sql_value(&mut text, &args[1].value(row), &self.ty, self.is_json);
            let text = in_charset(text, self.collation);
            spend(text.len())?;
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
        let mut out = BytesOut::new(self.groups.len());
        for group in &self.groups {
            out.write(|buffer| {
                let Some(text) = group else { return false };
                buffer.push(b'{');
                buffer.extend_from_slice(text);
                buffer.push(b'}');
                true
            });
        }
        Ok(out.finish())
    }
}
