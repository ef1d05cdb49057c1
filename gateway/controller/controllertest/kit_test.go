package controllertest_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
)

func TestTheFake(t *testing.T) {
	controllertest.RunEngine(t, func(t *testing.T) controllertest.World {
		o := controllertest.WithCronTabs(t, 0)
		return controllertest.World{Engine: o, Stored: o.Stored(), Feed: func(gr schema.GroupResource) (controllertest.Feeding, error) { return o.Feed(gr), nil }}
	})
}

func TestTheEngine(t *testing.T) {
	controllertest.RunEngine(t, func(t *testing.T) controllertest.World {
		e := realengine.Start(t)
		controllertest.DefineCronTabs(t, e)
		return controllertest.World{Engine: e, Stored: e.Stored(), Feed: func(gr schema.GroupResource) (controllertest.Feeding, error) { return e.Feed(gr) }}
	})
}
