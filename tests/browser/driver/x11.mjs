// SPDX-License-Identifier: Apache-2.0
// Gives the largest window of an X server the keyboard focus. Under Xvfb there is no window manager to
// do so, and a window without focus matches neither :focus nor :focus-visible. Four requests of the X
// protocol (version 11, encoding appendix) take less than a window manager or xdotool.
import { once } from 'node:events';
import { connect } from 'node:net';

const kQueryTree = 15;
const kGetWindowAttributes = 3;
const kGetGeometry = 14;
const kSetInputFocus = 42;
const kViewable = 2;
const kRevertToPointerRoot = 1;

class Connection {
  constructor(socket) {
    this.socket = socket;
    this.bytes = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      this.bytes = Buffer.concat([this.bytes, chunk]);
    });
  }

  async take(count) {
    while (this.bytes.length < count) await once(this.socket, 'data');
    const part = this.bytes.subarray(0, count);
    this.bytes = this.bytes.subarray(count);
    return part;
  }

  async root() {
    const hello = Buffer.alloc(12);
    hello.write('l');
    hello.writeUInt16LE(11, 2);
    this.socket.write(hello);
    const head = await this.take(8);
    if (head[0] !== 1) throw new Error('the X server refuses the connection');
    const setup = await this.take(4 * head.readUInt16LE(6));
    const vendor = (setup.readUInt16LE(16) + 3) & ~3;
    return setup.readUInt32LE(32 + vendor + 8 * setup[21]);
  }

  send(code, detail, ...words) {
    const request = Buffer.alloc(4 + 4 * words.length);
    request[0] = code;
    request[1] = detail;
    request.writeUInt16LE(1 + words.length, 2);
    words.forEach((word, i) => request.writeUInt32LE(word, 4 + 4 * i));
    this.socket.write(request);
  }

  async ask(code, window) {
    this.send(code, 0, window);
    for (;;) {
      const head = await this.take(32);
      if (head[0] === 0) return undefined; // the window has just gone
      if (head[0] === 1) {
        return Buffer.concat([head, await this.take(4 * head.readUInt32LE(4))]);
      }
      // An event: not asked for, not needed.
    }
  }
}

export async function focusLargestWindow(display) {
  const socket = connect(`/tmp/.X11-unix/X${display.slice(1)}`);
  await once(socket, 'connect');
  const x = new Connection(socket);
  const tree = await x.ask(kQueryTree, await x.root());
  let best = { window: 0, area: 0 };
  for (let i = 0; i < tree.readUInt16LE(16); ++i) {
    const window = tree.readUInt32LE(32 + 4 * i);
    const attributes = await x.ask(kGetWindowAttributes, window);
    const geometry = await x.ask(kGetGeometry, window);
    if (attributes?.[26] !== kViewable || !geometry) continue;
    const area = geometry.readUInt16LE(16) * geometry.readUInt16LE(18);
    if (area > best.area) best = { window, area };
  }
  if (best.window) x.send(kSetInputFocus, kRevertToPointerRoot, best.window, 0);
  socket.end();
  return best.window !== 0;
}
