package failed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/plugins"
)

var (
	errTrap = errors.New("unreachable")
	one     = plugins.Revision{Digest: "sha256:1", Config: []byte("{}"), Limits: plugins.Limits{Fuel: 7}}
)

// ids are those of the calls of a module.
func ids(c *Calls, module string) (all []string) {
	for _, k := range c.Of(module) {
		all = append(all, k.ID)
	}
	return all
}

func TestTheSameCallIsKeptOnce(t *testing.T) {
	c := New(1 << 20)
	request := []byte(`{"a":1}`)
	id, first := c.Keep("tabs.v1", plugins.Convert, one, request, errTrap)
	if !first || !strings.HasPrefix(id, "tabs.v1.") || len(id) != len("tabs.v1.")+12 {
		t.Fatalf("%q, %v", id, first)
	}
	request[1] = 'X' // it is the caller's
	if again, first := c.Keep("tabs.v1", plugins.Convert, one, []byte(`{"a":1}`), errTrap); first || again != id {
		t.Errorf("again it is %q, %v", again, first)
	}
	others := map[string]bool{id: true}
	for _, k := range []struct {
		hook    plugins.Hook
		rev     plugins.Revision
		request string
	}{
		{plugins.Admit, one, `{"a":1}`}, {plugins.Convert, plugins.Revision{Digest: "sha256:2"}, `{"a":1}`}, {plugins.Convert, one, `{"a":2}`},
		{plugins.Convert, plugins.Revision{Digest: "sha256:1", Config: []byte(`{"a":`)}, `1}`},
	} {
		other, _ := c.Keep("tabs.v1", k.hook, k.rev, []byte(k.request), errTrap)
		if others[other] {
			t.Errorf("%+v has the ID of another", k)
		}
		others[other] = true
	}
	all := c.Of("tabs.v1")
	if len(all) != 5 {
		t.Fatalf("%d are kept", len(all))
	}
	if k := all[4]; string(k.Request) != `{"a":1}` || k.Times != 2 || k.Error != "unreachable" || k.Digest != "sha256:1" || string(k.Config) != "{}" || k.Limits.Fuel != 7 || k.Hook != string(plugins.Convert) {
		t.Errorf("%+v", k)
	}
	if c.Forget("tabs.v1"); len(c.Of("tabs.v1")) > 0 || c.bytes != 0 {
		t.Errorf("forgotten are %v, %d bytes", ids(c, "tabs.v1"), c.bytes)
	}
}

func TestFailedCallsAreBounded(t *testing.T) {
	now := time.Now()
	c := New(10_000)
	c.now = func() time.Time { return now }
	if id, _ := c.Keep("a", plugins.Convert, one, make([]byte, 10_000), errTrap); id != "" {
		t.Errorf("one that is larger than all is %q", id)
	}
	for n := range 20 {
		c.Keep("a", plugins.Convert, one, fmt.Appendf(nil, "%1000d", n), errTrap)
		if c.bytes > c.most || len(c.calls) == 0 {
			t.Fatalf("%d bytes", c.bytes)
		}
	}
	if k := c.Of("a"); len(k) < 5 || !strings.HasSuffix(string(k[0].Request), "19") {
		t.Errorf("%d, the last %q", len(k), ids(c, "a"))
	}
	c = New(1 << 30)
	c.now = func() time.Time { return now }
	for n := range 2 * MaxCalls {
		c.Keep("a", plugins.Convert, one, fmt.Append(nil, n), errTrap)
	}
	if n := len(c.Of("a")); n != MaxCalls {
		t.Errorf("%d are kept", n)
	}
	now = now.Add(MaxAge / 2)
	c.Keep("a", plugins.Convert, one, fmt.Append(nil, 2*MaxCalls-1), errTrap)
	now = now.Add(MaxAge / 2)
	if n := len(c.Of("a")); n != MaxCalls {
		t.Errorf("at the end of the hour %d are kept", n)
	}
	now = now.Add(1)
	if got := c.Of("a"); len(got) != 1 || got[0].Times != 2 {
		t.Errorf("after an hour: %+v", got)
	}
	if k, _ := c.Keep("a", plugins.Convert, one, nil, errors.New(strings.Repeat("x", 1<<20))); k == "" || len(c.Of("a")[0].Error) != maxError {
		t.Errorf("%d bytes of an error", len(c.Of("a")[0].Error))
	}
}

func TestFailedCallsFromManyPlaces(t *testing.T) {
	c := New(100_000)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for n := range 200 {
				c.Keep(fmt.Sprint("m", n%3), plugins.Convert, one, fmt.Append(nil, worker, n), errTrap)
				c.Of("m1")
				if n%50 == 0 {
					c.Forget("m2")
				}
			}
		})
	}
	wg.Wait()
	sum := int64(0)
	for _, k := range c.calls {
		sum += k.size()
	}
	if sum != c.bytes || len(c.calls) > MaxCalls {
		t.Errorf("%d bytes are %d, of %d calls", c.bytes, sum, len(c.calls))
	}
}

func TestNothingIsKeptUnlessWanted(t *testing.T) {
	c := New(0)
	if id, first := c.Keep("a", plugins.Convert, one, nil, errTrap); c != nil || id != "" || first || len(c.Of("a")) > 0 {
		t.Errorf("%q, %v", id, first)
	}
	c.Forget("a")
	there := func(context.Context, resource.Target) error { return nil }
	_, err := Question{Exists: there}.Answer(t.Context(), resource.Target{Name: "a"}, "", nil, resource.WriteOptions{})
	if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "--module-failed-calls") {
		t.Errorf("%v", err)
	}
	gone := func(context.Context, resource.Target) error { return errTrap }
	if _, err := (Question{Calls: New(1), Exists: gone}).Answer(t.Context(), resource.Target{Name: "a"}, "", nil, resource.WriteOptions{}); !errors.Is(err, errTrap) {
		t.Errorf("%v", err)
	}
}
