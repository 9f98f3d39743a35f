package rollout

import "regexp"

// lostTask matches the agents' own sentences about work that they do not know (any
// more): "No background shell bash_9 in this session.", "No task found with ID: x",
// "exec cell 7 not found", "Unknown process id 7", "Invalid shell ID: x".
var lostTask = regexp.MustCompile(`(?i)\bno (?:such |known |active |running |background )*(?:shell|task|agent|process|session|cell|job)\b[^\n]{0,60}(?:\bfound\b|\bwith (?:the )?(?:id|pid)\b|\bin this session\b|\bexists?\b)` +
	`|\b(?:shell|task|agent|process|session|cell|job)s?\b[^\n]{0,80}\b(?:not found|does not exist|no longer exists)\b` +
	`|\b(?:unknown|invalid) (?:background )?(?:shell|task|agent|process|session|cell|job)(?: ?id)?\b`)

// lostBytes is how far into the answer to a poll such a sentence may stand.
const lostBytes = 300

// LostTask says whether the answer to a poll that failed tells that there is no
// such task. A poll like that is no completion. What a task itself printed must not
// be asked about: it may hold the same words.
func LostTask(text string) bool {
	return lostTask.MatchString(text[:min(len(text), lostBytes)])
}
