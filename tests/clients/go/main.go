// Command clients drives a server with go-sql-driver: DDL, prepared parameters of every type,
// values read back, error numbers.
//
// usage: clients PORT
package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

type column struct {
	name, kind string
	value      any
	expected   string
}

var columns = []column{
	{"c_tiny", "TINYINT", int64(-128), "-128"},
	{"c_utiny", "TINYINT UNSIGNED", int64(255), "255"},
	{"c_small", "SMALLINT", int64(-32768), "-32768"},
	{"c_medium", "MEDIUMINT", int64(8388607), "8388607"},
	{"c_int", "INT", int64(-2147483648), "-2147483648"},
	{"c_big", "BIGINT", int64(-9223372036854775808), "-9223372036854775808"},
	{"c_ubig", "BIGINT UNSIGNED", uint64(18446744073709551615), "18446744073709551615"},
	{"c_float", "FLOAT", float64(1.5), "1.5"},
	{"c_double", "DOUBLE", -1.25e-200, "-1.25e-200"},
	{"c_decimal", "DECIMAL(30,10)", "-12345678901234567890.0123456789", "-12345678901234567890.0123456789"},
	{"c_bit", "BIT(12)", []byte{0x0a, 0x55}, "\x0a\x55"},
	{"c_year", "YEAR", int64(2026), "2026"},
	{"c_date", "DATE", "1000-01-01", "1000-01-01"},
	{"c_time", "TIME(6)", "-838:59:58.000005", "-838:59:58.000005"},
	{"c_datetime", "DATETIME(6)", time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC), "9999-12-31 23:59:59.999999"},
	{"c_char", "CHAR(10)", "schön", "schön"},
	{"c_varchar", "VARCHAR(100)", "naïve 🦭 \\ ' \" \n", "naïve 🦭 \\ ' \" \n"},
	{"c_varbinary", "VARBINARY(20)", []byte("\x00'\"\\\xff"), "\x00'\"\\\xff"},
	{"c_text", "TEXT", strings.Repeat("text ", 1000), strings.Repeat("text ", 1000)},
	{"c_longblob", "LONGBLOB", bytes.Repeat([]byte{0, 255}, 500000), strings.Repeat("\x00\xff", 500000)},
	{"c_enum", "ENUM('small','large')", "large", "large"},
	{"c_set", "SET('a','b','c')", "a,c", "a,c"},
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func expect(number uint16, err error) {
	var server *mysql.MySQLError
	if !errors.As(err, &server) || server.Number != number {
		log.Fatalf("expected error %d, got %v", number, err)
	}
}

func checkTypes(db *sql.DB) {
	names, kinds, holes, values := []string{}, []string{}, []string{}, []any{}
	for _, c := range columns {
		names, kinds = append(names, c.name), append(kinds, c.name+" "+c.kind)
		holes, values = append(holes, "?"), append(values, c.value)
	}
	list := strings.Join(names, ", ")
	must(db.Exec("CREATE TABLE types (id INT AUTO_INCREMENT PRIMARY KEY, " + strings.Join(kinds, ", ") + ")"))
	insert := must(db.Prepare("INSERT INTO types (" + list + ") VALUES (" + strings.Join(holes, ", ") + ")"))
	defer insert.Close()
	for id := int64(1); id <= 3; id++ {
		if got := must(must(insert.Exec(values...)).LastInsertId()); got != id {
			log.Fatalf("insert id %d, expected %d", got, id)
		}
	}
	// Once as text, once through the binary protocol.
	checkRow(db.QueryRow("SELECT " + list + " FROM types WHERE id = 1"))
	checkRow(db.QueryRow("SELECT "+list+" FROM types WHERE id = ?", 2))
}

func checkRow(row *sql.Row) {
	got, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range got {
		into[i] = &got[i]
	}
	if err := row.Scan(into...); err != nil {
		log.Fatal(err)
	}
	for i, c := range columns {
		if !got[i].Valid || got[i].String != c.expected {
			log.Fatalf("%s: expected %.60q, got %.60q", c.name, c.expected, got[i].String)
		}
	}
}

func checkErrors(db *sql.DB) {
	_, err := db.Exec("INSERT INTO types (id) VALUES (?)", 1)
	expect(1062, err)
	_, err = db.Exec("SELECT * FROM missing")
	expect(1146, err)
	_, err = db.Prepare("SELECT missing FROM types")
	expect(1054, err)
	_, err = db.Exec("INSERT INTO types (c_tiny) VALUES (?)", 1000)
	expect(1264, err)
}

func checkTransactions(db *sql.DB) {
	tx := must(db.Begin())
	must(tx.Exec("DELETE FROM types WHERE id > ?", 0))
	if err := tx.Rollback(); err != nil {
		log.Fatal(err)
	}
	var count int
	if err := db.QueryRow("SELECT COUNT(*) FROM types WHERE id > ?", 0).Scan(&count); err != nil || count != 3 {
		log.Fatalf("count %d, %v", count, err)
	}
}

func main() {
	base := "root@tcp(127.0.0.1:" + os.Args[1] + ")/"
	admin := must(sql.Open("mysql", base))
	must(admin.Exec("DROP DATABASE IF EXISTS client_go"))
	must(admin.Exec("CREATE DATABASE client_go"))
	db := must(sql.Open("mysql", base+"client_go"))
	checkTypes(db)
	checkErrors(db)
	checkTransactions(db)
	must(admin.Exec("DROP DATABASE client_go"))
	fmt.Println("go client: ok")
}
