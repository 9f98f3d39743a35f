-- What stands for the usage of a session as a whole: the sums its log reports, where
-- no request of it has an input, be it counted here or in another log. Where requests
-- have outputs, only a report that knows the input does; the outputs are those of the
-- requests if all of them have one. Figures of all models together go before figures by
-- model. What a subscription pays has no cost. Else the cost is computed where one model did all the work and no request can have
-- been long enough for another price, else it is what the log says.
CREATE TABLE whole_usage AS
WITH silent AS (
  SELECT s.source, s.part, s.session_id,
         coalesce(q.any_output, false) AS any_output,
         coalesce(q.all_outputs, false) AS all_outputs,
         coalesce(q.subscribed, false) AS subscribed
  FROM sessions s
  LEFT JOIN (
    SELECT source, part, session_id,
           count(input_tokens) AS inputs,
           count(output_tokens) > 0 AS any_output,
           bool_and(output_tokens IS NOT NULL) FILTER (WHERE status = 'answered' AND counts) AS all_outputs,
           bool_or(subscription) AS subscribed
    FROM requests
    GROUP BY ALL
  ) q USING (source, part, session_id)
  WHERE coalesce(q.inputs, 0) = 0
),
model_of AS (
  SELECT source, part, session_id, any_value(model) AS model, any_value(provider) AS provider
  FROM requests
  WHERE counts AND model IS NOT NULL
  GROUP BY ALL
  HAVING count(DISTINCT (model, provider)) = 1 AND NOT bool_or(subscription)
),
chosen AS (
  SELECT r.* REPLACE (CASE WHEN NOT q.subscribed THEN r.cost_usd END AS cost_usd),
         q.any_output, q.all_outputs,
         CASE WHEN NOT q.subscribed THEN coalesce(r.model, m.model) END AS price_model,
         CASE WHEN r.model IS NULL THEN m.provider END AS price_provider
  FROM reported r
  JOIN silent q USING (source, part, session_id)
  LEFT JOIN model_of m USING (source, part, session_id)
  QUALIFY r.model IS NULL OR NOT bool_or(r.model IS NULL) OVER (PARTITION BY r.source, r.part, r.session_id)
),
costed AS (
  SELECT c.*,
         CASE WHEN p.long_above IS NULL OR c.input_tokens <= p.long_above THEN (
             (c.input_tokens - coalesce(c.cache_read_tokens, 0) - coalesce(c.cache_write_tokens, 0)) * p.input
           + CASE WHEN coalesce(c.cache_read_tokens, 0) = 0 THEN 0 ELSE c.cache_read_tokens * p.cache_read END
           + CASE WHEN coalesce(c.cache_write_tokens, 0) = 0 THEN 0
                  ELSE (c.cache_write_tokens - coalesce(c.cache_write_1h_tokens, 0)) * p.cache_write_5m
                     + CASE WHEN coalesce(c.cache_write_1h_tokens, 0) = 0 THEN 0 ELSE c.cache_write_1h_tokens * p.cache_write_1h END END
           + c.output_tokens * p.output
         ) / 1e6 END AS computed_usd
  FROM chosen c
  LEFT JOIN price_of p ON p.used_model = c.price_model AND p.used_provider IS NOT DISTINCT FROM c.price_provider
)
SELECT source, part, session_id,
       sum(requests)::BIGINT AS requests,
       sum(input_tokens)::BIGINT AS input_tokens,
       sum(input_tokens - coalesce(cache_read_tokens, 0) - coalesce(cache_write_tokens, 0))::BIGINT AS uncached_input_tokens,
       sum(cache_read_tokens)::BIGINT AS cache_read_tokens,
       sum(cache_write_tokens)::BIGINT AS cache_write_tokens,
       sum(output_tokens)::BIGINT AS output_tokens,
       sum(reasoning_tokens)::BIGINT AS reasoning_tokens,
       sum(coalesce(computed_usd, cost_usd))::DOUBLE AS cost_usd,
       count(*) FILTER (WHERE coalesce(computed_usd, cost_usd) IS NULL) > 0 AS cost_partial,
       sum(CASE WHEN computed_usd IS NULL THEN cost_usd END)::DOUBLE AS logged_cost_usd,
       bool_or(all_outputs) AS outputs_of_requests
FROM costed
GROUP BY ALL
HAVING NOT bool_or(any_output) OR count(input_tokens) > 0;

-- What counts as usage, row by row: requests, and the sums of sessions that are known
-- as a whole, in the model that all of their requests had, at the session's start.
CREATE VIEW usage_rows AS
SELECT r.source, r.part, r.session_id, r.model, r."time", 1 AS requests,
       r.input_tokens, r.cache_read_tokens, r.cache_write_tokens,
       CASE WHEN w.session_id IS NULL OR w.outputs_of_requests OR w.output_tokens IS NULL THEN r.output_tokens END AS output_tokens, r.cost_usd,
       r.status = 'answered' AND r.cost_usd IS NULL AND (w.session_id IS NULL OR w.cost_partial) AS unpriced
FROM requests r
LEFT JOIN whole_usage w USING (source, part, session_id)
WHERE r.counts
UNION ALL
SELECT w.source, w.part, w.session_id, m.model, s.started_at, 0,
       w.input_tokens, w.cache_read_tokens, w.cache_write_tokens,
       CASE WHEN NOT w.outputs_of_requests THEN w.output_tokens END, CASE WHEN m.cost_usd IS NULL THEN w.cost_usd END, false
FROM whole_usage w
JOIN sessions s USING (source, part, session_id)
LEFT JOIN (
  SELECT source, part, session_id, sum(cost_usd) AS cost_usd, CASE WHEN count(DISTINCT coalesce(model, '')) = 1 THEN any_value(model) END AS model
  FROM requests
  WHERE counts
  GROUP BY ALL
) m USING (source, part, session_id);
