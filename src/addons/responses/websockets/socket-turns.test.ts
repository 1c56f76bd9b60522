import { compileWebSockets } from '../settings/websockets.ts';
import { describe, expect, it, vi } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { HeavyTurns, HEAVY_BYTES } from '../../../core/http/gateway/admission/large-body-turns.ts';
import { compileServerSettings } from '../../../core/settings/compile/server-settings.ts';
import type { Handle } from './turn.ts';
import { SocketTurns } from './socket-turns.ts';

/** Turns of which one has just run: the next one waits until the clock goes on. */
async function start({ largeBodies = 8 } = {}) {
  const clock = createFakeClock();
  const turns = new HeavyTurns({ clock, nextLoopTurn: queueMicrotask, others: () => 1 });
  turns.apply({ largeBodies });
  const said: string[] = [];
  const handle = vi.fn<Handle>(() => Promise.resolve());
  const connection = {
    send: (texts: readonly string[], sent: () => void) => (said.push(...texts), sent()),
    say: (text: string, sent: () => void) => (said.push(text), sent()),
    done: vi.fn<() => void>(),
    begun() {},
    close() {},
    endBy() {},
  };
  const settings = compileServerSettings({});
  const sockets = new SocketTurns(
    connection,
    { url: '/v1/responses', headers: {}, remoteAddress: undefined },
    {
      handle,
      koa: () => ({}) as never,
      clock,
      turns,
      key: 'k0',
      hold: () => true,
      settings: () => settings,
      limits: compileWebSockets(),
      turn: {} as never,
      opening: {} as never,
    },
  );
  const other = { caller: { keyId: 'k1' }, cancellation: { throwIfCancelled() {} } as never, deadline: Infinity };
  await turns.run(other, () => {});
  return { clock, turns, sockets, connection, handle, said };
}

const create = (input: string): Buffer => Buffer.from(JSON.stringify({ type: 'response.create', input }));
const large = create('x'.repeat(HEAVY_BYTES));

describe('a large message of a socket', () => {
  it('waits for its turn, and its bytes are held until then', async () => {
    const { clock, sockets, handle } = await start();
    const taken = vi.fn<() => void>();
    sockets.answer(large, taken);
    await Promise.resolve();
    expect([handle.mock.calls.length, taken.mock.calls.length]).toEqual([0, 0]);
    await clock.advance(10);
    expect([handle.mock.calls.length, taken.mock.calls.length]).toEqual([1, 1]);
  });

  it('gives its bytes and its turn back when its socket closes', async () => {
    const { clock, turns, sockets, handle } = await start();
    const taken = vi.fn<() => void>();
    sockets.answer(large, taken);
    await Promise.resolve();
    sockets.abort();
    await clock.advance(10);
    expect([handle.mock.calls.length, taken.mock.calls.length, turns.waiting]).toEqual([0, 1, 0]);
  });

  it('is refused by name when too many wait', async () => {
    const { clock, turns, sockets, connection, said } = await start({ largeBodies: 1 });
    const other = {
      caller: { keyId: 'k1' },
      cancellation: { throwIfCancelled() {}, onCancel: () => () => {} } as never,
    };
    const waiting = turns.run({ ...other, deadline: 1e6 }, () => {});
    const taken = vi.fn<() => void>();
    sockets.answer(large, taken);
    await vi.waitFor(() => expect(connection.done).toHaveBeenCalledOnce());
    expect(JSON.parse(said[0]!)).toMatchObject({ type: 'error', status: 503, error: { code: 'busy' } });
    expect(taken).toHaveBeenCalledOnce();
    await clock.advance(10);
    await waiting;
  });

  it('does not make a small one of another socket wait', async () => {
    const { sockets, handle } = await start();
    sockets.answer(create('hi'), () => {});
    expect(handle).toHaveBeenCalledOnce();
  });
});
