"""One batch: what can be wrong with it, and the decoder that turns it into rows."""

from kafkalog_source.batch.decoder import DecodeSettings, make_decoder
from kafkalog_source.batch.problems import problem_of

__all__ = ["DecodeSettings", "make_decoder", "problem_of"]
