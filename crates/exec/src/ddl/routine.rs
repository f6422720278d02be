//! CREATE, ALTER and DROP of procedures and functions. Bodies are stored as text with the session
//! settings they depend on, and are only checked here ([`program::check_body`]); they are compiled
//! when they run.

use std::sync::Arc;

use selkie_catalog::{
    ProgramContext, Routine, RoutineForm, RoutineParameter, RoutineResult, quote_identifier,
};
use selkie_sql::ast::{
    AccountName, AlterRoutine, CreateRoutine, DataAccess, DropStored, Ident, ParameterMode,
    RoutineKind, RoutineOptions, SqlSecurity, StoredKind, VariableType,
};
use selkie_types::error::catalogue::{
    ER_END_IDENTIFIER_DOES_NOT_MATCH, ER_NATIVE_FCT_NAME_COLLISION, ER_SP_ALREADY_EXISTS,
    ER_SP_DOES_NOT_EXIST, ER_SP_NORETURN,
};
use selkie_types::{CollationId, Condition, SqlError, SqlMode, SqlResult, SqlType, TypeKind};

use super::Ddl;
use crate::state::session::{LoggedProgram, Privilege};
use crate::{Outcome, program, query};

/// The kind of routine that a statement is about.
pub(super) fn routine_form(kind: RoutineKind) -> RoutineForm {
    match kind {
        RoutineKind::Function => RoutineForm::Function,
        RoutineKind::Procedure => RoutineForm::Procedure,
        RoutineKind::Package => RoutineForm::Package,
        RoutineKind::PackageBody => RoutineForm::PackageBody,
    }
}

/// SQL keyword of a kind of routine.
fn word(kind: RoutineKind) -> &'static str {
    if kind == RoutineKind::Function { "FUNCTION" } else { "PROCEDURE" }
}

fn data_access(access: DataAccess) -> &'static str {
    match access {
        DataAccess::ContainsSql => "CONTAINS SQL",
        DataAccess::NoSql => "NO SQL",
        DataAccess::ReadsSqlData => "READS SQL DATA",
        DataAccess::ModifiesSqlData => "MODIFIES SQL DATA",
    }
}

/// Whether a function with this use of data may change something.
fn may_change(access: DataAccess) -> bool {
    matches!(access, DataAccess::ContainsSql | DataAccess::ModifiesSqlData)
}

/// A function as the binary log sees it.
fn logged(options: &RoutineOptions) -> LoggedProgram {
    let access = options.data_access.unwrap_or(DataAccess::ContainsSql);
    match options.deterministic == Some(true) || !may_change(access) {
        true => LoggedProgram::SafeFunction,
        false => LoggedProgram::UnsafeFunction,
    }
}

