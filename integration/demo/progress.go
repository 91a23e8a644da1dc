package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/term"
)

// progress tells what the demo does: a line for each step that is done and, on a terminal, one line below them that
// says what goes on now.
type progress struct {
	out      *os.File
	terminal bool
	since    time.Time
}

func newProgress(out *os.File) *progress {
	return &progress{out: out, terminal: term.IsTerminal(int(out.Fd())), since: time.Now()}
}

// now replaces the last line.
func (p *progress) now(format string, args ...any) {
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[2K%6.1fs  … %s", p.seconds(), fmt.Sprintf(format, args...))
	}
}

// done adds a line that stays.
func (p *progress) done(format string, args ...any) {
	p.clear()
	fmt.Fprintf(p.out, "%6.1fs  %s\n", p.seconds(), fmt.Sprintf(format, args...))
}

// clear removes the line of now.
func (p *progress) clear() {
	if p.terminal {
		fmt.Fprint(p.out, "\r\x1b[2K")
	}
}

func (p *progress) seconds() float64 { return time.Since(p.since).Seconds() }
