package analyze

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
)

// says adds a message of the user's side with its text, carried from request first
// to 9.
func (b *builder) says(kind, text string, tokens, first int64) {
	hash := "text of " + text
	item := b.item("a", dataset.Item{Kind: kind, TextHash: hash}, tokens)
	b.span("a", item, 0, first, 9)
	b.texts = append(b.texts, dataset.Text{Part: partOf("a"), SessionID: "a", TextHash: hash, Text: text})
}

func ended(task, status string) string {
	return "<task-notification>\n<task-id>" + task + "</task-id>\n<status>" + status + "</status>\n</task-notification>"
}

// Requests: 1 starts tasks; 2 reads the end of task a and edits; 3 answers; 4 was
// bought by a notification of a, which says nothing new, and answers; 5 follows the
// user and edits; 6 carries a's notification once more and answers; 7 and 8 were
// bought by those of b and c, 8 sent 200 ms after 7's answer had ended; 9 is another
// run, begun by the user, and carries news of a that is no end.
func notifiedSession(gap int64) tables {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	for i := int64(1); i <= 9; i++ {
		r := usage(1000*i, 0, 10*i, 1, 0)
		r.Time = ptr(start.UnixMilli() + 60_000*i)
		if i == 7 {
			r.DurationMS = ptr(int64(3000))
		}
		if i == 8 {
			r.Time = ptr(start.UnixMilli() + 60_000*7 + 3000 + gap)
		}
		r.Run = 1 + i/9
		b.request("a", r)
	}
	b.says("user_text", "build all", 5, 1)
	b.call("a", 1, dataset.Call{Class: "shell", StartsTask: true})
	b.call("a", 2, dataset.Call{Class: "poll", Poll: ptr("final"), Task: ptr("a")})
	b.call("a", 2, dataset.Call{Class: "edit"})
	b.says("reminder", ended("a", "completed"), 40, 4)
	answer := b.item("a", dataset.Item{Kind: "assistant_text", RequestIndex: ptr(int64(3))}, 6)
	b.span("a", answer, 0, 5, 9)
	b.says("user_text", "edit it", 5, 5)
	b.call("a", 5, dataset.Call{Class: "edit"})
	b.says("reminder", ended("a", "failed"), 8, 6)
	b.says("reminder", ended("b", "completed"), 20, 7)
	b.says("reminder", ended("c", "completed"), 21, 8)
	b.says("user_text", "good", 5, 9)
	b.says("reminder", ended("a", "event"), 3, 9)
	return b.tables
}

func TestRemovableNotifications(t *testing.T) {
	db := notifiedSession(200).open(t)
	rows := query(t, db, "SELECT request, bought, redundant FROM notifications ORDER BY item")
	assert.Equal(t, [][]any{{int64(4), true, true}, {int64(6), false, true}, {int64(7), true, false}, {int64(8), true, false}, {int64(9), false, false}}, rows)

	// 4: input 4,000, output 40; the notification (40) and the answer (6) ride on in the
	// requests 5 to 9: 5 x 46 = 230. The free one rides in 6 to 9: 4 x 8 = 32. 7: input
	// 7,000; its answer would still be given.
	rows = query(t, db, `SELECT cause, requests::BIGINT, input_tokens::BIGINT, output_tokens::BIGINT, tokens, carried_tokens, billed_tokens
FROM removable_notifications ORDER BY cause`)
	assert.Equal(t, [][]any{
		{"free", int64(0), nil, nil, int64(8), int64(32), 32.0},
		{"pooled", int64(1), int64(7000), int64(0), int64(0), int64(0), 0.0},
		{"redundant", int64(1), int64(4000), int64(40), int64(46), int64(230), 230.0},
	}, rows)
	late := query(t, notifiedSession(251).open(t), "SELECT cause FROM removable_notifications ORDER BY cause")
	assert.Equal(t, [][]any{{"free"}, {"redundant"}}, late, "251 ms later they are two")
}

func TestNotificationsInTheAudit(t *testing.T) {
	inline := audit(t, notifiedSession(200)).Savings[3]
	require.Equal(t, "inline-batching", inline.Technique)
	assert.Equal(t, int64(46+8), *inline.AddressableTokens)
	assert.Equal(t, int64(4000+40+230+32+7000), *inline.AddressableCarriedTokens)
	assert.Equal(t, int64(2), *inline.AddressableRequests)
	assert.InDelta(t, (4000.0+230+32+7000)/45000, *inline.Share, 1e-9) // of 1,000 + … + 9,000
}

func query(t *testing.T, db *DB, sql string) [][]any {
	t.Helper()
	rows, err := db.Query(t.Context(), sql)
	require.NoError(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	require.NoError(t, err)
	var out [][]any
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		require.NoError(t, rows.Scan(into...))
		out = append(out, values)
	}
	require.NoError(t, rows.Err())
	return out
}
