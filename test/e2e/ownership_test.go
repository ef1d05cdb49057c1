package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/story/ownership"
)

// TestOwnership_SSA tells stories of several writers and one object, and
// compares who owns what after each request, and each conflict, with what
// kube-apiserver answered. The stories' names begin with their rows.
func TestOwnership_SSA(t *testing.T) {
	s := harness.Shared(t)
	api := s.API(t)
	api.Post(namespacePath, object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": ownership.Namespace}}).Want(201, 409)
	api.Post(crdPath, ownership.Definition).Want(201, 409)
	t.Cleanup(func() {
		_, _ = api.Try("DELETE", crdPath+"/shops."+ownership.Group, nil)
		if !s.External { // nobody finishes the deletion of a namespace of a bare kube-apiserver
			_, _ = api.Try("DELETE", namespacePath+"/"+ownership.Namespace, nil)
		}
	})
	api.Eventually("/apis/"+ownership.Group+"/v1/namespaces/"+ownership.Namespace+"/shops", func(r *harness.Reply) bool { return r.Code == 200 })
	for _, story := range ownership.Stories() {
		t.Run(strings.ReplaceAll(story.Name, " ", "_"), func(t *testing.T) {
			want, err := story.Load(recordings)
			if err != nil {
				t.Fatal(err)
			}
			tell(t, s, story, want)
		})
	}
}

func tell(t *testing.T, s *harness.Server, story ownership.Story, want []ownership.Reply) {
	t.Helper()
	if len(story.Steps) != len(want) {
		t.Fatalf("%d steps, and %d are recorded", len(story.Steps), len(want))
	}
	api := s.API(t)
	for _, item := range story.Items() { // of an earlier run, on a server that is not ours
		_, _ = api.Try("DELETE", item, nil)
	}
	for i, step := range story.Steps {
		headers := []string{"Content-Type", step.Type, "User-Agent", "Go-http-client/1.1"}
		if step.Agent != "" {
			headers[3] = step.Agent
		}
		reply := api.Do(step.Method, step.Path, step.Body, headers...)
		got, err := ownership.NewReply(reply.Code, reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		if have, wanted := pretty(t, got), pretty(t, want[i]); have != wanted {
			t.Errorf("step %d: %s %s\n%s\nbecomes\n%s\nkube-apiserver's is\n%s", i, step.Method, step.Path, step.Body, have, wanted)
		}
	}
}

// pretty is a reply with its keys sorted.
func pretty(t *testing.T, r ownership.Reply) string {
	t.Helper()
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
