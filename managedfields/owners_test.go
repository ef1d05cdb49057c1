package managedfields_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/managedfields"
)

// Thousands of appliers of one object, which a client can make up, are asked
// for what they own without copying it thousands of times.
func TestManyAppliersAreAskedInTime_SSA13(t *testing.T) {
	const n = 20_000
	def := builtIn(t, "ConfigMap")
	entry := func(manager, field string) string {
		return fmt.Sprintf(`{"manager":%q,"operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:%s":{}}}}`, manager, field)
	}
	fields, managed := []string{`"gone":"x"`}, []string{entry("w", "gone")}
	for i := range n {
		fields = append(fields, fmt.Sprintf(`"f%05d":"x"`, i))
		managed = append(managed, entry(fmt.Sprint("m", i), fmt.Sprintf("f%05d", i)))
	}
	c := managedfields.Change{
		Version: "v1", Manager: "w", Time: base, LiveManaged: []byte("[" + strings.Join(managed, ",") + "]"),
		Live: body(t, def, "v1", `{"metadata":{"uid":"u"},"data":{`+strings.Join(fields, ",")+`}}`),
		New:  body(t, def, "v1", `{"data":{"f00000":"x"}}`),
	}
	start := managedfields.ProcessorTime()
	out, err := managedfields.NewKind(def).Apply(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if took := managedfields.ProcessorTime() - start; took > time.Minute {
		t.Errorf("it took %v", took)
	}
	if data := out.Tree["data"].(map[string]any); len(data) != n || data["gone"] != nil {
		t.Errorf("%d fields are left", len(data))
	}
}
