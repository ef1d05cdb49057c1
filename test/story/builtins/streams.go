package builtins

import (
	"github.com/wasmgate/wasmgate/test/story"
)

// encodings are requests and replies in protobuf.
func encodings(s *sheet) {
	for _, accept := range []string{story.Protobuf, story.Protobuf + ",application/json", story.Protobuf + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1", story.Protobuf + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", story.Protobuf + ";as=Table;g=meta.k8s.io;v=v1"} {
		s.get(of, accept)
		s.get("/THERE", accept)
	}
	s.get("/nothing", story.Protobuf)
	for _, below := range s.Below {
		s.get("/THERE/"+below, story.Protobuf)
	}
	other, there := binary(s.object(s.other())), binary(s.object(s.There))
	for _, body := range []string{other, there, there[:len(there)-9], "k8s\x00", "", "{}", binary(`{"kind":"Status","apiVersion":"v1"}`), binary(s.object("A_b"))} {
		s.encoded("POST", "?dryRun=All", body)
		s.encoded("PUT", "/THERE?dryRun=All", body)
	}
	for _, below := range s.Below {
		if below != "scale" { // which is of another kind
			s.encoded("PUT", "/THERE/"+below+"?dryRun=All", there)
		}
	}
	s.send("POST", "?dryRun=All", story.Protobuf, other)
	s.encoded("PATCH", "/THERE?dryRun=All", there)
	s.send("PATCH", "/THERE?dryRun=All", story.MergePatch, `{"metadata":{"labels":{"a":"b"}}}`)
	s.Steps[len(s.Steps)-1].Accept = story.Protobuf
	s.encoded("DELETE", "/THERE", binary(`{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}`))
}

// encoded sends a body in protobuf, and asks for a reply in it.
func (s *sheet) encoded(method, below, body string) {
	s.send(method, below, story.Protobuf, body)
	s.Steps[len(s.Steps)-1].Accept = story.Protobuf
}

func binary(text string) string {
	body, err := story.ToProtobuf(text)
	if err != nil {
		panic(err) // the table's own
	}
	return body
}

// watches are watches of a change of the object, from before it and from after.
// They are the last requests, as the change is kept.
func watches(s *sheet) {
	s.send("GET", "/THERE", "", "")
	s.Steps[len(s.Steps)-1].Marks = true
	s.send("PATCH", "/THERE", story.MergePatch, `{"metadata":{"labels":{"watched":"yes"}}}`)
	const watch, from = "?watch=true&timeoutSeconds=25", "&resourceVersion=" + story.Revision
	for _, accept := range []string{"", "application/json;stream=watch", asTable, asMeta, asList, story.Protobuf, story.Protobuf + ";stream=watch", story.Protobuf + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1", yamlType, "application/cbor", "text/plain"} {
		s.watch(watch+from+"&labelSelector=table%3Dyes", accept, 1)
	}
	for _, q := range []string{"labelSelector=watched%3Dyes", "labelSelector=table%3Dyes%2C%21watched", "fieldSelector=metadata.name%3D" + s.There, "labelSelector=table%3Dyes&allowWatchBookmarks=true", "labelSelector=table%3Dyes&includeObject=None", "labelSelector=table%3Dyes&limit=1"} {
		s.watch(watch+from+"&"+q, "", 1)
	}
	s.watch("/THERE"+watch+from, "", 1)
	for _, q := range []string{"", "&resourceVersion=0"} {
		s.watch(watch+q+"&labelSelector=table%3Dyes", "", 1)
	}
	for _, accept := range []string{"", asTable, story.Protobuf} {
		s.watch(watch+"&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=table%3Dyes", accept, 2)
	}
}

// watch reads some events of a watch.
func (s *sheet) watch(below, accept string, events int) {
	s.get(below, accept)
	last := &s.Steps[len(s.Steps)-1]
	last.Events, last.Count = true, events
}
