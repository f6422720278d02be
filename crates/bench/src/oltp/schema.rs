//! sysbench's tables: their creation, and the check that they exist with the right size.
//!
//! Rows are the same for the same size, on every server.

use super::random::Random;
use crate::error::Result;
use crate::wire::Connection;

/// Name of the database.
pub(crate) const DATABASE: &str = "sbtest";

/// Bytes of rows in one INSERT.
const STATEMENT: usize = 500_000;

/// Number of tables and of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Size {
    /// Tables.
    pub(crate) tables: u32,
    /// Rows in each table.
    pub(crate) rows: u64,
}

/// Creates and fills the tables; drops old ones.
pub(crate) fn create(connection: &mut Connection, size: Size) -> Result<()> {
    connection.run(&[
        &format!("DROP DATABASE IF EXISTS {DATABASE}"),
        &format!("CREATE DATABASE {DATABASE}"),
        &format!("USE {DATABASE}"),
    ])?;
    let mut random = Random::new(size.rows);
    for table in 1..=size.tables {
        create_table(connection, table)?;
        fill(connection, table, size.rows, &mut random)?;
        connection.query(&format!("CREATE INDEX k_{table} ON sbtest{table}(k)"))?;
    }
    Ok(())
}

/// Whether the tables exist with this size. Only the last table is counted.
pub(crate) fn is_there(connection: &mut Connection, size: Size) -> bool {
    let table = size.tables;
    let last = format!("SELECT COUNT(*), MAX(id) FROM {DATABASE}.sbtest{table}");
    let count = connection.query(&last).ok().and_then(|a| a.value()?.parse().ok());
    let next = format!("SELECT 1 FROM {DATABASE}.sbtest{} LIMIT 1", table + 1);
    count == Some(size.rows) && connection.query(&next).is_err()
}

fn create_table(connection: &mut Connection, table: u32) -> Result<()> {
    connection.query(&format!(
        "CREATE TABLE sbtest{table} (id INTEGER NOT NULL AUTO_INCREMENT, \
         k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, \
         pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) ENGINE = innodb"
    ))?;
    Ok(())
}

fn fill(connection: &mut Connection, table: u32, rows: u64, random: &mut Random) -> Result<()> {
    let mut row = 0;
    let mut text = Vec::new();
    while row < rows {
        text.clear();
        text.extend_from_slice(format!("INSERT INTO sbtest{table} (k, c, pad) VALUES").as_bytes());
        while row < rows && text.len() < STATEMENT {
            let k = random.special(rows);
            text.extend_from_slice(format!("({k},'").as_bytes());
            random.put_digits(&mut text, 10);
            text.extend_from_slice(b"','");
            random.put_digits(&mut text, 5);
            text.extend_from_slice(b"'),");
            row += 1;
        }
        text.pop();
        connection.query(&String::from_utf8_lossy(&text))?;
    }
    Ok(())
}
