//! GRANT and REVOKE of privileges, roles and PROXY.
//! Privileges and roles are told apart by lookahead, since a privilege's word may also be a role's
//! name.

use super::{PResult, Parser};
use crate::ast::{
    Grant, Granted, Privilege, PrivilegeKind, PrivilegeLevel, RoutineKind, Statement, TableName,
};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// GRANT or REVOKE.
    pub(super) fn grant(&mut self) -> PResult<Statement> {
        let revoke = self.next().kind == T::Word(Kw::REVOKE);
        let mut grant = Grant {
            revoke,
            what: Granted::Everything,
            accounts: Vec::new(),
            tls: None,
            limits: Default::default(),
            grant_option: false,
        };
        if revoke && self.eat(Kw::ADMIN) {
            self.expect_all(&[Kw::OPTION, Kw::FOR])?;
            grant.grant_option = true;
        }
        if self.eat(Kw::PROXY) {
            self.expect(Kw::ON)?;
            grant.what = Granted::Proxy(self.account()?);
        } else if !grant.grant_option && self.at_privilege() {
            grant.what = self.granted_privileges(revoke)?;
        } else {
            grant.what = Granted::Roles(vec![self.role()?]);
        }
        self.expect(if revoke { Kw::FROM } else { Kw::TO })?;
        grant.accounts = self.list(Self::user_spec)?;
        if !revoke {
            self.grant_tail(&mut grant)?;
        }
        Ok(Statement::Grant(grant.into()))
    }

    fn grant_tail(&mut self, grant: &mut Grant) -> PResult<()> {
        if matches!(grant.what, Granted::Roles(_)) {
            if self.eat(Kw::WITH) {
                self.expect_all(&[Kw::ADMIN, Kw::OPTION])?;
                grant.grant_option = true;
            }
            return Ok(());
        }
        grant.tls = self.tls_requirement()?;
        (grant.limits, grant.grant_option) = self.resource_limits()?;
        Ok(())
    }

    /// Whether privileges follow, not roles: some words of privileges may be names of roles.
    fn at_privilege(&mut self) -> bool {
        let T::Word(kw) = self.tok.kind else { return false };
        if kw.is_reserved() {
            return kw != Kw::CURRENT_USER && kw != Kw::CURRENT_ROLE;
        }
        let known = matches!(
            kw,
            Kw::EXECUTE
                | Kw::RELOAD
                | Kw::SHUTDOWN
                | Kw::PROCESS
                | Kw::FILE
                | Kw::SUPER
                | Kw::EVENT
                | Kw::REPLICATION
                | Kw::BINLOG
                | Kw::SLAVE
                | Kw::REPLICA
                | Kw::CONNECTION
                | Kw::FEDERATED
                | Kw::READ_ONLY
        );
        known && matches!(self.peek(), T::Comma | T::Word(_)) && self.peek() != T::Word(Kw::TO)
    }

    fn granted_privileges(&mut self, revoke: bool) -> PResult<Granted> {
        if self.eat(Kw::ALL) {
            self.eat(Kw::PRIVILEGES);
            if revoke && self.eat(T::Comma) {
                self.expect_all(&[Kw::GRANT, Kw::OPTION])?;
                return Ok(Granted::Everything);
            }
            self.expect(Kw::ON)?;
            return Ok(Granted::Privileges { privileges: Vec::new(), on: self.privilege_level()? });
        }
        let privileges = self.list(Self::privilege)?;
        self.expect(Kw::ON)?;
        Ok(Granted::Privileges { privileges, on: self.privilege_level()? })
    }

    fn privilege(&mut self) -> PResult<Privilege> {
        use PrivilegeKind as P;
        let kind = self.privilege_kind()?;
        let has_columns = matches!(kind, P::Select | P::Insert | P::Update | P::References);
        let columns = if has_columns { self.ident_list_opt()? } else { Vec::new() };
        Ok(Privilege { kind, columns })
    }

    fn privilege_kind(&mut self) -> PResult<PrivilegeKind> {
        use PrivilegeKind as P;
        let T::Word(kw) = self.tok.kind else { return Err(self.error()) };
        let kind = match kw {
            Kw::SELECT => P::Select,
            Kw::INSERT => P::Insert,
            Kw::UPDATE => P::Update,
            Kw::REFERENCES => P::References,
            Kw::USAGE => P::Usage,
            Kw::INDEX => P::Index,
            Kw::DROP => P::Drop,
            Kw::EXECUTE => P::Execute,
            Kw::RELOAD => P::Reload,
            Kw::SHUTDOWN => P::Shutdown,
            Kw::PROCESS => P::Process,
            Kw::FILE => P::File,
            Kw::SUPER => P::Super,
            Kw::EVENT => P::Event,
            Kw::TRIGGER => P::Trigger,
            _ => return self.long_privilege(kw),
        };
        self.next();
        Ok(kind)
    }

    /// Privileges of several words, and single words that begin like them.
    fn long_privilege(&mut self, kw: Kw) -> PResult<PrivilegeKind> {
        use PrivilegeKind as P;
        self.next();
        Ok(match kw {
            Kw::DELETE if self.eat(Kw::HISTORY) => P::DeleteHistory,
            Kw::DELETE => P::Delete,
            Kw::ALTER if self.eat(Kw::ROUTINE) => P::AlterRoutine,
            Kw::ALTER => P::Alter,
            Kw::CREATE => self.create_privilege()?,
            Kw::GRANT => self.expect(Kw::OPTION).map(|()| P::GrantOption)?,
            Kw::LOCK => self.expect(Kw::TABLES).map(|()| P::LockTables)?,
            Kw::SHOW => match self.eat(Kw::DATABASES) {
                true => P::ShowDatabases,
                false => self.expect(Kw::VIEW).map(|()| P::ShowView)?,
            },
            Kw::SET => self.expect(Kw::USER).map(|()| P::SetUser)?,
            Kw::READ_ONLY => self.expect(Kw::ADMIN).map(|()| P::ReadOnlyAdmin)?,
            Kw::READ => {
                self.expect_all(&[Kw::ONLY, Kw::ADMIN])?;
                P::ReadOnlyAdmin
            }
            Kw::CONNECTION => self.expect(Kw::ADMIN).map(|()| P::ConnectionAdmin)?,
            Kw::FEDERATED => self.expect(Kw::ADMIN).map(|()| P::FederatedAdmin)?,
            Kw::BINLOG => match self.expect_any(&[Kw::MONITOR, Kw::ADMIN, Kw::REPLAY])? {
                Kw::MONITOR => P::BinlogMonitor,
                Kw::ADMIN => P::BinlogAdmin,
                _ => P::BinlogReplay,
            },
            Kw::SLAVE | Kw::REPLICA => self.expect(Kw::MONITOR).map(|()| P::SlaveMonitor)?,
            Kw::REPLICATION => self.replication_privilege()?,
            _ => return Err(self.error()),
        })
    }

    fn create_privilege(&mut self) -> PResult<PrivilegeKind> {
        use PrivilegeKind as P;
        Ok(match self.eat_any(&[Kw::TEMPORARY, Kw::VIEW, Kw::ROUTINE, Kw::USER, Kw::TABLESPACE]) {
            Some(Kw::TEMPORARY) => self.expect(Kw::TABLES).map(|()| P::CreateTemporaryTables)?,
            Some(Kw::VIEW) => P::CreateView,
            Some(Kw::ROUTINE) => P::CreateRoutine,
            Some(Kw::USER) => P::CreateUser,
            Some(_) => P::CreateTablespace,
            None => P::Create,
        })
    }

    fn replication_privilege(&mut self) -> PResult<PrivilegeKind> {
        use PrivilegeKind as P;
        Ok(match self.expect_any(&[Kw::SLAVE, Kw::REPLICA, Kw::CLIENT, Kw::MASTER])? {
            Kw::CLIENT => P::ReplicationClient,
            Kw::MASTER => self.expect(Kw::ADMIN).map(|()| P::ReplicationMasterAdmin)?,
            _ if self.eat(Kw::ADMIN) => P::ReplicationSlaveAdmin,
            _ => P::ReplicationSlave,
        })
    }

    fn privilege_level(&mut self) -> PResult<PrivilegeLevel> {
        if let Some(kind) = self.routine_kind_opt() {
            return Ok(PrivilegeLevel::Routine(kind, self.table_name()?));
        }
        if self.at(Kw::TABLE) {
            self.next();
        }
        if self.eat(T::Star) {
            if self.eat(T::Dot) {
                self.expect(T::Star)?;
                return Ok(PrivilegeLevel::Global);
            }
            return Ok(PrivilegeLevel::Schema(None));
        }
        let first = self.ident()?;
        if !self.eat(T::Dot) {
            return Ok(PrivilegeLevel::Table(TableName { schema: None, name: first }));
        }
        if self.eat(T::Star) {
            return Ok(PrivilegeLevel::Schema(Some(first)));
        }
        Ok(PrivilegeLevel::Table(TableName { schema: Some(first), name: self.ident()? }))
    }

    /// PROCEDURE, FUNCTION, PACKAGE or PACKAGE BODY, if a name follows it.
    pub(super) fn routine_kind_opt(&mut self) -> Option<RoutineKind> {
        let word = self.tok.kind;
        let kind = match word {
            T::Word(Kw::PROCEDURE) => RoutineKind::Procedure,
            T::Word(Kw::FUNCTION) if self.peek() != T::Dot => RoutineKind::Function,
            T::Word(Kw::PACKAGE) if self.peek() != T::Dot => RoutineKind::Package,
            _ => return None,
        };
        self.next();
        if kind == RoutineKind::Package && self.eat(Kw::BODY) {
            return Some(RoutineKind::PackageBody);
        }
        Some(kind)
    }
}
