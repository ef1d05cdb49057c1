package discovery

import (
	"bytes"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"sigs.k8s.io/yaml"
)

// document is made once, and encoded once in every format that is asked for.
type document struct {
	make   func() runtime.Object
	report func(error)

	mu    sync.Mutex
	forms map[*format]*encoding
}

type encoding struct {
	body []byte
	etag string
}

func newDocument(make func() runtime.Object, report func(error)) *document {
	return &document{make: make, report: report, forms: map[*format]*encoding{}}
}

func (d *document) encoded(f *format) *encoding {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.forms[f]; e != nil {
		return e
	}
	e := &encoding{}
	body, err := f.encode(d.make())
	if err == nil {
		e.body, e.etag = body, fmt.Sprintf(`"%X"`, sha512.Sum512(body))
	} else {
		d.report(fmt.Errorf("a discovery document as %s: %w", f.contentType, err))
	}
	d.forms[f] = e
	return e
}

func encodeJSON(obj runtime.Object) ([]byte, error) {
	b, err := json.Marshal(obj)
	return append(b, '\n'), err
}

func encodeYAML(obj runtime.Object) ([]byte, error) { return yaml.Marshal(obj) }

var protobufSerializer = protobuf.NewSerializer(nil, nil)

func encodeProtobuf(obj runtime.Object) ([]byte, error) {
	var buf bytes.Buffer
	err := protobufSerializer.Encode(obj, &buf)
	return buf.Bytes(), err
}
