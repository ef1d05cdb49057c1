//go:build !linux

package linear

// Shared is what the instances of a module have in common; here that is nothing.
type Shared struct{}

// newMapped is not known here.
func newMapped(uint64) Memory { return nil }
