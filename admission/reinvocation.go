package admission

import "context"

// Reinvocation is a request on its way through the stages of mutating admission
// that others configure: policies, and webhooks. What changes it may have those
// asked again that were asked before.
type Reinvocation struct {
	Attributes

	// What the request was about stays what it was, whatever is put in its place.
	name, namespace string

	changes int  // made so far
	second  bool // a second round is wanted
}

// NewReinvocation returns a request that nobody has changed yet.
func NewReinvocation(a Attributes) *Reinvocation {
	return &Reinvocation{Attributes: a, name: a.GetName(), namespace: a.GetNamespace()}
}

// GetName is the name that the request was for before anything changed it.
func (r *Reinvocation) GetName() string { return r.name }

// GetNamespace is that of the request before anything changed it.
func (r *Reinvocation) GetNamespace() string { return r.namespace }

// Replace makes tree, which is at a version and nobody else's, the new state.
func (r *Reinvocation) Replace(ctx context.Context, version string, tree map[string]any) error {
	r.changes++
	r.second = true
	return r.Attributes.Replace(ctx, version, tree)
}

// Changes is how many times [Reinvocation.Replace] was called.
func (r *Reinvocation) Changes() int { return r.changes }

// Stage is one stage of mutating admission of one request: that of policies, or
// that of webhooks.
type Stage interface {
	// Admit asks everybody, or again those who want to be asked once more
	// because something changed after them.
	Admit(ctx context.Context, again bool) error
}

// Mutate runs the stages in their order, and once more if they changed
// anything or want it so.
func Mutate(ctx context.Context, r *Reinvocation, stages ...Stage) error {
	for _, again := range []bool{false, true} {
		if again && !r.second {
			return nil
		}
		for _, s := range stages {
			if err := s.Admit(ctx, again); err != nil {
				return err
			}
		}
	}
	return nil
}

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
func (a *Again[K]) Begin(r *Reinvocation, second bool) {
	if a.waiting == nil {
		a.waiting, a.due = map[K]bool{}, map[K]bool{}
	}
	if a.second = second; second && r.changes != a.after {
		a.changed()
	}
}

// End ends a round.
func (a *Again[K]) End(r *Reinvocation) { a.after = r.changes }

// Demand makes all who were asked and want it be asked again, though nothing
// changed after them.
func (a *Again[K]) Demand(r *Reinvocation) {
	r.second = true
	a.changed()
}

// Asks reports whether k is asked in this round.
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
