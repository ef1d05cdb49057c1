package module_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

// read is a module of a JSON text.
func read(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &obj.Object); err != nil {
		t.Fatal(err)
	}
	return obj
}

func digestOf(content []byte) string { return "of " + string(content) }

// name is what [module.RevisionName] says of the content sha256:1 with a configuration.
func name(config string) string {
	rev := plugins.Revision{Digest: "sha256:1"}
	if config != "" {
		rev.Config = []byte(config)
	}
	return module.RevisionName(rev)
}

// What served before, and what serves, as the status and the spec say it together.
func TestWhatServedBeforeAndWhatServes(t *testing.T) {
	const upload = `"spec":{"source":{"upload":{"digest":"sha256:1"}},"config":{"now":true}`
	for what, c := range map[string]struct {
		text          string
		good, serving string // the configurations, "-" for none
	}{
		"nothing":                         {`{` + upload + `}}`, "-", "-"},
		"what is wanted":                  {`{` + upload + `},"status":{"digest":"sha256:1","acceptedRevision":"` + name(`{"now":true}`) + `"}}`, `{"now":true}`, `{"now":true}`},
		"and no name of it":               {`{` + upload + `},"status":{"digest":"sha256:1"}}`, `{"now":true}`, `{"now":true}`},
		"another configuration, kept":     {`{` + upload + `},"status":{"digest":"sha256:1","acceptedRevision":"` + name(`{"then":1}`) + `","keptConfiguration":{"digest":"sha256:1","config":"{\"then\":1}"}}}`, `{"then":1}`, `{"then":1}`},
		"one that nobody knows":           {`{` + upload + `},"status":{"digest":"sha256:1","acceptedRevision":"` + name(`{"then":1}`) + `"}}`, `{"now":true}`, "-"},
		"kept of other content":           {`{` + upload + `},"status":{"digest":"sha256:1","acceptedRevision":"` + name(`{"now":true}`) + `","keptConfiguration":{"digest":"sha256:2","config":"{\"then\":1}"}}}`, `{"now":true}`, `{"now":true}`},
		"kept of none":                    {`{` + upload + `},"status":{"digest":"sha256:1","acceptedRevision":"` + name("") + `","keptConfiguration":{"digest":"sha256:1"}}}`, "", ""},
		"other content":                   {`{` + upload + `},"status":{"digest":"sha256:2"}}`, `{"now":true}`, `{"now":true}`},
		"limits that are wrong by now":    {`{` + upload + `,"limits":{"fuel":-1}},"status":{"digest":"sha256:1"}}`, `{"now":true}`, `{"now":true}`},
		"kept by an earlier gateway":      {`{"metadata":{"annotations":{"wasmgate.dev/kept-revision":"{\"digest\":\"sha256:1\",\"config\":{\"then\":1}}"}},` + upload + `},"status":{"digest":"sha256:1"}}`, `{"then":1}`, `{"now":true}`},
		"which a present one knows of":    {`{"metadata":{"annotations":{"wasmgate.dev/kept-revision":"{\"digest\":\"sha256:1\",\"config\":{\"then\":1}}"}},` + upload + `},"status":{"digest":"sha256:1","acceptedRevision":"` + name(`{"now":true}`) + `"}}`, `{"now":true}`, `{"now":true}`},
		"an image that nobody had proven": {`{"spec":{"source":{"oci":{"image":"r/m:1"}}},"status":{"digest":"sha256:1","pulled":{"image":"r/m:1","manifest":"m","digest":"sha256:2"}}}`, "-", "-"},
		"an image of another name":        {`{"spec":{"source":{"oci":{"image":"r/m:1"}}},"status":{"digest":"sha256:1","pulled":{"image":"r/m:2","manifest":"m","digest":"sha256:1"}}}`, "-", "-"},
		"an image that was pulled":        {`{"spec":{"source":{"oci":{"image":"r/m:1"}}},"status":{"digest":"sha256:1","pulled":{"image":"r/m:1","manifest":"m","digest":"sha256:1"}}}`, "", ""},
	} {
		obj := read(t, c.text)
		for of, said := range map[string]struct {
			want string
			is   func() (plugins.Revision, bool)
		}{
			"good":    {c.good, func() (plugins.Revision, bool) { return module.LastGood(obj) }},
			"serving": {c.serving, func() (plugins.Revision, bool) { return module.Serving(obj, digestOf) }},
		} {
			rev, ok := said.is()
			if ok != (said.want != "-") || ok && (string(rev.Config) != said.want || rev.Digest != module.StatusOf(obj).Digest || rev.Limits != plugins.Limits{}) {
				t.Errorf("%s, %s: %+v %q, %v", what, of, rev, rev.Config, ok)
			}
		}
	}
}

