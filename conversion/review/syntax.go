package review

import (
	"fmt"
	"strings"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// SyntaxError says that a reply cannot be read. Its text may quote some of the
// reply.
type SyntaxError struct {
	// Cause says what is wrong.
	Cause error
	// Near are the bytes about the place where the reply is no JSON, and At where
	// that is, from 0; Near is empty where it is JSON of another form.
	Near string
	At   int
}

// around is how many bytes of a reply are quoted before its fault, and after.
const around = 20

// syntaxError looks for the place of what err says of body.
func syntaxError(body []byte, err error) *SyntaxError {
	at, wrong := rawjson.Skip(body, 0)
	if wrong == nil {
		return &SyntaxError{Cause: err}
	}
	at = min(at, len(body))
	near := body[max(0, at-around):min(len(body), at+around)]
	return &SyntaxError{Cause: err, Near: strings.ToValidUTF8(string(near), "\uFFFD"), At: at}
}

// Error begins as kube-apiserver's message does.
func (e *SyntaxError) Error() string {
	if e.Near == "" {
		return e.LogText()
	}
	return fmt.Sprintf("%s at byte %d, near %q", e.LogText(), e.At, e.Near)
}

// LogText quotes nothing of the reply.
func (e *SyntaxError) LogText() string {
	return fmt.Sprintf("couldn't get version/kind; json parse error: %v", e.Cause)
}

// Unwrap returns the cause.
func (e *SyntaxError) Unwrap() error { return e.Cause }
