package builtin

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// Containers that run together share the host's ports, and one of init containers, which
// run one after the other, has each once. Only who comes later is told.
func TestPortsOfTheHost(t *testing.T) {
	const a, five = `{"name":"a","image":"i","ports":[{"containerPort":1,"hostPort":5}]}`, `"ports":[{"containerPort":2,"hostPort":5`
	defs := definitions(t)
	for spec, want := range map[string]string{
		`"containers":[` + a + `,{"name":"b","image":"i",` + five + `}]}]`:                                                     "spec.containers[1].ports[0].hostPort",
		`"containers":[` + a + `,{"name":"b","image":"i",` + five + `,"protocol":"UDP"}]}]`:                                    "",
		`"containers":[` + a + `,{"name":"b","image":"i",` + five + `,"hostIP":"1.2.3.4"}]}]`:                                  "",
		`"containers":[{"name":"a","image":"i",` + five + `},{"containerPort":3,"hostPort":5}]}]`:                              "spec.containers[0].ports[1].hostPort",
		`"containers":[` + a + `],"initContainers":[{"name":"b","image":"i",` + five + `}]}]`:                                  "",
		`"containers":[` + a + `],"initContainers":[{"name":"b","image":"i",` + five + `},{"containerPort":3,"hostPort":5}]}]`: "spec.initContainers[0].ports[1].hostPort",
	} {
		for kind, object := range map[string]string{
			"pod":         `{"metadata":{"name":"x"},"spec":{` + spec + `}}`,
			"podtemplate": `{"metadata":{"name":"x"},"template":{"spec":{` + spec + `}}}`,
		} {
			refused := want
			if kind == "podtemplate" && want != "" {
				refused = "template." + want
			}
			said := crdtest.Message(crdtest.Creation(t, defs[kind], object))
			if at, _, _ := strings.Cut(said, ": Duplicate value: 5"); at != refused {
				t.Errorf("%s: %q, want %q", object, said, refused)
			}
		}
	}
}
