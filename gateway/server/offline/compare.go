package offline

import (
	"context"
	"fmt"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// maxPlaces is how many fields are told that differ.
const maxPlaces = 500

// fails is told in place of a field where one of two modules does not convert.
const fails = "(fails)"

// Compare implements [workbench.Measuring].
func (Tools) Compare(ctx context.Context, what workbench.Comparison) (out workbench.Compared, err error) {
	c, err := readCorpus(ctx, what.Corpus)
	if err != nil {
		return out, err
	}
	a, err := converting(ctx, what.A)
	if err != nil {
		return out, err
	}
	defer a.close()
	b, err := converting(ctx, what.B)
	if err != nil {
		return out, err
	}
	defer b.close()
	w := &comparing{a: a, b: b, d: c.d, places: map[string]int{}}
	err = c.pairs(func(from, to *crd.Version, objects [][]byte) error {
		for _, obj := range objects {
			if err := w.one(ctx, from, to, obj); err != nil {
				return err
			}
		}
		return nil
	})
	return w.out, err
}

// comparing is a comparison that is under way.
type comparing struct {
	a, b   *running
	d      *crd.Definition
	out    workbench.Compared
	places map[string]int // indices in out.Places
}

// one converts an object by both. The error is that of ctx, or that of the comparison.
func (w *comparing) one(ctx context.Context, from, to *crd.Version, obj []byte) error {
	x, errA := w.a.one(ctx, w.d, obj, to.Name)
	y, errB := w.b.one(ctx, w.d, obj, to.Name)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w.out.Conversions++
	var all []proof.Difference
	switch {
	case errA != nil && errB != nil: // which says nothing of how they convert
		if w.out.Neither++; w.out.Neither == 1 {
			w.out.Said = fmt.Sprintf("%s to %s: %s", from.Name, to.Name, errA)
		}
		return nil
	case errA != nil || errB != nil:
		all = []proof.Difference{{Field: fails, A: said(errA), B: said(errB)}}
	default:
		var err error
		if all, err = proof.Differences(to, x, y); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		w.out.Same++
	}
	told := map[string]bool{}
	for _, d := range all {
		if !told[d.Field] {
			told[d.Field] = true
			w.note(from, to, d, obj)
		}
	}
	return nil
}

func said(err error) string {
	if err == nil {
		return "converts"
	}
	return err.Error()
}

func (w *comparing) note(from, to *crd.Version, d proof.Difference, obj []byte) {
	key := fmt.Sprintf("%s %s %s", from.Name, to.Name, d.Field)
	i, known := w.places[key]
	if known {
		w.out.Places[i].Count++
		return
	}
	if len(w.out.Places) == maxPlaces {
		return
	}
	w.places[key] = len(w.out.Places)
	w.out.Places = append(w.out.Places, workbench.ComparedPath{From: from.Name, To: to.Name, Field: d.Field, Count: 1, A: d.A, B: d.B, Object: string(obj)})
}
