//! Handlers: the choice of one for the conditions of a step, and the warnings list it sees.
//!
//! A step looks for a handler once; errors only pass through the blocks around it.

use selkie_sql::ast::{Block, ConditionHandler, HandlerCondition};
use selkie_types::{Condition, Level, Severity, SqlError, SqlResult};

use super::machine::{Flow, Machine};

/// A block whose handlers are active.
#[derive(Clone, Copy)]
pub(super) struct Active<'p>(pub(super) &'p Block);

/// Rank of a handler for a condition, the lowest is chosen; `None` if it does not fit.
fn fit(condition: &HandlerCondition, raised: &Condition) -> Option<u8> {
    let state = raised.sqlstate();
    let class = &state[..2];
    match condition {
        HandlerCondition::Code(code) => (*code == raised.code).then_some(0),
        HandlerCondition::State(wanted) => (*wanted == state).then_some(1),
        HandlerCondition::Warning => {
            (class == b"01" || raised.level == Level::Warning && class != b"02").then_some(2)
        }
        HandlerCondition::NotFound => (class == b"02").then_some(2),
        HandlerCondition::Exception => {
            let is_exception = !matches!(class, b"00" | b"01" | b"02");
            (is_exception && raised.level == Level::Error).then_some(2)
        }
    }
}

fn best<'p>(block: &'p Block, raised: &Condition) -> Option<&'p ConditionHandler> {
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
        let raised = Condition::from_error(Level::Error, &error);
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
        let found = raised
            .into_iter()
            .rev()
            .filter(|condition| condition.level != Level::Error)
            .find_map(|condition| self.find(&condition).map(|found| (found, condition)));
        match found {
            Some(((at, handler), condition)) => self.handle(at, handler, condition),
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

    /// The handler for a condition, and the place of its block.
    fn find(&self, raised: &Condition) -> Option<(usize, &'p ConditionHandler)> {
        let blocks = self.handlers.iter().enumerate().rev();
        blocks.into_iter().find_map(|(at, Active(block))| Some((at, best(block, raised)?)))
    }

    /// Runs a handler of the block at `at`, seen from which the handlers inside are not there.
    fn handle(
        &mut self,
        at: usize,
        handler: &'p ConditionHandler,
        raised: Condition,
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
}
