package metrics

// TokenUse is what a token of a service account turned out to be when it was shown.
type TokenUse int

// The uses, by what is counted of them: a legacy token says for whom it is nowhere, and is
// kept in a Secret that somebody made, or that was made for the account; either may have
// been declared invalid. A stale token is one that its holder should have replaced.
const (
	LegacyToken TokenUse = iota
	ManualToken
	GeneratedToken
	InvalidToken
	StaleToken
	ValidToken
	tokenUses
)

// Tokens are metrics about tokens of service accounts, by kube-apiserver's names.
type Tokens struct {
	uses                  [tokenUses]Counter
	overflowed, unwritten Counter
}

func newTokens(m *Metrics) *Tokens {
	t := &Tokens{}
	for use, c := range [tokenUses]struct{ name, help string }{
		LegacyToken:    {"legacy_tokens_total", "Tokens without an audience that were shown, believed or not."},
		ManualToken:    {"legacy_manual_token_uses_total", "Uses of tokens in Secrets that somebody made."},
		GeneratedToken: {"legacy_auto_token_uses_total", "Uses of tokens in Secrets that were made for the account."},
		InvalidToken:   {"invalid_legacy_auto_token_uses_total", "Uses of tokens in Secrets that were declared invalid."},
		StaleToken:     {"stale_tokens_total", "Uses of tokens that should have been replaced."},
		ValidToken:     {"valid_tokens_total", "Uses of tokens that need not be replaced yet, of those that say when."},
	} {
		t.uses[use] = m.counters("serviceaccount_"+c.name, c.help).WithLabelValues()
	}
	missed := m.counters("wasmgate_legacy_token_uses_unrecorded_total", "Uses of tokens in Secrets whose day is not on the Secret, by reason.", "reason")
	t.overflowed, t.unwritten = missed.WithLabelValues("queue-full"), missed.WithLabelValues("write-failed")
	return t
}

// Used counts a use. None is counted where there are no metrics.
func (t *Tokens) Used(use TokenUse) {
	if t != nil {
		t.uses[use].Add(1)
	}
}

// Unrecorded counts a use whose day could not be put on the Secret: as too many others
// waited, or as the write failed.
func (t *Tokens) Unrecorded(full bool) {
	switch {
	case t == nil:
	case full:
		t.overflowed.Add(1)
	default:
		t.unwritten.Add(1)
	}
}
