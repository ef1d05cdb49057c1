package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/wire"
)

// render finishes a reply that is in memory as JSON. Whole objects in it are of
// version, which may be nil where there are none.
func render(code int, f form, version *crd.Version, data []byte) (*Response, error) {
	out, err := f.encode(version, data)
	if err != nil {
		return nil, err
	}
	return &Response{Code: code, ContentType: f.media, Body: out}, nil
}

// encode puts one object, which is JSON, into the client's media type.
func (f form) encode(version *crd.Version, data []byte) ([]byte, error) {
	var out []byte
	var err error
	switch {
	case f.media == mediaYAML:
		out, err = yaml.JSONToYAML(data)
	case f.media == mediaCBOR:
		out, err = toCBOR(data)
	case f.media == mediaProtobuf:
		out, err = envelope(version, data)
	case f.pretty:
		var b bytes.Buffer
		err = json.Indent(&b, data, "", "  ")
		out = b.Bytes()
	default:
		return data, nil
	}
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return out, nil
}

// envelope makes protobuf of an object by way of its Go type. What is stored as
// protobuf takes a shorter way, see [form.messages].
func envelope(version *crd.Version, data []byte) ([]byte, error) {
	kind, _ := object.String(object.Field(data, "kind"))
	apiVersion, _ := object.String(object.Field(data, "apiVersion"))
	message, err := wire.FromJSON(data, typeOf(version, apiVersion, kind))
	if err != nil {
		return nil, err
	}
	return wire.AppendEnvelope(nil, apiVersion, kind, message), nil
}

// typeOf is the Go type of what replies hold besides objects of the request's
// kind, or that of the version.
func typeOf(version *crd.Version, apiVersion, kind string) runtime.Object {
	switch {
	case kind == "Status" && apiVersion == "v1":
		return &metav1.Status{}
	case kind == "Scale" && apiVersion == "autoscaling/v1":
		return &autoscalingv1.Scale{}
	case kind == "PartialObjectMetadata" && strings.HasPrefix(apiVersion, metaGroup):
		return &metav1.PartialObjectMetadata{}
	}
	return version.Typed()
}

// metaGroup begins the apiVersion of what is made of objects.
const metaGroup = "meta.k8s.io/"

// pretty tells that a person reads the reply: it was asked for, or the client
// is one that people use.
func (r *Request) pretty() bool {
	if strings.Contains(r.Query, "pretty") {
		v, _ := parseParams(r.Query).all()
		if asked := v.Get("pretty"); asked != "" {
			on, err := strconv.ParseBool(asked)
			return err == nil && on
		}
	}
	for _, by := range [...]string{"curl", "Wget", "Mozilla/5.0"} {
		if strings.HasPrefix(r.UserAgent, by) {
			return true
		}
	}
	return false
}

// Render puts a reply that is ready into what the client takes: a Status into a
// form that it reads, and what is large compressed.
func (c *Call) Render(resp *Response) {
	if c.Record != nil && resp.Code >= 400 {
		c.Record.Failure = resp.Body
	}
	inForm(c.Request, resp)
	compress(c.Request, resp)
}

// inForm turns a Status into what the client asked for: in JSON, and indented,
// if it accepts nothing that a Status can be.
func inForm(r *Request, resp *Response) {
	if resp.Code < http.StatusBadRequest || resp.ContentType != mediaJSON || resp.Body == nil {
		return
	}
	f, err := offer{cbor: r.cbor, messages: true}.negotiate(r.Accept)
	if err != nil {
		f = form{media: mediaJSON, pretty: true}
	}
	f.pretty = f.pretty || r.pretty()
	if out, err := f.encode(nil, resp.Body); err == nil { // a Status is encodable, and stays JSON if not
		resp.Body, resp.ContentType = out, f.media
	}
}
