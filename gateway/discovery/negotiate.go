package discovery

import (
	"github.com/munnerz/goautoneg"
	"k8s.io/apimachinery/pkg/runtime"
)

// format is a way to write a document.
type format struct {
	contentType string
	encode      func(runtime.Object) ([]byte, error)
}

var (
	jsonFormat     = &format{runtime.ContentTypeJSON, encodeJSON}
	yamlFormat     = &format{runtime.ContentTypeYAML, encodeYAML}
	protobufFormat = &format{runtime.ContentTypeProtobuf, encodeProtobuf}

	aggregatedFormats = map[string]*format{
		"v2":      {aggregatedType("v2"), encodeJSON},
		"v2beta1": {aggregatedType("v2beta1"), encodeJSON},
	}
)

const aggregatedGroup, aggregatedKind = "apidiscovery.k8s.io", "APIGroupDiscoveryList"

func aggregatedType(version string) string {
	return "application/json;g=" + aggregatedGroup + ";v=" + version + ";as=" + aggregatedKind
}

// negotiate picks the form that accept likes best, or none.
func (p *page) negotiate(accept string) (*document, *format) {
	if accept == "" {
		return p.plain, jsonFormat
	}
	for _, clause := range goautoneg.ParseAccept(accept) {
		if as, ok := clause.Params["as"]; ok {
			version := clause.Params["v"]
			doc := p.aggregated[version]
			if doc != nil && as == aggregatedKind && clause.Params["g"] == aggregatedGroup && formatOf(clause) == jsonFormat {
				return doc, aggregatedFormats[version]
			}
			continue
		}
		if f := formatOf(clause); f != nil {
			return p.plain, f
		}
	}
	return nil, nil
}

func formatOf(a goautoneg.Accept) *format {
	if a.Type != "application" && (a.Type != "*" || a.SubType != "*") {
		return nil
	}
	switch a.SubType {
	case "json", "*":
		return jsonFormat
	case "yaml":
		return yamlFormat
	case "vnd.kubernetes.protobuf":
		return protobufFormat
	}
	return nil
}
