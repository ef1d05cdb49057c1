package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/wasmgate/wasmgate/test/recorded"
	"github.com/wasmgate/wasmgate/test/story"
	"github.com/wasmgate/wasmgate/test/story/accounts"
	"github.com/wasmgate/wasmgate/test/story/admissions"
	"github.com/wasmgate/wasmgate/test/story/builtins"
	"github.com/wasmgate/wasmgate/test/story/combined"
	"github.com/wasmgate/wasmgate/test/story/decisions"
	"github.com/wasmgate/wasmgate/test/story/escalation"
	"github.com/wasmgate/wasmgate/test/story/generated"
	"github.com/wasmgate/wasmgate/test/story/layouts"
	"github.com/wasmgate/wasmgate/test/story/mistakes"
	"github.com/wasmgate/wasmgate/test/story/parameters"
	"github.com/wasmgate/wasmgate/test/story/quotas"
	"github.com/wasmgate/wasmgate/test/story/refusals"
	"github.com/wasmgate/wasmgate/test/story/requests"
	"github.com/wasmgate/wasmgate/test/story/rules"
	"github.com/wasmgate/wasmgate/test/story/standards"
)

// tellings is how often a story is told: what differs then differs by chance.
const tellings = 3

// recordRefusals records how bad requests are refused.
func recordRefusals(ctx context.Context, s *server) error {
	return s.recordExchange(ctx, refusals.Stories(), tellings, refusals.Table, story.HTTP(client, s.url, s.token), nil)
}

// recordRules records the stories of rules and definitions.
func recordRules(ctx context.Context, s *server) error {
	return s.recordExchange(ctx, rules.Stories(), tellings, rules.Table, story.HTTP(client, s.url, s.token), nil)
}

// recordGenerated records stories from a seed.
func recordGenerated(ctx context.Context, s *server) error {
	send := story.HTTP(client, s.url, s.token)
	if err := s.recordExchange(ctx, generated.Stories(1, generated.Recorded), tellings, generated.Table, send, nil); err != nil {
		return err
	}
	return s.recordExchange(ctx, generated.VersionsStories(1, generated.VersionsRecorded), tellings, generated.VersionsTable, send, nil)
}

// recordRequests records the table of requests.
func recordRequests(ctx context.Context, s *server) error {
	return s.recordExchange(ctx, requests.Stories(), tellings, requests.Table, story.HTTP(client, s.url, s.token), nil)
}

// recordBuiltInRequests records the table of requests for each built-in kind.
func recordBuiltInRequests(ctx context.Context, s *server) error {
	stories, err := builtins.Stories()
	if err != nil {
		return err
	}
	return s.recordEach(ctx, stories, builtins.Table, builtins.Texts)
}

// recordMistakes records which wrong objects of built-in kinds are refused.
func recordMistakes(ctx context.Context, s *server) error {
	stories, err := mistakes.Stories()
	if err != nil {
		return err
	}
	return s.recordEach(ctx, stories, mistakes.Table, mistakes.Texts)
}

// recordParameters records the table of the parameters of queries.
func recordParameters(ctx context.Context, s *server) error {
	return s.recordEach(ctx, parameters.Stories(), parameters.Table, builtins.Texts)
}

// recordCombined records requests that combine subresources, parameters and identities.
func recordCombined(ctx context.Context, s *server) error {
	return s.recordEach(ctx, combined.Stories(), combined.Table, builtins.Texts)
}

// recordEach tells stories of a table, each so often before the next.
func (s *server) recordEach(ctx context.Context, stories []story.Story, table string, texts func([]story.Reply) ([]story.Texts, error)) error {
	var failed error
	for _, told := range stories {
		if !strings.Contains(told.Name, s.story) {
			continue
		}
		t := new(telling)
		var err error
		for range tellings {
			if err == nil {
				err = t.tell(ctx, told, story.HTTP(client, s.url, s.token), texts)
			}
		}
		if err == nil {
			err = recorded.Save(recorded.Folder, table, told, t.texts())
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", told.Name, err))
		}
	}
	return failed
}

// recordAdmissions records what policies and webhooks decide. The stories are told
// once: a server goes on with a policy for a moment that another telling has deleted.
func recordAdmissions(ctx context.Context, s *server) error {
	hook := admissions.NewServer()
	defer hook.Close()
	return s.recordExchange(ctx, admissions.Stories(), 1, admissions.Table, hook.Via(story.HTTP(client, s.url, s.token)), func(told story.Story) error {
		return s.end(ctx, []string{admissions.Ending, admissions.Namespace(told)}, []string{"configmaps"})
	})
}

// recordQuotas records what LimitRanges and ResourceQuotas decide.
func recordQuotas(ctx context.Context, s *server) error {
	return s.recordExchange(ctx, quotas.Stories(), tellings, quotas.Table, story.HTTP(client, s.url, s.token), func(told story.Story) error {
		return s.end(ctx, []string{quotas.Namespace(told)}, quotas.Collections)
	})
}

