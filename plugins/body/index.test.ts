import type { Readable } from 'node:stream';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../src/plugin/index.ts';
import type { BodyFault, Operation, PathParams, RequestLimits, Turns } from '../../src/core/kernel/index.ts';
import { createContext, createExchange, runPlugin } from '../../src/plugin/testing/index.ts';
import { LONG_TEXT_SHOWN } from '../../src/core/kernel/body/abridged-json.ts';
import body from './index.ts';

interface Upload {
  /** The pieces that the client sends. */
  readonly pieces: readonly (string | Buffer)[];
  readonly headers?: Record<string, string>;
  readonly fault?: BodyFault;
  readonly params?: PathParams;
  readonly fieldsInPath?: Operation['fieldsInPath'];
  readonly limits?: Partial<RequestLimits>;
  readonly turns?: (() => Turns) | undefined;
  /** The client disconnects before the gateway reads, or midway. Default: it completes its body. */
  readonly leave?: 'before' | 'after';
  /** The work of a plugin before this one on the request. */
  readonly listen?: (req: Readable) => void;
}

async function upload(sent: Upload) {
  const { pieces, headers = {}, fault, limits, turns, leave, params = {}, fieldsInPath } = sent;
  const validated: unknown[] = [];
  const validate: Operation['validate'] = (value) => (validated.push(value), fault);
  // The plugin reads only these fields of an operation.
  const operation = { method: 'POST', validate, ...(fieldsInPath && { fieldsInPath }) } as Operation;
  const exchange = createExchange({ headers, params, operation });
  exchange.request.body = undefined;
  exchange.request.bodyValidated = false;
  const context = createContext(exchange);
  sent.listen?.(context.req);
  const gone = new GatewayError('client_closed', 'gone');
  if (leave === 'before') exchange.cancellation.cancel(gone);
  const running = runPlugin(body, {
    context,
    needs: {
      limits: { body: 1_000_000, json: { depth: 8, keys: 50, items: 50 }, reserve: () => undefined, ...limits },
      ...(turns && { turns: turns() }),
    },
  });
  const failure = running.then(
    () => undefined,
    (error: unknown) => error,
  );
  for (const piece of pieces) context.req.push(piece);
  if (!leave) context.req.push(null);
  await new Promise(setImmediate);
  if (leave === 'after') exchange.cancellation.cancel(gone);
  return { request: exchange.request, validated, context, failure: await failure };
}

/** Turns that every body needs, counted. */
function heavyTurns(): Turns & { count: number } {
  const turns = {
    count: 0,
    isHeavy: () => true,
    async run<T>(_: unknown, work: () => T): Promise<T> {
      turns.count += 1;
      await Promise.resolve();
      return work();
    },
  };
  return turns;
}

const whole = JSON.stringify({ model: 'm', messages: [] });
const large = (fields: string): string => `{${fields}"messages":["${'x'.repeat(70_000)}"]}`;

