// Package hooks owns `wasmgate webhook`: modules and rules in files, served as conversion
// and admission webhooks to an API server that is somebody else's.
//
// Calls, checks of replies and pools are those of the gateway (gateway/kinds/module/host,
// conversion, admission/webhook); it must not do any of that itself, nor know how bundles
// of certificates get into objects (bundles).
package hooks
