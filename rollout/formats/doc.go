// Package formats is the list of log formats fclog reads, and how files of them
// are found: by content, never by name.
//
// Detect names the format of one file. Expand turns what a user named (files and
// folders) into log files. Installed finds the sessions of this machine.
package formats
