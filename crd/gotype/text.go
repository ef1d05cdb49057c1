package gotype

import (
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1"
)

// text tells that a text is what the type writes after reading it.
func (t *Type) text(s string) bool {
	switch t.kind {
	case aString, intOrString:
		return utf8.ValidString(s)
	case aTime:
		return isTime(s, time.RFC3339)
	case aMicroTime:
		return isTime(s, v1.RFC3339Micro)
	case aQuantity:
		return isQuantity(s)
	case bytes64:
		return isBase64(s)
	}
	return false
}

// isTime tells that s is a time in UTC as layout writes it. Neither form of an object
// can tell year 1, nor protobuf the begin of 1970, from no time at all.
func isTime(s, layout string) bool {
	if len(s) > len("2006-01-02T15:04:05.000000Z") || !strings.HasSuffix(s, "Z") {
		return false
	}
	t, err := time.Parse(layout, s)
	if err != nil || t.IsZero() || t.Equal(time.Unix(0, 0)) {
		return false
	}
	var buffer [len("2006-01-02T15:04:05.000000Z")]byte
	return string(t.AppendFormat(buffer[:0], layout)) == s
}

// scales are the suffixes of amounts that are looked at, and what their number is not a
// multiple of where it could not be shorter with another one. Above them a number of nine
// digits may be more than an amount can be.
var scales = map[string]int64{
	"": 1000, "m": 1000, "k": 1000, "M": 1000, "G": 1000,
	"Ki": 1024, "Mi": 1024, "Gi": 1024,
}

// isQuantity tells of the plain ones that they are as short as they can be. What is
// less than a thousandth is rounded up, so that it is not one of them.
func isQuantity(s string) bool {
	if s == "0" {
		return true
	}
	n, i := int64(0), 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		n = n*10 + int64(s[i]-'0')
		if n == 0 || i > 8 {
			return false
		}
	}
	scale := scales[s[i:]]
	return n > 0 && scale > 0 && n%scale != 0
}

// isBase64 tells that s is some bytes in base64, as it is written: with padding, and
// zeros for the bits that are left over. No bytes are not written everywhere.
func isBase64(s string) bool {
	if s == "" || len(s)%4 != 0 {
		return false
	}
	text := strings.TrimSuffix(strings.TrimSuffix(s, "="), "=")
	for i := range len(text) {
		if digit64[text[i]] == 0 {
			return false
		}
	}
	last := digit64[text[len(text)-1]] - 1
	switch len(s) - len(text) {
	case 1:
		return last&0b11 == 0
	case 2:
		return last&0b1111 == 0
	}
	return true
}

// digit64 has the value of each digit, and one more; 0 is for what is none.
var digit64 = func() (of [256]byte) {
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		of[c] = byte(i + 1)
	}
	return of
}()
