package resource

import "context"

// Mutator is mutating admission.
type Mutator interface {
	// Mutate may change the write by [Write.Replace], or refuse it with an error
	// that is the client's, as it is. It may run again when the write is tried
	// again.
	Mutate(ctx context.Context, w *Write) error
}

// Validator is validating admission.
type Validator interface {
	// Validate refuses the write with an error that is the client's, as it is.
	// It changes nothing. w.Object() is what would be stored, at the version of
	// the request.
	Validate(ctx context.Context, w *Write) error
}
