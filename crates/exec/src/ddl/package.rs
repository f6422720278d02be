//! CREATE and DROP of packages and their bodies. Both are stored as routines without parameters.
//!
//! A body needs its specification; a new specification ends the body that was made for another.

use selkie_catalog::{PackageMember, PackagePart, Routine, RoutineForm, RoutineResult};
use selkie_sql::ast::{
    CreatePackage, DropStored, Package, PackageRoutine, RoutineKind, SqlSecurity, StoredKind,
    VariableType,
};
use selkie_types::error::catalogue::{
    ER_END_IDENTIFIER_DOES_NOT_MATCH, ER_PACKAGE_ROUTINE_FORWARD_DECLARATION_NOT_DEFINED,
    ER_PACKAGE_ROUTINE_IN_SPEC_NOT_DEFINED_IN_BODY, ER_SP_ALREADY_EXISTS, ER_SP_DOES_NOT_EXIST,
    ER_SP_NORETURN,
};
use selkie_types::{Condition, SqlError, SqlResult};

use super::Ddl;
use super::routine::routine_form;
use crate::{Outcome, program};

fn is_same(member: &PackageMember, other: &PackageMember) -> bool {
    member.form() == other.form() && member.name.to_lowercase() == other.name.to_lowercase()
}

impl Ddl<'_> {
    /// Fails if no account could create the package.
    pub(super) fn check_package_form(&self, create: &CreatePackage) -> SqlResult<()> {
        let (schema, name) = self.resolve(&create.name)?;
        self.check_no_lock_tables()?;
        check_end(create)?;
        let snapshot = self.instance.catalog.snapshot();
        let found = snapshot.routine_of(&schema, RoutineForm::Package, name);
        if create.kind == RoutineKind::PackageBody && found.is_none() {
            let full = format!("{schema}.{name}");
            return Err(SqlError::new(&ER_SP_DOES_NOT_EXIST, &[&"PACKAGE", &full]));
        }
        Ok(())
    }

    pub(super) fn create_package(&mut self, create: &CreatePackage) -> SqlResult<Outcome> {
        let (schema, name) = self.resolve(&create.name)?;
        let form = routine_form(create.kind);
        if self.instance.catalog.snapshot().schema(&schema).is_none() {
            return Err(SqlError::unknown_database(&schema));
        }
        let members = self.members(create, &schema, name)?;
        let context = self.program_context(&schema, create.definer.as_ref())?;
        self.session.commit()?;
        let _lock = self.lock(&schema, &format!("PACKAGE {name}"))?;
        let snapshot = self.instance.catalog.snapshot();
        if let Some(old) = snapshot.routine_of(&schema, form, name) {
            if create.if_not_exists {
                self.note(Condition::note(&ER_SP_ALREADY_EXISTS, &[&form.words(), &name]));
                return Ok(Outcome::ok());
            }
            if !create.or_replace {
                return Err(SqlError::new(&ER_SP_ALREADY_EXISTS, &[&form.words(), &name]));
            }
            self.check_change(create.kind, &old.schema, &old.name)?;
        }
        let is_body = form == RoutineForm::PackageBody;
        let part = if is_body { PackagePart::Body } else { PackagePart::Specification };
        let options = &create.options;
        let routine = Routine {
            schema: schema.to_string(),
            name: name.to_owned(),
            function: false,
            part: Some(part),
            members,
            parameters_text: String::new(),
            parameters: Vec::new(),
            returns: RoutineResult::default(),
            body: self.text_of(create.body_span),
            comment: options.comment.as_deref().unwrap_or_default().to_owned(),
            data_access: "CONTAINS SQL".to_owned(),
            deterministic: false,
            invoker: options.security == Some(SqlSecurity::Invoker),
            context,
        };
        let (definer, rest) = (&routine.context.definer, self.routine_text(&routine));
        let verb = if create.or_replace { "CREATE OR REPLACE" } else { "CREATE" };
        self.say_create(verb, definer, rest.as_bytes());
        let old_body = snapshot.routine_of(&schema, RoutineForm::PackageBody, name);
        let old_body = old_body.filter(|_| !is_body);
        let change = self.begin_change()?;
        if let Some(body) = old_body {
            change.remove_routine(body)?;
        }
        change.put_routine(&routine)?;
        change.commit(|snapshot| {
            if !is_body {
                snapshot.remove_routine(&schema, RoutineForm::PackageBody, name);
            }
            snapshot.put_routine(routine);
        })?;
        // Compat: the privileges on a body outlive it, if it ends with a new specification.
        let hooks = self.session.frame.hooks.clone();
        hooks.routine_created(self.session, form, &schema, name);
        Ok(Outcome::ok())
    }

    /// The routines of the package. Those of a body are checked against its specification.
    fn members(
        &self,
        create: &CreatePackage,
        schema: &str,
        name: &str,
    ) -> SqlResult<Vec<PackageMember>> {
        let routines = &create.package.routines;
        if create.kind != RoutineKind::PackageBody {
            let members: Vec<_> = routines
                .iter()
                .map(|routine| self.member(routine, schema))
                .collect::<SqlResult<_>>()?;
            return once_each(members, name);
        }
        let full = format!("{schema}.{name}");
        let snapshot = self.instance.catalog.snapshot();
        let Some(specification) = snapshot.routine_of(schema, RoutineForm::Package, name) else {
            return Err(SqlError::new(&ER_SP_DOES_NOT_EXIST, &[&"PACKAGE", &full]));
        };
        self.check_bodies(&create.package, schema, &full)?;
        let defined = routines.iter().filter(|routine| routine.body.is_some());
        let members =
            defined.map(|routine| self.member(routine, schema)).collect::<SqlResult<_>>()?;
        let mut members = once_each(members, name)?;
        let is_defined = |wanted: &PackageMember| {
            let fits = |m: &PackageMember| is_same(m, wanted) && m.parameters == wanted.parameters;
            members.iter().any(fits)
        };
        let missing = |def, wanted: &PackageMember| {
            Err(SqlError::new(def, &[&format!("{full}.{}", wanted.name)]))
        };
        for wanted in &specification.members {
            if !is_defined(wanted) {
                return missing(&ER_PACKAGE_ROUTINE_IN_SPEC_NOT_DEFINED_IN_BODY, wanted);
            }
        }
        for declared in routines.iter().filter(|routine| routine.body.is_none()) {
            let wanted = self.member(declared, schema)?;
            if !is_defined(&wanted) {
                return missing(&ER_PACKAGE_ROUTINE_FORWARD_DECLARATION_NOT_DEFINED, &wanted);
            }
        }
        for member in &mut members {
            member.public = specification.members.iter().any(|public| is_same(public, member));
        }
        Ok(members)
    }

    fn member(&self, routine: &PackageRoutine, schema: &str) -> SqlResult<PackageMember> {
        let collation = program::schema_collation(self.instance, schema);
        let known = |ty: &VariableType| self.known_type(&routine.name.value, ty, collation);
        routine.types.iter().try_for_each(|ty| known(ty).map(drop))?;
        let returns = routine.returns.clone().map(VariableType::Scalar);
        Ok(PackageMember {
            name: routine.name.value.to_string(),
            function: routine.kind == RoutineKind::Function,
            parameters: routine.parameters.len(),
            returns: returns.as_ref().map(known).transpose()?.flatten(),
            deterministic: routine.deterministic,
            public: true,
        })
    }

    /// Fails for bodies that can be known to be wrong.
    fn check_bodies(&self, package: &Package, schema: &str, full: &str) -> SqlResult<()> {
        let collation = program::schema_collation(self.instance, schema);
        let check = |body: &selkie_sql::ast::Program| {
            program::check_body(self.session, body)?;
            program::check_types(self.scope(), body, collation, self.running.text)
        };
        check(&package.start)?;
        for routine in &package.routines {
            let Some(body) = &routine.body else { continue };
            check(body)?;
            if routine.kind == RoutineKind::Function && !routine.has_return {
                let routine = format!("{full}.{}", routine.name.value);
                return Err(SqlError::new(&ER_SP_NORETURN, &[&routine]));
            }
        }
        Ok(())
    }

    pub(super) fn drop_package(&mut self, drop: &DropStored) -> SqlResult<Outcome> {
        let (kind, form) = match drop.kind {
            StoredKind::PackageBody => (RoutineKind::PackageBody, RoutineForm::PackageBody),
            _ => (RoutineKind::Package, RoutineForm::Package),
        };
        let (schema, name) = self.resolve(&drop.name)?;
        self.check_change(kind, &schema, name)?;
        self.check_no_lock_tables()?;
        self.session.commit()?;
        let _lock = self.lock(&schema, &format!("PACKAGE {name}"))?;
        let snapshot = self.instance.catalog.snapshot();
        let Some(old) = snapshot.routine_of(&schema, form, name) else {
            let full = format!("{schema}.{name}");
            if drop.if_exists {
                self.note(Condition::note(&ER_SP_DOES_NOT_EXIST, &[&form.words(), &full]));
                return Ok(Outcome::ok());
            }
            return Err(SqlError::new(&ER_SP_DOES_NOT_EXIST, &[&form.words(), &full]));
        };
        let body = snapshot.routine_of(&schema, RoutineForm::PackageBody, name);
        let mut gone = vec![old];
        gone.extend(body.filter(|_| form == RoutineForm::Package));
        let change = self.begin_change()?;
        gone.iter().try_for_each(|routine| change.remove_routine(routine))?;
        change.commit(|snapshot| {
            gone.iter().for_each(|r| snapshot.remove_routine(&schema, r.form(), name));
        })?;
        let hooks = self.session.frame.hooks.clone();
        for routine in gone {
            hooks.routine_dropped(self.session, routine.form(), &schema, &routine.name);
        }
        Ok(Outcome::ok())
    }
}

