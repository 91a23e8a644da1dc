package process

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// tail returns the last lines of a log, indented, at most 4 KiB of it.
func tail(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Append(nil, err)
	}
	defer f.Close()
	const most = 4 << 10
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		_, _ = f.Seek(max(0, size-most), io.SeekStart)
	}
	b, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return fmt.Append(nil, err)
	}
	const lines = 20
	all := bytes.Split(bytes.TrimRight(b, "\n"), []byte("\n"))
	all = all[max(0, len(all)-lines):]
	return append([]byte("    "), bytes.Join(all, []byte("\n    "))...)
}