describe('body', () => {
  it.each([
    ['small', '{"contents":[]}', '{"model":"m","contents":[]}'],
    ['large', `{"contents":["${'x'.repeat(70_000)}"]}`, `{"model":"m","contents":["${'x'.repeat(70_000)}"]}`],
  ])('puts what the path says into a %s body, whose own bytes stay', async (_, sent, whole) => {
    const fieldsInPath: Operation['fieldsInPath'] = ({ model }) => ({ model });
    const { request, failure, validated } = await upload({ pieces: [sent], params: { model: 'm' }, fieldsInPath });
    expect(failure).toBeUndefined();
    expect(request.body?.original.toString()).toBe(sent);
    expect(request.body?.string('model')).toBe('m');
    expect(request.body?.encode().toString()).toBe(whole);
    for (const value of validated) expect(value).toHaveProperty('model', 'm');
  });

  it.each([
    ['in one piece', [whole]],
    ['in pieces cut anywhere', [...whole].map((letter) => letter)],
    ['cut inside a character', [Buffer.from('{"model":"\u00e9').subarray(0, 11), Buffer.from('\u00e9"}').subarray(1)]],
  ])('reads a body that comes %s', async (_, pieces) => {
    const { request, failure } = await upload({ pieces });
    const sent = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
    expect(failure).toBeUndefined();
    expect(request.body?.original).toEqual(sent);
    expect(request.bodyBytes).toBe(sent.length);
  });

  it('validates a small body whole and marks it as validated', async () => {
    const { request, validated } = await upload({ pieces: [whole] });
    expect(validated).toEqual([{ model: 'm', messages: [] }]);
    expect(request.bodyValidated).toBe(true);
  });

  it.each<[string, BodyFault, string]>([
    ['a wrong field', { message: '`n` must be integer.', param: 'n', missing: false }, 'invalid_request'],
    [
      'a missing one',
      { message: '`messages` is required.', param: 'messages', missing: true },
      'missing_required_parameter',
    ],
  ])('tells of %s by its name', async (_, fault, code) => {
    const { failure } = await upload({ pieces: [whole], fault });
    expect(failure).toMatchObject({ code, status: 400, param: fault.param, message: fault.message });
  });

  it.each([
    ['of 70 KB', undefined],
    ['that needs turns', heavyTurns],
  ])('validates a body %s whole', async (_, turns) => {
    const { request, validated, failure } = await upload({ pieces: [large('"model":"m","stream":true,')], turns });
    expect(failure).toBeUndefined();
    expect(validated).toEqual([{ model: 'm', stream: true, messages: [LONG_TEXT_SHOWN] }]);
    expect(request.body?.json()).toEqual({ model: 'm', stream: true, messages: ['x'.repeat(70_000)] });
    expect(request.bodyValidated).toBe(true);
  });

  it.each([
    ['reads, parses and validates a body of short texts that needs turns', `{"a":[${'"x",'.repeat(40)}0]}`, 3],
    ['reads and validates a body of long texts that needs turns', large('"model":"m",'), 2],
  ])('%s in a turn each', async (_, sent, count) => {
    const turns = heavyTurns();
    const { validated } = await upload({ pieces: [sent], turns: () => turns });
    expect([turns.count, validated.length]).toEqual([count, 1]);
  });

  it.each([
    ['of 70 KB', undefined],
    ['that needs turns', heavyTurns],
  ])('refuses a body %s by the fault that its schema finds', async (_, turns) => {
    const fault = { message: '`messages` is required.', param: 'messages', missing: true };
    const { failure, request } = await upload({ pieces: [large('"model":"m",')], turns, fault });
    expect(failure).toMatchObject({ code: 'missing_required_parameter', param: 'messages' });
    expect(request.bodyValidated).toBe(false);
  });

  it('refuses a large body with a key twice', async () => {
    const { failure } = await upload({ pieces: [large('"model":"m","model":"n",')] });
    expect(failure).toMatchObject({ code: 'duplicate_parameter', param: 'model' });
  });

  it.each([
    ['is no JSON', ['{"model":'], 'invalid_json'],
    ['is empty', [], 'invalid_json'],
    ['is no object', ['[1]'], 'invalid_request'],
    ['is no UTF-8', [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])], 'invalid_json'],
    [
      'has an object of too many keys',
      [`{"a":{${Array.from({ length: 51 }, (_, key) => `"${key}":0`).join()}}}`],
      'too_many_keys',
    ],
    ['has a list of too many items', [`{"a":[${'0,'.repeat(50)}0]}`], 'too_many_items'],
    ['nests too deep', [`{"a":${'['.repeat(9)}${']'.repeat(9)}}`], 'body_too_deep'],
  ])('refuses a body that %s', async (_, pieces, code) => {
    expect((await upload({ pieces })).failure).toMatchObject({ code, status: 400 });
  });

  it.each([
    ['by its content-length, unread', { 'content-length': '101' }],
    ['by the received bytes, whatever the content-length', { 'content-length': '3' }],
    ['by the received bytes, without content-length', {}],
  ])('refuses a body over the limit %s', async (_, headers) => {
    const { failure, context } = await upload({
      pieces: ['{"model":"', 'x'.repeat(100), '"}'],
      headers,
      limits: { body: 100 },
    });
    expect(failure).toMatchObject({
      code: 'request_too_large',
      status: 413,
      message: 'The body exceeds 100 bytes (limits.body).',
    });
    expect(context.req.listenerCount('data')).toBe(0);
  });

  it.each<[string, Record<string, string>, number[]]>([
    ['announces, at once', { 'content-length': '30' }, [30]],
    ['sends without content-length, as it arrives', {}, [0, 10, 10, 10]],
    ['sends beyond its content-length', { 'content-length': '12' }, [12, 8, 10]],
  ])('takes room for what a client %s', async (_, headers, taken) => {
    const asked: number[] = [];
    const reserve = (_exchange: unknown, bytes: number): undefined => (asked.push(bytes), undefined);
    const pieces = ['{"model": ', '"m", "aaa"', ': "bbbbb"}'];
    const { failure } = await upload({ pieces, headers, limits: { reserve } });
    expect([failure, asked]).toEqual([undefined, taken]);
  });

  it.each<[string, Record<string, string>]>([
    ['by its content-length', { 'content-length': '30' }],
    ['as it comes', {}],
  ])('refuses a body that finds no room %s, and listens no more', async (_, headers) => {
    const full = new GatewayError('busy', 'full', { retryAfterMs: 1000 });
    const reserve = (_exchange: unknown, bytes: number) => (bytes === 0 ? undefined : full);
    const { failure, context } = await upload({ pieces: ['{"model": ', '"m"}'], headers, limits: { reserve } });
    expect(failure).toMatchObject({ code: 'busy', status: 503, retryAfterMs: 1000 });
    expect(context.req.listenerCount('data')).toBe(0);
  });

  it('does not read the body of an already rejected request', async () => {
    const error = new GatewayError('busy', 'full');
    const exchange = createExchange({ error, operation: { method: 'POST' } as Operation });
    const reserve = (): undefined => {
      throw new Error('asked for room');
    };
    const running = runPlugin(body, {
      exchange,
      needs: { limits: { body: 1, json: { depth: 8, keys: 50, items: 50 }, reserve } },
    });
    await expect(running).rejects.toBe(error);
  });

  it('accepts a body of exactly the limit', async () => {
    expect((await upload({ pieces: [whole], limits: { body: whole.length } })).failure).toBeUndefined();
  });

  it.each<[string, (req: Readable, kept: Buffer[]) => void]>([
    ['all pieces', (req, kept) => void req.on('data', (piece: Buffer) => kept.push(piece))],
    ['the first piece', (req, kept) => void req.once('data', (piece: Buffer) => kept.push(piece))],
    [
      'what it reads',
      (req, kept) =>
        void req.on('readable', () => {
          for (let piece = req.read() as Buffer | null; piece; piece = req.read() as Buffer | null) kept.push(piece);
        }),
    ],
  ])('leaves another listener that keeps %s its bytes', async (_, listen) => {
    const sent = large('"model":"m",');
    const kept: Buffer[] = [];
    const pieces = [sent.slice(0, 30_000), sent.slice(30_000)].map((text) =>
      Buffer.from(new TextEncoder().encode(text).buffer),
    );
    const headers = { 'content-length': String(sent.length) };
    const { request } = await upload({ pieces, headers, listen: (req) => listen(req, kept) });
    expect(request.body?.original.toString()).toBe(sent);
    expect(kept.length).toBeGreaterThan(0);
    for (const piece of kept) expect(piece.length).toBeGreaterThan(0);
  });

  it('takes memory for an announced body only once part of it has come', async () => {
    const memory = vi.spyOn(Buffer, 'allocUnsafeSlow');
    const sent = large('"model":"m",');
    const headers = { 'content-length': String(sent.length) };
    await upload({ pieces: [sent.slice(0, 1000)], headers, leave: 'after' });
    expect(memory).not.toHaveBeenCalledWith(sent.length);
    const { request } = await upload({ pieces: [sent.slice(0, 1000), sent.slice(1000)], headers });
    expect(request.body?.original.toString()).toBe(sent);
    expect(memory).toHaveBeenCalledWith(sent.length);
    memory.mockRestore();
  });

  it('fails with the reason of the cancellation', async () => {
    const exchange = createExchange({ operation: { method: 'POST' } as Operation });
    const context = createContext(exchange);
    const needs = { limits: { body: 1000, json: { depth: 8, keys: 50, items: 50 }, reserve: () => undefined } };
    const running = runPlugin(body, { context, needs });
    const reason = new GatewayError('shutting_down', 'over');
    exchange.cancellation.cancel(reason);
    await expect(running).rejects.toBe(reason);
  });

  it.each(['before', 'after'] as const)(
    'ends at once when the client disconnects %s the first piece, and removes its listeners',
    async (leave) => {
      const { failure, context } = await upload({ pieces: ['{"mod'], leave });
      expect(failure).toMatchObject({ code: 'client_closed' });
      expect(context.req.listenerCount('data') + context.req.listenerCount('end')).toBe(0);
    },
  );

  it.each([
    ['application/json'],
    ['application/json; charset=utf-8'],
    ['Application/JSON'],
    ['application/vnd.api+json'],
  ])('accepts Content-Type %s', async (type) => {
    expect((await upload({ pieces: [whole], headers: { 'content-type': type } })).failure).toBeUndefined();
  });

  it.each([
    ['content-type', 'text/plain'],
    ['content-type', 'application/jsonp'],
    ['content-encoding', 'compress'],
    ['content-encoding', 'gzip, gzip'],
  ])('refuses %s %s', async (name, value) => {
    expect((await upload({ pieces: [whole], headers: { [name]: value } })).failure).toMatchObject({
      code: 'unsupported_media_type',
      status: 415,
    });
  });

  it.each<Partial<Operation>>([
    { method: 'GET' },
    { method: 'DELETE' },
    { method: 'POST', body: 'multipart' },
    { method: 'POST', body: 'none' },
  ])('reads no JSON for an operation of %j', async (operation) => {
    const exchange = createExchange({ operation: operation as Operation });
    exchange.request.body = undefined;
    const { nextCalls } = await runPlugin(body, {
      exchange,
      needs: { limits: { body: 1, json: { depth: 8, keys: 50, items: 50 }, reserve: () => undefined } },
    });
    expect(exchange.request.body).toBeUndefined();
    expect(nextCalls).toBe(1);
  });
});

