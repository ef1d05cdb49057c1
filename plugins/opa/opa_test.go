package opa

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

const asked = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"7"}}`

func TestEntrypoints(t *testing.T) {
	for text, want := range map[string]string{
		`{"kubernetes/admission/deny":1}`:                   "[{deny kubernetes/admission/deny 1}]",
		`{"a/warn":0,"b/violation":2,"b/other":3,"deny":1}`: "[{warn a/warn 0} {violation b/violation 2} {deny deny 1}]",
		`{"a/deny":0,"system/main":1}`:                      "[{main system/main 1}]",
		`{"a/allow":0,"x/main":1}`:                          "none of its entrypoints is understood (a/allow, x/main)",
		`{}`:                                                "none of its entrypoints is understood",
		`[]`:                                                "cannot be read",
		`{"a/deny":1.5}`:                                    "cannot be read",
	} {
		all, err := Entrypoints([]byte(text))
		if got := fmt.Sprint(all, err); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	many := map[string]int{}
	for n := range maxEntrypoints + 1 {
		many[fmt.Sprint(n)+"/deny"] = n
	}
	text, _ := json.Marshal(many)
	if _, err := Entrypoints(text); err == nil || !strings.Contains(err.Error(), "more than 20") {
		t.Errorf("of many: %v", err)
	}
}

func TestInput(t *testing.T) {
	for kind, want := range map[Kind]string{
		Main: asked, Deny: asked, Warn: asked, Violation: `{"review":{"uid":"7"},"parameters":{"a":1}}`,
	} {
		if got, err := Input(kind, []byte(asked), []byte(`{"a":1}`)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", kind, got, err)
		}
	}
	if got, err := Input(Violation, []byte(asked), nil); err != nil || string(got) != `{"review":{"uid":"7"},"parameters":{}}` {
		t.Errorf("without a configuration: %s, %v", got, err)
	}
	for _, review := range []string{``, `{}`, `{"request":1}`} {
		if got, err := Input(Deny, []byte(review), nil); err == nil {
			t.Errorf("%s is asked as %s", review, got)
		}
	}
	if _, err := Data([]byte(`[1]`)); err == nil {
		t.Error("a list is data")
	}
}

func TestReply(t *testing.T) {
	for set, want := range map[string]string{
		`[]`:                                 `{"uid":"7","allowed":true}`,
		`[{"result":[]}]`:                    `{"uid":"7","allowed":true}`,
		`[{"result":false}]`:                 `{"uid":"7","allowed":true}`,
		`[{"result":true}]`:                  `"allowed":false,"status":{"message":"a/deny is true","reason":"Forbidden","code":403}}`,
		`[{"result":"one"}]`:                 `"message":"one"`,
		`[{"result":["one","two"]}]`:         `"message":"one, two"`,
		`[{"result":[{"msg":"one","a":1}]}]`: `"message":"one"`,
		`[{"result":[1]}]`:                   `a/deny: a message is neither`,
		`[{"result":{"a":1}}]`:               `a/deny: a message is neither`,
		`[{"result":null}]`:                  `a/deny: a message is neither`,
		`[{},{}]`:                            `a/deny has 2 results`,
		`{`:                                  `the result of a/deny cannot be read`,
		`{"a":[]}`:                           `the result of a/deny cannot be read`,
		` null `:                             `{"uid":"7","allowed":true}`,
		`[{"result":` + "\n" + `false }]`:    `{"uid":"7","allowed":true}`,
		`[{"result": true }]`:                `a/deny is true`,
		`[{"result":[` + strings.Repeat(`"x",`, maxMessages+1) + `"x"]}]`: `x, and 2 more"`,
	} {
		got, err := Reply([]byte(asked), []Result{{Entrypoint{Deny, "a/deny", 0}, []byte(set)}})
		if text := fmt.Sprint(string(got), err); !strings.Contains(text, want) {
			t.Errorf("%.100s: %s, want %s", set, text, want)
		}
	}
	got, err := Reply([]byte(asked), []Result{{Entrypoint{Warn, "a/warn", 0}, []byte(`[{"result":["w"]}]`)}, {Entrypoint{Deny, "b/deny", 0}, []byte(`[]`)}})
	if want := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"7","allowed":true,"warnings":["w"]}}`; err != nil || string(got) != want {
		t.Errorf("warned by %s, %v", got, err)
	}
}

func TestTheMainEntrypointIsAReview(t *testing.T) {
	for set, want := range map[string]string{
		`[{"result":{"kind":"x","response":{"allowed":false,"status":{"reason":"no"}}}}]`: `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"allowed":false,"status":{"reason":"no"},"uid":"7"}}`,
		`[{"result":{"response":{"allowed":true,"uid":""}}}]`:                             `"uid":"7"`,
		`[{"result":{"response":{"allowed":true,"uid":"8"}}}]`:                            `"uid":"8"`,
		`[]`:                           "system/main is undefined for this request",
		`[{"result":{"response":{}}}]`: "does not say in response.allowed",
		`[{"result":{}}]`:              "does not say in response.allowed",
		`[{"result":["no"]}]`:          "system/main cannot be read",
		`[{"result":{"response":[]}}]`: "system/main cannot be read",
		`[{"result":{"response":{"allowed":true` + strings.Repeat(`,"a":1`, maxFields) + `}}}]`: "system/main has 101 fields in its response, more than 100",
	} {
		got, err := Reply([]byte(asked), []Result{{Entrypoint{Main, "system/main", 0}, []byte(set)}})
		if text := fmt.Sprint(string(got), err); !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %s", set, text, want)
		}
	}
}

// What is made of a result set is bounded by its size, however many items it has.
func TestManyItemsTakeNoMoreThanTheirText(t *testing.T) {
	many := func(item string) string { return strings.Repeat(item+",", 1<<20) + item }
	for _, set := range []string{
		`[` + many(`{}`) + `]`,
		`[{"result":[` + many(`""`) + `]}]`,
		`[{"result":{"a":[` + many(`1`) + `]}}]`,
		`[{"result":{"response":{` + many(`"":1`) + `}}}]`,
	} {
		for _, kind := range []Kind{Deny, Main} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _ = Reply([]byte(asked), []Result{{Entrypoint{kind, "a/" + string(kind), 0}, []byte(set)}})
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 6*uint64(len(set)) {
				t.Errorf("%s of %.30s: %d bytes of %d", kind, set, took, len(set))
			}
		}
	}
}

type host struct{ log string }

func (h *host) Log(line []byte) { h.log += string(line) }
func (h *host) Now() int64      { return 42 }

func TestBuiltins(t *testing.T) {
	if all, err := Builtins([]byte(`{"sprintf":0,"trace":7}`)); err != nil || fmt.Sprint(all) != "map[0:sprintf 7:trace]" {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := Builtins([]byte(`{"http.send":0,"sprintf":1}`)); err == nil || !strings.Contains(err.Error(), "it calls http.send, which the gateway does not offer; of the functions that OPA leaves to hosts, sprintf, time.now_ns, trace are there") {
		t.Errorf("what is not offered: %v", err)
	}
	h := &host{}
	for call, want := range map[string]string{
		`sprintf "%s has %d of %v" ["a",3,1.5]`:                    `"a has 3 of 1.5"`,
		`sprintf "%v %v %v %v" [["x",1],{"b":1,"a":[]},null,true]`: `"[\"x\", 1] {\"a\": [], \"b\": 1} null true"`,
		`sprintf "%d" [123456789012345678901234567890]`:            `"123456789012345678901234567890"`,
		`sprintf "%05d|%-3s|%q|%x" [42,"a","b",255]`:               `"00042|a  |\"b\"|ff"`,
		`sprintf "80%% 2026 %v" [1]`:                               `"80% 2026 1"`,
		`sprintf "over 90%%[cpu] by %s%%*" ["a"]`:                  `"over 90%[cpu] by a%*"`,
		`sprintf 1 [1]`: ``,
		`sprintf "" 1`:  ``,
		`trace "note" `: `true`,
		`trace 1 `:      ``,
		`time.now_ns  `: `42`,
	} {
		name, rest, _ := strings.Cut(call, " ")
		var operands []json.RawMessage
		d := json.NewDecoder(strings.NewReader(rest))
		for d.More() {
			var one json.RawMessage
			if err := d.Decode(&one); err != nil {
				t.Fatal(err)
			}
			operands = append(operands, one)
		}
		if got, err := Call(h, name, operands); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", call, got, err, want)
		}
	}
	if h.log != "note\n" {
		t.Errorf("logged %q", h.log)
	}
	// A rule whose message cannot be made would be none, and nothing would be refused.
	for _, format := range []string{`"%1000d"`, `"%.1000f"`, `"%*d"`, `"%[1]v%[1]v"`, `"%%%[1]v"`, `"` + strings.Repeat("x", 8193) + `"`} {
		if got, err := Call(h, "sprintf", []json.RawMessage{json.RawMessage(format), json.RawMessage("[1,1]")}); err == nil || got != nil {
			t.Errorf("%.20s: %s, %v", format, got, err)
		}
	}
	if _, err := Call(h, "http.send", nil); err == nil {
		t.Error("what is not offered is called")
	}
}

// Whatever a policy says, what is made of it can be read, and is not much larger.
func FuzzPolicy(f *testing.F) {
	f.Add(asked, `{"a/deny":0}`, `[{"result":["x",{"msg":"y"}]}]`, `"%5.2f %v"`, `[1,{"a":[]}]`)
	f.Add(asked, `{"system/main":0}`, `[{"result":{"response":{"allowed":true}}}]`, `"%[1]*d"`, `[1e99]`)
	f.Fuzz(func(t *testing.T, review, entrypoints, set, format, items string) {
		all, err := Entrypoints([]byte(entrypoints))
		for _, e := range all {
			if input, err := Input(e.Kind, []byte(review), []byte(`{}`)); err == nil && !json.Valid(input) {
				t.Errorf("%q is sent", input)
			}
			if reply, err := Reply([]byte(review), []Result{{e, []byte(set)}}); err == nil && !json.Valid(reply) {
				t.Errorf("%q is replied", reply)
			}
		}
		if err == nil && len(all) == 0 {
			t.Error("nothing is evaluated")
		}
		_, _ = Builtins([]byte(entrypoints))
		got, err := Call(&host{}, "sprintf", []json.RawMessage{[]byte(format), []byte(items)})
		if err != nil && !errors.Is(err, errFormat) || got != nil && (err != nil || !json.Valid(got) || len(got) > 6*(1000*len(format)+8*len(items)+2000)) {
			t.Errorf("%q of %q is %d bytes, %v", format, items, len(got), err)
		}
	})
}
