SELECT text_hash, "text"
FROM texts
SEMI JOIN (SELECT text_hash FROM items UNION SELECT text_hash FROM spans UNION SELECT full_hash FROM calls) USING (text_hash)
