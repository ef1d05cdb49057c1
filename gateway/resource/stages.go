package resource

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// FieldManagement decides metadata.managedFields of every write.
type FieldManagement interface {
	// Manage sets the managedFields of w.Object(), comparing it with w.Old().
	// It changes nothing else and is not called for deletions. It runs before
	// admission, and may run again when the write is tried again. An error is
	// the client's, as it is.
	Manage(ctx context.Context, w *Write) error
}

// Mutator is mutating admission.
type Mutator interface {
	// Mutate may change w.Object() in place, which is nil for deletions, or
	// refuse the write with an error that is the client's, as it is. It may run
	// again when the write is tried again. What it changed is made well-formed
	// by the schema afterwards.
	Mutate(ctx context.Context, w *Write) error
}

// Validator is validating admission.
type Validator interface {
	// Validate refuses the write with an error that is the client's, as it is.
	// It changes nothing. w.Object() is what would be stored, at the version of
	// the request.
	Validate(ctx context.Context, w *Write) error
}

// untracked is the field management of a gateway that has none: what is stored
// stays, and nothing is added.
type untracked struct{}

// Manage implements [FieldManagement].
func (untracked) Manage(ctx context.Context, w *Write) error {
	unstructured.RemoveNestedField(w.object.Object, "metadata", "managedFields")
	if w.old == nil {
		return nil
	}
	if m, ok := w.old.Object["metadata"].(map[string]any)["managedFields"]; ok {
		w.object.Object["metadata"].(map[string]any)["managedFields"] = clone(m)
	}
	return nil
}
