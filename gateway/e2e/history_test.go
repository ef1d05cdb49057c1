package e2e

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest"
)

var histFor = flag.Duration("history", 15*time.Second, "how long TestLinearizable writes and kills")

const (
	histClients  = 16
	histWatchers = 4
	// histCalm is how long everything works between two kills.
	histCalm = time.Second
	// histCheck bounds the check of a history, whose time grows with what is
	// unknown.
	histCheck = 2 * time.Minute
)

// TestLinearizable has 16 clients write and read the same objects through two
// gateways while these and their etcd are killed and started again: all that
// clients were told can be explained by each operation taking effect at one
// moment between its call and its return, and every watcher saw every change
// once, in order.
func TestLinearizable_RV05_WATCH02_WATCH04_PER01(t *testing.T) {
	gatewaytest.SkipExternal(t)
	t.Parallel()
	etcd := gatewaytest.Start(t, gatewaytest.Options{Args: []string{"--etcd-compaction-interval", "0"}})
	var gateways []*gatewaytest.Gateway
	var apis []*gatewaytest.API
	for range 2 {
		g := gatewaytest.Start(t, gatewaytest.Options{EtcdServers: etcd.EtcdURL, Args: []string{"--etcd-compaction-interval", "0", "--request-timeout", "2s"}})
		gateways, apis = append(gateways, g), append(apis, g.API(t))
	}
	h := &histRecorder{t: t, begun: time.Now(), ns: namespace(t, apis[0])}
	from := apis[0].Get(configMaps(h.ns)).Want(200).Object().RV()
	watchers, ended := watchHistory(t, h.ns, from, apis)

	stop := make(chan struct{})
	var clients sync.WaitGroup
	for i := range histClients {
		c := &histClient{h: h, id: i, apis: apis, at: i % len(apis), rnd: rand.New(rand.NewPCG(1, uint64(i))), seen: map[string]histSeen{}}
		clients.Go(func() { c.run(stop) })
	}
	kills := disturb(t, append(gateways, etcd))
	close(stop)
	clients.Wait()

	truth := written(t, &etcd.Server, "/registry/configmaps/"+h.ns+"/", number(t, from))
	for _, w := range watchers {
		gatewaytest.Eventually(t, "a watcher sees everything", func() bool { return w.has(len(truth)) })
	}
	ended()
	resumed := 0
	for i, w := range watchers {
		resumed += w.resumed
		for n := range max(len(truth), len(w.events)) {
			if n >= len(truth) || n >= len(w.events) || truth[n] != w.events[n] {
				t.Errorf("watcher %d: event %d differs: %q, etcd has %q", i, n, at(w.events, n), at(truth, n))
				break
			}
		}
	}
	unknown := 0
	for _, op := range h.ops {
		if op.Return == never {
			unknown++
		}
	}
	t.Logf("%d operations, %d of them unknown, %d kills, %d events for each of %d watchers, which began again %d times", len(h.ops), unknown, kills, len(truth), histWatchers, resumed)
	if len(h.ops) < 500 || kills < 3 || unknown == 0 || resumed < kills {
		t.Error("that shows nothing")
	}
	h.check(t)
}

func at(all []string, n int) string {
	if n < len(all) {
		return all[n]
	}
	return "nothing"
}

// watchHistory starts watchers, which end when the function it returns is
// called.
func watchHistory(t *testing.T, ns, from string, apis []*gatewaytest.API) ([]*histWatcher, func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	watchers := make([]*histWatcher, histWatchers)
	for i := range watchers {
		w := &histWatcher{t: t, path: configMaps(ns), rv: from, apis: apis, at: i % len(apis), rnd: rand.New(rand.NewPCG(2, uint64(i)))}
		watchers[i] = w
		running.Go(func() { w.run(ctx) })
	}
	return watchers, func() {
		cancel()
		running.Wait()
	}
}

// disturb kills one after the other, or two at once, and starts them again. It
// returns how often.
func disturb(t *testing.T, all []*gatewaytest.Gateway) (kills int) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(3, 0))
	calm := time.NewTicker(histCalm)
	defer calm.Stop()
	for end := time.After(*histFor); ; {
		select {
		case <-end:
			return kills
		case <-calm.C:
		}
		first := all[kills%len(all)]
		first.Kill(t)
		if second := all[rnd.IntN(len(all))]; second != first && rnd.IntN(3) == 0 {
			second.Kill(t)
			if second == all[len(all)-1] { // the etcd, without which nobody starts
				first, second = second, first
			}
			first.Restart(t)
			first = second
		}
		first.Restart(t)
		kills++
		calm.Reset(histCalm)
	}
}

// check has porcupine explain the history. What it cannot explain it draws.
func (h *histRecorder) check(t *testing.T) {
	t.Helper()
	result, info := porcupine.CheckOperationsVerbose(oneObject, h.ops, histCheck)
	if result == porcupine.Ok {
		return
	}
	t.Errorf("the history of %d operations: %s", len(h.ops), result)
	dir := os.Getenv("HISTORY_DIR")
	if dir == "" {
		return
	}
	f, err := os.Create(filepath.Join(dir, fmt.Sprintf("history-%d.html", h.begun.Unix())))
	if err == nil {
		err = porcupine.Visualize(oneObject, info, f)
	}
	if err != nil {
		t.Error(err)
	}
}
