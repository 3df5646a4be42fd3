import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.storage.internals.log.OffsetIndex;
import org.apache.kafka.storage.internals.log.TimeIndex;

/** Writes one segment (.log, .index, .timeindex) with Kafka's own record builder. */
public final class Gen {
    private static final String USAGE =
        "Gen --out DIR --records N [--magic 2] [--codec none|gzip|snappy|lz4|zstd] [--value 300] [--key 12 (0: null)]\n"
        + "  [--headers 0] [--batch 100] [--batch-bytes 0 (no limit)] [--big-value 0] [--big-every 0 (never)]\n"
        + "  [--segment-bytes 2147483000 (stop there)] [--max-batches 0 (no limit)] [--seed 7]";
    private static final int INDEX_INTERVAL = 4096;
    private static final int MAX_INDEX_SIZE = 10 << 20;
    /** What a record may hold beyond its value's target size: key, headers, lengths, the end of the JSON. */
    private static final int RECORD_ROOM = 512;
    private static final int OVERHEAD_V1 = 34;
    private static final int OVERHEAD_V2 = 16;

    private final Map<String, String> options;
    private final byte magic;
    private final Compression compression;
    private final Events events;
    private ByteBuffer buffer = ByteBuffer.allocate(1 << 20);
    private long offset = 0;
    private long timestamp = 1_750_000_000_000L;
    private int nextSize;

    private Gen(Map<String, String> options) {
        this.options = options;
        magic = (byte) number("magic", 2);
        compression = compression(options.getOrDefault("codec", "none"));
        events = new Events(number("seed", 7));
        nextSize = drawSize();
    }

    private long number(String name, long otherwise) {
        return options.containsKey(name) ? Long.parseLong(options.get(name)) : otherwise;
    }

    private static Compression compression(String codec) {
        return switch (CompressionType.forName(codec)) {
            case GZIP -> Compression.gzip().build();
            case LZ4 -> Compression.lz4().build();
            case ZSTD -> Compression.zstd().build();
            case SNAPPY -> Compression.snappy().build();
            default -> Compression.NONE;
        };
    }

    private int drawSize() {
        long every = number("big-every", 0);
        return every > 0 && offset % every == every - 1 ? (int) number("big-value", 0) : events.size((int) number("value", 300));
    }

    /** One batch of at most --batch records and --batch-bytes bytes; the record that does not fit begins the next. */
    private MemoryRecords batch() {
        buffer.clear();
        MemoryRecordsBuilder builder = new MemoryRecordsBuilder(buffer, magic, compression, TimestampType.CREATE_TIME,
            offset, RecordBatch.NO_TIMESTAMP, RecordBatch.NO_PRODUCER_ID, RecordBatch.NO_PRODUCER_EPOCH,
            RecordBatch.NO_SEQUENCE, false, false, 0, buffer.capacity());
        long maxBytes = number("batch-bytes", 0), used = RECORD_ROOM;
        long last = Math.min(offset + number("batch", 100), number("records", 0));
        do {
            used += append(builder);
        } while (offset < last && (maxBytes == 0 || used + nextSize + RECORD_ROOM <= maxBytes));
        MemoryRecords records = builder.build();
        // The builder moves to a larger buffer when one is too small: keep that one for the next batch.
        if (builder.buffer().capacity() > buffer.capacity()) buffer = ByteBuffer.allocate(builder.buffer().capacity());
        return records;
    }

    /** The bytes of the record, before compression, within a few. */
    private int append(MemoryRecordsBuilder builder) {
        timestamp += events.next(5);
        byte[] key = events.key((int) number("key", 12));
        byte[] value = events.value(offset, timestamp, nextSize);
        int size = value.length + (key == null ? 0 : key.length) + (magic < 2 ? OVERHEAD_V1 : OVERHEAD_V2);
        if (magic < 2) {
            builder.append(magic == 0 ? RecordBatch.NO_TIMESTAMP : timestamp, key, value);
        } else {
            Header[] headers = events.headers((int) number("headers", 0));
            for (Header header : headers) size += header.key().length() + header.value().length + 2;
            builder.append(timestamp, key, value, headers);
        }
        offset++;
        nextSize = drawSize();
        return size;
    }

    private void write(File directory) throws IOException {
        Files.createDirectories(directory.toPath());
        String name = String.format("%020d", 0);
        long limit = number("segment-bytes", 2_147_483_000L), sinceIndex = 0, end = number("records", 0), batches = 0;
        long most = number("max-batches", 0);
        OffsetIndex offsets = new OffsetIndex(new File(directory, name + ".index"), 0, MAX_INDEX_SIZE, true);
        TimeIndex times = new TimeIndex(new File(directory, name + ".timeindex"), 0, MAX_INDEX_SIZE, true);
        try (FileRecords log = FileRecords.open(new File(directory, name + ".log"))) {
            while (offset < end && (most == 0 || batches < most)) {
                MemoryRecords records = batch();
                int position = log.sizeInBytes();
                if (position + (long) records.sizeInBytes() > limit) break;
                log.append(records);
                batches++;
                if (sinceIndex > INDEX_INTERVAL) {
                    offsets.append(offset - 1, position);
                    if (magic > 0) times.maybeAppend(timestamp, offset - 1);
                    sinceIndex = 0;
                }
                sinceIndex += records.sizeInBytes();
            }
            if (magic > 0) times.maybeAppend(timestamp, offset - 1, true);
            System.out.printf("{\"batches\": %d, \"bytes\": %d}%n", batches, log.sizeInBytes());
        }
        offsets.trimToValidSize();
        offsets.close();
        times.trimToValidSize();
        times.close();
    }

    public static void main(String[] arguments) throws IOException {
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i + 1 < arguments.length; i += 2) options.put(arguments[i].replaceFirst("^--", ""), arguments[i + 1]);
        if (!options.containsKey("out") || !options.containsKey("records")) {
            System.err.println(USAGE);
            System.exit(2);
        }
        new Gen(options).write(new File(options.get("out")));
    }
}
