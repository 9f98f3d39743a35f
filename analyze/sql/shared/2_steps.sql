-- Steps from one counting answered request of a chain to the next, with what
-- happened to the cached prefix. lost_tokens = previous input - cache read,
-- where that exceeds 256: providers serve the cache in blocks of 128 tokens, so
-- one partly filled block and the framing of the last message miss every time.
-- Without a cause in sight a loss must exceed 1,280: some models of OpenAI serve
-- up to about 1,024 tokens less than they could, again and again.
-- Where a model never reads or writes the cache in a session, it does not report
-- it, whatever zeros the log holds: lost_tokens is NULL.
-- Positions below 3 << 40 = 3 * 1099511627776 stand before the conversation (tools, system prompt,
-- project context), those from 4 << 40 on behind it.
CREATE VIEW steps AS
WITH numbered AS (
  SELECT r.*,
         counts AND status = 'answered' AND input_tokens IS NOT NULL AS usable,
         sum(CASE WHEN kind = 'compaction' THEN 1 ELSE 0 END) OVER (PARTITION BY part, session_id ORDER BY request_index) ::BIGINT AS compactions,
         max(cache_write_1h_tokens) OVER (PARTITION BY part, session_id) AS written_1h,
         max(cache_read_tokens > 0 OR cache_write_tokens > 0) OVER (PARTITION BY part, session_id, model) AS caches
  FROM requests r
),
answered AS (
  SELECT n.*,
         lag(request) OVER w AS prev_request,
         lag(request_index) OVER w AS prev_request_index,
         lag(input_tokens) OVER w AS prev_input_tokens,
         lag(output_tokens) OVER w AS prev_output_tokens,
         lag(output_final) OVER w AS prev_output_final,
         lag(counted_tokens) OVER w AS prev_counted_tokens,
         lag(calibrated_tokens) OVER w AS prev_calibrated_tokens,
         lag(framing_tokens) OVER w AS prev_framing_tokens,
         lag(unlogged_tokens) OVER w AS prev_unlogged_tokens,
         lag(messages) OVER w AS prev_messages,
         lag(run) OVER w AS prev_run,
         lag(model) OVER w AS prev_model,
         lag("time") OVER w AS prev_time,
         lag(compactions) OVER w AS prev_compactions
  FROM numbered n
  WHERE usable
  WINDOW w AS (PARTITION BY part, session_id, chain ORDER BY request)
),
next_step AS (
  SELECT part, session_id, chain, request AS after_request,
         min(request) FILTER (WHERE usable) OVER (
           PARTITION BY part, session_id, chain ORDER BY request
           ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS request
  FROM numbered
),
ended AS (
  SELECT n.part AS part, n.session_id AS session_id, n.chain AS chain, n.request AS request, s.item AS item, s.position, coalesce(s.tokens, 0) AS tokens
  FROM spans s
  JOIN next_step n ON n.part = s.part AND n.session_id = s.session_id AND n.chain = s.chain AND n.after_request = s.last_request
  WHERE n.request IS NOT NULL
),
started AS (
  SELECT n.part AS part, n.session_id AS session_id, n.chain AS chain, n.request AS request, s.item AS item, s.position, i.kind AS kind
  FROM spans s
  JOIN next_step n ON n.part = s.part AND n.session_id = s.session_id AND n.chain = s.chain AND n.after_request = s.first_request - 1
  JOIN items i ON i.part = s.part AND i.session_id = s.session_id AND i.item = s.item
  WHERE n.request IS NOT NULL
),
endings AS (
  SELECT part AS of_part, session_id AS of_session, chain AS of_chain, request AS of_request,
         bool_or(e.position < 3 * 1099511627776) AS front_ended,
         bool_or(e.position >= 3 * 1099511627776 AND e.position < 4 * 1099511627776) AS conversation_ended,
         sum(e.tokens) FILTER (WHERE s.item IS NULL AND e.position >= 3 * 1099511627776 AND e.position < 4 * 1099511627776) AS gone_tokens
  FROM ended e
  LEFT JOIN (SELECT DISTINCT part, session_id, chain, request, item FROM started) s USING (part, session_id, chain, request, item)
  GROUP BY ALL
),
starts AS (
  SELECT part AS of_part, session_id AS of_session, chain AS of_chain, request AS of_request,
         bool_or(position < 3 * 1099511627776) AS front_started,
         bool_or(kind = 'summary') AS summary_started
  FROM started
  GROUP BY ALL
),
front_changes AS (
  SELECT part, session_id, chain, request, sum(tokens) AS tokens
  FROM (
    SELECT part, session_id, chain, first_request AS request, coalesce(tokens, 0) AS tokens
    FROM spans WHERE position < 3 * 1099511627776
    UNION ALL
    SELECT part, session_id, chain, last_request + 1, -coalesce(tokens, 0)
    FROM spans WHERE position < 3 * 1099511627776
  )
  GROUP BY ALL
),
front AS (
  SELECT part AS of_part, session_id AS of_session, chain AS of_chain, request AS of_request,
         sum(tokens) OVER (PARTITION BY part, session_id, chain ORDER BY request) AS front_tokens
  FROM front_changes
),
reminders AS (
  SELECT part AS of_part, session_id AS of_session, regexp_matches(array_to_string(missing, ', '), '(?i)reminder|to-?do') AS blocks_unlogged
  FROM sessions
),
judged AS (
  SELECT a.*,
         coalesce(f.front_tokens, 0) AS front_tokens,
         coalesce(e.front_ended, false) OR coalesce(t.front_started, false) AS front_changed,
         coalesce(e.conversation_ended, false) AS conversation_changed,
         coalesce(t.summary_started, false)
           OR a.compactions > a.prev_compactions
           OR coalesce(2 * e.gone_tokens >= a.prev_counted_tokens AND a.prev_counted_tokens > 0, false) AS compacted,
         date_diff('second', a.prev_time, a."time") AS gap_s,
         CASE WHEN a.written_1h > 0 THEN 3600 ELSE 300 END AS lifetime_s,
         x.blocks_unlogged,
         CASE WHEN NOT coalesce(a.caches, false) THEN NULL
              WHEN a.prev_input_tokens - a.cache_read_tokens > 256 THEN a.prev_input_tokens - a.cache_read_tokens
              WHEN a.prev_input_tokens - a.cache_read_tokens IS NOT NULL THEN 0
         END::BIGINT AS lost_tokens
  FROM answered a
  JOIN reminders x ON x.of_part = a.part AND x.of_session = a.session_id
  LEFT JOIN endings e ON e.of_part = a.part AND e.of_session = a.session_id AND e.of_chain = a.chain AND e.of_request = a.request
  LEFT JOIN starts t ON t.of_part = a.part AND t.of_session = a.session_id AND t.of_chain = a.chain AND t.of_request = a.request
  ASOF LEFT JOIN front f
    ON f.of_part = a.part AND f.of_session = a.session_id AND f.of_chain = a.chain AND f.of_request <= a.request
)
SELECT j.*,
       least(lost_tokens, input_tokens - cache_read_tokens)::BIGINT AS resent_tokens,
       CASE
         WHEN lost_tokens IS NULL OR lost_tokens = 0 THEN NULL
         WHEN compacted THEN 'compaction'
         WHEN model IS DISTINCT FROM prev_model THEN 'model-changed'
         WHEN gap_s > lifetime_s THEN 'lifetime'
         WHEN run <> prev_run THEN 'run-border'
         WHEN front_changed THEN 'block-before-conversation'
         WHEN conversation_changed THEN 'content-changed'
         WHEN blocks_unlogged AND cache_read_tokens > 0
              AND cache_read_tokens <= greatest(coalesce(prev_unlogged_tokens, 0), coalesce(unlogged_tokens, 0)) + front_tokens + 256
           THEN 'block-before-conversation'
         WHEN lost_tokens > 1280 THEN 'unknown'
       END AS cause
FROM judged j;
