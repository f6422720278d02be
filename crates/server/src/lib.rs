//! Listeners, sessions, authentication, system variables, status
