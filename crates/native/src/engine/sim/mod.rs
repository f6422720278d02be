//! The whole engine on the simulated disk: several sessions interleaved by one thread, a model of
//! what every commit left, and crashes of every kind. `model` is the oracle, `session` the work,
//! `needs` what a start must not lose, `audit` what is checked after a crash, `run` the lives and
//! deaths of one database. Deterministic: a seed replays its history.

mod audit;
mod model;
mod needs;
mod run;
mod session;
mod work;
