//! The built-in functions, one family per file: bindings and kernels side by side.
//! Looked up by name in one map; operators have no such name and are bound by `build`.

pub(crate) mod arith;
mod clock;
mod compress;
mod crypt;
pub use crypt::old_password_hash;
pub use encode::{decode_base64, password_hash};
pub(crate) mod date_format;
mod date_make;
mod date_part;
pub(crate) mod dynamic;
mod encode;
pub(crate) mod extract;
pub(crate) mod extreme;
mod file;
mod geometry;
mod info;
pub(crate) mod interval;
pub(crate) mod json;
pub(crate) mod logic;
mod natural;
mod net;
mod numeric;
pub(crate) mod pattern;
pub(crate) mod regexp;
pub(crate) mod registry;
mod round;
mod round_time;
mod sformat;
pub(crate) mod string_info;
pub(crate) mod string_make;
pub(crate) mod string_part;
mod to_char;
mod uuid;
mod waits;
pub(crate) mod xml;

use std::sync::OnceLock;

use hashbrown::HashMap;
use selkie_types::geometry::printed_name;

use crate::function::Function;

/// All families of functions that are called by name.
static FAMILIES: &[&[Function]] = &[
    clock::FUNCTIONS,
    compress::FUNCTIONS,
    crypt::FUNCTIONS,
    date_format::FUNCTIONS,
    date_make::FUNCTIONS,
    date_part::FUNCTIONS,
    dynamic::FUNCTIONS,
    encode::FUNCTIONS,
    extreme::FUNCTIONS,
    file::FUNCTIONS,
    info::FUNCTIONS,
    interval::FUNCTIONS,
    json::FUNCTIONS,
    logic::FUNCTIONS,
    natural::FUNCTIONS,
    net::FUNCTIONS,
    numeric::FUNCTIONS,
    regexp::FUNCTIONS,
    round::FUNCTIONS,
    sformat::FUNCTIONS,
    string_info::FUNCTIONS,
    string_make::FUNCTIONS,
    string_part::FUNCTIONS,
    to_char::FUNCTIONS,
    uuid::FUNCTIONS,
    waits::FUNCTIONS,
    xml::FUNCTIONS,
];

/// Whether a call with so many arguments is one of a function with this name, be their number right
/// or wrong. Compat: constructors of geometries are not found with a wrong number.
pub fn takes(name: &str, count: usize) -> bool {
    function_named(name).is_some_and(|function| match function.name() {
        "POINT" => count == 2,
        "LINESTRING" | "POLYGON" | "MULTIPOINT" | "MULTILINESTRING" | "MULTIPOLYGON"
        | "GEOMETRYCOLLECTION" => count > 0,
        _ => true,
    })
}

/// The function with this name; letter case does not count.
pub fn function_named(name: &str) -> Option<&'static Function> {
    static REGISTRY: OnceLock<HashMap<&'static str, &'static Function>> = OnceLock::new();
    let registry = REGISTRY.get_or_init(|| {
        let families = FAMILIES.iter().chain(geometry::FAMILIES);
        families.flat_map(|family| family.iter()).map(|one| (one.name(), one)).collect()
    });
    let found = |name: &str| registry.get(name).copied();
    found(name).or_else(|| found(&name.to_ascii_uppercase())).or_else(|| {
        let printed = printed_name(&name.to_ascii_lowercase())?;
        found(&printed.to_ascii_uppercase())
    })
}