/// The name behind END must be that of the package. Compat: it is compared as it is written.
fn check_end(create: &CreatePackage) -> SqlResult<()> {
    let Some(end) = &create.end_name else { return Ok(()) };
    let text = |name: &selkie_sql::ast::TableName| match &name.schema {
        Some(schema) => format!("{schema}.{}", name.name),
        None => name.name.to_string(),
    };
    let is_same = end.name.is(&create.name.name.value)
        && (end.schema.is_none() || end.schema == create.name.schema);
    match is_same {
        true => Ok(()),
        false => {
            let (found, wanted) = (text(end), text(&create.name));
            Err(SqlError::new(&ER_END_IDENTIFIER_DOES_NOT_MATCH, &[&found, &wanted]))
        }
    }
}

/// Fails (1304) if two of the routines have the same kind and name.
fn once_each(members: Vec<PackageMember>, package: &str) -> SqlResult<Vec<PackageMember>> {
    for (at, member) in members.iter().enumerate() {
        selkie_meter::tick(16 * at);
        if members[..at].iter().any(|earlier| is_same(earlier, member)) {
            let full = format!("{package}.{}", member.name);
            let kind = member.form().words();
            return Err(SqlError::new(&ER_SP_ALREADY_EXISTS, &[&kind, &full]));
        }
    }
    Ok(members)
}
