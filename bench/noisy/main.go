package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

// config is what the flags say.
type config struct {
	length  time.Duration
	watches int
	lists   int
	noises  string
	// make is what a process of noise makes, as a tenant.
	make string
}

func main() {
	var c config
	ours, peer := &server{name: "wasmgate"}, &server{name: "kube-apiserver"}
	flag.StringVar(&ours.url, "url", "https://127.0.0.1:6443", "`address` of the wasmgate, or of what the noise is made on")
	flag.StringVar(&ours.token, "token", "", "its bearer `token`, an administrator's")
	flag.IntVar(&ours.pid, "pid", 0, "its process `id`, for memory")
	flag.StringVar(&peer.url, "peer", "", "`address` of a kube-apiserver to compare with")
	flag.StringVar(&peer.token, "peer-token", "", "its bearer `token`")
	flag.IntVar(&peer.pid, "peer-pid", 0, "its process `id`")
	flag.DurationVar(&c.length, "d", 20*time.Second, "how long each noise lasts")
	flag.IntVar(&c.watches, "watches", 10_000, "how many watches the noise opens")
	flag.IntVar(&c.lists, "lists", 200, "how many lists it reads at once")
	flag.StringVar(&c.noises, "noises", "lists,writes,watches,uploads,loops,all", "which noises to make, in this order")
	flag.StringVar(&c.make, "make", "", "make this noise as the tenant of -token until the standard input ends; used by the program itself")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, c, ours, peer); err != nil {
		fmt.Fprintln(os.Stderr, "noisy:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, c config, ours, peer *server) error {
	if c.make != "" {
		return makeNoise(ctx, c, ours)
	}
	servers := []*server{ours}
	if peer.url != "" {
		servers = append(servers, peer)
	}
	fmt.Printf("%-14s %-8s %9s %9s %9s %8s %9s  %s\n", "server", "beside", "p50", "p99", "max", "failed", "memory", "what the noise was answered")
	for _, s := range servers {
		if err := measure(ctx, c, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// measure measures one server, with each noise in turn.
func measure(ctx context.Context, c config, s *server) error {
	t, err := prepare(ctx, s)
	if err != nil {
		return err
	}
	defer t.clean()
	for _, noise := range append([]string{""}, strings.Split(c.noises, ",")...) {
		if !t.can(noise) {
			continue
		}
		n, err := begin(ctx, c, s, t, noise)
		if err != nil {
			return err
		}
		peak := s.watchMemory()
		q := t.quietly(ctx, c.length)
		most := peak()
		fmt.Printf("%-14s %-8s %9s %9s %9s %8d %6.0f MB  %s\n", s.name, noise, q.at(.5), q.at(.99), q.at(1), q.failed, most, n.end())
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
