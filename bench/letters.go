package main

import "strings"

// letterWidth is that of a letter and the space behind it.
const letterWidth = 6

// letters is a typeface of 5 by 8 dots, so that a picture needs no font file: for each character its columns, from left
// to right, whose lowest bit is the topmost dot. There are those characters that plots use.
const letters = `
, 00 80 70 30 00|- 08 08 08 08 08|. 00 00 60 60 00|( 00 1C 22 41 00|) 00 41 22 1C 00|/ 20 10 08 04 02|: 00 00 14 00 00
0 3E 51 49 45 3E|1 00 42 7F 40 00|2 72 49 49 49 46|3 21 41 49 4D 33|4 18 14 12 7F 10|5 27 45 45 45 39|6 3C 4A 49 49 31
7 41 21 11 09 07|8 36 49 49 49 36|9 46 49 49 29 1E|A 7C 12 11 12 7C|B 7F 49 49 49 36|C 3E 41 41 41 22|F 7F 09 09 09 01
I 00 41 7F 41 00|K 7F 08 14 22 41|L 7F 40 40 40 40|M 7F 02 1C 02 7F|N 7F 04 08 10 7F|P 7F 09 09 09 06|T 03 01 7F 01 03
W 3F 40 38 40 3F|a 20 54 54 78 40|b 7F 28 44 44 38|c 38 44 44 44 28|d 38 44 44 28 7F|e 38 54 54 54 18|f 00 08 7E 09 02
g 18 A4 A4 9C 78|h 7F 08 04 04 78|i 00 44 7D 40 00|j 20 40 40 3D 00|k 7F 10 28 44 00|l 00 41 7F 40 00|m 7C 04 78 04 78
n 7C 08 04 04 78|o 38 44 44 44 38|p FC 18 24 24 18|q 18 24 24 18 FC|r 7C 08 04 04 08|s 48 54 54 54 24|t 04 04 3F 44 24
u 3C 40 40 20 7C|v 1C 20 40 20 1C|w 3C 40 30 40 3C|x 44 28 10 28 44|y 4C 90 90 90 7C|z 44 64 54 4C 44|S 26 49 49 49 32
; 00 40 34 00 00|+ 08 08 3E 08 08`

// letter returns the columns of a character, or blank ones.
func letter(c byte) (columns [5]byte) {
	for entry := range strings.SplitSeq(strings.ReplaceAll(letters, "\n", "|"), "|") {
		if entry != "" && entry[0] == c {
			for i, column := range strings.Fields(entry[1:]) {
				columns[i] = nibble(column[0])<<4 | nibble(column[1])
			}
		}
	}
	return columns
}

func nibble(digit byte) byte { return byte(strings.IndexByte("0123456789ABCDEF", digit)) }
