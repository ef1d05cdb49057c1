package binary

import "testing"

// What costs as much as all functions may together is not more than that.
func TestTheLimitOfCosts(t *testing.T) {
	m, err := Decode([]byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x04\x01\x02\x00\x0b"))
	if err != nil {
		t.Fatal(err)
	}
	each := m.cost
	for before, refused := range map[int]bool{0: false, MaxCost - each: false, MaxCost - each + 1: true} {
		m.cost = before
		if err := m.check(m.Bodies[0], new(Code)); (err != nil) != refused || refused && err.Problem != OverLimit {
			t.Errorf("after %d another %d: %v", before, each, err)
		}
	}
}
