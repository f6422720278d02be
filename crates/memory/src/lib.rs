//! The MEMORY engine: the simplest correct engine, and the reference model in tests
