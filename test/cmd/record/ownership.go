package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/wasmgate/wasmgate/test/recorded"
	"github.com/wasmgate/wasmgate/test/story/ownership"
)

// recordOwnership records who owns what after each request of each story.
func recordOwnership(ctx context.Context, s *server) error {
	crd, err := parse([]byte(ownership.Definition))
	if err != nil {
		return err
	}
	if err := s.create(ctx, namespaces, `{"metadata":{"name":"`+ownership.Namespace+`"}}`); err != nil {
		return err
	}
	if err := s.define(ctx, crd, "/apis/"+ownership.Group+"/v1/namespaces/"+ownership.Namespace+"/shops"); err != nil {
		return err
	}
	for _, story := range ownership.Stories() {
		replies, err := s.tell(ctx, story)
		if err == nil {
			err = story.Save(recorded.Folder, replies)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", story.Name, err)
		}
	}
	return s.remove(ctx, definitions+"/shops."+ownership.Group)
}

// tell sends a story's requests, after removing what an earlier run left.
func (s *server) tell(ctx context.Context, story ownership.Story) ([]ownership.Reply, error) {
	for _, item := range story.Items() {
		if err := s.remove(ctx, item); err != nil {
			return nil, err
		}
	}
	var replies []ownership.Reply
	for i, step := range story.Steps {
		headers := []string{"Content-Type", step.Type, "User-Agent", step.Agent}
		if step.Agent == "" {
			headers = headers[:2]
		}
		code, b, err := s.do(ctx, step.Method, step.Path, step.Body, headers...)
		if err != nil {
			return nil, err
		}
		reply, err := ownership.NewReply(code, b)
		if err != nil {
			return nil, fmt.Errorf("step %d, %s %s: %w", i, step.Method, strings.SplitN(step.Path, "?", 2)[0], err)
		}
		replies = append(replies, reply)
	}
	return replies, nil
}
