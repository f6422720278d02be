//! Fields of fixed width, which have neither terminators nor enclosing characters.
//!
//! Widths are in bytes after escapes are removed, and those of the columns' types. A row may be
//! shorter than the sum of its fields if a line ends.

use selkie_catalog::TableInfo;
use selkie_sql::ast;
use selkie_types::error::catalogue::{
    ER_BLOBS_AND_NO_TERMINATED, ER_LOAD_FROM_FIXED_SIZE_ROWS_TO_VAR,
};
use selkie_types::{SqlError, SqlResult, SqlType, TypeKind};

use super::Target;
use crate::query::file_format::{Field, Format, Found, Line, fixed_width};

/// Bytes of a row that a text adds, however long it is.
const OF_TEXT: usize = 256;

/// Widths of the fields of a row.
pub(super) struct Widths {
    fields: Vec<usize>,
    row: usize,
}

/// A part of a file.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    /// The part.
    pub(super) bytes: &'a [u8],
    /// Whether it is the last.
    pub(super) at_end: bool,
}

impl Widths {
    /// Widths of the fields that go to `targets`; `None` if the format is another one.
    pub(super) fn of(
        format: &Format,
        targets: &[Target],
        table: &TableInfo,
    ) -> SqlResult<Option<Self>> {
        if !format.is_fixed_width() {
            return Ok(None);
        }
        if targets.iter().any(|target| matches!(target, Target::Variable(_))) {
            return Err(SqlError::new(&ER_LOAD_FROM_FIXED_SIZE_ROWS_TO_VAR, &[]));
        }
        let types: Vec<&SqlType> = targets.iter().filter_map(|t| type_of(t, table)).collect();
        if types.iter().any(|ty| is_text(ty)) && format.line_end.is_empty() {
            return Err(SqlError::new(&ER_BLOBS_AND_NO_TERMINATED, &[]));
        }
        let width = |ty: &&SqlType| fixed_width(ty) as usize;
        let in_row = |ty: &&SqlType| if is_text(ty) { OF_TEXT } else { width(ty) };
        let row = types.iter().map(in_row).sum();
        Ok(Some(Self { fields: types.iter().map(width).collect(), row }))
    }

    /// Reads one row from the start of `input`, as [`read_line`](crate::query::file_format) does.
    pub(super) fn read(&self, format: &Format, text: Text<'_>, line: &mut Line) -> Found {
        let Text { bytes: input, at_end } = text;
        line.bytes.clear();
        line.fields.clear();
        let more = || if at_end { Found::End } else { Found::Incomplete };
        let Some(start) = format.begin(input).filter(|start| *start < input.len()) else {
            return more();
        };
        let (mut at, mut ended) = (start, false);
        while line.bytes.len() < self.row && !ended {
            let rest = input.get(at..).unwrap_or_default();
            match rest {
                [] if at_end => break,
                [] => return Found::Incomplete,
                [byte] if Some(*byte) == format.escape && !at_end => return Found::Incomplete,
                [byte, next, ..] if Some(*byte) == format.escape => {
                    line.bytes.push(crate::query::file_format::unescape(*next));
                    at += 2;
                }
                _ if ends_line(format, rest) => {
                    at += format.line_end.len();
                    ended = true;
                }
                _ => {
                    let len = format.step(rest);
                    line.bytes.extend_from_slice(&rest[..len]);
                    at += len;
                }
            }
        }
        self.split(line);
        if ended || format.line_end.is_empty() {
            return Found::Line(at);
        }
        // The rest of the line is skipped.
        let rest = input.get(at..).unwrap_or_default();
        match (0..rest.len()).find(|from| ends_line(format, &rest[*from..])) {
            Some(skipped) => {
                line.is_cut = skipped > 0;
                Found::Line(at + skipped + format.line_end.len())
            }
            None if at_end => Found::Line(input.len()),
            None => Found::Incomplete,
        }
    }

    /// Splits the bytes of a row into its fields.
    fn split(&self, line: &mut Line) {
        line.is_cut = false;
        let (mut start, all) = (0, line.bytes.len());
        for width in &self.fields {
            if start == all {
                return;
            }
            let end = all.min(start + width);
            line.fields.push(Field { start, end, is_null: false });
            start = end;
        }
        line.is_cut = start < all;
    }
}

fn ends_line(format: &Format, rest: &[u8]) -> bool {
    !format.line_end.is_empty() && rest.starts_with(&format.line_end)
}

fn is_text(ty: &SqlType) -> bool {
    use TypeKind::*;
    matches!(ty.kind, TinyText | Text | MediumText | LongText)
}

fn type_of<'t>(target: &Target, table: &'t TableInfo) -> Option<&'t SqlType> {
    let name = match target {
        Target::Column(ast::ColumnRef { name, .. }) => &name.value,
        Target::Generated(name) => name,
        Target::Variable(_) => return None,
    };
    let at = table.named_position(name)?;
    Some(&table.columns[at].ty)
}
