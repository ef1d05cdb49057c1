package workload

import (
	"fmt"
	"strconv"
	"strings"
)

// ConfigMapNamespace is the namespace of the ConfigMaps, and ConfigMaps where
// they are.
const (
	ConfigMapNamespace = "bench-maps"
	ConfigMaps         = "/api/v1/namespaces/" + ConfigMapNamespace + "/configmaps"
)

// ConfigMap is a ConfigMap of 1 KB. Its text differs from that of others.
func ConfigMap(i int) []byte {
	n := strconv.Itoa(i)
	var data strings.Builder
	for line := 0; data.Len() < 850; line++ {
		fmt.Fprintf(&data, "key-%d-%d=%x;", i, line, (i+1)*(line+7)*2654435761)
	}
	return []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"map-` + n + `","labels":{"app":"app-` + strconv.Itoa(i%50) + `"}},` +
		`"data":{"settings":"` + data.String() + `"}}`)
}
