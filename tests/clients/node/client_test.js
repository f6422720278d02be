// mysql2 against a server: DDL, prepared parameters of every type, values read back, errors.
//
// usage: node client_test.js PORT

import assert from "node:assert/strict";
import mysql from "mysql2/promise";

const columns = [
  ["c_tiny", "TINYINT", -128],
  ["c_utiny", "TINYINT UNSIGNED", 255],
  ["c_small", "SMALLINT", -32768],
  ["c_medium", "MEDIUMINT", 8388607],
  ["c_int", "INT", -2147483648],
  ["c_big", "BIGINT", "-9223372036854775808"],
  ["c_ubig", "BIGINT UNSIGNED", "18446744073709551615"],
  ["c_float", "FLOAT", 1.5],
  ["c_double", "DOUBLE", -1.25e-200],
  ["c_decimal", "DECIMAL(30,10)", "-12345678901234567890.0123456789"],
  ["c_bit", "BIT(12)", Buffer.from([0x0a, 0x55])],
  ["c_year", "YEAR", 2026],
  ["c_date", "DATE", "1000-01-01"],
  ["c_time", "TIME", "-838:59:58"],
  ["c_datetime", "DATETIME(6)", "9999-12-31 23:59:59.999999"],
  ["c_char", "CHAR(10)", "schön"],
  ["c_varchar", "VARCHAR(100)", "naïve 🦭 \\ ' \" \n"],
  ["c_varbinary", "VARBINARY(20)", Buffer.from([0, 39, 34, 92, 255])],
  ["c_text", "TEXT", "text ".repeat(1000)],
  ["c_longblob", "LONGBLOB", Buffer.alloc(1_000_000, 0xfe)],
  ["c_enum", "ENUM('small','large')", "large"],
  ["c_set", "SET('a','b','c')", "a,c"],
];

const names = columns.map(([name]) => name).join(", ");
const values = columns.map(([, , value]) => value);

async function expectError(number, promise) {
  await assert.rejects(promise, (error) => {
    assert.equal(error.errno, number, String(error));
    return true;
  });
}

function checkRow(row) {
  for (const [name, , expected] of columns) {
    assert.deepEqual(row[name], expected, name);
  }
}

async function checkTypes(db) {
  const definitions = columns.map(([name, kind]) => `${name} ${kind}`).join(", ");
  await db.query(`CREATE TABLE types (id INT AUTO_INCREMENT PRIMARY KEY, ${definitions})`);
  const holes = columns.map(() => "?").join(", ");
  const [done] = await db.execute(`INSERT INTO types (${names}) VALUES (${holes})`, values);
  assert.equal(done.insertId, 1);
  assert.equal(done.affectedRows, 1);
  checkRow((await db.query(`SELECT ${names} FROM types WHERE id = 1`))[0][0]);
  checkRow((await db.execute(`SELECT ${names} FROM types WHERE id = ?`, [1]))[0][0]);
}

async function checkErrors(db) {
  await expectError(1062, db.execute("INSERT INTO types (id) VALUES (?)", [1]));
  await expectError(1146, db.query("SELECT * FROM missing"));
  await expectError(1054, db.execute("SELECT missing FROM types"));
  await expectError(1064, db.query("SELEC 1"));
  await expectError(1264, db.execute("INSERT INTO types (c_tiny) VALUES (?)", [1000]));
}

async function checkMultipleResults(options) {
  const db = await mysql.createConnection({ ...options, multipleStatements: true });
  const [results] = await db.query("SELECT 1 AS a; SET @x = 2; SELECT @x AS b");
  assert.equal(results[0][0].a, 1);
  assert.equal(Number(results[2][0].b), 2);
  await db.end();
}

const options = {
  host: "127.0.0.1",
  port: Number(process.argv[2]),
  user: "root",
  supportBigNumbers: true,
  bigNumberStrings: true,
  dateStrings: true,
};
const db = await mysql.createConnection(options);
await db.query("DROP DATABASE IF EXISTS client_node");
await db.query("CREATE DATABASE client_node");
await db.changeUser({ database: "client_node" });
await checkTypes(db);
await checkErrors(db);
await checkMultipleResults(options);
await db.query("DROP DATABASE client_node");
await db.end();
console.log("node client: ok");