// recordAccounts records which accounts pods run as. It needs a server whose admission
// plugin ServiceAccount is on, and on which no controller makes accounts.
func recordAccounts(ctx context.Context, s *server) error {
	return s.recordExchange(ctx, accounts.Stories(), tellings, accounts.Table, story.HTTP(client, s.url, s.token), func(told story.Story) error {
		return s.end(ctx, []string{accounts.Namespace(told)}, accounts.Collections)
	})
}

// recordStandards records what admission decides that nobody configures.
func recordStandards(ctx context.Context, s *server) error {
	return s.recordExchange(ctx, standards.Stories(), tellings, standards.Table, story.HTTP(client, s.url, s.token), func(told story.Story) error {
		return s.end(ctx, []string{standards.Namespace(told)}, standards.Collections)
	})
}

// recordEscalation records who may grant what to whom.
func recordEscalation(ctx context.Context, s *server) error {
	return s.recordExchange(ctx, escalation.Stories(), tellings, escalation.Table, story.HTTP(client, s.url, s.token), func(told story.Story) error {
		return s.end(ctx, []string{escalation.Namespace(told)}, nil)
	})
}

// recordDecisions records what roles and bindings allow.
func recordDecisions(ctx context.Context, s *server) error {
	return s.recordExchange(ctx, decisions.Stories(), tellings, decisions.Table, story.HTTP(client, s.url, s.token), nil)
}

// recordLayouts records built-in kinds at versions with other fields.
func recordLayouts(ctx context.Context, s *server) error {
	return s.recordExchange(ctx, layouts.Stories(), tellings, layouts.Table, story.HTTP(client, s.url, s.token), func(told story.Story) error {
		return s.end(ctx, []string{layouts.Namespace(told)}, layouts.Collections)
	})
}

// end ends namespaces with what is in them, as no controller does here.
func (s *server) end(ctx context.Context, namespaces, collections []string) error {
	for _, path := range namespaces {
		for _, c := range collections {
			if err := s.empty(ctx, path+"/"+c); err != nil {
				return err
			}
		}
		body := `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + filepath.Base(path) + `"},"spec":{"finalizers":[]}}`
		if _, _, err := s.do(ctx, "PUT", path+"/finalize", body, "Content-Type", "application/json"); err != nil {
			return err
		}
	}
	return nil
}

// recordExchange tells stories of a table, all of them so many times, and writes
// down the replies. end, unless it is nil, ends what a story leaves.
func (s *server) recordExchange(ctx context.Context, stories []story.Story, times int, table string, send story.Send, end func(story.Story) error) error {
	merged := map[string]*telling{}
	for range times {
		for _, told := range stories {
			if merged[told.Name] == nil {
				merged[told.Name] = new(telling)
			}
			err := merged[told.Name].tell(ctx, told, send, story.TextsOf)
			if err == nil && end != nil {
				err = end(told)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", told.Name, err)
			}
		}
	}
	for _, told := range stories {
		if err := recorded.Save(recorded.Folder, table, told, merged[told.Name].texts()); err != nil {
			return err
		}
	}
	return nil
}

// telling are the replies to a story as they came each time.
type telling []story.Texts

// tell tells the story once more.
func (t *telling) tell(ctx context.Context, told story.Story, send story.Send, textsOf func([]story.Reply) ([]story.Texts, error)) error {
	replies, err := told.Tell(ctx, send)
	if err != nil {
		return err
	}
	again, err := textsOf(replies)
	if err != nil {
		return err
	}
	if *t == nil {
		*t = again
	}
	if len(*t) != len(again) {
		return fmt.Errorf("%d replies, and then %d", len(*t), len(again))
	}
	for i := range again {
		if (*t)[i], err = (*t)[i].Merge(again[i]); err != nil {
			return fmt.Errorf("reply %d of %d: %w", i, len(again), err)
		}
	}
	return nil
}

// texts are what there is to record.
func (t *telling) texts() []string {
	var out []string
	for _, reply := range *t {
		out = append(out, reply.Ordered)
	}
	return out
}

// empty deletes all objects of a collection, whatever holds them up.
func (s *server) empty(ctx context.Context, collection string) error {
	if _, _, err := s.do(ctx, "DELETE", collection, ""); err != nil {
		return err
	}
	b, err := s.get(ctx, collection, "")
	if err != nil {
		return err
	}
	var left struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	if err := json.Unmarshal(b, &left); err != nil {
		return err
	}
	for _, item := range left.Items {
		if _, _, err := s.do(ctx, "PATCH", collection+"/"+item.Metadata.Name, `{"metadata":{"finalizers":null}}`, "Content-Type", story.MergePatch); err != nil {
			return err
		}
	}
	return nil
}