describe.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
])('a body in %s', (coding, encode) => {
  const headersFor = (bytes: Buffer) => ({ 'content-encoding': coding, 'content-length': String(bytes.length) });

  it.each([whole, large('"model":"m",')])('is read as what it decodes to', async (text) => {
    const coded = encode(text);
    const pieces = [coded.subarray(0, 9), coded.subarray(9)];
    const { request, failure } = await upload({ pieces, headers: headersFor(coded) });
    expect(failure).toBeUndefined();
    expect(request.body?.original.toString()).toBe(text);
    expect(request.bodyBytes).toBe(text.length);
  });

  it('is counted by its decoded bytes', async () => {
    const reserved: number[] = [];
    const limits: Partial<RequestLimits> = { reserve: (_, bytes) => void reserved.push(bytes) };
    const text = large(`"model":"${'m'.repeat(300_000)}",`);
    const coded = encode(text);
    await upload({ pieces: [coded], headers: headersFor(coded), limits });
    expect(reserved.reduce((sum, bytes) => sum + bytes, 0)).toBe(text.length);
  });

  it('is refused at the limit of bodies, whatever size it announces', async () => {
    const coded = encode(large('"model":"m",'));
    const sent = { pieces: [coded], headers: headersFor(coded), limits: { body: 50_000 } };
    const { failure, context } = await upload(sent);
    expect(failure).toMatchObject({ code: 'request_too_large', status: 413 });
    expect(context.req.isPaused()).toBe(true);
  });

  it('is refused as a bomb long before the limit of bodies', async () => {
    let most = 0;
    const limits: Partial<RequestLimits> = { body: 1e9, reserve: (_, bytes) => void (most += bytes) };
    const coded = encode(Buffer.alloc(64 * 1024 * 1024, ' '));
    const { failure } = await upload({ pieces: [coded], headers: headersFor(coded), limits });
    expect(failure).toMatchObject({ code: 'request_too_large', status: 413 });
    expect(most).toBeLessThan(1.2 * 1024 * 1024 + 100 * coded.length);
  });

  it.each<[string, (coded: Buffer) => Buffer]>([
    ['cut', (coded) => coded.subarray(0, -3)],
    ['plain', () => Buffer.from(whole)],
    ['longer than its coding', (coded) => Buffer.concat([coded, Buffer.from('{}')])],
  ])('is refused if it is %s', async (_, change) => {
    const { failure } = await upload({ pieces: [change(encode(whole))], headers: { 'content-encoding': coding } });
    expect(failure).toMatchObject({ code: 'invalid_encoding', status: 400 });
  });

  it('ends with its client', async () => {
    const coded = encode(whole);
    const { failure } = await upload({
      pieces: [coded.subarray(0, 5)],
      headers: { 'content-encoding': coding },
      leave: 'after',
    });
    expect(failure).toMatchObject({ code: 'client_closed' });
  });
});
