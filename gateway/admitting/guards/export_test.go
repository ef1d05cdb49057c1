package guards

import (
	"context"
	"time"
)

// Reread looks at the folder once.
func (f *Folder) Reread(ctx context.Context) (bool, error) { return f.reread(ctx) }

// Token is what a request at that time sends of the file.
func (c *Credential) Token(now time.Time) (string, error) { return c.token.read(now) }
