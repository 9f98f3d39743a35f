// Package shellcmd reads shell command lines far enough to say what they do to
// the files and tasks of a session: whether they only look, only wait, or leave
// something running. In doubt it says no.
package shellcmd
