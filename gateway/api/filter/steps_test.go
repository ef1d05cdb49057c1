package filter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/query"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/bounds"
)

var ann = &authn.User{Name: "ann", Groups: []string{authn.AllAuthenticated}}

// passing sends a call through a filter, and reports whether it came through.
func passing(t *testing.T, f api.Filter, c *api.Call, resp *reply.Response) (*reply.Response, bool) {
	t.Helper()
	passed := false
	out := f(func(context.Context, *api.Call) *reply.Response {
		passed = true
		return resp
	})(t.Context(), c)
	return out, passed
}

// about is a call about pods, by ann.
func about(verb string) *api.Call {
	return &api.Call{Request: &api.Request{ID: "7", UserAgent: "agent", Path: "/api/v1/pods", Query: "a=b"}, User: ann,
		Info: api.Info{Resource: true, Verb: verb, Version: "v1", Plural: "pods", Namespace: "default"}}
}

// answers is an authorizer.
type answers struct {
	allowed bool
	err     error
}

func (a answers) Authorize(context.Context, authz.Attributes) (bool, string, error) {
	return a.allowed, "why", a.err
}

// What may not be done, or could not be decided, ends at the authorizer, and its record says so.
func TestAuthorize(t *testing.T) {
	for name, c := range map[string]struct {
		by       answers
		code     int
		text     string
		decision string
	}{
		"allowed":   {answers{allowed: true}, 200, "", "allow"},
		"forbidden": {answers{}, 403, `pods is forbidden: User \"ann\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\": why`, "forbid"},
		"broken":    {answers{allowed: true, err: errors.New("broken")}, 500, "Internal error occurred: broken", "forbid"},
	} {
		call := about("list")
		call.Record = &api.Audit{}
		resp, passed := passing(t, authorize(c.by), call, &reply.Response{Code: 200})
		if resp.Code != c.code || passed != (c.code == 200) || !strings.Contains(string(resp.Body), c.text) {
			t.Errorf("%s: %d %s, passed %v", name, resp.Code, resp.Body, passed)
		}
		if passed && (call.Caller.User != ann || call.Caller.UserAgent != "agent" || call.Caller.RequestID != "7") {
			t.Errorf("%s: the caller is %+v", name, call.Caller)
		}
		if sniffed := !slices.Contains(resp.Headers, reply.NoSniff); sniffed != passed {
			t.Errorf("%s: headers %v", name, resp.Headers)
		}
		if a := call.Record.Annotations; a["authorization.k8s.io/decision"] != c.decision || a["authorization.k8s.io/reason"] != "why" {
			t.Errorf("%s: %v", name, a)
		}
	}
}

// known knows ann by a token, and refuses another one.
type known struct{}

func (known) Authenticate(_ context.Context, r authn.Request) (*authn.User, bool, error) {
	switch r.BearerToken {
	case "ann":
		return ann, true, nil
	case "old":
		return nil, false, errors.New("it has expired")
	}
	return nil, false, nil
}

// Who shows nothing is nobody in particular where that is allowed; who shows what is wrong is
// refused even there.
func TestIdentify(t *testing.T) {
	everywhere := func(string) bool { return true }
	here := func(path string) bool { return path == "/healthz" }
	for name, c := range map[string]struct {
		token     string
		anonymous func(string) bool
		want      string
		logged    bool
	}{
		"ann":             {"ann", nil, "ann", false},
		"nothing":         {"", nil, "", false},
		"nothing, here":   {"", here, authn.Anonymous, false},
		"nothing, there":  {"", func(path string) bool { return path == "/" }, "", false},
		"wrong":           {"other", everywhere, "", false},
		"refused":         {"old", everywhere, "", true},
		"refused as such": {"old", nil, "", true},
	} {
		var out bytes.Buffer
		for _, record := range []*api.Audit{nil, {}} {
			call := &api.Call{Request: &api.Request{}, Info: api.Info{Path: "/healthz"}, Record: record}
			if c.token != "" {
				call.Authorization = "Bearer " + c.token
			}
			out.Reset()
			resp, passed := passing(t, identify(known{}, c.anonymous, zerolog.New(&out)), call, &reply.Response{Code: 200})
			if passed != (c.want != "") || !passed && (resp.Code != 401 || slices.Contains(resp.Headers, reply.NoSniff)) {
				t.Errorf("%s: %d, passed %v, %v", name, resp.Code, passed, resp.Headers)
			}
			if passed && (call.User.Name != c.want || call.Caller.User != call.User || record != nil && record.User != call.User) {
				t.Errorf("%s: %+v", name, call)
			}
			if logged := strings.Contains(out.String(), "credentials refused"); logged != c.logged {
				t.Errorf("%s: logged %s", name, out.String())
			}
		}
	}
}

