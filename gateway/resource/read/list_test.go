package read_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	listvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// list validates as the API does, and lists.
func (w *world) list(t resource.Target, o internalversion.ListOptions) (*resource.List, error) {
	if errs := listvalidation.ValidateListOptions(&o, true); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: "meta.k8s.io", Kind: "ListOptions"}, "", errs)
	}
	return w.List(w.ctx(), t, &o)
}

// shown names the objects of a list and their ports.
func (w *world) shown(l *resource.List) string {
	w.t.Helper()
	r := w.at(v1, "").Resource
	objects, err := bytesOf(w.ctx(), r, l.Entries, encoding.At(v1))
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, o := range objects {
		u := w.parse(o)
		out = append(out, fmt.Sprintf("%s:%v", u.GetName(), u.Object["port"]))
	}
	return strings.Join(out, " ")
}

// history makes three revisions: a and b; a changed; b gone and c there.
func (w *world) history() (first, second, third int64) {
	w.create(w.at(v1, ""), tab(v1, "a", "h", "1"))
	w.create(w.at(v1, ""), tab(v1, "b", "h", "1"))
	first = w.revision()
	w.must(w.Patch(w.ctx(), w.at(v1, "a"), "application/merge-patch+json", []byte(`{"port":"2"}`), resource.WriteOptions{}))
	second = w.revision()
	w.must(w.Delete(w.ctx(), w.at(v1, "b"), &metav1.DeleteOptions{}, resource.WriteOptions{}))
	w.create(w.at(v1, ""), tab(v1, "c", "h", "1"))
	return first, second, w.revision()
}

