//! The client's half of the protocol: login, answers of plugins, results of commands.
//!
//! Must not do I/O, and must not trust the server: any bytes give a value or an error.

mod answer;
mod login;
mod plugin;

pub use answer::{Answer, ServerError, column_count, text_row};
pub use login::{AuthStep, Credentials, put_login, put_ssl_request};
pub use plugin::{Channel, PluginError, full_answer, respond};
