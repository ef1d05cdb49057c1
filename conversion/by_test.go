package conversion

import "testing"

// Who converts is known however a converter is used, as it is when that is asked.
func TestWhoConverts(t *testing.T) {
	b := Batched(None{}, Batch{})
	if got := b.By(); got != (By{}) {
		t.Errorf("nobody is %v", got)
	}
	digest := "a"
	named := b.Named(func() By { return By{Module: "m", Digest: digest} }).Observed(func(Call) {})
	digest = "b"
	if got := Batched(named, Batch{}).By(); got != (By{Module: "m", Digest: "b"}) {
		t.Errorf("it is %v", got)
	}
	if got := b.By(); got != (By{}) {
		t.Errorf("the one that it was made of is %v", got)
	}
}
