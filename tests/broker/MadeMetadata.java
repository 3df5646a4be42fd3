import java.io.File;
import java.nio.channels.FileChannel;
import java.nio.ByteBuffer;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.metadata.*;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/**
 * Writes a metadata log into the directory that is given: what the logs of real clusters at hand do not hold, each
 * record in a batch of its own.
 */
public class MadeMetadata {
    static final List<ApiMessageAndVersion> RECORDS = new ArrayList<>();
    static final Uuid ONE = new Uuid(1, 1), TWO = new Uuid(2, 2), DIR = new Uuid(7, 7), OTHER = new Uuid(8, 8);

    public static void main(String[] arguments) throws Exception {
        features();
        topics();
        brokers();
        others();
        transactions();
        write(new File(arguments[0], "00000000000000000000.log"));
    }

    static void add(ApiMessage message, int version) {
        RECORDS.add(new ApiMessageAndVersion(message, (short) version));
    }

    static void feature(String name, int level) {
        add(new FeatureLevelRecord().setName(name).setFeatureLevel((short) level), 0);
    }

    static void features() {
        feature("metadata.version", 33);
        feature("eligible.leader.replicas.version", 1);
        feature("group.version", 1);
        feature("group.version", 0);
    }

    static PartitionRecord partition(Uuid topic, int number) {
        return new PartitionRecord().setTopicId(topic).setPartitionId(number).setReplicas(List.of(1, 2, 3))
            .setIsr(List.of(1, 2)).setLeader(1).setLeaderEpoch(4).setPartitionEpoch(9)
            .setDirectories(List.of(DIR, OTHER, DIR));
    }

    static PartitionChangeRecord change() {
        return new PartitionChangeRecord().setTopicId(ONE).setPartitionId(0);
    }

    static void topics() {
        add(new TopicRecord().setName("one").setTopicId(ONE), 0);
        add(new TopicRecord().setName("two").setTopicId(TWO), 0);
        add(partition(ONE, 0).setEligibleLeaderReplicas(List.of(3)).setLastKnownElr(List.of(2)), 2);
        add(partition(TWO, 0).setEligibleLeaderReplicas(List.of(3)).setLastKnownElr(List.of(2)), 2);
        add(partition(ONE, 1).setDirectories(List.of()), 0);
        add(partition(ONE, 2).setLeaderRecoveryState((byte) 1), 1);
        add(change(), 0);
        add(change().setIsr(List.of(1)), 0);
        add(change().setLeader(1), 0);
        add(change().setLeader(-1).setIsr(List.of()), 0);
        add(change().setLeader(2).setLeaderRecoveryState((byte) 1), 0);
        add(change().setLeaderRecoveryState((byte) 0), 0);
        add(change().setDirectories(List.of(OTHER, OTHER, DIR)), 1);
        add(change().setReplicas(List.of(1, 2, 3, 4)).setDirectories(List.of(DIR, OTHER, DIR, OTHER))
            .setAddingReplicas(List.of(4)).setRemovingReplicas(List.of(1)), 1);
        add(change().setReplicas(List.of(2, 3, 4)).setDirectories(List.of(OTHER, DIR, OTHER))
            .setAddingReplicas(List.of()).setRemovingReplicas(List.of()), 1);
        add(change().setEligibleLeaderReplicas(List.of()).setLastKnownElr(List.of(4)), 2);
        add(new PartitionChangeRecord().setTopicId(ONE).setPartitionId(1).setIsr(List.of(1)).setLeader(-2), 0);
        add(new ClearElrRecord().setTopicName("two"), 0);
        add(partition(TWO, 1).setEligibleLeaderReplicas(List.of(3)), 2);
        add(new ClearElrRecord().setTopicName(""), 0);
        add(config((byte) 2, "two", "retention.ms", "5"), 0);
        add(new RemoveTopicRecord().setTopicId(TWO), 0);
        add(new TopicRecord().setName("two").setTopicId(DIR), 0);
    }

    static ConfigRecord config(byte type, String resource, String name, String value) {
        return new ConfigRecord().setResourceType(type).setResourceName(resource).setName(name).setValue(value);
    }

    static RegisterBrokerRecord broker(int id, long epoch) {
        var endpoints = new RegisterBrokerRecord.BrokerEndpointCollection();
        endpoints.add(new RegisterBrokerRecord.BrokerEndpoint().setName("B").setHost("h").setPort(40000));
        return new RegisterBrokerRecord().setBrokerId(id).setBrokerEpoch(epoch).setIncarnationId(ONE)
            .setEndPoints(endpoints).setRack("r").setFenced(true);
    }

    static BrokerRegistrationChangeRecord registration(int id, long epoch) {
        return new BrokerRegistrationChangeRecord().setBrokerId(id).setBrokerEpoch(epoch);
    }

