package garbage_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/garbage"
)

// What lost its owners goes at the rate that is set, whatever there is: deletions, and
// references that are taken away.
func TestNoMoreIsWrittenThanTheRateAllows_DEL05(t *testing.T) {
	const each, rate, atOnce = 6, 20, 20 / 10
	w := newWorld(t)
	owner, leaving := w.create(key(tabs, "owner"), nil, nil, nil), w.create(key(tabs, "leaving"), nil, nil, nil)
	var all, orphans []made
	for n := range each {
		all = append(all, w.create(key(maps, fmt.Sprint("dependent", n)), nil, nil, []made{owner}))
		orphans = append(orphans, w.create(key(maps, fmt.Sprint("orphan", n)), nil, nil, []made{leaving}))
	}
	w.delete(owner, background)
	w.delete(leaving, orphan)
	began := time.Now()
	w.background(func(ctx context.Context) {
		controller.Run(ctx, zerolog.Nop(), w.Client, garbage.New(garbage.Options{Objects: w, Source: w, Stored: w.stored, Metrics: w, Log: zerolog.Nop(), Rate: rate}))
	})
	for _, m := range all {
		w.becomes(m, "-")
	}
	for _, m := range orphans {
		w.becomes(m, "")
	}
	if took, least := time.Since(began), (2*each-atOnce)*time.Second/rate; took < least {
		t.Errorf("%d writes took %v, and at %d a second they take %v at least", 2*each, took, rate, least)
	}
}
