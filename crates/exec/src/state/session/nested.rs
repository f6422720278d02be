//! A session takes over the changes that functions and triggers made in a session of their own.

use selkie_types::stack;

use super::Session;

impl Session {
    /// Takes over what the functions and triggers of a statement changed.
    pub(crate) fn absorb_nested(&mut self) {
        stack::ensure();
        let Some(mut sub) = self.programs.sub.take() else { return };
        sub.absorb_nested();
        self.transaction.absorb(sub.transaction);
        if sub.temporary.version != self.temporary.version {
            self.temporary = sub.temporary;
        }
        if sub.settings.version != self.settings.version {
            self.settings = sub.settings;
        }
    }
}
