import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.internal.AbstractRecords;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.common.utils.internals.CloseableIterator;

/**
 * Reads the segments of a directory with Kafka's own reader, several times, and prints one JSON line a pass.
 * The CRC of every batch is verified; every record's offset, timestamp, key, value and headers are reached, and one
 * byte of each is read and summed into what is printed, so that nothing is optimised away.
 */
public final class Scan {
    private static final String USAGE = "Scan --dir DIR [--mode file|mmap] [--passes 2] [--seconds 0]";

    private long records;
    private long keyBytes;
    private long valueBytes;
    private long headers;
    private long headerBytes;
    private long check;

    /** Mode file reads a batch at a time, as kafka-dump-log and the broker do; mmap maps the whole file. */
    private void segment(File file, String mode) throws IOException {
        if (mode.equals("file")) {
            try (FileRecords log = FileRecords.open(file, false)) {
                batches(log);
            }
            return;
        }
        try (FileChannel channel = FileChannel.open(file.toPath(), StandardOpenOption.READ)) {
            batches(MemoryRecords.readableRecords(channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size())));
        }
    }

    private void batches(AbstractRecords log) {
        try (BufferSupplier buffers = BufferSupplier.create()) {
            for (RecordBatch batch : log.batches()) {
                batch.ensureValid();
                try (CloseableIterator<Record> iterator = batch.streamingIterator(buffers)) {
                    while (iterator.hasNext()) record(iterator.next());
                }
            }
        }
    }

    private void record(Record record) {
        records++;
        check += record.offset() ^ record.timestamp();
        keyBytes += touch(record.key());
        valueBytes += touch(record.value());
        for (Header header : record.headers()) {
            byte[] value = header.value();
            headers++;
            headerBytes += header.key().length();
            if (value == null) continue;
            headerBytes += value.length;
            if (value.length > 0) check += value[0];
        }
    }

    private int touch(ByteBuffer bytes) {
        if (bytes == null) return 0;
        if (bytes.hasRemaining()) check += bytes.get(bytes.position());
        return bytes.remaining();
    }

    private static void pass(File[] files, String mode) throws IOException {
        long start = System.nanoTime();
        Scan scan = new Scan();
        for (File file : files) scan.segment(file, mode);
        System.out.printf("{\"seconds\": %.6f, \"check\": %d, \"sums\": {\"records\": %d, \"key_bytes\": %d, "
            + "\"value_bytes\": %d, \"headers\": %d, \"header_bytes\": %d}}%n", (System.nanoTime() - start) / 1e9,
            scan.check, scan.records, scan.keyBytes, scan.valueBytes, scan.headers, scan.headerBytes);
    }

    public static void main(String[] arguments) throws IOException {
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i + 1 < arguments.length; i += 2) options.put(arguments[i].replaceFirst("^--", ""), arguments[i + 1]);
        File[] files = new File(options.getOrDefault("dir", "")).listFiles((directory, name) -> name.endsWith(".log"));
        if (files == null) {
            System.err.println(USAGE);
            System.exit(2);
        }
        Arrays.sort(files);
        int passes = Integer.parseInt(options.getOrDefault("passes", "2"));
        long end = System.nanoTime() + (long) (1e9 * Double.parseDouble(options.getOrDefault("seconds", "0")));
        for (int done = 0; done < passes || System.nanoTime() < end; done++) pass(files, options.getOrDefault("mode", "file"));
    }
}
