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

	"github.com/wasmgate/wasmgate/crd/wire"
)

// Media types that are produced.
const (
	mediaJSON     = "application/json"
	mediaYAML     = "application/yaml"
	mediaProtobuf = wire.MediaType
)

// form is what the client wants a reply to look like.
type form struct {
	media string
	// as is "", "Table", "PartialObjectMetadata" or
	// "PartialObjectMetadataList".
	as string
	// version is the version of meta.k8s.io that as is wanted in.
	version string
	// pretty asks for JSON that people read.
	pretty bool
	// gzip tells that the client takes compressed replies.
	gzip bool
}

// full tells that whole objects are wanted.
func (f form) full() bool { return f.as == "" }

func (f form) table() bool { return f.as == "Table" }

// streamed is the Content-Type of a watch.
func (f form) streamed() string {
	switch f.media {
	case mediaProtobuf:
		return wire.StreamMediaType
	case mediaCBOR:
		return mediaCBORSequence
	}
	return f.media
}

// offer is what a request can be answered with.
type offer struct {
	// cbor: it is produced.
	cbor bool
	// messages: whole objects have a protobuf form.
	messages bool
	// parts: tables and metadata may be asked for.
	parts bool
	// native words refusals as for the kinds of Kubernetes itself.
	native bool
	// collection: it is about many objects, and may be a watch.
	collection bool
}

// media are the types offered, the first of them to who has no preference.
func (o offer) media() []string {
	all := []string{mediaJSON, mediaYAML, mediaProtobuf}
	if o.cbor {
		all = append(all, mediaCBOR)
	}
	return all
}

// streamed are those that a watch is offered in.
func (o offer) streamed() []string {
	all := []string{mediaJSON + ";stream=watch", wire.StreamMediaType}
	if o.cbor {
		all = append(all, mediaCBORSequence)
	}
	return all
}

// clause is one part of an Accept header.
type clause struct {
	media  string
	params map[string]string
	q      float64
}

// negotiate finds the first acceptable form (rows MT-01 to MT-03, MT-09, MT-15
// to MT-20). The common headers never reach the parser.
func (o offer) negotiate(accept string) (form, error) {
	switch accept {
	case "", "*/*", mediaJSON, "application/json, */*":
		return form{media: mediaJSON}, nil
	}
	all := clauses(accept)
	for _, c := range all {
		for _, media := range o.media() {
			if f, ok := c.form(o, media); ok {
				return f, nil
			}
		}
	}
	if o.native && !slices.ContainsFunc(all, o.known) {
		return form{}, unknownMedia(o)
	}
	return form{}, notAcceptable(o.media())
}

func notAcceptable(offered []string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: fmt.Sprintf("only the following media types are accepted: %s", strings.Join(offered, ", ")),
	}}
}

// known tells that a clause names a type that is offered, in whatever form.
func (o offer) known(c clause) bool {
	return c.media == "*/*" || slices.Contains(o.media(), c.media)
}

// unknownMedia is what kube-apiserver's own kinds say to who names no type at
// all that there is.
func unknownMedia(o offer) error {
	offered := o.media()
	if o.collection {
		offered = append(offered, o.streamed()...)
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: "406: Not Acceptable\n\nAvailable representations: " + strings.Join(offered, ", "),
		Details: &metav1.StatusDetails{},
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

// form is what a clause asks for, if it can be had as media.
func (c clause) form(o offer, media string) (form, bool) {
	if c.media != media && c.media != "*/*" && c.media != "application/*" {
		return form{}, false
	}
	if s := c.params["stream"]; s != "" && (s != "watch" || media == mediaYAML) {
		return form{}, false
	}
	f := form{media: media, as: c.params["as"], version: c.params["v"], pretty: c.params["pretty"] == "1"}
	group := c.params["g"]
	if f.as == "" && f.version == "" && group == "" {
		return f, media != mediaProtobuf || o.messages
	}
	if !o.parts || group != "meta.k8s.io" || f.version != "v1" && f.version != "v1beta1" {
		return form{}, false
	}
	switch f.as {
	case "Table":
		return f, media == mediaJSON || media == mediaYAML
	case "PartialObjectMetadata", "PartialObjectMetadataList":
		return f, true
	}
	return form{}, false
}

// bodyMedia reads the media type of the body. A missing one is JSON.
func (r *Request) bodyMedia() (string, error) {
	switch r.ContentType {
	case "", mediaJSON:
		return mediaJSON, nil
	}
	media, _, err := mime.ParseMediaType(r.ContentType)
	if err != nil {
		return "", unsupportedMedia(r.cbor)
	}
	return media, nil
}

func unsupportedMedia(cbor bool) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: fmt.Sprintf("the body of the request was in an unknown format - accepted media types include: %s", strings.Join(offer{cbor: cbor}.media(), ", ")),
	}}
}
