package main

import (
	"encoding/json"
	"fmt"
	"slices"
)

// settings are what the policy is configured with.
type settings struct {
	// Required are the labels that an object needs.
	Required []string `json:"required"`
	// Tier is the label tier of what has none; "" adds none.
	Tier string `json:"tier"`
	// Team is the annotation of the namespace that has the team; "" looks nothing up.
	Team string `json:"team"`
}

// validation is the request that the policy is asked about.
type validation struct {
	Settings settings `json:"settings"`
	Request  struct {
		Namespace string         `json:"namespace"`
		Object    map[string]any `json:"object"`
	} `json:"request"`
}

// verdict is its answer.
type verdict struct {
	Accepted bool              `json:"accepted"`
	Message  string            `json:"message,omitempty"`
	Code     int               `json:"code,omitempty"`
	Mutated  map[string]any    `json:"mutated_object,omitempty"`
	Audit    map[string]string `json:"audit_annotations,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`
}

func validateSettings(payload []byte) (any, error) {
	var s settings
	if err := json.Unmarshal(payload, &s); err != nil {
		return nil, err
	}
	if len(s.Required) == 0 {
		return map[string]any{"valid": false, "message": "required names no label"}, nil
	}
	return map[string]any{"valid": true}, nil
}

func validate(payload []byte) (any, error) {
	var v validation
	if err := json.Unmarshal(payload, &v); err != nil {
		return nil, err
	}
	metadata, _ := v.Request.Object["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	for _, name := range v.Settings.Required {
		if labels[name] == nil {
			return verdict{Message: fmt.Sprintf("%v %v needs a label %q", v.Request.Object["kind"], metadata["name"], name), Code: 422}, nil
		}
	}
	out := verdict{Accepted: true, Audit: map[string]string{"required": fmt.Sprint(v.Settings.Required)}}
	if v.Settings.Team != "" {
		team, err := teamOf(v.Request.Namespace, v.Settings.Team)
		if err != nil {
			return nil, err
		}
		if team != labels["team"] {
			return verdict{Message: fmt.Sprintf("the namespace %s is of team %q", v.Request.Namespace, team)}, nil
		}
	}
	if old := []any{"none", "nobody"}; slices.Contains(old, labels["team"]) {
		out.Warnings = append(out.Warnings, fmt.Sprintf("nobody is responsible for %v", metadata["name"]))
	}
	if v.Settings.Tier != "" && labels["tier"] == nil {
		labels["tier"] = v.Settings.Tier
		out.Mutated = v.Request.Object
	}
	return out, nil
}

// teamOf asks the host for a namespace, and returns its annotation.
func teamOf(namespace, annotation string) (string, error) {
	payload, err := json.Marshal(map[string]any{"api_version": "v1", "kind": "Namespace", "name": namespace})
	if err != nil {
		return "", err
	}
	reply, err := hostCall("kubewarden", "kubernetes", "get_resource", payload)
	if err != nil {
		return "", err
	}
	var found struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	err = json.Unmarshal(reply, &found)
	return found.Metadata.Annotations[annotation], err
}
