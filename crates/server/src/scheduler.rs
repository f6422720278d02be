//! Choice of the thread that serves a connection, by `thread_handling` and for the extra port.
//!
//! Must not talk to clients.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use selkie_types::stack;

use crate::backend::SessionFactory;
use crate::net::{Accepted, Peer, Transport};
use crate::server::Server;
use crate::session::{Door, PooledSession, connect_timeout, serve};
use crate::status::counter;
use crate::thread_pool::{Limits, ThreadPool};
use crate::variables::ids;

/// Handler of connections to the main port, by `thread_handling`.
pub(crate) fn main_door<B: SessionFactory>(
    server: &Arc<Server>,
    backend: &Arc<B>,
) -> io::Result<Accepted> {
    let handling = server.globals.get(ids().thread_handling);
    match handling.as_str() {
        "one-thread-per-connection" => Ok(thread_for_each(server, backend, Door::Main)),
        "no-threads" => Ok(one_after_another(server, backend)),
        _ => pooled(server, backend),
    }
}

/// Handler of connections to the extra port: each gets its own thread, which a blocked pool does
/// not delay.
pub(crate) fn extra_door<B: SessionFactory>(server: &Arc<Server>, backend: &Arc<B>) -> Accepted {
    thread_for_each(server, backend, Door::Extra)
}

/// The pool's limits by the present values of the variables.
pub(crate) fn limits(server: &Server) -> Limits {
    let number = |id| server.globals.get(id).as_u64();
    Limits {
        size: number(ids().thread_pool_size) as usize,
        oversubscribe: number(ids().thread_pool_oversubscribe) as usize,
        max_threads: number(ids().thread_pool_max_threads) as usize,
        idle_timeout: Duration::from_secs(number(ids().thread_pool_idle_timeout)),
        stall_limit: Duration::from_millis(number(ids().thread_pool_stall_limit)),
        kickup: Duration::from_millis(number(ids().thread_pool_prio_kickup_timer)),
    }
}

fn pooled<B: SessionFactory>(server: &Arc<Server>, backend: &Arc<B>) -> io::Result<Accepted> {
    let shared = Arc::downgrade(server);
    let current = move || {
        let server = shared.upgrade()?;
        // The pool's timer is the only thread that is always there for parked sessions.
        server.binlog().iter().for_each(|binlog| binlog.semi.look());
        Some(limits(&server))
    };
    let pool = ThreadPool::new(limits(server), Box::new(current))?;
    server.set_pool(pool);
    let (server, backend) = (Arc::clone(server), Arc::clone(backend));
    Ok(Arc::new(move |transport, peer| {
        let accepted = PooledSession::accept(&server, &backend, transport, &peer);
        let Some((id, client, socket)) = accepted else { return };
        let (Some(pool), Some(socket)) = (server.pool(), socket.socket()) else { return };
        if let Err(e) = pool.add(id, Box::new(client), socket, connect_timeout(&server)) {
            failed(&server, &e);
        }
    }))
}

fn thread_for_each<B: SessionFactory>(
    server: &Arc<Server>,
    backend: &Arc<B>,
    door: Door,
) -> Accepted {
    let (server, backend) = (Arc::clone(server), Arc::clone(backend));
    Arc::new(move |transport: Box<dyn Transport>, peer: Peer| {
        let (shared, backend) = (Arc::clone(&server), Arc::clone(&backend));
        let thread =
            std::thread::Builder::new().name("connection".to_owned()).stack_size(stack::SIZE);
        match thread.spawn(move || serve(&shared, &*backend, transport, &peer, door)) {
            Ok(_) => server.sessions.ended.bump(counter().threads_created),
            Err(e) => failed(&server, &e),
        }
    })
}

fn one_after_another<B: SessionFactory>(server: &Arc<Server>, backend: &Arc<B>) -> Accepted {
    let (server, backend) = (Arc::clone(server), Arc::clone(backend));
    Arc::new(move |transport, peer| serve(&server, &*backend, transport, &peer, Door::Main))
}

fn failed(server: &Server, error: &io::Error) {
    tracing::error!("Can't create a thread to handle a new connection: {error}");
    server.sessions.ended.bump(counter().connection_errors_internal);
}
