package recorded

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// reply is [story.Reply] as it is recorded, with its keys in that order.
type reply struct {
	Code      int               `json:"code"`
	Header    map[string]string `json:"header,omitempty"`
	Warnings  []string          `json:"warnings,omitempty"`
	Unordered bool              `json:"unordered,omitempty"`
	Body      map[string]any    `json:"body,omitempty"`
}

// The beginnings of the lines of a reply after the first.
const (
	inHeader  = "  header "
	inWarning = "  warning "
	inDetails = "  details "
	inCause   = "  - "
)

// whole begins a reply that is written as it is.
const whole = "= "

// elided stands in a message for the causes, which follow.
const elided = "…"

var errReply = errors.New("it is no reply")

// format is a reply, which is one line of JSON, as the lines of a recording,
// without what begins the first. [parse] makes the same reply of them.
func format(text string) []string {
	if lines, err := formatted(text); err == nil && !strings.ContainsAny(strings.Join(lines, ""), "\n\r") {
		if again, err := parse(lines); err == nil && again == text {
			return lines
		}
	}
	return []string{whole + text}
}

func formatted(text string) ([]string, error) {
	r, err := read(text)
	if err != nil {
		return nil, err
	}
	first := strconv.Itoa(r.Code)
	if r.Unordered {
		first += " unordered"
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		lines = append(lines, inHeader+name+": "+r.Header[name])
	}
	for _, warning := range r.Warnings {
		lines = append(lines, inWarning+warning)
	}
	switch reason, message, more, ok := refusal(r); {
	case ok:
		first += " " + reason + ": " + message
		lines = append(lines, more...)
	case r.Body != nil:
		first += " " + encode(r.Body)
	}
	return append([]string{first}, lines...), nil
}

// refusal is the Status that most refusals are: its reason, its message, and the
// lines that say the rest of it.
func refusal(r reply) (reason, message string, more []string, ok bool) {
	reason, isReason := r.Body["reason"].(string)
	message, isMessage := r.Body["message"].(string)
	if r.Body["kind"] != "Status" || !isReason || !isMessage || strings.ContainsAny(reason, ": ") {
		return "", "", nil, false
	}
	details, has := r.Body["details"].(map[string]any)
	if !has {
		return reason, message, nil, true
	}
	details = maps.Clone(details)
	causes, _ := details["causes"].([]any)
	for _, v := range causes {
		c, _ := v.(map[string]any)
		more = append(more, fmt.Sprint(inCause, c["field"], ": ", c["message"], " (", c["reason"], ")"))
	}
	if causes != nil {
		delete(details, "causes")
		message = strings.Replace(message, inMessage(causes), elided, 1)
	}
	return reason, message, append(more, inDetails+encode(details)), true
}

// inMessage are the causes as they are told in the message of a Status.
func inMessage(causes []any) string {
	var told []string
	for _, v := range causes {
		c, _ := v.(map[string]any)
		told = append(told, fmt.Sprint(c["field"], ": ", c["message"]))
	}
	if len(told) == 1 {
		return told[0]
	}
	return "[" + strings.Join(told, ", ") + "]"
}

// parse reads the lines of a reply.
func parse(lines []string) (string, error) {
	if text, ok := strings.CutPrefix(lines[0], whole); ok && len(lines) == 1 {
		return text, nil
	}
	code, rest, _ := strings.Cut(lines[0], " ")
	n, err := strconv.Atoi(code)
	if err != nil {
		return "", fmt.Errorf("%w: %q", errReply, lines[0])
	}
	r := reply{Code: n}
	if after, ok := strings.CutPrefix(rest, "unordered"); ok {
		r.Unordered, rest = true, strings.TrimPrefix(after, " ")
	}
	if strings.HasPrefix(rest, "{") {
		v, _, err := decode(rest)
		if err != nil {
			return "", fmt.Errorf("%w: %w", errReply, err)
		}
		r.Body, _ = v.(map[string]any)
	} else if reason, message, ok := strings.Cut(rest, ": "); ok {
		r.Body = map[string]any{"apiVersion": "v1", "code": n, "kind": "Status", "message": message, "metadata": map[string]any{}, "reason": reason, "status": "Failure"}
	}
	for _, line := range lines[1:] {
		if err := r.add(line); err != nil {
			return "", err
		}
	}
	r.complete()
	return encode(r), nil
}

// add reads a further line.
func (r *reply) add(line string) error {
	if text, ok := strings.CutPrefix(line, inHeader); ok {
		if r.Header == nil {
			r.Header = map[string]string{}
		}
		name, value, _ := strings.Cut(text, ": ")
		r.Header[name] = value
		return nil
	}
	if text, ok := strings.CutPrefix(line, inWarning); ok {
		r.Warnings = append(r.Warnings, text)
		return nil
	}
	if text, ok := strings.CutPrefix(line, inDetails); ok && r.Body != nil {
		v, _, err := decode(text)
		details, isObject := v.(map[string]any)
		if err != nil || !isObject {
			return fmt.Errorf("%w: %q", errReply, line)
		}
		if causes, ok := r.Body["details"].([]any); ok {
			details["causes"] = causes
		}
		r.Body["details"] = details
		return nil
	}
	text, ok := strings.CutPrefix(line, inCause)
	field, rest, isField := strings.Cut(text, ": ")
	at := strings.LastIndex(rest, " (")
	if !ok || !isField || at < 0 || !strings.HasSuffix(rest, ")") || r.Body == nil {
		return fmt.Errorf("%w: %q", errReply, line)
	}
	causes, _ := r.Body["details"].([]any) // until the line with the details
	r.Body["details"] = append(causes, map[string]any{"field": field, "message": rest[:at], "reason": rest[at+2 : len(rest)-1]})
	return nil
}

// complete says in the message what the causes say.
func (r *reply) complete() {
	details, _ := r.Body["details"].(map[string]any)
	causes, _ := details["causes"].([]any)
	if message, ok := r.Body["message"].(string); ok && causes != nil {
		r.Body["message"] = strings.Replace(message, elided, inMessage(causes), 1)
	}
}

// read is a reply of JSON.
func read(text string) (reply, error) {
	var r reply
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	d.DisallowUnknownFields()
	err := d.Decode(&r)
	return r, err
}
