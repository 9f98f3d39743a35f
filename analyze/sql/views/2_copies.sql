-- Every request that is its session's own. hand says how near to the agent its log
-- is: its own log, a trajectory made of it, bodies captured on the way. What has no
-- usage comes after all that have.
CREATE TEMP TABLE own_requests AS
SELECT r.source, r.session_id, r.request_index, r.response_id, split_part(r.response_id, '+', 1) AS message_id,
       never_repeats(message_id) AS never_repeats,
       CASE r.source WHEN 'api-log' THEN 3 WHEN 'atif' THEN 2 ELSE 1 END AS hand,
       hand + CASE WHEN r.input_tokens IS NULL THEN 10 ELSE 0 END AS rank,
       r."time", coalesce(r.duration_ms, 240000) AS duration_ms, r.input_tokens, coalesce(r.cache_read_tokens, 0) AS cache_read_tokens,
       r.output_tokens, r.output_final, c.forked_from IS NOT NULL AS forked, c.started_at, c.ended_at
FROM raw_requests r
JOIN current_parts c USING (source, stem, part, session_id)
WHERE NOT r.inherited;

-- Requests whose response another session, or an earlier request, owns, by basis.
--   history: in logs of one source the response ID is the same; where that could be
--     chance, its time and usage too. The most complete copy owns it, then the one
--     in a session that was not forked, then the oldest.
--   response: a log of another hand holds the same response ID; where that could be
--     chance, the same usage at about the same time.
--   usage: as response, where the agent's log has no IDs of the provider: the same
--     input, cache read and output within a minute of the call, which lasted four
--     minutes where that is not known. Each is paired once, with the nearest.
CREATE TABLE copied_requests AS
WITH history AS (
  SELECT source, session_id, request_index, 'history' AS basis, source AS owner_source,
         first_value(session_id) OVER w AS owner_session_id
  FROM own_requests
  WHERE response_id IS NOT NULL
  WINDOW w AS (
    PARTITION BY source, response_id,
                 CASE WHEN NOT never_repeats THEN ("time", input_tokens, cache_read_tokens, output_tokens) END,
                 CASE WHEN NOT never_repeats AND coalesce(epoch_ms("time"), input_tokens, output_tokens) IS NULL THEN session_id END
    ORDER BY output_final DESC, output_tokens DESC NULLS LAST, forked, started_at NULLS LAST, ended_at NULLS LAST, session_id, request_index
  )
  QUALIFY row_number() OVER w > 1
),
near AS (
  SELECT b.source, b.session_id, b.request_index, n.source AS owner_source, n.session_id AS owner_session_id, n.request_index AS owner_index,
         b.message_id = n.message_id AND b.never_repeats AS certain,
         b.message_id = n.message_id AS same_id,
         n.source IN ('claude-code', 'codex', 'pi') AND n.never_repeats AND b.never_repeats AS ids_differ,
         abs(epoch_ms(b."time") - epoch_ms(n."time")) AS apart
  FROM own_requests b
  JOIN own_requests n ON b.input_tokens = n.input_tokens AND b.output_tokens = n.output_tokens AND b.cache_read_tokens = n.cache_read_tokens
                     AND n.hand < b.hand
                     AND n."time" BETWEEN b."time" - INTERVAL 1 MINUTE AND b."time" + to_milliseconds(b.duration_ms) + INTERVAL 1 MINUTE
  WHERE b.input_tokens > 0 AND b.output_tokens > 0
),
responses AS (
  SELECT b.source, b.session_id, b.request_index, n.source AS owner_source, n.session_id AS owner_session_id, n.request_index AS owner_index
  FROM own_requests b
  JOIN own_requests n ON b.message_id = n.message_id AND n.hand <> b.hand AND n.rank < b.rank
  WHERE b.never_repeats
  UNION ALL
  SELECT source, session_id, request_index, owner_source, owner_session_id, owner_index
  FROM near
  WHERE same_id
),
usages AS (
  SELECT *
  FROM near p
  ANTI JOIN responses r USING (source, session_id, request_index)
  WHERE NOT p.ids_differ AND NOT EXISTS (
    FROM responses r
    WHERE r.source = p.source AND r.owner_source = p.owner_source AND r.owner_session_id = p.owner_session_id AND r.owner_index = p.owner_index)
  QUALIFY row_number() OVER (PARTITION BY source, session_id, request_index ORDER BY apart, owner_source, owner_session_id, owner_index) = 1
      AND row_number() OVER (PARTITION BY source, owner_source, owner_session_id, owner_index ORDER BY apart, session_id, request_index) = 1
),
copies AS (
  FROM history
  UNION ALL
  SELECT source, session_id, request_index, 'response', owner_source, owner_session_id FROM responses
  UNION ALL
  SELECT source, session_id, request_index, 'usage', owner_source, owner_session_id FROM usages
)
FROM copies
QUALIFY row_number() OVER (PARTITION BY source, session_id, request_index ORDER BY basis, owner_source, owner_session_id) = 1;

DROP TABLE own_requests;
