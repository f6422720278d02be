//! Column definitions: type, nullability, default. Checks of one column only: what depends on other
//! columns is checked by `expressions.rs`.

use selkie_catalog::{ColumnInfo, DefaultValue};
use selkie_expr::Expr;
use selkie_sql::ast::{self, ColumnDef, ExprKind, Literal, TypeName};
use selkie_types::error::catalogue::{
    ER_COMPRESSED_COLUMN_USED_AS_KEY, ER_INVALID_DEFAULT, ER_INVALID_ON_UPDATE,
    ER_TOO_BIG_FIELDLENGTH, ER_TOO_LONG_FIELD_COMMENT, ER_TOO_LONG_IDENT,
    ER_UNKNOWN_COMPRESSION_METHOD, ER_WRONG_COLUMN_NAME, ER_WRONG_DB_NAME, ER_WRONG_FIELD_SPEC,
    ER_WRONG_TABLE_NAME,
};
use selkie_types::{
    CollationId, DateTime, JsonRole, SqlError, SqlResult, SqlType, TypeKind, Value,
};

use selkie_types::temporal::DateOptions;

use super::{DefineContext, constant, expressions, options, system_time, types};

/// Longest identifier in characters.
const IDENTIFIER_MAX: usize = 64;

/// The column that `def` defines in a table of `collation`.
pub(super) fn column(
    context: &DefineContext<'_>,
    def: &ColumnDef,
    collation: CollationId,
) -> SqlResult<ColumnInfo> {
    let name = &*def.name.value;
    check_name(name)?;
    options::check_part(context, &def.options)?;
    let mut ty = types::column_type(context.eval, name, &def.data_type, collation)?;
    if let (Some(geometry), Some(srid)) = (&mut ty.geometry, def.srid) {
        geometry.srid = srid as u32;
    }
    let serial = def.data_type.name == TypeName::Serial;
    let auto_increment = def.auto_increment || serial;
    if auto_increment && !(ty.is_integer() || matches!(ty.kind, TypeKind::Float | TypeKind::Double))
    {
        return Err(SqlError::new(&ER_WRONG_FIELD_SPEC, &[&name]));
    }
    let primary = def.key == Some(ast::ColumnKey::Primary);
    let implicit = is_implicit_timestamp(context, &ty, def);
    let role = system_time::role(def);
    let needs_value = auto_increment || primary || serial || implicit || role.is_bound();
    let nullable = def.nullable.unwrap_or(!needs_value);
    let mut column = ColumnInfo {
        name: name.into(),
        ty,
        nullable,
        default: DefaultValue::Implicit,
        on_update_now: false,
        auto_increment,
        generated: expressions::generated(def),
        check: check(def),
        checked_as: None,
        invisible: def.invisible,
        comment: comment(context, def)?,
        options: options::shown_of_part(&def.options),
        system: role,
        compressed: is_compressed(def)?,
    };
    check_compressed(&column)?;
    if column.ty.is_string() && column.check == Some(json_check(name)) {
        column.ty.json = JsonRole::Document;
    }
    let says_nothing = implicit && !column.nullable && has_no_default(def);
    if let Some(default) = def.default.as_ref().filter(|_| !says_nothing) {
        column.default = default_value(context, &column, default)?;
    }
    if let Some(now) = &def.on_update {
        let fewer = digits_of_now(now).is_some_and(|n| n < column.ty.decimals.into());
        if fewer || !matches!(column.ty.kind, TypeKind::Timestamp | TypeKind::DateTime) {
            return Err(SqlError::new(&ER_INVALID_ON_UPDATE, &[&name]));
        }
        column.on_update_now = true;
    }
    if says_nothing && !column.on_update_now {
        column.default = DefaultValue::Literal(Value::DateTime(DateTime::ZERO));
    }
    Ok(column)
}

/// The CHECK of a column. A JSON column without a CHECK gets one for valid documents.
fn check(def: &ColumnDef) -> Option<String> {
    let json = def.data_type.name == TypeName::Json;
    expressions::column_check(def).or_else(|| json.then(|| json_check(&def.name.value)))
}

/// The CHECK that marks a column of JSON documents, as canonical text.
fn json_check(name: &str) -> String {
    format!("json_valid(`{}`)", name.replace('`', "``"))
}

