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

	aggregatedFormats = map[string]map[*format]*format{"v2": aggregated("v2"), "v2beta1": aggregated("v2beta1")}
)

const aggregatedGroup, aggregatedKind = "apidiscovery.k8s.io", "APIGroupDiscoveryList"

// aggregated are the formats of the list of all groups at a version, by those of
// other documents.
func aggregated(version string) map[*format]*format {
	out := map[*format]*format{}
	for _, f := range []*format{jsonFormat, yamlFormat, protobufFormat} {
		out[f] = &format{f.contentType + ";g=" + aggregatedGroup + ";v=" + version + ";as=" + aggregatedKind, f.encode}
	}
	return out
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
			if f := aggregatedFormats[version][formatOf(clause)]; doc != nil && f != nil && as == aggregatedKind && clause.Params["g"] == aggregatedGroup {
				return doc, f
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
