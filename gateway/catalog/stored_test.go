package catalog

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// What is stored of each kind is counted, once for each, and of those that are stored.
func TestWhatIsStoredIsCounted(t *testing.T) {
	s := newShelf(t, withCronTab)
	s.configMaps(0, 3)
	found := map[schema.GroupResource]Stored{}
	s.Snapshot().Stored(func(gr schema.GroupResource, of Stored) {
		if _, twice := found[gr]; twice {
			t.Errorf("%s is told twice", gr)
		}
		found[gr] = of
	})
	if got := found[schema.GroupResource{Resource: "configmaps"}]; got.Objects != 3 || got.Bytes < 300 || got.Events != 3 {
		t.Errorf("of ConfigMaps there are %+v", got)
	}
	if got := found[schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}]; got.Objects != 1 {
		t.Errorf("of definitions there are %+v", got)
	}
	if got, is := found[schema.GroupResource{Group: "example.com", Resource: "crontabs"}]; !is || got != (Stored{}) {
		t.Errorf("of CronTabs there are %+v, %t", got, is)
	}
}

// A built-in kind is always the one that is served and shown, and is written without a
// definition.
func TestBuiltInKindsHaveNoDefinition(t *testing.T) {
	s := newShelf(t, withCronTab)
	r, _ := s.Snapshot().Find("", "v1", "configmaps")
	if key, rev := r.Definition(); key != "" || rev != 0 || r.Shown() != nil || r.Writer(s.store) != storage.GuardedWriter(s.store) {
		t.Errorf("it has the definition %q at %d", key, rev)
	}
	if until, err := s.StillShown(s.ctx(), r); until != 0 || err != nil {
		t.Errorf("it is shown until %d, %v", until, err)
	}
	if err := s.InForce(s.ctx(), r); err != nil {
		t.Error(err)
	}
	tabs := s.cronTabs()
	if key, rev := tabs.Definition(); key != crdKey || rev == 0 || tabs.Shown() == nil || tabs.Writer(s.store) == storage.GuardedWriter(s.store) {
		t.Errorf("a custom one has the definition %q at %d", key, rev)
	}
	if got := s.ClaimKey("x"); got != "/registry/claims/x" {
		t.Errorf("claims are at %s", got)
	}
}

// Labels are looked at while somebody follows one, and no longer.
func TestLabelsAreLookedAtWhileFollowed(t *testing.T) {
	s := newShelf(t)
	r := s.configMaps(0, 1)
	at := r.bucket.Snapshot()
	it, _ := at.Get("default/c0000")
	visited := func() (byLabel, others int) {
		if !r.interestsOf(&watchcache.Event[*view.Entry]{Item: it}, func(i Interest) {
			if i.Label != "" {
				byLabel++
			} else {
				others++
			}
		}) {
			t.Error("the labels cannot be read")
		}
		return byLabel, others
	}
	expect := func(what string, want int) {
		t.Helper()
		if byLabel, others := visited(); byLabel != want || others != 3 {
			t.Errorf("%s: %d interests in labels and %d others, want %d and 3", what, byLabel, others, want)
		}
	}
	follow := func(interests ...Interest) (stop func()) {
		t.Helper()
		c, err := r.bucket.Watch(it.Revision)
		if err != nil {
			t.Fatal(err)
		}
		_, stop = r.Follow(c, interests...)
		return stop
	}
	expect("at first", 0)
	named := follow(Interest{Name: "c0000"})
	expect("while a name is followed", 0)
	one := follow(Interest{Name: "x"}, Interest{Label: "app", Value: "a"})
	two := follow(Interest{Label: "n", Value: "0"})
	expect("while labels are", 6)
	one()
	expect("while one is", 6)
	two()
	named()
	expect("at last", 0)
}