/// A qualifier before a column's name must name its table.
pub(super) fn check_qualifier(def: &ColumnDef, schema: &str, table: &str) -> SqlResult<()> {
    let mut names = def.qualifier.iter().rev();
    if let Some(name) = names.next().filter(|name| *name.value != *table) {
        return Err(SqlError::new(&ER_WRONG_TABLE_NAME, &[name]));
    }
    match names.next().filter(|name| *name.value != *schema) {
        Some(name) => Err(SqlError::new(&ER_WRONG_DB_NAME, &[name])),
        None => Ok(()),
    }
}

fn comment(context: &DefineContext<'_>, def: &ColumnDef) -> SqlResult<String> {
    let (most, error) = (options::COMMENT_MAX, &ER_TOO_LONG_FIELD_COMMENT);
    options::fitted(context, def.comment.as_deref(), most, error, &def.name.value)
}

pub(super) fn check_name(name: &str) -> SqlResult<()> {
    if name.is_empty() || name.ends_with(' ') {
        return Err(SqlError::new(&ER_WRONG_COLUMN_NAME, &[&name]));
    }
    if name.chars().count() > IDENTIFIER_MAX {
        return Err(SqlError::new(&ER_TOO_LONG_IDENT, &[&name]));
    }
    Ok(())
}

/// Whether the values of a column are to be compressed; an error if the method is unknown.
fn is_compressed(def: &ColumnDef) -> SqlResult<bool> {
    match &def.compressed {
        Some(Some(method)) if !method.eq_ignore_ascii_case("zlib") => {
            Err(SqlError::new(&ER_UNKNOWN_COMPRESSION_METHOD, &[method]))
        }
        compressed => Ok(compressed.is_some()),
    }
}

/// Fails unless values of a compressed column are texts that are not too long.
fn check_compressed(column: &ColumnInfo) -> SqlResult<()> {
    // Compat: a byte less than the text says.
    const MOST: u32 = 65_532;
    let is_text = column.ty.kind == TypeKind::VarChar || column.ty.is_text_or_blob();
    if column.compressed && !is_text {
        return Err(SqlError::new(&ER_WRONG_FIELD_SPEC, &[&column.name]));
    }
    let width = column.ty.collation.charset().max_len() as u32;
    let is_long = column.ty.length.saturating_mul(width) >= MOST;
    match column.compressed && column.ty.kind == TypeKind::VarChar && is_long {
        true => Err(SqlError::new(&ER_TOO_BIG_FIELDLENGTH, &[&column.name, &(MOST / width)])),
        false => Ok(()),
    }
}

/// Fails if a key has a column whose values are compressed.
pub(super) fn refuse_compressed(column: &ColumnInfo) -> SqlResult<()> {
    match column.compressed {
        true => Err(SqlError::new(&ER_COMPRESSED_COLUMN_USED_AS_KEY, &[&column.name])),
        false => Ok(()),
    }
}

/// Whether a column is a TIMESTAMP in a session without `explicit_defaults_for_timestamp`. Then it
/// is NOT NULL and has a default unless the definition gives them.
fn is_implicit_timestamp(context: &DefineContext<'_>, ty: &SqlType, def: &ColumnDef) -> bool {
    let explicit = context.eval.types.explicit_timestamps;
    ty.kind == TypeKind::Timestamp && !explicit && def.generated.is_none()
}

/// Whether a definition has no default. Compat: DEFAULT NULL of an implicit TIMESTAMP counts as
/// none.
fn has_no_default(def: &ColumnDef) -> bool {
    let null = ExprKind::Literal(Literal::Null);
    def.default.as_ref().is_none_or(|default| default.kind == null)
}

/// Makes the first TIMESTAMP of a new table follow every change, if it is implicit and has no
/// default.
pub(super) fn promote_first_timestamp<'a>(
    context: &DefineContext<'_>,
    defs: impl Iterator<Item = &'a ColumnDef>,
    columns: &mut [ColumnInfo],
) {
    let mut stamps = defs.zip(columns).filter(|(_, c)| c.ty.kind == TypeKind::Timestamp);
    if let Some((def, column)) = stamps.next()
        && is_implicit_timestamp(context, &column.ty, def)
        && !column.nullable
        && has_no_default(def)
        && !column.on_update_now
    {
        column.default = DefaultValue::CurrentTimestamp;
        column.on_update_now = true;
    }
}

