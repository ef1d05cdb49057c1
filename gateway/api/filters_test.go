package api_test

import (
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/filter"
)

func init() {
	api.NewHandler = func(s api.Setup) *api.Handler {
		return filter.New(filter.Config{
			Config: s.Config, Authenticator: s.Authenticator, Anonymous: func(string) bool { return true }, Auditor: s.Auditor, Log: s.Log, Bounds: s.Bounds, Flow: s.Flow, MaxBodyBytes: s.MaxBodyBytes,
		})
	}
}
