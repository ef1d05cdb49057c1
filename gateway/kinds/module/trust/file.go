package trust

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/bounds/files"
	"github.com/wasmgate/wasmgate/gateway/controller"
)

const (
	// maxFile bounds the file.
	maxFile = 1 << 20
	// pollInterval is how often it is looked at.
	pollInterval = 250 * time.Millisecond
)

// file is what a file says, and its policies.
type file struct {
	text     []byte
	policies []*policy
}

// ReadFile puts the policies of a file in force beside those of objects.
func (p *Policies) ReadFile(path string) error {
	_, err := p.reread(path)
	return err
}

// Follow reads the file whenever it has changed, until ctx ends. One that cannot be used is
// told, and what it said before still counts; so is that another is in force, as nil.
func (p *Policies) Follow(ctx context.Context, path string, told func(error)) {
	trouble := ""
	for controller.Pause(ctx, pollInterval) {
		changed, err := p.reread(path)
		switch {
		case err == nil:
			trouble = "" // also where the file is what it was before the trouble
		case err.Error() != trouble:
			trouble = err.Error()
			told(err)
		}
		if changed {
			told(nil)
			p.tell()
		}
	}
}

// Changed tells one receiver that the file, or the folder, in force is another.
func (p *Policies) Changed() <-chan struct{} { return p.changed }

// reread puts the file in force, unless it is as it was.
func (p *Policies) reread(path string) (changed bool, err error) {
	now, err := files.Read(path, maxFile)
	if err != nil {
		return false, err
	}
	if was := p.file.Load().text; was != nil && bytes.Equal(was, now) {
		return false, nil
	}
	all, err := parse(now)
	if err != nil {
		return false, err
	}
	p.file.Store(&file{now, all})
	return true, nil
}

// parse reads ModuleTrusts, one or several documents of YAML or JSON.
func parse(text []byte) (all []*policy, err error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for n := 1; ; n++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		var any any
		if yaml.Unmarshal(document, &any) == nil && any == nil { // nothing, or comments
			continue
		}
		var o object
		if err := yaml.UnmarshalStrict(document, &o); err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		if o.APIVersion != "wasmgate.dev/v1" || o.Kind != "ModuleTrust" || len(validation.IsDNS1123Subdomain(o.Name)) > 0 {
			return nil, fmt.Errorf("document %d: it is no ModuleTrust of wasmgate.dev/v1 with a name", n)
		}
		one, errs := read(o.Name+" (file)", o.Spec)
		if len(errs) > 0 {
			return nil, fmt.Errorf("document %d: %w", n, excerpt.Errors(errs))
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, errors.New("it has no ModuleTrust")
	}
	return all, nil
}
