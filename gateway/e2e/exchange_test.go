package e2e

import (
	"context"
	"net/http"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/generated"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/requests"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/rules"
)

// TestRulesOfDefinitions_CEL_CRD tells stories of definitions, their rules and
// writes, and compares each reply with kube-apiserver's: what is accepted, what
// becomes of it, and how the rest is refused.
func TestRulesOfDefinitions_CEL_CRD(t *testing.T) {
	tellAll(t, rules.Stories(), rules.File)
}

// TestGeneratedSchemas_CRD05 tells stories of schemas and objects that a
// generator made, and compares: what is accepted, what becomes of objects by
// pruning and defaults, which fields are refused and why, and what of it is
// forgiven when it was there before.
func TestGeneratedSchemas_CRD05(t *testing.T) {
	tellAll(t, generated.Stories(1, generated.Recorded), generated.File)
}

// TestGeneratedVersions_CRD05 does so of kinds of two versions with a status and
// scales, which are also watched.
func TestGeneratedVersions_CRD05(t *testing.T) {
	tellAll(t, generated.VersionsStories(1, generated.VersionsRecorded), generated.VersionsFile)
}

// TestTableOfRequests_VERB01 makes every kind of request and mistake of a
// custom resource, and compares each reply with kube-apiserver's.
func TestTableOfRequests_VERB01(t *testing.T) {
	stories := requests.Stories()
	if err := exchange.Differ(stories, filepath.Join("..", "..", requests.Differences)); err != nil {
		t.Fatal(err)
	}
	tellAll(t, stories, requests.File)
}

// sender sends to a server.
func sender(api *gatewaytest.API) exchange.Send {
	return func(_ context.Context, step exchange.Step) (int, http.Header, []byte, error) {
		var body any
		var headers []string
		if step.Type != "" {
			body, headers = step.Body, []string{"Content-Type", step.Type}
		}
		if step.Accept != "" {
			headers = append(headers, "Accept", step.Accept)
		}
		r, err := api.Try(step.Method, step.Path, body, headers...)
		if err != nil {
			return 0, nil, nil, err
		}
		return r.Code, r.Header, r.Body, nil
	}
}

// tellAll tells stories and compares the replies with a recording.
func tellAll(t *testing.T, stories []exchange.Story, file string) {
	t.Helper()
	tellAllVia(t, gatewaytest.Shared(t), stories, file, func(s exchange.Send) exchange.Send { return s }, nil)
}

// tellAllVia does so to a server, whose requests and replies via may change. No
// attention is paid to the parts of replies that ignored matches, nil for none.
func tellAllVia(t *testing.T, s *gatewaytest.Server, stories []exchange.Story, file string, via func(exchange.Send) exchange.Send, ignored *regexp.Regexp) {
	t.Helper()
	recorded, err := exchange.Load(filepath.Join("..", "..", file))
	if err != nil {
		t.Fatal(err)
	}
	for _, story := range stories {
		t.Run(story.Name, func(t *testing.T) {
			t.Parallel()
			api := s.API(t)
			replies, err := story.Tell(context.Background(), via(sender(api)))
			if err != nil {
				t.Fatal(err)
			}
			want, ok := recorded[story.Name]
			if !ok {
				t.Fatal("it is not recorded")
			}
			if len(replies) != len(want) {
				t.Fatalf("%d replies, and %d are recorded", len(replies), len(want))
			}
			steps := append([]exchange.Step{{Method: "define", Body: story.Definition}}, story.Steps...)
			for i, reply := range replies {
				text, err := reply.Text()
				if err != nil {
					t.Fatal(err)
				}
				step, wanted := steps[i+len(steps)-len(replies)], string(want[i])
				if step.Own != "" && !s.External {
					wanted = step.Own
				}
				if ignored != nil {
					text, wanted = ignored.ReplaceAllString(text, ""), ignored.ReplaceAllString(wanted, "")
				}
				if text != wanted {
					t.Errorf("%s %s\n%s\nis answered\n%s\nand should be\n%s", step.Method, step.Path, step.Body, text, wanted)
				}
			}
		})
	}
}
