//! Handlers: the choice of one for the conditions of a step, and the warnings list it sees.
//!
//! A step looks for a handler once; errors only pass through the blocks around it.

use selkie_sql::ast::{Block, ConditionHandler, HandlerCondition, Local};
use selkie_types::error::catalogue::{
    ER_DUP_ENTRY, ER_SIGNAL_BAD_CONDITION_TYPE, ER_SP_CURSOR_NOT_OPEN, ER_SP_FETCH_NO_DATA,
    ER_TOO_MANY_ROWS,
};
use selkie_types::{CollationId, Condition, Level, Severity, SqlError, SqlResult, SqlType, Value};

/// Longest text of SQLERRM, in characters.
const MESSAGE_LENGTH: u32 = 512;

use super::machine::{Flow, Machine};

/// A block whose handlers are active.
#[derive(Clone, Copy)]
pub(super) struct Active<'p>(pub(super) &'p Block);

/// A condition whose handler runs.
#[derive(Clone, Debug)]
pub(super) struct Handled {
    pub(super) condition: Condition,
    /// The declared exception that it is.
    pub(super) exception: Option<usize>,
}

/// Rank of a handler for a condition, the lowest is chosen; `None` if it does not fit.
fn fit(condition: &HandlerCondition, handled: &Handled) -> Option<u8> {
    let raised = &handled.condition;
    let state = raised.sqlstate();
    let class = &state[..2];
    match condition {
        HandlerCondition::Declared(number) => (handled.exception == Some(*number)).then_some(0),
        HandlerCondition::Others => Some(2),
        HandlerCondition::Code(code) => (*code == raised.code).then_some(0),
        HandlerCondition::State(wanted) => (*wanted == state).then_some(1),
        // Compat: SELECT .. INTO without a row raises a warning of class 02, which is both.
        HandlerCondition::Warning => {
            (class == b"01" || raised.level == Level::Warning).then_some(2)
        }
        HandlerCondition::NotFound => (class == b"02").then_some(2),
        HandlerCondition::Exception => {
            let is_exception = !matches!(class, b"00" | b"01" | b"02");
            (is_exception && raised.level == Level::Error).then_some(2)
        }
    }
}

fn best<'p>(block: &'p Block, raised: &Handled) -> Option<&'p ConditionHandler> {
    let fitting = |handler: &'p ConditionHandler| {
        let fits = handler.conditions.iter().filter_map(|c| fit(c, raised)).min()?;
        Some((fits, handler))
    };
    block.handlers.iter().filter_map(fitting).min_by_key(|(fits, _)| *fits).map(|(_, h)| h)
}

impl<'p> Machine<'p> {
    /// Ends a step that raised conditions since `mark`: a handler runs, or an error goes
    /// on.
    pub(super) fn settle(&mut self, result: SqlResult<Flow>, mark: u64) -> SqlResult<Flow> {
        match result {
            Err(error) => self.catch(error, mark),
            Ok(Flow::Next) if self.session.diagnostics.mark() > mark => self.catch_warnings(mark),
            Ok(flow) => Ok(flow),
        }
    }

    fn catch(&mut self, error: SqlError, mark: u64) -> SqlResult<Flow> {
        if !self.session.diagnostics.has_error_since(mark, &error) {
            self.session
                .diagnostics
                .push_error(&error, self.session.frame.settings.notes.max_error_count);
        }
        if !self.can_be_caught(&error) {
            return Err(error);
        }
        let condition = Condition::from_error(Level::Error, &error);
        let raised = Handled { condition, exception: self.raised.take() };
        match self.find(&raised) {
            Some((at, handler)) => {
                self.sink.end_statement()?;
                self.handle(at, handler, raised)
            }
            None => Err(error),
        }
    }

    fn catch_warnings(&mut self, mark: u64) -> SqlResult<Flow> {
        if self.handlers.is_empty() {
            return Ok(Flow::Next);
        }
        let raised = self.session.diagnostics.since(mark);
        let found =
            raised.into_iter().rev().filter(|condition| condition.level != Level::Error).find_map(
                |condition| {
                    let raised = Handled { condition, exception: None };
                    self.find(&raised).map(|found| (found, raised))
                },
            );
        match found {
            Some(((at, handler), raised)) => self.handle(at, handler, raised),
            None => Ok(Flow::Next),
        }
    }

