//! LOAD DATA [LOCAL] INFILE and LOAD XML.
//!
//! The statement is planned as an INSERT of one row of placeholders, one per field. That plan's
//! defaults, generated columns and checks then apply to all rows of the file.

mod fixed;
mod xml;

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use selkie_catalog::{ColumnInfo, TableInfo, TableKind, is_transaction_bound};
use selkie_expr::{EvalContext, ExprKind};
use selkie_plan::physical::{Insert, Operator as Op};
use selkie_sql::ast;
use selkie_types::error::catalogue::{
    EE_STAT, ER_FILE_NOT_FOUND, ER_NO_SUCH_TABLE, ER_TABLE_NOT_LOCKED, ER_TEXTFILE_NOT_READABLE,
    ER_WARN_TOO_FEW_RECORDS, ER_WARN_TOO_MANY_RECORDS,
};
use selkie_types::{
    BATCH_ROWS, Batch, Column, Condition, ErrorDef, Level, Physical, Privileges, SqlError,
    SqlResult, SqlType, Value,
};

use self::fixed::{Text, Widths};
use crate::dml::{Inserter, WithoutField, reading};
use crate::query::execution::Execution;
use crate::query::file_format::{Format, Found, Line, read_line};
use crate::query::into::charset_named;
use crate::query::planning::Parameters;
use crate::run::rotation::rotated;
use crate::run::{Env, Runtime};
use crate::state::files::server_path;
use crate::state::session::{Access, Privilege};
use crate::{Instance, Outcome, ResultSink, RowCounts, Session, Told, query};

/// Bytes read at a time.
const CHUNK: usize = 1 << 20;

/// Runs the statement; the caller commits.
pub(crate) fn run(execution: &mut Execution<'_>, load: &ast::LoadData) -> SqlResult<Outcome> {
    let session = &*execution.session;
    check_begin(session, load)?;
    let schema = session.schema_of(&load.table)?;
    let table = execution.scope().table(schema, &load.table.name.value);
    let table = table.map_err(|error| match session.locked_tables.is_some() {
        true if error.is(&ER_NO_SUCH_TABLE) => {
            SqlError::new(&ER_TABLE_NOT_LOCKED, &[&load.table.name.value])
        }
        _ => error,
    })?;
    let charset = match &load.charset {
        Some(name) => charset_named(name)?,
        None => session.frame.settings.charsets.database,
    };
    let format = Format::new(&load.format, Some(charset))?;
    let fields = fields_of(session, load, &table);
    let widths = match load.xml {
        true => None,
        false => Widths::of(&format, &fields, &table)?,
    };
    let statement = as_insert(load, &fields);
    let ty = SqlType::varchar(u32::from(u16::MAX), charset.default_collation());
    let types = vec![ty; fields.len()];
    // The binder types the SET expressions by the current values of user variables, so set their
    // types first.
    for target in &fields {
        if let Target::Variable(name) = target {
            session.set_variable(name, Value::Null, &types[0]);
        }
    }
    let directory = session.frame.schema.clone().unwrap_or_else(|| schema.into());
    let text = execution.running.text;
    let plan = execution.locked_change(|scope| {
        scope.plan(&statement, text, Parameters::typed(&types, types.len())).map(Arc::new)
    })?;
    let name = String::from_utf8_lossy(&load.file.bytes).into_owned();
    let job = Job { load, format, widths, fields, types: &types, name, schema: directory };
    execution.run_changes(&plan, &mut |execution| {
        let Execution { instance, session, control, sink, .. } = execution;
        let reader = open_file(instance, &job, *sink)?;
        let runtime = Runtime::new(instance, session, control, &plan)?;
        insert_rows(&runtime.with_reading(reading(instance, session, &plan)), &job, reader)
    })
}

/// A LOAD DATA statement, prepared to run.
struct Job<'a> {
    load: &'a ast::LoadData,
    format: Format,
    /// Set if fields have fixed widths.
    widths: Option<Widths>,
    fields: Vec<Target>,
    types: &'a [SqlType],
    name: String,
    /// The schema in whose directory a file without another one is.
    schema: std::sync::Arc<str>,
}

impl Job<'_> {
    /// The error of a failed read.
    fn unread(&self, e: std::io::Error) -> SqlError {
        SqlError::new(&ER_FILE_NOT_FOUND, &[&self.name, &crate::state::error::errno(&e)])
    }

    /// Whether rows consist of fields alone, without SET and user variables.
    fn is_fields_alone(&self) -> bool {
        let variable = |target: &Target| matches!(target, Target::Variable(_));
        self.load.assignments.is_empty() && !self.fields.iter().any(variable)
    }
}

/// Destination of a field.
#[derive(Clone, Debug)]
enum Target {
    Column(ast::ColumnRef),
    Variable(Box<str>),
    /// None: the column of this name is generated, and the field is ignored.
    Generated(Box<str>),
}

