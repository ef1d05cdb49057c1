package opa

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// Result is what came of an entrypoint: the text of a result set.
type Result struct {
	Entrypoint
	Set []byte
}

const (
	// maxMessages is how many messages are told.
	maxMessages = 100
	// maxFields is how many fields a response may have; there are seven.
	maxFields = 100
)

type (
	reply struct {
		APIVersion string          `json:"apiVersion"`
		Kind       string          `json:"kind"`
		Response   json.RawMessage `json:"response"`
	}
	response struct {
		UID      string   `json:"uid"`
		Allowed  bool     `json:"allowed"`
		Status   *status  `json:"status,omitempty"`
		Warnings []string `json:"warnings,omitempty"`
	}
	status struct {
		Message string `json:"message"`
		Reason  string `json:"reason"`
		Code    int    `json:"code"`
	}
)

// Reply is the reply to a review that results are.
func Reply(review []byte, results []Result) ([]byte, error) {
	var asked struct {
		APIVersion string `json:"apiVersion"`
		Request    struct {
			UID string `json:"uid"`
		} `json:"request"`
	}
	if err := json.Unmarshal(review, &asked); err != nil {
		return nil, fmt.Errorf("the review cannot be read: %w", err)
	}
	out := response{UID: asked.Request.UID, Allowed: true}
	var why []string
	for _, r := range results {
		value, err := single(r)
		switch {
		case err != nil:
			return nil, err
		case r.Kind == Main:
			whole, err := whole(value, asked.Request.UID)
			if err != nil {
				return nil, err
			}
			return json.Marshal(reply{asked.APIVersion, "AdmissionReview", whole})
		}
		told, err := messages(r.Name, value)
		if err != nil {
			return nil, err
		}
		if r.Kind == Warn {
			out.Warnings = append(out.Warnings, told...)
		} else {
			why = append(why, told...)
		}
	}
	if len(why) > 0 {
		out.Allowed, out.Status = false, &status{strings.Join(why, ", "), "Forbidden", http.StatusForbidden}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return json.Marshal(reply{asked.APIVersion, "AdmissionReview", text})
}

// single is the value of a result set, which has one result; nil where the rule is
// undefined.
func single(r Result) (json.RawMessage, error) {
	var one struct {
		Result json.RawMessage `json:"result"`
	}
	if rawjson.IsNull(bytes.TrimSpace(r.Set)) {
		return nil, nil
	}
	set, n, err := items(r.Set, '[', 1)
	if err == nil && n == 1 {
		err = json.Unmarshal(set[0], &one)
	}
	if err != nil {
		return nil, fmt.Errorf("the result of %s cannot be read: %w", r.Name, err)
	}
	if n > 1 {
		return nil, fmt.Errorf("%s has %d results", r.Name, n)
	}
	return one.Result, nil
}

// items are the first of an array or an object, at most so many; of the others, of which
// there may be millions, nothing is made. n is how many there are.
func items(text []byte, opens byte, most int) (first []json.RawMessage, n int, err error) {
	if !json.Valid(text) {
		return nil, 0, json.Unmarshal(text, &json.RawMessage{})
	}
	walk, err := rawjson.Open(text, 0, true)
	if err != nil || walk.IsObject() != (opens == '{') {
		return nil, 0, fmt.Errorf("it does not begin with %c", opens)
	}
	for ; walk.Next(); n++ {
		if item := walk.Value(); n < most {
			first = append(first, item)
		}
	}
	return first, n, walk.Err()
}

// whole is the response of the main entrypoint, with the uid of the request where it
// says none.
func whole(value json.RawMessage, uid string) (json.RawMessage, error) {
	var said struct {
		Response json.RawMessage `json:"response"`
	}
	var response map[string]json.RawMessage
	if value == nil {
		return nil, fmt.Errorf("%s is undefined for this request", mainName)
	}
	err := json.Unmarshal(value, &said)
	if err == nil && len(said.Response) > 0 {
		if _, n, _ := items(said.Response, '{', 0); n > maxFields {
			return nil, fmt.Errorf("%s has %d fields in its response, more than %d", mainName, n, maxFields)
		}
		err = json.Unmarshal(said.Response, &response)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", mainName, err)
	}
	if response["allowed"] == nil {
		return nil, fmt.Errorf("%s does not say in response.allowed whether the request is allowed", mainName)
	}
	if id := string(response["uid"]); id == "" || id == `""` {
		text, err := json.Marshal(uid)
		if err != nil {
			return nil, err
		}
		response["uid"] = text
	}
	return json.Marshal(response)
}

// messages are what a rule says: a set of texts, or of objects with a msg, one text, or
// true, which says nothing more. What is undefined, and false, says nothing.
func messages(name string, value json.RawMessage) (all []string, err error) {
	if value == nil {
		return nil, nil
	}
	set, n := []json.RawMessage{value}, 1
	switch {
	case value[0] == '[':
		if set, n, err = items(value, '[', maxMessages+1); err != nil {
			return nil, err
		}
	case string(value) == "false":
		return nil, nil
	case string(value) == "true":
		return []string{name + " is true"}, nil
	}
	for i, item := range set {
		text, err := message(item)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if i == maxMessages {
			return append(all, fmt.Sprintf("and %d more", n-i)), nil
		}
		all = append(all, text)
	}
	return all, nil
}

func message(item json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(item, &text) == nil && item[0] == '"' {
		return text, nil
	}
	var object struct {
		Msg *string `json:"msg"`
	}
	if json.Unmarshal(item, &object) == nil && object.Msg != nil {
		return *object.Msg, nil
	}
	return "", errors.New("a message is neither a text nor an object with the text msg")
}
