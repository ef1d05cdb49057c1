package api

import (
	"cmp"
	"fmt"
	"math"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Media types that are produced.
const (
	mediaJSON = "application/json"
	mediaYAML = "application/yaml"
)

// form is what the client wants a reply to look like.
type form struct {
	media string
	// as is "", "Table", "PartialObjectMetadata" or
	// "PartialObjectMetadataList".
	as string
	// version is the version of meta.k8s.io that as is wanted in.
	version string
}

// full tells that whole objects are wanted.
func (f form) full() bool { return f.as == "" }

func (f form) table() bool { return f.as == "Table" }

// contentType is the reply's Content-Type.
func (f form) contentType() string { return f.media }

// clause is one part of an Accept header.
type clause struct {
	media  string
	params map[string]string
	q      float64
}

// negotiate finds the first acceptable form (rows MT-01 to MT-03, MT-15 to
// MT-20). The common headers never reach the parser.
func negotiate(accept string) (form, error) {
	switch accept {
	case "", "*/*", mediaJSON, "application/json, */*":
		return form{media: mediaJSON}, nil
	}
	for _, c := range clauses(accept) {
		if f, ok := c.form(); ok {
			return f, nil
		}
	}
	return form{}, notAcceptable()
}

func notAcceptable() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: fmt.Sprintf("only the following media types are accepted: %s", strings.Join([]string{mediaJSON, mediaYAML}, ", ")),
	}}
}

// maxClauses bounds how much of an Accept header is looked at.
const maxClauses = 32

func clauses(accept string) []clause {
	var out []clause
	for part := range strings.SplitSeq(accept, ",") {
		if len(out) == maxClauses {
			break
		}
		media, params, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil {
			continue
		}
		c := clause{media: media, params: params, q: 1}
		if s, ok := params["q"]; ok {
			if c.q, err = strconv.ParseFloat(s, 64); err != nil || math.IsNaN(c.q) {
				c.q = 1
			}
		}
		if c.q > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b clause) int {
		return cmp.Or(cmp.Compare(b.q, a.q), cmp.Compare(a.wildcards(), b.wildcards()))
	})
	return out
}

// wildcards counts what a clause leaves open: of two with the same weight the
// one that says more comes first.
func (c clause) wildcards() int { return strings.Count(c.media, "*") }

func (c clause) form() (form, bool) {
	f := form{as: c.params["as"]}
	switch c.media {
	case mediaJSON, "*/*", "application/*":
		f.media = mediaJSON
	case mediaYAML:
		f.media = mediaYAML
	default:
		return f, false
	}
	switch f.as {
	case "":
		return f, true
	case "Table", "PartialObjectMetadata", "PartialObjectMetadataList":
		f.version = c.params["v"]
		return f, c.params["g"] == "meta.k8s.io" && (f.version == "v1" || f.version == "v1beta1" && f.table())
	}
	return f, false
}

// bodyMedia reads the media type of a request body. A missing one is JSON.
func bodyMedia(contentType string) (string, error) {
	switch contentType {
	case "", mediaJSON:
		return mediaJSON, nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return "", unsupportedMedia(contentType)
	}
	return media, nil
}

func unsupportedMedia(contentType string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: fmt.Sprintf("the body of the request was in an unknown format - accepted media types include: %s, %s", mediaJSON, mediaYAML),
	}}
}
