import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

import org.apache.kafka.common.metadata.MetadataJsonConverters;
import org.apache.kafka.common.metadata.MetadataRecordType;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.image.loader.MetadataBatchLoader;
import org.apache.kafka.image.writer.ImageWriterOptions;
import org.apache.kafka.image.writer.RecordListWriter;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.raft.LeaderAndEpoch;
import org.apache.kafka.raft.internals.RecordsIterator;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/**
 * Replays metadata logs by Kafka's own classes. An argument is a directory __cluster_metadata-0. From each of its
 * snapshots, and from nothing where the log begins with offset 0, the log is replayed to its end, and after each batch
 * that changed the image the image is printed as the records of a snapshot: a line "image", the directory, the
 * starting offset and the offset of the batch's last record, then a line "record" with type, version and JSON for each.
 */
public class Images {
    public static void main(String[] directories) throws Exception {
        for (String directory : directories) {
            TreeMap<Long, File> starts = new TreeMap<>(), segments = new TreeMap<>();
            for (File file : new File(directory).listFiles()) {
                if (file.getName().matches("[0-9]{20}\\.log"))
                    segments.put(Long.parseLong(file.getName().substring(0, 20)), file);
                if (file.getName().matches("[0-9]{20}-[0-9]{10}\\.checkpoint"))
                    starts.put(Long.parseLong(file.getName().substring(0, 20)), file);
            }
            if (!segments.isEmpty() && segments.firstKey() == 0)
                replay(directory, 0, null, segments);
            for (var start : starts.entrySet())
                replay(directory, start.getKey(), start.getValue(), segments);
        }
    }

    static void replay(String directory, long start, File snapshot, TreeMap<Long, File> segments) throws Exception {
        MetadataImage image = snapshot == null ? MetadataImage.EMPTY : load(start, snapshot);
        if (snapshot != null)
            print(directory, start, start - 1, image);
        if (segments.isEmpty() || segments.firstKey() > start)
            return;
        MetadataImage[] last = {image};
        var loader = new MetadataBatchLoader(new LogContext(), Time.SYSTEM,
            (message, cause) -> {
                throw new RuntimeException(message, cause);
            },
            (delta, updated, manifest) -> last[0] = updated, (resource, name) -> true);
        loader.resetToImage(image);
        for (File segment : segments.values()) {
            try (var batches = batches(segment)) {
                while (batches.hasNext()) {
                    var batch = batches.next();
                    if (batch.lastOffset() < start)
                        continue;
                    loader.loadBatch(batch, LeaderAndEpoch.UNKNOWN);
                    loader.maybeFlushBatches(LeaderAndEpoch.UNKNOWN, true);
                    if (batch.records().stream().anyMatch(each -> each.message().apiKey() != 20))
                        print(directory, snapshot == null ? -1 : start, batch.lastOffset(), last[0]);
                }
            }
        }
    }

    static MetadataImage load(long start, File snapshot) throws Exception {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        try (var batches = batches(snapshot)) {
            while (batches.hasNext())
                for (ApiMessageAndVersion each : batches.next().records())
                    delta.replay(each.message());
        }
        delta.finishSnapshot();
        return delta.apply(new MetadataProvenance(start - 1, 0, 0, true));
    }

    static RecordsIterator<ApiMessageAndVersion> batches(File file) throws Exception {
        return new RecordsIterator<>(FileRecords.open(file, false), MetadataRecordSerde.INSTANCE,
            BufferSupplier.create(), 8 << 20, true, new LogContext());
    }

    static void print(String directory, long start, long last, MetadataImage image) {
        System.out.println("image\t" + directory + "\t" + start + "\t" + last);
        RecordListWriter writer = new RecordListWriter();
        image.write(writer, new ImageWriterOptions.Builder(image).setEligibleLeaderReplicasEnabled(true).build());
        for (ApiMessageAndVersion each : writer.records()) {
            MetadataRecordType type = MetadataRecordType.fromId(each.message().apiKey());
            System.out.println("record\t" + type.name() + "\t" + each.version() + "\t"
                + MetadataJsonConverters.writeJson(each.message(), each.version()));
        }
    }
}