// A configuration is kept with its limits, unless it is too much.
func TestWhatIsKeptOfARevision(t *testing.T) {
	rev := plugins.Revision{Digest: "sha256:1", Config: []byte(strings.Repeat("7", 64<<10)), Limits: plugins.Limits{MemoryBytes: 1, ResponseBytes: 2, Fuel: 3, Timeout: 4}}
	kept := module.Keep(rev)
	if kept == nil {
		t.Fatal("the most that may be kept is not")
	}
	text, err := json.Marshal(map[string]any{"digest": "sha256:1", "acceptedRevision": "x", "keptConfiguration": kept})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := module.LastGood(read(t, `{"status":`+string(text)+`}`)); !ok || !got.Same(rev) {
		t.Errorf("%+v, %v", got, ok)
	}
	rev.Config = append(rev.Config, '7')
	if module.Keep(rev) != nil {
		t.Error("more is kept than there is room for")
	}
}

// What waits is the revision that the spec asks for, once the status is about it.
func TestWhatWaitsToBePromoted(t *testing.T) {
	const spec = `"spec":{"source":{"upload":{"digest":"sha256:1"}}}`
	for text, want := range map[string]bool{
		`{` + spec + `}`: false,
		`{` + spec + `,"status":{"candidate":{"revision":"` + name("") + `-1","digest":"sha256:1"}}}`:                              true,
		`{` + spec + `,"status":{"candidate":{"revision":"` + name("{}") + `-1","digest":"sha256:1"}}}`:                            false,
		`{` + spec + `,"status":{"candidate":{"revision":"` + name("") + `","digest":"sha256:1"}}}`:                                false,
		`{"spec":{"source":{"upload":{}}},"status":{"candidate":{"revision":"` + name("") + `-1","digest":"sha256:1"}}}`:           false,
		`{"spec":{"source":{"upload":{"digest":"sha256:1"}},"config":7},"status":{"candidate":{"revision":"` + name("") + `-1"}}}`: false,
	} {
		obj := read(t, text)
		c, rev, ok := module.CandidateOf(obj, digestOf)
		if ok != want || ok && (c.Revision != name("")+"-1" || rev.Digest != "sha256:1") {
			t.Errorf("%s: %+v, %+v, %v", text, c, rev, ok)
		}
		if !ok {
			continue
		}
		if err := module.SetReport(obj, module.Report{State: module.Completed}); err != nil {
			t.Fatal(err)
		}
		if c, _, ok := module.CandidateOf(obj, digestOf); !ok || !c.Report.Ended() || c.Report.State != module.Completed {
			t.Errorf("with a report: %+v, %v", c, ok)
		}
	}
	var none *module.Report
	if none.Ended() || (&module.Report{State: module.Running}).Ended() || (*module.Candidate)(nil).Is("a") {
		t.Error("what is not there or runs has ended")
	}
}

// What cannot be had of a source is told, and whether it is on its way.
func TestWhyNothingIsWanted(t *testing.T) {
	const waits, failed = `{"type":"Pulled","status":"Unknown","reason":"Busy","message":"r/m:1: waits"}`, `{"type":"Pulled","status":"False","reason":"NotAllowed","message":"r/m:1: 401"}`
	image := func(conditions string) string {
		return `{"spec":{"source":{"oci":{"image":"r/m:1"}}},"status":{"conditions":[` + conditions + `]}}`
	}
	for text, want := range map[string]module.Refusal{
		`{"spec":{"source":{"inline":"AA==","upload":{}}}}`:         {Reason: "SourceInvalid", Message: "spec.source must have exactly one of inline, upload and oci"},
		`{"spec":{"source":{"inline":"?"}}}`:                        {Reason: "SourceInvalid", Message: "spec.source.inline: illegal base64 data at input byte 0"},
		`{"metadata":{"name":"m"},"spec":{"source":{"upload":{}}}}`: {Reason: "ContentMissing", Message: "upload it with: wasmgate module push m file.wasm", Expected: true},
		`{"spec":{"source":{"git":{}}}}`:                            {Reason: "SourceNotSupported", Message: "spec.source must have inline, upload or oci; nothing else is supported"},
		image(""):                                                   {Reason: "ContentMissing", Message: "r/m:1 was not pulled yet", Expected: true},
		image(waits):                                                {Reason: "ContentMissing", Message: "r/m:1 was not pulled yet", Expected: true},
		image(failed):                                               {Reason: "NotAllowed", Message: "r/m:1: 401"},
		strings.ReplaceAll(image(failed), "r/m:1:", "r/m:0:"):       {Reason: "ContentMissing", Message: "r/m:1 was not pulled yet", Expected: true},
		`{"spec":{"rollout":"Shadow","source":{"inline":"AA=="},"config":"` + strings.Repeat("7", 64<<10) + `"}}`: {Reason: "ConfigInvalid", Message: "spec.config: it has 65538 bytes; with spec.rollout: Shadow at most 65536 are allowed"},
	} {
		if rev, got := module.Wanted(read(t, text), digestOf); rev != nil || got == nil || *got != want {
			t.Errorf("%.200s: %+v, %+v", text, rev, got)
		}
	}
	for _, text := range []string{
		`{"spec":{"rollout":"Shadow","source":{"inline":"AA=="},"config":"` + strings.Repeat("7", 64<<10-2) + `"}}`,
		`{"spec":{"source":{"inline":"AA=="},"config":"` + strings.Repeat("7", 64<<10) + `"}}`,
		`{"metadata":{"annotations":{"wasmgate.dev/content-digest":"sha256:1"}},"spec":{"source":{"upload":{}},"config":null,"limits":{"fuel":null,"memory":null,"timeout":null}}}`,
	} {
		if rev, refused := module.Wanted(read(t, text), digestOf); refused != nil || rev == nil {
			t.Errorf("%.100s: %+v", text, refused)
		}
	}
}