    /// A killed statement stays killed; an error that took the transaction ends a function with it.
    fn can_be_caught(&self, error: &SqlError) -> bool {
        use selkie_expr::Session as _;
        if self.session.check_interrupted().is_err() {
            return false;
        }
        !self.session.transaction.is_nested() || error.severity() == Severity::Statement
    }

    /// A statement of the program has run out of the time of the statement around. If there is a
    /// handler of that, the rest has no limit.
    ///
    /// Compat: the end of the time is told once. A function or trigger ends with it, and so does a
    /// program in which it falls between two statements.
    pub(super) fn end_time(&mut self, error: &SqlError) {
        let condition = Condition::from_error(Level::Error, error);
        let is_handled = self.find(&Handled { condition, exception: None }).is_some();
        if is_handled && !self.session.transaction.is_nested() {
            self.session.stop_clock();
        }
    }

    /// The handler for a condition, and the place of its block.
    fn find(&self, raised: &Handled) -> Option<(usize, &'p ConditionHandler)> {
        let blocks = self.handlers.iter().enumerate().rev();
        blocks.into_iter().find_map(|(at, Active(block))| Some((at, best(block, raised)?)))
    }

    /// Runs a handler of the block at `at`, seen from which the handlers inside are not there.
    fn handle(
        &mut self,
        at: usize,
        handler: &'p ConditionHandler,
        raised: Handled,
    ) -> SqlResult<Flow> {
        let Active(block) = self.handlers[at];
        let hidden = self.handlers.split_off(at);
        self.handled.push(raised);
        let mark = self.session.diagnostics.mark();
        let result = self.steps(&handler.steps);
        self.handled.pop();
        self.handlers.truncate(at);
        self.handlers.extend(hidden);
        let flow = result?;
        self.session.diagnostics.forget_until(mark);
        match flow {
            Flow::Next if handler.exit => Ok(Flow::Leave(block.label)),
            flow => Ok(flow),
        }
    }

    /// RAISE of an exception.
    pub(super) fn raise(&mut self, condition: HandlerCondition) -> SqlResult<()> {
        match condition {
            HandlerCondition::Code(code) if code == ER_SP_FETCH_NO_DATA.code => {
                let max = self.session.frame.settings.notes.max_error_count;
                let condition = Condition::warning(&ER_SP_FETCH_NO_DATA, &[]);
                self.session.diagnostics.push(condition, max);
                Ok(())
            }
            HandlerCondition::Code(code) if code == ER_TOO_MANY_ROWS.code => {
                Err(SqlError::new(&ER_TOO_MANY_ROWS, &[]))
            }
            HandlerCondition::Code(code) if code == ER_SP_CURSOR_NOT_OPEN.code => {
                Err(SqlError::new(&ER_SP_CURSOR_NOT_OPEN, &[]))
            }
            // Compat: the text is the pattern of the message.
            HandlerCondition::Code(code) if code == ER_DUP_ENTRY.code => {
                let text = "Duplicate entry '%-.192T' for key %d".to_owned();
                Err(SqlError::with_message(&ER_DUP_ENTRY, text))
            }
            HandlerCondition::State(state) => super::signal::raised_by(self.session, state),
            HandlerCondition::Declared(number) => {
                self.raised = Some(number);
                super::signal::raised_by(self.session, *b"45000")
            }
            _ => Err(SqlError::new(&ER_SIGNAL_BAD_CONDITION_TYPE, &[])),
        }
    }

    /// SQLCODE or SQLERRM: of the condition that is handled, else of the first there is.
    pub(super) fn last_condition(&self, local: &Local) -> (Value, SqlType) {
        let handled = self.handled.last().map(|handled| handled.condition.clone());
        let found = handled.or_else(|| self.session.diagnostics.present().into_iter().next());
        match local {
            Local::SqlCode => {
                let code = found.map_or(0, |condition| i64::from(condition.code));
                (Value::Int(code), SqlType::int())
            }
            _ => {
                let text = match found {
                    Some(condition) => condition.message,
                    None => "normal, successful completion".to_owned(),
                };
                let ty = SqlType::varchar(MESSAGE_LENGTH, CollationId::UTF8MB3_GENERAL_CI);
                (Value::bytes(text), ty)
            }
        }
    }
}
