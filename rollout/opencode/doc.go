// Package opencode reads the sessions of OpenCode: the JSON of its export
// command, its storage tree and its SQLite database.
package opencode

import (
	_ "modernc.org/sqlite" // registers the database driver
)

// Name is the source name of sessions read by this package.
const Name = "opencode"
