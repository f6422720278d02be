//! Maintenance of tables, FLUSH, RESET, PURGE, plugins, SHUTDOWN.
//! Every form is parsed, also of features Selkie lacks: the executor answers for those.

use selkie_types::error::catalogue::ER_NO_TABLES_USED;

use super::{PResult, Parser};
use crate::ast::{
    Backup, CacheIndexes, CachedTable, Flush, FlushTarget, Ident, LogKind, MaintenanceAction,
    PersistentFor, Plugin, PurgeLogs, ResetTarget, Statement, TableMaintenance,
};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// `ANALYZE | CHECK | OPTIMIZE | REPAIR | CHECKSUM TABLE ...`.
    pub(super) fn maintenance(&mut self) -> PResult<Statement> {
        let action = match self.next().kind {
            T::Word(Kw::ANALYZE) => MaintenanceAction::Analyze,
            T::Word(Kw::CHECK) => MaintenanceAction::Check,
            T::Word(Kw::OPTIMIZE) => MaintenanceAction::Optimize,
            T::Word(Kw::REPAIR) => MaintenanceAction::Repair,
            _ => MaintenanceAction::Checksum,
        };
        let local = self.eat_any(&[Kw::NO_WRITE_TO_BINLOG, Kw::LOCAL]).is_some();
        let view = self.expect_any(&[Kw::TABLE, Kw::TABLES, Kw::VIEW])? == Kw::VIEW;
        let mut m = TableMaintenance {
            action,
            local,
            view,
            tables: Vec::new(),
            options: Vec::new(),
            persistent: None,
            wait: None,
        };
        m.tables = self.list(|p| {
            let table = p.table_name()?;
            if action == MaintenanceAction::Analyze && m.persistent.is_none() {
                m.persistent = p.persistent_for()?;
            }
            Ok(table)
        })?;
        self.maintenance_options(&mut m)?;
        Ok(Statement::TableMaintenance(m.into()))
    }

    fn maintenance_options(&mut self, m: &mut TableMaintenance) -> PResult<()> {
        let words: &[Kw] = match m.action {
            MaintenanceAction::Check => {
                &[Kw::QUICK, Kw::FAST, Kw::MEDIUM, Kw::EXTENDED, Kw::CHANGED]
            }
            MaintenanceAction::Repair => &[Kw::QUICK, Kw::EXTENDED, Kw::USE_FRM],
            MaintenanceAction::Checksum => &[Kw::QUICK, Kw::EXTENDED],
            _ => &[],
        };
        while let Some(word) = self.eat_any(words) {
            m.options.push(word.text());
        }
        let upgrade = matches!(m.action, MaintenanceAction::Check | MaintenanceAction::Repair);
        if upgrade && self.at(Kw::FOR) {
            self.expect_all(&[Kw::FOR, Kw::UPGRADE])?;
            m.options.push("FOR UPGRADE");
        }
        if m.action == MaintenanceAction::Repair && m.view && self.eat2(Kw::FROM, Kw::MYSQL) {
            m.options.push("FROM MYSQL");
        }
        m.wait = self.lock_wait_opt()?;
        Ok(())
    }

    fn persistent_for(&mut self) -> PResult<Option<PersistentFor>> {
        if !self.eat(Kw::PERSISTENT) {
            return Ok(None);
        }
        self.expect(Kw::FOR)?;
        if self.eat(Kw::ALL) {
            return Ok(Some(PersistentFor { columns: None, indexes: None }));
        }
        self.expect(Kw::COLUMNS)?;
        let columns = self.names_or_all()?;
        self.expect(Kw::INDEXES)?;
        Ok(Some(PersistentFor { columns, indexes: self.names_or_all()? }))
    }

    fn names_or_all(&mut self) -> PResult<Option<Vec<Ident>>> {
        if self.eat(Kw::ALL) {
            return Ok(None);
        }
        self.parens(|p| if p.at(T::RParen) { Ok(Vec::new()) } else { p.list(Self::index_name) })
            .map(Some)
    }

    /// `CACHE INDEX ... IN cache`.
    pub(super) fn cache_index(&mut self) -> PResult<Statement> {
        self.next();
        self.expect(Kw::INDEX)?;
        let tables = self.cached_tables(false)?;
        self.expect(Kw::IN)?;
        let cache = match self.eat(Kw::DEFAULT) {
            true => Ident::new("default"),
            false => self.ident()?,
        };
        Ok(Statement::CacheIndexes(CacheIndexes { cache: Some(cache), tables }.into()))
    }

    /// `LOAD INDEX INTO CACHE ...`.
    pub(super) fn load_index(&mut self) -> PResult<Statement> {
        self.expect_all(&[Kw::LOAD, Kw::INDEX, Kw::INTO, Kw::CACHE])?;
        let tables = self.cached_tables(true)?;
        Ok(Statement::CacheIndexes(CacheIndexes { cache: None, tables }.into()))
    }

    /// Tables with their partitions and indexes; partitions can be named of a single table only.
    fn cached_tables(&mut self, loads: bool) -> PResult<Vec<CachedTable>> {
        let mut tables = Vec::new();
        loop {
            let name = self.table_name()?;
            let partitions = match tables.is_empty() && self.eat(Kw::PARTITION) {
                true => Some(self.parens(|p| match p.eat(Kw::ALL) {
                    true => Ok(Vec::new()),
                    false => p.list(Self::ident),
                })?),
                false => None,
            };
            let indexes = match self.eat_any(&[Kw::INDEX, Kw::KEY]) {
                Some(_) => self.names_or_all()?.unwrap_or_default(),
                None => Vec::new(),
            };
            if loads && self.eat(Kw::IGNORE) {
                self.expect(Kw::LEAVES)?;
            }
            let whole = partitions.is_none();
            tables.push(CachedTable { name, partitions, indexes });
            if !whole || !self.eat(T::Comma) {
                return Ok(tables);
            }
        }
    }

    pub(super) fn flush(&mut self) -> PResult<Statement> {
        self.next();
        let local = self.eat_any(&[Kw::NO_WRITE_TO_BINLOG, Kw::LOCAL]).is_some();
        if self.at_any(&[Kw::TABLE, Kw::TABLES]) {
            let targets = vec![self.flush_tables()?];
            return Ok(Statement::Flush(Flush { local, targets }.into()));
        }
        let targets = self.list(Self::flush_target)?;
        Ok(Statement::Flush(Flush { local, targets }.into()))
    }

    fn flush_tables(&mut self) -> PResult<FlushTarget> {
        self.next();
        if self.at(Kw::FOR) && self.peek() == Kw::EXPORT.into() {
            // Compat: the grammar has a list here that may be empty.
            return Err(self.error_named(&ER_NO_TABLES_USED));
        }
        let tables = if self.at_ident() { self.list(Self::table_name)? } else { Vec::new() };
        let (mut read_lock, mut disable_checkpoint, mut export) = (false, false, false);
        if self.eat(Kw::WITH) {
            self.expect_all(&[Kw::READ, Kw::LOCK])?;
            read_lock = true;
            if self.eat(Kw::AND) {
                self.expect_all(&[Kw::DISABLE, Kw::CHECKPOINT])?;
                disable_checkpoint = true;
            }
        } else if self.eat(Kw::FOR) {
            self.expect(Kw::EXPORT)?;
            export = true;
        }
        Ok(FlushTarget::Tables { tables, read_lock, disable_checkpoint, export })
    }

    fn flush_target(&mut self) -> PResult<FlushTarget> {
        let T::Word(kw) = self.tok.kind else { return self.ident().map(FlushTarget::Other) };
        let kind = match kw {
            Kw::LOGS => None,
            Kw::BINARY => Some(LogKind::Binary),
            Kw::ERROR => Some(LogKind::Error),
            Kw::ENGINE => Some(LogKind::Engine),
            Kw::GENERAL => Some(LogKind::General),
            Kw::SLOW => Some(LogKind::Slow),
            Kw::RELAY => Some(LogKind::Relay),
            _ => return self.flush_other(kw),
        };
        if kind.is_some() {
            self.next();
        }
        self.expect(Kw::LOGS)?;
        if kind == Some(LogKind::Binary) && self.eat(Kw::DELETE_DOMAIN_ID) {
            self.expect(T::Eq)?;
            let ids =
                self.parens(|p| if p.at(T::RParen) { Ok(Vec::new()) } else { p.list(Self::u64) })?;
            return Ok(FlushTarget::DeleteDomainIds(ids));
        }
        if kind == Some(LogKind::Relay) {
            let name = self.connection_name()?;
            return self.for_channel(name).map(FlushTarget::RelayLogs);
        }
        Ok(FlushTarget::Logs(kind))
    }

    /// A table of `information_schema` that can be reset. Compat: any other name gives error 1064.
    fn flush_table_of_plugin(&mut self) -> PResult<FlushTarget> {
        const TABLES: &[&str] = &[
            "client_statistics",
            "index_statistics",
            "table_statistics",
            "thread_pool_stats",
            "thread_pool_waits",
            "user_statistics",
            "user_variables",
        ];
        let token = self.tok;
        let name = self.ident()?;
        match TABLES.iter().any(|table| name.is(table)) {
            true => Ok(FlushTarget::Other(name)),
            false => Err(self.error_before(token)),
        }
    }

    fn flush_other(&mut self, kw: Kw) -> PResult<FlushTarget> {
        if let Some(scope) = self.var_scope() {
            self.expect(Kw::STATUS)?;
            return Ok(FlushTarget::Status(Some(scope)));
        }
        let target = match kw {
            Kw::PRIVILEGES => FlushTarget::Privileges,
            Kw::HOSTS => FlushTarget::Hosts,
            Kw::STATUS => FlushTarget::Status(None),
            Kw::DES_KEY_FILE => FlushTarget::DesKeyFile,
            Kw::USER_RESOURCES => FlushTarget::UserResources,
            Kw::SSL => FlushTarget::Ssl,
            Kw::QUERY => {
                self.next();
                self.expect(Kw::CACHE)?;
                return Ok(FlushTarget::QueryCache);
            }
            Kw::SLAVE | Kw::REPLICA => {
                self.next();
                let name = self.connection_name()?;
                return self.for_channel(name).map(FlushTarget::Slave);
            }
            _ => return self.flush_table_of_plugin(),
        };
        self.next();
        Ok(target)
    }

    pub(super) fn backup(&mut self) -> PResult<Statement> {
        self.next();
        let backup = match self.expect_any(&[Kw::STAGE, Kw::LOCK, Kw::UNLOCK])? {
            Kw::STAGE => Backup::Stage(self.ident()?),
            Kw::LOCK => Backup::Lock(self.table_name()?),
            _ => Backup::Unlock,
        };
        Ok(Statement::Backup(backup.into()))
    }

    pub(super) fn reset(&mut self) -> PResult<Statement> {
        self.next();
        let targets = self.list(|p| {
            Ok(match p.expect_any(&[Kw::MASTER, Kw::SLAVE, Kw::REPLICA, Kw::QUERY])? {
                Kw::MASTER => ResetTarget::Master(p.eat(Kw::TO).then(|| p.u64()).transpose()?),
                Kw::QUERY => {
                    p.expect(Kw::CACHE)?;
                    ResetTarget::QueryCache
                }
                _ => {
                    let name = p.connection_name()?;
                    let all = p.eat(Kw::ALL);
                    ResetTarget::Slave { name: p.for_channel(name)?, all }
                }
            })
        })?;
        Ok(Statement::Reset(targets))
    }

    pub(super) fn purge(&mut self) -> PResult<Statement> {
        self.next();
        self.expect_any(&[Kw::BINARY, Kw::MASTER])?;
        self.expect(Kw::LOGS)?;
        let purge = match self.expect_any(&[Kw::TO, Kw::BEFORE])? {
            Kw::TO => PurgeLogs::To(self.file_name()?),
            _ => PurgeLogs::Before(self.expr()?),
        };
        Ok(Statement::PurgeLogs(purge.into()))
    }

    pub(super) fn install(&mut self) -> PResult<Statement> {
        self.next();
        let (mut if_not_exists, mut name) = (false, None);
        if self.expect_any(&[Kw::PLUGIN, Kw::SONAME])? == Kw::PLUGIN {
            if_not_exists = self.if_not_exists()?;
            name = Some(self.ident()?);
            self.expect(Kw::SONAME)?;
        }
        let library = self.file_name()?;
        Ok(Statement::Plugin(Plugin::Install { if_not_exists, name, library }.into()))
    }

    pub(super) fn uninstall(&mut self) -> PResult<Statement> {
        self.next();
        let plugin = match self.expect_any(&[Kw::PLUGIN, Kw::SONAME])? {
            Kw::PLUGIN => Plugin::Uninstall { if_exists: self.if_exists()?, name: self.ident()? },
            _ => Plugin::UninstallLibrary {
                if_exists: self.if_exists()?,
                library: self.file_name()?,
            },
        };
        Ok(Statement::Plugin(plugin.into()))
    }

    pub(super) fn shutdown(&mut self) -> PResult<Statement> {
        self.next();
        let wait_for_slaves = self.eat(Kw::WAIT);
        if wait_for_slaves {
            self.expect_all(&[Kw::FOR, Kw::ALL])?;
            self.expect_any(&[Kw::SLAVES, Kw::REPLICAS])?;
        }
        Ok(Statement::Shutdown { wait_for_slaves })
    }
}
