package compare

// Parallel checks that trials batch their calls: some response of each asks for at
// least so many. What was asked for counts, whether it ran or not.
type Parallel struct {
	Expected  int         `json:"expected"` // 2 or more
	Baseline  ParallelArm `json:"baseline"`
	Candidate ParallelArm `json:"candidate"`
}

// ParallelArm is the check of one arm.
type ParallelArm struct {
	Trials  int      `json:"trials"` // with recorded calls
	Met     int      `json:"met"`
	Missed  []string `json:"missed"` // names of the trials that did not; may hold log text
	Unknown int      `json:"unknown"`
}

func checkParallel(n int, trials [arms][]Trial) *Parallel {
	p := &Parallel{Expected: n}
	p.Baseline, p.Candidate = parallelArm(n, trials[0]), parallelArm(n, trials[1])
	return p
}

// lost says that a smaller share of the candidate's trials batches.
func (p *Parallel) lost() bool {
	return p != nil && p.Candidate.Met*p.Baseline.Trials < p.Baseline.Met*p.Candidate.Trials
}

func parallelArm(n int, trials []Trial) ParallelArm {
	a := ParallelArm{Missed: []string{}}
	for _, t := range trials {
		switch {
		case t.Excluded != "":
			continue
		case t.WidestBatch == nil:
			a.Unknown++
			continue
		case *t.WidestBatch >= int64(n):
			a.Met++
		default:
			a.Missed = append(a.Missed, t.Name)
		}
		a.Trials++
	}
	return a
}
