package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/lifecycle"
	"github.com/wasmgate/wasmgate/test/harness"
)

// readReleases reads the table of the deprecation policy's rule 4b.
func readReleases(t *testing.T) (out []lifecycle.Served) {
	t.Helper()
	text, err := os.ReadFile("../../lifecycle/testdata/releases.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		s := lifecycle.Served{Preferred: words[0]}
		for _, v := range words[1:] {
			name, deprecated := strings.CutSuffix(v, "-")
			if s.Versions = append(s.Versions, name); deprecated {
				s.Deprecated = append(s.Deprecated, name)
			}
		}
		out = append(out, s)
	}
	if got := lifecycle.CheckReleases(out); len(out) != 16 || got != nil {
		t.Fatalf("%d releases: %v", len(out), got)
	}
	return out
}

// walk is a group on its way through releases. Each knows all versions that there
// were, as what was stored must be readable, and serves its own.
type walk struct {
	*cronTabs
	g        *harness.Gateway
	releases []lifecycle.Served
	names    []string // of the objects that there are
}

// known are the versions that a release can read.
func (w *walk) known(release int) (out []string) {
	for _, r := range w.releases[:release+1] {
		for _, v := range r.Versions {
			if !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// versions are a release's, for its definition.
func (w *walk) versions(release int) (out []any) {
	r := w.releases[release]
	for _, v := range w.known(release) {
		out = append(out, map[string]any{
			"name": v, "served": slices.Contains(r.Versions, v), "storage": v == r.Preferred, "deprecated": slices.Contains(r.Deprecated, v),
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
				"spec": map[string]any{"type": "object", "properties": map[string]any{"of": map[string]any{"type": "string"}}},
			}}},
		})
	}
	return out
}

func (w *walk) become(release int) *harness.Reply {
	w.t.Helper()
	return w.updateDefinition(w.crdPath(), func(crd object) { crd.Set("spec.versions", w.versions(release)) })
}

// works has clients of every version read all there is, write, and be warned where
// the version will go; and looks at what is stored.
func (w *walk) works(release int, when string) {
	w.t.Helper()
	r := w.releases[release]
	for _, v := range w.known(release) {
		if !slices.Contains(r.Versions, v) {
			w.api.Eventually(w.list(v), func(r *harness.Reply) bool { return r.Code == 404 })
			continue
		}
		w.awaitServed(v)
		name := strings.ToLower(fmt.Sprintf("r%d-%s-%s", release, when, v))
		created := w.api.Post(w.list(v), w.object(v, name, `{"of":"`+name+`"}`)).Want(201)
		if warned := created.Header.Get("Warning") != ""; warned != slices.Contains(r.Deprecated, v) {
			w.t.Errorf("X+%d, %s: a warning at %s: %t", release, when, v, warned)
		}
		w.names = append(w.names, name)
		if got := stored(w.t, w.g.Etcd(w.t), w.storageKey(name)).Str("apiVersion"); got != w.group+"/"+r.Preferred {
			w.t.Errorf("X+%d, %s: stored at %s, not at %s", release, when, got, r.Preferred)
		}
	}
	for _, v := range r.Versions {
		items, _ := w.api.Get(w.list(v)).Want(200).Object().At("items").([]any)
		var names []string
		for _, item := range items {
			item := object(item.(map[string]any))
			if names = append(names, item.Str("metadata.name")); item.Str("spec.of") != item.Str("metadata.name") || item.Str("apiVersion") != w.group+"/"+v {
				w.t.Errorf("X+%d, %s: at %s there is %v", release, when, v, item)
			}
		}
		if slices.Sort(w.names); !slices.Equal(names, w.names) {
			w.t.Errorf("X+%d, %s: at %s there are %q, want %q", release, when, v, names, w.names)
		}
	}
}

// TestReleases goes through the releases of the policy's example, each with a restart,
// and from each of them back and forth.
func TestReleases(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	g := harness.Start(t, harness.Options{})
	w := &walk{g: g, releases: readReleases(t)}
	w.cronTabs = newCronTabs(t, &g.Server, func(crd object) { crd.Set("spec.versions", w.versions(0)) })
	for release := range w.releases {
		w.run(fmt.Sprintf("VER-08 VER-13 release X+%d", release), func(t *testing.T, c *cronTabs) {
			own := *w
			own.cronTabs = c
			own.upgrade(release)
			w.names = own.names
		})
	}
}

// upgrade goes to a release, back to the one before if that can read what was
// written, and to the release again.
func (w *walk) upgrade(release int) {
	w.t.Helper()
	w.become(release).Want(200)
	w.g.Terminate(w.t)
	w.g.Restart(w.t)
	w.api = w.g.API(w.t)
	w.works(release, "after")
	switch {
	case release == 0:
	case slices.Contains(w.known(release-1), w.releases[release].Preferred):
		w.become(release - 1).Want(200)
		w.works(release-1, "back")
		w.become(release).Want(200)
		w.works(release, "again")
	case lifecycle.TrackOf(w.releases[release-1].Preferred) != lifecycle.Alpha:
		w.t.Errorf("X+%d cannot go back", release)
	default: // whoever used what is alpha has to act first, and nothing is lost until then
		w.become(release-1).WantStatus(422, "Invalid", "status.storedVersions[", w.releases[release].Preferred)
		w.works(release, "still")
	}
}
