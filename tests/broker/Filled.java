import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Fills a broker's topics once, and tells what a broker serves of them.
 *
 * <p>java Filled.java create BOOTSTRAP: makes the topics; prints "topic id" for each.
 *
 * <p>java Filled.java fill BOOTSTRAP: makes and fills them; one transaction of the topic "transactions" stays open.
 *
 * <p>java Filled.java read BOOTSTRAP ISOLATION: prints "topic partition offset key value" of every record served.
 *
 * <p>java Filled.java commit BOOTSTRAP TOPIC OFFSET: commits the offset of partition 0 for a group.
 *
 * <p>java Filled.java resume BOOTSTRAP TOPIC: prints the first offset that the group is given of partition 0; where its
 * committed one is out of range, it would go on at the end.
 *
 * <p>java Filled.java append BOOTSTRAP: produces one further record to every partition; prints its offset.
 */
public class Filled {
  static final Map<String, String> SMALL = Map.of("internal.segment.bytes", "30000", "index.interval.bytes", "2000");
  static final Map<String, Integer> TOPICS =
      new TreeMap<>(Map.of("plain", 2, "gzip", 1, "lz4", 1, "snappy", 1, "zstd", 1, "transactions", 1, "empty", 1));

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "create" -> create(args[1]);
      case "fill" -> {
        create(args[1]);
        for (String topic : TOPICS.keySet()) {
          if (topic.equals("transactions")) {
            fillTransactions(args[1]);
          } else if (!topic.equals("empty")) {
            fill(args[1], topic);
          }
        }
        // Closing a producer would abort its open transaction.
        Runtime.getRuntime().halt(0);
      }
      case "read" -> read(args[1], args[2]);
      case "commit" -> commit(args[1], new TopicPartition(args[2], 0), Long.parseLong(args[3]));
      case "resume" -> resume(args[1], new TopicPartition(args[2], 0));
      case "append" -> append(args[1]);
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  static void create(String bootstrap) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
      var topics =
          TOPICS.entrySet().stream()
              .map(each -> new NewTopic(each.getKey(), each.getValue(), (short) 1).configs(SMALL))
              .toList();
      var created = admin.createTopics(topics);
      created.all().get(60, TimeUnit.SECONDS);
      for (String topic : TOPICS.keySet()) {
        System.out.println(topic + " " + created.topicId(topic).get());
      }
    }
  }

  static KafkaProducer<byte[], byte[]> producer(String bootstrap, Map<String, Object> more) {
    var config = new HashMap<String, Object>(more);
    config.put("bootstrap.servers", bootstrap);
    config.put("batch.size", 3000);
    config.put("linger.ms", 5);
    return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
  }

  static ProducerRecord<byte[], byte[]> record(String topic, Random random, int number) {
    byte[] value = new byte[random.nextInt(300)];
    random.nextBytes(value);
    java.util.Arrays.fill(value, value.length / 2, value.length, (byte) 'x');
    return new ProducerRecord<>(topic, ("key " + number).getBytes(StandardCharsets.UTF_8), value);
  }

  static void fill(String bootstrap, String topic) throws Exception {
    var random = new Random(topic.hashCode());
    try (var producer = producer(bootstrap, Map.of("compression.type", topic.equals("plain") ? "none" : topic))) {
      for (int i = 0; i < 1500; i++) {
        producer.send(record(topic, random, i));
        if (i % 20 == 0) {
          producer.flush();
        }
      }
    }
  }

  static void fillTransactions(String bootstrap) throws Exception {
    var random = new Random(1);
    var one = producer(bootstrap, Map.of("transactional.id", "one", "compression.type", "lz4"));
    var other = producer(bootstrap, Map.of("transactional.id", "other"));
    one.initTransactions();
    other.initTransactions();
    for (int i = 0; i < 40; i++) {
      one.beginTransaction();
      other.beginTransaction();
      for (int j = 0; j < 10; j++) {
        one.send(record("transactions", random, 100 * i + j));
        other.send(record("transactions", random, 100 * i + j));
      }
      one.flush();
      other.flush();
      if (i % 3 == 0) {
        one.abortTransaction();
      } else {
        one.commitTransaction();
      }
      if (i % 4 == 0) {
        other.abortTransaction();
      } else {
        other.commitTransaction();
      }
    }
    one.beginTransaction();
    one.send(record("transactions", random, 99999)).get();
  }

  static void read(String bootstrap, String isolation) throws Exception {
    Map<String, Object> config = Map.of("bootstrap.servers", bootstrap, "isolation.level", isolation);
    var bytes = new ByteArrayDeserializer();
    try (var consumer = new KafkaConsumer<>(config, bytes, bytes);
        var out = new PrintWriter(System.out)) {
      List<TopicPartition> partitions =
          TOPICS.entrySet().stream()
              .flatMap(each -> java.util.stream.IntStream.range(0, each.getValue()).mapToObj(p -> new TopicPartition(each.getKey(), p)))
              .toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      var ends = consumer.endOffsets(partitions);
      while (partitions.stream().anyMatch(each -> consumer.position(each) < ends.get(each))) {
        for (var each : consumer.poll(Duration.ofMillis(500))) {
          var hex = HexFormat.of();
          out.println(
              each.topic() + " " + each.partition() + " " + each.offset() + " " + hex.formatHex(each.key()) + " "
                  + hex.formatHex(each.value()) + ".");
        }
      }
      for (var each : ends.entrySet()) {
        out.println("end " + each.getKey().topic() + " " + each.getKey().partition() + " " + each.getValue());
      }
    }
  }

  static KafkaConsumer<byte[], byte[]> member(String bootstrap) {
    Map<String, Object> config =
        Map.of(
            "bootstrap.servers", bootstrap,
            "group.id", "resumed",
            "auto.offset.reset", "latest",
            "enable.auto.commit", "false");
    return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  static void commit(String bootstrap, TopicPartition partition, long offset) throws Exception {
    try (var consumer = member(bootstrap)) {
      consumer.assign(List.of(partition));
      consumer.commitSync(Map.of(partition, new OffsetAndMetadata(offset)));
    }
  }

  static void resume(String bootstrap, TopicPartition partition) throws Exception {
    try (var consumer = member(bootstrap)) {
      consumer.assign(List.of(partition));
      long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (System.nanoTime() < until) {
        for (var each : consumer.poll(Duration.ofMillis(500))) {
          System.out.println(each.offset());
          return;
        }
      }
    }
  }

  static void append(String bootstrap) throws Exception {
    try (var producer = producer(bootstrap, Map.of())) {
      for (var each : TOPICS.entrySet()) {
        for (int partition = 0; partition < each.getValue(); partition++) {
          byte[] value = "appended".getBytes(StandardCharsets.UTF_8);
          var done = producer.send(new ProducerRecord<>(each.getKey(), partition, value, value)).get();
          System.out.println(each.getKey() + " " + partition + " " + done.offset());
        }
      }
    }
  }
}
