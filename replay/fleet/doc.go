// Package fleet adds replays of single sessions up to what they say of many.
//
// # One session, one row
//
// Every session is replayed as if there were no other (RowOf): published cache
// parameters, no base rates. A row is therefore the same whoever works it out, on
// which machine and in which order, and figures of a fleet are sums of its rows:
// whole tokens, and USD in billionths, so that no order of adding changes a digit.
//
// # What needs all sessions
//
// Base rates of detours are fitted on the sums of the outputs that the sessions
// showed, and applied to the sums of what a variant cuts, stratum by stratum; the
// rows keep those counts (package detour, FromCounts and FromLossy). Intervals are
// those of package bootstrap over clusters: all sessions of one task, else a session
// with its sub-agents.
package fleet
