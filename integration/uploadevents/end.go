package uploadevents

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

// inTheEnd checks every topic that the cases have left, after all events.
func (s *System) inTheEnd(ctx context.Context) error {
	details, err := s.admin.ListTopics(ctx)
	if err != nil {
		return fmt.Errorf("list topics: %w", err)
	}
	var topics []string
	for _, name := range details.Names() {
		if strings.HasPrefix(name, "e2e.") {
			topics = append(topics, name)
		}
	}
	verified, err := s.check(ctx, topics...)
	if err != nil {
		return err
	}
	s.Figures["partitions"], s.Figures["records"] = verified.Partitions, verified.Records
	s.Figures["log_bytes"] = verified.LogBytes
	return nil
}

// untouched is a topic for cases that damage it; what they do is their own affair.
func (s *System) untouched(ctx context.Context, topic string) error {
	if err := s.create(ctx, topic, nil, []int32{1, 2}); err != nil {
		return err
	}
	return s.checked(ctx, topic)
}

// noticesAWrongByte flips one byte of the leader's log: the check must find it.
func (s *System) noticesAWrongByte(ctx context.Context) error {
	const topic = "e2e.wrong"
	if err := s.untouched(ctx, topic); err != nil {
		return err
	}
	var file string
	for _, dir := range s.broker(1).LogDirs {
		if found, _ := filepath.Glob(filepath.Join(dir, topic+"-0", "*.log")); len(found) > 0 {
			file = found[0]
		}
	}
	if err := flip(file); err != nil {
		return fmt.Errorf("flip a byte: %w", err)
	}
	_, err := s.verify(ctx, topic)
	return mustFail(err, topic+"-0: ")
}

// noticesASkippedBatch deletes an object that holds batches of the log: the check must find the gap.
func (s *System) noticesASkippedBatch(ctx context.Context) error {
	const topic = "e2e.skipped"
	if err := s.untouched(ctx, topic); err != nil {
		return err
	}
	d := s.daemons[0]
	object, err := s.objectOf(ctx, topic)
	if err != nil {
		return err
	}
	d.Kill() // It has frames of the object in memory.
	for _, zone := range []string{"zone-a", "zone-b", "zone-c"} {
		if err := os.Remove(filepath.Join(d.ZoneDir(zone), object)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := d.Start(ctx); err != nil {
		return err
	}
	_, err = s.verify(ctx, topic)
	return mustFail(err, topic+"-0: ")
}

// objectOf is the object with the first entry of partition 0 of the topic, in the WAL of broker 1.
func (s *System) objectOf(ctx context.Context, topic string) (string, error) {
	stream, err := s.daemons[0].Client().ListCombinedSegments(ctx, &walbridgev1.ListCombinedSegmentsRequest{Topic: topic})
	if err != nil {
		return "", fmt.Errorf("list what is stored of %s: %w", topic, err)
	}
	for {
		r, err := stream.Recv()
		if err != nil {
			return "", fmt.Errorf("find the first entry of %s: %w", topic, err)
		}
		if slices.ContainsFunc(r.GetIndex().GetEntries(), func(e *framev1.Entry) bool {
			return e.Topic == topic && e.BaseOffset == 0
		}) {
			return r.Object, nil
		}
	}
}

// mustFail turns an error that contains part into success, and anything else into an error.
func mustFail(err error, part string) error {
	if err == nil {
		return errors.New("the check noticed nothing")
	}
	if !strings.Contains(err.Error(), part) {
		return fmt.Errorf("the check noticed something else: %w", err)
	}
	return nil
}

// flip changes one byte in the middle of the file.
func flip(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var b [1]byte
	if _, err := f.ReadAt(b[:], info.Size()/2); err != nil {
		return err
	}
	b[0] ^= 1
	_, err = f.WriteAt(b[:], info.Size()/2)
	return err
}