impl Ddl<'_> {
    /// Fails if no account could create the routine.
    pub(super) fn check_routine_form(&self, create: &CreateRoutine) -> SqlResult<()> {
        let (schema, name) = self.resolve(&create.name)?;
        self.check_no_lock_tables()?;
        if let Some(end) = &create.end_name {
            let (end_schema, end_name) = self.resolve(end)?;
            if end_schema != schema || !end.name.is(name) {
                let found = format!("{end_schema}.{end_name}");
                let wanted = format!("{schema}.{name}");
                return Err(SqlError::new(&ER_END_IDENTIFIER_DOES_NOT_MATCH, &[&found, &wanted]));
            }
        }
        if create.kind == RoutineKind::Function && !create.has_return {
            let full = format!("{schema}.{name}");
            return Err(SqlError::new(&ER_SP_NORETURN, &[&full]));
        }
        Ok(())
    }

    pub(super) fn create_routine(&mut self, create: &CreateRoutine) -> SqlResult<Outcome> {
        let (schema, name) = self.resolve(&create.name)?;
        let kind = word(create.kind);
        if self.instance.catalog.snapshot().schema(&schema).is_none() {
            return Err(SqlError::unknown_database(&schema));
        }
        let context = self.program_context(&schema, create.definer.as_ref())?;
        self.session.commit()?;
        let _lock = self.lock(&schema, &format!("{kind} {name}"))?;
        let snapshot = self.instance.catalog.snapshot();
        let function = create.kind == RoutineKind::Function;
        if let Some(old) = snapshot.routine(&schema, function, name) {
            if create.if_not_exists {
                self.note(Condition::note(&ER_SP_ALREADY_EXISTS, &[&kind, &name]));
                return Ok(Outcome::ok());
            }
            if !create.or_replace {
                return Err(SqlError::new(&ER_SP_ALREADY_EXISTS, &[&kind, &name]));
            }
            self.check_change(create.kind, &old.schema, &old.name)?;
        }
        program::check_body(self.session, &create.body)?;
        if function && selkie_expr::function_named(name).is_some() {
            self.note(Condition::note(&ER_NATIVE_FCT_NAME_COLLISION, &[&name]));
        }
        if function {
            self.session.frame.hooks.check_logged(self.session, logged(&create.options))?;
        }
        let routine = self.routine(create, &schema, name, context)?;
        let (definer, rest) = (&routine.context.definer, self.routine_text(&routine));
        let verb = if create.or_replace { "CREATE OR REPLACE" } else { "CREATE" };
        self.say_create(verb, definer, rest.as_bytes());
        self.publish_routine(routine)?;
        self.session.frame.hooks.routine_created(
            self.session,
            routine_form(create.kind),
            &schema,
            name,
        );
        Ok(Outcome::ok())
    }

    fn publish_routine(&self, routine: Routine) -> SqlResult<()> {
        let change = self.begin_change()?;
        change.put_routine(&routine)?;
        change.commit(|snapshot| snapshot.put_routine(routine))
    }

    /// Definer of a program, and the settings its text depends on.
    pub(super) fn program_context(
        &self,
        schema: &str,
        definer: Option<&AccountName>,
    ) -> SqlResult<ProgramContext> {
        let settings = &self.session.frame.settings;
        let now = query::now_micros(self.session);
        Ok(ProgramContext {
            definer: self.definer_named(definer)?,
            sql_mode: settings.expressions.sql_mode.bits(),
            client_charset: settings.charsets.client.name().to_owned(),
            connection_collation: settings.expressions.collation_connection.name().to_owned(),
            database_collation: program::schema_collation(self.instance, schema).name().to_owned(),
            created: now,
            modified: now,
        })
    }

    pub(super) fn text_of(&self, span: selkie_sql::ast::Span) -> String {
        String::from_utf8_lossy(span.text(self.running.text)).into_owned()
    }

    pub(super) fn routine(
        &self,
        create: &CreateRoutine,
        schema: &str,
        name: &str,
        context: ProgramContext,
    ) -> SqlResult<Routine> {
        let collation = program::schema_collation(self.instance, schema);
        let mut parameters = Vec::with_capacity(create.parameters.len());
        for (parameter, variable) in create.parameters.iter().zip(&create.body.variables) {
            let mode = match parameter.mode {
                ParameterMode::In => "IN",
                ParameterMode::Out => "OUT",
                ParameterMode::InOut => "INOUT",
            };
            parameters.push(RoutineParameter {
                name: parameter.name.value.to_string(),
                mode: mode.to_owned(),
                ty: self.known_type(&parameter.name.value, &variable.ty, collation)?,
                like: match SqlMode::from_bits(context.sql_mode) {
                    Ok(mode) if mode.contains(SqlMode::ORACLE) => anchor_text(&variable.ty),
                    _ => like_text(&variable.ty),
                },
            });
        }
        program::check_types(self.scope(), &create.body, collation, self.running.text)?;
        let returns = match &create.returns {
            Some((ty, _)) => self.known_type("", &VariableType::Scalar(ty.clone()), collation)?,
            None => None,
        };
        let returns = RoutineResult {
            text: returns.as_ref().map(type_text).unwrap_or_default(),
            ty: returns,
            aggregate: create.aggregate,
        };
        let options = &create.options;
        Ok(Routine {
            schema: schema.to_owned(),
            name: name.to_owned(),
            function: create.kind == RoutineKind::Function,
            part: None,
            members: Vec::new(),
            parameters_text: self.text_of(create.parameters_span),
            parameters,
            returns,
            body: self.text_of(create.body_span),
            comment: options.comment.as_deref().unwrap_or_default().to_owned(),
            data_access: data_access(options.data_access.unwrap_or(DataAccess::ContainsSql))
                .to_owned(),
            deterministic: options.deterministic.unwrap_or(false),
            invoker: options.security == Some(SqlSecurity::Invoker),
            context,
        })
    }

    /// Type of a variable; `None` for a row and for the type of a column, which may change.
    pub(super) fn known_type(
        &self,
        name: &str,
        ty: &VariableType,
        collation: CollationId,
    ) -> SqlResult<Option<SqlType>> {
        let text = self.running.text;
        match ty {
            VariableType::Scalar(_) => {
                program::resolve_type(self.scope(), (name, ty), collation, text).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Finds a routine; error 1305 if there is none.
    fn existing(&self, schema: &str, kind: RoutineKind, name: &str) -> SqlResult<Arc<Routine>> {
        let function = kind == RoutineKind::Function;
        let snapshot = self.instance.catalog.snapshot();
        let found = snapshot.routine(schema, function, name).cloned();
        let full = format!("{schema}.{name}");
        found.ok_or_else(|| SqlError::new(&ER_SP_DOES_NOT_EXIST, &[&word(kind), &full]))
    }

    /// Fails (1370) unless the account may change the routine, whether it exists or not.
    pub(super) fn check_change(
        &self,
        kind: RoutineKind,
        schema: &str,
        name: &str,
    ) -> SqlResult<()> {
        let (wanted, form) = (Privilege::AlterRoutine, routine_form(kind));
        self.session.frame.hooks.check_routine(self.session, wanted, form, schema, name)
    }

    pub(super) fn alter_routine(&mut self, alter: &AlterRoutine) -> SqlResult<Outcome> {
        let (schema, name) = self.resolve(&alter.name)?;
        self.check_change(alter.kind, &schema, name)?;
        self.check_no_lock_tables()?;
        self.session.commit()?;
        let _lock = self.lock(&schema, &format!("{} {name}", word(alter.kind)))?;
        let old = self.existing(&schema, alter.kind, name)?;
        let mut routine = (*old).clone();
        let RoutineOptions { comment, data_access: access, security, .. } = &alter.options;
        if old.function && !old.deterministic && access.is_some_and(may_change) {
            let unsafe_function = LoggedProgram::UnsafeFunction;
            self.session.frame.hooks.check_logged(self.session, unsafe_function)?;
        }
        if let Some(comment) = comment {
            routine.comment = comment.to_string();
        }
        if let Some(access) = access {
            routine.data_access = data_access(*access).to_owned();
        }
        if let Some(security) = security {
            routine.invoker = *security == SqlSecurity::Invoker;
        }
        routine.context.modified = query::now_micros(self.session);
        self.publish_routine(routine)?;
        Ok(Outcome::ok())
    }

    pub(super) fn drop_routine(&mut self, drop: &DropStored) -> SqlResult<Outcome> {
        let kind = match drop.kind {
            StoredKind::Function => RoutineKind::Function,
            _ => RoutineKind::Procedure,
        };
        let (schema, name) = self.resolve(&drop.name)?;
        self.check_change(kind, &schema, name)?;
        self.check_no_lock_tables()?;
        self.session.commit()?;
        let _lock = self.lock(&schema, &format!("{} {name}", word(kind)))?;
        let old = match self.existing(&schema, kind, name) {
            Ok(old) => old,
            Err(_) if drop.if_exists => {
                let full = format!("{schema}.{name}");
                self.note(Condition::note(&ER_SP_DOES_NOT_EXIST, &[&word(kind), &full]));
                return Ok(Outcome::ok());
            }
            Err(error) => return Err(error),
        };
        let change = self.begin_change()?;
        change.remove_routine(&old)?;
        change.commit(|snapshot| snapshot.remove_routine(&schema, old.form(), name))?;
        self.session.frame.hooks.routine_dropped(self.session, old.form(), &schema, &old.name);
        Ok(Outcome::ok())
    }
}

/// Type with its character set, as SHOW CREATE FUNCTION prints it.
fn type_text(ty: &SqlType) -> String {
    let text = ty.to_string();
    let has_charset = ty.is_string() || matches!(ty.kind, TypeKind::Enum | TypeKind::Set);
    match has_charset && !ty.is_binary_string() {
        true => format!(
            "{text} CHARSET {} COLLATE {}",
            ty.collation.charset().name(),
            ty.collation.name()
        ),
        false => text,
    }
}

/// The table or column that a type is taken from, as PARAMETERS shows it.
fn like_text(ty: &VariableType) -> String {
    let path = |names: &[Option<&Ident>]| {
        let quoted = names.iter().flatten().map(|name| quote_identifier(&name.value));
        quoted.collect::<Vec<_>>().join(".")
    };
    match ty {
        VariableType::TypeOf(column) => {
            let names = [column.schema.as_deref(), column.table.as_deref(), Some(&column.name)];
            format!("TYPE OF {}", path(&names))
        }
        VariableType::RowOf(table) => {
            format!("ROW TYPE OF {}", path(&[table.schema.as_ref(), Some(&table.name)]))
        }
        VariableType::Row(_) => "ROW".to_owned(),
        _ => String::new(),
    }
}

/// The same as it is written in the mode of Oracle.
fn anchor_text(ty: &VariableType) -> String {
    let text = like_text(ty).replace('`', "\"");
    match (text.strip_prefix("TYPE OF "), text.strip_prefix("ROW TYPE OF ")) {
        (Some(path), _) => format!("{path}%TYPE"),
        (_, Some(path)) => format!("{path}%ROWTYPE"),
        _ => text,
    }
}

/// DEFINER clause as SHOW CREATE prints it.
pub(crate) fn definer_clause(definer: &str) -> String {
    match definer.rsplit_once('@') {
        Some((user, host)) => {
            format!("DEFINER={}@{}", quote_identifier(user), quote_identifier(host))
        }
        None => format!("DEFINER={}", quote_identifier(definer)),
    }
}
