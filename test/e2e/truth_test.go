package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

var truths = flag.Int64("truths", 3000, "how many reads TestAllVersionsTellOneTruth compares")

// TestAllVersionsTellOneTruth has objects made, changed and deleted at two versions and
// through two gateways, while they are read, listed, listed at past revisions and watched
// at both: whoever says what an object is at a revision says the same, nothing that was
// deleted is seen again, and all watchers see the same changes.
func TestAllVersionsTellOneTruth_WATCH03(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	first := harness.Start(t, harness.Options{})
	second := harness.Start(t, harness.Options{EtcdServers: first.EtcdURL})
	pushModule(t, first.API(t), "crontab", harness.Module(t, crontabModule))
	tabs := newWasmCronTabs(t, &first.Server, "crontab")
	w := &truth{t: t, kind: histTabs(tabs.group, tabs.ns), apis: []*harness.API{first.API(t), second.API(t)}}
	w.apis[0].Post(w.kind.list("v1beta1"), w.kind.body("v1beta1", "begin", "", "0")).Want(201)
	for _, api := range w.apis { // until it serves and converts
		api.Eventually(w.kind.list("v1")+"/begin", func(r *harness.Reply) bool { return r.Code == 200 })
	}
	from := w.apis[0].Get(w.kind.list("v1")).Want(200).Object().RV()

	var watchers, all sync.WaitGroup
	seen := make(chan string, 4)
	for _, api := range w.apis {
		for _, version := range w.kind.versions {
			watchers.Go(func() { seen <- w.watch(api, version, from) })
		}
	}
	for n := range w.newest {
		all.Go(func() { w.write(n) })
	}
	for range 4 {
		all.Go(w.read)
	}
	all.Wait()
	w.apis[0].Post(w.kind.list("v1"), w.kind.body("v1", "end", "", "0")).Want(201)
	watchers.Wait()
	close(seen)
	one := <-seen
	for other := range seen {
		if other != one {
			t.Errorf("one watcher saw %s, another one %s", one, other)
		}
	}
	t.Logf("%d reads; watchers saw %s", w.reads.Load(), one)
}

// truth is what was said of objects so far.
type truth struct {
	t    *testing.T
	kind *histKind
	apis []*harness.API
	// told has what an object is at a revision, as whoever said it first said it.
	told   sync.Map
	reads  atomic.Int64
	newest [2]atomic.Int64 // the latest object of each writer
}

func (w *truth) over() bool { return w.t.Failed() || w.reads.Load() >= *truths }

// tell compares what is said of an object with what others said of that revision.
func (w *truth) tell(who, version string, o histObject) string {
	is := o.Metadata.Name + " is " + o.value(w.kind, version)
	if was, there := w.told.LoadOrStore(o.Metadata.ResourceVersion, is); there && was != is {
		w.t.Errorf("at revision %s %s, says %s at %s, where %s was said before", o.Metadata.ResourceVersion, is, who, version, was)
	}
	return is
}

func (w *truth) api() *harness.API { return w.apis[rand.IntN(len(w.apis))] }
func (w *truth) version() string   { return w.kind.versions[rand.IntN(len(w.kind.versions))] }

// alive is how many objects a writer keeps.
const alive = 8

// write makes objects, changes one of the latest after each, and deletes the oldest.
func (w *truth) write(writer int) {
	name := func(n int64) string { return fmt.Sprintf("%d-%d", writer, n) }
	for n := int64(1); !w.over(); n++ {
		at, changed, value := w.version(), w.version(), strconv.FormatInt(n, 10)
		w.said("a creation", at, w.api().Post(w.kind.list(at), w.kind.body(at, name(n), "", value)).Want(201))
		w.newest[writer].Store(n)
		w.said("a patch", changed, w.api().Merge(w.kind.list(changed)+"/"+name(max(1, n-rand.Int64N(alive))), w.kind.fields(changed, "changed"+value)).Want(200))
		if n >= alive {
			w.api().Delete(w.kind.list(w.version()) + "/" + name(n-alive+1)).Want(200)
		}
	}
}

func (w *truth) said(who, version string, r *harness.Reply) histObject {
	var o histObject
	if err := json.Unmarshal(r.Body, &o); err != nil {
		w.t.Errorf("%v in %s", err, r.Body)
	}
	w.tell(who, version, o)
	return o
}

