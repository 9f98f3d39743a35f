-- Written by: go test ./docs -run DDL -update-ddl

CREATE EXTERNAL TABLE fclog.raw_requests (
  `part` STRING,
  `session_id` STRING,
  `request_index` INT64,
  `chain` INT64,
  `request` INT64,
  `kind` STRING,
  `run` INT64,
  `attempt` INT64,
  `inherited` BOOL,
  `base_request_index` INT64,
  `response_id` STRING,
  `time` TIMESTAMP,
  `duration_ms` INT64,
  `ttft_ms` INT64,
  `provider` STRING,
  `model` STRING,
  `status` STRING,
  `input_tokens` INT64,
  `cache_read_tokens` INT64,
  `cache_write_tokens` INT64,
  `cache_write_5m_tokens` INT64,
  `cache_write_1h_tokens` INT64,
  `output_tokens` INT64,
  `reasoning_tokens` INT64,
  `output_final` BOOL,
  `subscription` BOOL,
  `logged_usd` FLOAT64,
  `messages` INT64,
  `prompt_chars` INT64,
  `counted_tokens` INT64,
  `calibrated_tokens` INT64,
  `framing_tokens` INT64,
  `unlogged_tokens` INT64,
  `constant_tokens` INT64,
  `constant_low` INT64,
  `constant_high` INT64,
  `constant_method` STRING,
  `line` INT64
)
WITH PARTITION COLUMNS (source STRING, month STRING)
OPTIONS (format = 'PARQUET', enable_list_inference = TRUE,
  uris = ['gs://BUCKET/dataset/requests/*.parquet'], hive_partition_uri_prefix = 'gs://BUCKET/dataset/requests');

CREATE EXTERNAL TABLE fclog.raw_items (
  `part` STRING,
  `session_id` STRING,
  `item` INT64,
  `kind` STRING,
  `role` STRING,
  `tool` STRING,
  `call_id` STRING,
  `label` STRING,
  `origin` STRING,
  `request_index` INT64,
  `text_hash` STRING,
  `chars` INT64,
  `bytes` INT64,
  `tokens` INT64,
  `prefix_tokens` INT64,
  `prefix_lines` INT64,
  `sized` BOOL
)
WITH PARTITION COLUMNS (source STRING, month STRING)
OPTIONS (format = 'PARQUET', enable_list_inference = TRUE,
  uris = ['gs://BUCKET/dataset/items/*.parquet'], hive_partition_uri_prefix = 'gs://BUCKET/dataset/items');

CREATE EXTERNAL TABLE fclog.raw_spans (
  `part` STRING,
  `session_id` STRING,
  `item` INT64,
  `span` INT64,
  `chain` INT64,
  `first_request` INT64,
  `last_request` INT64,
  `requests` INT64,
  `position` INT64,
  `text_hash` STRING,
  `chars` INT64,
  `bytes` INT64,
  `tokens` INT64,
  `prefix_tokens` INT64,
  `sized` BOOL
)
WITH PARTITION COLUMNS (source STRING, month STRING)
OPTIONS (format = 'PARQUET', enable_list_inference = TRUE,
  uris = ['gs://BUCKET/dataset/spans/*.parquet'], hive_partition_uri_prefix = 'gs://BUCKET/dataset/spans');

CREATE EXTERNAL TABLE fclog.raw_calls (
  `part` STRING,
  `session_id` STRING,
  `call` INT64,
  `request_index` INT64,
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
  `read_only` BOOL,
  `mutates` BOOL,
  `ran` BOOL,
  `denied` BOOL,
  `failed` BOOL,
  `inherited` BOOL,
  `time` TIMESTAMP,
  `duration_ms` INT64,
  `args_item` INT64,
  `result_item` INT64,
  `full_hash` STRING,
  `full_chars` INT64,
  `batch_size` INT64,
  `repeat_of` INT64,
  `strict_repeat_of` INT64,
  `task` STRING,
  `starts_task` BOOL,
  `poll` STRING,
  `truncated` STRING,
  `handle` STRING,
  `recovers` STRING,
  `child_session` STRING,
  `parent_call_id` STRING,
  `line` INT64
)
WITH PARTITION COLUMNS (source STRING, month STRING)
OPTIONS (format = 'PARQUET', enable_list_inference = TRUE,
  uris = ['gs://BUCKET/dataset/calls/*.parquet'], hive_partition_uri_prefix = 'gs://BUCKET/dataset/calls');

