//! FULLTEXT keys: their columns, and their place in a table's definition beside the keys that an
//! engine stores.

use selkie_catalog::{ColumnInfo, IndexInfo, TableInfo, TableKind, TextIndex};
use selkie_engine::{FullText, IndexDef, IndexKind, IndexPart, Personality, TextRules};
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::{
    ER_BAD_FT_COLUMN, ER_DUP_FIELDNAME, ER_FUNCTION_NOT_DEFINED, ER_INNODB_NO_FT_TEMP_TABLE,
    ER_KEY_COLUMN_DOES_NOT_EXIST, ER_TABLE_CANT_HANDLE_FT,
    ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN,
};
use selkie_types::{SqlError, SqlResult, TypeKind};

use super::DefineContext;
use super::alter::ColumnSource;
use super::columns::refuse_compressed;
use super::indexes::{Key, KeySpec};

/// The keys of a definition: those of the engine, and FULLTEXT ones.
pub(super) type Split = (Vec<IndexDef>, Vec<IndexInfo>, Vec<TextIndex>);

/// Separates FULLTEXT keys from those of the engine. New ones get the session's stopwords; the
/// others keep those that `old` has, unless the engine has another dialect by now.
pub(super) fn split(
    context: &DefineContext<'_>,
    engine: &Personality,
    keys: Vec<Key>,
    old: &[TextIndex],
) -> Split {
    let new = rules(context, engine);
    let dialect = new.as_ref().map(|rules| rules.dialect);
    let (texts, keys): (Vec<Key>, Vec<Key>) =
        keys.into_iter().partition(|(def, _)| def.kind == IndexKind::Fulltext);
    let (defs, infos) = keys.into_iter().unzip();
    let text_index = |(def, info): Key| match old.iter().find(|index| index.def.id == def.id) {
        Some(index) => {
            let kept = index.rules.clone().filter(|rules| Some(rules.dialect) == dialect);
            TextIndex { def, info, rules: kept, ..index.clone() }
        }
        None => {
            let stopwords = &context.stopwords;
            let stopword_table = stopwords.table.clone();
            let (rules, stopwords) = (new.clone(), stopwords.enabled);
            TextIndex { def, info, stopwords, stopword_table, rules }
        }
    };
    (defs, infos, texts.into_iter().map(text_index).collect())
}

/// The rules of a new index; none if the engine has no FULLTEXT indexes.
fn rules(context: &DefineContext<'_>, engine: &Personality) -> Option<TextRules> {
    match engine.keys.fulltext {
        FullText::Never => None,
        FullText::Strict => Some(context.stopwords.strict.clone()),
        FullText::Lenient => Some(context.stopwords.lenient.clone()),
    }
}

/// Lets the engine keep all indexes of a table whose rows are written again. Lenient ones get the
/// words of today's rules.
pub(super) fn keep_all(context: &DefineContext<'_>, engine: &Personality, texts: &mut [TextIndex]) {
    let new = rules(context, engine);
    for index in texts {
        if index.rules.is_none() || engine.keys.fulltext == FullText::Lenient {
            index.rules = new.clone();
        }
    }
}

/// Whether documents of an index that stays have other texts than before, or other words.
pub(super) fn changes_texts(
    old: &TableInfo,
    texts: &[TextIndex],
    columns: &[ColumnInfo],
    sources: &[ColumnSource],
) -> bool {
    let same_part = |(new, before): (&IndexPart, &IndexPart)| {
        sources[new.column] == ColumnSource::Old(before.column)
            && columns[new.column].ty.collation == old.columns[before.column].ty.collation
    };
    texts.iter().any(|index| {
        let before = old.fulltext.iter().find(|old| old.def.id == index.def.id);
        before.is_some_and(|before| {
            let (new, before) = (&index.def.parts, &before.def.parts);
            new.len() != before.len() || !new.iter().zip(before).all(same_part)
        })
    })
}

/// The parts of a FULLTEXT key. Compat: lengths and directions are dropped silently.
pub(super) fn parts(
    columns: &[ColumnInfo],
    spec: &KeySpec<'_>,
    engine: &Personality,
) -> SqlResult<Vec<IndexPart>> {
    if let Some(parser) = &spec.options.parser {
        return Err(SqlError::new(&ER_FUNCTION_NOT_DEFINED, &[parser]));
    }
    if engine.keys.fulltext == FullText::Never {
        return Err(SqlError::new(&ER_TABLE_CANT_HANDLE_FT, &[&engine.name]));
    }
    let mut out: Vec<IndexPart> = Vec::with_capacity(spec.parts.len());
    for part in &spec.parts {
        let name = &*part.column.value;
        let column = columns.iter().position(|c| identifier_eq(&c.name, name));
        let column =
            column.ok_or_else(|| SqlError::new(&ER_KEY_COLUMN_DOES_NOT_EXIST, &[&name]))?;
        if out.iter().any(|part| part.column == column) {
            return Err(SqlError::new(&ER_DUP_FIELDNAME, &[&name]));
        }
        refuse_compressed(&columns[column])?;
        out.push(IndexPart { column, prefix: None, descending: false });
    }
    check_columns(columns, &out)?;
    Ok(out)
}

/// An error unless the columns of a FULLTEXT key are texts of one collation.
pub(super) fn check_columns(columns: &[ColumnInfo], parts: &[IndexPart]) -> SqlResult<()> {
    let mut collation = None;
    for column in parts.iter().map(|part| &columns[part.column]) {
        let ty = &column.ty;
        let is_text = ty.is_text_or_blob() || matches!(ty.kind, TypeKind::Char | TypeKind::VarChar);
        let wide = ty.collation.charset().min_len() > 1;
        if !is_text
            || ty.collation.is_binary()
            || wide
            || collation.is_some_and(|c| c != ty.collation)
        {
            return Err(SqlError::new(&ER_BAD_FT_COLUMN, &[&column.name]));
        }
        collation = Some(ty.collation);
        if column.generated.as_ref().is_some_and(|generated| !generated.stored) {
            return Err(SqlError::new(&ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN, &[]));
        }
    }
    Ok(())
}

/// Compat: temporary tables of engines with a strict dialect have no FULLTEXT key.
pub(super) fn check_kind(
    kind: &TableKind,
    engine: &Personality,
    texts: &[TextIndex],
) -> SqlResult<()> {
    let strict = engine.keys.fulltext == FullText::Strict;
    match strict && *kind == TableKind::Temporary && !texts.is_empty() {
        true => Err(SqlError::new(&ER_INNODB_NO_FT_TEMP_TABLE, &[])),
        false => Ok(()),
    }
}