impl Target {
    /// The name of the value for it in an XML file.
    fn name(&self) -> &[u8] {
        match self {
            Self::Column(column) => column.name.value.as_bytes(),
            Self::Variable(name) | Self::Generated(name) => name.as_bytes(),
        }
    }
}

/// Checks privileges that LOAD DATA needs before the table is looked up.
fn check_begin(session: &Session, load: &ast::LoadData) -> SqlResult<()> {
    if !load.local {
        let privilege = Privilege::LoadFile;
        let access = Access { privilege, schema: "", table: "", columns: &[] };
        session.frame.hooks.check_access(session, &access)?;
    }
    let schema = session.schema_of(&load.table)?;
    let table = &*load.table.name.value;
    if session.frame.temporary.get(schema, table).is_some() {
        return Ok(());
    }
    let permissions: &dyn selkie_plan::Permissions = session;
    permissions.check_table(None, schema, table, Privileges::INSERT)
}

fn fields_of(session: &Session, load: &ast::LoadData, table: &TableInfo) -> Vec<Target> {
    if load.columns.is_empty() {
        let is_replaced = load.duplicates == ast::OnDuplicate::Replace;
        let history = session.frame.settings.planning.insert_history && !is_replaced;
        let is_given = |column: &ColumnInfo| {
            history && column.system.is_bound() && !is_transaction_bound(column)
        };
        let target = |column: &ColumnInfo| match column.generated {
            Some(_) if !is_given(column) => Target::Generated(column.name.clone()),
            _ => Target::Column(ast::ColumnRef::bare(ast::Ident::new(&*column.name))),
        };
        return table.columns.iter().filter(|c| !c.invisible).map(target).collect();
    }
    let target = |column: &ast::LoadColumn| match column {
        ast::LoadColumn::Column(column) => Target::Column(column.clone()),
        ast::LoadColumn::UserVar(name) => Target::Variable(name.to_lowercase().into()),
    };
    load.columns.iter().map(target).collect()
}

/// The INSERT with a placeholder for each field of a column, then the SET expressions.
fn as_insert(load: &ast::LoadData, fields: &[Target]) -> ast::Statement {
    let mut columns = Vec::new();
    let mut row = Vec::new();
    for (at, field) in fields.iter().enumerate() {
        if let Target::Column(column) = field {
            columns.push(column.clone());
            row.push(ast::Expr {
                kind: ast::ExprKind::Param(at as u32),
                span: ast::Span::default(),
            });
        }
    }
    for assignment in &load.assignments {
        columns.push(assignment.column.clone());
        row.push(assignment.value.clone());
    }
    // Compat: with LOCAL, errors become warnings, because the client has already sent the file.
    let lenient = load.local && load.duplicates == ast::OnDuplicate::Error;
    ast::Statement::Insert(Box::new(ast::Insert {
        replace: load.duplicates == ast::OnDuplicate::Replace,
        priority: None,
        ignore: lenient || load.duplicates == ast::OnDuplicate::Ignore,
        table: load.table.clone(),
        partitions: load.partitions.clone(),
        columns: Some(columns),
        origin: ast::InsertOrigin::Load,
        source: ast::InsertSource::Values(vec![row]),
        on_duplicate: Vec::new(),
        returning: Vec::new(),
    }))
}

fn open_file<'s>(
    instance: &Instance,
    job: &Job<'_>,
    sink: &'s mut dyn ResultSink,
) -> SqlResult<Box<dyn Read + 's>> {
    if job.load.local || sink.has_infile() {
        return sink.local_infile(&job.name);
    }
    let path = server_path(instance, &job.name, Some(&job.schema))?;
    let shown = path.display();
    let missing = |e| SqlError::new(&EE_STAT, &[&shown, &crate::state::error::errno(&e)]);
    if !std::fs::metadata(&path).map_err(missing)?.is_file() {
        return Err(SqlError::new(&ER_TEXTFILE_NOT_READABLE, &[&job.name]));
    }
    let unread = |e: std::io::Error| {
        SqlError::new(&ER_FILE_NOT_FOUND, &[&job.name, &crate::state::error::errno(&e)])
    };
    Ok(Box::new(File::open(&path).map_err(unread)?))
}

