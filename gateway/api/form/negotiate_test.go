package form

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// The choices were compared with kube-apiserver 1.36.3.
func TestNegotiate_MT01_MT02_MT05(t *testing.T) {
	const meta, table = ";g=meta.k8s.io;v=v1;as=PartialObjectMetadata", ";as=Table;v=v1;g=meta.k8s.io"
	for accept, want := range map[string]Form{
		"":                               {media: encoding.JSON},
		"*/*":                            {media: encoding.JSON},
		"application/*":                  {media: encoding.JSON},
		"application/json":               {media: encoding.JSON},
		"application/json, */*":          {media: encoding.JSON},
		"application/json;charset=utf-8": {media: encoding.JSON},
		"APPLICATION/JSON":               {},
		"application/json;stream=watch":  {media: encoding.JSON},
		"application/json;stream=other":  {},
		"application/yaml;stream=watch":  {},
		"application/yaml":               {media: encoding.YAML},
		"application/yaml;stream=watch, application/json;q=0.1": {media: encoding.JSON},
		"application/json;stream=other, application/yaml;q=0.1": {media: encoding.YAML},
		"text/html, application/yaml;q=0.1":                     {media: encoding.YAML},
		"application/json;q=0.5, */*;q=0.1":                     {media: encoding.JSON},
		"*/*, application/yaml":                                 {media: encoding.YAML},
		"application/*, application/yaml":                       {media: encoding.YAML},
		"application/yaml, application/json":                    {media: encoding.YAML},
		"*/*;q=0.8, application/yaml;q=0.7":                     {media: encoding.YAML},
		"application/yaml;q=0.7, */*;q=0.8":                     {media: encoding.JSON},
		"*/yaml, */json, application/yaml":                      {media: encoding.YAML},
		"application/json;sv=v1":                                {media: encoding.JSON},
		"application/json;sv=v2":                                {},
		"/**":                                                   {},
		"garbage/, ;;;, application/yaml":                       {media: encoding.YAML},
		"application/yaml;q=0":                                  {media: encoding.YAML},
		"application/yaml;q=x":                                  {media: encoding.YAML},
		"application/yaml;q=NaN, text/html":                     {media: encoding.YAML},
		"application/json;q=0, application/*":                   {media: encoding.JSON},

		"application/vnd.kubernetes.protobuf, application/json":              {media: encoding.JSON},
		"application/json" + table:                                           {media: encoding.JSON, as: "Table", version: "v1"},
		"application/json;as=Table;v=v1beta1;g=meta.k8s.io":                  {media: encoding.JSON, as: "Table", version: "v1beta1"},
		"application/json" + table + ",application/json":                     {media: encoding.JSON, as: "Table", version: "v1"},
		"application/json;as=Table;v=v2;g=meta.k8s.io, application/json":     {media: encoding.JSON},
		"application/json;as=Table;v=v1;g=example.com, application/yaml":     {media: encoding.YAML},
		"application/json;as=Chart;v=v1;g=meta.k8s.io, application/json":     {media: encoding.JSON},
		"application/json" + meta:                                            {media: encoding.JSON, as: "PartialObjectMetadata", version: "v1"},
		"application/yaml" + meta:                                            {media: encoding.YAML, as: "PartialObjectMetadata", version: "v1"},
		"application/json;q=0.9, application/json" + meta:                    {media: encoding.JSON, as: "PartialObjectMetadata", version: "v1"},
		"application/vnd.kubernetes.protobuf" + meta + ", application/json":  {media: encoding.Protobuf, as: "PartialObjectMetadata", version: "v1"},
		"application/vnd.kubernetes.protobuf" + table + ", application/json": {media: encoding.JSON},
		"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io":   {media: encoding.JSON, as: "PartialObjectMetadataList", version: "v1"},
		strings.Repeat("text/html,", 1000) + "application/json;ext=x,":       {media: encoding.JSON},
	} {
		got, err := Offer{parts: true}.Negotiate(accept)
		if got != want || (err == nil) != (want.media != 0) {
			t.Errorf("%q: %+v %v, want %+v", accept, got, err, want)
		}
	}
}

func TestNegotiate_NothingAcceptable_MT03_MT09_MT10_MT17(t *testing.T) {
	for _, accept := range []string{
		"text/html", "garbage", ",", "application/vnd.kubernetes.protobuf", "application/cbor",
		"application/json;as=Table", "application/json;as=Table;v=v1;g=other",
	} {
		_, err := Offer{parts: true}.Negotiate(accept)
		if !apierrors.IsNotAcceptable(err) {
			t.Errorf("%q: %v", accept, err)
		}
	}
}

func FuzzNegotiate_MT02(f *testing.F) {
	f.Add("application/json;as=Table;v=v1;g=meta.k8s.io, application/yaml;q=0.5, */*;q=NaN")
	f.Fuzz(func(t *testing.T, accept string) {
		got, err := Offer{parts: true}.Negotiate(accept)
		if err != nil {
			if !apierrors.IsNotAcceptable(err) || got != (Form{}) {
				t.Fatalf("%+v %v", got, err)
			}
			return
		}
		if got.media != encoding.JSON && got.media != encoding.YAML && (got.media != encoding.Protobuf || got.as == "" || got.table()) {
			t.Fatalf("media %q", got.media)
		}
		if got.as != "" && got.version != "v1" && (got.version != "v1beta1" || !got.table()) {
			t.Fatalf("%+v", got)
		}
		if again, err := (Offer{parts: true}).Negotiate(accept); err != nil || again != got {
			t.Fatalf("first %+v, then %+v %v", got, again, err)
		}
	})
}
