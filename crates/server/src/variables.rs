//! System variables: MariaDB 10.11's full list as typed data, their values, and the rules of SET.
//!
//! Must not execute statements or use sessions: the session carries out the effects of a change.

mod assign;
mod def;
mod ids;
pub(crate) mod moment;
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
