package main

import _ "embed"

// demoSession is an invented session; demo/README.md says how it is made.
//
//go:embed demo/session.jsonl
var demoSession []byte
