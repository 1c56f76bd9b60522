import { compileWebSockets } from '../settings/websockets.ts';
import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { NO_TURNS } from '../../../core/kernel/index.ts';
import { compileServerSettings } from '../../../core/settings/compile/server-settings.ts';
import { OpenSockets } from './open-sockets.ts';
import { ResponsesSocket } from './responses-socket.ts';
import type { Handle } from './turn.ts';

class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readonly readyState = 1;
  readonly bufferedAmount = 0;
  isPaused = false;
  readonly closed: number[] = [];
  /** Calls of the connection, in their order. */
  readonly done: string[] = [];
  send(text: string, _: object, sent: () => void): void {
    this.done.push((JSON.parse(text) as { type: string }).type);
    sent();
  }
  pause(): void {}
  resume(): void {}
  pong(): void {}
  close(code: number): void {
    this.closed.push(code);
  }
}

function start(most: number, handle: Handle = () => Promise.resolve()) {
  const ws = new FakeSocket();
  const settings = compileServerSettings({});
  let held = 0;
  const socket = new ResponsesSocket(
    ws as unknown as WebSocket,
    { url: '/v1/responses', headers: {}, remoteAddress: undefined },
    {
      handle,
      koa: () => ({}) as never,
      clock: createFakeClock(),
      sockets: new OpenSockets(),
      turns: NO_TURNS,
      tcp: { cork: () => void ws.done.push('cork'), uncork: () => void ws.done.push('uncork') },
      key: 'k0',
      hold(bytes) {
        if (bytes > 0 && held + bytes > most) return false;
        held += bytes;
        return true;
      },
      settings: () => settings,
      limits: compileWebSockets(),
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

it('The events of one piece of a reply leave in one write of the connection', async () => {
  const events = ['a', 'b', 'c'].map((name) => `data: {"type":"response.${name}"}\n\n`);
  const { ws } = start(1_000_000, ({ res }) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(events.join(''));
    return Promise.resolve();
  });
  ws.emit('message', Buffer.from('{"type":"response.create"}'), false);
  await expect.poll(() => ws.done).toEqual(['cork', 'response.a', 'response.b', 'response.c', 'uncork']);
});
