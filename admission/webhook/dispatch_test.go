package webhook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/crd/jsonpatch"
)

// decide asks the webhooks in the stage that they are for.
func (w *world) decide(ctx context.Context, mutating bool, r *admissiontest.Attributes, hooks ...string) error {
	if mutating {
		return w.mutate(ctx, w.hooks(true, hooks...), r)
	}
	return w.validate(ctx, w.hooks(false, hooks...), r)
}

func TestADryRunAsksNobodyWithSideEffects_DRY04_DRY05(t *testing.T) {
	for _, mutating := range []bool{false, true} {
		for effects, want := range map[string]string{
			`"None"`: "", `"NoneOnDryRun"`: "",
			`"Some"`: `admission webhook "a" does not support dry run`, `"Unknown"`: `admission webhook "a" does not support dry run`,
			`null`: `admission webhook "a" does not support dry run`,
		} {
			w := newWorld(t)
			r := w.request()
			r.DryRun = true
			// It is no failure that could be ignored.
			err := w.decide(t.Context(), mutating, r, `{"failurePolicy":"Ignore","sideEffects":`+effects+`}`)
			if want == "" && (err != nil || len(w.called) != 1 || w.sent[0]["request"].(map[string]any)["dryRun"] != true) {
				t.Errorf("%s: %v, called %q", effects, err, w.called)
			}
			if want != "" && (!apierrors.IsBadRequest(err) || err.Error() != want || len(w.called) != 0 || len(w.ignored) != 0) {
				t.Errorf("%s: %v, called %q", effects, err, w.called)
			}
			w = newWorld(t)
			if err := w.decide(t.Context(), mutating, w.request(), `{"sideEffects":`+effects+`}`); err != nil || len(w.called) != 1 {
				t.Errorf("%s, and no dry run: %v, called %q", effects, err, w.called)
			}
		}
	}
}

func TestFailuresRefuseOrAreIgnored_WP02(t *testing.T) {
	boom := func(context.Context, map[string]any) (string, error) { return "", errors.New("boom") }
	slow := func(ctx context.Context, _ map[string]any) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}
	for name, c := range map[string]struct {
		answer func(context.Context, map[string]any) (string, error)
		hook   string
		want   string
	}{
		"no answer":          {boom, `{}`, `failed calling webhook "a": failed to call webhook: boom`},
		"too slow":           {slow, `{"timeoutSeconds":1}`, `failed calling webhook "a": failed to call webhook: context deadline exceeded`},
		"no review":          {says("nonsense"), `{}`, `failed calling webhook "a": failed to call webhook: couldn't get version/kind; json parse error: invalid character 'o' in literal null (expecting 'u')`},
		"no response":        {says(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`), `{}`, `failed calling webhook "a": received invalid webhook response: webhook response was absent`},
		"another uid":        {says(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"x"}}`), `{}`, `received invalid webhook response: expected response.uid="`},
		"another place":      {nil, `{"clientConfig":{}}`, `failed calling webhook "a": could not get REST client: nowhere`},
		"no review version":  {nil, `{"admissionReviewVersions":["v2"]}`, `failed calling webhook "a": could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)`},
		"a patch of nothing": {says(`{"allowed":true,"patchType":"JSONPatch"}`), `{}`, `received invalid webhook response: `},
	} {
		for _, mutating := range []bool{false, true} {
			w := newWorld(t)
			w.answers["a"] = c.answer
			err := w.decide(t.Context(), mutating, w.request(), c.hook)
			if !apierrors.IsInternalError(err) || !strings.HasPrefix(err.Error(), "Internal error occurred: failed calling webhook") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", name, err)
			}
			w.called = nil
			if err := w.decide(t.Context(), mutating, w.request(), strings.TrimSuffix(c.hook, "}")+comma(c.hook)+`"failurePolicy":"Ignore"}`, `{}`); err != nil || len(w.ignored) != 1 || !strings.Contains(strings.Join(w.called, ""), "b") {
				t.Errorf("%s, ignored: %v, %q, called %q", name, err, w.ignored, w.called)
			}
		}
	}
	for _, mutating := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		w := newWorld(t)
		w.answers["a"] = func(ctx context.Context, _ map[string]any) (string, error) {
			cancel()
			<-ctx.Done()
			return "", ctx.Err()
		}
		if err := w.decide(ctx, mutating, w.request(), `{"failurePolicy":"Ignore"}`); !apierrors.IsTimeout(err) {
			t.Errorf("a request that is over: %v", err)
		}
		if err := w.decide(ctx, false, w.request(), `{}`); !apierrors.IsTimeout(err) {
			t.Errorf("a request that was over: %v", err)
		}
	}
}

