package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/bench/workload"
)

// step is one kind of work.
type step struct {
	name, note string
	run        func(c config, t *target) (measurement, error)
}

const metadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// listClients is how many clients read whole collections at once: more would
// measure the network.
const listClients = 2

var steps = []step{
	{"create", "POST at the storage version", func(c config, t *target) (measurement, error) {
		return load{total: c.objects, clients: c.clients, request: func(i int) error {
			return t.ok("POST", workload.Collection("v1"), jsonType, jsonType, workload.Object(i, c.more))
		}}.measure(t), nil
	}},
	{"get", "GET at the storage version", get("v1")},
	{"first-getconv", "the first GET of each object at the converted version", func(c config, t *target) (measurement, error) {
		return load{total: c.objects, clients: c.clients, request: func(i int) error {
			return t.ok("GET", workload.Path("v2", i), "", jsonType, nil)
		}}.measure(t), nil
	}},
	{"getconv", "GET at the converted version", get("v2")},
	{"first-listconv", "the first list of all objects at the converted version", func(c config, t *target) (measurement, error) {
		return load{total: 1, clients: 1, request: func(int) error {
			return t.ok("GET", workload.Collection("v2"), "", jsonType, nil)
		}}.measure(t), nil
	}},
	{"list", "all objects at the storage version", list("v1", jsonType, "")},
	{"listconv", "all objects at the converted version", list("v2", jsonType, "")},
	{"listmeta", "metadata of all objects", list("v1", metadataList, "")},
	{"page", "the first 500 by label app=app-7", func(c config, t *target) (measurement, error) {
		return load{duration: c.duration, clients: c.clients, request: func(int) error {
			return t.ok("GET", workload.Collection("v1")+"?limit=500&labelSelector=app%3Dapp-7", "", jsonType, nil)
		}}.measure(t), nil
	}},
	{"update", "merge patch at the storage version", update("v1", func(i int) string { return `{"spec":{"replicas":` + strconv.Itoa(i%100+4) + `}}` })},
	{"updateconv", "merge patch at the converted version", update("v2", func(i int) string { return `{"spec":{"port":"` + strconv.Itoa(i%1000+1000) + `"}}` })},
	{"apply", "server-side apply of two fields, taken from another manager", apply("v")},
	{"reapply", "server-side apply of a new value by the same manager", apply("w")},
	{"watch", "an event delivered to a watcher at the storage version", fanOut("v1")},
	{"watchconv", "an event delivered to a watcher at the converted version", fanOut("v2")},
}

// get reads objects in an order that no cache likes.
func get(version string) func(config, *target) (measurement, error) {
	return func(c config, t *target) (measurement, error) {
		return load{duration: c.duration, clients: c.clients, request: func(i int) error {
			return t.ok("GET", workload.Path(version, i*7919%c.objects), "", jsonType, nil)
		}}.measure(t), nil
	}
}

func list(version, accept, query string) func(config, *target) (measurement, error) {
	return func(c config, t *target) (measurement, error) {
		return load{duration: c.duration, clients: listClients, request: func(int) error {
			return t.ok("GET", workload.Collection(version)+query, "", accept, nil)
		}}.measure(t), nil
	}
}

func update(version string, patch func(i int) string) func(config, *target) (measurement, error) {
	return func(c config, t *target) (measurement, error) {
		return load{total: c.objects, clients: c.clients, request: func(i int) error {
			return t.ok("PATCH", workload.Path(version, i), merge, jsonType, []byte(patch(i)))
		}}.measure(t), nil
	}
}

func apply(tag string) func(config, *target) (measurement, error) {
	return func(c config, t *target) (measurement, error) {
		return load{total: c.objects, clients: c.clients, request: func(i int) error {
			return t.ok("PATCH", workload.Path("v1", i)+"?fieldManager=bench-apply&force=true", applyPatch, jsonType, workload.Configuration(i, tag))
		}}.measure(t), nil
	}
}

func stepNames() []string {
	names := make([]string, 0, len(steps))
	for _, s := range steps {
		names = append(names, s.name)
	}
	return names
}

func selectSteps(names string) ([]step, error) {
	var chosen []step
next:
	for _, name := range strings.Split(names, ",") {
		for _, s := range slices.Concat(steps, crowd, maps, holding, slow) {
			if s.name == name {
				chosen = append(chosen, s)
				continue next
			}
		}
		return nil, fmt.Errorf("no step %q; there are %s", name, strings.Join(stepNames(), ", ")+", "+crowdSteps()+", "+mapSteps()+", "+memorySteps())
	}
	return chosen, nil
}
