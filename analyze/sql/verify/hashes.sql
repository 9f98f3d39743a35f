-- Texts are those of their hashes
--
-- text_hash is the SHA-256 of the text; chars are its Unicode code points and bytes its length in UTF-8 wherever
-- an item or a span has it.
--
-- Do: import the log again into a new dataset; the file was edited
SELECT file, session_id, 'the text has another hash' AS detail, count(*) AS count
FROM texts
WHERE sha256(text) <> text_hash
GROUP BY ALL
UNION ALL
SELECT x.file, x.session_id, 'chars or bytes are not those of the text', count(*)
FROM (
  SELECT file, place, part, session_id, text_hash, chars, bytes FROM items
  UNION ALL SELECT file, place, part, session_id, text_hash, chars, bytes FROM spans
) x
JOIN texts t USING (place, part, session_id, text_hash)
WHERE length(t.text) <> x.chars OR strlen(t.text) <> x.bytes
GROUP BY ALL
