package module

import (
	"slices"
)

// Report is what came of converting live objects with the candidate and with
// what serves.
type Report struct {
	// State is one of the States.
	State string `json:"state"`
	// Message says it to people.
	Message string `json:"message,omitempty"`
	// Conversions is how many were made with both; Different how many came out
	// otherwise, and Failed how many the candidate fails and what serves does
	// not.
	Conversions int64 `json:"conversions"`
	Different   int64 `json:"different"`
	Failed      int64 `json:"failed"`
	// Differences are the places at which conversions came out otherwise, in the
	// order in which they were found, [MaxDifferences] at most. Unlisted is how
	// often there was another place.
	Differences []Difference `json:"differences,omitempty"`
	Unlisted    int64        `json:"unlisted,omitempty"`
	// Failures are the first of those that fail, [MaxFailures] at most.
	Failures []Failure `json:"failures,omitempty"`
}

// What a [Report] lists at most.
const (
	MaxDifferences = 50
	MaxFailures    = 10
)

// The states of a [Report].
const (
	// Running: the comparison is under way.
	Running = "Running"
	// Completed: all objects were converted.
	Completed = "Completed"
	// Stopped: it was ended before all objects were converted.
	Stopped = "Stopped"
	// Refused: the candidate cannot be loaded.
	Refused = "Refused"
)

// Ended tells that the report will not change any more.
func (r *Report) Ended() bool { return r != nil && r.State != Running }

// Place is where conversions come out otherwise.
type Place struct {
	// Resource is the custom resource.
	Resource string `json:"resource"`
	// From and To are versions.
	From string `json:"from"`
	To   string `json:"to"`
	// Path is the field, with [*] for any element of an array.
	Path string `json:"path"`
	// Change is what becomes of the field with the candidate: one of the
	// Changes.
	Change string `json:"change"`
}

// The changes of a [Place].
const (
	// Gone: it is there now, and is not with the candidate.
	Gone = "Gone"
	// Added: it is not there now, and is with the candidate.
	Added = "Added"
	// Changed: it has another value.
	Changed = "Changed"
	// Resized: it is an array that has another number of elements.
	Resized = "Resized"
	// Unreadable: what the candidate returns cannot be compared.
	Unreadable = "Unreadable"
)

// Difference is a place at which conversions come out otherwise.
type Difference struct {
	Place `json:",inline"`
	// Count is in how many conversions.
	Count int64 `json:"count"`
	// Example is the first object in which it was found, as namespace and name.
	Example string `json:"example"`
}

// Failure is a conversion that the candidate fails, and what serves does not.
type Failure struct {
	// Object is resource, namespace and name.
	Object string `json:"object"`
	// From and To are versions.
	From string `json:"from"`
	To   string `json:"to"`
	// Reason is what the candidate said.
	Reason string `json:"reason"`
}

// Part is what came of one call of both revisions.
type Part struct {
	Report
	// Late tells that the call that failed met the limit of its time.
	Late bool
}

// Add counts a part of the work.
func (r *Report) Add(part Report) {
	r.Conversions += part.Conversions
	r.Different += part.Different
	r.Failed += part.Failed
	r.Unlisted += part.Unlisted
	for _, d := range part.Differences {
		r.AddDifference(d)
	}
	r.Failures = append(r.Failures, part.Failures[:min(len(part.Failures), MaxFailures-len(r.Failures))]...)
}

// AddDifference counts d at its place.
func (r *Report) AddDifference(d Difference) {
	at := slices.IndexFunc(r.Differences, func(known Difference) bool { return known.Place == d.Place })
	switch {
	case at >= 0:
		r.Differences[at].Count += d.Count
	case len(r.Differences) < MaxDifferences:
		r.Differences = append(r.Differences, d)
	default:
		r.Unlisted += d.Count
	}
}
