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
	"github.com/wasmgate/wasmgate/gateway/controller/kinds"
	"github.com/wasmgate/wasmgate/gateway/controller/module"
	"github.com/wasmgate/wasmgate/storage"
)

func TestTheFirstDifferenceIsNamed(t *testing.T) {
	for _, test := range []struct{ now, next, want string }{
		{`{"a":1,"b":[1,{"c":2}]}`, `{"b":[1,{"c":2}],"a":1}`, ""},
		{`{"a":1}`, `{"a":2}`, "a is another value"},
		{`{"a":1}`, `{"a":1.0}`, "a is another value"},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, "a is another value"},
		{`{"a":null}`, `{}`, "a is gone"},
		{`{}`, `{"a":null}`, "a is new"},
		{`{"a":{"b":1}}`, `{"a":[1]}`, "a is another value"},
		{`{"a":"x"}`, `{"a":{"b":1}}`, "a is another value"},
		{`{"a":[1,2]}`, `{"a":[1,2,3]}`, "a has 3 items, not 2"},
		{`{"a":[{"b":1},{"b":2}]}`, `{"a":[{"b":1},{"b":"2"}]}`, "a[1].b is another value"},
		{`{"z":1,"b":1}`, `{"z":2,"b":2}`, "b is another value"},
		{`[]`, `{}`, "the object is another value"},
		{`{"` + strings.Repeat("x", 199) + `\u00fc":1}`, `{}`, strings.Repeat("x", 199) + "... is gone"},
	} {
		got, differ := firstDifference([]byte(test.now), []byte(test.next))
		if got != test.want || differ != (test.want != "") {
			t.Errorf("%s and %s: %q, %v; want %q", test.now, test.next, got, differ, test.want)
		}
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
	controllertest.MustCreate(t, e, kinds.Definitions, tree)
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	controllertest.Establish(t, e, controllertest.CronTabsDefinition, "v1beta1")
	return e
}

// A trial takes longer than history is kept.
func TestHistoryMayGoDuringATrial(t *testing.T) {
	e := withCronTabs(t)
	rewriter, err := e.Catalog.Rewriter(controllertest.CronTabs)
	if err != nil {
		t.Fatal(err)
	}
	const many = 2100
	for i := range many {
		name := fmt.Sprintf("x%04d", i)
		if _, err := e.Store.Create(t.Context(), rewriter.Prefix+"one/"+name, []byte(`{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"namespace":"one","name":"`+name+`"}}`), 0); err != nil {
			t.Fatal(err)
		}
	}
	trials := Trials{Catalog: e.Catalog, Store: e.Store, Converter: func(string) *conversion.Bulk { return conversion.Batched(marks{}, conversion.Batch{}) }}
	conversions := int64(0)
	err = trials.Compare(t.Context(), controllertest.CronTabs, "now", "next", func(part module.Report) error {
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
	controllertest.MustCreate(t, e, kinds.Namespaces, controllertest.NamespaceTree("one"))
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
	err := trials.Compare(t.Context(), controllertest.CronTabs, "now", "next", func(part module.Report) error {
		got.Conversions += part.Conversions
		got.Different += part.Different
		got.Failed += part.Failed
		got.Samples = append(got.Samples, part.Samples...)
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
	text := fmt.Sprint(got.Samples)
	for _, want := range []string{"{one/odd v1beta1 v1 extra is new}", "{one/broken v1 v1beta1 "} {
		if !strings.Contains(text, want) {
			t.Errorf("the samples lack %s: %s", want, text)
		}
	}
	if strings.Contains(text, "secret") {
		t.Errorf("the samples quote values: %s", text)
	}
	stop := errors.New("stop")
	if err := trials.Compare(t.Context(), controllertest.CronTabs, "now", "next", func(module.Report) error { return stop }); !errors.Is(err, stop) {
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
	err := comparePage(t.Context(), page, []string{"e.com/v1", "e.com/v2"}, converters{marks{}, slow{asked: &asked}}, func(part module.Report) error {
		told++
		if part.Failed != 1 {
			t.Errorf("told %+v", part)
		}
		if told == 3 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || told != 3 || asked != 4 {
		t.Errorf("%v after %d parts, and %d calls", err, told, asked)
	}
}