func TestListTable_RVL1_RVL2_RVL3_RVL4_RVL5_RVL6_RVL7(t *testing.T) {
	w := newWorld(t)
	first, second, third := w.history()
	w.wait(third)
	page, err := w.list(w.at(v1, ""), internalversion.ListOptions{Limit: 1, ResourceVersion: fmt.Sprint(first), ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	if err != nil || page.Continue == "" {
		t.Fatal(page, err)
	}
	release := w.store.holdUp()
	defer release()
	w.create(w.at(v1, ""), tab(v1, "d", "h", "1")) // after what the cache has
	const stale, exact = "a:2 c:1", "a:1 b:1"
	bad, invalid := int32(400), int32(422)
	for _, c := range []struct {
		row            string
		match          metav1.ResourceVersionMatch
		limit          int64
		token          string
		zero, n        string // what is shown with "0" and with N
		unset, z, nErr int32  // or the refusal
	}{
		{row: "RV-L1", zero: stale, n: stale},
		{row: "RV-L2", limit: 9, zero: stale, n: exact},
		{row: "RV-L3", limit: 9, token: page.Continue, zero: "b:1", nErr: bad},
		{row: "RV-L4", match: "Exact", unset: invalid, z: invalid, n: exact},
		{row: "RV-L5", match: "Exact", limit: 9, unset: invalid, z: invalid, n: exact},
		{row: "RV-L6", match: "NotOlderThan", unset: invalid, zero: stale, n: stale},
		{row: "RV-L7", match: "NotOlderThan", limit: 9, unset: invalid, zero: stale, n: stale},
	} {
		cell := func(rv, want string, code int32) {
			t.Helper()
			l, err := w.list(w.at(v1, ""), internalversion.ListOptions{ResourceVersion: rv, ResourceVersionMatch: c.match, Limit: c.limit, Continue: c.token})
			switch {
			case code != 0:
				refused(t, err, code, map[int32]string{400: "BadRequest", 422: "Invalid"}[code], "")
			case err != nil || w.shown(l) != want:
				t.Errorf("%s at %q: got %v, %v; want %s", c.row, rv, l, err, want)
			case want == exact && l.Revision != first || want == stale && l.Revision != third || c.token != "" && l.Revision != first:
				t.Errorf("%s at %q: revision %d", c.row, rv, l.Revision)
			}
		}
		if c.unset != 0 {
			cell("", "", c.unset)
		}
		if c.token != "" {
			cell("", c.zero, 0)
		}
		cell("0", c.zero, c.z)
		cell(fmt.Sprint(first), c.n, c.nErr)
	}
	waitsForTheNewest(t, w, release)
	l, err := w.list(w.at(v1, ""), internalversion.ListOptions{ResourceVersion: fmt.Sprint(second), ResourceVersionMatch: "Exact"})
	if err != nil || w.shown(l) != "a:2 b:1" {
		t.Errorf("RV-08: %v, %v", l, err)
	}
}

// waitsForTheNewest shows that lists of the newest state wait for it.
func waitsForTheNewest(t *testing.T, w *world, release func()) {
	t.Helper()
	// RV-L1, RV-L2, RV-05: most recent waits for the cache.
	got := make(chan string)
	for _, limit := range []int64{0, 9} {
		go func() {
			l, err := w.list(w.at(v1, ""), internalversion.ListOptions{Limit: limit})
			if err != nil {
				t.Error(err)
				l = &resource.List{}
			}
			got <- w.shown(l)
		}()
	}
	release()
	for range 2 {
		if s := <-got; s != "a:2 c:1 d:1" {
			t.Errorf("most recent: %s", s)
		}
	}
}

func TestContinueAcrossChanges_LIST03_LIST04_LIST05_LIST07(t *testing.T) {
	w := newWorld(t)
	for i := range 7 {
		w.create(w.at(v1, ""), tab(v1, fmt.Sprintf("tab-%d", i), "h", "1", fmt.Sprintf(`"labels":{"odd":"%d"}`, i%2)))
	}
	odd, err := labels.Parse("odd=1")
	if err != nil {
		t.Fatal(err)
	}
	for name, selector := range map[string]labels.Selector{"all": nil, "odd": odd} {
		var seen []string
		var revision int64
		token := ""
		for n := 0; ; n++ {
			l, err := w.list(w.at(v1, ""), internalversion.ListOptions{Limit: 3 - int64(n), Continue: token, LabelSelector: selector})
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				revision = l.Revision
			}
			seen = append(seen, strings.Fields(w.shown(l))...)
			if l.Revision != revision {
				t.Errorf("%s: page %d is of revision %d, not %d", name, n, l.Revision, revision)
			}
			if token = l.Continue; token == "" {
				if l.Remaining != nil {
					t.Error("the last page has a remainder")
				}
				break
			}
			if (l.Remaining != nil) != (selector == nil) || selector == nil && *l.Remaining != int64(7-len(seen)) {
				t.Errorf("%s: page %d: remaining %v", name, n, l.Remaining)
			}
			// Between the pages everything changes.
			w.must(w.Delete(w.ctx(), w.at(v1, fmt.Sprintf("tab-%d", 6-n)), &metav1.DeleteOptions{}, resource.WriteOptions{}))
			w.create(w.at(v1, ""), tab(v1, fmt.Sprintf("tab-%d", 6-n), "h", "9", `"labels":{"odd":"1"}`))
			w.create(w.at(v1, ""), tab(v1, fmt.Sprintf("tab-%s-5%d", name, n), "h", "9", `"labels":{"odd":"1"}`))
			if n > 1 { // no limit for the rest
				n = 2
			}
		}
		if name == "all" && !slices.Equal(seen[:2], []string{"tab-0:1", "tab-1:1"}) || slices.ContainsFunc(seen, func(s string) bool { return strings.HasPrefix(s, "tab-"+name) }) {
			t.Errorf("%s: got %v", name, seen)
		}
	}
}

func TestContinueTokens_LIST06_RV09(t *testing.T) {
	w := newWorld(t)
	w.history()
	first, err := w.list(w.at(v1, ""), internalversion.ListOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"abc", "e30", first.Continue + "x", strings.Repeat("A", 4096)} {
		_, err := w.list(w.at(v1, ""), internalversion.ListOptions{Limit: 1, Continue: token})
		refused(t, err, 400, "BadRequest", "continue")
	}
	root := w.at(v1, "").Resource.Root()
	future, err := apistorage.EncodeContinue(root+"default/a\x00", root+"default/", 1<<60)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.ctx())
	cancel() // do not wait for it
	_, err = w.List(ctx, w.at(v1, ""), &internalversion.ListOptions{Continue: future})
	refused(t, err, 504, "Timeout", "")
}

func TestExpiredHistory_LIST06_RV08_RV14_WATCH05(t *testing.T) {
	store := storagetest.NewMemory()
	w := worldOver(t, store)
	first, _, third := w.history()
	page, err := w.list(w.at(v1, ""), internalversion.ListOptions{Limit: 1, ResourceVersion: fmt.Sprint(first), ResourceVersionMatch: "Exact"})
	if err != nil {
		t.Fatal(err)
	}
	// Another gateway, which was not there at that time, reads the store.
	late := worldOver(t, store)
	late.wait(third)
	for _, limit := range []int64{0, 1} {
		l, err := late.listPast(late.at(v1, ""), internalversion.ListOptions{Limit: limit, ResourceVersion: fmt.Sprint(first), ResourceVersionMatch: "Exact"})
		if err != nil || !strings.HasPrefix("a:1 b:1", late.shown(l)) || l.Revision != first || (l.Continue != "") != (limit == 1) || (l.Remaining != nil && *l.Remaining != 1) {
			t.Errorf("limit %d: %v, %v", limit, l, err)
		}
	}
	if err := store.Compact(w.ctx(), third); err != nil {
		t.Fatal(err)
	}
	_, err = late.listPast(late.at(v1, ""), internalversion.ListOptions{ResourceVersion: fmt.Sprint(first), ResourceVersionMatch: "Exact"})
	refused(t, err, 410, "Expired", "The resourceVersion for the provided list is too old.")
	_, err = late.listPast(late.at(v1, ""), internalversion.ListOptions{Limit: 1, Continue: page.Continue})
	refused(t, err, 410, "Expired", "The provided continue parameter is too old")
	// The error has a token that goes on with the present state.
	status := err.(apierrors.APIStatus).Status()
	rest, err := late.list(late.at(v1, ""), internalversion.ListOptions{Limit: 5, Continue: status.Continue})
	if err != nil || late.shown(rest) != "c:1" || rest.Revision < third {
		t.Errorf("the rest: %v, %v", rest, err)
	}
}

