"""What the help of each command shows after its flags: terms, exit status and examples."""

from __future__ import annotations

__all__ = [
    "CLUSTER",
    "COUNT",
    "DUMP",
    "EXPORT",
    "GROUPS",
    "JOB",
    "JOB_INIT",
    "KAFKALOG",
    "LS",
    "MAN",
    "SALVAGE",
    "STAT",
    "TAIL",
    "TRANSACTIONS",
    "VERIFY",
]

KAFKALOG = """\
examples:
  kafkalog ls /backup/broker-1/kafka-logs
  kafkalog dump /backup/broker-1/kafka-logs --subscribe orders --limit 10
  kafkalog export /backup/broker-1/kafka-logs -o orders.parquet --subscribe orders
  kafkalog verify /backup/broker-1/kafka-logs
  kafkalog groups /backup/broker-1/kafka-logs --at 2026-11-20T14:30
  kafkalog salvage /backup/broker-1/kafka-logs /new/kafka-logs
  kafkalog cluster /backup/controller-1/metadata --at yesterday
  kafkalog COMMAND --help

exit status:
  0  done
  1  the data is damaged, incomplete or in an unsupported format
  2  could not run: an unknown option, a path that does not exist, holds no
     segment, or cannot be read for lack of permission
"""

LS = """\
Internal topics are included. FIRST and LAST are the first offset of the first
batch and the last offset of the last one; "-" means that no complete batch was
found, "?" that the batch cannot be read. FIRST TIME is that of the first
record, LAST TIME the largest in the last batch, in UTC; "-" if there is none,
or if compaction has put something else in its place. REMOTE, shown if there is
any, is the range of offsets that a tiered topic keeps only in remote storage;
"or missing" means that their segments may be lost instead. --skipped and --json
list what was skipped, and why.

examples:
  kafkalog ls kafka-logs
  kafkalog ls '/backup/disk*/kafka-logs' --subscribe orders
  kafkalog ls kafka-logs/orders-0 --segments
  kafkalog ls kafka-logs -h --sort size
  kafkalog ls kafka-logs --json | jq '.partitions[] | select(.bytes == 0) | .topic'
"""

DUMP = """\
As text, a line is TOPIC-PARTITION@OFFSET, the timestamp, and the other columns
as name=value. With --json, a line is a JSON object with a field for each
column. Keys, values and header values that are not text are shown as base64:...
in text and as {"base64": "..."} in JSON. Null is null, empty is "".

With -f, %t is the topic, %p the partition, %o the offset, %k the key, %s the
value, %K and %S their lengths, %T the timestamp in milliseconds, %h the headers
and %% a percent sign; \\n \\r \\t \\\\ \\xFF are as in C. Keys and values are
written byte for byte, and nothing is added after a record.

A TERM is the whole content as text, hex:6B6579 or base64:a2V5, or re:REGEX.
Regular expressions are those of RE2, over bytes.

examples:
  kafkalog dump kafka-logs/orders-0 --limit 5
  kafkalog dump kafka-logs --subscribe orders,payments --json
  kafkalog dump kafka-logs --subscribe orders --key customer-7 -f '%o %T %s\\n'
  kafkalog dump kafka-logs --grep '(?i)timeout' --header 'trace-id=re:^4bf9'
  kafkalog dump kafka-logs --place orders:3@1200..1300 --place payments@yesterday..
  kafkalog dump kafka-logs --assign '{"orders":[0]}' --starting-offsets '{"orders":{"0":100}}'
  kafkalog dump kafka-logs --starting-timestamp 2026-11-20T14:30+01:00 --columns topic,offset,valueSize
  kafkalog dump kafka-logs/orders-0/00000000000000000000.log -o verifyChecksums=false
  kafkalog dump kafka-logs --mode DROPMALFORMED --json
  kafkalog dump kafka-logs --view damage
  kafkalog dump kafka-logs/orders-0 --view transactions
  kafkalog dump kafka-logs --view consumer_offsets --columns group,committedTopic,committedOffset
"""

COUNT = """\
Counted are the records on disk, from the headers of batches. Payloads are read
only for compressed batches of formats 0 and 1, whose headers do not hold a
number, and where a range begins or ends inside a batch. Damage and missing
segments are skipped and reported.

exit status:
  0  done
  1  something is damaged or missing, so that the number is too small
  2  could not run: an unknown option, a path that does not exist, holds no
     segment, or cannot be read for lack of permission

examples:
  kafkalog count kafka-logs
  kafkalog count kafka-logs --subscribe orders --starting-timestamp yesterday
  kafkalog count kafka-logs --json | jq .records
"""