// A patch that does nothing may be of any type, and any other of one.
func TestTypesOfPatches(t *testing.T) {
	for _, c := range []struct{ answer, want string }{
		{`{"allowed":true,"patchType":"Odd","patch":"W10="}`, ""},
		{`{"allowed":true,"patchType":"JSONPatch","patch":"W10="}`, ""},
		{`{"allowed":true,"patchType":"Odd","patch":"W3sib3AiOiJyZW1vdmUiLCJwYXRoIjoiL3NwZWMifV0="}`, `unsupported patch type "Odd"`},
	} {
		w := newWorld(t)
		w.answers["a"] = says(c.answer)
		if err := w.decide(t.Context(), true, w.request(), `{}`); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.answer, err, c.want)
		}
	}
}

func comma(object string) string {
	if object == "{}" {
		return ""
	}
	return ","
}

func TestRefusalsAreInTheWebhooksWords_WP02(t *testing.T) {
	for response, want := range map[string]struct {
		code    int32
		message string
	}{
		`{"allowed":false}`: {400, `admission webhook "a" denied the request without explanation`},
		`{"allowed":false,"status":{"message":"m","code":418,"reason":"r"}}`:             {418, `admission webhook "a" denied the request: m`},
		`{"allowed":false,"status":{"reason":"r"}}`:                                      {400, `admission webhook "a" denied the request: r`},
		`{"allowed":false,"status":{"status":"Success","code":399}}`:                     {400, `admission webhook "a" denied the request without explanation`},
		`{"allowed":false,"status":{"code":999}}`:                                        {999, `admission webhook "a" denied the request without explanation`},
		`{"allowed":false,"status":{"code":1000}}`:                                       {400, `admission webhook "a" denied the request without explanation`},
		`{"allowed":false,"status":{"message":"` + strings.Repeat("x", 16<<10) + `"}}`:   {400, `admission webhook "a" denied the request: ` + strings.Repeat("x", 16<<10)},
		`{"allowed":false,"status":{"message":"` + strings.Repeat("x", 16<<10+1) + `"}}`: {400, `admission webhook "a" denied the request: ` + strings.Repeat("x", 16<<10) + "..."},
	} {
		for _, mutating := range []bool{false, true} {
			w := newWorld(t)
			w.answers["a"] = says(response)
			err := w.decide(t.Context(), mutating, w.request(), `{"failurePolicy":"Ignore"}`)
			var status *apierrors.StatusError
			if !errors.As(err, &status) || status.ErrStatus.Code != want.code || status.ErrStatus.Message != want.message || status.ErrStatus.Status != "Failure" {
				t.Errorf("%.60s: %.200v", response, err)
			}
		}
	}
}

func TestValidatingWebhooksAreAskedAtOnce_WP02(t *testing.T) {
	w := newWorld(t)
	var asked atomic.Int64
	both := make(chan struct{})
	for _, n := range []string{"a", "b"} {
		w.answers[n] = func(ctx context.Context, _ map[string]any) (string, error) {
			if asked.Add(1) == 2 {
				close(both)
			}
			select {
			case <-both:
			case <-ctx.Done(): // one waits for the other
			}
			return fmt.Sprintf(`{"allowed":false,"status":{"message":"%s of %d"},"warnings":["from %s"]}`, n, asked.Load(), n), nil
		}
	}
	w.answers["c"] = func(context.Context, map[string]any) (string, error) { panic("oops") }
	err := w.validate(t.Context(), w.hooks(false, `{}`, `{}`, `{}`), w.request())
	if err == nil || err.Error() != `admission webhook "a" denied the request: a of 2` || strings.Join(w.warned, ",") != "from a,from b" {
		t.Errorf("%v, warned %q", err, w.warned)
	}
	if err = w.validate(t.Context(), w.hooks(false, `{"clientConfig":{"url":"https://c"}}`), w.request()); err == nil || err.Error() != "Internal error occurred: ValidatingAdmissionWebhook/a has panicked: oops" {
		t.Errorf("a panic: %v", err)
	}
}

