//! Settings that were made from variables, per thread: the sessions of an application set the same
//! variables, one after the other.
//!
//! Must not keep anything of one session: settings are found by the values of all variables but
//! those in [`is_ignored`], which settings therefore must not read.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use selkie_exec::session::Settings;

use super::{Elsewhere, Values};
use crate::variables::{SessionVars, VarId, VarValue, ids};

/// Settings kept by a thread. A page of an application passes through about five.
const KEPT: usize = 32;

/// Settings, and what else a session takes from its variables.
pub(super) struct Made {
    inherited: Arc<Vec<VarValue>>,
    own: Vec<(VarId, VarValue)>,
    elsewhere: Elsewhere,
    pub(super) settings: Settings,
    pub(super) unique_checks: bool,
    pub(super) foreign_key_checks: bool,
    /// Most bytes of memory that the session's statements may use.
    pub(super) most_memory: i64,
}

thread_local! {
    /// The settings used last are the first.
    static MADE: RefCell<Vec<Rc<Made>>> = const { RefCell::new(Vec::new()) };
}

/// Whether a variable differs between sessions and is no part of the settings.
pub(super) fn is_ignored(id: VarId) -> bool {
    id == ids().pseudo_thread_id
}

/// The settings for the values.
pub(super) fn of(vars: &SessionVars, elsewhere: &Elsewhere) -> Rc<Made> {
    MADE.with_borrow_mut(|kept| {
        let at = kept.iter().position(|made| made.is_of(vars, elsewhere));
        let at = at.unwrap_or_else(|| {
            // They outlive the session.
            let _uncharged = selkie_meter::detached();
            kept.truncate(KEPT - 1);
            kept.push(Rc::new(Made::new(vars, elsewhere)));
            kept.len() - 1
        });
        kept[..=at].rotate_right(1);
        Rc::clone(&kept[0])
    })
}

impl Made {
    fn new(vars: &SessionVars, elsewhere: &Elsewhere) -> Self {
        let ids = ids();
        let values = Values { vars, ids };
        let most_memory = i64::try_from(values.number(ids.max_session_mem_used));
        Self {
            inherited: Arc::clone(vars.inherited()),
            own: vars.own().iter().filter(|(id, _)| !is_ignored(*id)).cloned().collect(),
            elsewhere: elsewhere.clone(),
            settings: values.settings(elsewhere),
            unique_checks: values.flag(ids.unique_checks),
            foreign_key_checks: values.flag(ids.foreign_key_checks),
            most_memory: most_memory.unwrap_or(i64::MAX),
        }
    }

    fn is_of(&self, vars: &SessionVars, elsewhere: &Elsewhere) -> bool {
        let own = vars.own().iter().filter(|(id, _)| !is_ignored(*id));
        Arc::ptr_eq(&self.inherited, vars.inherited())
            && self.elsewhere == *elsewhere
            && own.eq(&self.own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::{Globals, startup_values};

    const ELSEWHERE: Elsewhere = Elsewhere { lower_case_names: false, found_rows: false };

    #[test]
    fn equal_values_share_settings_and_others_do_not() {
        let globals = Globals::new(startup_values());
        let session = |thread: u64| {
            let mut vars = SessionVars::new(&globals);
            vars.set(ids().pseudo_thread_id, VarValue::Uint(thread));
            vars
        };
        let (mut a, b) = (session(1), session(2));
        let first = of(&a, &ELSEWHERE);
        assert!(Rc::ptr_eq(&first, &of(&b, &ELSEWHERE)));
        a.set(ids().autocommit, VarValue::Bool(false));
        assert!(!of(&a, &ELSEWHERE).settings.transactions.autocommit);
        assert!(of(&b, &ELSEWHERE).settings.transactions.autocommit);
        let found_rows = Elsewhere { found_rows: true, ..ELSEWHERE };
        assert!(of(&b, &found_rows).settings.dml.found_rows);
        globals.set(ids().autocommit, VarValue::Bool(false));
        assert!(!of(&session(3), &ELSEWHERE).settings.transactions.autocommit);
        assert!(Rc::ptr_eq(&first, &of(&b, &ELSEWHERE)));
    }

    #[test]
    fn settings_used_lately_are_kept() {
        let globals = Globals::new(startup_values());
        let mut vars = SessionVars::new(&globals);
        let first = of(&vars, &ELSEWHERE);
        for width in 0..2 * KEPT as u64 {
            let mut other = vars.clone();
            other.set(ids().div_precision_increment, VarValue::Uint(width % 31));
            other.set(ids().sql_select_limit, VarValue::Uint(width));
            assert_eq!(of(&other, &ELSEWHERE).settings.planning.sql_select_limit, width);
            assert!(Rc::ptr_eq(&first, &of(&vars, &ELSEWHERE)));
        }
        assert_eq!(MADE.with_borrow(Vec::len), KEPT);
        vars.set(ids().sql_notes, VarValue::Bool(false));
        assert!(!of(&vars, &ELSEWHERE).settings.notes.sql_notes);
    }
}
