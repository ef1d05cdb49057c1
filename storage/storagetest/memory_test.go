package storagetest

import "testing"

func TestMemoryConforms(t *testing.T) {
	m := NewMemory()
	Run(t, Options{Store: m, Compact: m.Compact})
}
