import { compileWebSockets } from '../../src/addons/responses/settings/websockets.ts';
import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { frameOptions } from '../../src/addons/responses/websockets/frame-limits.ts';
import { OpenSockets } from '../../src/addons/responses/websockets/open-sockets.ts';
import { ResponsesSocket } from '../../src/addons/responses/websockets/responses-socket.ts';
import { NO_TURNS } from '../../src/core/kernel/index.ts';
import { createFakeClock } from '../../src/plugin/testing/index.ts';
import { compileServerSettings } from '../../src/core/settings/compile/server-settings.ts';

const settings = compileServerSettings({});
/** The first byte of a close frame, which is its only one. */
const CLOSE = 0x88;

/** A connection that takes everything at once. */
class Wire extends EventEmitter {
  readonly readable = true;
  readonly writable = true;
  readonly _readableState = { endEmitted: true, length: 0 };
  readonly _writableState = { length: 0, finished: true };
  /** The code of the close that the gateway has sent. */
  closedWith: number | undefined;
  #closes = false;

  /** `ws` writes the head and the payload of a frame one after the other. */
  write(bytes: Buffer, sent?: () => void): boolean {
    if (this.#closes) this.closedWith ??= bytes.readUInt16BE();
    this.#closes = bytes[0] === CLOSE;
    sent?.();
    return true;
  }

  cork(): void {}
  uncork(): void {}
  setTimeout(): void {}
  setNoDelay(): void {}
  pause(): void {}
  resume(): void {}
  end(): void {}
  destroy(): void {}
}

export interface Opened {
  readonly wire: Wire;
  /** Bytes that the socket holds. */
  readonly held: () => number;
  /** Requests that its turns have begun. */
  readonly turns: () => number;
}

/** A WebSocket as the gateway serves it, without the request path: a turn begins and never ends. */
export function openSocket(): Opened {
  const wire = new Wire();
  let held = 0;
  let turns = 0;
  const headers = {
    upgrade: 'websocket',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
  };
  const tcp = wire as unknown as Duplex;
  new WebSocketServer(frameOptions(compileWebSockets().frameBytes)).handleUpgrade(
    { method: 'GET', headers } as unknown as IncomingMessage,
    tcp,
    Buffer.alloc(0),
    (ws) => {
      const opened = new ResponsesSocket(
        ws,
        { url: '/v1/responses', headers: {}, remoteAddress: undefined },
        {
          handle: () => {
            turns += 1;
            return Promise.resolve();
          },
          koa: () => ({}) as never,
          clock: createFakeClock(),
          sockets: new OpenSockets(),
          turns: NO_TURNS,
          key: 'key',
          tcp,
          hold(bytes) {
            held += bytes;
            return true;
          },
          settings: () => settings,
          limits: compileWebSockets(),
          turn: {} as never,
          opening: {} as never,
        },
      );
      tcp.prependListener('data', (bytes: Buffer) => opened.arrived(bytes.length));
    },
  );
  return { wire, held: () => held, turns: () => turns };
}

const [FIN, MASKED] = [0x80, 0x80];
export const [CONTINUATION, TEXT, PING] = [0x0, 0x1, 0x9];

/** A frame of a client (RFC 6455, section 5.2). The mask of zeros leaves the bytes as they are. */
export function frame(opcode: number, payload: string | Buffer, { fin = true } = {}): Buffer {
  const bytes = Buffer.from(payload);
  const first = opcode | (fin ? FIN : 0);
  if (bytes.length < 126) return Buffer.concat([Buffer.from([first, MASKED | bytes.length, 0, 0, 0, 0]), bytes]);
  const head = Buffer.alloc(14);
  head.writeUInt16BE((first << 8) | MASKED | 127);
  head.writeBigUInt64BE(BigInt(bytes.length), 2);
  return Buffer.concat([head, bytes]);
}
