-- Written by: go test ./docs -run DDL -update-ddl

CREATE TABLE raw_requests (
  `part` STRING,
  `session_id` STRING,
  `request_index` BIGINT,
  `chain` BIGINT,
  `request` BIGINT,
  `kind` STRING,
  `run` BIGINT,
  `attempt` BIGINT,
  `inherited` BOOLEAN,
  `base_request_index` BIGINT,
  `response_id` STRING,
  `time` TIMESTAMP,
  `duration_ms` BIGINT,
  `ttft_ms` BIGINT,
  `provider` STRING,
  `model` STRING,
  `status` STRING,
  `input_tokens` BIGINT,
  `cache_read_tokens` BIGINT,
  `cache_write_tokens` BIGINT,
  `cache_write_5m_tokens` BIGINT,
  `cache_write_1h_tokens` BIGINT,
  `output_tokens` BIGINT,
  `reasoning_tokens` BIGINT,
  `output_final` BOOLEAN,
  `subscription` BOOLEAN,
  `logged_usd` DOUBLE,
  `messages` BIGINT,
  `prompt_chars` BIGINT,
  `counted_tokens` BIGINT,
  `calibrated_tokens` BIGINT,
  `framing_tokens` BIGINT,
  `unlogged_tokens` BIGINT,
  `constant_tokens` BIGINT,
  `constant_low` BIGINT,
  `constant_high` BIGINT,
  `constant_method` STRING,
  `line` BIGINT,
  source STRING,
  month STRING
)
USING PARQUET
PARTITIONED BY (source, month)
LOCATION 's3a://BUCKET/dataset/requests';
MSCK REPAIR TABLE raw_requests;

CREATE TABLE raw_items (
  `part` STRING,
  `session_id` STRING,
  `item` BIGINT,
  `kind` STRING,
  `role` STRING,
  `tool` STRING,
  `call_id` STRING,
  `label` STRING,
  `origin` STRING,
  `request_index` BIGINT,
  `text_hash` STRING,
  `chars` BIGINT,
  `bytes` BIGINT,
  `tokens` BIGINT,
  `prefix_tokens` BIGINT,
  `prefix_lines` BIGINT,
  `sized` BOOLEAN,
  source STRING,
  month STRING
)
USING PARQUET
PARTITIONED BY (source, month)
LOCATION 's3a://BUCKET/dataset/items';
MSCK REPAIR TABLE raw_items;

CREATE TABLE raw_spans (
  `part` STRING,
  `session_id` STRING,
  `item` BIGINT,
  `span` BIGINT,
  `chain` BIGINT,
  `first_request` BIGINT,
  `last_request` BIGINT,
  `requests` BIGINT,
  `position` BIGINT,
  `text_hash` STRING,
  `chars` BIGINT,
  `bytes` BIGINT,
  `tokens` BIGINT,
  `prefix_tokens` BIGINT,
  `sized` BOOLEAN,
  source STRING,
  month STRING
)
USING PARQUET
PARTITIONED BY (source, month)
LOCATION 's3a://BUCKET/dataset/spans';
MSCK REPAIR TABLE raw_spans;

CREATE TABLE raw_calls (
  `part` STRING,
  `session_id` STRING,
  `call` BIGINT,
  `request_index` BIGINT,
  `call_id` STRING,
  `tool` STRING,
  `class` STRING,
  `args` STRING,
  `args_hash` STRING,
  `args_key` STRING,
  `command` STRING,
  `path` STRING,
  `range` STRING,
  `output_kind` STRING,
  `read_only` BOOLEAN,
  `mutates` BOOLEAN,
  `ran` BOOLEAN,
  `denied` BOOLEAN,
  `failed` BOOLEAN,
  `inherited` BOOLEAN,
  `time` TIMESTAMP,
  `duration_ms` BIGINT,
  `args_item` BIGINT,
  `result_item` BIGINT,
  `full_hash` STRING,
  `full_chars` BIGINT,
  `batch_size` BIGINT,
  `repeat_of` BIGINT,
  `strict_repeat_of` BIGINT,
  `task` STRING,
  `starts_task` BOOLEAN,
  `poll` STRING,
  `truncated` STRING,
  `handle` STRING,
  `recovers` STRING,
  `child_session` STRING,
  `parent_call_id` STRING,
  `line` BIGINT,
  source STRING,
  month STRING
)
USING PARQUET
PARTITIONED BY (source, month)
LOCATION 's3a://BUCKET/dataset/calls';
MSCK REPAIR TABLE raw_calls;

