//! Creates the tables and loads their rows with `LOAD DATA LOCAL`.
//!
//! Rows are generated while they are sent, in pieces: no file is written.

use std::fmt::{Display, Write as _};
use std::time::{Duration, Instant};

use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};

use super::queries::{DATABASE, INDEXES, SCHEMA, statements};
use crate::error::{Failure, Result};
use crate::stop;
use crate::wire::Connection;

/// Duration of each part of the load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loaded {
    pub(crate) load: Duration,
    pub(crate) indexes: Duration,
    pub(crate) analyze: Duration,
}

/// Bytes of a piece of the data.
const PIECE: usize = 1 << 18;

/// Creates the database with a scale factor, its indexes and its statistics.
pub(crate) fn load(connection: &mut Connection, scale: f64) -> Result<Loaded> {
    connection.run(&[
        &format!("DROP DATABASE IF EXISTS {DATABASE}"),
        &format!("CREATE DATABASE {DATABASE}"),
        &format!("USE {DATABASE}"),
    ])?;
    statements(SCHEMA).try_for_each(|text| connection.query(text).map(drop))?;
    let begun = Instant::now();
    table(connection, "region", RegionGenerator::new(scale, 1, 1).iter())?;
    table(connection, "nation", NationGenerator::new(scale, 1, 1).iter())?;
    table(connection, "part", PartGenerator::new(scale, 1, 1).iter())?;
    table(connection, "supplier", SupplierGenerator::new(scale, 1, 1).iter())?;
    table(connection, "partsupp", PartSuppGenerator::new(scale, 1, 1).iter())?;
    table(connection, "customer", CustomerGenerator::new(scale, 1, 1).iter())?;
    table(connection, "orders", OrderGenerator::new(scale, 1, 1).iter())?;
    table(connection, "lineitem", LineItemGenerator::new(scale, 1, 1).iter())?;
    let load = begun.elapsed();
    let begun = Instant::now();
    statements(INDEXES).try_for_each(|text| connection.query(text).map(drop))?;
    let indexes = begun.elapsed();
    let begun = Instant::now();
    connection.query(
        "ANALYZE TABLE region, nation, part, supplier, partsupp, customer, orders, lineitem",
    )?;
    Ok(Loaded { load, indexes, analyze: begun.elapsed() })
}

fn table(
    connection: &mut Connection,
    name: &str,
    rows: impl Iterator<Item: Display>,
) -> Result<()> {
    let text = format!(
        "LOAD DATA LOCAL INFILE '{name}' INTO TABLE {name} \
         FIELDS TERMINATED BY '|' LINES TERMINATED BY '|\\n'"
    );
    let mut rows = rows.peekable();
    let mut piece = String::with_capacity(PIECE + 1024);
    connection.load(&text, &mut |out| {
        piece.clear();
        while piece.len() < PIECE {
            let Some(row) = rows.next() else { break };
            // Writing to a string cannot fail.
            let _ = writeln!(piece, "{row}");
        }
        out.extend_from_slice(piece.as_bytes());
        if stop::requested() { Err(Failure::Interrupted) } else { Ok(rows.peek().is_some()) }
    })?;
    Ok(())
}
