//! Authentication of a client.
//!
//! Must not reveal whether an account exists: a client that names an unknown account goes through
//! the same exchange.

use std::borrow::Cow;
use std::sync::Arc;

use selkie_protocol::auth::{native, sha2, switch};
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::greet::{Exchange, handshake_error, new_scramble};
use super::requirements::{is_fit, is_secure_enough};
use crate::accounts::{Account, AccountName, Acl, AuthMethod, Identity, Privileges};
use crate::net::{Negotiated, Peer, ReadError};
use crate::server::Server;
use crate::variables::ids;

/// Identity that a client claims.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    /// User name.
    pub(crate) user: String,
    /// Answer to the challenge.
    pub(crate) answer: Vec<u8>,
    /// Plugin that made the answer; `None` is the greeting's.
    pub(crate) plugin: Option<String>,
}

/// Proven identity of a client.
#[derive(Clone, Debug)]
pub(crate) struct Authenticated {
    /// The identity.
    pub(crate) identity: Identity,
    /// The account as it was at login.
    pub(crate) account: Account,
    /// Whether the password has to be changed before anything else.
    pub(crate) expired: bool,
}

/// Runs the exchange that proves `claim`.
pub(crate) fn authenticate(
    server: &Server,
    exchange: &mut Exchange<'_>,
    peer: &Peer,
    mut claim: Claim,
) -> SqlResult<Authenticated> {
    if server.globals.get(ids().skip_grant_tables).as_bool() {
        return Ok(unrestricted(peer, claim.user));
    }
    if !is_secure_enough(server, exchange.wire) {
        return Err(denied(&claim.user, peer, !claim.answer.is_empty()));
    }
    let acl = server.accounts.current();
    let found = acl.find(&claim.user, &peer.host, &peer.ip);
    let account = found.map_or_else(|| Cow::Owned(decoy(&claim.user)), Cow::Borrowed);
    let most = server.globals.get(ids().max_password_errors).as_u64();
    let counts = found.is_some_and(counts_passwords);
    if counts {
        server.usage.check_passwords(&account.name, most)?;
    }
    let mut used_password = !claim.answer.is_empty();
    let mut unusable = None;
    for method in &account.auth {
        unusable = unusable_method(method, &claim.user, peer).or(unusable);
        let proven = try_method(server, exchange, peer, &mut claim, &account.name, method)?;
        used_password |= !claim.answer.is_empty();
        if proven && found.is_some() {
            server.usage.forgive(&account.name);
            let proof = Proof { used_password, tls: exchange.wire.tls() };
            return admit(server, &acl, peer, claim.user, account.into_owned(), proof);
        }
    }
    if counts && used_password {
        server.usage.wrong_password(&account.name);
    }
    // Compat: the error speaks of a password if one was given to a method after the last one that
    // takes none.
    let is_socket = |method: &AuthMethod| matches!(method, AuthMethod::UnixSocket(_));
    let is_last = account.auth.last().is_some_and(is_socket);
    if is_last || !used_password && account.auth.iter().any(is_socket) {
        let args: [&dyn std::fmt::Display; 2] = [&claim.user, &peer.name()];
        return Err(SqlError::new(&ER_ACCESS_DENIED_NO_PASSWORD_ERROR, &args));
    }
    Err(unusable.unwrap_or_else(|| denied(&claim.user, peer, used_password)))
}

/// Whether wrong passwords can block an account.
///
/// Compat: they cannot block accounts that may end others' sessions, or that have several ways to
/// log in.
fn counts_passwords(account: &Account) -> bool {
    let admin = Privileges::SUPER | Privileges::CONNECTION_ADMIN;
    account.auth.len() == 1 && !account.global.has_any(admin)
}

/// A substitute for an account that does not exist, with a random password.
fn decoy(user: &str) -> Account {
    let mut account = Account::new(AccountName::new(user, "%"));
    let nobody_knows = String::from_utf8_lossy(&new_scramble()).into_owned();
    account.auth = vec![AuthMethod::password(nobody_knows.as_bytes())];
    account
}

/// The error if a method allows no login at all.
fn unusable_method(method: &AuthMethod, user: &str, peer: &Peer) -> Option<SqlError> {
    match method {
        AuthMethod::Old(_) => {
            Some(SqlError::new(&ER_SERVER_IS_IN_SECURE_AUTH_MODE, &[&user, &peer.name()]))
        }
        AuthMethod::Unknown { plugin, .. } => {
            Some(SqlError::new(&ER_PLUGIN_IS_NOT_LOADED, &[plugin]))
        }
        _ => None,
    }
}

fn unrestricted(peer: &Peer, user: String) -> Authenticated {
    let name = AccountName::new(&user, "%");
    let identity = Identity {
        user,
        host: peer.name().to_owned(),
        ip: peer.ip.clone(),
        account: name.clone(),
        role: None,
        used_password: false,
        proxy: None,
    };
    Authenticated { identity, account: Account::new(name), expired: false }
}

/// Facts about a client's proof.
#[derive(Clone, Copy)]
struct Proof<'a> {
    used_password: bool,
    /// Parameters of the TLS connection, if it is one.
    tls: Option<&'a Arc<Negotiated>>,
}

