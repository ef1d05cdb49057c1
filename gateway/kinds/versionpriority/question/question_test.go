package question

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/crd/priority"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/plugins"
)

// asked is a preview over one group, and what it asked.
type asked struct {
	Preview
	reviews []string
	reply   func(r *priority.Request) []string
	missing bool
	lacks   bool
	judge   func(*priority.Review) error
}

func newAsked() *asked {
	a := &asked{reply: func(r *priority.Request) []string { return []string{r.Versions[1], r.Versions[0]} }}
	a.Preview = Preview{
		Versions: func(_ context.Context, group string) ([]string, error) {
			switch group {
			case "example.com":
				return []string{"v2", "v1"}, nil
			case "down":
				return nil, errors.New("the cache is gone")
			}
			return nil, nil
		},
		Exists: func(_ context.Context, t resource.Target) error {
			if a.missing {
				return apierrors.NewNotFound(gvr.Modules, t.Name)
			}
			return nil
		},
		Judge: func(ctx context.Context, _ resource.Target, s resource.Sent, _ resource.WriteOptions) error {
			if a.judge != nil {
				if err := a.judge(s.Object.(*priority.Review)); err != nil {
					return err
				}
			}
			return s.Prepare(ctx)
		},
		Prioritize: func(_ context.Context, name string, review []byte, accept func([]byte) error) error {
			a.reviews = append(a.reviews, name+" "+string(review))
			var r priority.Review
			if err := json.Unmarshal(review, &r); err != nil {
				return err
			}
			versions := a.reply(r.Request)
			if a.lacks {
				return &plugins.CallError{Module: name, Hook: plugins.Prioritize, Kind: plugins.Refused, Reason: "the module does not have this hook"}
			}
			if versions == nil {
				return &plugins.CallError{Module: name, Hook: plugins.Prioritize, Kind: plugins.Trap, Reason: "unreachable"}
			}
			data, err := json.Marshal(priority.Review{APIVersion: priority.APIVersion, Kind: priority.ReviewKind, Response: &priority.Response{UID: r.Request.UID, Versions: versions}})
			if err != nil {
				return err
			}
			return accept(data)
		},
	}
	return a
}

func (a *asked) ask(contentType, body string) (string, error) {
	resp, err := a.Answer(context.Background(), resource.Target{Name: "m"}, contentType, []byte(body), resource.WriteOptions{})
	if err != nil {
		return "", err
	}
	out, err := json.Marshal(resp)
	return string(out), err
}

func review(request string) string {
	return `{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview","request":` + request + `}`
}

func TestAPreviewShowsBothOrders_WP03(t *testing.T) {
	a := newAsked()
	for request, versions := range map[string]string{
		`{"group":"example.com"}`:                                     "v2 v1",
		`{"uid":"mine","group":"example.com","versions":["v9","v8"]}`: "v9 v8",
		`{"group":"nothing.example.com","versions":["v9","v8"]}`:      "v9 v8",
	} {
		a.reviews = nil
		got, err := a.ask("application/json; charset=utf-8", review(request))
		names := strings.Fields(versions)
		var group struct{ Group string }
		if err := json.Unmarshal([]byte(request), &group); err != nil {
			t.Fatal(err)
		}
		r := priority.Ask(group.Group, names)
		want := fmt.Sprintf(`{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview","request":{"uid":%q,"group":%q,"versions":[%q,%q]},"response":{"uid":%q,"versions":[%q,%q]}}`,
			r.UID, r.Group, names[0], names[1], r.UID, names[1], names[0])
		if err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", request, got, err, want)
		}
		sent, err := r.Encode()
		if err != nil || len(a.reviews) != 1 || a.reviews[0] != "m "+string(sent) {
			t.Errorf("%s: asked %q", request, a.reviews)
		}
	}
}

