package accounting

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/metrics"
)

func TestStoreRequestsByResource(t *testing.T) {
	m := metrics.New()
	s := NewStore(m, func(key string) schema.GroupResource {
		return schema.GroupResource{Group: "example.com", Resource: strings.Split(key, "/")[3]}
	})
	for range 3 {
		s.Observe("get", "/registry/example.com/crontabs/ns/a", 2*time.Millisecond)
	}
	s.Observe("create", "/registry/example.com/crontabs/ns/a", time.Second)
	text, err := m.Render()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`etcd_request_duration_seconds_count{group="example.com",operation="get",resource="crontabs"} 3`,
		`etcd_request_duration_seconds_sum{group="example.com",operation="get",resource="crontabs"} 0.006`,
		`etcd_request_duration_seconds_count{group="example.com",operation="create",resource="crontabs"} 1`,
	} {
		if !strings.Contains(string(text), line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
}
