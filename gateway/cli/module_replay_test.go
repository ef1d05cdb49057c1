package cli

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// keeping is a gateway that keeps three failed calls of the module m.v1, and the content that
// the second was made of.
func keeping(t *testing.T) string {
	t.Helper()
	of := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	calls := `{"items":[
		{"id":"m.v1.1","hook":"wasmgate_convert","digest":"sha256:gone","request":"` + of("gone") + `","error":"no","times":1,"last":"2026-01-02T03:04:05Z"},
		{"id":"m.v1.3","digest":"sha256:other"},
		{"id":"m.v1.2","hook":"wasmgate_convert","digest":"` + digestOf([]byte("wasm")) + `","config":"` + of("max: 3") + `","limits":{"fuel":7},"request":"` + of("asked") + `",
		 "error":"it\nfailed","times":3,"last":"2026-01-02T03:04:05Z"}]}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch path := strings.TrimPrefix(r.URL.Path, modulesPath+"/"); path {
		case "m.v1/failures":
			_, _ = io.WriteString(w, calls)
		case "odd/failures":
			_, _ = io.WriteString(w, `{"items":3}`)
		case "unkept/failures":
			status(w, 404, "NotFound")
		case "m.v1/content":
			if r.URL.Query().Get("digest") == "sha256:gone" {
				missing(w, r.URL.Path)
				return
			}
			_, _ = io.WriteString(w, "wasm")
		default:
			missing(w, modulesPath+"/"+strings.TrimSuffix(path, "/failures"))
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A call is made again with what it was made of, or with the content of a file.
func TestReplayMakesACallAgain(t *testing.T) {
	server, objects := keeping(t), written(t, "o.yaml", "kind: A\n---\nkind: B\n")
	says := "m.v1.2: wasmgate_convert of " + digestOf([]byte("wasm"))[7:19] + " failed in the gateway 3 times, the last time at 2026-01-02T03:04:05Z:\n  it failed\nHere:\n"
	for name, c := range map[string]struct {
		args    []string
		content string
		objects int
		begins  string
	}{
		"the content that was called": {nil, "wasm", 0, says + "{}\nwasmgate_convert: "},
		"another one":                 {[]string{written(t, "m.wasm", "mended")}, "mended", 0, says},
		"with objects":                {[]string{"--objects", objects}, "wasm", 2, says},
		"for programs":                {[]string{"-o", "json"}, "wasm", 0, "{\n"},
	} {
		b := &bench{answer: workbench.Answer{Hook: "wasmgate_convert", Reply: "{}"}}
		out, exit, err := b.run(t, slices.Concat([]string{"module", "replay", "-s", server, "m.v1.2"}, c.args)...)
		if exit != 0 || err != nil || !strings.HasPrefix(out, c.begins) {
			t.Errorf("%s: %d, %v\n%s", name, exit, err, out)
		}
		got := b.request
		if got.Name != "m.v1" || string(got.Content) != c.content || string(got.Review) != "asked" || string(got.Config) != "max: 3" || got.Limits.Fuel != 7 || len(got.Objects) != c.objects {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What cannot be made again is told with the reason, and exits as the help says.
func TestReplayOfWhatCannotBe(t *testing.T) {
	server := keeping(t)
	for line, c := range map[string]struct {
		exit int
		want string
	}{
		"m.v1.9":                 {statusMistake, `the gateway that answers has no call "m.v1.9": it keeps the last ones, for an hour at most; it has 3 calls of wasmmodule/m.v1`},
		"m":                      {statusMistake, `"m" is no ID of a call, which is NAME.DIGITS`},
		".1":                     {statusMistake, `".1" is no ID of a call`},
		"m.v1.2 /none":           {statusMistake, "open /none: "},
		"m.v1.2 --objects=/none": {statusMistake, "lstat /none: "},
		"none.1":                 {1, `there is no module "none"`},
		"unkept.1":               {1, "no: NotFound"},
		"odd.1":                  {1, "the failed calls of wasmmodule/odd cannot be read: "},
		"m.v1.3":                 {1, "wasmmodule/m.v1: 4 bytes with the digest "},
		"m.v1.1":                 {1, "no: NotFound\nThe content that was called may be gone; name a file with it"},
	} {
		b := &bench{}
		out, exit, err := b.run(t, append([]string{"module", "replay", "-s", server}, strings.Fields(line)...)...)
		if exit != c.exit || err == nil || !strings.HasPrefix(err.Error(), c.want) || out != "" || b.request.Name != "" {
			t.Errorf("%s: %d, %v\n%s", line, exit, err, out)
		}
	}
	b := &bench{answer: workbench.Answer{Problem: "it fails here, too"}}
	if out, exit, err := b.run(t, "module", "replay", "-s", server, "m.v1.2"); exit != statusFound || err == nil || err.Error() != "it fails here, too" || !strings.Contains(out, "Here:") {
		t.Errorf("%d, %v\n%s", exit, err, out)
	}
}