fn insert_rows(
    runtime: &Runtime<'_>,
    job: &Job<'_>,
    reader: Box<dyn Read + '_>,
) -> SqlResult<Outcome> {
    let Op::Insert(insert) = &runtime.plan.root.operator else {
        return Err(SqlError::internal("LOAD DATA was not planned as an INSERT"));
    };
    if insert.table.kind == TableKind::System {
        return Err(SqlError::not_supported("LOAD DATA into this table"));
    }
    let session = runtime.session;
    let now = session.values.statement_start.get();
    let mut eval = EvalContext::new(session.type_context(), session, now);
    eval.subqueries = runtime;
    let env = Env { rt: runtime, eval: &eval, cell: None, wanted: None };
    let mut loader = Loader::new(env, insert, job)?;
    let target = std::iter::once(&*insert.table);
    let result = rotated(env, runtime.plan, target, || {
        match job.load.xml {
            true => loader.read_xml(reader)?,
            false => loader.read(reader)?,
        }
        loader.flush()
    });
    if result.is_err() {
        loader.inserter.keep_first_value();
    }
    let outcome = result.map(|()| loader.finish());
    query::keep_conditions(session, &eval);
    outcome
}

struct Loader<'r> {
    env: Env<'r>,
    insert: &'r Insert,
    job: &'r Job<'r>,
    inserter: Inserter<'r>,
    /// Field number of each source column, if rows consist of fields alone.
    direct: Option<Vec<usize>>,
    columns: Vec<Column>,
    rows: usize,
    ignore: u64,
    count: u64,
    /// Columns without a field in the buffered row; a row with such columns is buffered alone.
    short: Vec<usize>,
}

impl<'r> Loader<'r> {
    fn new(env: Env<'r>, insert: &'r Insert, job: &'r Job<'r>) -> SqlResult<Self> {
        let direct = match &insert.source.operator {
            Op::Values(rows) if job.is_fields_alone() && rows.len() == 1 => {
                let field = |e: &selkie_expr::Expr| match e.kind {
                    ExprKind::Parameter(slot) => Some(slot),
                    _ => None,
                };
                rows[0].iter().map(field).collect()
            }
            _ => None,
        };
        env.rt.instance.upkeep.maintained.filled(env.rt.instance, &insert.table);
        let column = |target: &Target| match target {
            Target::Column(column) => insert.table.column_position(&column.name.value),
            _ => None,
        };
        let targets = job.fields.iter().filter_map(column).collect();
        Ok(Self {
            env,
            insert,
            job,
            inserter: Inserter::of_file(env, insert, targets)?,
            direct,
            columns: empty_columns(job.fields.len()),
            rows: 0,
            ignore: job.load.ignore_lines,
            count: 0,
            short: Vec::new(),
        })
    }

    fn read(&mut self, mut reader: Box<dyn Read + '_>) -> SqlResult<()> {
        let mut buffer = Vec::with_capacity(CHUNK * 2);
        let mut line = Line::default();
        let mut at_end = false;
        while !at_end {
            let start = buffer.len();
            buffer.resize(start + CHUNK, 0);
            let read = reader.read(&mut buffer[start..]).map_err(|e| self.job.unread(e))?;
            buffer.truncate(start + read);
            at_end = read == 0;
            let used = self.lines(&buffer, at_end, &mut line)?;
            buffer.drain(..used);
        }
        Ok(())
    }

    /// Loads the rows of an XML file. Compat: LINES TERMINATED BY names the rows too.
    fn read_xml(&mut self, reader: Box<dyn Read + '_>) -> SqlResult<()> {
        let job = self.job;
        let named = job.load.rows_identified_by.as_ref();
        let tag = named.or(job.load.format.line_terminator.as_ref());
        let failed = |e| job.unread(e);
        let tag = tag.map_or(&b"<row>"[..], |tag| &tag.bytes);
        let mut rows = xml::Rows::new(reader, tag, &failed);
        let mut line = Line::default();
        // A connection that was killed cannot be read.
        while rows.next().or_else(|error| self.env.check().and(Err(error)))? {
            rows.fill(job.fields.iter().map(Target::name), &mut line);
            self.line(&line)?;
        }
        Ok(())
    }

    /// Loads all complete lines; returns the bytes used.
    fn lines(&mut self, input: &[u8], at_end: bool, line: &mut Line) -> SqlResult<usize> {
        let mut at = 0;
        loop {
            let (format, rest) = (&self.job.format, &input[at..]);
            let found = match &self.job.widths {
                Some(widths) => widths.read(format, Text { bytes: rest, at_end }, line),
                None => read_line(format, rest, at_end, line),
            };
            match found {
                Found::Line(len) => {
                    at += len;
                    self.line(line)?;
                }
                Found::Incomplete | Found::End => return Ok(at),
            }
        }
    }

    fn line(&mut self, line: &Line) -> SqlResult<()> {
        if self.ignore > 0 {
            self.ignore -= 1;
            return Ok(());
        }
        self.count += 1;
        let is_fixed = self.job.widths.is_some();
        match is_fixed {
            false => self.check_short(line)?,
            true if line.fields.len() < self.job.fields.len() => self.flush()?,
            true => {}
        }
        for (at, column) in self.columns.iter_mut().enumerate() {
            match line.fields.get(at) {
                Some(field) if !field.is_null => {
                    column.push_bytes(&line.bytes[field.start..field.end])
                }
                _ => column.push_null(),
            }
        }
        self.rows += 1;
        self.short = self.fields_after(line.fields.len());
        if !self.short.is_empty() || self.rows == BATCH_ROWS || self.direct.is_none() {
            self.flush()?;
        }
        if is_fixed {
            // Compat: warnings of fields that are there come first.
            self.check_short(line)?;
        }
        self.check_long(line)
    }

