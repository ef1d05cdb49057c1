package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	listvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// params are the parameters of a request, parsed once.
type params struct {
	// values are those that can be read.
	values url.Values
	// err tells why others cannot; nil when all can.
	err error
}

func parseParams(raw string) params {
	if raw == "" {
		return params{}
	}
	v, err := url.ParseQuery(raw)
	if err != nil {
		err = apierrors.NewBadRequest(err.Error())
	}
	return params{v, err}
}

// all are the parameters of a request that must not be misread.
func (p params) all() (url.Values, error) { return p.values, p.err }

// watch reads the watch parameter as kube-apiserver does: anything but "0"
// and "false" asks for one.
func (p params) watch() bool {
	if p.err != nil || !p.values.Has("watch") {
		return false
	}
	v := p.values.Get("watch")
	return v != "0" && !strings.EqualFold(v, "false")
}

// timeout is how long a request other than a watch may take: what the client
// allows, and never more than most.
func (p params) timeout(most time.Duration) (time.Duration, error) {
	v := p.values.Get("timeout")
	if v == "" {
		return most, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("invalid timeout specified in the request URL - %v", err))
	}
	if d <= 0 {
		return most, nil
	}
	return min(d, most), nil
}

// listOptions reads and validates the options of list, watch and
// deletecollection. streamed: a watch may begin with what exists.
func listOptions(v url.Values, watch, streamed bool) (*internalversion.ListOptions, error) {
	o := &internalversion.ListOptions{}
	if v != nil {
		if err := internalscheme.ParameterCodec.DecodeParameters(v, metav1.SchemeGroupVersion, o); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	}
	o.Watch = watch
	if errs := listvalidation.ValidateListOptions(o, streamed); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", errs)
	}
	o.Limit = max(o.Limit, 0)
	return o, nil
}

// writeOptions reads the options of create, update and patch. applies tells a
// patch that is an apply. What is wrong is told in kube-apiserver's order.
func writeOptions(v url.Values, kind string, applies bool, w *warnings) (resource.WriteOptions, error) {
	o := resource.WriteOptions{Warn: w.add}
	if len(v) == 0 && !applies {
		return o, nil
	}
	path := field.NewPath("")
	var errs field.ErrorList
	var err *field.Error
	o.FieldValidation = v.Get("fieldValidation")
	o.Caller.FieldManager = v.Get("fieldManager")
	if applies && o.Caller.FieldManager == "" {
		errs = append(errs, field.Required(field.NewPath("fieldManager"), "is required for apply patch"))
	}
	if force, ok := v["force"]; ok && kind == "PatchOptions" {
		if o.Caller.Force = slices.Contains(force, "true"); !applies {
			errs = append(errs, field.Forbidden(field.NewPath("force"), "may not be specified for non-apply patch"))
		}
	}
	errs = append(errs, validation.ValidateFieldManager(o.Caller.FieldManager, field.NewPath("fieldManager"))...)
	if o.DryRun, err = dryRun(v["dryRun"]); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, fieldValidation(path, o.FieldValidation)...)
	if len(errs) > 0 {
		return o, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
	}
	return o, nil
}

func fieldValidation(_ *field.Path, level string) field.ErrorList {
	switch level {
	case "", "Ignore", "Warn", "Strict":
		return nil
	}
	return field.ErrorList{field.NotSupported(field.NewPath("fieldValidation"), level, []string{"", "Ignore", "Strict", "Warn"})}
}

// dryRun reads the parameter: absent or empty is a real request.
func dryRun(values []string) (bool, *field.Error) {
	on := false
	for _, v := range values {
		switch v {
		case "":
		case metav1.DryRunAll:
			on = true
		default:
			return false, unknownDryRun(values)
		}
	}
	return on, nil
}

func unknownDryRun(values []string) *field.Error {
	return field.NotSupported(field.NewPath("dryRun"), values, []string{metav1.DryRunAll})
}

// deleteOptions reads the options of a deletion from its body, or from the
// query when there is none.
func deleteOptions(r *Request, v url.Values) (*metav1.DeleteOptions, resource.WriteOptions, error) {
	o := &metav1.DeleteOptions{}
	var w resource.WriteOptions
	var sent []string // in the body, where an empty value is not the bare parameter
	if len(r.Body) > 0 {
		if err := bodyDeleteOptions(r, o); err != nil {
			return nil, w, err
		}
		sent = o.DryRun
	} else if err := internalscheme.ParameterCodec.DecodeParameters(v, metav1.SchemeGroupVersion, o); err != nil {
		return nil, w, apierrors.NewBadRequest(err.Error())
	}
	dry, ferr := dryRun(o.DryRun)
	if slices.Contains(sent, "") {
		ferr = unknownDryRun(sent)
	}
	if ferr != nil {
		return nil, w, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", field.ErrorList{ferr})
	}
	if w.DryRun = dry; !dry {
		o.DryRun = nil
	}
	return o, w, nil
}

