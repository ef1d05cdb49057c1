package form

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/munnerz/goautoneg"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/api/dialect"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// Form is what the client wants a reply to look like.
type Form struct {
	media encoding.Media
	// as is "", "Table", "PartialObjectMetadata" or
	// "PartialObjectMetadataList".
	as string
	// version is the version of meta.k8s.io that as is wanted in.
	version string
	// pretty asks for JSON that people read.
	pretty bool
	// unmanaged: managedFields are left out (KEP-5958).
	unmanaged bool
	// count: of a collection it is said how many there are, and nothing of them.
	count bool
	// gzip tells that the client takes compressed replies.
	gzip bool
}

// For is f for a client which takes compressed replies, or not, and where a person may
// read them.
func (f Form) For(pretty, gzip bool) Form {
	f.pretty, f.gzip = f.pretty || pretty, gzip
	return f
}

// Counts reports whether of a collection only the number of its objects is wanted.
func (f Form) Counts() bool { return f.count }

// Streams reports whether there is a watch in the form's media type.
func (f Form) Streams() bool { return f.media.Stream() != "" }

func (f Form) table() bool { return f.as == "Table" }

// shown is the media type of what is no watch.
func (f Form) shown() encoding.Media {
	if f.media == encoding.JSON && f.pretty {
		return encoding.Indented
	}
	return f.media
}

// Encoding is that of the objects of t, as they are kept for this form.
func (f Form) Encoding(t resource.Target) encoding.Encoding {
	in := encoding.At(t.Version.Name)
	in.Unmanaged = f.unmanaged
	if f.partial() {
		in.Form, in.Version = encoding.Metadata, f.version
	}
	if !f.table() {
		in.Media = f.media.Kept()
	}
	return in
}

// Whole reports whether objects are wanted at the version that was asked for, and not
// only their metadata or their number.
func (f Form) Whole() bool { return !f.partial() && !f.count }

// partial reports whether metadata is wanted in place of whole objects.
func (f Form) partial() bool {
	return f.as == "PartialObjectMetadata" || f.as == "PartialObjectMetadataList"
}

// Offer is what a request can be answered with.
type Offer struct {
	// cbor: it is produced.
	cbor bool
	// messages: whole objects have a protobuf form.
	messages bool
	// parts: tables and metadata may be asked for.
	parts bool
	// untabled: no table shows it.
	untabled bool
	// routed: a router looks at the Accept header first.
	routed bool
	// collection: it is about many objects, and may be a watch.
	collection bool
}

// OfferOf is what a request about t can be answered with. cbor: it is produced.
// collection: the request is about many objects, and may be a watch.
func OfferOf(t resource.Target, cbor, collection bool) Offer {
	return Offer{cbor: cbor, messages: dialect.Messages(t), parts: true, routed: dialect.Routed(t), untabled: dialect.Untabled(t), collection: collection}
}

// offered are the types in the order of who has no preference. Not all offer the
// last.
var offered, offeredNames, offeredStreams = func() (all []encoding.Media, names, streams []string) {
	all = []encoding.Media{encoding.JSON, encoding.YAML, encoding.Protobuf, encoding.CBOR}
	for _, m := range all {
		names = append(names, m.Name())
	}
	return all, names, []string{encoding.TypeJSON + ";stream=watch", encoding.Protobuf.Stream(), encoding.CBOR.Stream()}
}()

func (o Offer) offered() []encoding.Media { return most(offered, o.cbor) }

// media are the names of the types offered.
func (o Offer) media() []string { return most(offeredNames, o.cbor) }

// streamed are those that a watch is offered in.
func (o Offer) streamed() []string { return most(offeredStreams, o.cbor) }

// streams are those that a watch of what is asked for is offered in.
func (o Offer) streams() []string {
	if !o.collection {
		return nil
	}
	return o.streamed()
}

// most are all, or all but the last, with no room for more.
func most[T any](of []T, all bool) []T {
	n := len(of)
	if !all {
		n--
	}
	return of[:n:n]
}

// Negotiate finds the first acceptable form (rows MT-01 to MT-03, MT-09, MT-15
// to MT-20), by the library that kube-apiserver asks: of its order of clauses,
// in which weights do not decide everything and nothing is ruled out by a zero,
// one only has to be sure that it is the same. The common headers never reach it.
func (o Offer) Negotiate(accept string) (Form, error) {
	switch accept {
	case "", "*/*", encoding.TypeJSON, "application/json, */*":
		return Form{media: encoding.JSON}, nil
	}
	if o.routed {
		if err := dialect.Unaccepted(accept, o.media(), o.streams()); err != nil {
			return Form{}, err
		}
	}
	for _, c := range goautoneg.ParseAccept(accept) {
		for _, media := range o.offered() {
			if f, ok := o.form(c, media); ok {
				return f, nil
			}
		}
	}
	return Form{}, notAcceptable(o.media())
}

func notAcceptable(offered []string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: fmt.Sprintf("only the following media types are accepted: %s", strings.Join(offered, ", ")),
	}}
}

// Unstreamed is the refusal of a watch in a form that has none.
func (o Offer) Unstreamed() error { return notAcceptable(o.streamed()) }

// mismatched is the refusal of metadata in the form for a list where there is one
// object. It names the Go type of that.
func (f Form) mismatched(t resource.Target) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: fmt.Sprintf("you requested %s, but the requested object is not a list (*%s)", f.as, dialect.GoType(t)),
	}}
}

// form is what a clause asks for, if it can be had as media.
func (o Offer) form(c goautoneg.Accept, media encoding.Media) (Form, bool) {
	kind, subkind, _ := strings.Cut(media.Name(), "/")
	anything := c.Type == "*" && c.SubType == "*"
	if !anything && (c.Type != kind || c.SubType != "*" && c.SubType != subkind) {
		return Form{}, false
	}
	if s := c.Params["stream"]; s != "" && (s != "watch" || media == encoding.YAML) {
		return Form{}, false
	}
	if v := c.Params["sv"]; v != "" && (v != "v1" || !o.parts) {
		return Form{}, false
	}
	f := Form{media: media, as: c.Params["as"], version: c.Params["v"], pretty: c.Params["pretty"] == "1", unmanaged: drops(c.Params["drop"]), count: c.Params["count"] == "only"}
	group := c.Params["g"]
	if f.as == "" && f.version == "" && group == "" {
		return f, media != encoding.Protobuf || o.messages
	}
	if !o.parts || group != "meta.k8s.io" || f.version != "v1" && f.version != "v1beta1" {
		return Form{}, false
	}
	switch f.as {
	case "Table":
		return f, !o.untabled && (media == encoding.JSON || media == encoding.YAML)
	case "PartialObjectMetadata", "PartialObjectMetadataList":
		return f, true
	}
	return Form{}, false
}

// drops reports whether managedFields are among the fields to be left out, which are
// separated by "+". Others are known to later releases, and ignored.
func drops(parameter string) bool {
	return slices.Contains(strings.Split(parameter, "+"), "metadata.managedFields")
}

// NotAcceptable is the reply when a document has no form that the client
// accepts.
func NotAcceptable() *reply.Response { return reply.Error(notAcceptable(Offer{}.media())) }