/// Error 1045.
fn denied(user: &str, peer: &Peer, used_password: bool) -> SqlError {
    let used = if used_password { "YES" } else { "NO" };
    SqlError::new(&ER_ACCESS_DENIED_ERROR, &[&user, &peer.name(), &used])
}

fn admit(
    server: &Server,
    acl: &Arc<Acl>,
    peer: &Peer,
    user: String,
    account: Account,
    proof: Proof<'_>,
) -> SqlResult<Authenticated> {
    if account.locked {
        return Err(SqlError::new(&ER_ACCOUNT_HAS_BEEN_LOCKED, &[]));
    }
    if !is_fit(server, &account.tls, proof.tls.map(|tls| &**tls)) {
        return Err(denied(&user, peer, proof.used_password));
    }
    let held = |role: &String| {
        acl.has_role(role) && acl.may_set_role(&account.name.user, peer.name(), &peer.ip, role)
    };
    let identity = Identity {
        user,
        host: peer.name().to_owned(),
        ip: peer.ip.clone(),
        account: account.name.clone(),
        role: account.default_role.clone().filter(held),
        used_password: proof.used_password,
        proxy: None,
    };
    let days = server.globals.get(ids().default_password_lifetime).as_u64() as u32;
    let expired = account.is_expired(now(), days);
    Ok(Authenticated { identity, account, expired })
}

fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| d.as_secs() as i64)
}

fn try_method(
    server: &Server,
    exchange: &mut Exchange<'_>,
    peer: &Peer,
    claim: &mut Claim,
    name: &AccountName,
    method: &AuthMethod,
) -> SqlResult<bool> {
    match method {
        AuthMethod::UnixSocket(user) => {
            let wanted = if user.is_empty() { &claim.user } else { user };
            Ok(peer.process_user.and_then(user_name).is_some_and(|n| n == *wanted))
        }
        AuthMethod::Native(hash) => {
            switch_plugin(exchange, claim, native::NAME)?;
            Ok(match native::parse(hash) {
                None => hash.is_empty() && claim.answer.is_empty(),
                Some(stored) => native::check(&claim.answer, &exchange.scramble, &stored),
            })
        }
        AuthMethod::Old(_) | AuthMethod::Unknown { .. } => Ok(false),
        AuthMethod::Sha2(hash) => {
            switch_plugin(exchange, claim, sha2::NAME)?;
            prove_sha2(server, exchange, claim, name, hash)
        }
    }
}

/// Asks the client for an answer made with `plugin`, unless its answer already is.
fn switch_plugin(exchange: &mut Exchange<'_>, claim: &mut Claim, plugin: &str) -> SqlResult<()> {
    if claim.plugin.as_deref().unwrap_or(native::NAME) == plugin {
        return Ok(());
    }
    exchange.scramble = new_scramble();
    let scramble = exchange.scramble;
    exchange.send(|b| switch::put_switch(b, plugin, &scramble)).map_err(|_| handshake_error())?;
    claim.answer = receive(exchange)?;
    // Compat: clients terminate an empty answer to caching_sha2_password with a NUL.
    if claim.answer == [0] {
        claim.answer.clear();
    }
    claim.plugin = Some(plugin.to_owned());
    Ok(())
}

fn receive(exchange: &mut Exchange<'_>) -> SqlResult<Vec<u8>> {
    exchange.receive().map_err(|e| match e {
        ReadError::Timeout { .. } => SqlError::new(&ER_NET_READ_INTERRUPTED, &[]),
        _ => handshake_error(),
    })
}

/// Checks the fast answer with the cache, or else the clear password if the connection is secure.
fn prove_sha2(
    server: &Server,
    exchange: &mut Exchange<'_>,
    claim: &mut Claim,
    name: &AccountName,
    stored: &[u8],
) -> SqlResult<bool> {
    if stored.is_empty() || claim.answer.is_empty() {
        return Ok(stored.is_empty() && claim.answer.is_empty());
    }
    let cached = server.password_cache.read().get(name).cloned();
    if let Some((hash, entry)) = cached
        && hash == stored
        && sha2::check_fast(&claim.answer, &exchange.scramble, &entry)
    {
        send_more(exchange, &[sha2::FAST_AUTH_SUCCESS])?;
        return Ok(true);
    }
    if !exchange.wire.is_secure() {
        // Without TLS the password cannot be received in secret.
        return Ok(false);
    }
    send_more(exchange, &[sha2::PERFORM_FULL_AUTH])?;
    let packet = receive(exchange)?;
    let password = switch::clear_password(&packet);
    let right = sha2::check_full(password, stored);
    if right {
        let entry = (stored.to_vec(), sha2::cache_entry(password));
        server.password_cache.write().insert(name.clone(), entry);
    }
    Ok(right)
}

fn send_more(exchange: &mut Exchange<'_>, data: &[u8]) -> SqlResult<()> {
    exchange.send(|b| switch::put_more_data(b, data)).map_err(|_| handshake_error())
}

/// The name of a user of this machine, by its number.
fn user_name(uid: u32) -> Option<String> {
    let passwd = std::fs::read_to_string("/etc/passwd").ok()?;
    let mut lines = passwd.lines().map(|l| l.split(':').collect::<Vec<_>>());
    lines.find(|f| f.get(2).and_then(|id| id.parse().ok()) == Some(uid)).map(|f| f[0].to_owned())
}
