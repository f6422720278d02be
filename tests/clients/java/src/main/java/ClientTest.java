import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * MariaDB Connector/J against a server: DDL, parameters of every type, values read back, errors.
 * Runs with client-side and with server-side prepared statements. Argument: the port.
 */
public class ClientTest {
  record Column(String name, String kind, Object value, Class<?> as) {}

  static final List<Column> COLUMNS = List.of(
      new Column("c_tiny", "TINYINT", -128, Integer.class),
      new Column("c_utiny", "TINYINT UNSIGNED", 255, Integer.class),
      new Column("c_small", "SMALLINT", -32768, Integer.class),
      new Column("c_medium", "MEDIUMINT", 8388607, Integer.class),
      new Column("c_int", "INT", Integer.MIN_VALUE, Integer.class),
      new Column("c_big", "BIGINT", Long.MIN_VALUE, Long.class),
      new Column("c_ubig", "BIGINT UNSIGNED", new BigInteger("18446744073709551615"), BigInteger.class),
      new Column("c_float", "FLOAT", 1.5f, Float.class),
      new Column("c_double", "DOUBLE", -1.25e-200, Double.class),
      new Column("c_decimal", "DECIMAL(30,10)",
          new BigDecimal("-12345678901234567890.0123456789"), BigDecimal.class),
      new Column("c_year", "YEAR", 2026, Integer.class),
      new Column("c_date", "DATE", LocalDate.of(1000, 1, 1), LocalDate.class),
      new Column("c_datetime", "DATETIME(6)",
          LocalDateTime.of(9999, 12, 31, 23, 59, 59, 999_999_000), LocalDateTime.class),
      new Column("c_char", "CHAR(10)", "sch\u00f6n", String.class),
      new Column("c_varchar", "VARCHAR(100)", "na\u00efve \ud83e\uddad \\ ' \" \n", String.class),
      new Column("c_varbinary", "VARBINARY(20)", new byte[] {0, 39, 34, 92, -1}, byte[].class),
      new Column("c_text", "TEXT", "text ".repeat(1000), String.class),
      new Column("c_longblob", "LONGBLOB", new byte[1_000_000], byte[].class),
      new Column("c_enum", "ENUM('small','large')", "large", String.class),
      new Column("c_set", "SET('a','b','c')", "a,c", String.class));

  static void check(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError(what);
    }
  }

  interface Action {
    void run() throws SQLException;
  }

  static void expectError(int number, Action action) {
    try {
      action.run();
    } catch (SQLException error) {
      check(error.getErrorCode() == number, "expected " + number + ", got " + error);
      return;
    }
    throw new AssertionError("expected error " + number + ", got none");
  }

  static boolean same(Object a, Object b) {
    if (a instanceof byte[] x && b instanceof byte[] y) {
      return java.util.Arrays.equals(x, y);
    }
    return a.equals(b);
  }

  static void checkTypes(Connection db) throws SQLException {
    List<String> definitions = new ArrayList<>();
    List<String> names = new ArrayList<>();
    COLUMNS.forEach(c -> definitions.add(c.name + " " + c.kind));
    COLUMNS.forEach(c -> names.add(c.name));
    String list = String.join(", ", names);
    try (Statement statement = db.createStatement()) {
      statement.execute("CREATE TABLE types (id INT AUTO_INCREMENT PRIMARY KEY, "
          + String.join(", ", definitions) + ")");
    }
    String holes = String.join(", ", Collections.nCopies(COLUMNS.size(), "?"));
    String insert = "INSERT INTO types (" + list + ") VALUES (" + holes + ")";
    try (PreparedStatement statement =
        db.prepareStatement(insert, Statement.RETURN_GENERATED_KEYS)) {
      for (int i = 0; i < COLUMNS.size(); i++) {
        statement.setObject(i + 1, COLUMNS.get(i).value);
      }
      check(statement.executeUpdate() == 1, "one row");
      ResultSet keys = statement.getGeneratedKeys();
      check(keys.next() && keys.getInt(1) == 1, "generated key");
    }
    try (PreparedStatement statement =
        db.prepareStatement("SELECT " + list + " FROM types WHERE id = ?")) {
      statement.setInt(1, 1);
      ResultSet row = statement.executeQuery();
      check(row.next(), "a row");
      for (int i = 0; i < COLUMNS.size(); i++) {
        Column c = COLUMNS.get(i);
        Object got = c.as == byte[].class ? row.getBytes(i + 1) : row.getObject(i + 1, c.as);
        check(same(c.value, got), c.name + ": sent " + c.value + ", got " + got);
      }
    }
  }

  static void checkErrors(Connection db) throws SQLException {
    try (Statement statement = db.createStatement()) {
      expectError(1062, () -> statement.execute("INSERT INTO types (id) VALUES (1)"));
      expectError(1146, () -> statement.execute("SELECT * FROM missing"));
      expectError(1054, () -> statement.execute("SELECT missing FROM types"));
      expectError(1064, () -> statement.execute("SELEC 1"));
    }
  }

  static void checkBatchAndRollback(Connection db) throws SQLException {
    try (Statement statement = db.createStatement()) {
      statement.execute("CREATE TABLE ledger (id INT PRIMARY KEY, d DATE)");
    }
    db.setAutoCommit(false);
    try (PreparedStatement insert = db.prepareStatement("INSERT INTO ledger VALUES (?, ?)")) {
      for (int id = 0; id < 100; id++) {
        insert.setInt(1, id);
        insert.setDate(2, Date.valueOf("2026-11-21"));
        insert.addBatch();
      }
      check(insert.executeBatch().length == 100, "batch");
    }
    db.rollback();
    try (Statement statement = db.createStatement()) {
      ResultSet count = statement.executeQuery("SELECT COUNT(*) FROM ledger");
      check(count.next() && count.getInt(1) == 0, "rolled back");
    }
    db.setAutoCommit(true);
  }

  static void run(String port, String options) throws SQLException {
    String url = "jdbc:mariadb://127.0.0.1:" + port + "/?user=root" + options;
    try (Connection db = DriverManager.getConnection(url)) {
      try (Statement statement = db.createStatement()) {
        statement.execute("DROP DATABASE IF EXISTS client_java");
        statement.execute("CREATE DATABASE client_java");
      }
      db.setCatalog("client_java");
      checkTypes(db);
      checkErrors(db);
      checkBatchAndRollback(db);
      ResultSet tables = db.getMetaData().getTables("client_java", null, "%", null);
      check(tables.next() && tables.getString("TABLE_NAME").equals("ledger"), "metadata");
      try (Statement statement = db.createStatement()) {
        statement.execute("DROP DATABASE client_java");
      }
    }
  }

  public static void main(String[] arguments) throws SQLException {
    run(arguments[0], "");
    run(arguments[0], "&useServerPrepStmts=true");
    System.out.println("java client: ok");
  }
}
