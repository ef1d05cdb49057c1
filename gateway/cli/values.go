package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// valueError says what is wrong with the value of a flag, and what it may be, in the
// words of people: the library's are those of the functions that it calls.
func valueError(err error) error {
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return err
	}
	value, of := wrong.GetValue(), wrong.GetFlag().Value.Type()
	outside := errors.Is(err, strconv.ErrRange)
	switch {
	case of == "intSlice":
		return fmt.Errorf("%q is no list of whole numbers with commas between them", value)
	case of == "bool":
		return fmt.Errorf("%q is neither true nor false", value)
	case of == "duration":
		return fmt.Errorf("%q is no time with its unit, such as 300ms, 30s, 5m or 1h30m", value)
	case strings.HasPrefix(of, "int") && outside:
		return fmt.Errorf("%s is not between %d and %d", value, int64(math.MinInt64), int64(math.MaxInt64))
	case strings.HasPrefix(of, "int"):
		return fmt.Errorf("%q is no whole number", value)
	case strings.HasPrefix(of, "uint") && outside:
		return fmt.Errorf("%s is more than %d", value, uint64(math.MaxUint64))
	case strings.HasPrefix(of, "uint"):
		return fmt.Errorf("%q is no whole number from 0 on", value)
	case strings.HasPrefix(of, "float"):
		return fmt.Errorf("%q is no number that can be used, such as 10 or 0.5", value)
	case of == "stringToString":
		return fmt.Errorf("%q is not of the form NAME=VALUE", value)
	case of == "stringSlice":
		return fmt.Errorf("%q is no list of values with commas between them: a quotation mark in it has no other", value)
	}
	return fmt.Errorf("%q: %w", value, wrong.Unwrap())
}
