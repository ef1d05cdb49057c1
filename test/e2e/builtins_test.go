package e2e

import (
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/story"
	"github.com/wasmgate/wasmgate/test/story/builtins"
)

// TestTableOfBuiltInRequests_VERB01 makes the same requests and mistakes of
// every built-in kind, and compares each reply with kube-apiserver's, or with the
// gateway's own where that is listed as another, with the reason.
func TestTableOfBuiltInRequests_VERB01(t *testing.T) {
	stories, err := builtins.Stories()
	if err != nil {
		t.Fatal(err)
	}
	all := newTable(t, builtins.Table, harness.Shared(t).External, stories)
	for resource, stories := range byResource(stories) {
		t.Run(resource, func(t *testing.T) {
			t.Parallel()
			for _, told := range stories {
				t.Run(told.Name, func(t *testing.T) { all.tellOver(t, told, builtins.Texts) })
			}
		})
	}
}

// byResource are stories by the name of their resource, which begins theirs: two of
// one name may be about the same objects, seen at different versions, and would
// find each other's.
func byResource(stories []story.Story) map[string][]story.Story {
	out := map[string][]story.Story{}
	for _, s := range stories {
		resource, _, _ := strings.Cut(s.Name, ".")
		out[resource] = append(out[resource], s)
	}
	return out
}

// tellOver tells a story over HTTP, as other clients do, and compares it with its
// recording, with texts of the replies.
func (c *table) tellOver(t *testing.T, told story.Story, texts func([]story.Reply) ([]story.Texts, error)) {
	t.Helper()
	server := harness.Shared(t)
	// Who is asking is said by the steps, which may say nothing.
	client, err := rest.HTTPClientFor(rest.AnonymousClientConfig(server.Config()))
	if err != nil {
		t.Fatal(err)
	}
	c.tell(t, told, story.HTTP(client, server.URL, server.Token), texts)
}