func bodyDeleteOptions(r *Request, o *metav1.DeleteOptions) error {
	if media, err := r.bodyMedia(); err == nil && media == mediaProtobuf {
		return protobufDeleteOptions(r.Body, o)
	}
	body, err := jsonBody(r)
	if err != nil {
		return err
	}
	return decodeDeleteOptions(body, o)
}

func decodeDeleteOptions(body []byte, o *metav1.DeleteOptions) error {
	var said struct { // as kube-apiserver has it, which quotes the type
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("couldn't get version/kind; json parse error: %v", err))
	}
	if said.Kind != "" && said.Kind != "DeleteOptions" {
		return apierrors.NewBadRequest(fmt.Sprintf("no kind %q is registered for version %q", said.Kind, said.APIVersion))
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, o); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// objectBody is the request's body, an object of the target's kind, as JSON.
func objectBody(r *Request, t resource.Target) ([]byte, error) {
	media, err := r.bodyMedia()
	if err == nil && media == mediaYAML {
		out, err := yamlToJSON(r.Body)
		if err != nil {
			return nil, t.Unrecognized(err, r.Body)
		}
		return out, nil
	}
	if err != nil || media != mediaProtobuf || !t.Version.Native() {
		return jsonBody(r)
	}
	if err := beginsAsProtobuf(r.Body); err != nil {
		return nil, t.Unrecognized(err, r.Body)
	}
	if scaling(t) {
		return scaleBody(r.Body)
	}
	e, err := wire.Open(r.Body)
	if err != nil {
		return nil, t.Unrecognized(err, r.Body)
	}
	if e.Kind != t.Resource.Def.Kind {
		return nil, t.OfOtherKind(e.Kind, e.APIVersion)
	}
	tree, err := t.Resource.Def.Codec.Decode(r.Body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return object.Encode(tree)
}

var (
	protobufPrefix = []byte(wire.Magic)
	errNoProtobuf  = errors.New("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
	errNoData      = errors.New("empty data")
	errNoMessage   = errors.New("empty body")
)

// beginsAsProtobuf says what is wrong with the beginning of a body.
func beginsAsProtobuf(body []byte) error {
	switch {
	case len(body) == 0:
		return errNoData
	case !bytes.HasPrefix(body, protobufPrefix):
		return errNoProtobuf
	case len(body) == len(protobufPrefix):
		return errNoMessage
	}
	return nil
}

// scaleBody reads a Scale in protobuf, as JSON.
func scaleBody(body []byte) ([]byte, error) {
	e, err := wire.Open(body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	var s autoscalingv1.Scale
	if err := s.Unmarshal(e.Raw); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	s.APIVersion, s.Kind = e.APIVersion, e.Kind
	return json.Marshal(&s)
}

// protobufDeleteOptions reads options in the form that typed clients send.
func protobufDeleteOptions(body []byte, o *metav1.DeleteOptions) error {
	var u runtime.Unknown
	if !bytes.HasPrefix(body, protobufPrefix) {
		return apierrors.NewBadRequest(errNoProtobuf.Error())
	}
	if err := u.Unmarshal(body[len(protobufPrefix):]); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if err := o.Unmarshal(u.Raw); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// questionBody is the request's body as a [Question] gets it.
func questionBody(r *Request) (contentType string, body []byte, err error) {
	if media, err := r.bodyMedia(); err == nil && media == mediaProtobuf {
		return media, r.Body, nil
	}
	body, err = jsonBody(r)
	return mediaJSON, body, err
}

// jsonBody is the request's body as JSON.
func jsonBody(r *Request) ([]byte, error) {
	media, err := r.bodyMedia()
	if err != nil {
		return nil, err
	}
	switch media {
	case mediaJSON:
		return r.Body, nil
	case mediaYAML:
		out, err := yamlToJSON(r.Body)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return out, nil
	case mediaCBOR:
		if !r.cbor {
			break
		}
		out, err := fromCBOR(r.Body)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return out, nil
	}
	return nil, unsupportedMedia(r.cbor)
}
