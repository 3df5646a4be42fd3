import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

import org.apache.kafka.common.message.ConsumerProtocolAssignment;
import org.apache.kafka.common.message.ConsumerProtocolSubscription;
import org.apache.kafka.common.message.EndTxnMarker;
import org.apache.kafka.common.message.KRaftVersionRecord;
import org.apache.kafka.common.message.LeaderChangeMessage;
import org.apache.kafka.common.message.SnapshotFooterRecord;
import org.apache.kafka.common.message.SnapshotHeaderRecord;
import org.apache.kafka.common.message.VotersRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;
import org.apache.kafka.server.config.AbstractKafkaConfig;

/**
 * Prints what Kafka's generated classes say of the records in Kafka's own topics, tabs between the words:
 * a line "message" for each key and each value, below it the "order" of its fields, then each "field" of each version.
 * At the end a line "config" for each of a broker's settings, with its type.
 */
public class Schemas {
    public static void main(String[] args) throws Exception {
        for (var t : org.apache.kafka.coordinator.group.generated.CoordinatorRecordType.values())
            coordinator("consumer_offsets", t.name(), t.id(), t.newRecordKey(), t.newRecordValue());
        for (var t : org.apache.kafka.coordinator.transaction.generated.CoordinatorRecordType.values())
            coordinator("transaction_state", t.name(), t.id(), t.newRecordKey(), t.newRecordValue());
        for (var t : org.apache.kafka.coordinator.share.generated.CoordinatorRecordType.values())
            coordinator("share_group_state", t.name(), t.id(), t.newRecordKey(), t.newRecordValue());
        for (var t : org.apache.kafka.common.metadata.MetadataRecordType.values())
            message("cluster_metadata", t.name(), t.id(), "value", t.newMetadataRecord());
        for (var t : org.apache.kafka.server.log.remote.metadata.storage.generated.MetadataRecordType.values())
            message("remote_log_metadata", t.name(), t.id(), "value", t.newMetadataRecord());
        message("control", "ABORT", 0, "value", new EndTxnMarker());
        message("control", "COMMIT", 1, "value", new EndTxnMarker());
        message("control", "LEADER_CHANGE", 2, "value", new LeaderChangeMessage());
        message("control", "SNAPSHOT_HEADER", 3, "value", new SnapshotHeaderRecord());
        message("control", "SNAPSHOT_FOOTER", 4, "value", new SnapshotFooterRecord());
        message("control", "KRAFT_VERSION", 5, "value", new KRaftVersionRecord());
        message("control", "KRAFT_VOTERS", 6, "value", new VotersRecord());
        message("embedded", "SUBSCRIPTION", 0, "value", new ConsumerProtocolSubscription());
        message("embedded", "ASSIGNMENT", 1, "value", new ConsumerProtocolAssignment());
        for (var key : new TreeMap<>(AbstractKafkaConfig.CONFIG_DEF.configKeys()).values())
            line("config", key.name, key.type());
    }

    private static void coordinator(String topic, String name, int id, ApiMessage key, ApiMessage value) throws Exception {
        message(topic, name, id, "key", key);
        message(topic, name, id, "value", value);
    }

    private static void message(String topic, String name, int id, String part, ApiMessage message) throws Exception {
        line("message", topic, name, id, part, message.lowestSupportedVersion(), message.highestSupportedVersion());
        order("", message.getClass());
        Schema[] schemas = (Schema[]) message.getClass().getField("SCHEMAS").get(null);
        for (int version = message.lowestSupportedVersion(); version <= message.highestSupportedVersion(); version++)
            struct("", version, schemas[version], message.getClass());
    }

    /** The fields of all versions as they are declared, which is their order on disk and in JSON. */
    private static void order(String path, Class<?> kind) {
        for (Field field : kind.getDeclaredFields()) {
            if (Modifier.isStatic(field.getModifiers()) || field.getName().equals("_unknownTaggedFields"))
                continue;
            line("order", path + "/" + field.getName());
            if (Message.class.isAssignableFrom(element(field)))
                order(path + "/" + field.getName(), element(field));
        }
    }

    /** The fields of one version of a message or of a struct in it. */
    private static void struct(String path, int version, Schema schema, Class<?> kind) throws Exception {
        Map<String, String[]> found = new TreeMap<>();
        Map<String, Type> types = new TreeMap<>();
        boolean flexible = false;
        for (BoundField bound : schema.fields()) {
            if (bound.def.type instanceof TaggedFields tagged) {
                flexible = true;
                for (var entry : tagged.fields().entrySet()) {
                    found.put(plain(entry.getValue().name), new String[] {"" + entry.getKey()});
                    types.put(plain(entry.getValue().name), entry.getValue().type);
                }
            } else {
                found.put(plain(bound.def.name), new String[] {"-"});
                types.put(plain(bound.def.name), bound.def.type);
            }
        }
        line("struct", path.isEmpty() ? "." : path, version, flexible);
        Object defaults = kind.getDeclaredConstructor().newInstance();
        for (Field field : kind.getDeclaredFields()) {
            Type type = types.remove(field.getName().toLowerCase());
            if (Modifier.isStatic(field.getModifiers()) || type == null)
                continue;
            field.setAccessible(true);
            String at = path + "/" + field.getName();
            line("field", at, version, name(type), type.isNullable(), found.get(field.getName().toLowerCase())[0], text(field.get(defaults)));
            Type inner = type.arrayElementType().isPresent() ? type.arrayElementType().get() : type;
            if (inner instanceof Schema nested)
                struct(at, version, nested, element(field));
        }
        if (!types.isEmpty())
            throw new IllegalStateException("no Java field for " + types.keySet() + " of " + kind);
    }

    /** A schema writes topic_id or kraft_version where the Java field is topicId or kRaftVersion. */
    private static String plain(String name) {
        return name.replace("_", "");
    }

    /** The class of a struct, also where the field is a collection of it. */
    private static Class<?> element(Field field) {
        if (field.getGenericType() instanceof ParameterizedType list)
            return (Class<?>) list.getActualTypeArguments()[0];
        Class<?> kind = field.getType();
        if (kind.getGenericSuperclass() instanceof ParameterizedType collection)
            return (Class<?>) collection.getActualTypeArguments()[0];
        return kind;
    }

    private static String name(Type type) {
        if (type.arrayElementType().isPresent())
            return "[]" + name(type.arrayElementType().get());
        return type instanceof Schema ? "struct" : type.toString();
    }

    private static String text(Object value) {
        return value instanceof byte[] bytes ? Arrays.toString(bytes) : "" + value;
    }

    private static void line(Object... words) {
        System.out.println(String.join("\t", Arrays.stream(words).map(String::valueOf).toArray(String[]::new)));
    }
}
