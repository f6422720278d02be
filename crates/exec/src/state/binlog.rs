//! The binary log as sessions write it: changed rows and statements become events in a session's
//! caches, and the caches become groups that ride with commits.
//!
//! # Invariants
//! - LOG-1 A group rides with the commit of the changes it describes, or it is appended after them
//!   if their engine carries no riders: it is in the log if and only if they are committed.
//! - LOG-2 What is undone is cut: a cache holds the events of changes that stand.
//! - LOG-3 A server without a binary log makes no cache and takes no lock for one.
//! - LOG-4 If a statement is logged as its text, none of its rows is.
//!
//! Must not write files or give numbers: the log itself does.

mod by_text;
mod events;
mod images;
mod noted;
mod query;
mod rider;
mod row_log;
mod session;
mod session_log;

pub(crate) use self::by_text::{ByText, Place};
pub(crate) use self::events::EventsMark;
pub(crate) use self::images::TableImages;
pub(crate) use self::noted::{Noted, commit_with_note};
pub(crate) use self::query::{ABOUT_SCHEMA, ABOUT_TEMPORARY, Definition, Form, WITH_TEMPORARY};
pub use self::rider::{Binlog, GroupHeadline};
pub(crate) use self::row_log::RowLog;
pub(crate) use self::session_log::{LogMark, SessionLog};
