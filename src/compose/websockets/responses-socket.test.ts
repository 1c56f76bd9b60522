import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { NO_TURNS } from '../../plugin/index.ts';
import { compileServerSettings } from '../../settings/compile/server-settings.ts';
import { OpenSockets } from './open-sockets.ts';
import { ResponsesSocket } from './responses-socket.ts';

class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readonly readyState = 1;
  readonly bufferedAmount = 0;
  isPaused = false;
  readonly closed: number[] = [];
  pause(): void {}
  resume(): void {}
  pong(): void {}
  close(code: number): void {
    this.closed.push(code);
  }
}

function start(most: number) {
  const ws = new FakeSocket();
  const settings = compileServerSettings({});
  let held = 0;
  const socket = new ResponsesSocket(
    ws as unknown as WebSocket,
    { url: '/v1/responses', headers: {}, remoteAddress: undefined },
    {
      handle: () => Promise.resolve(),
      koa: () => ({}) as never,
      clock: createFakeClock(),
      sockets: new OpenSockets(),
      turns: NO_TURNS,
      key: 'k0',
      hold(bytes) {
        if (bytes > 0 && held + bytes > most) return false;
        held += bytes;
        return true;
      },
      settings: () => settings,
      turn: {} as never,
      opening: {} as never,
    },
  );
  return { ws, socket, held: () => held };
}

describe('a message that arrives', () => {
  it('counts with the memory of its pieces, which is more than their bytes where they are tiny', () => {
    const { ws, socket, held } = start(1_000_000);
    for (let count = 0; count < 100; count += 1) socket.arrived(1);
    socket.arrived(10_000);
    expect(held()).toBe(100 * 256 + 10_000);
    ws.emit('message', Buffer.alloc(10_100, 'x'), false);
    ws.emit('close');
    expect([held(), ws.closed]).toEqual([0, []]);
  });

  it('closes its socket when its pieces have no room', () => {
    const { ws, socket } = start(1000);
    for (let count = 0; count < 4; count += 1) socket.arrived(1);
    expect(ws.closed).toEqual([1013]);
  });
});
