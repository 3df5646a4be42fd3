"""How single records change the image of a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from kafkalog_source.answers.cluster_image import ClusterImage, MetadataRecord

TOPIC = {"name": "orders", "topicId": "id-1"}
PARTITION = {
    "partitionId": 0,
    "topicId": "id-1",
    "replicas": [1, 2],
    "isr": [1, 2],
    "removingReplicas": [],
    "addingReplicas": [],
    "leader": 1,
    "leaderEpoch": 3,
    "partitionEpoch": 7,
    "directories": ["a", "b"],
}
CREATED = [("TOPIC_RECORD", TOPIC), ("PARTITION_RECORD", PARTITION)]
BROKER = {
    "brokerId": 1,
    "brokerEpoch": 5,
    "incarnationId": "x",
    "endPoints": [{"name": "B", "host": "h", "port": 9092, "securityProtocol": 3}],
    "features": [{"name": "f", "minSupportedVersion": 0, "maxSupportedVersion": 2}],
    "rack": None,
    "fenced": True,
}

Change = tuple[str, dict[str, Any]]


def image_of(*changes: Change) -> ClusterImage:
    image = ClusterImage()
    for offset, (kind, value) in enumerate(changes):
        image.apply(MetadataRecord(offset, kind, value))
    return image


def partition(*changes: dict[str, Any]) -> dict[str, Any]:
    """The partition after some PartitionChangeRecords."""
    records = [("PARTITION_CHANGE_RECORD", {"partitionId": 0, "topicId": "id-1", **each}) for each in changes]
    image = image_of(*CREATED, *records)
    assert image.problems == []
    found: dict[str, Any] = image.to_json()["topics"][0]["partitions"][0]
    return found


def test_a_change_without_fields_changes_the_partition_epoch_alone() -> None:
    before, after = partition(), partition({})
    assert after == {**before, "partitionEpoch": 8}


def test_a_change_of_the_isr_keeps_leader_and_epoch() -> None:
    after = partition({"isr": [1]})
    assert (after["isr"], after["leader"], after["leaderEpoch"], after["partitionEpoch"]) == ([1], 1, 3, 8)


@pytest.mark.parametrize("leader", [2, 1, -1])
def test_a_leader_begins_an_epoch_also_if_it_stays(leader: int) -> None:
    after = partition({"leader": leader})
    assert (after["leader"], after["leaderEpoch"], after["partitionEpoch"]) == (leader, 4, 8)


def test_a_leader_of_minus_two_is_no_change() -> None:
    assert partition({"leader": -2})["leaderEpoch"] == 3


def test_lists_are_replaced_also_by_empty_ones() -> None:
    first = {"addingReplicas": [3], "replicas": [1, 2, 3], "directories": ["a", "b", "c"], "lastKnownElr": [2]}
    during = partition(first)
    assert (during["replicas"], during["addingReplicas"], during["lastKnownElr"]) == ([1, 2, 3], [3], [2])
    after = partition(first, {"addingReplicas": [], "eligibleLeaderReplicas": [1], "lastKnownElr": []})
    assert (after["addingReplicas"], after["lastKnownElr"], after["eligibleLeaderReplicas"]) == ([], [], [1])
    assert after["directories"] == ["a", "b", "c"]


def test_replicas_that_change_without_directories_have_none_that_are_known() -> None:
    assert partition({"replicas": [1, 2, 3]})["directories"] == ["A" * 22] * 3


def test_the_state_of_recovery() -> None:
    assert partition()["leaderRecoveryState"] == "RECOVERED"
    assert partition({"leaderRecoveryState": 1})["leaderRecoveryState"] == "RECOVERING"
    assert partition({"leaderRecoveryState": 1}, {"leaderRecoveryState": -1})["leaderRecoveryState"] == "RECOVERING"


def test_a_partition_of_version_0_has_directories_that_are_not_known() -> None:
    old = {name: value for name, value in PARTITION.items() if name != "directories"}
    image = image_of(("TOPIC_RECORD", TOPIC), ("PARTITION_RECORD", old))
    assert image.to_json()["topics"][0]["partitions"][0]["directories"] == ["A" * 22] * 2


@pytest.mark.parametrize(("named", "left"), [("orders", []), ("", []), ("other", [2])])
def test_elr_is_cleared_of_a_topic_or_of_all(named: str, left: list[int]) -> None:
    with_elr = {**PARTITION, "eligibleLeaderReplicas": [2], "lastKnownElr": [2]}
    other = ("TOPIC_RECORD", {"name": "other", "topicId": "id-2"})
    image = image_of(CREATED[0], ("PARTITION_RECORD", with_elr), other, ("CLEAR_ELR_RECORD", {"topicName": named}))
    found = next(each for each in image.to_json()["topics"] if each["name"] == "orders")["partitions"][0]
    assert (found["eligibleLeaderReplicas"], found["lastKnownElr"]) == (left, left)
    assert found["partitionEpoch"] == (7 if left else 8)


def config(kind: int, name: str, key: str, value: str | None) -> Change:
    return "CONFIG_RECORD", {"resourceType": kind, "resourceName": name, "name": key, "value": value}


def test_a_topic_that_is_removed_takes_its_configs_along() -> None:
    kept = config(4, "orders", "log.cleaner.threads", "2")
    removed = ("REMOVE_TOPIC_RECORD", {"topicId": "id-1"})
    found = image_of(*CREATED, config(2, "orders", "retention.ms", "1"), kept, removed).to_json()
    assert found["topics"] == []
    assert found["configs"] == [
        {"resourceType": "BROKER", "resourceName": "orders", "values": {"log.cleaner.threads": "2"}}
    ]


def test_a_topic_that_is_created_again_begins_anew() -> None:
    again = [("TOPIC_RECORD", {"name": "orders", "topicId": "id-2"})]
    (found,) = image_of(*CREATED, ("REMOVE_TOPIC_RECORD", {"topicId": "id-1"}), *again).to_json()["topics"]
    assert found == {"name": "orders", "topicId": "id-2", "partitions": []}


def test_a_config_is_removed_by_null_and_set_by_an_empty_value() -> None:
    image = image_of(config(4, "", "a", "1"), config(4, "", "b", "2"), config(4, "", "a", None), config(4, "", "b", ""))
    assert image.to_json()["configs"] == [{"resourceType": "BROKER", "resourceName": "", "values": {"b": ""}}]
    assert image_of(config(4, "", "a", "1"), config(4, "", "a", None)).to_json()["configs"] == []


def quota(value: float, *, remove: bool = False) -> Change:
    entity = [{"entityType": "user", "entityName": None}, {"entityType": "client-id", "entityName": "c"}]
    return "CLIENT_QUOTA_RECORD", {"entity": entity, "key": "k", "value": value, "remove": remove}


def test_quotas_are_set_and_removed_by_key() -> None:
    (found,) = image_of(quota(1.5), quota(2.5)).to_json()["quotas"]
    assert found == {"entity": {"client-id": "c", "user": None}, "limits": {"k": 2.5}}
    assert image_of(quota(1.5), quota(0.0, remove=True)).to_json()["quotas"] == []


def broker(*changes: Change) -> dict[str, Any]:
    image = image_of(("REGISTER_BROKER_RECORD", BROKER), *changes)
    assert image.problems == []
    found: dict[str, Any] = image.to_json()["brokers"][0]
    return found


def registration(**fields: Any) -> Change:
    return "BROKER_REGISTRATION_CHANGE_RECORD", {"brokerId": 1, "brokerEpoch": 5, **fields}


def test_a_broker_changes_field_by_field() -> None:
    assert broker(registration())["fenced"] is True
    assert broker(registration(fenced=-1))["fenced"] is False
    assert broker(registration(fenced=-1), registration(fenced=1))["fenced"] is True
    assert broker(registration(inControlledShutdown=1))["inControlledShutdown"] is True
    found = broker(registration(logDirs=["b", "a"], cordonedLogDirs=["a"]), registration())
    assert (found["logDirs"], found["cordonedLogDirs"]) == (["a", "b"], ["a"])
    assert broker(registration(cordonedLogDirs=["a"]), registration(cordonedLogDirs=[]))["cordonedLogDirs"] == []
    assert broker(("UNFENCE_BROKER_RECORD", {"id": 1, "epoch": 5}))["fenced"] is False
    assert broker(("REGISTER_BROKER_RECORD", {**BROKER, "brokerEpoch": 6}))["epoch"] == 6
    assert broker()["endpoints"][0]["securityProtocol"] == "SASL_SSL"


def test_a_broker_that_is_unregistered_is_gone() -> None:
    gone = ("UNREGISTER_BROKER_RECORD", {"brokerId": 1, "brokerEpoch": 5})
    assert image_of(("REGISTER_BROKER_RECORD", BROKER), gone).to_json()["brokers"] == []


def level(name: str, number: int) -> Change:
    return "FEATURE_LEVEL_RECORD", {"name": name, "featureLevel": number}


def test_a_feature_of_level_0_is_not_there() -> None:
    found = image_of(level("metadata.version", 33), level("group.version", 1), level("group.version", 0)).to_json()
    assert (found["features"], found["metadataVersion"]) == ({"metadata.version": 33}, "4.4-IV2")
    assert image_of(level("metadata.version", 99)).to_json()["metadataVersion"] == "UNKNOWN(99)"


BEGIN, END = ("BEGIN_TRANSACTION_RECORD", {"name": "x"}), ("END_TRANSACTION_RECORD", {})
ABORT = ("ABORT_TRANSACTION_RECORD", {"reason": "x"})


def test_a_metadata_transaction_counts_when_it_ends() -> None:
    assert image_of(BEGIN, *CREATED).to_json()["topics"] == []
    assert image_of(BEGIN, *CREATED).is_in_transaction
    ended = image_of(BEGIN, *CREATED, END)
    assert [each["name"] for each in ended.to_json()["topics"]] == ["orders"]
    assert not ended.is_in_transaction


def test_what_an_aborted_metadata_transaction_holds_does_not_count() -> None:
    image = image_of(level("group.version", 1), BEGIN, *CREATED, ABORT, level("share.version", 1))
    assert image.to_json()["topics"] == []
    assert image.to_json()["features"] == {"group.version": 1, "share.version": 1}
    assert image.problems == []


def test_control_records_belong_to_no_metadata_transaction() -> None:
    elected = ("LEADER_CHANGE", {"leaderId": 2, "voters": [{"voterId": 2}, {"voterId": 1}]})
    image = image_of(BEGIN, *CREATED, elected, ABORT)
    assert image.leader == 2
    assert [voter["id"] for voter in image.to_json()["voters"]] == [1, 2]
    voters = [{"voterId": 5, "voterDirectoryId": "d", "endpoints": []}]
    known = [("KRAFT_VERSION", {"kRaftVersion": 1}), ("KRAFT_VOTERS", {"voters": voters})]
    found = image_of(BEGIN, *known, elected, ABORT).to_json()
    assert (found["kraftVersion"], [voter["id"] for voter in found["voters"]]) == (1, [5])


@pytest.mark.parametrize(
    ("kind", "value", "missing"),
    [
        ("PARTITION_RECORD", {**PARTITION, "topicId": "id-9"}, "topic with id id-9"),
        ("PARTITION_CHANGE_RECORD", {"partitionId": 5, "topicId": "id-1"}, "partition 5"),
        ("REMOVE_TOPIC_RECORD", {"topicId": "id-9"}, "topic with id id-9"),
        ("CLEAR_ELR_RECORD", {"topicName": "nope"}, "topic nope"),
        ("FENCE_BROKER_RECORD", {"id": 8, "epoch": 0}, "broker 8"),
        ("UNREGISTER_BROKER_RECORD", {"brokerId": 8, "brokerEpoch": 0}, "broker 8"),
        ("UNREGISTER_CONTROLLER_RECORD", {"controllerId": 8}, "controller 8"),
        ("REMOVE_ACCESS_CONTROL_ENTRY_RECORD", {"id": "acl"}, "ACL with id acl"),
        ("REMOVE_USER_SCRAM_CREDENTIAL_RECORD", {"name": "u", "mechanism": 1}, "user u"),
        ("REMOVE_DELEGATION_TOKEN_RECORD", {"tokenId": "t"}, "token t"),
    ],
)
def test_a_change_of_what_is_missing_is_a_problem(kind: str, value: dict[str, Any], missing: str) -> None:
    image = image_of(*CREATED, (kind, value))
    (problem,) = image.problems
    assert problem.startswith(f"the {kind} at offset 2 was not applied: ")
    assert missing in problem
    assert image.to_json() == image_of(*CREATED).to_json()


def test_a_record_that_cannot_be_decoded_is_a_problem() -> None:
    image = ClusterImage()
    image.apply(MetadataRecord(4, None, None, "unknown record type 99"))
    assert image.problems == ["the record at offset 4 was not applied: unknown record type 99"]
