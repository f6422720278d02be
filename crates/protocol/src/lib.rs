//! MySQL packets as a codec without I/O
