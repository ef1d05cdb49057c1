package schema

import (
	_ "embed"
	"sync"

	"sigs.k8s.io/yaml"
)

//go:embed merged.yaml
var mergedText []byte

// merged says how values are merged, by struct ([Name]) and by field of one. A test
// reads the file, and compares what comes of it with the schemas that client-go has,
// for all kinds that are served.
var merged = sync.OnceValues(func() (how map[string]string, err error) {
	err = yaml.UnmarshalStrict(mergedText, &how)
	return how, err
})

// mergedAs is how values of a struct, or of a field of one, are merged; "" where
// nothing is said.
func mergedAs(name string) string {
	how, _ := merged()
	return how[name]
}
