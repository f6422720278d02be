//! DECLARE: variables, conditions, cursors, handlers.
//! Compat: they must come in this order (conditions count as variables).

use hashbrown::HashSet;
use selkie_meter::tick;
use selkie_types::SqlError;
use selkie_types::charset::in_one_case;
use selkie_types::error::catalogue::{
    ER_DUP_FIELDNAME, ER_SP_BAD_CURSOR_SELECT, ER_SP_BAD_SQLSTATE, ER_SP_COND_MISMATCH,
    ER_SP_CURSOR_AFTER_HANDLER, ER_SP_DUP_COND, ER_SP_DUP_CURS, ER_SP_DUP_HANDLER, ER_SP_DUP_VAR,
    ER_SP_UNDECLARED_VAR, ER_SP_VARCOND_AFTER_CURSHNDLR, ER_WRONG_VALUE,
};

use super::{PResult, Parser};
use crate::ast::{
    ConditionHandler, Cursor, DataType, HandlerCondition, Ident, Operation, Statement, Step,
    VariableType, sqlstate_of,
};
use crate::lexer::{Kw, T};

/// Progress of the declarations of a block, which must come in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    #[default]
    Variables,
    Cursors,
    Handlers,
}

impl Parser<'_> {
    /// One DECLARE of a block. A handler goes to `handlers`; only variables give a step.
    pub(super) fn declare(
        &mut self,
        stage: &mut Stage,
        handlers: &mut Vec<ConditionHandler>,
    ) -> PResult<Option<Step>> {
        self.next();
        if let Some(word) = self.eat_any(&[Kw::CONTINUE, Kw::EXIT]) {
            *stage = Stage::Handlers;
            let handler = self.handler_declaration(word == Kw::EXIT)?;
            let mut known = handlers.iter().flat_map(|h| &h.conditions);
            tick(16 * handlers.len());
            if known.any(|c| handler.conditions.contains(c)) {
                return self.fail(&ER_SP_DUP_HANDLER, &[]);
            }
            handlers.push(handler);
            return Ok(None);
        }
        let next = self.peek();
        if next == T::Word(Kw::CURSOR) {
            if *stage > Stage::Cursors {
                return self.fail(&ER_SP_CURSOR_AFTER_HANDLER, &[]);
            }
            *stage = Stage::Cursors;
            self.cursor_declaration()?;
            return Ok(None);
        }
        let step = match next == T::Word(Kw::CONDITION) {
            true => {
                self.condition_declaration()?;
                None
            }
            false => Some(self.variable_declaration()?),
        };
        match *stage > Stage::Variables {
            true => self.fail(&ER_SP_VARCOND_AFTER_CURSHNDLR, &[]),
            false => Ok(step),
        }
    }

    pub(in crate::parser) fn variable_declaration(&mut self) -> PResult<Step> {
        let (mut names, mut known) = (Vec::new(), HashSet::new());
        loop {
            let name = self.new_ident()?;
            let again = !known.insert(in_one_case(&name.value));
            if again || self.scope().has_own_variable(&name.value) {
                return self.fail(&ER_SP_DUP_VAR, &[&name]);
            }
            names.push(name);
            if !self.eat(T::Comma) {
                break;
            }
        }
        let ty = self.declared_type()?;
        let default = self.eat_any(&[Kw::DEFAULT]).is_some() || self.eat(T::Assign);
        let default = default.then(|| self.term()).transpose()?;
        let scope = self.scope();
        let declared = names.into_iter().map(|name| scope.declare(name, ty.clone())).collect();
        Ok(Step::Declare { variables: declared, default })
    }

    /// The type of a declared variable, which may be that of another variable.
    fn declared_type(&mut self) -> PResult<VariableType> {
        if self.at2(Kw::TYPE, Kw::OF) {
            self.next();
            self.next();
            return self.type_of();
        }
        self.variable_type()
    }

    /// `TYPE OF` a column or a variable. A name with a dot is always a column's.
    fn type_of(&mut self) -> PResult<VariableType> {
        let column = self.column_ref()?;
        if column.table.is_some() {
            return Ok(VariableType::TypeOf(column));
        }
        match self.scope().known(&column.name.value) {
            Some((_, variable)) => Ok(variable.ty.clone()),
            None => self.fail(&ER_SP_UNDECLARED_VAR, &[&column.name]),
        }
    }

    /// The type of a parameter, or of a variable unless it is that of another variable.
    pub(in crate::parser) fn variable_type(&mut self) -> PResult<VariableType> {
        if self.at_anchor() {
            return self.anchored_type();
        }
        if self.at2(Kw::TYPE, Kw::OF) {
            self.next();
            self.next();
            let column = self.column_ref()?;
            return match column.table {
                Some(_) => Ok(VariableType::TypeOf(column)),
                None => Err(self.error()),
            };
        }
        if self.at(Kw::ROW) {
            self.next();
            if self.eat2(Kw::TYPE, Kw::OF) {
                return self.row_type();
            }
            return self.row_fields().map(VariableType::Row);
        }
        self.collated_type().map(VariableType::Scalar)
    }

    /// `(name type, ...)` behind ROW.
    fn row_fields(&mut self) -> PResult<Vec<(Ident, DataType)>> {
        let mut fields: Vec<(Ident, DataType)> = Vec::new();
        self.paren_list(|p| {
            let name = p.ident()?;
            tick(16 * fields.len());
            if fields.iter().any(|(known, _)| known.is(&name.value)) {
                return p.fail(&ER_DUP_FIELDNAME, &[&name]);
            }
            let ty = p.collated_type()?;
            fields.push((name, ty));
            Ok(())
        })?;
        Ok(fields)
    }

    /// `ROW TYPE OF` a table or a cursor.
    fn row_type(&mut self) -> PResult<VariableType> {
        let name = self.table_name()?;
        let cursor = match (&name.schema, &self.program) {
            (None, Some(scope)) => scope.cursor(&name.name.value),
            _ => None,
        };
        Ok(cursor.map_or(VariableType::RowOf(name), VariableType::RowOfCursor))
    }

    pub(in crate::parser) fn collated_type(&mut self) -> PResult<DataType> {
        if self.at(Kw::ROW) {
            return Err(self.error());
        }
        let mut ty = self.data_type()?;
        if self.eat(Kw::COLLATE) {
            let name = self.collation_name()?;
            ty.collations.push(name);
        }
        Ok(ty)
    }

    pub(in crate::parser) fn condition_declaration(&mut self) -> PResult<()> {
        let name = self.new_ident()?;
        self.expect_all(&[Kw::CONDITION, Kw::FOR])?;
        let condition = match self.tok.kind {
            T::Word(Kw::SQLSTATE) => self.sqlstate().map(HandlerCondition::State)?,
            _ => self.error_number()?,
        };
        if self.scope().has_own_condition(&name.value) {
            return self.fail(&ER_SP_DUP_COND, &[&name]);
        }
        self.scope().declare_condition(name, condition);
        Ok(())
    }

    fn error_number(&mut self) -> PResult<HandlerCondition> {
        match self.u64()? {
            0 => self.fail(&ER_WRONG_VALUE, &[&"CONDITION", &0]),
            code => Ok(HandlerCondition::Code(u16::try_from(code).unwrap_or(u16::MAX))),
        }
    }

    /// `SQLSTATE [VALUE] 'xxxxx'`.
    pub(in crate::parser) fn sqlstate(&mut self) -> PResult<[u8; 5]> {
        self.expect(Kw::SQLSTATE)?;
        self.eat(Kw::VALUE);
        if !self.at(T::Str) {
            return Err(self.error());
        }
        let text = self.string()?;
        match sqlstate_of(&text) {
            Some(state) => Ok(state),
            None => {
                let shown = String::from_utf8_lossy(&text.bytes).into_owned();
                self.fail(&ER_SP_BAD_SQLSTATE, &[&shown])
            }
        }
    }

    /// The condition of the next name, which must be declared.
    pub(in crate::parser) fn named_condition(&mut self) -> PResult<HandlerCondition> {
        let name = self.ident()?;
        let found = self.program.as_ref().and_then(|scope| scope.condition(&name.value));
        let found = found.or_else(|| self.predefined_exception(&name.value));
        match found {
            Some(condition) => Ok(condition),
            None => self.fail(&ER_SP_COND_MISMATCH, &[&name]),
        }
    }

    fn cursor_declaration(&mut self) -> PResult<()> {
        let name = self.new_ident()?;
        self.expect(Kw::CURSOR)?;
        if self.scope().has_own_cursor(&name.value) {
            return self.fail(&ER_SP_DUP_CURS, &[&name]);
        }
        let outer = self.scope().enter();
        let mut parameters = Vec::new();
        if self.at(T::LParen) {
            self.paren_list(|p| {
                if let Some(Kw::OUT | Kw::INOUT) = p.eat_any(&[Kw::IN, Kw::OUT, Kw::INOUT]) {
                    return Err(SqlError::not_supported("OUT/INOUT cursor parameter"));
                }
                let name = p.new_ident()?;
                if p.scope().has_own_variable(&name.value) {
                    return p.fail(&ER_SP_DUP_VAR, &[&name]);
                }
                let ty = p.variable_type()?;
                parameters.push(p.scope().declare(name, ty));
                Ok(())
            })?;
        }
        self.expect(Kw::FOR)?;
        let query = self.cursor_query()?;
        self.scope().leave(outer);
        self.scope().declare_cursor(Cursor { name, parameters, query });
        Ok(())
    }

    /// The query of a cursor.
    pub(in crate::parser) fn cursor_query(&mut self) -> PResult<Operation> {
        let start = self.tok;
        if !self.at(T::LParen) && !self.at_any(&[Kw::SELECT, Kw::WITH, Kw::VALUES]) {
            return Err(self.error());
        }
        let (statement, locals) = self.with_locals(Self::statement)?;
        if let Statement::Query(query) = &statement
            && query.into.is_some()
        {
            return self.fail(&ER_SP_BAD_CURSOR_SELECT, &[]);
        }
        Ok(Operation { statement, locals, span: self.span_from(start.start) })
    }

    pub(in crate::parser) fn handler_declaration(
        &mut self,
        exit: bool,
    ) -> PResult<ConditionHandler> {
        self.expect_all(&[Kw::HANDLER, Kw::FOR])?;
        let mut conditions = Vec::new();
        loop {
            let condition = self.handler_condition()?;
            tick(16 * conditions.len());
            if conditions.contains(&condition) {
                return self.fail(&ER_SP_DUP_HANDLER, &[]);
            }
            conditions.push(condition);
            if !self.eat(T::Comma) {
                break;
            }
        }
        // A handler must not jump to labels outside itself.
        let labels = std::mem::take(&mut self.scope().labels);
        let outer = self.scope().enter();
        let step = self.nested_step();
        self.scope().leave(outer);
        self.scope().labels = labels;
        Ok(ConditionHandler { exit, conditions, steps: vec![step?] })
    }

    pub(in crate::parser) fn handler_condition(&mut self) -> PResult<HandlerCondition> {
        Ok(match self.tok.kind {
            T::Word(Kw::SQLSTATE) => HandlerCondition::State(self.sqlstate()?),
            T::Word(Kw::SQLWARNING) => {
                self.next();
                HandlerCondition::Warning
            }
            T::Word(Kw::SQLEXCEPTION) => {
                self.next();
                HandlerCondition::Exception
            }
            T::Word(Kw::NOT) => {
                self.next();
                self.expect(Kw::FOUND)?;
                HandlerCondition::NotFound
            }
            T::Int => self.error_number()?,
            _ => self.named_condition()?,
        })
    }
}
