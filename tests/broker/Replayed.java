import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Makes the targets of a replay, and tells what a consumer finds in them.
 *
 * <p>java Replayed.java create BOOTSTRAP TOPIC PARTITIONS ...: makes topics.
 *
 * <p>java Replayed.java stranger BOOTSTRAP TOPIC: produces one record without headers.
 *
 * <p>java Replayed.java read BOOTSTRAP TOPIC ...: prints "topic partition key value name=value,..." of every record in
 * the order in which it is served; bytes as hex digits behind an x, and null as a minus.
 */
public class Replayed {
  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "create" -> create(args);
      case "stranger" -> stranger(args);
      case "read" -> read(args);
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  static void create(String[] args) throws Exception {
    List<NewTopic> topics = new ArrayList<>();
    for (int i = 2; i < args.length; i += 2) {
      topics.add(new NewTopic(args[i], Optional.of(Integer.parseInt(args[i + 1])), Optional.of((short) 1)));
    }
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", args[1]))) {
      admin.createTopics(topics).all().get(60, TimeUnit.SECONDS);
    }
  }

  static void stranger(String[] args) throws Exception {
    Map<String, Object> config = Map.of("bootstrap.servers", args[1]);
    var bytes = new ByteArraySerializer();
    try (var producer = new KafkaProducer<>(config, bytes, bytes)) {
      producer.send(new ProducerRecord<>(args[2], 0, new byte[1], new byte[1])).get();
    }
  }

  static void read(String[] args) {
    Map<String, Object> config = Map.of("bootstrap.servers", args[1]);
    var bytes = new ByteArrayDeserializer();
    try (var consumer = new KafkaConsumer<>(config, bytes, bytes);
        var out = new PrintWriter(System.out)) {
      List<TopicPartition> places = new ArrayList<>();
      for (int i = 2; i < args.length; i++) {
        consumer.partitionsFor(args[i]).forEach(each -> places.add(new TopicPartition(each.topic(), each.partition())));
      }
      consumer.assign(places);
      consumer.seekToBeginning(places);
      var ends = consumer.endOffsets(places);
      while (places.stream().anyMatch(each -> consumer.position(each) < ends.get(each))) {
        consumer.poll(Duration.ofMillis(500)).forEach(each -> out.println(line(each)));
      }
    }
  }

  static String line(ConsumerRecord<byte[], byte[]> record) {
    List<String> headers = new ArrayList<>();
    record.headers().forEach(each -> headers.add(each.key() + "=" + text(each.value())));
    return record.topic() + " " + record.partition() + " " + text(record.key()) + " " + text(record.value()) + " "
        + String.join(",", headers);
  }

  static String text(byte[] bytes) {
    return bytes == null ? "-" : "x" + HexFormat.of().formatHex(bytes);
  }
}
