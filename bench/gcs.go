package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/walbridge/walbridge/backends"
)

// defaultAppends is how many frames an object takes where the product reuses its writers.
const defaultAppends = 32

// gcsGroup measures the blog's steps and the product on a zonal bucket of the fake: 40 ms to create or to finalize,
// 1 ms to append, 5 ms to close.
func gcsGroup(ctx context.Context) (rows []Row, err error) {
	fake, err := startGCSFake(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fake.stop()) }()
	for _, part := range []struct {
		name string
		run  func(context.Context, string) ([]Row, error)
	}{
		{"gcs.p50_vs_naive gcs.p50_vs_pooled gcs.p99_vs_pooled", gcsSteps},
		{"gcs.objects_per_gib", gcsRotation},
		{"gcs.writer_memory", gcsWriterMemory},
		{"gcs.read_p99_many_streams", gcsManyStreams},
	} {
		if !wanted(part.name) {
			continue
		}
		got, err := part.run(ctx, fake.address)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
		rows = append(rows, got...)
	}
	return rows, nil
}

// gcsStep is one way to make n objects of p, or frames, durable.
type gcsStep struct {
	name string
	run  func(ctx context.Context, p []byte, n int) ([]float64, error)
	slow bool // 40 ms and more: fewer are enough
}

var gcsSizes = []struct {
	name  string
	bytes int
	n     int // in one block
}{{"10B", 10, 100}, {"256KiB", 256 << 10, 100}, {"1MiB", 1 << 20, 60}, {"4MiB", 4 << 20, 40}}

// gcsSteps compares the product with the bare SDK, and draws what it found.
func gcsSteps(ctx context.Context, address string) (rows []Row, err error) {
	bare, err := newGCSBare(ctx, address)
	if err != nil {
		return nil, err
	}
	product, err := startGCSProduct(ctx, address, defaultAppends)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, product.stop(), bare.client.Close()) }()
	steps := []gcsStep{
		{"naive", bare.naive, true},
		{"not finalized", bare.unfinalized, true},
		{"pre-warmed, Close", bare.warmClose, true},
		{"pre-warmed, Flush", bare.warmFlush, false},
		{"Walbridge", product.copies, false},
	}
	plot := gcsPlot{}
	for _, s := range steps {
		plot.steps = append(plot.steps, s.name)
	}
	for _, size := range gcsSizes {
		p50, p99, err := gcsInterleave(ctx, steps, make([]byte, size.bytes), size.n)
		if err != nil {
			return nil, err
		}
		plot.sizes, plot.p50, plot.p99 = append(plot.sizes, size.name), append(plot.p50, p50), append(plot.p99, p99)
		const naive, pooled, ours = 0, 3, 4
		switch size.name {
		case "10B":
			rows = append(rows, compare("gcs.p50_vs_naive/10B", "ms", p50[ours], p50[naive], "<=", 1./30))
		case "1MiB":
			rows = append(rows, compare("gcs.p50_vs_naive/1MiB", "ms", p50[ours], p50[naive], "<=", 1./8))
		}
		rows = append(rows,
			compare("gcs.p50_vs_pooled/"+size.name, "ms", p50[ours], p50[pooled], "<=", 1.25),
			compare("gcs.p99_vs_pooled/"+size.name, "ms", p99[ours], p99[pooled], "<=", 1.5))
	}
	plot.print(os.Stderr)
	return rows, plot.write("bench/gcs")
}

// gcsInterleave runs the steps forwards and backwards by turns, and returns the median over the blocks of each step's
// p50 and p99.
func gcsInterleave(ctx context.Context, steps []gcsStep, p []byte, n int) (p50, p99 []float64, err error) {
	blocks50, blocks99 := make([][]float64, len(steps)), make([][]float64, len(steps))
	for block := range minBlocks + 1 {
		order := make([]int, len(steps))
		for i := range order {
			order[i] = i
		}
		if block%2 == 1 {
			slices.Reverse(order)
		}
		for _, i := range order {
			count := n
			if steps[i].slow {
				count = n / 10
			}
			times, err := steps[i].run(ctx, p, count)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", steps[i].name, err)
			}
			if block > 0 { // The first one warms up.
				blocks50[i] = append(blocks50[i], quantile(times, 0.5))
				blocks99[i] = append(blocks99[i], quantile(times, 0.99))
			}
		}
	}
	for i := range steps {
		p50, p99 = append(p50, median(blocks50[i])), append(p99, median(blocks99[i]))
	}
	return p50, p99, nil
}

// gcsRotation writes 100 frames of 256 KiB a second, with one frame to an object and with many.
func gcsRotation(ctx context.Context, address string) ([]Row, error) {
	const rate, seconds, size = 100, 3, 256 << 10
	var perGiB, p99 [2][]float64
	block := func(i, appends int) func() error {
		return func() error {
			g, err := startGCSProduct(ctx, address, appends)
			if err != nil {
				return err
			}
			sections := gcsSections(make([]byte, size))
			times, err := pacedDo(rate, time.Second, func() error { _, err := g.Copy(ctx, sections, 0); return err })
			if err == nil { // The first second warmed up.
				times, err = pacedDo(rate, seconds*time.Second, func() error { _, err := g.Copy(ctx, sections, 0); return err })
			}
			if err := errors.Join(err, g.stop()); err != nil {
				return err
			}
			n, err := g.objects(ctx, address)
			stored := float64(rate*(seconds+1)*size) / (1 << 30)
			perGiB[i], p99[i] = append(perGiB[i], float64(n)/stored), append(p99[i], quantile(times, 0.99))
			return err
		}
	}
	if err := interleave(minBlocks, block(0, defaultAppends), block(1, 1)); err != nil {
		return nil, err
	}
	r := compare("gcs.objects_per_gib", "objects", median(perGiB[0]), median(perGiB[1]), "<=", 1./16)
	slower := median(p99[0]) / median(p99[1])
	r.Want += fmt.Sprintf(", p99 %.1f ms against %.1f ms", median(p99[0]), median(p99[1]))
	r.OK = r.OK && slower <= 1.25
	return []Row{r}, nil
}

