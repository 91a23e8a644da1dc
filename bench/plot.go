package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"
)

// gcsPlot is the blog's table: how long it takes to make some bytes durable, step by step, by size.
type gcsPlot struct {
	steps, sizes []string
	p50, p99     [][]float64 // by size, then step; in ms
}

// canvas is what a plot is drawn on. Its unit is a pixel.
type canvas interface {
	rect(x, y, w, h int, c color.RGBA)
	// text is set in letters 6 wide and 8 high. anchor says what x is: -1 its left end, 0 its middle, 1 its right end.
	text(x, y, anchor int, s string, c color.RGBA)
}

const (
	plotWidth, plotHeight = 800, 440
	plotLeft, plotRight   = 70, 780
	plotTop, plotBottom   = 70, 380
)

// Colours that differ in lightness too, for those who see no others.
var plotColors = []color.RGBA{
	{0x33, 0x22, 0x88, 255}, {0x88, 0x22, 0x55, 255}, {0xcc, 0x66, 0x77, 255}, {0xdd, 0xcc, 0x77, 255},
	{0x11, 0x77, 0x33, 255},
}

var (
	plotInk  = color.RGBA{0x20, 0x20, 0x20, 255}
	plotGrid = color.RGBA{0xd8, 0xd8, 0xd8, 255}
)

// write writes path.svg and path.png.
func (g gcsPlot) write(path string) error {
	var svg svgCanvas
	g.draw(&svg)
	if err := os.WriteFile(path+".svg", svg.bytes(), 0o644); err != nil {
		return err
	}
	raster := newPNGCanvas()
	g.draw(raster)
	var b bytes.Buffer
	if err := png.Encode(&b, raster.image); err != nil {
		return err
	}
	return os.WriteFile(path+".png", b.Bytes(), 0o644)
}

func (g gcsPlot) draw(c canvas) {
	c.rect(0, 0, plotWidth, plotHeight, color.RGBA{255, 255, 255, 255})
	c.text(plotWidth/2, 14, 0, "Time until bytes are durable in a zonal bucket of a fake Cloud Storage", plotInk)
	c.text(plotWidth/2, 28, 0, "p50 in ms (mark: p99), log scale; create, finalize 40 ms, append 1 ms, close 5 ms",
		plotInk)
	y := func(ms float64) int { // 1 to 1000 ms
		at := min(max(math.Log10(ms)/3, 0), 1)
		return plotBottom - int(math.Round(at*(plotBottom-plotTop)))
	}
	for decade := 1.; decade <= 1000; decade *= 10 {
		for _, minor := range []float64{1, 2, 5} {
			if ms := decade * minor; ms <= 1000 {
				c.rect(plotLeft, y(ms), plotRight-plotLeft, 1, plotGrid)
				c.text(plotLeft-6, y(ms)-4, 1, fmt.Sprintf("%g", ms), plotInk)
			}
		}
	}
	c.text(plotLeft-6, plotTop-18, 1, "ms", plotInk)
	c.text((plotLeft+plotRight)/2, plotBottom+22, 0, "bytes written at a time", plotInk)
	group := (plotRight - plotLeft) / max(len(g.sizes), 1)
	bar := (group - 20) / max(len(g.steps), 1)
	for i, size := range g.sizes {
		left := plotLeft + i*group + 10
		c.text(left+(group-20)/2, plotBottom+8, 0, size, plotInk)
		for j, ms := range g.p50[i] {
			x := left + j*bar
			c.rect(x+1, y(ms), bar-2, plotBottom-y(ms), plotColors[j%len(plotColors)])
			c.rect(x+bar/2-6, y(g.p99[i][j]), 12, 2, plotInk)
			c.text(x+bar/2, y(ms)+5, 0, fmt.Sprintf("%.3g", ms), onTop(plotColors[j%len(plotColors)]))
		}
	}
	c.rect(plotLeft, plotTop, 1, plotBottom-plotTop, plotInk)
	c.rect(plotLeft, plotBottom, plotRight-plotLeft, 1, plotInk)
	x := plotLeft
	for j, step := range g.steps {
		c.rect(x, plotHeight-22, 10, 10, plotColors[j%len(plotColors)])
		c.text(x+14, plotHeight-21, -1, step, plotInk)
		x += 14 + 6*len(step) + 22
	}
}

// onTop is a colour that can be read on c.
func onTop(c color.RGBA) color.RGBA {
	if int(c.R)+int(c.G)+int(c.B) > 450 {
		return plotInk
	}
	return color.RGBA{255, 255, 255, 255}
}

type svgCanvas struct{ body bytes.Buffer }

func (s *svgCanvas) rect(x, y, w, h int, c color.RGBA) {
	fmt.Fprintf(&s.body, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", x, y, w, h, hex(c))
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

func (s *svgCanvas) text(x, y, anchor int, t string, c color.RGBA) {
	name := map[int]string{-1: "start", 0: "middle", 1: "end"}[anchor]
	fmt.Fprintf(&s.body, `<text x="%d" y="%d" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y+8, name, hex(c), t)
}

func (s *svgCanvas) bytes() []byte {
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" `+
		`font-family="monospace" font-size="10">`+"\n", plotWidth, plotHeight)
	return append(append([]byte(head), s.body.Bytes()...), "</svg>\n"...)
}

// pngCanvas draws each unit as a square of pngScale pixels.
type pngCanvas struct{ image *image.RGBA }

const pngScale = 2

func newPNGCanvas() *pngCanvas {
	return &pngCanvas{image.NewRGBA(image.Rect(0, 0, plotWidth*pngScale, plotHeight*pngScale))}
}

func (p *pngCanvas) rect(x, y, w, h int, c color.RGBA) {
	r := image.Rect(x*pngScale, y*pngScale, (x+w)*pngScale, (y+h)*pngScale)
	draw.Draw(p.image, r, image.NewUniform(c), image.Point{}, draw.Src)
}

func (p *pngCanvas) text(x, y, anchor int, s string, c color.RGBA) {
	x -= (anchor + 1) * len(s) * letterWidth / 2
	for i := range len(s) {
		for column, bits := range letter(s[i]) {
			for row := range 8 {
				if bits>>row&1 == 1 {
					p.rect(x+i*letterWidth+column, y+row, 1, 1, c)
				}
			}
		}
	}
}
