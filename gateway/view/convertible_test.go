package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
)

// picky is a converter that refuses every call with an object that has "sick" in it,
// and that can die.
type picky struct {
	catalogtest.Turning
	dead bool
}

type refused struct{ error }

// Verdict tells that the converter works.
func (refused) Verdict() bool { return true }

func (p *picky) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	if p.dead {
		return nil, errors.New("nobody is there")
	}
	for _, o := range objects {
		if bytes.Contains(o, []byte("sick")) {
			return nil, refused{errors.New("sick")}
		}
	}
	return p.Turning.Convert(ctx, desired, objects)
}

// sieved are the numbers of those of entries that do not convert to v1beta1.
func sieved(t *testing.T, r *Renderer, entries []*Entry) (failed map[int]bool, err error) {
	failed = map[int]bool{}
	out, err := r.Convertible(t.Context(), entries, v1beta1, func(n int, _ error) { failed[n] = true })
	for n := range out {
		if (out[n] == nil) != failed[n] {
			t.Errorf("%d: %v, and failed are %v", n, out[n], failed)
		}
	}
	return failed, err
}

// ward has so many entries of which every nth is sick.
func ward(n, every int) (all []*Entry) {
	for i := range n {
		name := fmt.Sprintf("well-%d", i)
		if i%every == every-1 {
			name = fmt.Sprintf("sick-%d", i)
		}
		all = append(all, entry(v1, name, int64(i+1)))
	}
	return all
}

// What does not convert is told from the others, which are converted but once, and are
// there while the converter is dead.
func TestWhatDoesNotConvertIsToldFromTheRest_CRD18(t *testing.T) {
	s := newShelf(t)
	p := &picky{}
	r := New(s.cronTabs().Def, p, s.memory)
	entries := ward(1000, 150)
	for _, dead := range []bool{false, true} {
		p.dead = dead
		if failed, err := sieved(t, r, entries); err != nil || len(failed) != 6 || !failed[149] || !failed[899] {
			t.Errorf("dead %v: %v, %v", dead, failed, err)
		}
	}
	if _, err := sieved(t, r, append(entries, entry(v1, "new", 2000))); err == nil || OfObjects(err) {
		t.Errorf("with one that was never converted: %v", err)
	}
}

// Where more does not convert than can be told, it is all that fails.
func TestAConverterThatRefusesMostIsBroken_CRD18(t *testing.T) {
	s := newShelf(t)
	r := New(s.cronTabs().Def, &picky{}, s.memory)
	if failed, err := sieved(t, r, ward(3*maxUnconvertible, 2)); err == nil || len(failed) > maxUnconvertible {
		t.Errorf("%d are left out, %v", len(failed), err)
	}
}
