import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../src/core/kernel/index.ts';
import {
  createAttempt,
  createContext,
  createExchange,
  createTry,
  runPlugin,
  type TestExchange,
} from '../../src/plugin/testing/index.ts';
import body from './index.ts';

const text = `{"model":"m","messages":["${'x'.repeat(80_000)}"]}`;

/** A piece with memory of its own, as node:http makes it. */
const ownMemory = (bytes: Uint8Array): Buffer => {
  const piece = Buffer.allocUnsafeSlow(bytes.length);
  piece.set(bytes);
  return piece;
};

interface Read {
  readonly exchange: TestExchange;
  readonly pieces: readonly Buffer[];
  readonly bytes: Buffer;
}

/** Reads `text`, cut at these places. */
async function read(builtInOnly: boolean, cuts: readonly number[] = [40_000]): Promise<Read> {
  const sent = Buffer.from(text);
  const operation = { method: 'POST', validate: () => undefined } as unknown as Operation;
  const exchange = createExchange({ operation, headers: { 'content-length': String(sent.length) } });
  exchange.request.body = undefined;
  const context = createContext(exchange);
  const places = [0, ...cuts.toSorted((a, b) => a - b), sent.length];
  const pieces = places.slice(1).map((to, index) => ownMemory(sent.subarray(places[index], to)));
  const limits = {
    body: 1_000_000,
    json: { depth: 8, keys: 50, items: 50 },
    reserve: () => undefined,
    builtInOnly,
  };
  const running = runPlugin(body, { context, needs: { limits } });
  for (const piece of pieces) context.req.push(piece);
  context.req.push(null);
  await running;
  return { exchange, pieces, bytes: exchange.request.body!.original };
}

const total = (buffers: readonly Buffer[]): number => buffers.reduce((sum, { length }) => sum + length, 0);

describe('the memory of a large body', () => {
  it('that is freed piece by piece holds the bytes that were sent, wherever they were cut', async () => {
    const cuts = fc.array(fc.integer({ min: 1, max: text.length - 1 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const [freed, kept] = await Promise.all([read(true, places), read(false, places)]);
        expect(freed.bytes.equals(kept.bytes)).toBe(true);
        expect(total(freed.pieces)).toBe(0);
        expect(total(kept.pieces)).toBe(text.length);
      }),
      { numRuns: 50 },
    );
  });

  const delivered = createTry({ delivered: true });
  it.each<[string, number, (exchange: TestExchange) => void]>([
    ['kept after a request without an attempt', text.length, () => {}],
    ['kept if an attempt sent nothing', text.length, (exchange) => createAttempt(exchange)],
    [
      'freed once all tries have delivered it',
      0,
      (exchange) => createAttempt(exchange, { tries: [delivered, delivered] }),
    ],
    ['kept if a try may still write it', text.length, (exchange) => createAttempt(exchange, { tries: [createTry()] })],
    [
      'kept if a try of an earlier attempt may still write it',
      text.length,
      (exchange) => {
        createAttempt(exchange, { tries: [delivered, createTry()] });
        createAttempt(exchange, { tries: [delivered] });
      },
    ],
    [
      'kept for an explanation',
      text.length,
      (exchange) => {
        createAttempt(exchange, { tries: [delivered] });
        exchange.explainId = 'id';
      },
    ],
  ])('is %s', async (_, left, happen) => {
    const { exchange, bytes } = await read(true);
    happen(exchange);
    expect(bytes.length).toBe(text.length);
    exchange.end();
    expect(bytes.length).toBe(left);
  });

  it('stays when the client has left', async () => {
    const { exchange, bytes } = await read(true);
    createAttempt(exchange, { tries: [delivered] });
    exchange.end({ state: 'aborted' });
    expect(bytes.length).toBe(text.length);
  });

  it('stays beside an external plugin', async () => {
    const { exchange, bytes } = await read(false);
    createAttempt(exchange, { tries: [delivered] });
    exchange.end();
    expect(bytes.length).toBe(text.length);
  });
});
