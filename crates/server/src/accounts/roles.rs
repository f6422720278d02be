//! The graph of roles: members, direct or through other roles, and the right to grant a role on.
//!
//! Must not know the privileges of a role: they are grants like those of an account.

use std::collections::BTreeSet;

use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult, stack};

use super::account::AccountName;
use super::acl::Acl;

impl Acl {
    /// The roles granted to `name` directly.
    pub fn granted_roles(&self, name: &AccountName) -> impl Iterator<Item = (&str, bool)> {
        let first = (name.clone(), String::new());
        let of_name = self.members.range(first..);
        let name = name.clone();
        of_name
            .take_while(move |((member, _), _)| *member == name)
            .map(|((_, role), admin)| (role.as_str(), *admin))
    }

    /// The roles of an account or role, direct or through other roles. Each is listed once, before
    /// the roles that are granted to it.
    pub fn roles_of(&self, name: &AccountName) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut seen = BTreeSet::new();
        self.visit(name, &mut seen, &mut found);
        found
    }

    fn visit(&self, name: &AccountName, seen: &mut BTreeSet<String>, found: &mut Vec<String>) {
        stack::ensure();
        let granted: Vec<String> = self.granted_roles(name).map(|(r, _)| r.to_owned()).collect();
        for role in granted {
            if seen.insert(role.clone()) {
                found.push(role.clone());
                self.visit(&AccountName::role(&role), seen, found);
            }
        }
    }

    /// A role and all roles granted to it, direct or through others.
    pub fn with_roles(&self, role: &str) -> Vec<AccountName> {
        let name = AccountName::role(role);
        let mut names: Vec<AccountName> =
            self.roles_of(&name).iter().map(|r| AccountName::role(r)).collect();
        names.insert(0, name);
        names
    }

    /// Whether `role` is granted directly to an account that matches `user` from `host`.
    pub fn may_set_role(&self, user: &str, host: &str, ip: &str, role: &str) -> bool {
        let matches = |name: &AccountName| {
            name.user == user && name.host.as_ref().is_some_and(|h| h.matches(host, ip))
        };
        self.members.iter().any(|((member, r), _)| r == role && matches(member))
    }

    /// Whether `name` has `role` WITH ADMIN OPTION, directly or through one of its roles.
    pub fn may_pass_on(&self, name: &AccountName, role: &str) -> bool {
        let of = |member: &AccountName| self.members.get(&(member.clone(), role.to_owned()));
        of(name) == Some(&true)
            || self.roles_of(name).iter().any(|r| of(&AccountName::role(r)) == Some(&true))
    }

    /// Whether a role of this name exists. PUBLIC always exists.
    pub fn has_role(&self, role: &str) -> bool {
        let name = AccountName::role(role);
        name.is_public() || self.accounts.contains_key(&name)
    }

    /// GRANT role TO member. Returns false if that would make a cycle.
    pub fn grant_role(&mut self, role: &str, member: &AccountName, admin: bool) -> bool {
        let circular = member.host.is_none()
            && (member.user == role
                || self.roles_of(&AccountName::role(role)).contains(&member.user));
        if circular {
            return false;
        }
        let entry = self.members.entry((member.clone(), role.to_owned())).or_default();
        *entry |= admin;
        true
    }

    /// REVOKE role FROM member. Returns false if the member does not have it.
    pub fn revoke_role(&mut self, role: &str, member: &AccountName) -> bool {
        self.members.remove(&(member.clone(), role.to_owned())).is_some()
    }

    /// REVOKE ADMIN OPTION FOR role FROM member. Returns false if the member does not have it.
    pub fn revoke_admin_option(&mut self, role: &str, member: &AccountName) -> bool {
        match self.members.get_mut(&(member.clone(), role.to_owned())) {
            Some(admin) => {
                *admin = false;
                true
            }
            None => false,
        }
    }

    /// Fails (1959) if there is no such role.
    pub fn check_role(&self, role: &str) -> SqlResult<()> {
        match self.has_role(role) {
            true => Ok(()),
            false => Err(SqlError::new(&ER_INVALID_ROLE, &[&role])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_transitive() {
        let mut acl = Acl::default();
        let user = AccountName::new("u", "%");
        acl.insert_member(user.clone(), "a".into(), false);
        acl.insert_member(AccountName::role("a"), "b".into(), true);
        acl.insert_member(AccountName::role("b"), "a".into(), false);
        assert_eq!(acl.roles_of(&user), ["a", "b"]);
        assert!(acl.may_pass_on(&user, "b"));
        assert!(!acl.may_pass_on(&user, "a"));
        assert!(acl.may_set_role("u", "h", "", "a"));
        assert!(!acl.may_set_role("u", "h", "", "b"));
    }

    #[test]
    fn no_circles() {
        let mut acl = Acl::default();
        assert!(acl.grant_role("a", &AccountName::role("b"), false));
        assert!(!acl.grant_role("b", &AccountName::role("a"), false));
        assert!(!acl.grant_role("a", &AccountName::role("a"), false));
    }
}
