package crd

import "net/url"

// ModuleScheme is the scheme of the URL of a webhook that is a module of this
// gateway: wasm://NAME.
const ModuleScheme = "wasm"

// ModuleName returns the name of the module that a webhook's URL refers to; ok
// is false for every other URL. Whether the URL is a valid one is decided when
// it is written.
func ModuleName(webhookURL string) (name string, ok bool) {
	u, err := url.Parse(webhookURL)
	if err != nil || u.Scheme != ModuleScheme {
		return "", false
	}
	return u.Host, true
}
