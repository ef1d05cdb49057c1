package review

import (
	"errors"
	"fmt"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// Request is what a ConversionReview asks for.
type Request struct {
	// Version is that of the review.
	Version string
	UID     string
	// Desired is an apiVersion.
	Desired string
	// Objects are parts of what was read.
	Objects [][]byte
}

// ParseRequest reads what [AppendRequest] writes, or whoever asks webhooks. What the
// objects hold is not looked at, except that all of body is JSON.
func ParseRequest(body []byte) (Request, error) {
	var r Request
	var apiVersion, kind string
	asked := false
	end, err := eachMember(body, 0, func(w *rawjson.Walk) error {
		switch key := w.Key(); {
		case rawjson.Equal(key, "apiVersion"):
			return readString(w, "apiVersion", &apiVersion)
		case rawjson.Equal(key, "kind"):
			return readString(w, "kind", &kind)
		case rawjson.Equal(key, "request"):
			asked = !skipNull(body, w)
			if !asked {
				return w.Err()
			}
			return r.parse(body, w)
		}
		w.Value()
		return nil
	})
	if err == nil && rawjson.Space(body, end) != len(body) {
		err = fmt.Errorf("invalid character %q after top-level value", body[rawjson.Space(body, end)])
	}
	if err != nil {
		return Request{}, syntaxError(body, err)
	}
	switch apiVersion {
	case Group + "/" + V1:
		r.Version = V1
	case Group + "/" + V1beta1:
		r.Version = V1beta1
	}
	switch {
	case r.Version == "" || kind != "ConversionReview":
		return Request{}, fmt.Errorf("expected a ConversionReview of %s/%s, got %s, Kind=%s", Group, V1, excerpt.Of(apiVersion, MaxMessage), excerpt.Of(kind, MaxMessage))
	case !asked:
		return Request{}, errors.New("the ConversionReview has no request")
	case r.Desired == "":
		return Request{}, errors.New("request.desiredAPIVersion is empty")
	}
	return r, nil
}

func (r *Request) parse(body []byte, w *rawjson.Walk) error {
	end, err := eachMember(body, w.At(), func(w *rawjson.Walk) error {
		switch key := w.Key(); {
		case rawjson.Equal(key, "uid"):
			return readString(w, "request.uid", &r.UID)
		case rawjson.Equal(key, "desiredAPIVersion"):
			return readString(w, "request.desiredAPIVersion", &r.Desired)
		case rawjson.Equal(key, "objects"):
			return readObjects(body, w, "request.objects", &r.Objects)
		}
		w.Value()
		return nil
	})
	w.Resume(end)
	return err
}

// AppendConverted appends the reply to a request that succeeded.
func AppendConverted(dst []byte, r Request, converted [][]byte) []byte {
	dst = append(appendResponse(dst, r), `"result":{"status":"Success"},"convertedObjects":[`...)
	for i, o := range converted {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, o...)
	}
	return append(dst, "]}}"...)
}

// AppendFailed appends the reply to a request that failed.
func AppendFailed(dst []byte, r Request, message string) []byte {
	dst = append(appendResponse(dst, r), `"result":{"status":"Failure","message":`...)
	return append(rawjson.AppendString(dst, message), "},\"convertedObjects\":[]}}"...)
}

func appendResponse(dst []byte, r Request) []byte {
	dst = append(dst, `{"apiVersion":"apiextensions.k8s.io/`...)
	dst = append(append(dst, r.Version...), `","kind":"ConversionReview","response":{"uid":`...)
	return append(rawjson.AppendString(dst, r.UID), ',')
}
