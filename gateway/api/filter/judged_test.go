package filter

import (
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
)

// noRoom refuses what it is told, as there is no room.
type noRoom struct{ kept }

func (n *noRoom) Audit(a *api.Audit) bool {
	n.kept.Audit(a)
	return false
}

// What cannot be recorded is not done; what need not be goes on without a record.
func TestJudged(t *testing.T) {
	for name, c := range map[string]struct {
		keep         api.Keep
		full         bool
		code, stages int
	}{
		"nothing":  {api.Keep{}, true, 200, 0},
		"kept":     {api.Keep{Level: api.KeepMetadata}, false, 200, 1},
		"full":     {api.Keep{Level: api.KeepMetadata}, true, 500, 1},
		"not that": {api.Keep{Level: api.KeepMetadata, Omit: api.Stages(0).With(api.Received)}, true, 200, 0},
	} {
		k, call := &noRoom{kept{Keep: c.keep}}, about("get")
		call.Record = &api.Audit{}
		var to api.Auditor = &k.kept
		if c.full {
			to = k
		}
		resp, passed := passing(t, judged(to), call, &reply.Response{Code: 200})
		if resp.Code != c.code || passed != (c.code == 200) || len(k.all) != c.stages || c.code != 200 && !strings.Contains(string(resp.Body), "failed to store audit event") {
			t.Errorf("%s: %d %s, %d stages", name, resp.Code, resp.Body, len(k.all))
		}
		if kept := call.Record != nil; kept != (c.keep.Level != api.KeepNone && c.code == 200) || kept && !call.Record.IsJudged() {
			t.Errorf("%s: the record is %+v", name, call.Record)
		}
		for _, one := range k.all {
			if one.Stage != api.Received || one.Code != 0 || one.Request.ID != "7" {
				t.Errorf("%s: %+v", name, one)
			}
		}
	}
	if _, passed := passing(t, judged(nil), about("get"), nil); !passed {
		t.Error("without an auditor nothing goes on")
	}
}

// The replies of what lasts begin before they end; by the policies of kube-apiserver that is
// a stage.
func TestWhatLasts(t *testing.T) {
	for name, c := range map[string]struct {
		resource          bool
		verb, subresource string
		want              []api.Stage
	}{
		"a get":       {true, "get", "", []api.Stage{api.Complete}},
		"a watch":     {true, "watch", "", []api.Stage{api.Started, api.Complete}},
		"a log":       {true, "get", "log", []api.Stage{api.Started, api.Complete}},
		"an exec":     {true, "create", "exec", []api.Stage{api.Started, api.Complete}},
		"a status":    {true, "get", "status", []api.Stage{api.Complete}},
		"no resource": {false, "watch", "log", []api.Stage{api.Complete}},
	} {
		k := &kept{}
		call := &api.Call{Request: &api.Request{}, User: ann, Info: api.Info{Resource: c.resource, Verb: c.verb, Subresource: c.subresource},
			Record: &api.Audit{User: ann, Keep: api.Keep{Level: api.KeepMetadata, ByPolicy: true}}}
		ending(k, call, &reply.Response{Code: 200})
		var stages []api.Stage
		for _, one := range k.all {
			stages = append(stages, one.Stage)
		}
		if !slices.Equal(stages, c.want) {
			t.Errorf("%s: %v, want %v", name, stages, c.want)
		}
	}
}
