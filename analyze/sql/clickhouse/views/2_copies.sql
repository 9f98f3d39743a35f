CREATE TABLE own_requests AS
SELECT r.source AS source, r.session_id AS session_id, r.request_index AS request_index, r.response_id AS response_id,
       splitByString('+', coalesce(r.response_id, ''))[1] AS first_id,
       CASE WHEN r.response_id IS NOT NULL THEN first_id END AS message_id,
       never_repeats(message_id) AS never_repeats,
       CASE r.source WHEN 'api-log' THEN 3 WHEN 'atif' THEN 2 ELSE 1 END AS hand,
       hand + CASE WHEN r.input_tokens IS NULL THEN 10 ELSE 0 END AS rank,
       r."time" AS time, coalesce(r.duration_ms, 240000) AS duration_ms, r.input_tokens AS input_tokens, coalesce(r.cache_read_tokens, 0) AS cache_read_tokens,
       r.output_tokens AS output_tokens, r.output_final AS output_final, c.forked_from IS NOT NULL AS forked, c.started_at AS started_at, c.ended_at AS ended_at
FROM raw_requests r
JOIN current_parts c USING (source, stem, part, session_id)
WHERE NOT r.inherited;

CREATE TABLE copied_requests AS
WITH history AS (
  SELECT source, session_id, request_index, 'history' AS basis, source AS owner_source,
         first_value(session_id) OVER w AS owner_session_id
  FROM own_requests
  WHERE response_id IS NOT NULL
  WINDOW w AS (
    PARTITION BY source, response_id,
                 CASE WHEN NOT never_repeats THEN "time" END, CASE WHEN NOT never_repeats THEN input_tokens END,
                 CASE WHEN NOT never_repeats THEN cache_read_tokens END, CASE WHEN NOT never_repeats THEN output_tokens END,
                 CASE WHEN NOT never_repeats AND coalesce(epoch_ms("time"), input_tokens, output_tokens) IS NULL THEN session_id END
    ORDER BY output_final DESC, output_tokens DESC NULLS LAST, forked, started_at NULLS LAST, ended_at NULLS LAST, session_id, request_index
  )
  QUALIFY row_number() OVER w > 1
),
near AS (
  SELECT b.source AS source, b.session_id AS session_id, b.request_index AS request_index,
         n.source AS owner_source, n.session_id AS owner_session_id, n.request_index AS owner_index,
         b.message_id = n.message_id AS same_id,
         n.source IN ('claude-code', 'codex', 'pi') AND n.never_repeats AND b.never_repeats AS ids_differ,
         abs(epoch_ms(b."time") - epoch_ms(n."time")) AS apart
  FROM own_requests b
  JOIN own_requests n ON b.input_tokens = n.input_tokens AND b.output_tokens = n.output_tokens AND b.cache_read_tokens = n.cache_read_tokens
  WHERE b.input_tokens > 0 AND b.output_tokens > 0 AND n.hand < b.hand
    AND n."time" BETWEEN b."time" - INTERVAL 1 MINUTE AND b."time" + to_milliseconds(b.duration_ms) + INTERVAL 1 MINUTE
),
responses AS (
  SELECT b.source AS source, b.session_id AS session_id, b.request_index AS request_index,
         n.source AS owner_source, n.session_id AS owner_session_id, n.request_index AS owner_index
  FROM own_requests b
  JOIN own_requests n ON b.message_id = n.message_id
  WHERE b.never_repeats AND n.hand <> b.hand AND n.rank < b.rank
  UNION ALL
  SELECT source, session_id, request_index, owner_source, owner_session_id, owner_index
  FROM near
  WHERE same_id
),
usages AS (
  SELECT source, session_id, request_index, owner_source, owner_session_id
  FROM near
  WHERE (source, session_id, request_index) NOT IN (SELECT source, session_id, request_index FROM responses)
    AND NOT coalesce(ids_differ, true)
    AND (source, owner_source, owner_session_id, owner_index) NOT IN (SELECT source, owner_source, owner_session_id, owner_index FROM responses)
  QUALIFY row_number() OVER (PARTITION BY source, session_id, request_index ORDER BY apart, owner_source, owner_session_id, owner_index) = 1
      AND row_number() OVER (PARTITION BY source, owner_source, owner_session_id, owner_index ORDER BY apart, session_id, request_index) = 1
),
copies AS (
  SELECT source, session_id, request_index, basis, owner_source, owner_session_id FROM history
  UNION ALL
  SELECT source, session_id, request_index, 'response', owner_source, owner_session_id FROM responses
  UNION ALL
  SELECT source, session_id, request_index, 'usage', owner_source, owner_session_id FROM usages
)
SELECT *
FROM copies
QUALIFY row_number() OVER (PARTITION BY source, session_id, request_index ORDER BY basis, owner_source, owner_session_id) = 1;

DROP TABLE own_requests;