    /// Table columns that the fields from number `at` on go to.
    fn fields_after(&self, at: usize) -> Vec<usize> {
        let fields = self.job.fields.iter().skip(at);
        let column = |target: &Target| match target {
            Target::Column(column) => self.insert.table.column_position(&column.name.value),
            _ => None,
        };
        fields.filter_map(column).collect()
    }

    /// Error 1261, or warnings, for a row with too few fields.
    fn check_short(&mut self, line: &Line) -> SqlResult<()> {
        // Compat: each missing field of a column raises a warning; a missing field of a user
        // variable raises none.
        let missing = self.job.fields.iter().skip(line.fields.len());
        let missing = missing.filter(|target| !matches!(target, Target::Variable(_))).count();
        if missing == 0 {
            return Ok(());
        }
        // Errors of earlier rows must be reported first.
        self.flush()?;
        self.miscounted(&ER_WARN_TOO_FEW_RECORDS, missing)
    }

    /// Error 1262, or a warning, for a row with too many fields. The row has been stored by then.
    fn check_long(&mut self, line: &Line) -> SqlResult<()> {
        let wanted = self.job.fields.len();
        match line.fields.len() {
            _ if line.is_cut => self.flush()?,
            n if n <= wanted => return Ok(()),
            // Compat: an empty field after the last terminator is not an extra field.
            n if n == wanted + 1 && line.fields[wanted].is_empty() => return Ok(()),
            _ => self.flush()?,
        }
        self.miscounted(&ER_WARN_TOO_MANY_RECORDS, 1)
    }

    fn miscounted(&mut self, def: &'static ErrorDef, times: usize) -> SqlResult<()> {
        // Compat: rows rejected by a CHECK are not counted in row numbers.
        let number = self.count - self.inserter.rejected;
        let error = SqlError::new(def, &[&number]);
        let ignore = self.insert.mode == selkie_plan::physical::InsertMode::Ignore;
        if self.env.rt.session.is_strict() && !ignore {
            return Err(error);
        }
        let condition = Condition::from_error(Level::Warning, &error);
        (0..times).for_each(|_| self.env.eval.push(condition.clone()));
        Ok(())
    }

    fn flush(&mut self) -> SqlResult<()> {
        if self.rows == 0 {
            return Ok(());
        }
        self.env.check()?;
        let rows = std::mem::take(&mut self.rows);
        let fields = std::mem::replace(&mut self.columns, empty_columns(self.job.fields.len()));
        let fields: Vec<Arc<Column>> = fields.into_iter().map(Arc::new).collect();
        let batch = match &self.direct {
            Some(direct) => Batch::new(direct.iter().map(|&f| fields[f].clone()).collect(), rows),
            None => self.computed(&fields)?,
        };
        match std::mem::take(&mut self.short) {
            short if short.is_empty() => self.inserter.add(&batch, &mut |_| Ok(())),
            columns => {
                let of_fixed_width = self.job.widths.is_some();
                self.inserter.add_short(&batch, WithoutField { columns, of_fixed_width })
            }
        }
    }

    /// Source row of one line; its fields are put into user variables and placeholders first.
    fn computed(&self, fields: &[Arc<Column>]) -> SqlResult<Batch> {
        let session = self.env.rt.session;
        for (at, field) in self.job.fields.iter().enumerate() {
            let value = fields[at].value(0);
            if let Target::Variable(name) = field {
                session.set_variable(name, value.clone(), &self.job.types[at]);
            }
            self.env.eval.set_parameter(at, value);
        }
        let mut source = crate::op::open(self.env, &self.insert.source)?;
        source.next()?.ok_or_else(|| SqlError::internal("a row of values gave no row"))
    }

    fn finish(self) -> Outcome {
        let skipped = self.inserter.skipped();
        let deleted = self.inserter.deleted;
        let records = self.count - self.inserter.rejected;
        let outcome = self.inserter.finish();
        let counts = RowCounts { records, deleted, skipped, ..outcome.counts };
        // Compat: the client does not get the generated AUTO_INCREMENT value.
        Outcome { counts, told: Told::Loaded, insert_id: 0, ..outcome }
    }
}

fn empty_columns(count: usize) -> Vec<Column> {
    (0..count).map(|_| Column::new(Physical::Bytes, 0, BATCH_ROWS)).collect()
}
