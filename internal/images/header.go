package images

import (
	"bytes"
	"encoding/binary"
)

func pngSize(b []byte) (int, int, bool) {
	if len(b) < 24 || !bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")) || string(b[12:16]) != "IHDR" {
		return 0, 0, false
	}
	return int(binary.BigEndian.Uint32(b[16:])), int(binary.BigEndian.Uint32(b[20:])), true
}

func gifSize(b []byte) (int, int, bool) {
	if len(b) < 10 || !(bytes.HasPrefix(b, []byte("GIF87a")) || bytes.HasPrefix(b, []byte("GIF89a"))) {
		return 0, 0, false
	}
	return int(binary.LittleEndian.Uint16(b[6:])), int(binary.LittleEndian.Uint16(b[8:])), true
}

// webpSize reads the first chunk of a RIFF file: VP8 (lossy, RFC 6386 §9.1), VP8L
// (lossless: 14 bits a side behind the signature byte) or VP8X (extended: 24 bits).
func webpSize(b []byte) (int, int, bool) {
	if len(b) < 30 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WEBP" {
		return 0, 0, false
	}
	switch string(b[12:16]) {
	case "VP8 ":
		if !bytes.Equal(b[23:26], []byte{0x9d, 0x01, 0x2a}) {
			return 0, 0, false
		}
		return int(binary.LittleEndian.Uint16(b[26:])) & 0x3fff, int(binary.LittleEndian.Uint16(b[28:])) & 0x3fff, true
	case "VP8L":
		if b[20] != 0x2f {
			return 0, 0, false
		}
		bits := binary.LittleEndian.Uint32(b[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, true
	case "VP8X":
		return uint24(b[24:]) + 1, uint24(b[27:]) + 1, true
	}
	return 0, 0, false
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// jpegSize walks the segments up to the frame header (SOF0 … SOF15 without the
// three markers in that range that are no frames).
func jpegSize(b []byte) (int, int, bool) {
	if len(b) < 4 || b[0] != 0xff || b[1] != 0xd8 {
		return 0, 0, false
	}
	for pos := 2; pos+9 <= len(b); {
		marker := b[pos+1]
		switch {
		case b[pos] != 0xff:
			return 0, 0, false
		case marker == 0xff:
			pos++
			continue
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			return int(binary.BigEndian.Uint16(b[pos+7:])), int(binary.BigEndian.Uint16(b[pos+5:])), true
		case marker == 0x01 || marker >= 0xd0 && marker <= 0xd8:
			pos += 2
			continue
		case marker == 0xd9 || marker == 0xda:
			return 0, 0, false
		}
		pos += 2 + int(binary.BigEndian.Uint16(b[pos+2:]))
	}
	return 0, 0, false
}
