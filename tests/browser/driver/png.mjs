// SPDX-License-Identifier: Apache-2.0
// Just enough of PNG to tell a picture from a black rectangle: 8-bit RGB and RGBA, not interlaced,
// which is what all three engines write. A package for this would be larger than the need.
import { inflateSync } from 'node:zlib';

const kChannels = { 2: 3, 6: 4 };

export function decodePng(bytes) {
  if (bytes.toString('latin1', 1, 4) !== 'PNG') throw new Error('screenshot: not a PNG');
  let width = 0;
  let height = 0;
  let channels = 0;
  const parts = [];
  for (let at = 8; at + 8 <= bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const kind = bytes.toString('latin1', at + 4, at + 8);
    const body = bytes.subarray(at + 8, at + 8 + length);
    if (kind === 'IHDR') {
      width = body.readUInt32BE(0);
      height = body.readUInt32BE(4);
      channels = kChannels[body[9]];
      if (body[8] !== 8 || !channels || body[12] !== 0) {
        throw new Error(
          `screenshot: PNG of depth ${body[8]}, colour type ${body[9]} is not read here`,
        );
      }
    } else if (kind === 'IDAT') {
      parts.push(body);
    }
    at += 12 + length;
  }
  const data = inflateSync(Buffer.concat(parts));
  return { width, height, channels, data: unfilter(data, width, height, channels) };
}

function unfilter(data, width, height, channels) {
  const stride = width * channels;
  const out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; ++y) {
    const filter = data[y * (stride + 1)];
    const from = y * (stride + 1) + 1;
    const row = y * stride;
    for (let x = 0; x < stride; ++x) {
      const left = x >= channels ? out[row + x - channels] : 0;
      const up = y > 0 ? out[row + x - stride] : 0;
      const corner = x >= channels && y > 0 ? out[row + x - stride - channels] : 0;
      out[row + x] = data[from + x] + predict(filter, left, up, corner);
    }
  }
  return out;
}

function predict(filter, left, up, corner) {
  switch (filter) {
    case 0:
      return 0;
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) >> 1;
    default: {
      const p = left + up - corner;
      const dl = Math.abs(p - left);
      const du = Math.abs(p - up);
      const dc = Math.abs(p - corner);
      return dl <= du && dl <= dc ? left : du <= dc ? up : corner;
    }
  }
}

/** How many colours the picture has, counting up to `limit`, and whether every pixel is black. */
export function inspect({ data, channels }, limit = 16) {
  const colours = new Set();
  for (let at = 0; at < data.length && colours.size < limit; at += channels) {
    colours.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
  }
  return { colours: colours.size, black: colours.size === 1 && colours.has(0) };
}