    static void brokers() {
        add(broker(1, 10).setLogDirs(List.of(OTHER, DIR)), 4);
        add(broker(2, 11), 0);
        add(broker(3, 12).setInControlledShutdown(true), 1);
        add(new UnfenceBrokerRecord().setId(1).setEpoch(10), 0);
        add(new FenceBrokerRecord().setId(1).setEpoch(10), 0);
        add(registration(1, 10).setFenced((byte) -1), 0);
        add(registration(1, 10).setInControlledShutdown((byte) 1), 1);
        add(registration(1, 10).setFenced((byte) 1), 1);
        add(registration(1, 10).setLogDirs(List.of(DIR)), 2);
        add(registration(1, 10).setCordonedLogDirs(List.of(DIR)), 3);
        add(registration(1, 10).setFenced((byte) -1), 3);
        add(registration(1, 10).setCordonedLogDirs(List.of()), 3);
        add(broker(2, 20).setFenced(false), 0);
        add(new UnregisterBrokerRecord().setBrokerId(3).setBrokerEpoch(12), 0);
        for (int id = 5; id < 7; id++)
            add(new RegisterControllerRecord().setControllerId(id).setIncarnationId(TWO), 0);
        add(new UnregisterControllerRecord().setControllerId(5), 0);
    }

    static ClientQuotaRecord quota(String key, double value, boolean remove) {
        return new ClientQuotaRecord().setKey(key).setValue(value).setRemove(remove).setEntity(List.of(
            new ClientQuotaRecord.EntityData().setEntityType("user").setEntityName(null),
            new ClientQuotaRecord.EntityData().setEntityType("client-id").setEntityName("c")));
    }

    static void others() {
        add(config((byte) 4, "", "log.retention.ms", "1"), 0);
        add(config((byte) 4, "", "log.retention.ms", null), 0);
        add(config((byte) 4, "1", "log.cleaner.threads", ""), 0);
        add(quota("producer_byte_rate", 1.5, false), 0);
        add(quota("consumer_byte_rate", 2.5, false), 0);
        add(quota("producer_byte_rate", 0, true), 0);
        add(quota("consumer_byte_rate", 0, true), 0);
        for (Uuid id : List.of(ONE, TWO))
            add(new AccessControlEntryRecord().setId(id).setResourceType((byte) 2).setResourceName("r")
                .setPatternType((byte) 3).setPrincipal("User:u").setHost("*").setOperation((byte) 3)
                .setPermissionType((byte) 3), 0);
        add(new RemoveAccessControlEntryRecord().setId(ONE), 0);
        for (int mechanism = 1; mechanism < 3; mechanism++)
            add(new UserScramCredentialRecord().setName("u").setMechanism((byte) mechanism).setSalt(new byte[] {1})
                .setStoredKey(new byte[] {2}).setServerKey(new byte[] {3}).setIterations(4096), 0);
        add(new RemoveUserScramCredentialRecord().setName("u").setMechanism((byte) 1), 0);
        add(new DelegationTokenRecord().setTokenId("t").setOwner("User:o").setRequester("User:o")
            .setRenewers(List.of("User:r")).setIssueTimestamp(1).setMaxTimestamp(2).setExpirationTimestamp(3), 0);
        add(new RemoveDelegationTokenRecord().setTokenId("t"), 0);
        add(new ProducerIdsRecord().setBrokerId(1).setBrokerEpoch(10).setNextProducerId(5000), 0);
        add(new ZkMigrationStateRecord().setZkMigrationState((byte) 1), 0);
        add(new NoOpRecord(), 0);
    }

    static void transactions() {
        add(new BeginTransactionRecord().setName("kept"), 0);
        feature("share.version", 1);
        feature("streams.version", 1);
        add(new EndTransactionRecord(), 0);
        add(new BeginTransactionRecord().setName("dropped"), 0);
        feature("share.version", 2);
        add(change().setLeader(3), 0);
        add(new AbortTransactionRecord().setReason("test"), 0);
        feature("transaction.version", 2);
        add(new BeginTransactionRecord().setName("open"), 0);
        feature("transaction.version", 1);
    }

    static void write(File file) throws Exception {
        try (FileChannel out = FileChannel.open(file.toPath(), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            long offset = 0;
            for (ApiMessageAndVersion record : RECORDS) {
                var cache = new ObjectSerializationCache();
                ByteBuffer value = ByteBuffer.allocate(MetadataRecordSerde.INSTANCE.recordSize(record, cache));
                MetadataRecordSerde.INSTANCE.write(record, cache, new ByteBufferAccessor(value));
                value.flip();
                var builder = MemoryRecords.builder(ByteBuffer.allocate(4096), Compression.NONE,
                    TimestampType.CREATE_TIME, offset);
                builder.append(1_700_000_000_000L + offset, (ByteBuffer) null, value);
                out.write(builder.build().buffer());
                offset++;
            }
        }
    }
}
