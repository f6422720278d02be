//! ALTER and its dispatch, ALTER TABLE.
//! `ADD (..)` and a list of table options give one action for each element.

use super::{PResult, Parser};
use crate::ast::{
    AlterAction, AlterAlgorithm, AlterLock, AlterTable, ColumnPosition, PartitionMaintenance,
    Statement, TableElement, TableOption,
};
use crate::lexer::{Kw, T};

/// Whether an action is the only one of its statement.
fn stands_alone(action: &AlterAction) -> bool {
    use AlterAction as A;
    matches!(
        action,
        A::RemovePartitioning
            | A::AddPartition { .. }
            | A::DropPartition { .. }
            | A::CoalescePartition(_)
            | A::ReorganizePartition { .. }
            | A::ExchangePartition { .. }
            | A::ConvertTableToPartition { .. }
            | A::ConvertPartitionToTable { .. }
            | A::MaintainPartitions { .. }
    )
}

impl Parser<'_> {
    pub(super) fn alter(&mut self) -> PResult<Statement> {
        self.next();
        let T::Word(kw) = self.tok.kind else { return Err(self.error()) };
        match kw {
            Kw::TABLE | Kw::ONLINE | Kw::IGNORE => self.alter_table(),
            Kw::DATABASE | Kw::SCHEMA => self.alter_database(),
            Kw::SEQUENCE => self.alter_sequence(),
            Kw::USER => self.create_user(false, true),
            Kw::VIEW | Kw::ALGORITHM | Kw::SQL | Kw::DEFINER => self.alter_view(),
            Kw::PROCEDURE | Kw::FUNCTION => self.alter_routine(),
            Kw::EVENT => self.alter_event(None),
            Kw::SERVER => self.alter_server(),
            _ => self.unsupported_alter(),
        }
    }

    fn alter_table(&mut self) -> PResult<Statement> {
        let online = self.eat(Kw::ONLINE);
        let ignore = self.eat(Kw::IGNORE);
        self.expect(Kw::TABLE)?;
        let if_exists = self.if_exists()?;
        let table = self.table_name()?;
        let wait = self.lock_wait_opt()?;
        let mut actions = Vec::new();
        if !self.at(T::Eof) && !self.at(T::Semicolon) {
            self.alter_actions(&mut actions)?;
            let alone = actions.first().is_some_and(stands_alone);
            while !alone && self.eat(T::Comma) {
                self.refuse_partition_action()?;
                self.alter_actions(&mut actions)?;
            }
            if alone {
                return Ok(Statement::AlterTable(
                    AlterTable { online, ignore, if_exists, table, wait, actions }.into(),
                ));
            }
            if let Some(method) = self.partition_by_opt()? {
                actions.push(AlterAction::PartitionBy(method));
            } else if self.eat2(Kw::REMOVE, Kw::PARTITIONING) {
                actions.push(AlterAction::RemovePartitioning);
            }
        }
        Ok(Statement::AlterTable(
            AlterTable { online, ignore, if_exists, table, wait, actions }.into(),
        ))
    }

    /// Fails at an action on partitions, which may not follow others.
    fn refuse_partition_action(&mut self) -> PResult<()> {
        if self.at2(Kw::ADD, Kw::PARTITION) || self.at2(Kw::DROP, Kw::PARTITION) {
            self.next();
            return Err(self.error());
        }
        let verbs = [Kw::PARTITION, Kw::REMOVE, Kw::COALESCE, Kw::REORGANIZE, Kw::EXCHANGE];
        let more = [Kw::ANALYZE, Kw::OPTIMIZE, Kw::REBUILD, Kw::REPAIR, Kw::TRUNCATE];
        match self.at_any(&verbs) || self.at_any(&more) {
            true => Err(self.error()),
            false => Ok(()),
        }
    }

    /// One action; `ADD (a INT, b INT)` gives several.
    fn alter_actions(&mut self, out: &mut Vec<AlterAction>) -> PResult<()> {
        let T::Word(kw) = self.tok.kind else { return Err(self.error()) };
        let action = match kw {
            Kw::ADD => return self.alter_add(out),
            Kw::DROP => self.alter_drop()?,
            Kw::MODIFY => {
                self.next();
                self.eat(Kw::COLUMN);
                let if_exists = self.if_exists()?;
                let column = self.column_def()?.into();
                AlterAction::ModifyColumn { if_exists, column, position: self.column_position()? }
            }
            Kw::CHANGE => {
                self.next();
                self.eat(Kw::COLUMN);
                let if_exists = self.if_exists()?;
                let old_name = self.ident()?;
                let column = self.column_def()?.into();
                AlterAction::ChangeColumn {
                    if_exists,
                    old_name,
                    column,
                    position: self.column_position()?,
                }
            }
            Kw::ALTER => self.alter_column()?,
            Kw::RENAME => self.alter_rename()?,
            Kw::CONVERT => self.alter_convert()?,
            Kw::ORDER => {
                self.expect_all(&[Kw::ORDER, Kw::BY])?;
                AlterAction::OrderBy(self.list(Self::column_order)?)
            }
            Kw::ENABLE | Kw::DISABLE => {
                self.next();
                self.expect(Kw::KEYS)?;
                if kw == Kw::ENABLE { AlterAction::EnableKeys } else { AlterAction::DisableKeys }
            }
            Kw::DISCARD | Kw::IMPORT => {
                self.next();
                self.expect(Kw::TABLESPACE)?;
                match kw {
                    Kw::DISCARD => AlterAction::DiscardTablespace,
                    _ => AlterAction::ImportTablespace,
                }
            }
            Kw::FORCE => {
                self.next();
                AlterAction::Force
            }
            Kw::ALGORITHM => AlterAction::Algorithm(self.alter_algorithm()?),
            Kw::LOCK => AlterAction::Lock(self.alter_lock()?),
            Kw::PARTITION => match self.partition_by_opt()? {
                Some(method) => AlterAction::PartitionBy(method),
                None => return Err(self.error()),
            },
            _ => match self.alter_partition(kw)? {
                Some(action) => action,
                None => return self.alter_options(out),
            },
        };
        out.push(action);
        Ok(())
    }

    /// An item of ORDER BY in ALTER TABLE: only a column is allowed.
    fn column_order(&mut self) -> PResult<crate::ast::OrderItem> {
        let start = self.tok.start;
        let kind = crate::ast::ExprKind::Column(self.column_ref()?);
        let expr = crate::ast::Expr { kind, span: self.span_from(start) };
        let descending = self.eat_any(&[Kw::ASC, Kw::DESC]) == Some(Kw::DESC);
        Ok(crate::ast::OrderItem { expr, descending })
    }

    fn alter_options(&mut self, out: &mut Vec<AlterAction>) -> PResult<()> {
        let before = out.len();
        while let Some(option) = self.table_option()? {
            out.push(match option {
                TableOption::SystemVersioning => AlterAction::AddSystemVersioning,
                option => AlterAction::Option(option),
            });
        }
        match out.len() > before {
            true => Ok(()),
            false => Err(self.error()),
        }
    }

    fn alter_add(&mut self, out: &mut Vec<AlterAction>) -> PResult<()> {
        self.next();
        if self.at(Kw::PARTITION) {
            out.push(self.add_partition()?);
            return Ok(());
        }
        if self.eat2(Kw::SYSTEM, Kw::VERSIONING) {
            out.push(AlterAction::AddSystemVersioning);
            return Ok(());
        }
        if self.at(Kw::PERIOD) && matches!(self.peek(), T::Word(Kw::FOR | Kw::IF)) {
            self.next();
            let if_not_exists = self.if_not_exists()?;
            self.expect(Kw::FOR)?;
            let name = self.period_name()?;
            let (start, end) = self.period_columns(&name)?;
            out.push(AlterAction::AddPeriod { if_not_exists, name, start, end });
            return Ok(());
        }
        if self.at_constraint() {
            let element = self.constraint()?;
            out.push(add_element(element, false));
            return Ok(());
        }
        self.eat(Kw::COLUMN);
        let if_not_exists = self.if_not_exists()?;
        if self.at(T::LParen) {
            let elements = self.paren_list(|p| match p.at_constraint() {
                true => p.constraint(),
                false => Ok(TableElement::Column(p.column_def()?.into())),
            })?;
            out.extend(elements.into_iter().map(|e| add_element(e, if_not_exists)));
            return Ok(());
        }
        let column = self.column_def()?.into();
        let position = self.column_position()?;
        out.push(AlterAction::AddColumn { if_not_exists, column, position });
        Ok(())
    }

    fn column_position(&mut self) -> PResult<Option<ColumnPosition>> {
        if self.eat(Kw::FIRST) {
            return Ok(Some(ColumnPosition::First));
        }
        if self.eat(Kw::AFTER) {
            return Ok(Some(ColumnPosition::After(self.ident()?)));
        }
        Ok(None)
    }

    fn alter_drop(&mut self) -> PResult<AlterAction> {
        self.next();
        let T::Word(kw) = self.tok.kind else {
            let name = self.ident()?;
            self.eat_any(&[Kw::RESTRICT, Kw::CASCADE]);
            return Ok(AlterAction::DropColumn { if_exists: false, name });
        };
        match kw {
            Kw::PARTITION => {
                self.next();
                let if_exists = self.if_exists()?;
                return Ok(AlterAction::DropPartition {
                    if_exists,
                    names: self.list(Self::ident)?,
                });
            }
            Kw::SYSTEM if self.peek() == T::Word(Kw::VERSIONING) => {
                self.next();
                self.next();
                return Ok(AlterAction::DropSystemVersioning);
            }
            Kw::PERIOD if matches!(self.peek(), T::Word(Kw::FOR | Kw::IF)) => {
                self.next();
                let if_exists = self.if_exists()?;
                self.expect(Kw::FOR)?;
                return Ok(AlterAction::DropPeriod { if_exists, name: self.ident()? });
            }
            Kw::FOREIGN => {
                self.next();
                self.expect(Kw::KEY)?;
                let if_exists = self.if_exists()?;
                return Ok(AlterAction::DropForeignKey { if_exists, name: self.ident()? });
            }
            Kw::PRIMARY => {
                self.next();
                self.expect(Kw::KEY)?;
                return Ok(AlterAction::DropPrimaryKey { if_exists: false });
            }
            Kw::KEY | Kw::INDEX => {
                self.next();
                let if_exists = self.if_exists()?;
                return Ok(AlterAction::DropIndex { if_exists, name: self.index_name()? });
            }
            Kw::CONSTRAINT => {
                self.next();
                let if_exists = self.if_exists()?;
                if self.eat2(Kw::PRIMARY, Kw::KEY) {
                    return Ok(AlterAction::DropPrimaryKey { if_exists });
                }
                return Ok(AlterAction::DropConstraint { if_exists, name: self.index_name()? });
            }
            _ => {}
        }
        self.eat(Kw::COLUMN);
        let if_exists = self.if_exists()?;
        let name = self.ident()?;
        self.eat_any(&[Kw::RESTRICT, Kw::CASCADE]);
        Ok(AlterAction::DropColumn { if_exists, name })
    }

    fn alter_column(&mut self) -> PResult<AlterAction> {
        self.next();
        if self.eat_any(&[Kw::KEY, Kw::INDEX]).is_some() {
            let if_exists = self.if_exists()?;
            let name = self.ident()?;
            let ignored = !self.eat(Kw::NOT);
            self.expect(Kw::IGNORED)?;
            return Ok(AlterAction::SetIndexIgnored { if_exists, name, ignored });
        }
        self.eat(Kw::COLUMN);
        let if_exists = self.if_exists()?;
        let column = self.ident()?;
        if self.eat(Kw::DROP) {
            self.expect(Kw::DEFAULT)?;
            return Ok(AlterAction::DropDefault { if_exists, column });
        }
        self.expect_all(&[Kw::SET, Kw::DEFAULT])?;
        let default = self.default_of(&column)?.into();
        Ok(AlterAction::SetDefault { if_exists, column, default })
    }

    fn alter_rename(&mut self) -> PResult<AlterAction> {
        self.next();
        if let Some(word) = self.eat_any(&[Kw::COLUMN, Kw::KEY, Kw::INDEX]) {
            let if_exists = self.if_exists()?;
            let from = self.ident()?;
            self.expect(Kw::TO)?;
            let to = match word {
                Kw::COLUMN => self.ident()?,
                _ => self.new_ident()?,
            };
            return Ok(match word {
                Kw::COLUMN => AlterAction::RenameColumn { if_exists, from, to },
                _ => AlterAction::RenameIndex { if_exists, from, to },
            });
        }
        if self.eat_any(&[Kw::TO, Kw::AS]).is_none() {
            self.eat(T::Eq);
        }
        Ok(AlterAction::RenameTable(self.new_table_name()?))
    }

    fn alter_convert(&mut self) -> PResult<AlterAction> {
        self.next();
        if self.eat(Kw::TABLE) {
            let table = self.table_name()?;
            self.expect(Kw::TO)?;
            return Ok(AlterAction::ConvertTableToPartition {
                table,
                partition: self.partition_def()?.into(),
            });
        }
        if self.eat(Kw::PARTITION) {
            let name = self.ident()?;
            self.expect_all(&[Kw::TO, Kw::TABLE])?;
            return Ok(AlterAction::ConvertPartitionToTable {
                name,
                table: self.new_table_name()?,
            });
        }
        self.expect(Kw::TO)?;
        if !self.eat_charset() {
            return Err(self.error());
        }
        let charset = self.type_charset_name()?;
        let collation = self.eat(Kw::COLLATE).then(|| self.collation_name()).transpose()?;
        Ok(AlterAction::ConvertTo { charset, collation })
    }

    fn add_partition(&mut self) -> PResult<AlterAction> {
        self.next();
        let if_not_exists = self.if_not_exists()?;
        self.eat_any(&[Kw::NO_WRITE_TO_BINLOG, Kw::LOCAL]);
        if self.eat(Kw::PARTITIONS) {
            let count = Some(self.u64()?);
            return Ok(AlterAction::AddPartition { if_not_exists, partitions: Vec::new(), count });
        }
        let partitions = self.partition_defs()?;
        Ok(AlterAction::AddPartition { if_not_exists, partitions, count: None })
    }

    /// Actions on partitions that begin with a verb of their own.
    fn alter_partition(&mut self, kw: Kw) -> PResult<Option<AlterAction>> {
        use PartitionMaintenance as M;
        let action = match kw {
            Kw::REMOVE => {
                self.expect_all(&[Kw::REMOVE, Kw::PARTITIONING])?;
                return Ok(Some(AlterAction::RemovePartitioning));
            }
            Kw::COALESCE => {
                self.expect_all(&[Kw::COALESCE, Kw::PARTITION])?;
                self.eat_any(&[Kw::NO_WRITE_TO_BINLOG, Kw::LOCAL]);
                return Ok(Some(AlterAction::CoalescePartition(self.u64()?)));
            }
            Kw::REORGANIZE => return self.reorganize().map(Some),
            Kw::EXCHANGE => return self.exchange().map(Some),
            Kw::ANALYZE => M::Analyze,
            Kw::CHECK => M::Check,
            Kw::OPTIMIZE => M::Optimize,
            Kw::REBUILD => M::Rebuild,
            Kw::REPAIR => M::Repair,
            Kw::TRUNCATE => M::Truncate,
            _ => return Ok(None),
        };
        self.next();
        self.expect(Kw::PARTITION)?;
        self.eat_any(&[Kw::NO_WRITE_TO_BINLOG, Kw::LOCAL]);
        let names = if self.eat(Kw::ALL) { Vec::new() } else { self.list(Self::ident)? };
        let words = [Kw::QUICK, Kw::EXTENDED, Kw::FAST, Kw::MEDIUM, Kw::CHANGED, Kw::USE_FRM];
        loop {
            if action == M::Check && self.eat(Kw::FOR) {
                self.expect(Kw::UPGRADE)?;
            } else if self.eat_any(&words).is_none() {
                break;
            }
        }
        Ok(Some(AlterAction::MaintainPartitions { action, names }))
    }

    fn reorganize(&mut self) -> PResult<AlterAction> {
        self.expect_all(&[Kw::REORGANIZE, Kw::PARTITION])?;
        self.eat_any(&[Kw::NO_WRITE_TO_BINLOG, Kw::LOCAL]);
        if !self.at_ident() {
            return Ok(AlterAction::ReorganizePartition { names: Vec::new(), into: Vec::new() });
        }
        let names = self.list(Self::ident)?;
        self.expect(Kw::INTO)?;
        Ok(AlterAction::ReorganizePartition { names, into: self.partition_defs()? })
    }

    fn exchange(&mut self) -> PResult<AlterAction> {
        self.expect_all(&[Kw::EXCHANGE, Kw::PARTITION])?;
        let name = self.ident()?;
        self.expect_all(&[Kw::WITH, Kw::TABLE])?;
        let table = self.table_name()?;
        Ok(AlterAction::ExchangePartition { name, table })
    }

    /// `ALGORITHM [=] x`.
    pub(super) fn alter_algorithm(&mut self) -> PResult<AlterAlgorithm> {
        self.next();
        self.eat(T::Eq);
        let token = self.tok;
        let found = match self.raw(token).to_ascii_lowercase().as_slice() {
            b"default" => AlterAlgorithm::Default,
            b"inplace" => AlterAlgorithm::Inplace,
            b"copy" => AlterAlgorithm::Copy,
            b"nocopy" => AlterAlgorithm::Nocopy,
            b"instant" => AlterAlgorithm::Instant,
            _ if self.at_ident() => {
                let name = self.ident()?;
                return self
                    .fail(&selkie_types::error::catalogue::ER_UNKNOWN_ALTER_ALGORITHM, &[&name]);
            }
            _ => return Err(self.error()),
        };
        self.next();
        Ok(found)
    }

    /// `LOCK [=] x`.
    pub(super) fn alter_lock(&mut self) -> PResult<AlterLock> {
        self.next();
        self.eat(T::Eq);
        let token = self.tok;
        let found = match self.raw(token).to_ascii_lowercase().as_slice() {
            b"default" => AlterLock::Default,
            b"none" => AlterLock::None,
            b"shared" => AlterLock::Shared,
            b"exclusive" => AlterLock::Exclusive,
            _ if self.at_ident() => {
                let name = self.ident()?;
                return self.fail(&selkie_types::error::catalogue::ER_UNKNOWN_ALTER_LOCK, &[&name]);
            }
            _ => return Err(self.error()),
        };
        self.next();
        Ok(found)
    }
}

fn add_element(element: TableElement, if_not_exists: bool) -> AlterAction {
    match element {
        TableElement::Column(column) => {
            AlterAction::AddColumn { if_not_exists, column, position: None }
        }
        TableElement::Index(index) => AlterAction::AddIndex(index),
        TableElement::ForeignKey(key) => AlterAction::AddForeignKey(key),
        TableElement::Check(check) => AlterAction::AddCheck(check),
        TableElement::Period { name, start, end } => {
            AlterAction::AddPeriod { if_not_exists, name, start, end }
        }
    }
}
