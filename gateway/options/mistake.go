package options

// Mistake is what is wrong with the options, or with a file that one of them names: what
// is found by looking at them, before anything is made or started.
type Mistake struct{ Err error }

// Error implements error.
func (m Mistake) Error() string { return m.Err.Error() }

// Unwrap returns what is wrong.
func (m Mistake) Unwrap() error { return m.Err }
