//! Names in scope at a place of a program: variables, conditions, cursors, labels.
//! Variables and cursors keep their number after their block, since the steps refer to it.

use selkie_types::error::catalogue::{
    ER_ROW_VARIABLE_DOES_NOT_HAVE_FIELD, ER_TRG_NO_SUCH_ROW_IN_TRG,
};
use selkie_types::{SqlError, SqlResult};

use super::names::Names;
use crate::ast::{
    Cursor, HandlerCondition, Ident, Local, TriggerEvent, TriggerTiming, Variable, VariableType,
};
use crate::parser::oracle::Gotos;

/// Kind of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::parser) enum Kind {
    /// A compound statement by itself.
    #[default]
    Block,
    /// A procedure.
    Procedure,
    /// A function.
    Function,
    /// A trigger.
    Trigger(TriggerTiming, TriggerEvent),
    /// The declarations of a package.
    Package,
}

/// Use of the rows of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::parser) enum GroupRows {
    /// The program is no aggregate function.
    #[default]
    Absent,
    /// An aggregate function that has not fetched a row so far.
    Waiting,
    /// An aggregate function with `FETCH GROUP NEXT ROW`.
    Fetched,
}

/// Meaning of a name in an expression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::parser) enum Meaning {
    /// A variable or a column.
    #[default]
    Any,
    /// A variable; there are no columns.
    Variable,
}

/// A label in scope.
pub(in crate::parser) struct Label {
    pub(in crate::parser) name: Ident,
    pub(in crate::parser) number: usize,
    /// ITERATE may name it.
    pub(in crate::parser) is_loop: bool,
}

/// Numbers of names in scope when a block began.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::parser) struct Mark {
    variables: usize,
    conditions: usize,
    pub(super) cursors: usize,
}

/// Names in scope, innermost last, and facts about the program so far.
#[derive(Default)]
pub(in crate::parser) struct Scope {
    pub(in crate::parser) kind: Kind,
    /// Variables of the package around.
    pub(in crate::parser) shared: Vec<Variable>,
    /// All variables, whether in scope or not.
    pub(in crate::parser) variables: Vec<Variable>,
    /// All cursors.
    pub(in crate::parser) cursors: Vec<Cursor>,
    pub(super) operands: usize,
    /// Placeholders of the current expression or statement.
    pub(super) locals: Vec<Local>,
    /// Meaning of the names in the current expression.
    pub(super) meaning: Meaning,
    visible: Names<usize>,
    conditions: Names<HandlerCondition>,
    visible_cursors: Names<usize>,
    pub(in crate::parser) labels: Vec<Label>,
    pub(super) next_label: usize,
    /// Labels that GOTO leads to.
    pub(in crate::parser) gotos: Gotos,
    block: Mark,
    /// Use of the rows of a group.
    pub(in crate::parser) group_rows: GroupRows,
    /// The program has a RETURN.
    pub(in crate::parser) returns: bool,
    /// The program has PREPARE, EXECUTE or DEALLOCATE.
    pub(super) dynamic: bool,
    /// The program has a statement that sends rows.
    pub(super) results: bool,
    /// The program has a statement that commits.
    pub(super) commits: bool,
    /// The program has `SET autocommit`.
    pub(super) autocommit: bool,
    /// `RESET` or `FLUSH`, if the program has one.
    pub(super) administers: Option<&'static str>,
}

impl Scope {
    pub(in crate::parser) fn new(kind: Kind) -> Self {
        Self { kind, ..Self::default() }
    }

    /// The scope of a routine in a package.
    pub(in crate::parser) fn within(package: Option<&Self>) -> Self {
        let shared = package.map(|scope| scope.variables.clone()).unwrap_or_default();
        Self { shared, ..Self::default() }
    }

    /// This scope, for a program of another kind.
    pub(in crate::parser) fn of_kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// The variable of this name, which may be one of the package, with its declaration.
    pub(in crate::parser) fn known(&self, name: &str) -> Option<(Local, &Variable)> {
        if let Some(slot) = self.variable(name) {
            let local = match self.kind {
                Kind::Package => Local::Shared(slot),
                _ => Local::Variable(slot),
            };
            return Some((local, &self.variables[slot]));
        }
        let slot = self.shared.iter().rposition(|variable| variable.name.is(name))?;
        Some((Local::Shared(slot), &self.shared[slot]))
    }

