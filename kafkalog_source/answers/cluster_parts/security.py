"""ACLs, the users of SCRAM, and delegation tokens (``AclsDelta``, ``ScramDelta``, ``DelegationTokenDelta``, 4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkalog_source.answers.cluster_parts.model import Handler, NotAppliedError, Value, named

__all__ = ["Security"]

_RESOURCES = {
    1: "ANY",
    2: "TOPIC",
    3: "GROUP",
    4: "CLUSTER",
    5: "TRANSACTIONAL_ID",
    6: "DELEGATION_TOKEN",
    7: "USER",
}
_PATTERNS = {1: "ANY", 2: "MATCH", 3: "LITERAL", 4: "PREFIXED"}
_OPERATIONS = dict(
    enumerate(
        (
            *("ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION"),
            *("DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS", "DESCRIBE_TOKENS"),
            "TWO_PHASE_COMMIT",
        ),
        start=1,
    )
)
_PERMISSIONS = {1: "ANY", 2: "DENY", 3: "ALLOW"}
_MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
_CREDENTIAL = ("iterations", "salt", "storedKey", "serverKey")
_TIMES = ("issueTimestamp", "maxTimestamp", "expirationTimestamp")


class Security:
    """ACLs by id, credentials by user and mechanism, tokens by id."""

    def __init__(self) -> None:
        self._acls: dict[str, dict[str, Any]] = {}
        self._users: dict[tuple[str, str], dict[str, Any]] = {}
        self._tokens: dict[str, dict[str, Any]] = {}

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """How each record type changes them."""
        return {
            "ACCESS_CONTROL_ENTRY_RECORD": self._set_acl,
            "REMOVE_ACCESS_CONTROL_ENTRY_RECORD": self._remove_acl,
            "USER_SCRAM_CREDENTIAL_RECORD": self._set_user,
            "REMOVE_USER_SCRAM_CREDENTIAL_RECORD": self._remove_user,
            "DELEGATION_TOKEN_RECORD": self._set_token,
            "REMOVE_DELEGATION_TOKEN_RECORD": self._remove_token,
        }

    def to_json(self) -> dict[str, Any]:
        """ACLs by resource and principal, users by name, tokens by id."""
        return {
            "acls": sorted(self._acls.values(), key=lambda each: [str(part) for part in each.values()]),
            "users": [self._users[key] for key in sorted(self._users)],
            "delegationTokens": [self._tokens[key] for key in sorted(self._tokens)],
        }

    def _set_acl(self, value: Value) -> None:
        self._acls[value["id"]] = {
            "resourceType": named(_RESOURCES, value["resourceType"]),
            "resourceName": value["resourceName"],
            "patternType": named(_PATTERNS, value["patternType"]),
            "principal": value["principal"],
            "host": value["host"],
            "operation": named(_OPERATIONS, value["operation"]),
            "permissionType": named(_PERMISSIONS, value["permissionType"]),
            "id": value["id"],
        }

    def _remove_acl(self, value: Value) -> None:
        if self._acls.pop(value["id"], None) is None:
            raise NotAppliedError(f"there is no ACL with id {value['id']}")

    def _set_user(self, value: Value) -> None:
        mechanism = named(_MECHANISMS, value["mechanism"])
        credential = {name: value[name] for name in _CREDENTIAL}
        self._users[value["name"], mechanism] = {"name": value["name"], "mechanism": mechanism, **credential}

    def _remove_user(self, value: Value) -> None:
        mechanism = named(_MECHANISMS, value["mechanism"])
        if self._users.pop((value["name"], mechanism), None) is None:
            raise NotAppliedError(f"there is no {mechanism} credential of user {value['name']}")

    def _set_token(self, value: Value) -> None:
        self._tokens[value["tokenId"]] = {
            "tokenId": value["tokenId"],
            "owner": value["owner"],
            "requester": value["requester"],
            "renewers": list(value["renewers"]),
            **{name: value[name] for name in _TIMES},
        }

    def _remove_token(self, value: Value) -> None:
        if self._tokens.pop(value["tokenId"], None) is None:
            raise NotAppliedError(f"there is no delegation token {value['tokenId']}")