// narrow is a store whose pages of the past have no more than so many keys.
type narrow struct {
	storage.Store
	most  int
	asked []int
}

func (n *narrow) Range(ctx context.Context, r storage.Range) (storage.Page, error) {
	if r.Revision > 0 {
		if n.asked = append(n.asked, r.Limit); r.Limit > n.most {
			return storage.Page{}, &storage.Error{Kind: storage.TooLarge}
		}
	}
	return n.Store.Range(ctx, r)
}

// A page of the past is read in pages that the store can send, and no more than is asked for.
func TestPagesOfThePastAreSmall(t *testing.T) {
	store := &narrow{Store: storagetest.NewMemory(), most: 8}
	w := worldOver(t, store)
	const objects = 20
	for i := range objects {
		w.create(w.at(v1, ""), tab(v1, fmt.Sprintf("tab-%02d", i), "h", "1"))
	}
	at := fmt.Sprint(w.revision())
	for limit, want := range map[int64]int{0: 8, 5: 6, 19: 8} {
		got, next := 0, ""
		for page := 0; page == 0 || next != ""; page++ {
			store.asked = nil
			o := internalversion.ListOptions{Limit: limit, Continue: next}
			if next == "" {
				o.ResourceVersion, o.ResourceVersionMatch = at, "Exact"
			}
			l, err := w.listPast(w.at(v1, ""), o)
			if err != nil || page > objects {
				t.Fatalf("limit %d: %v", limit, err)
			}
			if len(store.asked) == 0 || slices.Min(store.asked) > want {
				t.Errorf("limit %d: pages of %v keys", limit, store.asked)
			}
			if rest := int64(objects - got - len(l.Entries)); l.Remaining != nil && *l.Remaining != rest {
				t.Errorf("limit %d: %d remain, want %d", limit, *l.Remaining, rest)
			}
			got, next = got+len(l.Entries), l.Continue
		}
		if got != objects {
			t.Errorf("limit %d: %d objects", limit, got)
		}
	}
}

// listPast lists from the store's history, whatever the cache still has.
func (w *world) listPast(t resource.Target, o internalversion.ListOptions) (*resource.List, error) {
	return w.ListPast(w.ctx(), t, &o)
}

func TestSelectors_RES03(t *testing.T) {
	w := newWorld(t)
	const many = read.DeepBatch + 40
	for i := range many {
		w.create(w.at(v1, ""), tab(v1, fmt.Sprintf("tab-%03d", i), "h", fmt.Sprint(i%7), fmt.Sprintf(`"labels":{"odd":"%d"}`, i%2)))
	}
	other := w.at(v1, "")
	other.Namespace = "other"
	w.create(other, tab(v1, "tab-000", "h", "1"))
	everywhere := w.at(v1beta1, "")
	everywhere.Namespace = ""
	calls := func(want int64) {
		t.Helper()
		// There are two batches of entries.
		if n := w.conv.Calls.Swap(0); n > 2*want*int64(runtime.GOMAXPROCS(0)) {
			t.Errorf("%d calls of the converter, want %d for each core and batch", n, want)
		}
	}
	for _, c := range []struct {
		target        resource.Target
		label, field  string
		limit         int64
		shown, calls  int64
		more, refused bool
	}{
		{target: everywhere, shown: many + 1},
		{target: other, shown: 1},
		{target: everywhere, field: "metadata.name=tab-000", shown: 2},
		{target: everywhere, field: "metadata.namespace=other", shown: 1},
		{target: everywhere, label: "odd=1", shown: many / 2},
		{target: everywhere, label: "odd=1", field: "metadata.name!=tab-001", limit: 3, shown: 3, more: true},
		{target: everywhere, label: "odd=1", field: "hostPort=h:1", shown: 39, calls: 1},
		{target: everywhere, field: "hostPort=h:1", limit: 5, shown: 5, calls: 1, more: true},
		{target: everywhere, field: "hostPort=h:1,metadata.namespace=other", shown: 1, calls: 1},
		{target: everywhere, field: "hostPort=h:1", shown: 78},
		{target: everywhere, field: "host=h", refused: true},
	} {
		o := internalversion.ListOptions{Limit: c.limit}
		var err error
		if o.LabelSelector, err = labels.Parse(c.label); err != nil {
			t.Fatal(err)
		}
		if o.FieldSelector, err = fields.ParseSelector(c.field); err != nil {
			t.Fatal(err)
		}
		l, err := w.list(c.target, o)
		if c.refused {
			refused(t, err, 400, "BadRequest", "field label not supported: host")
			continue
		}
		if err != nil || int64(len(l.Entries)) != c.shown || (l.Continue != "") != c.more {
			t.Errorf("%q %q: got %d objects, %v; want %d", c.label, c.field, len(l.Entries), err, c.shown)
		}
		calls(c.calls)
	}
}

