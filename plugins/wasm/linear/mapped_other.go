//go:build !linux

package linear

// Shared is what the instances of a module have in common; here that is no memory.
type Shared struct {
	// Room is where what is kept is taken from, nil for anywhere.
	Room Room
}

// newMapped is not known here.
func newMapped(uint64) Memory { return nil }
