//! System variables: MariaDB 10.11's full list as typed data, their values, and what SET may do.
//!
//! Must not execute statements or reach into sessions: effects of a change are the session's work.

mod assign;
mod def;
mod effects;
mod ids;
mod registry;
mod rules;
mod startup;
mod store;
mod value;

pub use assign::{Assigned, SetValue, assign, parse_option};
pub use def::{Access, Kind, OptionArgument, Scope, VarDef, VarId};
pub use effects::{EFFECTIVE, has_effect};
pub use ids::ids;
pub use registry::{Registry, registry};
pub use startup::{VERSION, VERSION_COMMENT, startup_values};
pub use store::{Globals, SessionVars, VarScope};
pub(crate) use store::{check_assignable, lookup};
pub use value::VarValue;