// A request waits for those that are asked one after the other, and for the slowest of those
// that are asked at once.
func TestRequestsTellHowLongTheyWaited(t *testing.T) {
	w := newWorld(t)
	for _, n := range []string{"a", "b"} {
		w.answers[n] = says(`{"allowed":true}`)
	}
	waited := 0
	request := w.request()
	request.Waits = func(d time.Duration) {
		if waited++; d <= 0 {
			t.Errorf("it waited for %v", d)
		}
	}
	if err := w.mutate(t.Context(), w.hooks(true, `{}`, `{}`), request); err != nil || waited != 2 {
		t.Errorf("%v, waited %d times", err, waited)
	}
	waited = 0
	if err := w.validate(t.Context(), w.hooks(false, `{}`, `{}`), request); err != nil || waited != 1 {
		t.Errorf("%v, waited %d times", err, waited)
	}
}

func TestMutationsOneAfterTheOther_WP02(t *testing.T) {
	w := newWorld(t)
	for _, n := range []string{"a", "b", "c"} {
		w.answers[n] = func(ctx context.Context, r map[string]any) (string, error) {
			host := r["object"].(map[string]any)["host"].(string)
			return patches(`[{"op":"replace","path":"/host","value":"`+host+n+`"}]`)(ctx, r)
		}
	}
	if err := w.mutate(t.Context(), w.hooks(true, `{}`, `{"reinvocationPolicy":"IfNeeded"}`, `{}`), w.request()); err != nil {
		t.Fatal(err)
	}
	if w.After["host"] != "habcb" || strings.Join(w.called, "") != "abcb" || w.Replaced != 4 {
		t.Errorf("host %v, called %q, replaced %d", w.After["host"], w.called, w.Replaced)
	}
	w.called, w.Replaced = nil, 0
	for n, patch := range map[string]string{"a": `[]`, "b": `[{"op":"test","path":"/host","value":"habcb"}]`} {
		w.answers[n] = patches(patch)
	}
	if err := w.mutate(t.Context(), w.hooks(true, `{"reinvocationPolicy":"IfNeeded"}`, `{"reinvocationPolicy":"IfNeeded"}`), w.request()); err != nil || strings.Join(w.called, "") != "ab" || w.Replaced != 0 {
		t.Errorf("what changes nothing: %v, called %q, replaced %d", err, w.called, w.Replaced)
	}
}

func TestPatchesThatCannotBe_WP02(t *testing.T) {
	for patch, want := range map[string]string{
		`{}`: `Internal error occurred: failed calling webhook "a": received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch`,
		`[` + strings.Repeat(`{},`, jsonpatch.MaxOperations) + `{}]`: `Internal error occurred: failed calling webhook "a": received undecodable patch in webhook response: it has 10001 operations; 10000 are allowed`,
		`[{"op":"remove","path":"/none"}]`:                           `Internal error occurred: error in remove for path: '/none': Unable to remove nonexistent key: none: missing value`,
		`[{"op":"replace","path":"/kind","value":"Other"}]`:          `Internal error occurred: admission webhook "a" attempted to change kind from Tab to Other`,
		`[{"op":"replace","path":"/apiVersion","value":"v1"}]`:       `Internal error occurred: admission webhook "a" attempted to change apiVersion from example.com/v1 to v1`,
		`[{"op":"replace","path":"","value":1}]`:                     `Internal error occurred: `,
	} {
		w := newWorld(t)
		w.answers["a"] = patches(patch)
		if err := w.mutate(t.Context(), w.hooks(true, `{}`), w.request()); err == nil || !strings.HasPrefix(err.Error(), want) || w.Replaced != 0 {
			t.Errorf("%.80s: %v", patch, err)
		}
	}
	w := newWorld(t)
	w.Before, w.After = w.After, nil
	r := w.request()
	r.Operation = admission.Delete
	w.answers["a"] = patches(`[{"op":"remove","path":"/x"}]`)
	if err := w.mutate(t.Context(), w.hooks(true, `{}`), r); err == nil || err.Error() != `Internal error occurred: admission webhook "a" attempted to modify the object, which is not supported for this operation` {
		t.Errorf("a deletion: %v", err)
	}
}