// How long a request may take has to be a time, but of what lasts.
func TestBounded(t *testing.T) {
	for name, c := range map[string]struct {
		verb, query string
		passes      bool
		want        time.Duration
	}{
		"none": {"list", "", true, time.Minute}, "some": {"list", "timeout=5s", true, 5 * time.Second},
		"no time": {"list", "timeout=x", false, 0}, "of a watch": {"watch", "timeout=x", true, 0},
	} {
		call := about(c.verb)
		call.Params = query.Parse(c.query)
		resp, passed := passing(t, bounded(time.Minute), call, &reply.Response{Code: 200})
		if passed != c.passes || call.Timeout != c.want || !passed && resp.Code != 400 {
			t.Errorf("%s: %d, %v", name, resp.Code, call.Timeout)
		}
	}
}

// A connection is its user's, who may not have too many; nobody's stays its address's.
func TestOwn(t *testing.T) {
	all := bounds.NewConnections(bounds.ConnectionLimits{PerUser: 1})
	send := func(u *authn.User) (*reply.Response, bool) {
		call := about("get")
		call.User, call.Connection = u, all.Open(&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)})
		return passing(t, own, call, &reply.Response{Code: 200})
	}
	for _, u := range []*authn.User{authn.AnonymousUser(), authn.AnonymousUser(), ann} {
		if resp, passed := send(u); !passed {
			t.Errorf("%s: %d", u.Name, resp.Code)
		}
	}
	resp, passed := send(ann)
	if passed || resp.Code != 429 || !strings.Contains(string(resp.Body), string(bounds.TooManyConnections)) || !slices.Contains(resp.Headers, reply.Header{Name: "Connection", Value: "close"}) {
		t.Errorf("%d %s %v", resp.Code, resp.Body, resp.Headers)
	}
	if _, passed := send(&authn.User{Name: "root", Groups: []string{authn.Masters}}); !passed {
		t.Error("an administrator has too many")
	}
	if n := all.Count().Identified; n != 2 {
		t.Errorf("%d connections are somebody's", n)
	}
}

// Who asks to be somebody else goes on as that one, or not at all.
func TestImpersonateGoesOnAsSomebodyElse(t *testing.T) {
	for _, record := range []*api.Audit{nil, {}} {
		for as, want := range map[string]string{"": "ann", "carol": "carol"} {
			call := about("get")
			call.Record = record
			if as != "" {
				call.Impersonate = &api.Impersonation{User: as}
			}
			if _, passed := passing(t, impersonate(answers{allowed: true}), call, nil); !passed || call.User.Name != want {
				t.Errorf("%q: %v, as %s", as, passed, call.User.Name)
			}
		}
		if record != nil && (record.Impersonated.Name != "carol" || record.Constraint != "impersonate:user-info") {
			t.Errorf("recorded %+v", record)
		}
		call := about("get")
		call.Impersonate = &api.Impersonation{User: "carol"}
		if resp, passed := passing(t, impersonate(answers{}), call, nil); passed || resp.Code != 403 {
			t.Errorf("not allowed: passed %v, %+v", passed, resp)
		}
	}
}

// counted notes what begins and ends.
type counted struct {
	api.Observer
	log  []string
	last api.Outcome
}

func (o *counted) Begin(i *api.Info, dry bool) func(api.Outcome) {
	o.log = append(o.log, fmt.Sprintf("%s %s dry=%v", i.Verb, i.Plural, dry))
	return func(of api.Outcome) {
		o.last, o.log = of, append(o.log, fmt.Sprint(of.Code))
	}
}

