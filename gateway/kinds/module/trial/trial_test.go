package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/storage"
)

func TestAllDifferencesAreNamed(t *testing.T) {
	long := strings.Repeat("x", 199)
	for _, test := range []struct{ now, next, want string }{
		{`{"a":1,"b":[1,{"c":2}]}`, `{"b":[1,{"c":2}],"a":1}`, "[]"},
		{`{"a":1}`, `{"a":2}`, "[{a Changed}]"},
		{`{"a":1}`, `{"a":1.0}`, "[{a Changed}]"},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, "[{a Changed}]"},
		{`{"a":null}`, `{}`, "[{a Gone}]"},
		{`{}`, `{"a":null}`, "[{a Added}]"},
		{`{"a":{"b":1}}`, `{"a":[1]}`, "[{a Changed}]"},
		{`{"a":"x"}`, `{"a":{"b":1}}`, "[{a Changed}]"},
		{`{"a":[1,2]}`, `{"a":[1,3,3]}`, "[{a[*] Changed} {a Resized}]"},
		{`{"a":[{"b":1},{"b":2}]}`, `{"a":[{"b":0},{"b":"2","c":1}]}`, "[{a[*].b Changed} {a[*].c Added}]"},
		{`{"z":1,"b":1,"s":{"t":{"u":1,"v":1}}}`, `{"z":2,"b":2,"s":{"t":{"v":2}}}`, "[{b Changed} {s.t.u Gone} {s.t.v Changed} {z Changed}]"},
		{`{"m":{"[*]":1,"example.com/a b":1,"":1}}`, `{"m":{}}`, `[{m[""] Gone} {m["[*]"] Gone} {m["example.com/a b"] Gone}]`},
		{`[]`, `{}`, "[{the object Changed}]"},
		{`{}`, `{`, "[{the object Unreadable}]"},
		{`{"` + long + `yz":1}`, `{}`, "[{" + long + "y... Gone}]"},
		{`{"` + long + `\u00fc":1}`, `{}`, `[{["` + long[:198] + "... Gone}]"},
	} {
		if got := fmt.Sprint(changes([]byte(test.now), []byte(test.next))); got != test.want {
			t.Errorf("%s and %s: %s; want %s", test.now, test.next, got, test.want)
		}
	}
	many := map[string]int{}
	for i := range 2 * maxChanges {
		many[fmt.Sprint(i)] = i
	}
	text, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(changes([]byte(`{}`), text)); got != maxChanges {
		t.Errorf("%d changes of one object", got)
	}
}

// marks converts to a version by writing it, and what else it says.
type marks struct {
	// odd are names of objects that get another field, broken of those that
	// cannot be converted, at a desired version.
	odd, broken map[string]string
}

func (marks) Epoch() uint64 { return 1 }

func (m marks) Convert(_ context.Context, desired string, objects [][]byte) ([][]byte, error) {
	var all [][]byte
	for _, data := range objects {
		var o map[string]any
		if err := json.Unmarshal(data, &o); err != nil {
			return nil, err
		}
		name := o["metadata"].(map[string]any)["name"].(string)
		if m.broken[name] == desired {
			return nil, fmt.Errorf("%s cannot be converted", name)
		}
		o["apiVersion"] = desired
		if m.odd[name] == desired {
			o["extra"] = "secret"
		}
		out, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		all = append(all, out)
	}
	return all, nil
}

// withCronTabs is an engine that serves crontabs at two versions.
func withCronTabs(t *testing.T) *realengine.Engine {
	t.Helper()
	e := realengine.Start(t)
	tree := controllertest.CRDTree("crontabs", "CronTab", "v1", "v1beta1")
	controllertest.MustCreate(t, e, gvr.Definitions, tree)
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	controllertest.Establish(t, e, controllertest.CronTabsDefinition, "v1beta1")
	return e
}

// A trial takes longer than history is kept.
func TestHistoryMayGoDuringATrial(t *testing.T) {
	e := withCronTabs(t)
	served, err := e.Catalog.Resource(controllertest.CronTabs)
	if err != nil {
		t.Fatal(err)
	}
	const many = 2100
	for i := range many {
		name := fmt.Sprintf("x%04d", i)
		if _, err := e.Store.Create(t.Context(), served.Root()+"one/"+name, []byte(`{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"namespace":"one","name":"`+name+`"}}`), 0); err != nil {
			t.Fatal(err)
		}
	}
	trials := Trials{Catalog: e.Catalog, Store: e.Store, Converter: func(string) *conversion.Bulk { return conversion.Batched(marks{}, conversion.Batch{}) }}
	conversions := int64(0)
	err = trials.Compare(t.Context(), controllertest.CronTabs, "now", "next", func(part module.Part) error {
		conversions += part.Conversions
		rev, err := e.Store.Create(t.Context(), fmt.Sprint("/elsewhere/", conversions), nil, 0)
		if err != nil {
			return err
		}
		return e.Store.Compact(t.Context(), rev)
	})
	if err != nil || conversions != 2*many {
		t.Errorf("%d conversions, %v", conversions, err)
	}
}

