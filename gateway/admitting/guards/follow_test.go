package guards_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
)

// Parameters are found by their kind, namespace and labels, and never a guard.
func TestParameters(t *testing.T) {
	w := forPlugin(t, "ValidatingAdmissionPolicy")
	text := document("ValidatingAdmissionPolicy", "p", "spec: {"+matches+checks+"}")
	for _, o := range []string{"A, one, x, ''", "A, one, z, l", "A, two, x, l", "B, one, '', l"} {
		f := strings.Split(o, ", ")
		text += fmt.Sprintf("---\n{apiVersion: example.com/v1, kind: %s, metadata: {name: %s, namespace: %s, labels: {l: %s}}}\n", f[0], f[1], f[2], f[3])
	}
	w.write(filepath.Join(w.folder, "a.yaml"), text)
	all, err := guards.New(t.Context(), w.Config)
	if err != nil {
		t.Fatal(err)
	}
	s := all.Folder("ValidatingAdmissionPolicy").Current()
	kind := func(k string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: k}
	}
	policy := schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicy"}
	var got []string
	for _, k := range []schema.GroupVersionKind{kind("A"), kind("B"), kind("C"), policy} {
		namespaced, has := s.Namespaced(k)
		one, _ := s.Get(t.Context(), k, "z", "one")
		free, _ := s.Get(t.Context(), k, "", "one")
		guard, _ := s.Get(t.Context(), k, "", "p.static.k8s.io")
		inX, _ := s.Select(t.Context(), k, "x", labels.Everything())
		labelled, _ := s.Select(t.Context(), k, "", labels.SelectorFromSet(labels.Set{"l": "l"}))
		got = append(got, fmt.Sprint(namespaced, has, one != nil, free != nil, guard != nil, len(inX), len(labelled)))
	}
	want := "true true true false false 2 2|false true false true false 0 1|false false false false false 0 0|false false false false false 0 0"
	if strings.Join(got, "|") != want {
		t.Errorf("%s, want %s", strings.Join(got, "|"), want)
	}
	if of := s.Of("ValidatingAdmissionPolicy"); len(of) != 1 || len(s.Of("A")) != 0 {
		t.Error(of)
	}
}

// onePolicy is a folder with one file, its text, and the guards of it.
func onePolicy(t *testing.T) (w *world, all *guards.Guards, file, good string) {
	t.Helper()
	w = forPlugin(t, "ValidatingAdmissionPolicy")
	file, good = filepath.Join(w.folder, "a.yaml"), document("ValidatingAdmissionPolicy", "p", "spec: {"+matches+checks+"}")
	w.write(file, good)
	all, err := guards.New(t.Context(), w.Config)
	if err != nil {
		t.Fatal(err)
	}
	return w, all, file, good
}

// A folder is followed: what changes is told once, what cannot be used with its reason,
// and what was stays in force until something else can be.
func TestFolderIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, all, file, good := onePolicy(t)
		f, ctx := all.Folder("ValidatingAdmissionPolicy"), t.Context()
		following, end := context.WithCancel(ctx)
		go all.Follow(following)
		w.told = nil
		step := func(what, want string, change bool, inForce int) {
			t.Helper()
			changed := f.Changed()
			<-time.After(2 * time.Second) // four looks
			synctest.Wait()
			is := false
			select {
			case <-changed:
				is = true
			default:
			}
			if got := strings.Join(w.told, "; "); !strings.Contains(got, want) || (want == "") != (got == "") || strings.Contains(got, ";") || is != change || len(f.Current().Objects) != inForce {
				t.Errorf("%s: told %q, want %q; changed %t, %d objects", what, got, want, is, len(f.Current().Objects))
			}
			w.told = nil
		}
		step("nothing", "", false, 1)
		w.write(file, "[]")
		step("it cannot be used", "error loading", false, 1)
		if err := all.Check(ctx); err == nil || !strings.HasPrefix(err.Error(), "ValidatingAdmissionPolicy: what it said before is in force: ") || f.Trouble() == nil {
			t.Error(err)
		}
		w.write(file, "apiVersion: v1\nkind: List\nitems: 1")
		step("nor for another reason", "accessor", false, 1)
		w.write(file, good)
		step("it is as what is in force", "<nil>", false, 1)
		w.write(file, good+settings)
		step("there is more", "<nil>", true, 2)
		if err := os.Rename(w.folder, w.folder+"-away"); err != nil {
			t.Fatal(err)
		}
		step("it is gone", "no such file", false, 2)
		if err := os.Rename(w.folder+"-away", w.folder); err != nil {
			t.Fatal(err)
		}
		step("it is back", "<nil>", false, 2)
		w.write(filepath.Join(w.folder, "notes.txt"), "x")
		step("what is no document", "", false, 2)
		end()
		synctest.Wait()
		w.write(file, good)
		step("nobody follows", "", false, 2)
	})
}

// What is not accepted for a reason that passes is tried again, and nothing else is.
func TestWhatIsNotAcceptedJustNowIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, all, file, good := onePolicy(t)
		f, asked := all.Folder("ValidatingAdmissionPolicy"), 0
		var refuse error
		var mu sync.Mutex // of both
		if err := f.Accept(t.Context(), func(context.Context, *guards.State) error {
			mu.Lock()
			defer mu.Unlock()
			asked++
			return refuse
		}); err != nil {
			t.Fatal(err)
		}
		following, end := context.WithCancel(t.Context())
		go all.Follow(following)
		step := func(what string, err error, write string, after time.Duration, times, inForce int) {
			t.Helper()
			mu.Lock()
			refuse, asked = err, 0
			mu.Unlock()
			if write != "" {
				w.write(file, write)
			}
			<-time.After(after)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if asked != times || len(f.Current().Objects) != inForce || (f.Trouble() == nil) != (err == nil) {
				t.Errorf("%s: asked %d times, want %d; %d objects; %v", what, asked, times, len(f.Current().Objects), f.Trouble())
			}
		}
		busy := fmt.Errorf("module: %w", guards.Passing{Err: errors.New("it is being compiled")})
		step("it is busy", busy, good+settings, 2*time.Second, 1, 1)
		step("and stays so, each time for longer", busy, "", 40*time.Second, 2, 1)
		step("it has time", nil, "", 40*time.Second, 1, 2)
		step("and was asked", nil, "", time.Minute, 0, 2)
		step("it wants nothing of it", errors.New("no"), good, time.Minute, 1, 2)
		end()
		synctest.Wait()
	})
}
