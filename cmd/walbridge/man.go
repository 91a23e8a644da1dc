package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manCommand writes the manual pages that the packages have. SOURCE_DATE_EPOCH is their date.
func manCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "man DIRECTORY", Short: "Write the manual pages", Hidden: true, Args: exactArgs(1),
		Example: "  walbridge man /usr/share/man/man1",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Section: "1", Source: "Walbridge " + buildVersion(), Manual: "Walbridge", Date: new(time.Time)}
			if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
				var seconds int64
				if _, err := fmt.Sscan(epoch, &seconds); err != nil {
					return coded{exitUsage, fmt.Errorf("SOURCE_DATE_EPOCH %q: %w", epoch, err)}
				}
				*header.Date = time.Unix(seconds, 0).UTC()
			}
			return doc.GenManTree(root, header, args[0])
		},
	}
}
