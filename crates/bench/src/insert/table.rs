//! The table of the insert benchmark, its rows and its queries.
//!
//! Statements are sent as text; random values make the secondary indexes' order random.

use crate::error::Result;
use crate::oltp::Random;
use crate::wire::Connection;

/// Name of the database.
pub(super) const DATABASE: &str = "insert_benchmark";

const REGISTERS: u64 = 1_000;
const CUSTOMERS: u64 = 100_000;
const PRODUCTS: u64 = 10_000;
const PRICES: u64 = 50_000;

/// Creates the table, empty and without secondary indexes.
pub(super) fn create(connection: &mut Connection) -> Result<()> {
    connection.run(&[
        &format!("DROP DATABASE IF EXISTS {DATABASE}"),
        &format!("CREATE DATABASE {DATABASE}"),
        &format!("USE {DATABASE}"),
        "CREATE TABLE purchases (transactionid BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, \
         dateandtime DATETIME, cashregisterid INT NOT NULL, customerid INT NOT NULL, \
         productid INT NOT NULL, price FLOAT NOT NULL, data VARCHAR(4000)) ENGINE = innodb",
    ])
}

/// Builds the secondary indexes.
pub(super) fn add_indexes(connection: &mut Connection) -> Result<()> {
    connection.run(&["ALTER TABLE purchases \
         ADD INDEX market (price, customerid), \
         ADD INDEX register (cashregisterid, price, customerid), \
         ADD INDEX day (price, dateandtime, customerid)"])
}

/// Inserts rows with the highest keys.
pub(super) fn insert(connection: &mut Connection, rows: u64, random: &mut Random) -> Result<()> {
    let mut text = "INSERT INTO purchases (dateandtime, cashregisterid, customerid, productid, price, data) VALUES"
        .to_owned();
    for at in 0..rows {
        let comma = if at == 0 { "" } else { "," };
        text.push_str(&format!(
            "{comma}('2026-01-01 00:00:00' + INTERVAL {} SECOND,{},{},{},{:.2},'{:032x}')",
            random.below(31_536_000),
            random.below(REGISTERS),
            random.below(CUSTOMERS),
            random.below(PRODUCTS),
            random.below(PRICES) as f64 / 100.0,
            u128::from(random.next())
        ));
    }
    connection.query(&text).map(drop)
}

/// Deletes the oldest rows.
pub(super) fn delete_oldest(connection: &mut Connection, rows: u64) -> Result<()> {
    connection
        .query(&format!("DELETE FROM purchases ORDER BY transactionid LIMIT {rows}"))
        .map(drop)
}

/// Reads a short range of a secondary index that covers the query.
pub(super) fn range_query(connection: &mut Connection, random: &mut Random) -> Result<()> {
    let price = random.below(PRICES) as f64 / 100.0;
    let text = match random.below(3) {
        0 => format!(
            "SELECT price, customerid FROM purchases FORCE INDEX (market) \
             WHERE price >= {price:.2} ORDER BY price, customerid LIMIT 10"
        ),
        1 => format!(
            "SELECT cashregisterid, price, customerid FROM purchases FORCE INDEX (register) \
             WHERE cashregisterid = {} ORDER BY price, customerid LIMIT 10",
            random.below(REGISTERS)
        ),
        _ => format!(
            "SELECT price, dateandtime, customerid FROM purchases FORCE INDEX (day) \
             WHERE price >= {price:.2} ORDER BY price, dateandtime, customerid LIMIT 10"
        ),
    };
    connection.query(&text).map(drop)
}

/// The smallest and the largest key.
pub(super) fn keys(connection: &mut Connection) -> Result<(u64, u64)> {
    let text = "SELECT MIN(transactionid), MAX(transactionid) FROM purchases";
    let answer = connection.query(text)?;
    let value = |at: usize| answer.rows.first()?.get(at)?.as_deref()?.parse().ok();
    Ok((value(0).unwrap_or(1), value(1).unwrap_or(1)))
}

/// Reads one row by its key.
pub(super) fn point_query(
    connection: &mut Connection,
    (least, greatest): (u64, u64),
    random: &mut Random,
) -> Result<()> {
    let key = least + random.below(greatest - least + 1);
    let text = format!("SELECT customerid, price, data FROM purchases WHERE transactionid = {key}");
    connection.query(&text).map(drop)
}
