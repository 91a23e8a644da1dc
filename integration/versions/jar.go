package versions

import (
	"archive/zip"
	"fmt"
	"os"
)

// rewriteJar writes a jar from another's files: write puts what becomes of each into it and says whether that is
// another. It fails where nothing changes.
func rewriteJar(from, to string, write func(entry *zip.File, out *zip.Writer) (changed bool, err error)) error {
	in, err := zip.OpenReader(from)
	if err != nil {
		return err
	}
	defer in.Close()
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	defer file.Close()
	out := zip.NewWriter(file)
	some := false
	for _, entry := range in.File {
		if entry.FileInfo().IsDir() {
			continue
		}
		changed, err := write(entry, out)
		if err != nil {
			return err
		}
		some = some || changed
	}
	if !some {
		return fmt.Errorf("nothing to change in %s", from)
	}
	return out.Close()
}
