package serviceaccount

import (
	"fmt"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// How long a token lasts, in seconds: unless the request says, at least, at most.
const (
	lasts      = 3600
	leastLasts = 600
	mostLasts  = 1 << 32
)

const (
	// projected is the lifetime, in seconds, that the tokens have which pods get
	// without asking for them. Nobody else asks for just that.
	projected = 3607
	// extended is how long such a token is believed instead: a year.
	extended = 365 * 24 * 3600
)

// lasts writes into the claims when a token ends. It shortens what is asked for to
// the longest that there is, and says so.
func (t *Tokens) lasts(c *claims, spec *authenticationv1.TokenRequestSpec, o resource.WriteOptions) {
	asked, most := *spec.ExpirationSeconds, int64(t.MaxExpiration/time.Second)
	if most > 0 && asked > most {
		if o.Warn != nil {
			o.Warn(fmt.Sprintf("requested expiration of %d seconds shortened to %d seconds", asked, most))
		}
		spec.ExpirationSeconds, asked = &most, most
	}
	from := c.IssuedAt.Time
	if t.ExtendExpiration && c.About.Pod != nil && asked == projected && !slices.ContainsFunc(spec.Audiences, func(a string) bool { return !slices.Contains(t.Audiences, a) }) {
		c.About.WarnAfter = jwt.NewNumericDate(from.Add(seconds(asked)))
		asked = extended
	}
	c.ExpiresAt = jwt.NewNumericDate(from.Add(seconds(asked)))
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }
