import com.github.shyiko.mysql.binlog.BinaryLogClient;
import com.github.shyiko.mysql.binlog.event.*;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer.CompatibilityMode;
import java.io.PrintStream;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.*;

/**
 * Prints the changes of a server's binary log, one line each, as mysql-binlog-connector-java reads them.
 *
 * usage: Reader FILE PORT GTIDS ...     without GTIDS ("-"): from the start of the first file
 *
 * Each PORT and GTIDS is read until a row is inserted into a table the_end; FILE.0, FILE.1, ... get the lines.
 */
public class Reader {
    private final Map<Long, TableMapEventData> tables = new HashMap<>();
    private final PrintStream out;
    private final BinaryLogClient client;
    private Exception error;

    Reader(int port, String gtids, PrintStream out) {
        this.out = out;
        client = new BinaryLogClient("127.0.0.1", port, "root", "");
        EventDeserializer deserializer = new EventDeserializer();
        deserializer.setCompatibilityMode(CompatibilityMode.CHAR_AND_BINARY_AS_BYTE_ARRAY, CompatibilityMode.DATE_AND_TIME_AS_LONG_MICRO);
        client.setEventDeserializer(deserializer);
        client.setServerId(97);
        client.setKeepAlive(false);
        client.setUseSendAnnotateRowsEvent(true);
        if (gtids.equals("-")) {
            client.setBinlogFilename("binlog.000001");
            client.setBinlogPosition(4);
        } else {
            client.setGtidSet(gtids);
        }
        client.registerEventListener(this::take);
        client.registerLifecycleListener(new BinaryLogClient.AbstractLifecycleListener() {
            @Override
            public void onCommunicationFailure(BinaryLogClient from, Exception failure) {
                error = failure;
            }

            @Override
            public void onEventDeserializationFailure(BinaryLogClient from, Exception failure) {
                error = failure;
                disconnect();
            }
        });
    }

    void run() throws Exception {
        client.connect();
        if (error != null) {
            Throwable cause = error;
            while (cause.getCause() != null) cause = cause.getCause();
            out.println("error " + cause.getClass().getSimpleName() + ": " + cause.getMessage());
        }
    }

    private void disconnect() {
        try {
            client.disconnect();
        } catch (java.io.IOException failure) {
            error = failure;
        }
    }

    private void take(Event event) {
        EventData data = event.getData();
        switch (event.getHeader().getEventType()) {
            case TABLE_MAP -> table((TableMapEventData) data);
            case QUERY -> out.println("query " + ((QueryEventData) data).getDatabase() + " " + line(((QueryEventData) data).getSql()));
            case XID -> out.println("commit");
            case MARIADB_GTID -> gtid((MariadbGtidEventData) data);
            case ANNOTATE_ROWS -> out.println("annotation " + line(((AnnotateRowsEventData) data).getRowsQuery()));
            case WRITE_ROWS, EXT_WRITE_ROWS -> {
                WriteRowsEventData rows = (WriteRowsEventData) data;
                rows.getRows().forEach(row -> print("insert", rows.getTableId(), row));
            }
            case DELETE_ROWS, EXT_DELETE_ROWS -> {
                DeleteRowsEventData rows = (DeleteRowsEventData) data;
                rows.getRows().forEach(row -> print("delete", rows.getTableId(), row));
            }
            case UPDATE_ROWS, EXT_UPDATE_ROWS -> {
                UpdateRowsEventData rows = (UpdateRowsEventData) data;
                rows.getRows().forEach(pair -> {
                    print("before", rows.getTableId(), pair.getKey());
                    print("after", rows.getTableId(), pair.getValue());
                });
            }
            default -> { }
        }
    }

    /** The library knows the server's number only when it reads by GTID. */
    private void gtid(MariadbGtidEventData data) {
        out.println("gtid " + data.getDomainId() + "-" + data.getSequence() + " " + data.getFlags());
    }

    private void table(TableMapEventData data) {
        TableMapEventData before = tables.put(data.getTableId(), data);
        if (before == null) out.println("table " + data.getTable() + " " + data.getEventMetadata());
    }

    private static String line(String text) {
        return text.replace("\n", "\\n");
    }

    private void print(String kind, long table, Serializable[] row) {
        TableMapEventData map = tables.get(table);
        if (map.getTable().equals("the_end")) {
            disconnect();
            return;
        }
        StringJoiner text = new StringJoiner("\t");
        for (Serializable value : row) text.add(shown(value));
        out.println(kind + " " + map.getDatabase() + "." + map.getTable() + "\t" + text);
    }

    /** Bytes as hexadecimal digits, the long ones by their sum. */
    private static String shown(Serializable value) {
        if (!(value instanceof byte[] bytes)) return String.valueOf(value);
        return bytes.length <= 400 ? HexFormat.of().formatHex(bytes) : bytes.length + " bytes, " + Arrays.hashCode(bytes);
    }

    public static void main(String[] arguments) throws Exception {
        for (int at = 1; at + 1 < arguments.length; at += 2) {
            String name = arguments[0] + "." + (at - 1) / 2;
            try (PrintStream out = new PrintStream(name, StandardCharsets.UTF_8)) {
                new Reader(Integer.parseInt(arguments[at]), arguments[at + 1], out).run();
            }
        }
        System.exit(0);
    }
}
