package config

import (
	"fmt"
	"strings"
)

// Reference is the whole of the keys as Markdown: docs/configuration.md.
func Reference() string {
	var b strings.Builder
	b.WriteString(`# Configuration

<!-- Printed by: walbridge config reference. Do not edit. -->

One YAML file for each daemon, ` + "`walbridge serve --config FILE`" + `. It is strict: an unknown key, a value without
its unit or a contradiction is refused with file, line, column, key, value and what would be valid, by the daemon as by
` + "`walbridge config check FILE`" + `. Sizes are whole numbers with B, KiB, MiB or GiB; durations have ms, s, m or h.

SIGHUP (` + "`systemctl reload walbridge`" + `) reads the file again. Keys marked *reload* and the files of ` + "`tls`" + ` take effect at once; a
change of another key is logged as waiting for a restart. A file with a mistake changes nothing.
`)
	section := "-"
	for _, k := range Keys {
		name, _, nested := strings.Cut(k.Path, ".")
		if !nested || strings.HasSuffix(name, "[]") {
			name = ""
		}
		if name != section {
			section = name
			title := "The daemon and its zones"
			if name != "" {
				title = "`" + name + "`"
			}
			fmt.Fprintf(&b, "\n## %s\n\n| key | default | must be | means |\n|---|---|---|---|\n", title)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Path, k.shownDefault(), k.Valid, k.means())
	}
	return b.String()
}

func (k Key) shownDefault() string {
	switch {
	case k.Path == "cluster_id" || k.Path == "broker_id" || strings.HasPrefix(k.Path, "zones"):
		return "*required*"
	case k.Default == "" || k.Default == "[]":
		return ""
	}
	return "`" + strings.Trim(k.Default, `"`) + "`"
}

func (k Key) means() string {
	doc := k.Doc
	if k.Reload {
		doc += " *Reload.*"
	}
	if k.Env != "" {
		doc += " May come from the environment variable `" + k.Env + "`."
	}
	return doc
}
