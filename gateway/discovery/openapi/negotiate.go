package openapi

import (
	"strings"

	"github.com/munnerz/goautoneg"
)

// The media types of replies.
const (
	mediaJSON  = "application/json"
	v2Protobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	v3Protobuf = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
)

// negotiate returns JSON or protobuf, whichever accept likes best, or "" for
// neither. Clients may also ask for protobuf by its former name; where there is none,
// it has no name.
func negotiate(accept, protobuf string) string {
	if accept == "" {
		return mediaJSON
	}
	former := strings.Replace(protobuf, ".v1.0+", "@v1.0+", 1)
	for _, clause := range goautoneg.ParseAccept(accept) {
		switch {
		case accepts(clause, mediaJSON):
			return mediaJSON
		case accepts(clause, protobuf), accepts(clause, former):
			return protobuf
		}
	}
	return ""
}

// accepts tells that a clause is about a media type. kube-apiserver's documents
// take a star for either half of one.
func accepts(c goautoneg.Accept, media string) bool {
	kind, subkind, _ := strings.Cut(media, "/")
	return (c.Type == kind || c.Type == "*") && (c.SubType == subkind || c.SubType == "*")
}