func TestReviewsOfBothVersions(t *testing.T) {
	w := newWorld(t)
	r := w.request()
	r.Subresource = "status"
	hook := `{"admissionReviewVersions":["v9","v1beta1","v1"],"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["v2"],"resources":["*/*"]}]}`
	if err := w.validate(t.Context(), w.hooks(false, hook), r); err != nil {
		t.Fatal(err)
	}
	request := w.sent[0]["request"].(map[string]any)
	if w.sent[0]["apiVersion"] != "admission.k8s.io/v1beta1" || fmt.Sprint(request["kind"], request["resource"], request["requestKind"], request["requestResource"], request["subResource"], request["requestSubResource"]) !=
		"map[group:example.com kind:Tab version:v2] map[group:example.com resource:tabs version:v2] map[group:example.com kind:Tab version:v1] map[group:example.com resource:tabs version:v1]statusstatus" ||
		request["object"].(map[string]any)["apiVersion"] != "example.com/v2" || request["oldObject"] != nil ||
		fmt.Sprint(request["userInfo"]) != "map[extra:map[e:[f]] groups:[g] uid:u username:alice]" || fmt.Sprint(request["options"]) != "map[apiVersion:meta.k8s.io/v1 kind:CreateOptions]" {
		t.Errorf("sent %v", w.sent[0])
	}
	// v1beta1 was never checked as strictly.
	w.answers["a"] = says(`{"response":{"allowed":true,"patch":"W10="}}`)
	for _, mutating := range []bool{false, true} {
		if err := w.decide(t.Context(), mutating, r, hook); err != nil {
			t.Errorf("v1beta1: %v", err)
		}
	}
}

func TestSetsKnowWhoIsAboutWhat(t *testing.T) {
	w := newWorld(t)
	hooks := w.hooks(false, `{}`, `{"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/scale"]}]}`, `{"rules":[]}`)
	hooks[0].Configuration, hooks[1].Configuration = "b", "a"
	s := NewSet(hooks)
	for gr, want := range map[schema.GroupResource]string{
		{Group: "example.com", Resource: "tabs"}: "ba", {Group: "example.com", Resource: "others"}: "b", {Group: "", Resource: "tabs"}: "b",
	} {
		for range 2 { // the second time it is remembered
			got := ""
			for _, h := range s.About(about(gr)) {
				got += h.Name
			}
			if got != want {
				t.Errorf("%v: %q, want %q", gr, got, want)
			}
		}
	}
	if NewSet(nil).About(about(schema.GroupResource{})) != nil {
		t.Error("nobody is somebody")
	}
}

// Who cannot be told whether a webhook is to be asked is refused, and it is not asked.
func TestConditionsThatFailRefuse(t *testing.T) {
	for _, mutating := range []bool{false, true} {
		w := newWorld(t)
		err := w.decide(t.Context(), mutating, w.request(), `{"matchConditions":[{"name":"odd","expression":"object.none == 1"}]}`)
		if err == nil || !strings.Contains(err.Error(), "no such key: none") || len(w.called) != 0 {
			t.Errorf("mutating %v: %v, called %q", mutating, err, w.called)
		}
	}
}

// What cannot be brought to the version that a webhook wants is refused, as nobody could
// ask it, whether it is the new state or the old one.
func TestWhatCannotBeShownIsRefused(t *testing.T) {
	for name, only := range map[string]func(w *world){"the new state": func(w *world) { w.Before = nil }, "the old state": func(w *world) { w.After = nil }, "both": func(*world) {}} {
		for _, mutating := range []bool{false, true} {
			w := newWorld(t)
			w.Before, w.After = tree(t, `{"apiVersion":"example.com/v1","kind":"Tab","metadata":{"name":"one"}}`), tree(t, `{"apiVersion":"example.com/v1","kind":"Tab","metadata":{"name":"one"}}`)
			only(w)
			r := w.request()
			r.Operation, r.Versions = admission.Update, []string{"broken"}
			w.answers["a"], w.answers["b"] = says(`{"allowed":true}`), says(`{"allowed":true}`)
			hooks := w.hooks(mutating, `{}`, `{"rules":[{"operations":["*"],"apiGroups":["example.com"],"apiVersions":["broken"],"resources":["tabs"]}]}`)
			err := w.validate(t.Context(), hooks, r)
			if mutating {
				err = w.mutate(t.Context(), hooks, r)
			}
			if err == nil || !strings.Contains(err.Error(), "no conversion") {
				t.Errorf("%s, mutating %v: %v", name, mutating, err)
			}
		}
	}
}
