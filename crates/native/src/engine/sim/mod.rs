//! Simulation of the whole engine on the simulated disk: one thread interleaves several sessions, a
//! model keeps the state after every commit, and crashes of every kind follow. `model` is the
//! oracle, `session` and `work` are the load, `grow` builds indexes beside it, `needs` the bytes
//! that a start must not lose, `audit` the checks after a crash, `run` the lives and deaths of one
//! database. Deterministic: a seed replays its history.

mod audit;
mod grow;
mod model;
mod needs;
mod run;
mod session;
mod work;
