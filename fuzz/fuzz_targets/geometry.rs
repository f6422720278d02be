//! Bytes and texts of geometries, and what is asked of them.
//! Every answer must come without a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selkie_geometry::{Relation, distance, from_text, from_wkb, stored, write_stored, write_text};

fuzz_target!(|bytes: &[u8]| {
    let (one, other) = bytes.split_at(bytes.len() / 2);
    let shapes = [stored(one).map(|g| g.shape), from_wkb(one), from_text(one)];
    let others = [stored(other).map(|g| g.shape), from_wkb(other), from_text(other)];
    for a in shapes.iter().flatten() {
        let mut out = Vec::new();
        write_text(a, &mut out);
        out.clear();
        write_stored(0, a, &mut out);
        assert!(stored(&out).is_some());
        let _ = (a.area(), a.length(), a.centroid(), a.boundary(), a.convex_hull());
        let _ = (a.is_simple(), a.is_ring(), a.mbr());
        for b in others.iter().flatten() {
            let _ = (Relation::of(a, b).is_ok(), distance(a, b).is_ok());
        }
    }
});