func TestWhatCannotBeAskedIsRefused(t *testing.T) {
	a := newAsked()
	many := func(n int) string {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf(`"v%d"`, i+1)
		}
		return review(`{"group":"g","versions":[` + strings.Join(names, ",") + `]}`)
	}
	for name, c := range map[string]struct {
		contentType, body string
		code              int32
		message           string
	}{
		"other media":      {"application/yaml", review(`{"group":"example.com"}`), 415, "a VersionPriorityReview has the media type application/json"},
		"bad media":        {"a/b/c", review(`{"group":"example.com"}`), 415, ""},
		"no JSON":          {"", "x", 400, "the body is not a VersionPriorityReview: "},
		"another kind":     {"", `{"apiVersion":"wasmgate.dev/v1","kind":"X","request":{}}`, 400, "the body is not a VersionPriorityReview of wasmgate.dev/v1 with a request"},
		"another version":  {"", `{"apiVersion":"v1","kind":"VersionPriorityReview","request":{}}`, 400, ""},
		"no request":       {"", review("null"), 400, "with a request"},
		"no group":         {"", review("{}"), 400, `request.group: ""`},
		"bad group":        {"", review(`{"group":"A b"}`), 400, `request.group: "A b": `},
		"bad version":      {"", review(`{"group":"g","versions":["v1","1"]}`), 400, `request.versions[1]: "1": `},
		"a version twice":  {"", review(`{"group":"g","versions":["v1","v1"]}`), 400, `request.versions[1]: "v1" is there twice`},
		"too many":         {"", many(maxVersions + 1), 400, "request.versions: at most 1000 are looked at"},
		"nothing served":   {"", review(`{"group":"nothing.example.com"}`), 400, `request.group: "nothing.example.com" serves nothing`},
		"versions unknown": {"", review(`{"group":"down"}`), 500, "the cache is gone"},
	} {
		_, err := a.ask(c.contentType, c.body)
		var status apierrors.APIStatus
		if !errors.As(err, &status) || status.Status().Code != c.code || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(a.reviews) != 0 {
		t.Errorf("asked %q", a.reviews)
	}
	a.reply = func(r *priority.Request) []string { return r.Versions }
	if _, err := a.ask("", many(maxVersions)); err != nil {
		t.Error(err)
	}
}

func TestWhatAModuleDoesWrongIsSaid(t *testing.T) {
	a := newAsked()
	a.reply = func(*priority.Request) []string { return []string{"v1"} }
	if _, err := a.ask("", review(`{"group":"example.com"}`)); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), `module "m" orders nothing: response.versions lacks "v2"`) {
		t.Errorf("got %v", err)
	}
	a.reply = func(*priority.Request) []string { return nil }
	if _, err := a.ask("", review(`{"group":"example.com"}`)); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "Trap: unreachable") {
		t.Errorf("got %v", err)
	}
	a.lacks = true
	if _, err := a.ask("", review(`{"group":"example.com"}`)); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "the module does not have this hook") {
		t.Errorf("got %v", err)
	}
	a.missing = true
	if _, err := a.ask("", review(`{"group":"example.com"}`)); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}

// Admission is asked before the module is, and what it makes of the question is
// judged once more.
func TestAdmissionIsAskedAboutPreviews_WP02(t *testing.T) {
	const body = `{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview","request":{"group":"example.com","versions":["v1","v2"]}}`
	for _, c := range []struct {
		judge func(*priority.Review) error
		want  string
	}{
		{func(*priority.Review) error { return errors.New("not now") }, "not now"},
		{func(r *priority.Review) error { r.Request = nil; return nil }, "has no request"},
		{func(r *priority.Review) error { r.Request.Versions = []string{"V 1"}; return nil }, "request.versions[0]"},
	} {
		a := newAsked()
		a.judge = c.judge
		if _, err := a.ask("application/json", body); err == nil || !strings.Contains(err.Error(), c.want) || len(a.reviews) != 0 {
			t.Errorf("%v, %d questions", err, len(a.reviews))
		}
	}
	a := newAsked()
	a.judge = func(r *priority.Review) error { r.Request.Versions = []string{"v3", "v4"}; return nil }
	if got, err := a.ask("application/json", body); err != nil || !strings.Contains(got, `["v4","v3"]`) {
		t.Errorf("%s, %v", got, err)
	}
}
