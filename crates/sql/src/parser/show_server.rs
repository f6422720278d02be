//! SHOW of the server itself: variables, status, logs, replication, profiles.
//! Also SHOW of tables of `information_schema` that have a statement of their own.

use super::{PResult, Parser};
use crate::ast::{EngineReport, ShowWhat, StringLiteral};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    pub(super) fn show_server(&mut self, kw: Kw) -> PResult<ShowWhat> {
        if let Some(scope) = self.var_scope() {
            return Ok(match self.expect_any(&[Kw::VARIABLES, Kw::STATUS])? {
                Kw::VARIABLES => ShowWhat::Variables(Some(scope)),
                _ => ShowWhat::Status(Some(scope)),
            });
        }
        Ok(match kw {
            Kw::VARIABLES => self.plain(ShowWhat::Variables(None)),
            Kw::STATUS => self.plain(ShowWhat::Status(None)),
            Kw::WARNINGS => {
                self.next();
                ShowWhat::Warnings(self.limit_opt()?)
            }
            Kw::ERRORS => {
                self.next();
                ShowWhat::Errors(self.limit_opt()?)
            }
            Kw::STORAGE => {
                self.next();
                self.expect(Kw::ENGINES)?;
                ShowWhat::Engines
            }
            Kw::ENGINES => self.plain(ShowWhat::Engines),
            Kw::ENGINE => self.show_engine()?,
            Kw::COLLATION => self.plain(ShowWhat::Collation),
            Kw::CHARSET | Kw::CHARACTER | Kw::CHAR if self.eat_charset() => ShowWhat::CharacterSet,
            Kw::PLUGINS => self.show_plugins()?,
            Kw::PRIVILEGES => self.plain(ShowWhat::Privileges),
            Kw::GRANTS => {
                self.next();
                ShowWhat::Grants(self.eat(Kw::FOR).then(|| self.account()).transpose()?)
            }
            Kw::AUTHORS => self.plain(ShowWhat::Authors),
            Kw::CONTRIBUTORS => self.plain(ShowWhat::Contributors),
            Kw::PROFILES => self.plain(ShowWhat::Profiles),
            Kw::PROFILE => self.show_profile()?,
            Kw::EXPLAIN | Kw::ANALYZE => {
                self.next();
                let json = self.format_json()?;
                self.expect(Kw::FOR)?;
                ShowWhat::Explain { json, analyze: kw == Kw::ANALYZE, connection: self.expr()? }
            }
            _ => self.show_replication(kw)?,
        })
    }

    /// `COUNT(*) WARNINGS` or `COUNT(*) ERRORS`.
    pub(super) fn show_count(&mut self) -> PResult<ShowWhat> {
        self.next();
        self.expect(T::LParen)?;
        self.expect(T::Star)?;
        self.expect(T::RParen)?;
        Ok(match self.expect_any(&[Kw::WARNINGS, Kw::ERRORS])? {
            Kw::WARNINGS => ShowWhat::CountWarnings,
            _ => ShowWhat::CountErrors,
        })
    }

    fn show_engine(&mut self) -> PResult<ShowWhat> {
        self.next();
        let engine = if self.eat(Kw::ALL) { None } else { Some(self.alias()?) };
        let what = match self.expect_any(&[Kw::STATUS, Kw::MUTEX, Kw::LOGS])? {
            Kw::STATUS => EngineReport::Status,
            Kw::MUTEX => EngineReport::Mutex,
            _ => EngineReport::Logs,
        };
        Ok(ShowWhat::Engine { engine, what })
    }

    fn show_plugins(&mut self) -> PResult<ShowWhat> {
        self.next();
        if !self.eat(Kw::SONAME) {
            return Ok(ShowWhat::Plugins);
        }
        Ok(ShowWhat::PluginsSoname(if self.at(T::Str) { Some(self.string()?) } else { None }))
    }

    fn show_profile(&mut self) -> PResult<ShowWhat> {
        self.next();
        let mut types = Vec::new();
        let words = [
            Kw::ALL,
            Kw::BLOCK,
            Kw::CONTEXT,
            Kw::CPU,
            Kw::IPC,
            Kw::MEMORY,
            Kw::PAGE,
            Kw::SOURCE,
            Kw::SWAPS,
        ];
        if self.at_any(&words) {
            types = self.list(|p| {
                Ok(match p.expect_any(&words)? {
                    Kw::BLOCK => p.expect(Kw::IO).map(|()| "BLOCK IO")?,
                    Kw::CONTEXT => p.expect(Kw::SWITCHES).map(|()| "CONTEXT SWITCHES")?,
                    Kw::PAGE => p.expect(Kw::FAULTS).map(|()| "PAGE FAULTS")?,
                    word => word.text(),
                })
            })?;
        }
        let mut query = None;
        if self.eat(Kw::FOR) {
            self.expect(Kw::QUERY)?;
            query = Some(self.u64()?);
        }
        Ok(ShowWhat::Profile { types, query, limit: self.limit_opt()? })
    }

    fn show_replication(&mut self, kw: Kw) -> PResult<ShowWhat> {
        Ok(match kw {
            Kw::MASTER | Kw::BINARY => {
                self.next();
                match self.expect_any(&[Kw::STATUS, Kw::LOGS])? {
                    Kw::STATUS if kw == Kw::MASTER => ShowWhat::MasterStatus,
                    Kw::LOGS => ShowWhat::BinaryLogs,
                    _ => return Err(self.error()),
                }
            }
            Kw::BINLOG => {
                self.next();
                if self.eat(Kw::STATUS) {
                    return Ok(ShowWhat::MasterStatus);
                }
                self.expect(Kw::EVENTS)?;
                let (file, position) = self.log_position()?;
                ShowWhat::BinlogEvents { file, position, limit: self.limit_opt()? }
            }
            Kw::RELAYLOG => {
                self.next();
                let name = self.connection_name()?;
                self.expect(Kw::EVENTS)?;
                let (file, position) = self.log_position()?;
                let limit = self.limit_opt()?;
                ShowWhat::RelaylogEvents { name: self.for_channel(name)?, file, position, limit }
            }
            Kw::SLAVE | Kw::REPLICA => {
                self.next();
                if self.eat(Kw::HOSTS) {
                    return Ok(ShowWhat::SlaveHosts);
                }
                let name = self.connection_name()?;
                self.expect(Kw::STATUS)?;
                ShowWhat::SlaveStatus(self.for_channel(name)?)
            }
            Kw::ALL => {
                self.next();
                self.expect_any(&[Kw::SLAVES, Kw::REPLICAS])?;
                self.expect(Kw::STATUS)?;
                ShowWhat::AllSlavesStatus
            }
            _ => self.show_other(kw)?,
        })
    }

    /// Tables of `information_schema` that have a SHOW of their own. Compat: any other name gives
    /// error 1064.
    fn show_other(&mut self, kw: Kw) -> PResult<ShowWhat> {
        const TABLES: &[&str] = &[
            "client_statistics",
            "index_statistics",
            "table_statistics",
            "user_statistics",
            "user_variables",
        ];
        let token = self.tok;
        let name = self.ident()?;
        if kw == Kw::NotKeyword && TABLES.iter().any(|t| name.is(t)) {
            return Ok(ShowWhat::Other(name));
        }
        Err(self.error_before(token))
    }

    fn log_position(&mut self) -> PResult<(Option<StringLiteral>, Option<u64>)> {
        let file = self.eat(Kw::IN).then(|| self.file_name()).transpose()?;
        let position = self.eat(Kw::FROM).then(|| self.u64()).transpose()?;
        Ok((file, position))
    }
}
