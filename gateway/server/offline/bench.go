package offline

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// Bench implements [workbench.Measuring]. Objects are converted as a gateway does it,
// which divides a batch into calls and makes these on all processors.
func (Tools) Bench(ctx context.Context, what workbench.Bench) (out workbench.Measured, err error) {
	c, err := readCorpus(ctx, what.Corpus)
	if err != nil {
		return out, err
	}
	calls, began := &seen{}, time.Now()
	r, err := convertingSeen(ctx, what.Module, calls)
	if err != nil {
		return out, err
	}
	defer r.close()
	out.Size, out.Load = len(what.Content), time.Since(began)
	err = c.pairs(func(from, to *crd.Version, objects [][]byte) error {
		var fit [][]byte
		for _, obj := range objects {
			if _, err := r.one(ctx, c.d, obj, to.Name); err == nil {
				fit = append(fit, obj)
			} else if ctx.Err() != nil {
				return ctx.Err()
			} else if len(out.Problems) < 10 {
				out.Problems = append(out.Problems, fmt.Sprintf("%s to %s: %v", from.Name, to.Name, err))
			}
		}
		if len(fit) == 0 {
			return nil
		}
		for _, n := range what.Batches {
			row, err := r.measure(ctx, c.d.APIVersion(to.Name), fit, n, what.Time, calls)
			if err != nil {
				return err
			}
			row.From, row.To = from.Name, to.Name
			out.Rows = append(out.Rows, row)
		}
		return nil
	})
	return out, err
}

// mostRounds bounds how often something is measured.
const mostRounds = 100000

// measure converts so many objects together, again and again.
func (r *running) measure(ctx context.Context, to string, objects [][]byte, n int, budget time.Duration, calls *seen) (workbench.Row, error) {
	batch := make([][]byte, n)
	bytes := 0
	for i := range batch {
		batch[i] = objects[i%len(objects)]
		bytes += len(batch[i])
	}
	if _, err := r.Convert(ctx, to, batch); err != nil { // it is warm from then on
		return workbench.Row{}, err
	}
	calls.since()
	var took []time.Duration
	for end := time.Now().Add(budget); len(took) == 0 || time.Now().Before(end) && len(took) < mostRounds; {
		began := time.Now()
		if _, err := r.Convert(ctx, to, batch); err != nil {
			return workbench.Row{}, err
		}
		took = append(took, time.Since(began))
	}
	fuel, memory, _ := calls.since()
	slices.Sort(took)
	row := workbench.Row{Batch: n, Bytes: bytes / n, Took: took[len(took)/2], Rounds: len(took), Memory: memory, Fuel: fuel / int64(len(took)) / int64(n)}
	row.PerObject = row.Took / time.Duration(n)
	return row, nil
}
