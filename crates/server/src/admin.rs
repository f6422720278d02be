//! The server's own statements: SET, accounts, KILL, FLUSH, SHOW of the server's state.
//!
//! Must not run queries. Answers are small and complete; the executor's session sends them.

mod accounts;
mod answer;
mod explained;
mod flush;
mod grants;
mod kill;
mod names;
mod roles;
mod set;
mod show;
mod statement;

pub(crate) use answer::{Answer, Notes, text as answer_text};
pub(crate) use explained::explained;
pub(crate) use grants::{check_may_grant, check_may_grant_columns, routine_changed};
pub(crate) use set::{
    Checked, Target, check_item, check_item_inside_function, linked_to, parsed, set_item,
};
pub(crate) use show::{check_log_events, engine_rows};
pub(crate) use statement::run;
