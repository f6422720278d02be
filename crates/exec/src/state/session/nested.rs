//! Session of the functions and triggers of a statement. It uses the transaction but must not end
//! it.

use std::sync::Arc;

use selkie_types::stack;

use super::Session;

impl Session {
    /// A session for the functions and triggers of the running statement.
    pub(crate) fn nested(&self) -> Self {
        let transaction = self.transaction.for_sub_statement();
        let core = Arc::clone(&self.core);
        let mut nested = Self::of(core, self.frame.clone(), self.values.clone(), transaction);
        nested.programs.active = self.programs.active.clone();
        nested.lock_list = self.lock_list.clone();
        if self.inside.is_none() && self.locked_inside.is_none() {
            // If the calling statement is inside the gate, the nested session keeps a private gate
            // and does not enter again.
            nested.gate = Arc::clone(&self.gate);
            nested.locks = self.locks.clone();
        }
        nested
    }

    /// Takes over the changes of the functions and triggers of a statement.
    pub(crate) fn absorb_nested(&mut self) {
        stack::ensure();
        let Some(mut sub) = self.programs.sub.take() else { return };
        sub.absorb_nested();
        self.transaction.absorb(sub.transaction);
        if sub.frame.temporary.version != self.frame.temporary.version {
            self.frame.temporary = sub.frame.temporary;
        }
        if sub.frame.settings.version != self.frame.settings.version {
            self.frame.settings = sub.frame.settings;
        }
    }
}