    /// The declaration of a variable of the program or of the package.
    pub(super) fn declared(&self, local: &Local, slot: usize) -> &Variable {
        match local {
            Local::Shared(_) if self.kind != Kind::Package => &self.shared[slot],
            _ => &self.variables[slot],
        }
    }

    /// Adds a variable and brings it into scope.
    pub(in crate::parser) fn declare(&mut self, name: Ident, ty: VariableType) -> usize {
        self.visible.declare(&name.value, self.variables.len());
        self.variables.push(Variable { name, ty });
        self.variables.len() - 1
    }

    pub(in crate::parser) fn declare_cursor(&mut self, cursor: Cursor) -> usize {
        self.visible_cursors.declare(&cursor.name.value, self.cursors.len());
        self.cursors.push(cursor);
        self.cursors.len() - 1
    }

    pub(in crate::parser) fn declare_condition(
        &mut self,
        name: Ident,
        condition: HandlerCondition,
    ) {
        self.conditions.declare(&name.value, condition);
    }

    /// Begins a block; returns the state to pass to [`Scope::leave`].
    pub(in crate::parser) fn enter(&mut self) -> Mark {
        let now = Mark {
            variables: self.visible.len(),
            conditions: self.conditions.len(),
            cursors: self.visible_cursors.len(),
        };
        std::mem::replace(&mut self.block, now)
    }

    /// Ends a block; its names go out of scope.
    pub(in crate::parser) fn leave(&mut self, outer: Mark) {
        self.visible.truncate(self.block.variables);
        self.conditions.truncate(self.block.conditions);
        self.visible_cursors.truncate(self.block.cursors);
        self.block = outer;
    }

    /// The innermost variable of this name.
    pub(in crate::parser) fn variable(&self, name: &str) -> Option<usize> {
        self.visible.find(name)
    }

    /// The field `name` of a variable, which is a row if this is anything. Fails if its fields are
    /// written down and none has this name.
    pub(super) fn field(&self, of: &str, name: &Ident) -> SqlResult<Option<Local>> {
        let Some((local, variable)) = self.known(of) else { return Ok(None) };
        let is_missing = match &variable.ty {
            VariableType::Scalar(_) | VariableType::TypeOf(_) => return Ok(None),
            VariableType::Row(fields) => !fields.iter().any(|(known, _)| known.is(&name.value)),
            _ => false,
        };
        if is_missing {
            return Err(SqlError::new(&ER_ROW_VARIABLE_DOES_NOT_HAVE_FIELD, &[&of, name]));
        }
        Ok(match local {
            Local::Variable(slot) => Some(Local::Field(slot, name.clone())),
            Local::Shared(slot) => Some(Local::SharedField(slot, name.clone())),
            _ => None,
        })
    }

    pub(in crate::parser) fn cursor(&self, name: &str) -> Option<usize> {
        self.visible_cursors.find(name)
    }

    pub(super) fn condition(&self, name: &str) -> Option<HandlerCondition> {
        self.conditions.find(name)
    }

    /// Whether the innermost block itself declares this variable.
    pub(in crate::parser) fn has_own_variable(&self, name: &str) -> bool {
        self.visible.has_since(self.block.variables, name)
    }

    pub(in crate::parser) fn has_own_condition(&self, name: &str) -> bool {
        self.conditions.has_since(self.block.conditions, name)
    }

    pub(in crate::parser) fn has_own_cursor(&self, name: &str) -> bool {
        self.visible_cursors.has_since(self.block.cursors, name)
    }

    /// A new number for a block or a loop.
    pub(in crate::parser) fn new_label(&mut self) -> usize {
        self.next_label += 1;
        self.next_label - 1
    }

    /// `NEW.column` and `OLD.column` of a trigger.
    pub(super) fn trigger_row(&self, row: &str, column: &Ident) -> SqlResult<Option<Local>> {
        let Kind::Trigger(_, event) = self.kind else { return Ok(None) };
        let (is_new, is_old) = (row.eq_ignore_ascii_case("new"), row.eq_ignore_ascii_case("old"));
        let missing = |row: &str, event: &str| {
            Err(SqlError::new(&ER_TRG_NO_SUCH_ROW_IN_TRG, &[&row, &event]))
        };
        match event {
            TriggerEvent::Insert if is_old => missing("OLD", "on INSERT"),
            TriggerEvent::Delete if is_new => missing("NEW", "on DELETE"),
            _ if is_new => Ok(Some(Local::New(column.clone()))),
            _ if is_old => Ok(Some(Local::Old(column.clone()))),
            _ => Ok(None),
        }
    }
}
