// Command record owns how the recordings of kube-apiserver are made that tests
// compare with: it sends requests to one that runs, and writes what it answers,
// and what it stores in etcd, into test/recorded and the testdata folders of the packages
// concerned.
//
//	go run ./test/cmd/record --url https://127.0.0.1:6443 --token TOKEN --etcd http://127.0.0.1:2379
//
// It is run in the module's root folder. The server is one for trying out: the
// program makes and deletes definitions, namespaces and objects with fixed
// names on it. It must not know anything of wasmgate but where the files are.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	var s server
	flag.StringVar(&s.url, "url", "", "address of the kube-apiserver; its certificate is not verified")
	flag.StringVar(&s.token, "token", "", "bearer token of an administrator")
	flag.StringVar(&s.etcd, "etcd", "", "client address of its etcd")
	only := flag.String("only", "", "make only the recordings whose name holds this text")
	flag.StringVar(&s.story, "story", "", "of recordings with a file for each story, make only those of stories whose name holds this text")
	flag.StringVar(&s.auditPolicy, "audit-policy", "", "which policy of the table of audits the server was started with")
	flag.StringVar(&s.auditLog, "audit-log", "", "its audit log; without it no audits are recorded")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &s, *only); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run makes the recordings whose name holds a text.
func run(ctx context.Context, s *server, only string) error {
	if s.url == "" || s.etcd == "" {
		return errors.New("--url and --etcd are needed")
	}
	if _, err := os.Stat("go.mod"); err != nil {
		return fmt.Errorf("run this in the module's root folder: %w", err)
	}
	for _, r := range []struct {
		what   string
		record func(context.Context, *server) error
	}{
		{"discovery documents", recordDocuments},
		{"roles of the beginning", recordBootstrap},
		{"schemas of a custom resource", recordSchemas},
		{"writes of built-in objects", recordWrites},
		{"stored built-in objects", recordBuiltIns},
		{"a stored definition and custom object", recordCustom},
		{"refusals of bad requests", recordRefusals},
		{"who owns which fields", recordOwnership},
		{"rules of definitions", recordRules},
		{"generated schemas and objects", recordGenerated},
		{"a table of requests", recordRequests},
		{"requests for built-in kinds", recordBuiltInRequests},
		{"wrong objects of built-in kinds", recordMistakes},
		{"parameters of queries", recordParameters},
		{"combined requests", recordCombined},
		{"what admission decides", recordAdmissions},
		{"limits and quotas", recordQuotas},
		{"accounts of pods", recordAccounts},
		{"standards of pods and classes", recordStandards},
		{"who may grant what", recordEscalation},
		{"what roles allow", recordDecisions},
		{"versions with other fields", recordLayouts},
		{"flow schemas and levels", recordFlows},
		{"models of documents", recordModels},
		{"audit logs", recordAudits},
	} {
		if !strings.Contains(r.what, only) {
			continue
		}
		if err := r.record(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", r.what, err)
		}
		fmt.Println("recorded", r.what)
	}
	return nil
}
