package sdk

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// withPriority registers a function for one test.
func withPriority(t *testing.T, fn PrioritizeFunc) {
	t.Helper()
	was := prioritizes
	t.Cleanup(func() { prioritizes = was })
	Prioritize(fn)
}

const priorityRequest = `{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview","request":{"uid":"u\"1","group":"example.com","versions":["v2", "v1","\u0076\"3"]}}`

func TestWithoutAFunctionTheKubernetesOrderStays_WP03(t *testing.T) {
	withPriority(t, nil)
	want := `{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview","response":{"uid":"u\"1","versions":["v2","v1","v\"3"]}}`
	if got := string(HandlePriority([]byte(priorityRequest))); got != want || !json.Valid([]byte(got)) {
		t.Errorf("got %s", got)
	}
}

func TestAFunctionOrders_WP03(t *testing.T) {
	withPriority(t, func(group string, versions []string) []string {
		slices.Reverse(versions)
		return append(versions, group)
	})
	if got := string(HandlePriority([]byte(priorityRequest))); !strings.Contains(got, `"versions":["v\"3","v1","v2","example.com"]`) {
		t.Errorf("got %s", got)
	}
}

func TestWhatIsNoPriorityReviewIsAnsweredWithoutVersions(t *testing.T) {
	withPriority(t, func(string, []string) []string { t.Error("asked"); return nil })
	for in, uid := range map[string]string{
		``: `""`, `[]`: `""`, `{}`: `""`, `{"request":{"uid":"u"}}`: `"u"`,
		`{"request":{"uid":"u","group":"g"}}`:                     `"u"`,
		`{"request":{"uid":"u","versions":["v1"]}}`:               `"u"`,
		`{"request":{"uid":"u","group":1,"versions":["v1"]}}`:     `"u"`,
		`{"request":{"uid":"u","group":"g","versions":{"a":1}}}`:  `"u"`,
		`{"request":{"uid":"u","group":"g","versions":"v1"}}`:     `"u"`,
		`{"request":{"uid":"u","group":"g","versions":["v1",2]}}`: `"u"`,
	} {
		want := `{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview","response":{"uid":` + uid + `,"message":"the request is not a VersionPriorityReview"}}`
		if got := string(HandlePriority([]byte(in))); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

func FuzzHandlePriority(f *testing.F) {
	f.Add([]byte(priorityRequest))
	f.Fuzz(func(t *testing.T, request []byte) {
		if got := HandlePriority(request); !json.Valid(got) && json.Valid(request) {
			t.Errorf("%s: %s", request, got)
		}
	})
}

func TestAModuleSaysWhatItHas(t *testing.T) {
	wasKinds, wasAdmits, wasPriority := kinds, admits, prioritizes
	t.Cleanup(func() { kinds, admits, prioritizes = wasKinds, wasAdmits, wasPriority })
	convert := func() { Convert("a", "b", func(*Object) error { return nil }) }
	further := func() { Convert("b", "c", func(*Object) error { return nil }) }
	both := func() {
		For(`A"`).Convert("b", "a", func(*Object) error { return nil })
		For(`A"`).Convert("a", "b", func(*Object) error { return nil })
	}
	many := func() { // a circle of 33 versions: more pairs than are named
		for i := range 33 {
			Convert(strconv.Itoa(i), strconv.Itoa((i+1)%33), func(*Object) error { return nil })
		}
	}
	admit := func() { Admit(func(*Review) error { return nil }) }
	order := func() { Prioritize(func(_ string, v []string) []string { return v }) }
	for want, register := range map[string][]func(){
		`{"hooks":[]}`: {func() { For("Kind") }},
		`{"hooks":["wasmgate_convert"],"conversions":[{"from":"a","to":"b"}]}`: {convert},
		`{"hooks":["wasmgate_admit"]}`:                                         {admit},
		`{"hooks":["wasmgate_prioritize"]}`:                                    {order},
		`{"hooks":["wasmgate_convert","wasmgate_admit","wasmgate_prioritize"],"conversions":[{"from":"a","to":"b"}]}`: {order, admit, convert},
		`{"hooks":["wasmgate_convert"],"conversions":[{"from":"a","to":"b"},{"from":"a","to":"c"},{"from":"b","to":"c"},` +
			`{"kind":"A\"","from":"a","to":"b"},{"kind":"A\"","from":"b","to":"a"}]}`: {convert, further, both},
		`{"hooks":["wasmgate_convert"]}`: {many},
	} {
		kinds, admits, prioritizes = map[string]*Kind{}, nil, nil
		for _, r := range register {
			r()
		}
		if got := string(appendDescription(nil)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
