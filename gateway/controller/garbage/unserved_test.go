package garbage_test

import (
	"bytes"
	"strings"
	"testing"
)

const crontabs = "/registry/apiextensions.k8s.io/customresourcedefinitions/crontabs.example.com"

// serve has CronTabs served, or not though they are defined.
func (w *world) serve(served bool) {
	w.t.Helper()
	from, to := []byte(`"status":"True","type":"Established"`), []byte(`"status":"False","type":"Established"`)
	if served {
		from, to = to, from
	}
	w.rewrite(crontabs, func(was []byte) []byte {
		if !bytes.Contains(was, from) {
			w.t.Fatalf("%s has no %s", was, from)
		}
		return bytes.Replace(was, from, to, 1)
	})
	w.eventually("it is known whether they are served", func() bool { return (w.Catalog().Snapshot().Resource(tabs) != nil) == served })
}

// What is defined and not served loses its reference, too, before its owner goes: it
// would be garbage once it is served again.
func TestDependentsThatAreNotServedAreOrphaned_DEL05(t *testing.T) {
	w := newWorld(t)
	owner := w.create(key(maps, "owner"), nil, nil, nil)
	far := w.create(elsewhere(maps, "far"), nil, nil, nil)
	one := w.create(key(tabs, "one"), nil, nil, []made{owner})
	other := w.create(key(tabs, "other"), nil, nil, []made{w.create(key(maps, "stays"), nil, nil, nil)})
	free := w.create(key(maps, "free"), nil, nil, nil)
	w.serve(false)
	w.collect()
	w.delete(far, orphan)
	w.delete(free, orphan)
	w.delete(owner, orphan)
	w.becomes(far, "-")
	w.becomes(free, "-") // whatever else is stored in the namespace
	w.tells(owner, "crontabs.example.com/default/one is of a kind that is defined and not served; repair or remove it")
	w.is(owner, "deleting orphan")
	w.serve(true)
	w.becomes(owner, "-")
	w.becomes(one, "")
	w.is(other, "stays")
}

// One that nobody can read may be a dependent.
func TestWhatIsNotServedAndCannotBeReadMayHaveOwners_DEL05(t *testing.T) {
	w := newWorld(t)
	owner := w.create(key(maps, "owner"), nil, nil, nil)
	w.put("/registry/example.com/crontabs/default/one", "no object")
	w.serve(false)
	w.collect()
	w.delete(owner, orphan)
	w.tells(owner, "crontabs.example.com/default/one cannot be read and may be one; repair or remove it")
	w.is(owner, "deleting orphan")
}

// tells waits for an event on an owner that ends with why it is not deleted.
func (w *world) tells(owner made, why string) {
	w.t.Helper()
	w.eventually("it is told why", func() bool { return w.eventsOf("UnreadableDependent")[owner.Name] != nil })
	message, _ := w.eventsOf("UnreadableDependent")[owner.Name].Object["message"].(string)
	if !strings.HasSuffix(message, why) {
		w.t.Errorf("%s is told %q, want ... %q", owner.Name, message, why)
	}
}
