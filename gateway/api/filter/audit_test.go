package filter

import (
	"context"
	"slices"
	"testing"

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
