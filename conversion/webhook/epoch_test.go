package webhook

import (
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestEpochIsThatOfTheConfiguration(t *testing.T) {
	config := func(u string, versions ...string) *apiextensionsv1.WebhookConversion {
		return &apiextensionsv1.WebhookConversion{ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: &u}, ConversionReviewVersions: versions}
	}
	a := open(t, Config{Conversion: config("https://a/b", "v1")}).Epoch()
	if a != open(t, Config{Conversion: config("https://a/b", "v1"), Timeout: time.Second}).Epoch() {
		t.Error("equal configurations have different epochs")
	}
	if a == open(t, Config{Conversion: config("https://a/c", "v1")}).Epoch() || a == open(t, Config{Conversion: config("https://a/b", "v1beta1")}).Epoch() || a == 0 {
		t.Error("different configurations have the same epoch")
	}
}

func ref[T any](v T) *T { return &v }

func TestWhatADefinitionNamesIsCalled_CRD21_CRD22(t *testing.T) {
	c := &apiextensionsv1.WebhookClientConfig{URL: ref("https://a/b"), CABundle: []byte("x")}
	got := server(Config{Conversion: &apiextensionsv1.WebhookConversion{ClientConfig: c}, Timeout: time.Second, MaxReplyBytes: 7})
	if got.URL != "https://a/b" || got.Service != nil || string(got.CABundle) != "x" || got.Timeout != time.Second || got.MaxReplyBytes != 7 {
		t.Errorf("got %+v", got)
	}
	c.Service = &apiextensionsv1.ServiceReference{Namespace: "ns", Name: "svc"}
	if got := server(Config{Conversion: &apiextensionsv1.WebhookConversion{ClientConfig: c}}); got.Service == nil || got.Service.Name != "svc" || got.Service.Namespace != "ns" || got.Service.Path != "" || got.Service.Port != 0 {
		t.Errorf("got %+v", got.Service)
	}
	c.Service.Path, c.Service.Port = ref("/p"), ref(int32(8443))
	if got := server(Config{Conversion: &apiextensionsv1.WebhookConversion{ClientConfig: c}}); got.Service.Path != "/p" || got.Service.Port != 8443 {
		t.Errorf("got %+v", got.Service)
	}
	for _, none := range []*apiextensionsv1.WebhookConversion{nil, {}, {ClientConfig: &apiextensionsv1.WebhookClientConfig{}}} {
		if _, err := New(Config{Conversion: none}); err == nil || err.Error() != "webhook configuration must have either service or URL" {
			t.Errorf("%+v: %v", none, err)
		}
	}
}
