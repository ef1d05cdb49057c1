package filter

import (
	"context"
	"slices"
	"testing"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
)

// kept is who keeps all records, as much of them as it says.
type kept struct {
	api.Keep
	all []*api.Audit
}

func (k *kept) Judge(*api.Info, *authn.User) api.Keep { return k.Keep }

func (k *kept) Audit(a *api.Audit) bool {
	k.all = append(k.all, a)
	return true
}

// What is refused before it is known who asks is kept once: without a policy when it is
// complete, and with one, as kube-apiserver does, when its reply starts. The reply is kept
// where bodies are.
func TestWhatIsRefusedEarlyIsKept(t *testing.T) {
	for _, tc := range []struct {
		keep    api.Keep
		want    []api.Stage
		replied bool
	}{
		{api.Keep{}, nil, false},
		{api.Keep{ByPolicy: true}, nil, false},
		{api.Keep{Level: api.KeepMetadata}, []api.Stage{api.Complete}, false},
		{api.Keep{Level: api.KeepMetadata, ByPolicy: true}, []api.Stage{api.Started}, false},
		{api.Keep{Level: api.KeepResponse, ByPolicy: true}, []api.Stage{api.Started}, true},
	} {
		k := &kept{Keep: tc.keep}
		c := &api.Call{Request: &api.Request{Authorization: "Bearer secret"}}
		c.Memory = c
		resp := audit(k)(func(context.Context, *api.Call) *reply.Response {
			c.Record.Status = []byte("{}")
			return &reply.Response{Code: 401}
		})(t.Context(), c)
		var stages []api.Stage
		for _, one := range k.all {
			stages = append(stages, one.Stage)
			if r := one.Request; r.Authorization != "" || r.Memory != nil {
				t.Errorf("%+v: what is sent is kept: %+v", tc.keep, r)
			}
			if one.Code != 401 || (one.Replied != nil) != tc.replied {
				t.Errorf("%+v: %+v", tc.keep, one)
			}
		}
		if resp.Code != 401 || !slices.Equal(stages, tc.want) {
			t.Errorf("%+v: kept at %v, want %v", tc.keep, stages, tc.want)
		}
	}
}

// What is kept when a request comes belongs to who keeps it: what is said of its credentials
// is there, and nothing that is said later, which may be while it is written down.
func TestWhatIsKeptOfTheBeginningStays(t *testing.T) {
	k := &kept{Keep: api.Keep{Level: api.KeepMetadata, ByPolicy: true}}
	serve := func(context.Context, *api.Call) *reply.Response { return &reply.Response{Code: 200} }
	for _, f := range []api.Filter{authorize(answers{allowed: true}), judged(k), identify(noting(true), nil, zerolog.Nop()), audit(k)} {
		serve = f(serve)
	}
	call := about("get")
	call.Authorization = "Bearer x"
	serve(t.Context(), call)
	if len(k.all) != 2 || k.all[0].Stage != api.Received || k.all[1].Stage != api.Complete {
		t.Fatalf("kept: %+v", k.all)
	}
	const token, decision = "token", "authorization.k8s.io/decision"
	first, last := k.all[0].Annotations, k.all[1].Annotations
	if len(first) != 1 || first[token] != "old" || last[token] != "old" || last[decision] != "allow" {
		t.Errorf("at first %v, at last %v", first, last)
	}
}
