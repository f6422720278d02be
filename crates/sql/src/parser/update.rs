//! UPDATE and DELETE, of one or several tables.
//! The form with several tables is told apart by lookahead: some clauses are for one table only.

use super::{PResult, Parser};
use crate::ast::{
    Delete, DeleteTarget, HistoryPoint, Portion, Statement, SystemTime, TableFactor, TableName,
    TableRef, Update,
};
use crate::lexer::{Kw, T};
use selkie_types::SqlError;
use selkie_types::error::catalogue::ER_UNKNOWN_TABLE;

impl Parser<'_> {
    pub(super) fn update(&mut self) -> PResult<Statement> {
        self.next();
        let low_priority = self.eat(Kw::LOW_PRIORITY);
        let ignore = self.eat(Kw::IGNORE);
        let is_bare = !self.at(T::LParen);
        let mut tables = self.list(Self::table_ref)?;
        let mut portion = None;
        if is_bare
            && let [TableRef::Table(factor)] = &mut tables[..]
            && factor.alias.is_none()
            && factor.hints.is_empty()
        {
            portion = self.portion_opt()?;
            // An alias stands behind the portion.
            if portion.is_some() {
                factor.alias = self.table_alias_opt()?;
            }
        }
        self.expect(Kw::SET)?;
        let assignments = self.changes()?;
        let where_clause = self.where_opt()?;
        let order_by = self.order_by_opt()?;
        let limit = self.limit_of_change()?;
        Ok(Statement::Update(Box::new(Update {
            low_priority,
            ignore,
            tables,
            portion,
            assignments,
            where_clause,
            order_by,
            limit,
        })))
    }

    pub(super) fn delete(&mut self) -> PResult<Statement> {
        self.next();
        let mut delete = Delete {
            low_priority: false,
            quick: false,
            ignore: false,
            target: DeleteTarget::Multi { targets: Vec::new(), from: Vec::new() },
            portion: None,
            where_clause: None,
            order_by: Vec::new(),
            limit: None,
            returning: Vec::new(),
        };
        loop {
            match self.tok.kind {
                T::Word(Kw::LOW_PRIORITY) => delete.low_priority = true,
                T::Word(Kw::QUICK) => delete.quick = true,
                T::Word(Kw::IGNORE) => delete.ignore = true,
                _ => break,
            }
            self.next();
        }
        self.delete_target(&mut delete)?;
        Ok(Statement::Delete(delete.into()))
    }

    /// `FOR PORTION OF period FROM a TO b`, if present.
    fn portion_opt(&mut self) -> PResult<Option<Box<Portion>>> {
        if !self.at2(Kw::FOR, Kw::PORTION) {
            return Ok(None);
        }
        self.next();
        self.next();
        if self.at2(Kw::OF, Kw::SYSTEM_TIME) {
            return Err(self.error());
        }
        self.expect(Kw::OF)?;
        let period = self.ident()?;
        self.expect(Kw::FROM)?;
        let from = self.operand()?;
        self.expect(Kw::TO)?;
        let to = self.operand()?;
        if self.at2(Kw::FOR, Kw::SYSTEM_TIME) {
            self.next();
            return Err(self.error());
        }
        Ok(Some(Box::new(Portion { period, from, to })))
    }

    fn delete_target(&mut self, delete: &mut Delete) -> PResult<()> {
        if self.eat2(Kw::HISTORY, Kw::FROM) {
            let (name, partitions) = (self.table_name()?, self.partitions_opt()?);
            let before = self.eat(Kw::BEFORE).then(|| self.before()).transpose()?;
            let system_time = Some(SystemTime::Ended(before));
            let factor =
                TableFactor { name, partitions, system_time, alias: None, hints: Vec::new() };
            delete.target = DeleteTarget::Single(factor.into());
            return Ok(());
        }
        if !self.eat(Kw::FROM) {
            let targets = self.list(Self::delete_name)?;
            self.expect(Kw::FROM)?;
            return self.delete_multi(delete, targets);
        }
        if self.at_using_form() {
            let targets = self.list(Self::delete_name)?;
            self.expect(Kw::USING)?;
            return self.delete_multi(delete, targets);
        }
        // Compat: an alias is not allowed in this form.
        let factor = TableFactor {
            name: self.table_name()?,
            partitions: self.partitions_opt()?,
            system_time: None,
            alias: None,
            hints: Vec::new(),
        };
        delete.portion = self.portion_opt()?;
        delete.target = DeleteTarget::Single(factor.into());
        delete.where_clause = self.where_opt()?;
        delete.order_by = self.order_by_opt()?;
        delete.limit = self.limit_of_change()?;
        delete.returning = self.returning()?;
        Ok(())
    }

    fn delete_multi(&mut self, delete: &mut Delete, targets: Vec<TableName>) -> PResult<()> {
        let from: Vec<TableRef> = self.list(Self::table_ref)?;
        if self.at2(Kw::FOR, Kw::PORTION) {
            return Err(self.multi_portion(&targets, &from));
        }
        delete.target = DeleteTarget::Multi { targets, from };
        delete.where_clause = self.where_opt()?;
        Ok(())
    }

    /// Compat: of a DELETE with several tables, a target that is not read is told of first.
    fn multi_portion(&self, targets: &[TableName], from: &[TableRef]) -> SqlError {
        let is_read = |target: &&TableName| {
            from.iter().any(|table| match table {
                TableRef::Table(factor) => {
                    factor.alias.as_ref().unwrap_or(&factor.name.name).is(&target.name.value)
                }
                _ => true,
            })
        };
        match targets.iter().find(|target| !is_read(target)) {
            Some(target) => SqlError::new(&ER_UNKNOWN_TABLE, &[&target.name, &"MULTI DELETE"]),
            None => self.error(),
        }
    }

    fn before(&mut self) -> PResult<HistoryPoint> {
        self.expect(Kw::SYSTEM_TIME)?;
        self.history_point()
    }

    /// `name` or `schema.name`, each with an optional `.*`.
    fn delete_name(&mut self) -> PResult<TableName> {
        let first = self.ident()?;
        let mut name = TableName { schema: None, name: first };
        if self.eat(T::Dot) && !self.eat(T::Star) {
            name.schema = Some(std::mem::replace(&mut name.name, self.ident()?));
            if self.eat(T::Dot) {
                self.expect(T::Star)?;
            }
        }
        Ok(name)
    }

    /// Whether USING, a comma or `.*` follows the tables after FROM.
    fn at_using_form(&mut self) -> bool {
        if !self.at_ident() {
            return false;
        }
        let mut kind = self.peek();
        let mut lexer = self.look_further();
        while kind == T::Dot {
            match lexer.next().kind {
                T::Word(_) | T::Quoted => kind = lexer.next().kind,
                T::Star => return true,
                _ => return false,
            }
        }
        matches!(kind, T::Comma | T::Word(Kw::USING))
    }
}
