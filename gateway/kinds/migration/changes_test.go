package migration_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/migration"
)

// What says nothing of any object, however often it happens, is no failure of one: the pass
// goes on where it was, as fast as it may.
func TestMigration_whatSaysNothingOfObjects_CRD32(t *testing.T) {
	for name, trouble := range map[string]error{
		"the definition changes":    fmt.Errorf("%w: spec.versions", migration.ErrDefinitionChanged),
		"modules have no room left": fmt.Errorf("m failed: %w", apierrors.NewTooManyRequests("no room", 1)),
	} {
		t.Run(name, func(t *testing.T) {
			o := controllertest.WithCronTabs(t, 0)
			r := newRewriter("v1", oldObjects(10))
			const times = 6
			r.visit = func(_ context.Context, call int, name string) error {
				if call <= times && name == "work/tab-005" {
					return trouble
				}
				return nil
			}
			createMigration(t, o, map[string]any{migration.RateAnnotation: "1000"})
			startMigration(t, o, r)
			migrationIs(t, o, "Succeeded")
			if p := progressOf(t, o); p.Failed != 0 || p.FailedPasses != 0 || p.Done != 10 || p.Rewritten != 10 {
				t.Errorf("progress %+v", p)
			}
			for i, call := range r.calls {
				want := migration.RewriteOptions{WriteRate: 1000}
				if i <= times {
					want = migration.RewriteOptions{Rate: 1000}
				}
				if i > 0 && i <= times {
					want.From = "work/tab-004"
				}
				if call.Since = 0; call != want {
					t.Errorf("call %d is %+v, want %+v", i, call, want)
				}
			}
			if len(r.calls) != times+2 {
				t.Errorf("%d calls", len(r.calls))
			}
		})
	}
}

// A migration for which there is no room waits for as long as it says, whatever it writes of
// that, and gives up an object for which there is never any.
func TestMigration_withoutRoomRests_CRD32(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := controllertest.WithCronTabs(t, 0)
		r := newRewriter("v1", oldObjects(3))
		r.visit = func(_ context.Context, call int, name string) error {
			if name == "work/tab-001" && call < 1000 {
				return apierrors.NewTooManyRequests("no room", 1)
			}
			return nil
		}
		createMigration(t, o, nil)
		stop := controllertest.Start(t, o, migration.New(o, r, r))
		defer stop()
		calls := func(after time.Duration) (n int) {
			<-time.After(after)
			synctest.Wait()
			r.locked(func() { n = len(r.calls) })
			return n
		}
		if n := calls(10500 * time.Millisecond); n < 9 || n > 11 {
			t.Errorf("%d attempts in ten seconds", n)
		}
		n := calls(5 * time.Minute)
		status, _, message := controllertest.Condition(controllertest.MustGet(t, o, gvr.Migrations, "", migrationName), "Failed")
		if n != 60 || status != "True" || !strings.HasPrefix(message, "given up after 60 attempts: trying again: no room") {
			t.Errorf("%d attempts; Failed is %s: %s", n, status, message)
		}
		if got := storedVersions(t, o); len(got) != 2 {
			t.Errorf("storedVersions %v", got)
		}
	})
}

// A migration whose last pass is clean has succeeded, however many there were.
func TestMigration_theLastPassIsClean_CRD32(t *testing.T) {
	const passes = 12
	for found, want := range map[int]string{passes - 2: "Succeeded", passes: "Failed"} {
		o := controllertest.WithCronTabs(t, 0)
		r := newRewriter("v1", oldObjects(2))
		r.visit = func(_ context.Context, call int, name string) error {
			if call <= found && name == "work/tab-000" {
				r.locked(func() { r.versions[fmt.Sprintf("work/aaa-late-%02d", call)] = "v1beta1" })
			}
			return nil
		}
		createMigration(t, o, nil)
		startMigration(t, o, r)
		message := migrationIs(t, o, want)
		if len(r.calls) != passes {
			t.Errorf("%d passes: %s", len(r.calls), message)
		}
		if got := storedVersions(t, o); (len(got) == 1) != (want == "Succeeded") {
			t.Errorf("%s: storedVersions %v", want, got)
		}
	}
}

// late are objects whose kinds are still served after their definition is gone.
type late struct {
	*controllertest.Objects
}

func (l late) Served() []*crd.Definition {
	return slices.Concat(l.Objects.Served(), []*crd.Definition{{Group: "example.com", Plural: "crontabs", Kind: "CronTab", StorageVersion: "v1", UID: "u"}})
}

// A definition that is gone is not migrated as if its kind were built in.
func TestMigration_theDefinitionIsGone(t *testing.T) {
	o := controllertest.New()
	r := newRewriter("v1", nil)
	m := migration.New(late{o}, r, r)
	m.Hurry()
	createMigration(t, o, nil)
	controllertest.Start(t, o, m)
	if message := migrationIs(t, o, "Failed"); message != `resource "crontabs.example.com" not found` {
		t.Error(message)
	}
	if obj := controllertest.MustGet(t, o, gvr.Migrations, "", migrationName); len(r.calls) != 0 {
		t.Errorf("objects were rewritten for %v", obj.Object)
	}
}
