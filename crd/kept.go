package crd

// Kept is the refusal to delete one object of a kind, whatever else there is: it stays,
// and others of the collection go.
type Kept struct{ Refusal error }

// Error implements error.
func (k *Kept) Error() string { return k.Refusal.Error() }

// Unwrap returns the refusal, which is one of the API's status errors.
func (k *Kept) Unwrap() error { return k.Refusal }
