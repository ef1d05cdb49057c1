package extend_test

import (
	"encoding/json"
	"testing"

	"github.com/wasmgate/wasmgate/crd/builtin/extend"
)

// What `kubectl get hpa` shows as targets: of each kind of metric what is measured, if
// anything is, and what is wanted.
func TestTargetsOfAutoscalers(t *testing.T) {
	for name, tc := range map[string]struct{ metrics, current, want string }{
		"none":               {``, ``, "<none>"},
		"utilization":        {`{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}`, `{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":30}}}`, "cpu: 30%/80%"},
		"resource":           {`{"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"1Gi"}}}`, `{"type":"Resource","resource":{"name":"memory","current":{"averageValue":"512Mi"}}}`, "memory: 512Mi/1Gi"},
		"container":          {`{"type":"ContainerResource","containerResource":{"name":"cpu","container":"c","target":{"type":"Utilization","averageUtilization":80}}}`, `{"type":"ContainerResource","containerResource":{"name":"cpu","container":"c","current":{"averageUtilization":30}}}`, "cpu: 30%/80%"},
		"pods":               {`{"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"10"}}}`, `{"type":"Pods","pods":{"metric":{"name":"m"},"current":{"averageValue":"3"}}}`, "3/10"},
		"external":           {`{"type":"External","external":{"metric":{"name":"m"},"target":{"type":"Value","value":"10"}}}`, `{"type":"External","external":{"metric":{"name":"m"},"current":{"value":"3"}}}`, "3/10"},
		"external, average":  {`{"type":"External","external":{"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"10"}}}`, `{"type":"External","external":{"metric":{"name":"m"},"current":{"averageValue":"3"}}}`, "3/10 (avg)"},
		"object":             {`{"type":"Object","object":{"metric":{"name":"m"},"describedObject":{"kind":"K","name":"n"},"target":{"type":"Value","value":"10"}}}`, `{"type":"Object","object":{"metric":{"name":"m"},"describedObject":{"kind":"K","name":"n"},"current":{"value":"3"}}}`, "3/10"},
		"object, average":    {`{"type":"Object","object":{"metric":{"name":"m"},"describedObject":{"kind":"K","name":"n"},"target":{"type":"AverageValue","averageValue":"10"}}}`, `{"type":"Object","object":{"metric":{"name":"m"},"describedObject":{"kind":"K","name":"n"},"current":{"averageValue":"3"}}}`, "3/10 (avg)"},
		"of a kind to come":  {`{"type":"Other"}`, ``, "<unknown type>"},
		"nothing yet":        {`{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}},{"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"10"}}}`, ``, "cpu: <unknown>/80%, <unknown>/10"},
		"more than is shown": {`{"type":"Other"},{"type":"Other"},{"type":"Other"}`, ``, "<unknown type>, <unknown type> + 1 more..."},
	} {
		var obj map[string]any
		if err := json.Unmarshal([]byte(`{"spec":{"metrics":[`+tc.metrics+`]},"status":{"currentMetrics":[`+tc.current+`]}}`), &obj); err != nil {
			t.Fatal(err)
		}
		if got := extend.Cell("autoscalerTargets")(obj); got != tc.want {
			t.Errorf("%s: %v, want %s", name, got, tc.want)
		}
	}
}