STAT = """\
All is from the headers of batches. RECORDS has no control records. A "?" is
what headers do not hold: of compressed batches of formats 0 and 1 the number of
records and the first time. P50, P90 and P99 of the sizes of batches on disk are
right to within 5 %. The job topic_profile goes further: keys, values, gaps,
throughput. Damage and missing segments are skipped and reported.

exit status:
  0  done
  1  something is damaged or missing, which the numbers leave out
  2  could not run: an unknown option, a path that does not exist, holds no
     segment, or cannot be read for lack of permission

examples:
  kafkalog stat kafka-logs
  kafkalog stat kafka-logs/orders-0 -h
  kafkalog stat kafka-logs --json | jq '.topics[] | {topic, bytes, codecs}'
"""

TAIL = """\
Filters come first: the last N records that match are looked for as far back as
needed. With -f, new records are printed about half a second after a broker has
written them to the file, and new partitions are followed too; those of one
partition are in order. Records that are not committed are included, unless
-o isolationLevel=read_committed is given.

examples:
  kafkalog tail kafka-logs/orders-0
  kafkalog tail kafka-logs --subscribe orders -n 3 --json
  kafkalog tail kafka-logs --subscribe orders -n 0 -f --grep '(?i)error'
  kafkalog tail kafka-logs/orders-0 -f --format '%o %k %s\\n'
"""

EXPORT = """\
OUT appears under its name only when it is complete, and replaces a file of
that name. Nothing is left of it after an error or an interrupt. DIR/ has to be
new or empty, and gets a file for each topic: DIR/topic=orders/part-0.parquet.
Arrow to standard output is in the stream format.

In CSV, keys and values that are not text are base64:..., headers are JSON, null
is an empty field and an empty value "". A line of JSON is one of dump --json.

--rescue skips damage, steps over missing segments, and ends with the offsets
that are lost, in numbers and per cent.

--sql needs DuckDB. The table is named after the view: records, batches, ... It
has the default columns, and all others that the query names.

exit status:
  0  done
  1  something is lost, or, without --rescue, there is damage and no OUT
  2  could not run

examples:
  kafkalog export kafka-logs -o all.parquet
  kafkalog export kafka-logs -o by-topic/
  kafkalog export kafka-logs -o orders.csv --subscribe orders --starting-timestamp yesterday
  kafkalog export kafka-logs -o sizes.jsonl --columns topic,offset,valueSize
  kafkalog export kafka-logs -o - --format arrow | python use.py
  kafkalog export kafka-logs -o top.csv --sql 'SELECT topic, count(*) FROM records GROUP BY topic'
  kafkalog export kafka-logs -o batches.parquet --view batches
  kafkalog export broken/orders-0 -o orders.parquet --rescue
  kafkalog export kafka-logs -o all.parquet --option maxDecompressedBatchBytes=1g
"""

VERIFY = """\
Checked are every batch (header, checksum, decompression, records, offsets), the
offset, time and transaction indexes, producer snapshots, checkpoints, and the
snapshots of the metadata log. Each finding names the file and the position, and
is one of

  damage      records cannot be read, or are missing
  misleading  a file beside the segments is damaged, or contradicts them
  unchecked   records that cannot be checked here: they are in remote storage,
              or in segments that have to be unpacked first
  note        nothing is wrong: what a crash or a live log leaves, such as a
              batch cut off at the end of a partition's last segment

If records are lost, the report ends with their offsets in numbers and per cent,
for each partition and in all, and with the commands that read what is left.

exit status:
  0  sound; there may be notes
  1  damage, something misleading, or records that could not be checked
  2  could not run: an unknown option, a path that does not exist, holds no
     segment, or cannot be read for lack of permission. Also if a file below a
     path cannot be read for lack of permission, whatever the others hold

examples:
  kafkalog verify kafka-logs
  kafkalog verify '/backup/disk*/kafka-logs' --subscribe orders
  kafkalog verify kafka-logs/orders-0/00000000000000000000.log
  kafkalog verify kafka-logs --json | jq '.partitions[].findings[] | select(.severity == "damage")'
"""

SALVAGE = """\
Every good batch is copied byte for byte, into a segment of the same name.
Indexes, producer snapshots and checkpoints are rebuilt from the batches. SRC is
never written to. DST appears under its name only when it is complete.

If SRC holds the metadata of its cluster, a broker of Kafka 4 starts on DST as
it did on SRC. If it does not, or the metadata is damaged: create the topics in
a new cluster, note their ids (kafka-topics --describe), stop its broker,
salvage with --topic-ids, and replace its empty partition directories by those
in DST.

exit status:
  0  all data is in DST
  1  something was left out; the report lists it
  2  could not run, or a segment or directory in SRC cannot be read and
     --skip-unreadable is not given; there is no DST then

examples:
  kafkalog salvage /broken/kafka-logs /new/kafka-logs
  kafkalog salvage /broken/kafka-logs /new/kafka-logs --json > report.json
  kafkalog salvage /broken/kafka-logs /new/partitions --topic-ids orders=0F8ErRbvS3aaKgTFBQzTpA
  kafka-topics --describe ... > ids; kafkalog salvage /broken/kafka-logs /new/partitions --topic-ids ids
"""

