//! System variables: MariaDB 10.11's full list as typed data, their values, and what SET may do.
//!
//! Must not execute statements or reach into sessions: effects of a change are the session's work.

mod assign;
mod def;
mod ids;
mod registry;
mod rules;
mod startup;
mod store;
mod value;

pub use assign::{Assigned, Before, SetValue, assign, parse_option, shown};
pub use def::{Access, Kind, Link, OptionArgument, Scope, VarDef, VarId};
pub use ids::{Ids, ids};
pub use registry::{Registry, registry};
pub(crate) use rules::OLD_LOCALE;
pub use rules::Rule;
pub use startup::{VERSION, VERSION_COMMENT, startup_values};
pub(crate) use store::lookup;
pub use store::{Globals, SessionVars, VarScope};
pub use value::VarValue;
