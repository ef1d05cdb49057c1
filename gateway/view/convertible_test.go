package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/plugins"
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

// choking ends on what has "sick" in it, as a module does that traps.
type choking struct {
	picky
	calls int
}

func (c *choking) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	c.calls++
	out, err := c.picky.Convert(ctx, desired, objects)
	if errors.As(err, &refused{}) {
		err = &plugins.CallError{Module: "m", Hook: plugins.Convert, Kind: plugins.Trap, Reason: "unreachable"}
	}
	return out, err
}

// What a converter chokes on is told from the others where it converts others, and is not
// tried again; what chokes on everything is broken, which is found soon.
func TestWhatAConverterChokesOnIsLeftOut_CRD18(t *testing.T) {
	s := newShelf(t)
	p := &choking{}
	r := New(s.cronTabs().Def, p, s.memory)
	all := ward(40, 40)
	sick := all[39]
	if failed, err := sieved(t, r, all[39:]); err == nil || OfObjects(err) || !Choked(err) || len(failed) != 0 {
		t.Errorf("of one object that it chokes on: %v, %v", failed, err)
	}
	few := append([]*Entry{sick}, all[:39]...) // the first that is tried
	if failed, err := sieved(t, r, few); err != nil || len(failed) != 1 || !failed[0] {
		t.Errorf("of 40: %v, %v", failed, err)
	}
	before := p.calls
	if failed, err := sieved(t, r, all); err != nil || len(failed) != 1 || !failed[39] || p.calls != before {
		t.Errorf("again: %v, %v after %d calls", failed, err, p.calls-before)
	}
	if out, err := r.Convertible(t.Context(), all, v1, func(n int, why error) { t.Errorf("%d at the version that it is stored at: %v", n, why) }); err != nil || out[39] == nil {
		t.Errorf("unconverted: %v", err)
	}
	sicker := ward(2, 2)[1:]
	if failed, err := sieved(t, r, sicker); err != nil || len(failed) != 1 {
		t.Errorf("of one object while it works: %v, %v", failed, err)
	}

	p = &choking{}
	r = New(s.cronTabs().Def, p, s.memory)
	if failed, err := sieved(t, r, ward(400, 1)); err == nil || len(failed) != 0 || p.calls > 40 {
		t.Errorf("of all: %v, %v after %d calls", failed, err, p.calls)
	}
	many := ward(3*maxUnconvertible, 2)
	for range 3 { // nor little by little
		if failed, err := sieved(t, r, many); err == nil || len(failed) > maxUnconvertible {
			t.Errorf("of half of many: %d, %v", len(failed), err)
		}
	}
	for _, part := range [][]*Entry{many[:150], many[150:]} {
		if failed, err := sieved(t, r, part); err != nil || len(failed) != 75 {
			t.Errorf("of half of a part: %d, %v", len(failed), err)
		}
	}
	if _, err := sieved(t, r, many); err == nil {
		t.Error("both parts, which are too many, are left out together")
	}
}

// Another version, or another converter, is no evidence.
func TestWhoConvertsToAnotherVersionMayBeBroken_CRD18(t *testing.T) {
	s := newShelf(t)
	r := New(s.cronTabs().Def, &choking{}, s.memory)
	if _, err := r.View(t.Context(), entry(v1beta1, "well", 1), v1); err != nil {
		t.Fatal(err)
	}
	if failed, err := sieved(t, r, ward(1, 1)); err == nil || len(failed) != 0 {
		t.Errorf("%v, %v", failed, err)
	}
}

// odd is a shape that what a converter makes does not have.
type odd struct{ crd.Shape }

func (odd) FromConversion(map[string]any) error { return errors.New("it is odd") }

// What a converter makes that is no object of the version is the fault of the object, not of a
// converter that is away.
func TestWhatIsConvertedToNoObject_CRD18(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	v := r.Def.Version(v1beta1)
	v.Shape, v.Unchanged = odd{v.Shape}, nil
	if _, err := r.bytesOf(t.Context(), []*Entry{entry(v1, "one", 1)}, v1beta1); err == nil || !OfObjects(err) || !strings.Contains(err.Error(), "it is odd") {
		t.Errorf("another shape: %v", err)
	}
	if _, err := wellFormed(v, []byte("["), crd.Shape.FromConversion); err == nil || !OfObjects(err) {
		t.Errorf("no object: %v", err)
	}
}
