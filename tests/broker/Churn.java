import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Keeps a broker busy and writes down what it was given.
 *
 * <p>java Churn.java BOOTSTRAP LEDGERS SECONDS: for each topic LEDGERS/TOPIC.txt gets a line for every record that the
 * broker acknowledged: offset, key, value in hex, and for transactions whether they were committed.
 */
public class Churn {
  static final Map<String, String> SMALL = Map.of("internal.segment.bytes", "24000", "index.interval.bytes", "500");
  static final Map<String, String> COMPACT =
      Map.of("min.cleanable.dirty.ratio", "0.01", "max.compaction.lag.ms", "500", "segment.ms", "400");

  record Topic(String name, String codec, boolean transactional, Map<String, String> config) {}

  static final List<Topic> TOPICS =
      List.of(
          new Topic("appended", "none", false, Map.of()),
          new Topic("deleted", "lz4", false, Map.of("retention.bytes", "150000")),
          new Topic("deleted-at-once", "none", false, Map.of("retention.bytes", "80000", "file.delete.delay.ms", "0")),
          new Topic("compacted", "gzip", false, with(COMPACT, Map.of("cleanup.policy", "compact"))),
          new Topic(
              "compacted-at-once",
              "none",
              false,
              with(COMPACT, Map.of("cleanup.policy", "compact", "file.delete.delay.ms", "0"))),
          new Topic(
              "both",
              "snappy",
              false,
              with(COMPACT, Map.of("cleanup.policy", "compact,delete", "retention.bytes", "60000"))),
          new Topic("preallocated", "none", false, Map.of("preallocate", "true", "retention.bytes", "200000")),
          new Topic("transactions", "zstd", true, Map.of()));

  static Map<String, String> with(Map<String, String> one, Map<String, String> other) {
    var all = new java.util.HashMap<>(one);
    all.putAll(other);
    return all;
  }

  public static void main(String[] args) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", args[0]))) {
      var topics = TOPICS.stream().map(t -> new NewTopic(t.name, 1, (short) 1).configs(with(SMALL, t.config))).toList();
      admin.createTopics(topics).all().get(60, TimeUnit.SECONDS);
    }
    System.out.println("created");
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(args[2]));
    List<Thread> threads = TOPICS.stream().map(t -> new Thread(() -> run(t, args[0], Path.of(args[1]), end))).toList();
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    System.out.println("done");
  }

  static void run(Topic topic, String bootstrap, Path ledgers, long end) {
    var config = new java.util.HashMap<String, Object>();
    config.put("bootstrap.servers", bootstrap);
    config.put("compression.type", topic.codec);
    config.put("linger.ms", 5);
    config.put("batch.size", 3000);
    if (topic.transactional) {
      config.put("transactional.id", topic.name);
    }
    var bytes = new ByteArraySerializer();
    try (var ledger = new PrintWriter(ledgers.resolve(topic.name + ".txt").toFile());
        var producer = new KafkaProducer<>(config, bytes, bytes)) {
      if (topic.transactional) {
        producer.initTransactions();
      }
      var random = new Random(topic.name.hashCode());
      for (long number = 0; System.nanoTime() < end; number += 20) {
        burst(topic, producer, ledger, random, number);
        Thread.sleep(random.nextInt(30));
      }
      producer.flush();
    } catch (Exception error) {
      error.printStackTrace();
      System.exit(1);
    }
  }

  static void burst(
      Topic topic, KafkaProducer<byte[], byte[]> producer, PrintWriter ledger, Random random, long number) {
    boolean commit = !topic.transactional || random.nextInt(3) > 0;
    if (topic.transactional) {
      producer.beginTransaction();
    }
    for (int i = 0; i < 20; i++) {
      byte[] key = ("key " + random.nextInt(200)).getBytes(StandardCharsets.UTF_8);
      byte[] value = new byte[random.nextInt(200)];
      // Half of each value is zeros, as bytes that are not yet written are.
      random.nextBytes(value);
      java.util.Arrays.fill(value, value.length / 2, value.length, (byte) 0);
      String line = HexFormat.of().formatHex(key) + " " + HexFormat.of().formatHex(value) + "." + " " + commit;
      producer.send(
          new ProducerRecord<>(topic.name, key, value),
          (done, error) -> {
            if (error == null) {
              synchronized (ledger) {
                ledger.println(done.offset() + " " + line);
              }
            }
          });
    }
    if (topic.transactional) {
      producer.flush();
      if (commit) {
        producer.commitTransaction();
      } else {
        producer.abortTransaction();
      }
    }
  }
}
