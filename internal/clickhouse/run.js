// Runs a job on ClickHouse inside this process. The job comes on stdin as JSON:
// {chdb: folder of the npm package, setup: SQL, queries: [{name, sql}]}. Every answer
// is a line of JSON on stdout: {name, error} or {name, answer}, answer in ClickHouse's
// JSONCompact. The setup is answered first, with the name "".
const job = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const { Session } = require(job.chdb);
const session = new Session();

function run(name, sql) {
  const started = Date.now();
  try {
    const text = session.query(sql, 'JSONCompact');
    console.log(JSON.stringify({ name, milliseconds: Date.now() - started, answer: text }));
    return true;
  } catch (e) {
    console.log(JSON.stringify({ name, milliseconds: Date.now() - started, error: String(e.message || e) }));
    return false;
  }
}

if (run('', job.setup)) {
  for (const q of job.queries) {
    run(q.name, q.sql);
  }
}
session.close();
