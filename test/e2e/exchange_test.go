package e2e

import (
	"context"
	"net/http"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/story"
	"github.com/wasmgate/wasmgate/test/story/generated"
	"github.com/wasmgate/wasmgate/test/story/requests"
	"github.com/wasmgate/wasmgate/test/story/rules"
)

// TestRulesOfDefinitions_CEL_CRD tells stories of definitions, their rules and
// writes, and compares each reply with kube-apiserver's: what is accepted, what
// becomes of it, and how the rest is refused.
func TestRulesOfDefinitions_CEL_CRD(t *testing.T) {
	tellAll(t, rules.Stories(), rules.Table)
}

// TestGeneratedSchemas_CRD05 tells stories of schemas and objects that a
// generator made, and compares: what is accepted, what becomes of objects by
// pruning and defaults, which fields are refused and why, and what of it is
// forgiven when it was there before.
func TestGeneratedSchemas_CRD05(t *testing.T) {
	tellAll(t, generated.Stories(1, generated.Recorded), generated.Table)
}

// TestGeneratedVersions_CRD05 does so of kinds of two versions with a status and
// scales, which are also watched.
func TestGeneratedVersions_CRD05(t *testing.T) {
	tellAll(t, generated.VersionsStories(1, generated.VersionsRecorded), generated.VersionsTable)
}

// TestTableOfRequests_VERB01 makes every kind of request and mistake of a
// custom resource, and compares each reply with kube-apiserver's.
func TestTableOfRequests_VERB01(t *testing.T) {
	tellAll(t, requests.Stories(), requests.Table)
}

// sender sends to a server.
func sender(api *harness.API) story.Send {
	return func(_ context.Context, step story.Step) (int, http.Header, []byte, error) {
		var body any
		var headers []string
		if step.Type != "" {
			body, headers = step.Body, []string{"Content-Type", step.Type}
		}
		if step.Accept != "" {
			headers = append(headers, "Accept", step.Accept)
		}
		r, err := api.Try(step.Method, step.Path, body, append(headers, step.Headers...)...)
		if err != nil {
			return 0, nil, nil, err
		}
		return r.Code, r.Header, r.Body, nil
	}
}
