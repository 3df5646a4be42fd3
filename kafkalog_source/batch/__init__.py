"""One batch: its checksum, its decoder, and the sentences for what can be wrong with it."""

from kafkalog_source.batch.checksum import ChecksumRule, checksum_rule, checksum_rule_07
from kafkalog_source.batch.decoder import DecodeSettings, make_decoder, make_decoder_07
from kafkalog_source.batch.problems import problem_of, problem_of_07

__all__ = [
    "ChecksumRule",
    "DecodeSettings",
    "checksum_rule",
    "checksum_rule_07",
    "make_decoder",
    "make_decoder_07",
    "problem_of",
    "problem_of_07",
]
