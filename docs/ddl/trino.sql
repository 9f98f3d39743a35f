-- Written by: go test ./docs -run DDL -update-ddl

CREATE TABLE hive.fclog.raw_requests (
  "part" varchar,
  "session_id" varchar,
  "request_index" bigint,
  "chain" bigint,
  "request" bigint,
  "kind" varchar,
  "run" bigint,
  "attempt" bigint,
  "inherited" boolean,
  "base_request_index" bigint,
  "response_id" varchar,
  "time" timestamp(3),
  "duration_ms" bigint,
  "ttft_ms" bigint,
  "provider" varchar,
  "model" varchar,
  "status" varchar,
  "input_tokens" bigint,
  "cache_read_tokens" bigint,
  "cache_write_tokens" bigint,
  "cache_write_5m_tokens" bigint,
  "cache_write_1h_tokens" bigint,
  "output_tokens" bigint,
  "reasoning_tokens" bigint,
  "output_final" boolean,
  "subscription" boolean,
  "logged_usd" double,
  "messages" bigint,
  "prompt_chars" bigint,
  "counted_tokens" bigint,
  "calibrated_tokens" bigint,
  "framing_tokens" bigint,
  "unlogged_tokens" bigint,
  "constant_tokens" bigint,
  "constant_low" bigint,
  "constant_high" bigint,
  "constant_method" varchar,
  "line" bigint,
  source varchar,
  month varchar
)
WITH (format = 'PARQUET', external_location = 's3://BUCKET/dataset/requests', partitioned_by = ARRAY['source', 'month']);
CALL hive.system.sync_partition_metadata('fclog', 'raw_requests', 'FULL');

CREATE TABLE hive.fclog.raw_items (
  "part" varchar,
  "session_id" varchar,
  "item" bigint,
  "kind" varchar,
  "role" varchar,
  "tool" varchar,
  "call_id" varchar,
  "label" varchar,
  "origin" varchar,
  "request_index" bigint,
  "text_hash" varchar,
  "chars" bigint,
  "bytes" bigint,
  "tokens" bigint,
  "prefix_tokens" bigint,
  "prefix_lines" bigint,
  "sized" boolean,
  source varchar,
  month varchar
)
WITH (format = 'PARQUET', external_location = 's3://BUCKET/dataset/items', partitioned_by = ARRAY['source', 'month']);
CALL hive.system.sync_partition_metadata('fclog', 'raw_items', 'FULL');

CREATE TABLE hive.fclog.raw_spans (
  "part" varchar,
  "session_id" varchar,
  "item" bigint,
  "span" bigint,
  "chain" bigint,
  "first_request" bigint,
  "last_request" bigint,
  "requests" bigint,
  "position" bigint,
  "text_hash" varchar,
  "chars" bigint,
  "bytes" bigint,
  "tokens" bigint,
  "prefix_tokens" bigint,
  "sized" boolean,
  source varchar,
  month varchar
)
WITH (format = 'PARQUET', external_location = 's3://BUCKET/dataset/spans', partitioned_by = ARRAY['source', 'month']);
CALL hive.system.sync_partition_metadata('fclog', 'raw_spans', 'FULL');

CREATE TABLE hive.fclog.raw_calls (
  "part" varchar,
  "session_id" varchar,
  "call" bigint,
  "request_index" bigint,
  "call_id" varchar,
  "tool" varchar,
  "class" varchar,
  "args" varchar,
  "args_hash" varchar,
  "args_key" varchar,
  "command" varchar,
  "path" varchar,
  "range" varchar,
  "output_kind" varchar,
  "read_only" boolean,
  "mutates" boolean,
  "ran" boolean,
  "denied" boolean,
  "failed" boolean,
  "inherited" boolean,
  "time" timestamp(3),
  "duration_ms" bigint,
  "args_item" bigint,
  "result_item" bigint,
  "full_hash" varchar,
  "full_chars" bigint,
  "batch_size" bigint,
  "repeat_of" bigint,
  "strict_repeat_of" bigint,
  "task" varchar,
  "starts_task" boolean,
  "poll" varchar,
  "truncated" varchar,
  "handle" varchar,
  "recovers" varchar,
  "child_session" varchar,
  "parent_call_id" varchar,
  "line" bigint,
  source varchar,
  month varchar
)
WITH (format = 'PARQUET', external_location = 's3://BUCKET/dataset/calls', partitioned_by = ARRAY['source', 'month']);
CALL hive.system.sync_partition_metadata('fclog', 'raw_calls', 'FULL');

