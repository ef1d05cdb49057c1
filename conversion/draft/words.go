package draft

import (
	"slices"
	"strings"
	"unicode"

	"github.com/wasmgate/wasmgate/conversion/draft/spelling"
)

// maxWords is how much of a description is read, and maxTokens of a name.
const (
	maxWords  = 60
	maxTokens = 12
)

// tokens are the words of a name: maxSurgeCount is max, surge, count.
func tokens(name string) (all []string) {
	var word []rune
	end := func() {
		if len(word) > 0 && len(all) < maxTokens {
			all = append(all, stem(strings.ToLower(string(word))))
		}
		word = nil
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]) && unicode.IsUpper(runes[i-1])):
			end()
		}
		word = append(word, r)
	}
	end()
	return all
}

// short are words that names write in several ways.
var short = map[string]string{
	"ref": "reference", "cfg": "config", "configuration": "config", "num": "count", "number": "count", "addr": "address",
	"msg": "message", "ns": "namespace", "env": "environment", "sec": "second", "repo": "repository", "img": "image",
	"ip": "address", "cidr": "cidr", "cert": "certificate", "auth": "authentication", "max": "maximum", "min": "minimum", "id": "identifier",
}

// stem is a word without its ending of many.
func stem(word string) string {
	switch {
	case len(word) > 4 && strings.HasSuffix(word, "ies"):
		word = word[:len(word)-3] + "y"
	case len(word) > 4 && (strings.HasSuffix(word, "sses") || strings.HasSuffix(word, "xes")):
		word = word[:len(word)-2]
	case len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "us"):
		word = word[:len(word)-1]
	}
	if long, ok := short[word]; ok {
		return long
	}
	return word
}

var idle = strings.Fields("a an and any are as at be by can defaults field for from has have if in is it its may must not object of on one optional or set should specifies than that the these this to used value when which will with")

// words are those of a description that say something.
func words(description string) (all []string) {
	for _, word := range strings.FieldsFunc(strings.ToLower(description), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if word = stem(word); len(word) > 1 && !slices.Contains(idle, word) && !slices.Contains(all, word) {
			if all = append(all, word); len(all) == maxWords {
				break
			}
		}
	}
	return all
}

// overlap is how much of two sets is in both, from 0 to 1.
func overlap(a, b []string) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	both := 0
	for _, x := range a {
		if slices.Contains(b, x) {
			both++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// similar is how much the words of two names say the same, from 0 to 0.95, which is the
// same words.
func similar(x, y []string) float64 {
	if slices.Equal(x, y) || strings.Join(x, "") == strings.Join(y, "") {
		return 0.95
	}
	score := 0.85 * overlap(x, y)
	within, outer := x, y
	if len(x) > len(y) {
		within, outer = y, x
	}
	if len(within) > 0 && !slices.ContainsFunc(within, func(t string) bool { return !slices.Contains(outer, t) }) {
		score = max(score, 0.6+0.05*float64(len(within)))
	}
	a, b := strings.Join(x, ""), strings.Join(y, "")
	if most := max(len(a), len(b)); most > 3 && most < 64 {
		score = max(score, 0.9*(1-float64(spelling.Distance(a, b))/float64(most))-0.1)
	}
	return min(score, 0.94)
}