// What the status and the spec say in a few words.
func TestWhatAModuleSaysShortly(t *testing.T) {
	for text, want := range map[string][]any{
		`{}`: {"", "", int64(5), 0, plugins.Limits{}},
		`{"status":{"conditions":[{"type":"Ready","status":"False","message":"it is broken"}]},"spec":{"revisionHistoryLimit":0}}`:             {"it is broken", "", int64(0), 0, plugins.Limits{}},
		`{"status":{"conditions":[{"type":"Ready","status":"True","message":"serves"}]},"spec":{"revisionHistoryLimit":1.5}}`:                  {"", "", int64(5), 0, plugins.Limits{}},
		`{"status":{"revisions":[{"digest":"sha256:2"},{"digest":"sha256:1"}]},"spec":{"grants":[{"group":"apps","resource":"deployments"}]}}`: {"", "sha256:2", int64(5), 1, plugins.Limits{}},
		`{"status":{"digest":7},"spec":{"grants":"all","limits":{"fuel":7},"revisionHistoryLimit":9007199254740992}}`:                          {"", "", int64(5), 0, plugins.Limits{Fuel: 7}},
	} {
		obj := read(t, text)
		got := []any{module.NotReady(obj), module.ServedLast(obj), module.HistoryLimit(obj), len(module.GrantsOf(obj)), module.LimitsOf(obj)}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	obj := read(t, `{}`)
	if err := module.SetCalls(obj, module.Calls{Revision: "r", Failing: []module.FailingCalls{{Gateway: "g"}}}); err != nil || module.CallsOf(obj).Failing[0].Gateway != "g" {
		t.Errorf("%v, %v", obj, err)
	}
	if err := module.SetPulled(obj, module.PulledImage{Image: "i", Digest: "sha256:1"}); err != nil || module.StatusOf(obj).Pulled.Image != "i" {
		t.Errorf("%v, %v", obj, err)
	}
}

// The contents that a module refers to, what it asks for first; nothing is among them that
// is none.
func TestWhichContentsAModuleRefersTo(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "[]",
		`{"metadata":{"annotations":{"wasmgate.dev/content-digest":"b"}},"spec":{"source":{"upload":{"digest":"a"}}},"status":{"digest":"c","keptConfiguration":{"digest":"d"},"revisions":[{"digest":"e"},{"digest":""},{"digest":"f"}]}}`: "[a b c d e f]",
		`{"spec":{"source":{"inline":"QQ=="}},"status":{"pulled":{"image":"i","digest":"p"}}}`: "[of A p]",
		`{"spec":{"source":{"inline":"?"}}}`:                                                   "[]",
	} {
		if got := fmt.Sprint(module.Digests(read(t, text), digestOf)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Differences are counted by their places, and no more are listed than there is room for.
func TestReportsAreAddedUp(t *testing.T) {
	var r module.Report
	at := func(i int) module.Difference {
		return module.Difference{Place: module.Place{Path: fmt.Sprint("p", i)}, Count: 2}
	}
	for i := range module.MaxDifferences + 1 {
		r.AddDifference(at(i))
	}
	r.Add(module.Report{Conversions: 3, Different: 2, Failed: 1, Unlisted: 5, Differences: []module.Difference{at(0), at(module.MaxDifferences - 1)}, Failures: make([]module.Failure, 7)})
	r.Add(module.Report{Conversions: 1, Failures: make([]module.Failure, 7)})
	if len(r.Differences) != module.MaxDifferences || r.Differences[0].Count != 4 || r.Differences[module.MaxDifferences-1].Count != 4 || r.Differences[1].Count != 2 {
		t.Errorf("%+v", r.Differences)
	}
	if r.Unlisted != 7 || len(r.Failures) != module.MaxFailures || r.Conversions != 4 || r.Different != 2 || r.Failed != 1 {
		t.Errorf("%+v", r)
	}
}

// Who vouches for what serves is told of that alone.
func TestWhoVouches(t *testing.T) {
	obj := read(t, `{"status":{"digest":"sha256:1","signedBy":[{"trust":"t","authority":"a","key":"k"},{"trust":"t","authority":"b","key":"l"}]}}`)
	if got := module.SignersOf(obj, "sha256:1"); !slices.Equal(got, []string{"t/a", "t/b"}) {
		t.Errorf("%q", got)
	}
	if got := module.SignersOf(obj, "sha256:2"); got != nil {
		t.Errorf("of other content: %q", got)
	}
	signer := []module.Signer{{Trust: "t", Authority: "a", Key: "k"}}
	for what, c := range map[string]struct {
		before   []metav1.Condition
		policies int
		judged   bool
		refused  *module.Refusal
		signers  []module.Signer
		want     string
	}{
		"no policy":          {nil, 0, true, nil, nil, "[]"},
		"no policy any more": {[]metav1.Condition{{Type: module.Trusted, Status: "False"}}, 0, true, nil, nil, "[Unknown NotDemanded: no ModuleTrust demands a signature of it]"},
		"refused":            {nil, 1, true, &module.Refusal{Reason: "NotSigned", Message: "by nobody"}, signer, "[False NotSigned: by nobody]"},
		"not judged":         {nil, 1, false, nil, signer, "[Unknown NotJudged: the newest content was not looked at yet]"},
		"not demanded":       {nil, 1, true, nil, nil, "[Unknown NotDemanded: no ModuleTrust demands a signature of it]"},
		"signed":             {nil, 1, true, nil, signer, `[True Signed: signed by a of ModuleTrust "t" (key k)]`},
	} {
		module.SetTrusted(&c.before, 7, c.policies, c.judged, c.refused, c.signers)
		got := []string{}
		for _, c := range c.before {
			got = append(got, fmt.Sprint(c.Status, " ", c.Reason, ": ", c.Message))
			if c.ObservedGeneration != 7 || c.Type != module.Trusted {
				t.Errorf("%s: %+v", what, c)
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %q, want %s", what, got, c.want)
		}
	}
}

// What lacks is said once, then that it lacks no more; there is no word of it before.
func TestCompletenessIsSaidOnceItLacked(t *testing.T) {
	var conditions []metav1.Condition
	module.SetCompleteness(&conditions, 1, nil)
	if len(conditions) != 0 {
		t.Errorf("of one that never lacked anything: %+v", conditions)
	}
	lack := func(n int) (all []module.Lack) {
		for i := range n {
			all = append(all, module.Lack{Definition: fmt.Sprint("d", i), Lacking: []plugins.Conversion{{Kind: "K", From: "v1", To: "v2"}}})
		}
		return all
	}
	for _, c := range []struct {
		lacks []module.Lack
		want  string
	}{
		{lack(1), "False ConversionMissing customresourcedefinitions/d0 needs v1 to v2; the module does not say that it converts that"},
		{nil, "True Complete it converts all that definitions need"},
	} {
		module.SetCompleteness(&conditions, 2, c.lacks)
		if got := fmt.Sprint(conditions[0].Status, " ", conditions[0].Reason, " ", conditions[0].Message); len(conditions) != 1 || got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	for n, want := range map[int]string{10: "; customresourcedefinitions/d9 needs v1 to v2", 11: "d9 needs v1 to v2; and 1 more"} {
		if got := module.Told(lack(n)); !strings.HasSuffix(got, want) {
			t.Errorf("of %d: %s", n, got)
		}
	}
	var names []string
	for i := range 11 {
		names = append(names, fmt.Sprint(i))
	}
	if got := module.FirstNames(names[:10]) + "|" + module.FirstNames(names); got != "0, 1, 2, 3, 4, 5, 6, 7, 8, 9|0, 1, 2, 3, 4, 5, 6, 7, 8, 9, and 1 more" {
		t.Error(got)
	}
}
