package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/walbridge/walbridge/backends"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	"github.com/walbridge/walbridge/server/frame"
)

func inspectCommand() *cobra.Command {
	var output string
	var indexOnly bool
	c := &cobra.Command{
		Use:   "inspect ZONE-URL|OBJECT-URL",
		Short: "Show and check what a zone holds, with no daemon and no broker",
		Long: `Inspect reads the objects of a zone, or one object, straight from the store: every frame and entry with its offsets,
and whether every checksum is right. Give a zone's URL as in the configuration, or that URL followed by an object's name.

With --output json there is one JSON object a line, for each stored object. An object that is empty was pre-warmed and
never used; that is no error. Exit code 3 where an object is corrupt or cut off.`,
		Example: `  walbridge inspect file:///srv/walbridge/zone-a
  walbridge inspect --output json file:///srv/walbridge/zone-a | jq .frames[].entries[].topic`,
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "text" && output != "json" {
				return coded{exitUsage, fmt.Errorf("--output %q: must be text or json", output)}
			}
			depth := frame.Whole
			if indexOnly {
				depth = frame.IndexOnly
			}
			return inspect(cmd.Context(), cmd.OutOrStdout(), args[0], output, depth)
		},
	}
	c.Flags().StringVar(&output, "output", "text", "text or json")
	c.Flags().BoolVar(&indexOnly, "index-only", false, "read headers and indexes only: faster, but the entries' bytes go unchecked")
	return c
}

// objectReport and what it holds is the JSON output; its fields are only ever added to.
type objectReport struct {
	Object  string        `json:"object"`
	State   string        `json:"state"` // ok, empty, or corrupt
	Problem string        `json:"problem,omitempty"`
	Bytes   int64         `json:"bytes"`
	Frames  []frameReport `json:"frames"`
}

type frameReport struct {
	Position    int64         `json:"position"`
	Length      int64         `json:"length"`
	CRC32C      string        `json:"crc32c"`
	ClusterID   string        `json:"cluster_id"`
	BrokerID    int32         `json:"broker_id"`
	Incarnation uint32        `json:"incarnation"`
	Entries     []entryReport `json:"entries"`
}

type entryReport struct {
	Topic          string `json:"topic"`
	TopicID        string `json:"topic_id"`
	Partition      int32  `json:"partition"`
	LeaderEpoch    int32  `json:"leader_epoch"`
	BrokerEpoch    int64  `json:"broker_epoch"`
	BaseOffset     int64  `json:"base_offset"`
	LastOffset     int64  `json:"last_offset"`
	MaxTimestampMS int64  `json:"max_timestamp_ms"`
	LogStartOffset int64  `json:"log_start_offset"`
	Restorable     bool   `json:"restorable"`
	Position       uint32 `json:"position"`
	Length         uint32 `json:"length"`
	CRC32C         string `json:"crc32c"`
}