// FuzzContinue: whatever is sent as a continue token, the answer is a list or
// a refusal that says so.
func FuzzContinue(f *testing.F) {
	w := newWorld(f)
	w.history()
	all := w.at(v1, "")
	if l, err := w.list(all, internalversion.ListOptions{Limit: 1}); err == nil {
		f.Add(l.Continue)
	}
	for _, start := range []string{"", "/", "a\x00", "../x", "default/a", "\xff"} {
		for _, rev := range []int64{-1, 0, 1, 3} {
			if token, err := apistorage.EncodeContinue(all.Resource.Root()+"default/"+start, all.Resource.Root()+"default/", rev); err == nil {
				f.Add(token)
			}
		}
	}
	f.Fuzz(func(t *testing.T, token string) {
		if token == "" {
			return
		}
		o := &internalversion.ListOptions{Limit: 1, Continue: token}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if after, exact, err := read.GoesOn(all, o); err == nil {
			if !strings.HasPrefix(after, "default") {
				t.Errorf("%q goes on after %q", token, after)
			}
			if exact > w.cache.Revision() {
				cancel() // a revision that will not come
			}
		}
		l, err := w.List(ctx, all, o)
		if err == nil && len(l.Entries) > 1 {
			t.Errorf("%q: %d entries", token, len(l.Entries))
		}
		if _, ok := err.(apierrors.APIStatus); err != nil && !ok {
			t.Errorf("%q: %v", token, err)
		}
	})
}

// An object that cannot be read is not silently left out of a selection: a
// list that should say whether it is selected fails, as one of everything does.
func TestUnreadableObjectsAreNotPassedOver(t *testing.T) {
	w := newWorld(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1", `"labels":{"a":"b"}`))
	if _, err := w.store.Create(w.ctx(), w.at(v1, "").Resource.Key("default", "bad"), []byte(`{"metadata":{"labels":[]}}`), 0); err != nil {
		t.Fatal(err)
	}
	w.wait(w.revision())
	selector, err := labels.Parse("a=b")
	if err != nil {
		t.Fatal(err)
	}
	o := &internalversion.ListOptions{LabelSelector: selector}
	_, err = w.List(w.ctx(), w.at(v1, ""), o)
	refused(t, err, 500, "InternalError", "cannot be read")
	_, err = w.deleteAll(w.at(v1, ""), o, &metav1.DeleteOptions{}, resource.WriteOptions{}, encoding.At(v1))
	refused(t, err, 500, "InternalError", "cannot be read")
	w.raw(w.at(v1, "one")) // still there
}

// An error about objects that cannot be read names these and no others; any other error
// stays as it is.
func TestUnreadableObjectsAreNamed(t *testing.T) {
	w := newWorld(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	if _, err := w.store.Create(w.ctx(), w.at(v1, "").Resource.Key("default", "bad"), []byte(`not JSON`), 0); err != nil {
		t.Fatal(err)
	}
	w.wait(w.revision())
	_, err := w.encoded(w.at(v1, ""), &internalversion.ListOptions{}, encoding.At(v1))
	named := w.NameUnreadable(w.ctx(), w.at(v1, ""), err)
	refused(t, named, 500, "StorageReadError", "failed to read one or more crontabs.example.com from the storage")
	var s apierrors.APIStatus
	if errors.As(named, &s); len(s.Status().Details.Causes) != 1 || !strings.HasSuffix(s.Status().Details.Causes[0].Field, "/crontabs/default/bad") {
		t.Errorf("%v: %+v", err, s.Status().Details)
	}
	if other := errors.New("other"); w.NameUnreadable(w.ctx(), w.at(v1, ""), other) != other {
		t.Error("another error is not as it was")
	}
}