CREATE TABLE hive.fclog.raw_texts (
  "part" varchar,
  "session_id" varchar,
  "text_hash" varchar,
  "text" varchar,
  source varchar,
  month varchar
)
WITH (format = 'PARQUET', external_location = 's3://BUCKET/dataset/texts', partitioned_by = ARRAY['source', 'month']);
CALL hive.system.sync_partition_metadata('fclog', 'raw_texts', 'FULL');

CREATE TABLE hive.fclog.raw_other_billed (
  "part" varchar,
  "session_id" varchar,
  "kind" varchar,
  "time" timestamp(3),
  "provider" varchar,
  "model" varchar,
  "input_tokens" bigint,
  "cache_read_tokens" bigint,
  "cache_write_tokens" bigint,
  "output_tokens" bigint,
  "estimate" boolean,
  "line" bigint,
  source varchar,
  month varchar
)
WITH (format = 'PARQUET', external_location = 's3://BUCKET/dataset/other_billed', partitioned_by = ARRAY['source', 'month']);
CALL hive.system.sync_partition_metadata('fclog', 'raw_other_billed', 'FULL');

CREATE TABLE hive.fclog.raw_reported (
  "part" varchar,
  "session_id" varchar,
  "model" varchar,
  "requests" bigint,
  "input_tokens" bigint,
  "cache_read_tokens" bigint,
  "cache_write_tokens" bigint,
  "cache_write_5m_tokens" bigint,
  "cache_write_1h_tokens" bigint,
  "output_tokens" bigint,
  "reasoning_tokens" bigint,
  "cost_usd" double,
  "line" bigint,
  source varchar,
  month varchar
)
WITH (format = 'PARQUET', external_location = 's3://BUCKET/dataset/reported', partitioned_by = ARRAY['source', 'month']);
CALL hive.system.sync_partition_metadata('fclog', 'raw_reported', 'FULL');

CREATE TABLE hive.fclog.raw_calibration (
  "part" varchar,
  "session_id" varchar,
  "model" varchar,
  "kind" varchar,
  "fit" varchar,
  "factor" double,
  "factor_low" double,
  "factor_high" double,
  "framing_per_message" double,
  "pairs" bigint,
  "method" varchar,
  source varchar,
  month varchar
)
WITH (format = 'PARQUET', external_location = 's3://BUCKET/dataset/calibration', partitioned_by = ARRAY['source', 'month']);
CALL hive.system.sync_partition_metadata('fclog', 'raw_calibration', 'FULL');

CREATE TABLE hive.fclog.raw_problems (
  "part" varchar,
  "session_id" varchar,
  "file" varchar,
  "line" bigint,
  "kind" varchar,
  "detail" varchar,
  "count" bigint,
  source varchar,
  month varchar
)
WITH (format = 'PARQUET', external_location = 's3://BUCKET/dataset/problems', partitioned_by = ARRAY['source', 'month']);
CALL hive.system.sync_partition_metadata('fclog', 'raw_problems', 'FULL');

CREATE TABLE hive.fclog.raw_sessions (
  "part" varchar,
  "session_id" varchar,
  "agent_version" varchar,
  "agent" varchar,
  "parent_session_id" varchar,
  "parent_call_id" varchar,
  "forked_from" varchar,
  "spawned_at" timestamp(3),
  "models" array(varchar),
  "started_at" timestamp(3),
  "ended_at" timestamp(3),
  "cwd" varchar,
  "file" varchar,
  "file_bytes" bigint,
  "records" bigint,
  "missing" array(varchar),
  "front_moves" boolean,
  "encoding" varchar,
  "public_encoding" boolean,
  "has_text" boolean,
  "importer" varchar,
  "file_key" varchar,
  "superseded" boolean,
  "redacted" bigint,
  "contents" array(varchar),
  source varchar,
  month varchar
)
WITH (format = 'PARQUET', external_location = 's3://BUCKET/dataset/sessions', partitioned_by = ARRAY['source', 'month']);
CALL hive.system.sync_partition_metadata('fclog', 'raw_sessions', 'FULL');
