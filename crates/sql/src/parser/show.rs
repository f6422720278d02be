//! SHOW of objects in schemas, and the dispatch of SHOW.
//! Reports about the server are in `show_server.rs`, definitions in `show_create.rs`.

use super::{PResult, Parser};
use crate::ast::{Ident, RoutineKind, Show, ShowFilter, ShowWhat, Statement, TableName};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    pub(super) fn show(&mut self) -> PResult<Statement> {
        self.next();
        let what = self.show_what()?;
        let filter = match &what {
            ShowWhat::Other(_) => self.where_opt()?.map(ShowFilter::Where),
            what if takes_filter(what) => self.show_filter()?,
            _ => None,
        };
        Ok(Statement::Show(Show { what, filter: filter.map(Box::new) }.into()))
    }

    fn show_filter(&mut self) -> PResult<Option<ShowFilter>> {
        if self.eat(Kw::LIKE) {
            return Ok(Some(ShowFilter::Like(self.string()?)));
        }
        Ok(self.where_opt()?.map(ShowFilter::Where))
    }

    fn show_what(&mut self) -> PResult<ShowWhat> {
        let full = self.eat(Kw::FULL);
        let T::Word(kw) = self.tok.kind else {
            return match self.tok.kind {
                T::Func(Kw::COUNT) if !full => self.show_count(),
                _ => Err(self.error()),
            };
        };
        match kw {
            Kw::TABLES => {
                self.next();
                Ok(ShowWhat::Tables { full, schema: self.schema_clause()? })
            }
            Kw::TRIGGERS => {
                self.next();
                Ok(ShowWhat::Triggers { full, schema: self.schema_clause()? })
            }
            Kw::COLUMNS | Kw::FIELDS => {
                self.next();
                Ok(ShowWhat::Columns { full, table: self.table_clause()? })
            }
            Kw::PROCESSLIST => {
                self.next();
                Ok(ShowWhat::Processlist { full })
            }
            _ if full => Err(self.error()),
            Kw::CREATE => self.show_create(),
            _ => match self.show_objects(kw)? {
                Some(what) => Ok(what),
                None => self.show_server(kw),
            },
        }
    }

    fn show_objects(&mut self, kw: Kw) -> PResult<Option<ShowWhat>> {
        let what = match kw {
            Kw::DATABASES | Kw::SCHEMAS => self.plain(ShowWhat::Databases),
            Kw::EVENTS => {
                self.next();
                ShowWhat::Events { schema: self.schema_clause()? }
            }
            Kw::TABLE => {
                self.next();
                self.expect(Kw::STATUS)?;
                ShowWhat::TableStatus { schema: self.schema_clause()? }
            }
            Kw::OPEN => {
                self.next();
                self.expect(Kw::TABLES)?;
                ShowWhat::OpenTables { schema: self.schema_clause()? }
            }
            Kw::INDEX | Kw::INDEXES | Kw::KEYS => {
                self.next();
                ShowWhat::Index { table: self.table_clause()? }
            }
            Kw::PROCEDURE | Kw::FUNCTION | Kw::PACKAGE => return self.show_routine(kw).map(Some),
            _ => return Ok(None),
        };
        Ok(Some(what))
    }

    /// Consumes the word; nothing else follows it.
    pub(super) fn plain(&mut self, what: ShowWhat) -> ShowWhat {
        self.next();
        what
    }

    fn show_routine(&mut self, kw: Kw) -> PResult<ShowWhat> {
        self.next();
        let kind = match kw {
            Kw::PROCEDURE => RoutineKind::Procedure,
            Kw::FUNCTION => RoutineKind::Function,
            _ if self.eat(Kw::BODY) => RoutineKind::PackageBody,
            _ => RoutineKind::Package,
        };
        match self.expect_any(&[Kw::STATUS, Kw::CODE])? {
            Kw::STATUS => Ok(ShowWhat::RoutineStatus(kind)),
            _ => Ok(ShowWhat::RoutineCode(kind, self.table_name()?)),
        }
    }

    /// `FROM schema` or `IN schema`, if present.
    pub(super) fn schema_clause(&mut self) -> PResult<Option<Ident>> {
        match self.eat_any(&[Kw::FROM, Kw::IN]) {
            Some(_) => self.ident().map(Some),
            None => Ok(None),
        }
    }

    /// `FROM [schema.]table [FROM schema]`.
    fn table_clause(&mut self) -> PResult<TableName> {
        self.expect_any(&[Kw::FROM, Kw::IN])?;
        let mut table = self.table_name()?;
        if let Some(schema) = self.schema_clause()? {
            table.schema = Some(schema);
        }
        Ok(table)
    }
}

/// Whether LIKE or WHERE may follow.
fn takes_filter(what: &ShowWhat) -> bool {
    use ShowWhat::*;
    matches!(
        what,
        Databases
            | Tables { .. }
            | TableStatus { .. }
            | OpenTables { .. }
            | Triggers { .. }
            | Events { .. }
            | Columns { .. }
            | Index { .. }
            | RoutineStatus(_)
            | Variables(_)
            | Status(_)
            | Collation
            | CharacterSet
            | PluginsSoname(None)
    )
}