func inspect(ctx context.Context, w io.Writer, target, output string, depth frame.Depth) error {
	zone, name, err := splitObject(target)
	if err != nil {
		return coded{exitUsage, err}
	}
	bucket, err := openZone(ctx, zone, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer bucket.Close()
	show := showText
	if output == "json" {
		show = func(w io.Writer, r objectReport) error { return json.NewEncoder(w).Encode(r) }
	}
	if name != "" {
		r, err := inspectObject(ctx, bucket, name, depth)
		if err != nil {
			return err
		}
		return errors.Join(show(w, r), corruptError(r.State == "corrupt", 1))
	}
	objects, corrupt, others := 0, 0, 0
	for object, err := range bucket.List(ctx, "") {
		if err != nil {
			return fmt.Errorf("list %s: %w", zone, err)
		}
		if _, _, err := frame.ParseName(object.Name); err != nil {
			others++ // A claim of an incarnation, or nothing of a zone.
			continue
		}
		r, err := inspectObject(ctx, bucket, object.Name, depth)
		if errors.Is(err, backends.ErrNotFound) {
			continue // Deleted since the listing.
		}
		if err != nil {
			return err
		}
		objects++
		if r.State == "corrupt" {
			corrupt++
		}
		if err := show(w, r); err != nil {
			return err
		}
	}
	if output == "text" {
		fmt.Fprintf(w, "%d objects, %d corrupt\n", objects, corrupt)
		if objects == 0 && others > 0 {
			fmt.Fprintf(w, "none of the %d files there has the name of an object: is it the zone's own URL?\n", others)
		}
	}
	return corruptError(corrupt > 0, corrupt)
}

func corruptError(corrupt bool, n int) error {
	if !corrupt {
		return nil
	}
	return coded{exitCorrupt, fmt.Errorf("%d corrupt objects", n)}
}

// splitObject tells a zone's URL from an object's: an object's path ends in what parses as an object's name.
func splitObject(target string) (zone, name string, err error) {
	u, err := url.Parse(target)
	if err != nil {
		return "", "", fmt.Errorf("%q: %w", target, err)
	}
	if u.Scheme == "" {
		return "", "", fmt.Errorf("%q is not a URL: must be like file:///srv/walbridge/zone-a", target)
	}
	parts := strings.Split(u.Path, "/")
	const depth = 5 // cluster, broker, incarnation, minute, ULID
	if len(parts) <= depth {
		return target, "", nil
	}
	tail := strings.Join(parts[len(parts)-depth:], "/")
	if _, _, err := frame.ParseName(tail); err != nil {
		return target, "", nil
	}
	u.Path = strings.TrimSuffix(u.Path, "/"+tail)
	return u.String(), tail, nil
}

func inspectObject(ctx context.Context, b backends.Bucket, name string, depth frame.Depth) (objectReport, error) {
	r := objectReport{Object: name, State: "empty", Frames: []frameReport{}}
	readAt := func(p []byte, off int64, _ func([]byte) error) error { return b.ReadAt(ctx, name, p, off) }
	for f, err := range frame.Scan(name, readAt, depth) {
		if corrupt, ok := errors.AsType[*frame.CorruptError](err); ok {
			r.State, r.Problem = "corrupt", corrupt.Error()
			return r, nil
		}
		if err != nil {
			return r, fmt.Errorf("read %s: %w", name, err)
		}
		r.State = "ok"
		r.Bytes = f.Position + f.Size()
		r.Frames = append(r.Frames, reportFrame(f))
	}
	return r, nil
}

func reportFrame(f frame.Scanned) frameReport {
	r := frameReport{
		Position: f.Position, Length: f.Size(), CRC32C: fmt.Sprintf("%08x", f.CRC32C), ClusterID: f.Index.GetClusterId(),
		BrokerID: f.Index.GetBrokerId(), Incarnation: f.Index.GetIncarnation(),
	}
	for _, e := range f.Index.GetEntries() {
		r.Entries = append(r.Entries, reportEntry(e))
	}
	return r
}

func reportEntry(e *framev1.Entry) entryReport {
	return entryReport{
		Topic: e.GetTopic(), TopicID: hex.EncodeToString(e.GetTopicId()), Partition: e.GetPartition(),
		LeaderEpoch: e.GetLeaderEpoch(), BrokerEpoch: e.GetBrokerEpoch(),
		BaseOffset: e.GetBaseOffset(), LastOffset: e.GetLastOffset(), MaxTimestampMS: e.GetMaxTimestampMs(),
		LogStartOffset: e.GetLogStartOffset(), Restorable: e.GetRestorable(),
		Position: e.GetPosition(), Length: e.GetLength(), CRC32C: fmt.Sprintf("%08x", e.GetCrc32C()),
	}
}

func showText(w io.Writer, r objectReport) error {
	fmt.Fprintf(w, "%s: %s, %d frames, %d bytes\n", r.Object, r.State, len(r.Frames), r.Bytes)
	for _, f := range r.Frames {
		fmt.Fprintf(w, "  frame at %d: %d bytes, CRC-32C %s, %d entries\n", f.Position, f.Length, f.CRC32C, len(f.Entries))
		for _, e := range f.Entries {
			offsets := "offsets unknown"
			if e.Restorable {
				offsets = fmt.Sprintf("offsets %d-%d epoch %d", e.BaseOffset, e.LastOffset, e.LeaderEpoch)
			}
			fmt.Fprintf(w, "    %s-%d: %s, %d bytes at %d\n", e.Topic, e.Partition, offsets, e.Length, e.Position)
		}
	}
	if r.Problem != "" {
		fmt.Fprintf(w, "  %s\n", r.Problem)
	}
	return nil
}
