package excerpt

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
)

func TestRedacted(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                 "",
		"no URL, but mail@example.com":                     "no URL, but mail@example.com",
		"https://host":                                     "https://host",
		"https://host:6443/a/b: refused, by x@y":           "https://host:6443/a/b: refused, by x@y",
		"https://[::1]:6443/a@b":                           "https://[::1]:6443/a@b",
		"https://[::1]/a@b":                                "https://[::1]/a@b",
		"https://user:secret@host/a":                       "https://...@host/a",
		"https://secret@host":                              "https://...@host",
		"https://a@secret@host":                            "https://...@host",
		"https://host/a?token=secret and more":             "https://host/a?... and more",
		"https://host/?timeout=3s":                         "https://host/?timeout=3s",
		"https://host/?timeout=3s and more":                "https://host/?timeout=3s and more",
		"https://host/?timeout=secret":                     "https://host/?...",
		"https://host/?timeout=3s&token=secret":            "https://host/?...",
		"://user:secret@host":                              "://...@host",
		"https://@host":                                    "https://...@host",
		"https://@host:x/a@b":                              "https://...@host:x/a@b",
		"https://?secret":                                  "https://?...",
		"https://host/a#secret":                            "https://host/a#...",
		`Post "https://secret:***@host:1/a?k=secret": EOF`: `Post "https://...@host:1/a?...": EOF`,
		`parse "https://user:sec/secret@host/a": invalid port ":sec"`:      `parse "https://...@host/a": invalid port ":sec"`,
		`parse "https://u: secret@host/a b?x=1 y": invalid`:                `parse "https://...@host/a b?... y": invalid`,
		"https://u:secret@a:1,https://u:secret@b:2/?x=secret,http://c?s":   "https://...@a:1,https://...@b:2/?...",
		"https://host/?next=https://u:secret@other/&token=secret":          "https://host/?...",
		`{"error":"Get \"https://secret@host/?a=1\u0026b=secret\": EOF"}`:  `{"error":"Get \"https://...@host/?...\": EOF"}`,
		`{"error":"parse \"https://u: secret@host\": bad","b":"http://c"}`: `{"error":"parse \"https://...@host\": bad","b":"http://c"}`,
		"unix:///run/a@b.sock":   "unix:///run/a@b.sock",
		"://":                    "://",
		"äö://secret@é?ö":        "äö://...@é?...",
		"<https://host/?secret>": "<https://host/?...>",
	} {
		if got := Redacted(text); got != want {
			t.Errorf("%s\nis told as %s\nwant       %s", text, got, want)
		}
	}
}

// What somebody else wrote takes no more than its length, whatever is in it.
func TestRedactedOfLongTexts(t *testing.T) {
	for _, piece := range []string{"://", "a://", "://?", "a://@", `"a://:`, "://:@ "} {
		text := strings.Repeat(piece, 1<<18)
		if got := Redacted(text); len(got) > 3*len(text) {
			t.Errorf("%d bytes of %q became %d", len(text), piece, len(got))
		}
	}
}

func TestRedactedError(t *testing.T) {
	if RedactedError(nil) != nil {
		t.Error("no error became one")
	}
	err := RedactedError(fmt.Errorf("calling: %w", &url.Error{Op: "Get", URL: "https://secret@host/?secret", Err: io.EOF}))
	var sent *url.Error
	if !errors.Is(err, io.EOF) || !errors.As(err, &sent) || err.Error() != `calling: Get "https://...@host/?...": EOF` {
		t.Error(err)
	}
}

// FuzzRedacted: what a URL has of credentials is told nowhere, whatever is around it, and
// JSON stays JSON.
func FuzzRedacted(f *testing.F) {
	f.Add("calling ", "p:w", "/a?", "token=", ": EOF")
	f.Add("https://a,", "", "/\n\u2028", "?x#y", " b://c@d")
	f.Fuzz(func(t *testing.T, before, who, path, query, after string) {
		const secret = "SECRET"
		if strings.Contains(before+who+path+query+after, "SECRET") || strings.Contains(before+who+path+query+after, "://") {
			return
		}
		u := url.URL{Scheme: "https", User: url.UserPassword(who, secret), Host: "host", Path: "/" + path, RawQuery: url.QueryEscape(query) + secret, Fragment: secret}
		for _, text := range []string{before + " " + u.String(), fmt.Sprintf("%s %q%s", before, u.String(), after)} {
			line, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{text, string(line)} {
				got := Redacted(text)
				if strings.Contains(got, secret) {
					t.Errorf("%q is told as %q", text, got)
				}
				if json.Valid([]byte(text)) && !json.Valid([]byte(got)) {
					t.Errorf("%q is no JSON any more: %q", text, got)
				}
			}
		}
	})
}
