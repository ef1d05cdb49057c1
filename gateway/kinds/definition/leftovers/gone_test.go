package leftovers_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/kinds/definition/leftovers"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// What one remembers another finds, until anybody forgets it; twice is as good as
// once.
func TestGone(t *testing.T) {
	store := storagetest.NewMemory()
	at := func() leftovers.Gone { return leftovers.Gone{Store: store, Root: "/private/gone/"} }
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	kept := func(want ...string) {
		t.Helper()
		if got, err := at().Kept(context.Background()); err != nil || !slices.Equal(got, want) {
			t.Errorf("kept %v, %v; want %v", got, err, want)
		}
	}
	kept()
	for _, name := range []string{"work", "other", "work"} {
		do(at().Keep(context.Background(), name))
	}
	do((leftovers.Gone{Store: store, Root: "/elsewhere/gone/"}).Keep(context.Background(), "third"))
	kept("other", "work")
	do(at().Drop(context.Background(), "work"))
	kept("other")
	do(at().Drop(context.Background(), "work"))
	kept("other")

	store.Down(errors.New("no store"))
	if err := at().Keep(context.Background(), "x"); err == nil {
		t.Error("kept nowhere")
	}
	if err := at().Drop(context.Background(), "x"); err == nil {
		t.Error("dropped nowhere")
	}
	if _, err := at().Kept(context.Background()); err == nil {
		t.Error("a store that does not answer keeps nothing, it seems")
	}
}