// Names of clients are counted as nothing that exists; a stream is counted when it ends.
func TestObserve(t *testing.T) {
	for want, call := range map[string]*api.Call{
		"list  dry=true":   {Request: &api.Request{Method: "GET"}, Info: api.Info{Resource: true, Verb: "list", Plural: "invented"}, Params: query.Parse("dryRun=All")},
		"other  dry=false": {Request: &api.Request{Method: "INVENTED"}, Info: api.Info{Verb: "invented"}},
		"get  dry=false":   {Request: &api.Request{Method: "GET"}, Info: api.Info{Verb: "get"}},
		"odd  dry=false":   {Request: &api.Request{Method: "INVENTED"}, Info: api.Info{Resource: true, Verb: "odd"}},
	} {
		o := &counted{}
		passing(t, observe(o), call, &reply.Response{Code: 201})
		if !slices.Equal(o.log, []string{want, "201"}) {
			t.Errorf("%q, want %q", o.log, want)
		}
		o = &counted{}
		resp, _ := passing(t, observe(o), call, &reply.Response{Code: 200, Stream: func(context.Context, reply.FrameWriter) { o.log = append(o.log, "stream") }})
		if resp.Stream(t.Context(), nil); !slices.Equal(o.log, []string{want, "stream", "200"}) {
			t.Errorf("%q of a stream", o.log)
		}
	}
	// What was sent either way, and for how long others had it wait, is told.
	for _, resp := range []*reply.Response{{Code: 200, Body: []byte("four")}, {Code: 200, Length: 4, Write: func(io.Writer) error { return nil }}} {
		o, call := &counted{}, &api.Call{Request: &api.Request{Method: "PUT", Body: []byte("three")}, Info: api.Info{Verb: "update"}}
		call.Waited(2 * time.Second)
		call.Waited(time.Second)
		passing(t, observe(o), call, resp)
		if want := (api.Outcome{Code: 200, Outside: 3 * time.Second, Received: 5, Sent: 4}); o.last != want {
			t.Errorf("%+v, want %+v", o.last, want)
		}
	}
}

// The end of a request is a line where there are such lines.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	for name, c := range map[string]struct {
		level zerolog.Level
		user  *authn.User
		want  []string
	}{
		"ann":    {zerolog.DebugLevel, ann, []string{`"verb":"list","path":"/api/v1/pods","query":"a=b","user":"ann","agent":"agent","code":201,`, `"request":"7"`}},
		"nobody": {zerolog.DebugLevel, nil, []string{`"user":""`}},
		"quiet":  {zerolog.InfoLevel, ann, nil},
	} {
		out.Reset()
		call := about("list")
		call.Caller.User = c.user
		_, passed := passing(t, log(zerolog.New(&out).Level(c.level)), call, &reply.Response{Code: 201})
		if !passed || (out.Len() > 0) != (c.want != nil) {
			t.Errorf("%s: %s", name, out.String())
		}
		for _, part := range c.want {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s: %s, want %s", name, out.String(), part)
			}
		}
	}
}

// A request that panics is answered, recorded and logged; any other is left alone.
func TestRecovered(t *testing.T) {
	var out bytes.Buffer
	for _, record := range []*api.Audit{nil, {}} {
		call := about("get")
		call.Record = record
		resp := recovered(zerolog.New(&out), failed)(func(context.Context, *api.Call) *reply.Response { panic(strings.Repeat("x", 2000)) })(t.Context(), call)
		if resp.Code != 500 || !strings.Contains(string(resp.Body), "Internal error occurred: this request caused apiserver to panic. Look in the logs for details") {
			t.Errorf("%d %s", resp.Code, resp.Body)
		}
		if record != nil && record.Panic != "APIServer panic'd: "+strings.Repeat("x", 1024) {
			t.Errorf("recorded %q", record.Panic)
		}
	}
	if n := strings.Count(out.String(), "request failed"); n != 2 {
		t.Errorf("logged %d times", n)
	}
	if resp, passed := passing(t, recovered(zerolog.Nop(), failed), about("get"), &reply.Response{Code: 200}); !passed || resp.Code != 200 {
		t.Errorf("what does not panic: %v, %d", passed, resp.Code)
	}
}
