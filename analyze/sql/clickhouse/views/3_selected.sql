-- All sessions are selected. Another choice goes here, such as
-- WHERE started_at >= '2026-01-01'.
CREATE TABLE selected AS SELECT source, stem, part, session_id FROM current_parts;
CREATE TABLE read_sessions AS SELECT source, session_id FROM current_parts;
