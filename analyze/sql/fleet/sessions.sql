-- The selected sessions with what strata are made of, in the order of their files.
SELECT s.source, r.month, s.stem, s.part, s.session_id, coalesce(r.file_bytes, 0) AS bytes,
       coalesce(r.agent_version, '') AS version, coalesce(r.models[1], '') AS model,
       t.root_session_id, r.file
FROM selected s
JOIN raw_sessions r USING (source, stem, part, session_id)
JOIN session_tree t USING (source, session_id)
ORDER BY s.source, r.month, s.stem, s.part, s.session_id