// read reads and lists at one version or the other, and remembers what it saw.
func (w *truth) read() {
	last := map[string]int64{} // the revision of each object; that of no object once it was gone
	past := "0"
	for !w.over() {
		w.get(last)
		at, list := w.list(w.version(), "")
		for _, o := range list {
			w.later(last, o)
		}
		w.sameList(at, list)
		if past != "0" {
			if at, list := w.list(w.version(), past); list != nil {
				w.sameList(at, list)
			}
		}
		if past == "0" || rand.IntN(8) == 0 {
			past = at
		}
	}
}

const deleted = int64(1) << 62

func (w *truth) later(last map[string]int64, o histObject) {
	rev, err := strconv.ParseInt(o.Metadata.ResourceVersion, 10, 64)
	if err != nil || rev < last[o.Metadata.Name] {
		w.t.Errorf("%s is at %s, %v, and was at %d before", o.Metadata.Name, o.Metadata.ResourceVersion, err, last[o.Metadata.Name])
	}
	last[o.Metadata.Name] = rev
}

// get reads an object that is there, or was.
func (w *truth) get(last map[string]int64) {
	writer := rand.IntN(len(w.newest))
	name := fmt.Sprintf("%d-%d", writer, max(1, w.newest[writer].Load()-rand.Int64N(alive+2)))
	version := w.version()
	r := w.api().Get(w.kind.list(version)+"/"+name).Want(200, 404)
	w.reads.Add(1)
	switch {
	case r.Code == http.StatusOK:
		w.later(last, w.said("a get", version, r))
	case last[name] != 0:
		last[name] = deleted
	}
}

// list lists at a version, and at a revision unless it is ""; nil where that is compacted.
func (w *truth) list(version, revision string) (at string, objects map[string]histObject) {
	query := ""
	if revision != "" {
		query = "?resourceVersionMatch=Exact&resourceVersion=" + revision
	}
	r := w.api().Get(w.kind.list(version)+query).Want(200, 410)
	w.reads.Add(1)
	if r.Code == http.StatusGone {
		return revision, nil
	}
	var list struct {
		Metadata struct{ ResourceVersion string }
		Items    []histObject
	}
	if err := json.Unmarshal(r.Body, &list); err != nil {
		w.t.Errorf("%v in %s", err, r.Body)
	}
	objects = map[string]histObject{}
	for _, o := range list.Items {
		w.tell("a list", version, o)
		o.APIVersion, o.HostPort, o.Host, o.Port = "", "", "", "" // which were compared
		objects[o.Metadata.Name] = o
	}
	return list.Metadata.ResourceVersion, objects
}

// sameList lists what was listed again, at every version.
func (w *truth) sameList(at string, list map[string]histObject) {
	for _, version := range w.kind.versions {
		if _, again := w.list(version, at); again != nil && !maps.Equal(again, list) {
			w.t.Errorf("at revision %s there is %v, and %v at %s", at, list, again, version)
		}
	}
}

// watch follows all changes at a version until the last object is made, and tells what
// it saw.
func (w *truth) watch(api *harness.API, version, from string) string {
	resp, err := api.Open(w.t.Context(), w.kind.list(version)+"?watch=1&resourceVersion="+from)
	if err != nil {
		w.t.Error(err)
		return "nothing"
	}
	defer resp.Body.Close()
	last, sum, events := map[string]int64{}, sha256.New(), 0
	for in := json.NewDecoder(resp.Body); ; events++ {
		var e struct {
			Type   string
			Object histObject
		}
		if err := in.Decode(&e); err != nil {
			w.t.Errorf("a watch at %s ended: %v", version, err)
			break
		}
		fmt.Fprintln(sum, e.Type, e.Object.Metadata.ResourceVersion, w.tell("a watch", version, e.Object))
		if w.later(last, e.Object); e.Type == "DELETED" {
			last[e.Object.Metadata.Name] = deleted
		}
		if e.Object.Metadata.Name == "end" {
			break
		}
	}
	return fmt.Sprintf("%d events, %x", events, sum.Sum(nil)[:6])
}
