package sdk

import (
	"bytes"
	"errors"
	"strings"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// HandleConversion answers one ConversionReview: what a module does with every
// request, and all that an HTTPS conversion webhook has to do with the body of
// one. Conversions that fail give a review whose result is Failed. The reply
// is a fresh slice.
func HandleConversion(request []byte) []byte {
	var h handler
	return h.appendReply(make([]byte, 0, len(request)+256), request)
}

// handler answers reviews, one at a time. It keeps what is the same for the
// next one.
type handler struct {
	// conversions are those to the versions that were asked for so far, at
	// most maxConversions.
	conversions []*conversion
}

// maxConversions is how many conversions a handler remembers: the versions of
// some kinds.
const maxConversions = 32

// to is the conversion to a version, which is a JSON string.
func (h *handler) to(desired []byte) (*conversion, error) {
	for _, c := range h.conversions {
		if bytes.Equal(c.raw, desired) {
			return c, nil
		}
	}
	version, _ := rawjson.String(desired)
	if version == "" {
		return nil, errors.New("the request has no desiredAPIVersion")
	}
	if len(h.conversions) == maxConversions {
		h.conversions = h.conversions[:0]
	}
	c := newConversion(version)
	c.raw = bytes.Clone(desired)
	h.conversions = append(h.conversions, c)
	return c, nil
}

// Apply converts one object to a version, for tests. apiVersion is
// "group/version".
func Apply(object []byte, apiVersion string) ([]byte, error) {
	end, err := rawjson.Skip(object, 0)
	if err != nil || rawjson.Space(object, end) != len(object) {
		return nil, errors.New("not a JSON object")
	}
	out, _, err := newConversion(apiVersion).appendConverted(nil, object, 0)
	return out, err
}

// envelope is what is read of a review before the objects.
type envelope struct {
	apiVersion []byte
	uid        []byte
	desired    []byte // a JSON string; nil until it was found
	// objectsAt is where the objects are, when they came before the version;
	// 0 when they did not.
	objectsAt int
}

var (
	reviewV1 = []byte(`"apiextensions.k8s.io/v1"`)
	noUID    = []byte(`""`)
)

// appendReply converts objects in the same pass in which it finds them, when
// the desired version comes before them, as it does.
func (h *handler) appendReply(dst, request []byte) []byte {
	start := len(dst)
	e := envelope{apiVersion: reviewV1, uid: noUID}
	dst = append(dst, `{"kind":"ConversionReview","response":{"convertedObjects":[`...)
	dst, err := e.read(h, dst, request)
	if err == nil && e.objectsAt != 0 {
		dst, _, err = h.appendObjects(dst, request, e.objectsAt, e.desired)
	}
	if err != nil {
		dst = append(dst[:start], `{"kind":"ConversionReview","response":{"result":{"status":"Failed","message":`...)
		dst = rawjson.AppendString(dst, err.Error())
		dst = append(dst, '}')
	} else {
		dst = append(dst, `],"result":{"status":"Success"}`...)
	}
	dst = append(append(dst, `,"uid":`...), e.uid...)
	dst = append(append(dst, `},"apiVersion":`...), e.apiVersion...)
	return append(dst, '}')
}

var errReview = errors.New("the request is not a ConversionReview")

func (e *envelope) read(h *handler, dst, request []byte) ([]byte, error) {
	w, err := rawjson.Open(request, 0, true)
	if err != nil {
		return dst, errReview
	}
	for w.Next() {
		switch string(w.Key()) {
		case "apiVersion":
			e.apiVersion = w.Value()
		case "request":
			end := 0
			if dst, end, err = e.readRequest(h, dst, request, w.At()); err != nil {
				return dst, err
			}
			w.Resume(end)
		default:
			w.Value()
		}
	}
	if w.Err() != nil {
		return dst, errReview
	}
	return dst, nil
}

func (e *envelope) readRequest(h *handler, dst, request []byte, at int) ([]byte, int, error) {
	w, err := rawjson.Open(request, at, true)
	if err != nil {
		return dst, at, errReview
	}
	// The uid is found even after a failed conversion, since the reply needs
	// it.
	var failed error
	for w.Next() {
		switch string(w.Key()) {
		case "uid":
			e.uid = w.Value()
		case "desiredAPIVersion":
			e.desired = w.Value()
		case "objects":
			end := 0
			if e.desired == nil {
				e.objectsAt = w.At()
				w.Value()
			} else if dst, end, failed = h.appendObjects(dst, request, w.At(), e.desired); failed != nil {
				w.Value()
			} else {
				w.Resume(end)
			}
		default:
			w.Value()
		}
	}
	if failed == nil && w.Err() != nil {
		failed = errReview
	}
	return dst, w.End(), failed
}

// appendObjects converts the array of objects at a position.
func (h *handler) appendObjects(dst, request []byte, at int, desired []byte) ([]byte, int, error) {
	c, err := h.to(desired)
	if err != nil {
		return dst, at, err
	}
	list, err := rawjson.Open(request, at, true)
	if err != nil || list.IsObject() {
		return dst, at, errReview
	}
	for first := true; list.Next(); first = false {
		if !first {
			dst = append(dst, ',')
		}
		end := 0
		if dst, end, err = c.appendConverted(dst, request, list.At()); err != nil {
			return dst, at, err
		}
		list.Resume(end)
	}
	if list.Err() != nil {
		return dst, at, errReview
	}
	return dst, list.End(), nil
}

// conversion is what the objects that are converted to one version have in
// common.
type conversion struct {
	raw            []byte // desired as a JSON string
	desired        string
	group, version string
	object         Object // reused, with the memory of its fields
	// The route of the object before, which is nearly always the next one's.
	// kind and from are raw.
	kind, from []byte
	route      []hop
}

func newConversion(desired string) *conversion {
	c := &conversion{desired: desired}
	c.group, c.version = splitVersion(desired)
	return c
}

// hop is a step with the apiVersion that it leads to, as JSON.
type hop struct {
	fn         Func
	apiVersion []byte
}

// appendConverted converts the object at a position and returns where it ends.
func (c *conversion) appendConverted(dst, text []byte, at int) ([]byte, int, error) {
	w, err := rawjson.Open(text, at, true)
	if err != nil || !w.IsObject() {
		return dst, at, errors.New("an element of objects is not an object")
	}
	o := &c.object
	o.reset()
	if !o.root.fill(&w, o) {
		return dst, at, errReview
	}
	o.root.raw = text[at:w.End()]
	if err := c.convert(o); err != nil {
		return dst, at, errors.New(describe(o) + ": " + err.Error())
	}
	return o.root.append(dst), w.End(), nil
}

func (c *conversion) convert(o *Object) error {
	from, kind := o.At("apiVersion").Raw(), o.At("kind").Raw()
	if c.route == nil || !bytes.Equal(from, c.from) || !bytes.Equal(kind, c.kind) {
		if o.APIVersion() == c.desired {
			return nil
		}
		if err := c.findRoute(o); err != nil {
			return err
		}
		c.from, c.kind = append(c.from[:0], from...), append(c.kind[:0], kind...)
	}
	for _, h := range c.route {
		if err := h.fn(o); err != nil {
			return err
		}
		if err := o.At("apiVersion").SetRaw(h.apiVersion); err != nil {
			return err
		}
	}
	return nil
}

func (c *conversion) findRoute(o *Object) error {
	c.route = nil
	group, version := splitVersion(o.APIVersion())
	if group != c.group {
		return errors.New("cannot convert from group " + group + " to group " + c.group)
	}
	for _, s := range kindFor(o.Kind()).route(version, c.version) {
		next := s.to
		if c.group != "" {
			next = c.group + "/" + s.to
		}
		c.route = append(c.route, hop{s.fn, rawjson.AppendString(nil, next)})
	}
	if c.route == nil {
		return errors.New("this module has no conversion from " + version + " to " + c.version)
	}
	return nil
}

func splitVersion(apiVersion string) (group, version string) {
	if group, version, ok := strings.Cut(apiVersion, "/"); ok {
		return group, version
	}
	return "", apiVersion
}

// describe names an object in a message: CronTab default/my-crontab.
func describe(o *Object) string {
	name := o.Name()
	if ns := o.Namespace(); ns != "" {
		name = ns + "/" + name
	}
	return o.Kind() + " " + name
}
