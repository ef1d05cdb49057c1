package aggregator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// trip is a server that nobody has to dial.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// behindStory makes the servers of a leader, of which the one of v1.g answers from then on.
func behindStory(t *testing.T, o Objects, from time.Time) *Servers {
	s := New(Config{Objects: o, Certificate: certificate, Log: zerolog.Nop()})
	err := s.Load(context.Background())
	if errors.Is(err, controllertest.ErrAway) {
		err = s.Load(context.Background()) // as whoever starts it again does
	}
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}}
	transport.RegisterProtocol("https", trip(func(r *http.Request) (*http.Response, error) {
		if time.Now().Before(from) {
			return nil, errors.New("nobody listens")
		}
		return &http.Response{StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(strings.NewReader("{}"))}, nil
	}))
	(*s.now.Load())[versionOf("v1.g")].transport = transport
	return s
}

// storied has the APIService v1.g, whose service is elsewhere.
func storied(t *testing.T) *controllertest.Objects {
	var served []*crd.Definition
	for kind, d := range map[string]*crd.Definition{"APIService": {Group: apiServices.Group, Plural: apiServices.Resource}, "Service": {Plural: services.Resource, Namespaced: true}, "EndpointSlice": {Group: parts.Group, Plural: parts.Resource, Namespaced: true}} {
		d.Kind, d.StorageVersion, d.KeyPrefix = kind, "v1", d.Plural
		served = append(served, d)
	}
	o := controllertest.New(served...)
	controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("work"))
	controllertest.MustCreate(t, o, services, map[string]any{"metadata": map[string]any{"namespace": "work", "name": "ext"}, "spec": map[string]any{"type": "ExternalName", "externalName": "elsewhere"}})
	controllertest.MustCreate(t, o, apiServices, map[string]any{"metadata": map[string]any{"name": "v1.g"}, "spec": map[string]any{
		"group": "g", "version": "v1", "service": map[string]any{"namespace": "work", "name": "ext"}}})
	return o
}

// A server that answers after a while comes to be available, whatever happens to who asks.
func TestAvailabilityWhateverHappens(t *testing.T) {
	var from time.Time
	var m *metrics.Metrics
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			from = time.Now().Add(time.Minute)
			return storied(t)
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			m = metrics.New()
			return []controller.Controller{NewAvailability(behindStory(t, s, from), m.Aggregator)}
		},
		Main: controller.Key{GroupResource: apiServices, Name: "v1.g"},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			counted(t, "in the end", m, 0, false)
			status, reason, message := controllertest.Condition(controllertest.MustGet(t, o, apiServices, "", "v1.g"), "Available")
			return fmt.Sprintf("%s %s: %s", status, reason, message)
		},
		Want: "True Passed: all checks passed",
	}.Tell(t)
}

// A gateway that leads no more does not say for ever what was so then.
func TestWhoLeadsNoMoreCountsNothing(t *testing.T) {
	o, m := storied(t), metrics.New()
	stop := controllertest.Start(t, o, NewAvailability(behindStory(t, o, time.Now().Add(time.Hour)), m.Aggregator))
	controllertest.Eventually(t, o, "it is told", func() bool {
		text, err := m.Render()
		return err == nil && strings.Contains(string(text), `aggregator_unavailable_apiservice{name="v1.g"} 1`)
	})
	stop()
	counted(t, "the lead is lost", m, -1, false)
}