// pacedDo starts rate calls a second and returns how long each took from when it was due.
func pacedDo(rate int, d time.Duration, do func() error) ([]float64, error) {
	n := int(d.Seconds() * float64(rate))
	times, errs := make([]float64, n), make([]error, n)
	var group sync.WaitGroup
	start := time.Now()
	for i := range n {
		due := start.Add(time.Duration(i) * time.Second / time.Duration(rate))
		time.Sleep(time.Until(due))
		group.Go(func() {
			errs[i] = do()
			times[i] = millis(time.Since(due))
		})
	}
	group.Wait()
	return times, errors.Join(errs...)
}

// gcsWriterMemory is what 64 writers take that stand ready in the pool: heap and stacks.
func gcsWriterMemory(ctx context.Context, address string) ([]Row, error) {
	b, err := openGCS(ctx, address)
	if err != nil {
		return nil, err
	}
	const n = 64
	// One writer for each connection first, so that connections are not counted.
	first, err := gcsWriters(ctx, b, "memory/first", 32)
	if err != nil {
		return nil, err
	}
	before := memoryInUse()
	writers, err := gcsWriters(ctx, b, "memory/more", n)
	if err != nil {
		return nil, err
	}
	after := memoryInUse()
	for _, w := range append(first, writers...) {
		err = errors.Join(err, w.Close(ctx))
	}
	return []Row{measure("gcs.writer_memory", "MiB", float64(after-before)/(1<<20), 8)}, errors.Join(err, b.Close())
}

func gcsWriters(ctx context.Context, b backends.Bucket, dir string, n int) ([]backends.Writer, error) {
	writers, errs := make([]backends.Writer, n), make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { writers[i], errs[i] = b.Create(ctx, fmt.Sprintf("%s/%d-%d", dir, time.Now().UnixNano(), i)) })
	}
	group.Wait()
	return writers, errors.Join(errs...)
}

func memoryInUse() int64 {
	runtime.GC()
	runtime.GC() // What the first one found unused, pools keep until the second.
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// gcsManyStreams compares the p99 of 100 readers beside 300 open writers with that beside 10. Appends come as often in
// both.
func gcsManyStreams(ctx context.Context, address string) (rows []Row, err error) {
	const readers, readRate, appendRate = 100, 200, 50
	b, err := openGCS(ctx, address)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	object := fmt.Sprintf("read/%d", time.Now().UnixNano())
	w, err := b.Create(ctx, object)
	if err != nil {
		return nil, err
	}
	content := make([]byte, 64<<10)
	if err := errors.Join(w.Append(ctx, content, backends.Checksum(content)), w.Close(ctx)); err != nil {
		return nil, err
	}
	var p99 [2][]float64
	block := func(i, writers int) func() error {
		return func() error {
			open, err := gcsWriters(ctx, b, "streams", writers)
			if err != nil {
				return err
			}
			times, err := gcsReadBeside(ctx, b, object, open, readers, readRate, appendRate)
			p99[i] = append(p99[i], quantile(times, 0.99))
			for _, w := range open {
				err = errors.Join(err, w.Close(ctx))
			}
			return err
		}
	}
	if err := interleave(minBlocks, block(0, 300), block(1, 10)); err != nil {
		return nil, err
	}
	return []Row{compare("gcs.read_p99_many_streams", "ms", median(p99[0]), median(p99[1]), "<=", 2)}, nil
}

// gcsReadBeside reads for two seconds while the writers append in turn, and returns the reads' times.
func gcsReadBeside(
	ctx context.Context, b backends.Bucket, object string, writers []backends.Writer, readers, readRate, appendRate int,
) ([]float64, error) {
	var appending sync.WaitGroup
	var appendErr error
	running, stop := context.WithCancel(ctx)
	appending.Go(func() {
		p := make([]byte, 1000)
		tick := time.NewTicker(time.Second / time.Duration(appendRate))
		defer tick.Stop()
		for i := 0; appendErr == nil; i++ {
			select {
			case <-tick.C:
				appendErr = writers[i%len(writers)].Append(ctx, p, backends.Checksum(p))
			case <-running.Done():
				return
			}
		}
	})
	slots := make(chan []byte, readers)
	for range readers {
		slots <- make([]byte, 16<<10)
	}
	times, err := pacedDo(readRate, 2*time.Second, func() error {
		p := <-slots
		defer func() { slots <- p }()
		return b.ReadAt(ctx, object, p, 1000)
	})
	stop()
	appending.Wait()
	return times, errors.Join(err, appendErr)
}

// print writes the table that the plot shows.
func (g gcsPlot) print(f *os.File) {
	t := tabwriter.NewWriter(f, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "p50 / p99, ms\t"+strings.Join(g.steps, "\t")+"\t")
	for i, size := range g.sizes {
		fmt.Fprint(t, size, "\t")
		for j := range g.steps {
			fmt.Fprintf(t, "%.1f / %.1f\t", g.p50[i][j], g.p99[i][j])
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // It is for people; the rows are what counts.
}
