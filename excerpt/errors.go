package excerpt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// mostErrors is how many errors of many are told, and mostText after how many bytes
	// no further one is.
	mostErrors = 100
	mostText   = 16 << 10
)

// Errors is the error that others are together, nil where there are none but nils: in the
// words of Kubernetes' aggregates, and of very many the first ones and how many more there
// are. The library puts all of them together, in a time that is quadratic in their text.
// [errors.Is] finds those that are told.
func Errors[E error](errs []E) error {
	all := &several{}
	size := 0
	for _, err := range errs {
		switch {
		case any(err) == nil:
		case len(all.told) == mostErrors || size >= mostText:
			all.more++
		default:
			size += len(err.Error())
			all.told = append(all.told, err)
		}
	}
	if all.told == nil {
		return nil
	}
	return all
}

// several are errors told as one.
type several struct {
	told []error
	more int
}

// Error tells what is said twice once.
func (s *several) Error() string {
	var texts []string
	for _, err := range s.told {
		if text := err.Error(); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	text := texts[0]
	if len(texts) > 1 {
		text = "[" + strings.Join(texts, ", ") + "]"
	}
	if s.more > 0 {
		text += fmt.Sprintf(" and %d more", s.more)
	}
	return text
}

// Is finds the errors that are told. There is no Unwrap, as whoever put these together
// again would not tell how many more there are.
func (s *several) Is(target error) bool {
	return slices.ContainsFunc(s.told, func(err error) bool { return errors.Is(err, target) })
}
