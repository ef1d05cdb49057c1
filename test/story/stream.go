package story

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// Revision stands in the path of a watch for where it begins: at the
// resourceVersion in the reply to the last step that marks it.
const Revision = "REVISION"

// following makes send put in the revision that was marked last.
func following(send Send) Send {
	marked := ""
	return func(ctx context.Context, step Step) (int, http.Header, []byte, error) {
		step.Path = strings.ReplaceAll(step.Path, Revision, marked)
		code, header, body, err := send(ctx, step)
		if err == nil && step.Marks {
			var object struct {
				Metadata struct{ ResourceVersion string }
			}
			if json.Unmarshal(body, &object) == nil { // where there is no object, no watch begins
				marked = object.Metadata.ResourceVersion
			}
		}
		return code, header, body, err
	}
}

// read reads the reply to a step: of a stream only as many events as the step
// awaits.
func read(step Step, resp *http.Response) ([]byte, error) {
	if step.Count == 0 || resp.StatusCode != http.StatusOK {
		return io.ReadAll(resp.Body)
	}
	var all bytes.Buffer
	body := io.TeeReader(resp.Body, &all)
	d := json.NewDecoder(body)
	for range step.Count {
		var err error
		if strings.Contains(resp.Header.Get("Content-Type"), "protobuf") {
			_, err = frame(body)
		} else {
			err = d.Decode(new(json.RawMessage))
		}
		if errors.Is(err, io.EOF) {
			break // it ended before
		}
		if err != nil {
			return nil, err
		}
	}
	if n := d.InputOffset(); n > 0 { // frames were not read beyond their end
		all.Truncate(int(n))
	}
	return all.Bytes(), nil
}
