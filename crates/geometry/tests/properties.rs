//! Geometries of clients: whatever the bytes are, reading ends, and what is written is read back.
//! No question about them may panic.

use proptest::prelude::*;
use selkie_geometry::{
    MOST_DEPTH, Point, Relation, Shape, distance, from_text, from_wkb, stored, stored_kind,
    write_stored, write_text, write_wkb,
};

fn coordinate() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![
        8 => (-8i32..8).prop_map(f64::from),
        2 => (-8i32..8).prop_map(|n| f64::from(n) / 3.0),
        1 => any::<f64>(),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(-0.0),
    ]
}

/// Coordinates that many geometries have in common.
fn whole() -> impl Strategy<Value = f64> + Clone {
    (-3i32..4).prop_map(f64::from)
}

fn shapes(of: impl Strategy<Value = f64> + Clone + 'static) -> impl Strategy<Value = Shape> {
    let point = (of.clone(), of).prop_map(|(x, y)| Point { x, y }).boxed();
    let points = prop::collection::vec(point.clone(), 1..7).boxed();
    let ring = points
        .clone()
        .prop_map(|mut ring| {
            ring.push(ring[0]);
            ring
        })
        .boxed();
    let rings = prop::collection::vec(ring, 1..3).boxed();
    let leaf = prop_oneof![
        point.prop_map(Shape::Point),
        points.clone().prop_map(Shape::Line),
        rings.clone().prop_map(Shape::Polygon),
        points.clone().prop_map(Shape::Points),
        prop::collection::vec(points, 1..3).prop_map(Shape::Lines),
        prop::collection::vec(rings, 1..3).prop_map(Shape::Polygons),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop::collection::vec(inner, 0..3).prop_map(Shape::Collection)
    })
}

fn bytes_of(shape: &Shape) -> Vec<u8> {
    let mut out = Vec::new();
    write_stored(7, shape, &mut out);
    out
}

fn is_finite(shape: &Shape) -> bool {
    let mut finite = true;
    shape.each_point(&mut |p| finite &= p.x.is_finite() && p.y.is_finite());
    finite
}

fn ask_everything(shape: &Shape) {
    let mut out = Vec::new();
    write_text(shape, &mut out);
    selkie_geometry::write_json(shape, 3, selkie_geometry::Bounds::Shown, &mut out);
    let _ = (shape.area(), shape.length(), shape.centroid(), shape.mbr(), shape.dimension());
    let _ = (shape.is_closed(), shape.is_ring(), shape.is_simple());
    let _ = (shape.boundary(), shape.convex_hull(), shape.part(0), shape.part_count());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn stored_geometries_come_back(shape in shapes(coordinate())) {
        let bytes = bytes_of(&shape);
        let read = stored(&bytes).expect("what was written");
        prop_assert_eq!(bytes_of(&read.shape), bytes.clone());
        prop_assert_eq!(stored_kind(&bytes), Some((7, shape.kind())));
        let mut wkb = Vec::new();
        write_wkb(&shape, &mut wkb);
        prop_assert_eq!(&wkb[..], &bytes[4..]);
    }

    #[test]
    fn texts_come_back(shape in shapes(coordinate())) {
        let mut text = Vec::new();
        write_text(&shape, &mut text);
        if let Some(read) = from_text(&text) {
            let mut again = Vec::new();
            write_text(&read, &mut again);
            prop_assert_eq!(again, text);
        }
    }

    #[test]
    fn cut_and_damaged_bytes_are_no_geometry_or_another(
        shape in shapes(coordinate()), cut in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(), with in any::<u8>(),
    ) {
        let mut bytes = bytes_of(&shape);
        let place = at.index(bytes.len());
        bytes[place] = with;
        for end in [bytes.len(), cut.index(bytes.len())] {
            if let Some(read) = stored(&bytes[..end]) {
                ask_everything(&read.shape);
            }
            let _ = from_wkb(bytes.get(4..end).unwrap_or_default());
        }
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = (stored(&bytes), from_wkb(&bytes), from_text(&bytes), stored_kind(&bytes));
    }

    #[test]
    fn questions_have_answers(shape in shapes(coordinate())) {
        ask_everything(&shape);
    }

    #[test]
    fn relations_do_not_contradict_each_other(a in shapes(whole()), b in shapes(whole())) {
        let (Ok(r), Ok(back)) = (Relation::of(&a, &b), Relation::of(&b, &a)) else {
            return Ok(());
        };
        // A shape that crosses itself has no interior of its own.
        let is_plain = |shape: &Shape| {
            shape.is_simple() && !matches!(shape, Shape::Collection(_) | Shape::Polygons(_))
        };
        if is_plain(&a) && is_plain(&b) {
            prop_assert_eq!(r.intersects(), back.intersects());
            prop_assert_eq!(r.touches(), back.touches());
            prop_assert_eq!(r.equals(), back.equals());
            prop_assert_eq!(r.within(), back.contains());
        }
        prop_assert!(distance(&a, &b).expect("a distance") >= 0.0);
    }

    #[test]
    fn relations_of_anything_end(a in shapes(coordinate()), b in shapes(coordinate())) {
        let known = is_finite(&a) && is_finite(&b) && !a.has_no_point() && !b.has_no_point();
        prop_assert!(!known || Relation::of(&a, &b).is_ok());
        let _ = distance(&a, &b);
    }
}

#[test]
fn collections_are_not_read_too_deep() {
    let nested = |depth: u32| {
        let mut bytes = 0u32.to_le_bytes().to_vec();
        for _ in 0..depth {
            bytes.extend([1, 7, 0, 0, 0, 1, 0, 0, 0]);
        }
        bytes.extend([1, 7, 0, 0, 0, 0, 0, 0, 0]);
        bytes
    };
    assert!(stored(&nested(MOST_DEPTH)).is_some());
    assert!(stored(&nested(MOST_DEPTH + 1)).is_none());
    assert!(stored(&nested(1_000_000)).is_none());
}

#[test]
fn counts_that_the_bytes_do_not_have_reserve_nothing() {
    for kind in 2..=7u8 {
        let mut bytes = vec![0, 0, 0, 0, 1, kind, 0, 0, 0];
        bytes.extend(u32::MAX.to_le_bytes());
        bytes.extend([0; 64]);
        assert!(stored(&bytes).is_none());
    }
}
