package e2e

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/wasmgate/wasmgate/test/harness"
)

var (
	histRounds = flag.Int("histories.rounds", 1, "how many rounds TestLinearizable has")
	histEach   = flag.Duration("histories.each", 6*time.Second, "how long a round of TestLinearizable is at least; with 45s and more, gateways are also stopped for longer than a leader's lease")
)

const (
	histClients  = 16
	histWatchers = 8
	// histCheck bounds the check of a history, whose time grows with what is
	// unknown.
	histCheck = 2 * time.Minute
)

// TestLinearizable has 16 clients write and read the same objects, of a custom
// resource at two versions that a module converts and of a built-in kind,
// through two gateways, while these and their etcd are killed, stopped and cut
// off from each other. All that clients were told can be explained by each
// operation taking effect at one moment between its call and its return; every
// watcher saw every change that it asked for once, in order; every list, streamed ones
// too, is all objects as they were at its revision.
func TestLinearizable_RV05_WATCH02_WATCH04_PER01(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	quiet := []string{"--etcd-compaction-interval", "0"}
	etcd := harness.Start(t, harness.Options{Args: quiet})
	w := &histWorld{etcd: etcd, rnd: rand.New(rand.NewPCG(3, 0))}
	for range 2 {
		l := harness.NewLink(t, etcd.EtcdURL)
		w.links = append(w.links, l)
		w.gateways = append(w.gateways, harness.Start(t, harness.Options{EtcdServers: l.URL, Args: append(quiet, "--request-timeout", "2s")}))
	}
	pushModule(t, w.gateways[0].API(t), "crontab", harness.Module(t, crontabModule))
	tabs := newWasmCronTabs(t, &w.gateways[0].Server, "crontab")
	kind := histTabs(tabs.group, tabs.ns)
	tabs.api.Post(kind.list("v1beta1"), kind.body("v1beta1", "first", "", "v0")).Want(201)
	for _, g := range w.gateways { // until it serves and converts
		g.API(t).Eventually(kind.list("v1")+"/first", func(r *harness.Reply) bool { return r.Code == 200 })
	}
	for i := range *histRounds {
		t.Run(fmt.Sprintf("round %d", i+1), func(t *testing.T) { w.round(t, i, tabs.group) })
	}
}

// round has clients and watchers at work in a namespace of their own while
// faults befall the world, and checks what they were told.
func (w *histWorld) round(t *testing.T, round int, group string) {
	// The first half of the clients is patient, the other leaves before a
	// gateway that is stopped goes on.
	var patient, hasty []*harness.API
	for _, g := range w.gateways {
		patient = append(patient, g.API(t))
		api := g.API(t)
		api.Patience = 3 * time.Second
		hasty = append(hasty, api)
	}
	ns := namespace(t, patient[0])
	kinds := []*histKind{histTabs(group, ns), histMaps(ns)}
	h := &histRecorder{t: t, begun: time.Now(), kinds: kinds, told: map[string][]histEvent{}, lists: map[string][]histList{}, codes: map[int]int{}, stop: make(chan struct{})}
	from := number(t, patient[0].Get(configMaps(ns)).Want(200).Object().RV())
	watchers, ended := h.watch(t, from, patient, round)

	var clients sync.WaitGroup
	for i := range histClients {
		c := &histClient{h: h, id: i, apis: patient, at: i % len(patient), rnd: rand.New(rand.NewPCG(uint64(round), uint64(i))), seen: map[string]histSeen{}, listed: map[string]int64{}}
		if i >= histClients/2 {
			c.apis = hasty
		}
		clients.Go(func() { c.run(h.stop) })
	}
	faults := w.disturb(t, *histEach)
	close(h.stop)
	clients.Wait()

	truth := map[string][]histEvent{}
	store := w.etcd.Etcd(t)
	for _, k := range kinds {
		truth[k.letter] = written(t, store, k, from)
	}
	for _, x := range watchers {
		asked := x.asked(truth[x.kind.letter])
		harness.Eventually(t, "a watcher sees everything", func() bool { return x.has(asked) })
	}
	ended()
	resumed := h.compare(t, truth, watchers)
	h.check(t)
	h.sums(t, faults, resumed)
}

// compare compares what watchers, lists and replies said with what etcd has. It
// returns how often watchers began again.
func (h *histRecorder) compare(t *testing.T, truth map[string][]histEvent, watchers []*histWatcher) (resumed int) {
	t.Helper()
	for i, w := range watchers {
		resumed += w.resumed
		h.lists[w.kind.letter] = append(h.lists[w.kind.letter], w.lists...)
		if err := w.wrong(w.asked(truth[w.kind.letter])); err != nil {
			t.Errorf("watcher %d of %s: %v", i, w.how, err)
		}
	}
	for letter, events := range truth {
		wrong := append(wrongLists(events, h.lists[letter]), wrongReplies(events, h.told[letter])...)
		for _, err := range wrong[:min(len(wrong), 5)] {
			t.Error(err)
		}
		if len(wrong) > 5 {
			t.Errorf("and %d more", len(wrong)-5)
		}
	}
	return resumed
}

// sums says what the round consisted of, and fails when it shows too little.
func (h *histRecorder) sums(t *testing.T, faults map[string]int, resumed int) {
	t.Helper()
	unknown, verbs, all := 0, map[string]int{}, 0
	for _, op := range h.ops {
		verbs[op.Input.(histInput).verb]++
		if op.Return == never {
			unknown++
		}
	}
	lists := map[string]int{}
	for _, l := range slices.Concat(slices.Collect(maps.Values(h.lists))...) {
		lists[l.how]++
	}
	for _, n := range faults {
		all += n
	}
	t.Logf("%d operations %v, %d of them unknown; lists %v; replies %v; watchers began again %d times; faults %v", len(h.ops), verbs, unknown, lists, h.codes, resumed, faults)
	if len(h.ops) < 500 || len(verbs) < 5 || len(lists) < 5 || unknown == 0 || resumed < all {
		t.Error("that shows nothing")
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
