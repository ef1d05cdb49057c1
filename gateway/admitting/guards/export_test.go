package guards

import "context"

// Reread looks at the folder once.
func (f *Folder) Reread(ctx context.Context) (bool, error) { return f.reread(ctx) }
