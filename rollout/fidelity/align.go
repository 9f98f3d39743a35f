package fidelity

import "slices"

// match is a part that both sides hold: positions in either list.
type match struct{ rebuilt, sent int }

// align returns the matches in order that hold the most tokens: the longest common
// subsequence of both lists by hash, weighted by the tokens sent.
func align(rebuilt, sent []Part) []match {
	head := 0
	for head < min(len(rebuilt), len(sent)) && rebuilt[head].SHA256 == sent[head].SHA256 {
		head++
	}
	tail := 0
	for tail < min(len(rebuilt), len(sent))-head && rebuilt[len(rebuilt)-1-tail].SHA256 == sent[len(sent)-1-tail].SHA256 {
		tail++
	}
	var out []match
	for i := range head {
		out = append(out, match{i, i})
	}
	for _, m := range heaviest(rebuilt[head:len(rebuilt)-tail], sent[head:len(sent)-tail]) {
		out = append(out, match{m.rebuilt + head, m.sent + head})
	}
	for i := tail; i > 0; i-- {
		out = append(out, match{len(rebuilt) - i, len(sent) - i})
	}
	return out
}

// chain is a common subsequence that ends in a match.
type chain struct {
	match
	weight int64
	before int // index of the chain it continues; -1 none
}

// heaviest finds the heaviest common subsequence. Best chains by last rebuilt
// position stand in a Fenwick tree of maxima, so that the work grows with the
// number of equal pairs, not with the product of the lengths.
func heaviest(rebuilt, sent []Part) []match {
	at := map[string][]int{}
	for i := len(rebuilt) - 1; i >= 0; i-- {
		at[rebuilt[i].SHA256] = append(at[rebuilt[i].SHA256], i) // descending: one sent part matches once
	}
	tree := make([]int, len(rebuilt)+1) // index into chains + 1
	var chains []chain
	for j, p := range sent {
		for _, i := range at[p.SHA256] {
			c := chain{match{i, j}, p.Tokens + 1, -1}
			if best := prefixBest(tree, chains, i); best > 0 {
				c.before, c.weight = best-1, c.weight+chains[best-1].weight
			}
			chains = append(chains, c)
			for k := i + 1; k < len(tree); k += k & -k {
				if tree[k] == 0 || chains[tree[k]-1].weight < c.weight {
					tree[k] = len(chains)
				}
			}
		}
	}
	var out []match
	for k := prefixBest(tree, chains, len(rebuilt)) - 1; k >= 0; k = chains[k].before {
		out = append(out, chains[k].match)
	}
	slices.Reverse(out)
	return out
}

// prefixBest is the heaviest chain that ends before a rebuilt position.
func prefixBest(tree []int, chains []chain, before int) int {
	best := 0
	for k := before; k > 0; k -= k & -k {
		if tree[k] > 0 && (best == 0 || chains[tree[k]-1].weight > chains[best-1].weight) {
			best = tree[k]
		}
	}
	return best
}
