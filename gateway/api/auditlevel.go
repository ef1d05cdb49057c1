package api

// Level is how much is kept of a request.
type Level uint8

// The levels, each of which keeps what those before it do.
const (
	// KeepNone keeps nothing.
	KeepNone Level = iota
	// KeepMetadata keeps who asked what, and what became of it.
	KeepMetadata
	// KeepRequest keeps what was sent.
	KeepRequest
	// KeepResponse keeps what was answered.
	KeepResponse
)

// String is what Kubernetes calls the level.
func (l Level) String() string {
	return [...]string{"None", "Metadata", "Request", "RequestResponse"}[l&3]
}

// Stage is how far a request has come.
type Stage uint8

// The stages.
const (
	// Received: it has come.
	Received Stage = iota
	// Started: its reply has begun.
	Started
	// Complete: its reply has ended.
	Complete
	// Panicked: it failed without a reply of its own.
	Panicked
)

// String is what Kubernetes calls the stage.
func (s Stage) String() string {
	return [...]string{"RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"}[s&3]
}

// Stages is a set of stages.
type Stages uint8

// With is the set with a stage.
func (s Stages) With(one Stage) Stages { return s | 1<<one }

// Has reports whether a stage is in the set.
func (s Stages) Has(one Stage) bool { return s&(1<<one) != 0 }
