//! Counts of accounts, roles and grants for the status variables.
//!
//! Must not format result sets.

use super::acl::Acl;
use super::grants::{GrantTarget, RoutineKind};

impl Acl {
    /// Counts by the status variables' names in lower case.
    pub fn counts(&self) -> [(&'static str, usize); 11] {
        let roles = self.accounts().filter(|a| a.is_role()).count();
        let on = |wanted: &dyn Fn(&GrantTarget) -> bool| {
            self.grants().filter(|(_, target, _)| wanted(target)).count()
        };
        let on_routine = |wanted: RoutineKind| {
            on(&|target| matches!(target, GrantTarget::Routine { kind, .. } if *kind == wanted))
        };
        let columns = self.grants().map(|(.., grant)| grant.columns.len()).sum();
        [
            ("acl_column_grants", columns),
            ("acl_database_grants", on(&|t| matches!(t, GrantTarget::Database(_)))),
            ("acl_function_grants", on_routine(RoutineKind::Function)),
            ("acl_procedure_grants", on_routine(RoutineKind::Procedure)),
            ("acl_package_spec_grants", on_routine(RoutineKind::Package)),
            ("acl_package_body_grants", on_routine(RoutineKind::PackageBody)),
            ("acl_proxy_users", self.proxies().count()),
            ("acl_role_grants", self.members().count()),
            ("acl_roles", roles),
            ("acl_table_grants", on(&|t| matches!(t, GrantTarget::Table { .. }))),
            ("acl_users", self.accounts().count() - roles),
        ]
    }
}
