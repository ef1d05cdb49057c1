package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest/refusals"
)

// recordRefusals records how bad requests are refused.
func recordRefusals(ctx context.Context, s *server) error {
	crd, err := parse([]byte(refusals.Definition))
	if err != nil {
		return err
	}
	if err := s.create(ctx, namespaces, `{"metadata":{"name":"`+refusals.Namespace+`"}}`); err != nil {
		return err
	}
	if err := s.define(ctx, crd, refusals.CronTabs); err != nil {
		return err
	}
	if err := s.create(ctx, refusals.CronTabs, refusals.There); err != nil {
		return err
	}
	all := map[string]refusals.Reply{}
	for _, r := range refusals.Requests() {
		var headers []string
		if r.Type != "" {
			headers = []string{"Content-Type", r.Type}
		}
		code, b, err := s.do(ctx, r.Method, r.Path, r.Body, headers...)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		var reply refusals.Reply
		if err := json.Unmarshal(b, &reply); err != nil || code < 400 || reply.Code != code {
			return fmt.Errorf("%s: it was not refused with a Status: %d %.300s", r.Name, code, b)
		}
		if _, twice := all[r.Name]; twice {
			return fmt.Errorf("two requests are named %q", r.Name)
		}
		all[r.Name] = reply
	}
	if err := write(refusals.File, all); err != nil {
		return err
	}
	return s.remove(ctx, definitions+"/crontabs."+refusals.Group)
}