CREATE TABLE raw_texts (
  `part` STRING,
  `session_id` STRING,
  `text_hash` STRING,
  `text` STRING,
  source STRING,
  month STRING
)
USING PARQUET
PARTITIONED BY (source, month)
LOCATION 's3a://BUCKET/dataset/texts';
MSCK REPAIR TABLE raw_texts;

CREATE TABLE raw_other_billed (
  `part` STRING,
  `session_id` STRING,
  `kind` STRING,
  `time` TIMESTAMP,
  `provider` STRING,
  `model` STRING,
  `input_tokens` BIGINT,
  `cache_read_tokens` BIGINT,
  `cache_write_tokens` BIGINT,
  `output_tokens` BIGINT,
  `estimate` BOOLEAN,
  `line` BIGINT,
  source STRING,
  month STRING
)
USING PARQUET
PARTITIONED BY (source, month)
LOCATION 's3a://BUCKET/dataset/other_billed';
MSCK REPAIR TABLE raw_other_billed;

CREATE TABLE raw_reported (
  `part` STRING,
  `session_id` STRING,
  `model` STRING,
  `requests` BIGINT,
  `input_tokens` BIGINT,
  `cache_read_tokens` BIGINT,
  `cache_write_tokens` BIGINT,
  `cache_write_5m_tokens` BIGINT,
  `cache_write_1h_tokens` BIGINT,
  `output_tokens` BIGINT,
  `reasoning_tokens` BIGINT,
  `cost_usd` DOUBLE,
  `line` BIGINT,
  source STRING,
  month STRING
)
USING PARQUET
PARTITIONED BY (source, month)
LOCATION 's3a://BUCKET/dataset/reported';
MSCK REPAIR TABLE raw_reported;

CREATE TABLE raw_calibration (
  `part` STRING,
  `session_id` STRING,
  `model` STRING,
  `kind` STRING,
  `fit` STRING,
  `factor` DOUBLE,
  `factor_low` DOUBLE,
  `factor_high` DOUBLE,
  `framing_per_message` DOUBLE,
  `pairs` BIGINT,
  `method` STRING,
  source STRING,
  month STRING
)
USING PARQUET
PARTITIONED BY (source, month)
LOCATION 's3a://BUCKET/dataset/calibration';
MSCK REPAIR TABLE raw_calibration;

CREATE TABLE raw_problems (
  `part` STRING,
  `session_id` STRING,
  `file` STRING,
  `line` BIGINT,
  `kind` STRING,
  `detail` STRING,
  `count` BIGINT,
  source STRING,
  month STRING
)
USING PARQUET
PARTITIONED BY (source, month)
LOCATION 's3a://BUCKET/dataset/problems';
MSCK REPAIR TABLE raw_problems;

CREATE TABLE raw_sessions (
  `part` STRING,
  `session_id` STRING,
  `agent_version` STRING,
  `agent` STRING,
  `parent_session_id` STRING,
  `parent_call_id` STRING,
  `forked_from` STRING,
  `spawned_at` TIMESTAMP,
  `models` ARRAY<STRING>,
  `started_at` TIMESTAMP,
  `ended_at` TIMESTAMP,
  `cwd` STRING,
  `file` STRING,
  `file_bytes` BIGINT,
  `records` BIGINT,
  `missing` ARRAY<STRING>,
  `front_moves` BOOLEAN,
  `encoding` STRING,
  `public_encoding` BOOLEAN,
  `has_text` BOOLEAN,
  `importer` STRING,
  `file_key` STRING,
  `superseded` BOOLEAN,
  `redacted` BIGINT,
  `contents` ARRAY<STRING>,
  source STRING,
  month STRING
)
USING PARQUET
PARTITIONED BY (source, month)
LOCATION 's3a://BUCKET/dataset/sessions';
MSCK REPAIR TABLE raw_sessions;
