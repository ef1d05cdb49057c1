package serviceaccount

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/authn"
)

// behind are objects that the cache has as they were until it is told to catch up, which fails
// where there is an error.
type behind struct {
	stored
	now stored
	err error
}

func (b behind) Fresh(context.Context) error {
	for name, text := range b.now {
		b.stored[name] = text
	}
	return b.err
}

// A token counts at once, though what it is bound to was made, or made anew, a moment ago and
// perhaps through another gateway.
func TestATokenOfWhatWasMadeJustNow(t *testing.T) {
	for what, until := range map[string]stored{
		"nothing is there":         {},
		"another account is there": {"serviceaccounts robot": "metadata: {uid: u0}"},
		"another secret is there":  {"serviceaccounts robot": "metadata: {uid: u1}", "secrets s": "metadata: {uid: u3}"},
	} {
		tokens, _ := newTokens(t, ecKey(t))
		bound, err := ask(tokens, `{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"mine","uid":"u2"}}}`)
		if err != nil {
			t.Fatal(err)
		}
		inSecret := signed(t, tokens.Key, nil)
		keep(tokens, inSecret, "")
		now := tokens.Objects.(stored)
		for how, token := range map[string]string{"bound": bound.Status.Token, "in a secret": inSecret} {
			cache := stored{}
			for name, text := range until {
				cache[name] = text
			}
			tokens.Objects = behind{stored: cache, now: now}
			if _, ok, err := tokens.Authenticate(context.Background(), authn.Request{BearerToken: token}); !ok || err != nil {
				t.Errorf("%s, %s: %v %v", what, how, ok, err)
			}
		}
	}
}

// What cannot be read recently enough is no reason to say that a token does not count for good.
func TestWhatCannotBeReadRecentlyIsTold(t *testing.T) {
	tokens, _ := newTokens(t, ecKey(t))
	token := signed(t, tokens.Key, nil)
	tokens.Objects = behind{stored: stored{}, err: errors.New("the store is away")}
	if _, ok, err := tokens.Authenticate(context.Background(), authn.Request{BearerToken: token}); ok || err == nil || !strings.Contains(err.Error(), "the store is away") {
		t.Errorf("%v %v", ok, err)
	}
}
