package webhook

import (
	"errors"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Unreachable tells that a failed call says nothing of what the webhook converts: there was
// no connection, or whoever answered cannot do so now.
func Unreachable(err error) bool {
	var sent *url.Error
	var said *apierrors.StatusError
	switch {
	case errors.As(err, &sent):
		return true
	case errors.As(err, &said):
		switch said.ErrStatus.Code {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
	}
	return false
}