/// Value of a DEFAULT clause for `column`.
pub(super) fn default_value(
    context: &DefineContext<'_>,
    column: &ColumnInfo,
    default: &ast::Expr,
) -> SqlResult<DefaultValue> {
    let invalid = || SqlError::new(&ER_INVALID_DEFAULT, &[&column.name]);
    if column.auto_increment {
        return Err(invalid());
    }
    if is_now(default) {
        let temporal = matches!(column.ty.kind, TypeKind::Timestamp | TypeKind::DateTime);
        // Compat: 0 digits are as many as the column has.
        let fewer = digits_of_now(default).filter(|digits| *digits > 0);
        let whole = temporal && fewer.is_none_or(|digits| digits >= column.ty.decimals.into());
        let value = || expression(context, default);
        return Ok(if whole { DefaultValue::CurrentTimestamp } else { value() });
    }
    let Some(literal) = literal(context, default)? else {
        return Ok(expression(context, default));
    };
    if matches!(default.kind, ExprKind::Literal(Literal::Null)) {
        return if column.nullable {
            Ok(DefaultValue::Literal(selkie_types::Value::Null))
        } else {
            Err(invalid())
        };
    }
    let value = constant::store_or_fail(context, literal, column)?.ok_or_else(invalid)?;
    Ok(match column.ty.is_text_or_blob() {
        true => DefaultValue::Written { value, text: expressions::default_text(default) },
        false => DefaultValue::Literal(value),
    })
}

/// Error 1067 for a date in DEFAULT that the SQL mode refuses, of columns that were defined in
/// another mode.
pub(super) fn refuse_defaults<'c>(
    context: &DefineContext<'_>,
    columns: impl IntoIterator<Item = &'c ColumnInfo>,
) -> SqlResult<()> {
    let options = DateOptions::from(context.eval.types.sql_mode);
    let is_refused = |column: &&ColumnInfo| match &column.default {
        DefaultValue::Literal(value) => !value.is_acceptable_date(options),
        _ => false,
    };
    match columns.into_iter().find(is_refused) {
        Some(column) => Err(SqlError::new(&ER_INVALID_DEFAULT, &[&column.name])),
        None => Ok(()),
    }
}

/// Text of an expression in which every sequence has its schema.
fn expression(context: &DefineContext<'_>, default: &ast::Expr) -> DefaultValue {
    let mut default = default.clone();
    default.for_each_sequence_mut(&mut |name| {
        if name.schema.is_none() {
            name.schema = context.schema.map(ast::Ident::new);
        }
    });
    DefaultValue::Expression(expressions::default_text(&default))
}

/// Whether it is `CURRENT_TIMESTAMP`, `NOW()` or a synonym, with any number of digits.
pub(super) fn is_now(expr: &ast::Expr) -> bool {
    let ExprKind::Call(call) = &expr.kind else { return false };
    let names = ["current_timestamp", "now", "localtime", "localtimestamp"];
    call.schema.is_none() && names.iter().any(|name| call.name.is(name))
}

/// The digits of a fraction that a call of `NOW` asks for.
fn digits_of_now(expr: &ast::Expr) -> Option<u64> {
    let ExprKind::Call(call) = &expr.kind else { return None };
    match call.args.first().map(|arg| &arg.kind) {
        Some(ExprKind::Literal(Literal::Int(digits))) => Some(*digits),
        _ => None,
    }
}

/// A literal, possibly with signs, as a bound expression.
fn literal(context: &DefineContext<'_>, expr: &ast::Expr) -> SqlResult<Option<Expr>> {
    let simple = match &expr.kind {
        _ if expr.signed_number().is_some() => true,
        ExprKind::Literal(_) => true,
        ExprKind::Unary { op: ast::UnaryOp::Neg | ast::UnaryOp::Plus, expr } => {
            matches!(expr.kind, ExprKind::Literal(_))
        }
        _ => false,
    };
    simple.then(|| constant::bind(context, expr)).transpose()
}
