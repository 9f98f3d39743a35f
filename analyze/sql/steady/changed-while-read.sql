-- One problem for a dataset that changed whenever it was looked at. ?1 is the dataset,
-- ?2 why.
INSERT INTO problems BY NAME
SELECT ?1::VARCHAR AS file, 0::BIGINT AS line, 'changed-while-read' AS kind,
       'figures of sessions imported meanwhile may lack something: ' || ?2::VARCHAR AS detail, 1::BIGINT AS count