// Every stored object is converted to every other served version and back, by
// both; only what fails with the next one alone counts.
func TestCompareLooksAtEveryObject(t *testing.T) {
	e := withCronTabs(t)
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree("one"))
	for _, name := range []string{"same", "odd", "broken", "old"} {
		controllertest.MustCreate(t, e, controllertest.CronTabs, controllertest.ObjectTree("one", name))
	}
	const v1, v1beta1 = "example.com/v1", "example.com/v1beta1"
	now := marks{broken: map[string]string{"old": v1}}
	next := marks{odd: map[string]string{"odd": v1}, broken: map[string]string{"old": v1, "broken": v1beta1}}
	trials := Trials{Catalog: e.Catalog, Store: e.Store, Converter: func(name string) *conversion.Bulk {
		return conversion.Batched(map[string]conversion.Converter{"now": now, "next": next}[name], conversion.Batch{})
	}}
	var got module.Report
	skipped := 0
	err := trials.Compare(t.Context(), controllertest.CronTabs, "now", "next", func(part module.Part) error {
		got.Add(part.Report)
		if part.Conversions == 0 {
			skipped++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Conversions != 6 || got.Different != 1 || got.Failed != 1 || skipped != 1 {
		t.Errorf("%+v, %d skipped", got, skipped)
	}
	text := fmt.Sprint(got.Differences, got.Failures)
	for _, want := range []string{"{crontabs.example.com v1beta1 v1 extra Added} 1 one/odd}", "{crontabs.example.com one/broken v1 v1beta1 "} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %s: %s", want, text)
		}
	}
	if strings.Contains(text, "secret") {
		t.Errorf("the report quotes values: %s", text)
	}
	stop := errors.New("stop")
	if err := trials.Compare(t.Context(), controllertest.CronTabs, "now", "next", func(module.Part) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("told's error: %v", err)
	}
}

// slow is a converter that fails, and says how often it was asked.
type slow struct {
	marks
	asked *int
}

func (s slow) Convert(context.Context, string, [][]byte) ([][]byte, error) {
	*s.asked++
	return nil, errors.New("it took too long")
}

// Whoever follows a comparison hears of each call, and can end it there: a page
// of objects that all take as long as they may is no work to wait for.
func TestEachCallIsTold(t *testing.T) {
	var page storage.Page
	for range 100 {
		page.KVs = append(page.KVs, storage.KV{Value: []byte(`{"apiVersion":"e.com/v1","metadata":{"name":"x"}}`)})
	}
	asked, stop := 0, errors.New("stop")
	told := 0
	c := comparison{resource: "x.e.com", now: marks{}, next: slow{asked: &asked}, told: func(part module.Part) error {
		told++
		if part.Failed != 1 {
			t.Errorf("told %+v", part)
		}
		if told == 3 {
			return stop
		}
		return nil
	}}
	err := c.page(t.Context(), page, []string{"e.com/v1", "e.com/v2"})
	if !errors.Is(err, stop) || told != 3 || asked != 4 {
		t.Errorf("%v after %d parts, and %d calls", err, told, asked)
	}
}

// crowded has no room for any call.
type crowded struct{ marks }

func (crowded) Convert(context.Context, string, [][]byte) ([][]byte, error) {
	return nil, fmt.Errorf("m: %w", &plugins.CallError{Kind: plugins.NoRoom})
}

// That others take all the memory is a failure of neither module.
func TestACallWithoutRoomIsNoFailure(t *testing.T) {
	page := storage.Page{KVs: []storage.KV{{Value: []byte(`{"apiVersion":"e.com/v1","metadata":{"name":"x"}}`)}}}
	for name, c := range map[string]comparison{"in use": {now: crowded{}, next: marks{}}, "the candidate": {now: marks{}, next: crowded{}}} {
		told := 0
		c.resource, c.told = "x.e.com", func(module.Part) error { told++; return nil }
		var full *plugins.CallError
		if err := c.page(t.Context(), page, []string{"e.com/v1", "e.com/v2"}); !errors.As(err, &full) || told != 0 {
			t.Errorf("%s: %v, told of %d parts", name, err, told)
		}
	}
}

// narrow has room for one object at a time.
type narrow struct{ marks }

func (n narrow) Convert(ctx context.Context, version string, objects [][]byte) ([][]byte, error) {
	if len(objects) > 1 {
		return crowded{}.Convert(ctx, version, objects)
	}
	return n.marks.Convert(ctx, version, objects)
}

// Where there is no room for many objects they are compared one by one.
func TestObjectsWithoutRoomAreComparedOneByOne(t *testing.T) {
	var page storage.Page
	for range 5 {
		page.KVs = append(page.KVs, storage.KV{Value: []byte(`{"apiVersion":"e.com/v1","metadata":{"name":"x"}}`)})
	}
	var all module.Report
	c := comparison{resource: "x.e.com", now: marks{}, next: narrow{}, told: func(part module.Part) error { all.Add(part.Report); return nil }}
	if err := c.page(t.Context(), page, []string{"e.com/v1", "e.com/v2"}); err != nil || all.Failed != 0 || all.Conversions != 10 {
		t.Errorf("%+v, %v", all, err)
	}
}

// The end of a comparison is its end on the way back, too, and what is compared there is what
// the converter in use has made.
func TestTheWayBackIsCompared(t *testing.T) {
	page := storage.Page{KVs: []storage.KV{{Value: []byte(`{"apiVersion":"e.com/v1","metadata":{"name":"x"}}`)}}}
	stop := errors.New("stop")
	for at, want := range map[int]error{1: stop, 2: stop, 3: stop, 4: stop, 5: nil} {
		told := 0
		c := comparison{resource: "x.e.com", now: marks{}, next: marks{odd: map[string]string{"x": "e.com/v1"}}, told: func(part module.Part) error {
			told++
			if part.Conversions != 1 || (part.Different == 1) != (told%2 == 0) {
				t.Errorf("call %d: %+v", told, part)
			}
			if told == at {
				return stop
			}
			return nil
		}}
		if err := c.page(t.Context(), page, []string{"e.com/v1", "e.com/v2", "e.com/v3"}); !errors.Is(err, want) || told != min(at, 4) {
			t.Errorf("stopped at call %d: %v after %d", at, err, told)
		}
	}
}
