-- What brings ClickHouse's SQL near to the standard's: outer joins and aggregates of
-- nothing give NULL, casts keep it, UNION removes duplicates, columns go before aliases.
SET use_hive_partitioning = 1, join_use_nulls = 1, cast_keep_nullable = 1, aggregate_functions_null_for_empty = 1,
    prefer_column_name_to_alias = 1, union_default_mode = 'DISTINCT', least_greatest_legacy_null_behavior = 0,
    default_table_engine = 'Memory', session_timezone = 'UTC';