CREATE EXTERNAL TABLE fclog.raw_texts (
  `part` STRING,
  `session_id` STRING,
  `text_hash` STRING,
  `text` STRING
)
WITH PARTITION COLUMNS (source STRING, month STRING)
OPTIONS (format = 'PARQUET', enable_list_inference = TRUE,
  uris = ['gs://BUCKET/dataset/texts/*.parquet'], hive_partition_uri_prefix = 'gs://BUCKET/dataset/texts');

CREATE EXTERNAL TABLE fclog.raw_other_billed (
  `part` STRING,
  `session_id` STRING,
  `kind` STRING,
  `time` TIMESTAMP,
  `provider` STRING,
  `model` STRING,
  `input_tokens` INT64,
  `cache_read_tokens` INT64,
  `cache_write_tokens` INT64,
  `output_tokens` INT64,
  `estimate` BOOL,
  `line` INT64
)
WITH PARTITION COLUMNS (source STRING, month STRING)
OPTIONS (format = 'PARQUET', enable_list_inference = TRUE,
  uris = ['gs://BUCKET/dataset/other_billed/*.parquet'], hive_partition_uri_prefix = 'gs://BUCKET/dataset/other_billed');

CREATE EXTERNAL TABLE fclog.raw_reported (
  `part` STRING,
  `session_id` STRING,
  `model` STRING,
  `requests` INT64,
  `input_tokens` INT64,
  `cache_read_tokens` INT64,
  `cache_write_tokens` INT64,
  `cache_write_5m_tokens` INT64,
  `cache_write_1h_tokens` INT64,
  `output_tokens` INT64,
  `reasoning_tokens` INT64,
  `cost_usd` FLOAT64,
  `line` INT64
)
WITH PARTITION COLUMNS (source STRING, month STRING)
OPTIONS (format = 'PARQUET', enable_list_inference = TRUE,
  uris = ['gs://BUCKET/dataset/reported/*.parquet'], hive_partition_uri_prefix = 'gs://BUCKET/dataset/reported');

CREATE EXTERNAL TABLE fclog.raw_calibration (
  `part` STRING,
  `session_id` STRING,
  `model` STRING,
  `kind` STRING,
  `fit` STRING,
  `factor` FLOAT64,
  `factor_low` FLOAT64,
  `factor_high` FLOAT64,
  `framing_per_message` FLOAT64,
  `pairs` INT64,
  `method` STRING
)
WITH PARTITION COLUMNS (source STRING, month STRING)
OPTIONS (format = 'PARQUET', enable_list_inference = TRUE,
  uris = ['gs://BUCKET/dataset/calibration/*.parquet'], hive_partition_uri_prefix = 'gs://BUCKET/dataset/calibration');

CREATE EXTERNAL TABLE fclog.raw_problems (
  `part` STRING,
  `session_id` STRING,
  `file` STRING,
  `line` INT64,
  `kind` STRING,
  `detail` STRING,
  `count` INT64
)
WITH PARTITION COLUMNS (source STRING, month STRING)
OPTIONS (format = 'PARQUET', enable_list_inference = TRUE,
  uris = ['gs://BUCKET/dataset/problems/*.parquet'], hive_partition_uri_prefix = 'gs://BUCKET/dataset/problems');

CREATE EXTERNAL TABLE fclog.raw_sessions (
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
  `file_bytes` INT64,
  `records` INT64,
  `missing` ARRAY<STRING>,
  `front_moves` BOOL,
  `encoding` STRING,
  `public_encoding` BOOL,
  `has_text` BOOL,
  `importer` STRING,
  `file_key` STRING,
  `superseded` BOOL,
  `redacted` INT64,
  `contents` ARRAY<STRING>
)
WITH PARTITION COLUMNS (source STRING, month STRING)
OPTIONS (format = 'PARQUET', enable_list_inference = TRUE,
  uris = ['gs://BUCKET/dataset/sessions/*.parquet'], hive_partition_uri_prefix = 'gs://BUCKET/dataset/sessions');
