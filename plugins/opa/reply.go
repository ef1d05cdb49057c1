package opa

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Result is what came of an entrypoint: the text of a result set.
type Result struct {
	Entrypoint
	Set []byte
}

// maxMessages is how many messages are told.
const maxMessages = 100

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
	var set []struct {
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(r.Set, &set); err != nil {
		return nil, fmt.Errorf("the result of %s cannot be read: %w", r.Name, err)
	}
	if len(set) > 1 {
		return nil, fmt.Errorf("%s has %d results", r.Name, len(set))
	}
	if len(set) == 0 {
		return nil, nil
	}
	return set[0].Result, nil
}

// whole is the response of the main entrypoint, with the uid of the request where it
// says none.
func whole(value json.RawMessage, uid string) (json.RawMessage, error) {
	var said struct {
		Response map[string]json.RawMessage `json:"response"`
	}
	if value == nil {
		return nil, fmt.Errorf("%s is undefined for this request", mainName)
	}
	if err := json.Unmarshal(value, &said); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", mainName, err)
	}
	if said.Response["allowed"] == nil {
		return nil, fmt.Errorf("%s does not say in response.allowed whether the request is allowed", mainName)
	}
	if id := string(said.Response["uid"]); id == "" || id == `""` {
		text, err := json.Marshal(uid)
		if err != nil {
			return nil, err
		}
		said.Response["uid"] = text
	}
	return json.Marshal(said.Response)
}

// messages are what a rule says: a set of texts, or of objects with a msg, one text, or
// true, which says nothing more. What is undefined, and false, says nothing.
func messages(name string, value json.RawMessage) (all []string, err error) {
	if value == nil {
		return nil, nil
	}
	var set []json.RawMessage
	var one any
	switch {
	case json.Unmarshal(value, &set) == nil && value[0] == '[':
	case json.Unmarshal(value, &one) == nil && one == false:
		return nil, nil
	case one == true:
		return []string{name + " is true"}, nil
	default:
		set = []json.RawMessage{value}
	}
	for i, item := range set {
		text, err := message(item)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if i == maxMessages {
			return append(all, fmt.Sprintf("and %d more", len(set)-i)), nil
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
