//! Any types with any metadata, and any bytes as images of such columns: a value that is read is
//! written and read as the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selkie_replication::codec::{OptionalFields, TableMap};
use selkie_replication::images::{Images, Shape, columns};

fuzz_target!(|input: (&[u8], &[u8], &[u8])| {
    let (types, metadata, bytes) = input;
    let map = TableMap {
        table_id: 1,
        flags: 0,
        database: b"d",
        table: b"t",
        types,
        metadata,
        nullable: &[],
        optional: OptionalFields(&[]),
    };
    let Ok(columns) = columns(&map) else { return };
    let Ok(shape) = Shape::new(&columns, &vec![0xff; columns.len().div_ceil(8)]) else { return };
    let (mut images, mut values) = (Images::new(bytes), Vec::new());
    while !images.is_empty() && images.next(&shape, &mut values).is_ok() {
        let (mut image, mut again) = (Vec::new(), Vec::new());
        assert!(shape.put(&values, &mut image));
        Images::new(&image).next(&shape, &mut again).unwrap();
        assert_eq!(again, values);
    }
});