CLUSTER = """\
Read are the nearest snapshot at or before the point that is asked for, and the
records of the metadata log from there up to it; by default up to the end of the
log. Records of a metadata transaction count once it has ended, and those of an
aborted one never. Passwords and keys are shown as (redacted) unless
--include-secrets is given.

Every broker and controller has a copy of the metadata log, in the directory
__cluster_metadata-0 of its log dir, or of the one that metadata.log.dir names.
If several copies are given, the one with the highest leader epoch and offset is
read, or the next one if that does not reach back to the point.

A metadata log does not record its high watermark. What a snapshot holds was
committed; the last records of the log may not have been. A broker's copy may
also lack the last records, such as those of its own shutdown.

With --at, the records before the first one of a later time count; with
--at-offset, those up to this offset, which is included.

exit status:
  0  done
  1  the data is damaged, or records could not be applied; the others were
  2  could not run: there is no metadata log, or it does not reach back to the
     point that was asked for

examples:
  kafkalog cluster kafka-logs
  kafkalog cluster kafka-logs --at 2026-11-20T14:30
  kafkalog cluster kafka-logs --at -2h --json | jq '.topics[] | select(.name == "orders")'
  kafkalog cluster /backup/*/metadata --at-offset 12345
  diff <(kafkalog cluster kafka-logs --at yesterday) <(kafkalog cluster kafka-logs)
"""

TRANSACTIONS = """\
Kafka's own topics are included unless topics are chosen. With --open, STATE is

  hanging   no coordinator is going to write the marker: it has the transaction
            as complete, has it without this partition, or does not have it
  ongoing   the coordinator waits for the producer
  ending    the coordinator has decided, and has yet to write the marker
  unknown   the coordinator's partition of __transaction_state is not in PATH

This is the rule of kafka-transactions.sh find-hanging, which reports only
transactions that are older than a maximum. The commands that abort a
transaction are printed; nothing is sent to a cluster. A running coordinator may
have decided since the files were copied: check with find-hanging first.

HELD BACK, given for the transaction that pins the last stable offset, is the
number of offsets from there to the end of the log: read_committed consumers do
not get them. AGE is the time from the first record of a transaction to the
newest time that a broker wrote into a marker or into __transaction_state.

PATH has to hold the coordinators' records. Give all log dirs of a broker, and
the directories __transaction_state-N that it lacks from other brokers.

exit status:
  0  done, also if a transaction hangs
  1  the data is damaged
  2  could not run

examples:
  kafkalog transactions kafka-logs --open
  kafkalog transactions kafka-logs --open --json | jq '.transactions[] | select(.verdict == "hanging")'
  kafkalog transactions kafka-logs/orders-0
  kafkalog transactions '/backup/disk*/kafka-logs' --subscribe orders
"""

GROUPS = """\
A group is read from __consumer_offsets, so PATH has to hold the partition of
that topic that the group is in. Lag is counted to the end of the log on the
same disks, or with -o readUpTo=highWatermark to the high watermark. "-" means
that there is no offset, or that the log is not on these disks.

Offsets that were committed in a transaction count if it was committed. Of a
share group, CURRENT-OFFSET is the start offset, and records after it that the
group is done with are no lag. A group that only commits, without members, is
shown as a simple group. NOTE, shown if there is any, says why a lag is unknown
or strange.

With --at, the groups are those of that time: records up to it count, and lag is
counted to the end that the log had then, by the timestamps of its records.

exit status:
  0  done
  1  records are damaged or cannot be decoded
  2  could not run: an unknown option, a path that does not exist or cannot be
     read, no partition of __consumer_offsets in PATH, or no such group in it

examples:
  kafkalog groups kafka-logs
  kafkalog groups '/backup/disk*/kafka-logs' --group payments
  kafkalog groups kafka-logs --at 2026-11-20T14:30
  kafkalog groups kafka-logs --json | jq '.groups[] | select(.lag > 1000) | .group'
"""

MAN = """\
examples:
  kafkalog man | man -l -
  kafkalog man > ~/.local/share/man/man1/kafkalog.1
"""

JOB = """\
Needs pyspark and Java 17 or newer; --help, --dry-run, and an incremental run
without anything new, do without Java.

examples:
  kafkalog job log_to_parquet --help
  kafkalog job log_to_parquet kafka-logs --output lake --dry-run
  kafkalog job log_to_parquet kafka-logs --output lake --since yesterday
  kafkalog job init nightly --job log_to_parquet
"""

JOB_INIT = """\
DIR is made if it does not exist; no existing file is overwritten.

examples:
  kafkalog job init nightly
  kafkalog job init nightly --job compacted_table
"""
