//! The routine of a package that a call means.
//!
//! A member of a package is named `package.member` in its schema. Must not run anything.

use selkie_catalog::{Routine, RoutineForm, Snapshot};
use selkie_types::error::catalogue::ER_SP_DOES_NOT_EXIST;
use selkie_types::{SqlError, SqlMode, SqlResult};

use crate::Session;

/// The package and the member in `package.member`.
pub(crate) fn member_of(name: &str) -> Option<(&str, &str)> {
    name.split_once('.')
}

/// The body of the package in `name`, which is `package.member`.
pub(crate) fn body_of<'s>(
    snapshot: &'s Snapshot,
    schema: &str,
    name: &str,
) -> Option<&'s std::sync::Arc<Routine>> {
    let (package, _) = member_of(name)?;
    snapshot.routine_of(schema, RoutineForm::PackageBody, package)
}

/// Schema and full name of the member that a call of `[schema.]name` means, if it means one: a
/// routine of the package that runs, of a package of the current schema (Compat: only in the mode
/// of Oracle), or one that is named in full.
pub(crate) fn resolve(
    session: &Session,
    snapshot: &Snapshot,
    form: RoutineForm,
    (schema, name): (Option<&str>, &str),
) -> SqlResult<Option<(Box<str>, Box<str>)>> {
    let found = |schema: &str, package: &str, name: &str| {
        Ok(Some((schema.into(), format!("{package}.{name}").into())))
    };
    let Some(first) = schema else {
        let own = session.programs.active.last().and_then(|key| key.package());
        let Some((schema, package)) = own else { return Ok(None) };
        let body = snapshot.routine_of(schema, RoutineForm::PackageBody, package);
        return match body.and_then(|body| body.member(form, name)) {
            Some(_) => found(schema, package, name),
            None => Ok(None),
        };
    };
    if let Some((package, member)) = member_of(name) {
        let specification = snapshot.routine_of(first, RoutineForm::Package, package);
        return match specification {
            Some(package) if package.member(form, member).is_some() => {
                present(snapshot, form, (first, &package.name, member))?;
                found(first, &package.name, member)
            }
            _ => Ok(None),
        };
    }
    let is_oracle = session.frame.settings.expressions.sql_mode.contains(SqlMode::ORACLE);
    let Some(current) = session.frame.schema.as_deref().filter(|_| is_oracle) else {
        return Ok(None);
    };
    match snapshot.routine_of(current, RoutineForm::Package, first) {
        Some(package) if package.member(form, name).is_some() => {
            present(snapshot, form, (current, &package.name, name))?;
            found(current, &package.name, name)
        }
        _ => Ok(None),
    }
}

/// Fails (1305) if a package has no body.
fn present(
    snapshot: &Snapshot,
    form: RoutineForm,
    (schema, package, member): (&str, &str, &str),
) -> SqlResult<()> {
    if snapshot.routine_of(schema, RoutineForm::PackageBody, package).is_some() {
        return Ok(());
    }
    let word = form.words();
    let full = format!("{schema}.{package}.{member}");
    Err(SqlError::new(&ER_SP_DOES_NOT_EXIST, &[&word, &full]))
}
