package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/s3"
	"github.com/walbridge/walbridge/integration/versitygw"
)

// barePut stores an object as the product does, with the SDK alone.
func barePut(ctx context.Context, client *sdk.Client, bucket, key string, p []byte) error {
	sum := base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, backends.Checksum(p)))
	_, err := client.PutObject(ctx, &sdk.PutObjectInput{
		Bucket: &bucket, Key: &key, Body: bytes.NewReader(p), ChecksumCRC32C: &sum, IfNoneMatch: aws.String("*"),
	}, unsigned)
	return err
}

// unsigned spares the baseline what the product spares itself: a SHA-256 of the body.
func unsigned(o *sdk.Options) {
	o.APIOptions = append(o.APIOptions, v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware)
}

// s3Puts stores objects of 300 KiB on a real server, through the product and through the SDK alone.
func s3Puts(ctx context.Context) (rows []Row, err error) {
	dir, err := os.MkdirTemp("", "walbridge-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	const bucket = "bench"
	server, err := versitygw.Start(ctx, dir, bucket)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	if err := s3Identity(versitygw.AccessKey, versitygw.SecretKey); err != nil {
		return nil, err
	}
	b, err := s3.Open(ctx, s3.Options{Bucket: bucket, Endpoint: server.URL(), Region: versitygw.Region})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	client := s3Client(server.URL(), versitygw.AccessKey, versitygw.SecretKey)
	load := &putLoad{dir: server.BucketDir(bucket), object: make([]byte, copyBytes)}
	_, _ = rand.Read(load.object) // it never fails
	product := func(ctx context.Context, name string, p []byte) error { return s3Append(ctx, b, name, p) }
	bare := func(ctx context.Context, name string, p []byte) error { return barePut(ctx, client, bucket, name, p) }

	if wanted("s3.put_cpu") {
		var cpu [2][]float64
		err := interleave(minBlocks, load.cpu(ctx, product, &cpu[0]), load.cpu(ctx, bare, &cpu[1]))
		if err != nil {
			return nil, err
		}
		rows = append(rows, compare("s3.put_cpu", "CPU-s/GiB", median(cpu[0]), median(cpu[1]), "<=", 1.25))
	}
	if wanted("s3.put_p99") {
		var p99 [2][]float64
		err := interleave(minBlocks, load.p99(ctx, product, &p99[0]), load.p99(ctx, bare, &p99[1]))
		if err != nil {
			return nil, err
		}
		rows = append(rows, compare("s3.put_p99", "ms", median(p99[0]), median(p99[1]), "<=", 1.2))
	}
	return rows, nil
}

// putLoad stores one object under many names, and clears up after each block.
type putLoad struct {
	dir    string // the bucket's
	object []byte
	blocks int
}

// block makes the name of a block's directory, and what removes it.
func (l *putLoad) block() (name string, remove func() error) {
	l.blocks++
	name = fmt.Sprintf("block-%d", l.blocks)
	return name, func() error { return os.RemoveAll(filepath.Join(l.dir, name)) }
}

// cpu measures the processor's time of this process, in seconds for a GiB.
func (l *putLoad) cpu(ctx context.Context, put putter, results *[]float64) func() error {
	return func() error {
		const puts = 300
		name, remove := l.block()
		before, err := processorTime()
		for i := 0; i < puts && err == nil; i++ {
			err = l.put(ctx, put, fmt.Sprintf("%s/%d", name, i))
		}
		after, err2 := processorTime()
		gib := float64(puts) * float64(len(l.object)) / (1 << 30)
		*results = append(*results, (after-before).Seconds()/gib)
		return errors.Join(err, err2, remove())
	}
}

// p99 measures the puts of 4 s at 100 a second, each from when it was due.
func (l *putLoad) p99(ctx context.Context, put putter, results *[]float64) func() error {
	return func() error {
		const rate, puts = 100, 400
		name, remove := l.block()
		times, errs := make([]float64, puts), make([]error, puts)
		var group sync.WaitGroup
		start := time.Now()
		for i := range puts {
			due := start.Add(time.Duration(i) * time.Second / rate)
			time.Sleep(time.Until(due))
			group.Go(func() {
				errs[i] = l.put(ctx, put, fmt.Sprintf("%s/%d", name, i))
				times[i] = millis(time.Since(due))
			})
		}
		group.Wait()
		*results = append(*results, quantile(times, 0.99))
		return errors.Join(errors.Join(errs...), remove())
	}
}

func (l *putLoad) put(ctx context.Context, put putter, name string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return put(ctx, name, l.object)
}

func processorTime() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}
