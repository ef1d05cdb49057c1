package admission

// Again keeps who of a stage of mutating admission is to be asked once more: in
// the second round, those who want it and after whom something changed. The
// zero value is ready for the first round.
type Again[K comparable] struct {
	second bool
	// waiting were asked and want to be asked again when something changes; due
	// are those after which something did.
	waiting, due map[K]bool
	// after is how many changes there had been when the stage ended.
	after int
}

// Begin starts a round.
func (a *Again[K]) Begin(r *Request, second bool) {
	if a.waiting == nil {
		a.waiting, a.due = map[K]bool{}, map[K]bool{}
	}
	if a.second = second; second && r.changes != a.after {
		a.changed()
	}
}

// End ends a round.
func (a *Again[K]) End(r *Request) { a.after = r.changes }

// Demand makes all who were asked and want it be asked again, though nothing
// changed after them.
func (a *Again[K]) Demand(r *Request) {
	r.second = true
	a.changed()
}

// Asks tells whether k is asked in this round.
func (a *Again[K]) Asks(k K) bool { return !a.second || a.due[k] }

// Asked tells that k was asked, whether it wants to be asked again, and whether
// it changed anything.
func (a *Again[K]) Asked(k K, again, changed bool) {
	if changed {
		a.changed()
	}
	if again {
		a.waiting[k] = true
	}
}

func (a *Again[K]) changed() {
	for k := range a.waiting {
		a.due[k] = true
	}
	clear(a.waiting)
}
