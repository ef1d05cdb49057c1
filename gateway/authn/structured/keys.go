package structured

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/apis/apiserver"
)

const (
	// keysEvery is how often an issuer is asked for its keys at most, and retryEvery how
	// often one that did not tell them.
	keysEvery  = 5 * time.Second
	retryEvery = time.Second
)

// keys asks an issuer for its keys now and then. The library asks for each token whose key
// it does not know, and anybody can send such tokens, as fast as they like. A key that is new
// is found all the same, as late as keysEvery.
type keys struct {
	by       http.RoundTripper
	document string // where the issuer says where its keys are

	mu sync.Mutex
	at string // where its keys are; guarded by mu

	asking sync.Mutex
	last   *answered // nil for none; guarded by asking
	until  time.Time // last counts; guarded by asking
}

// answered is what a server answered, redirects followed.
type answered struct {
	resp *http.Response
	body []byte
	err  error
}

// seldom asks for the keys of an issuer now and then, and for all else whenever it is asked.
func seldom(i apiserver.Issuer, by http.RoundTripper) *keys {
	k := &keys{by: by, document: i.DiscoveryURL}
	if k.document == "" {
		k.document = strings.TrimSuffix(i.URL, "/") + "/.well-known/openid-configuration"
	}
	k.document = spelled(k.document)
	return k
}

// spelled is a URL as requests have it.
func spelled(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text // which nobody can ask for
	}
	return u.String()
}

// RoundTrip implements [http.RoundTripper].
func (k *keys) RoundTrip(r *http.Request) (*http.Response, error) {
	at := r.URL.String()
	if at == k.document { // which is asked for until it answers, and then no more
		a := k.ask(r)
		k.learn(a)
		return a.to(r)
	}
	k.mu.Lock()
	ofKeys := at == k.at
	k.mu.Unlock()
	if !ofKeys {
		return k.by.RoundTrip(r)
	}
	k.asking.Lock()
	defer k.asking.Unlock() // who waits for another's answer gets that
	if k.last == nil || !time.Now().Before(k.until) {
		k.last = k.ask(r)
		lasts := retryEvery
		if k.last.err == nil && k.last.resp.StatusCode == http.StatusOK {
			lasts = keysEvery
		}
		k.until = time.Now().Add(lasts)
	}
	return k.last.to(r)
}

// learn reads where the keys are.
func (k *keys) learn(a *answered) {
	var says struct {
		KeysAt string `json:"jwks_uri"`
	}
	if a.err != nil || a.resp.StatusCode != http.StatusOK || json.Unmarshal(a.body, &says) != nil {
		return // the library says so
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at = spelled(says.KeysAt)
}

// ask asks, and goes where a redirect leads, as the library's client would: it would not
// know what that leads to.
func (k *keys) ask(r *http.Request) *answered {
	resp, err := (&http.Client{Transport: k.by}).Do(r.Clone(r.Context()))
	if err != nil {
		if inner := (*url.Error)(nil); errors.As(err, &inner) {
			err = inner.Err // the client that this is part of names the URL
		}
		return &answered{err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return &answered{resp: resp, body: body, err: err}
}

// to is the answer as one to a request.
func (a *answered) to(r *http.Request) (*http.Response, error) {
	if a.err != nil {
		return nil, a.err
	}
	resp := *a.resp
	resp.Request, resp.Header, resp.Body = r, a.resp.Header.Clone(), io.NopCloser(bytes.NewReader(a.body))
	return &resp, nil
}
