-- What requests carried, as stretches
--
-- Every stretch of requests that carried one piece of content with one text, in the order of the payload. A payload
-- is the stretches alive at a request, before them those of the request whose whole payload it sends again.
-- position orders the content of one chain; its upper bits name the region: 0 tools, 1 system, 2 context,
-- 3 conversation, 4 behind it.
--
-- Parameters: session (NULL all)
--
-- Columns:
--   part             part of the dataset
--   session_id       the agent's own ID
--   chain            conversation within the session, 0 the main one
--   first_request    first request of the chain that carried it
--   last_request     last one
--   position         order within the payload
--   item             number of the piece within the session
--   kind             kind of content
--   role             message role
--   tool             tool of a call or result
--   call_id          ID of that call
--   chars            Unicode code points of the text as sent
--   tokens           raw tokens of the text; NULL unknown
--   sha256           SHA-256 of the UTF-8 text, hex
--   origin           logged, recomputed or inferred
SELECT s.part, s.session_id, s.chain, s.first_request, s.last_request, s.position, s.item,
       i.kind, i.role, i.tool, i.call_id, s.chars, s.tokens, s.text_hash AS sha256, i.origin
FROM spans s
JOIN items i USING (part, session_id, item)
WHERE $session IS NULL OR s.session_id = $session
ORDER BY s.part, s.session_id, s.chain, s.first_request, s.position
