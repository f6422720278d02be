//! Geometries: their binary and text forms, measures and relations.
//!
//! # What it is
//! A geometry as a tree of points, read from bytes or text of clients, and what MariaDB computes of
//! it.
//!
//! # Words
//! *Stored form*: the number of a reference system (4 bytes, little-endian), then the well-known
//! binary form, little-endian. *Ring*: a closed line that bounds a surface.
//!
//! # Not here
//! No I/O, no SQL types, no errors of SQL: a function that has no answer returns `None`.
//! Bytes are never trusted: counts are compared with the bytes that are left before anything is
//! reserved, and the depth of collections is bounded.

#![forbid(unsafe_code)]

mod json;
mod lines;
mod mbr;
mod measure;
mod relate;
mod shape;
mod text;
mod wkb;

pub use json::{Bounds, write_json};
pub use mbr::Mbr;
pub use relate::{Relation, Unknown, distance};
pub use shape::{Point, Shape};
pub use text::{from_text, write_number, write_text};
pub use wkb::{
    MOST_DEPTH, Stored, from_wkb, point_stored, stored, stored_kind, write_stored, write_wkb,
};
