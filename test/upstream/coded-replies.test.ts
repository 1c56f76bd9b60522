import {
  brotliCompressSync,
  constants,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { Cancellation, GatewayError, type Source } from '../../src/plugin/index.ts';
import type { CommittedReply, RefusedReply, Upstream } from '../../src/core/upstream/index.ts';
import {
  answer,
  chunk,
  lastChunk,
  openStream,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from './scripted-upstream.ts';
import { collect, createLocalUpstream, DONE, event, outbound, rejection, translatingReader } from './try-kit.ts';

const CODINGS = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const;

let server: ScriptedUpstream;
let upstream: Upstream;

async function serve(script: Script): Promise<void> {
  server = await startUpstream(script);
  upstream = createLocalUpstream();
}

afterEach(async () => {
  await upstream.close();
  await server.close();
});

const textOf = async ({ body }: CommittedReply): Promise<string> =>
  Buffer.isBuffer(body) ? body.toString() : (await collect(body)).text;

function committed(reply: CommittedReply | RefusedReply): CommittedReply {
  if (!reply.ok) throw new Error(`refused with ${reply.status}: ${reply.text}`);
  return reply;
}

const plain = () => outbound(server.url, { stream: false });
const MEGABYTES = Buffer.alloc(64 * 1024 * 1024, 'x');

describe.each(CODINGS)('a reply in %s', (coding, encode) => {
  const head = `content-encoding: ${coding}\r\n`;

  it('is decoded, and the headers that describe its coded bytes are gone', async () => {
    await serve(({ socket }) => answer(socket, 200, encode('{"é":1}'), head));
    const reply = committed(await upstream.send(plain()));
    expect(await textOf(reply)).toBe('{"é":1}');
    expect(Object.keys(reply.headers)).toEqual([]);
  });

  it('is decoded as a stream', async () => {
    const events = event({ text: 'hi' }) + DONE;
    await serve(({ socket }) => {
      openStream(socket, head);
      chunk(socket, encode(events).subarray(0, 5));
      chunk(socket, encode(events).subarray(5));
      lastChunk(socket);
    });
    expect(await textOf(committed(await upstream.send(outbound(server.url))))).toBe(events);
  });

  it('is decoded as a refusal, and is cut at the bound of refusals', async () => {
    await serve(({ socket, number }) => answer(socket, 500, encode(number === 0 ? '{"error":"é"}' : MEGABYTES), head));
    expect(await upstream.send(plain())).toMatchObject({ ok: false, status: 500, text: '{"error":"é"}' });
    const { text } = (await upstream.send(plain())) as RefusedReply;
    expect(text.length).toBeLessThan(1.1 * 1024 * 1024);
    expect(text).toMatch(/^x+ \[(?:cut at|the body was cut off)/);
  });

  it('is decoded for the gateway’s own requests, which ask for none', async () => {
    await serve(({ socket }) => answer(socket, 200, encode('{"token":1}'), head));
    const request = {
      url: `${server.url}/token`,
      method: 'POST',
      headers: {},
      allowInsecure: true,
      timeoutMs: 20_000,
    } as const;
    expect(await upstream.exchange(request)).toMatchObject({ status: 200, text: '{"token":1}' });
    expect((await upstream.exchange({ ...request, maxBytes: 100 })).bytes?.toString()).toBe('{"token":1}');
    for (const { head: sent } of server.requests) expect(sent).toContain('accept-encoding: identity');
  });

  it('is decoded as media, whose limit counts what it decodes to', async () => {
    await serve(({ socket }) => answer(socket, 200, encode(Buffer.alloc(1000, 'p')), head));
    const download = (most: number) => {
      let left = most;
      const [url, cancellation] = [new URL(server.url), new Cancellation()];
      const admit = (bytes: number) => (left -= bytes) >= 0;
      return upstream.download({
        url,
        headers: {},
        allowInsecure: true,
        timeoutMs: 20_000,
        cancellation,
        room: () => left,
        admit,
      });
    };
    expect((await download(1000)).body.toString()).toBe('p'.repeat(1000));
    expect(await rejection(download(999))).toMatchObject({ code: 'reply_too_large' });
  });

  it.each<[string, (coded: Buffer) => Buffer, string]>([
    ['cut', (coded) => coded.subarray(0, -1), 'stream_interrupted'],
    ['plain', () => Buffer.from('{"plain":true}'.repeat(10)), 'upstream_error'],
    ['a bomb', () => encode(MEGABYTES), 'reply_too_large'],
  ])('is a failure of the upstream if it is %s', async (_, change, code) => {
    await serve(({ socket }) => answer(socket, 200, change(encode('{"a":1}')), head));
    const request = outbound(server.url, { stream: false, openReader: translatingReader });
    expect(await rejection(upstream.send(request))).toMatchObject({ code, status: 502 });
    await expect.poll(() => upstream.stats()[0]?.running).toBe(0);
  });

  it('leaves the connection to the next request', async () => {
    await serve(({ socket }) => answer(socket, 200, encode('{}'), head));
    for (let turn = 0; turn < 3; turn += 1) expect(await textOf(committed(await upstream.send(plain())))).toBe('{}');
    expect(server.connections).toBe(1);
  });
});

it('each event of a coded stream leaves when it comes', async () => {
  const zip = createGzip();
  await serve(({ socket }) => {
    openStream(socket, 'content-encoding: gzip\r\n');
    zip.on('data', (bytes: Buffer) => void chunk(socket, bytes));
  });
  const say = (text: string) => {
    zip.write(event({ text }));
    zip.flush(constants.Z_SYNC_FLUSH);
  };
  say('one');
  const source = committed(await upstream.send(outbound(server.url))).body as Source;
  let got = '';
  source.open({ push: (bytes) => void (got += bytes.toString()), end: () => {}, fail: () => {} });
  for (const text of ['two', 'three']) {
    say(text);
    await expect.poll(() => got).toContain(text);
  }
  source.cancel(new GatewayError('client_closed', 'gone'));
  await expect.poll(() => server.open.size).toBe(0);
});

it('a coded stream stops for a sink that is full, and comes whole when it takes more', async () => {
  const words = Array.from({ length: 20_000 }, (_, n) => event({ text: `${(n * 2_654_435_761) % 4_294_967_296}` }));
  await serve(({ socket }) => {
    openStream(socket, 'content-encoding: gzip\r\n');
    chunk(socket, gzipSync(words.join('') + DONE));
    lastChunk(socket);
  });
  const source = committed(await upstream.send(outbound(server.url, { hold: { bytes: 1000, ms: 20_000 } })))
    .body as Source;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const got: string[] = [];
  source.open({
    push(bytes) {
      got.push(bytes.toString());
      source.pause();
      setImmediate(() => source.resume());
    },
    end: () => resolve(got.join('')),
    fail: reject,
  });
  expect(await promise).toBe(words.join('') + DONE);
  expect(got.length).toBeGreaterThan(10);
});

it.each(['compress', 'gzip, gzip'])('a 2xx in the coding %s is a failure that names it', async (coding) => {
  await serve(({ socket }) => answer(socket, 200, gzipSync('{}'), `content-encoding: ${coding}\r\n`));
  const error = await rejection(upstream.send(plain()));
  const message = `127.0.0.1:${server.port} answered with content-encoding ${coding}, which the gateway does not decode.`;
  expect([error.code, error.message]).toEqual(['upstream_error', message]);
});

it('a connection that breaks in a coded stream brings what was decoded, and then its error', async () => {
  const zip = createGzip();
  let socketOf: { destroy(): unknown } | undefined;
  await serve(({ socket }) => {
    socketOf = socket;
    openStream(socket, 'content-encoding: gzip\r\n');
    zip.on('data', (bytes: Buffer) => void chunk(socket, bytes));
  });
  zip.write(event({ text: 'one' }) + event({ text: 'two' }));
  zip.flush(constants.Z_SYNC_FLUSH);
  const source = committed(await upstream.send(outbound(server.url))).body as Source;
  let got = '';
  const { promise, resolve, reject } = Promise.withResolvers<GatewayError>();
  const end = (): void => reject(new Error('the stream has ended well'));
  source.open({
    push(bytes) {
      got += bytes.toString();
      if (got.includes('two')) socketOf!.destroy();
    },
    end,
    fail: resolve,
  });
  expect([(await promise).code, got]).toEqual(['stream_interrupted', event({ text: 'one' }) + event({ text: 'two' })]);
});

it('a stream that has said its end is complete, although its coding is cut', async () => {
  const coded = gzipSync(event({ text: 'hi' }) + DONE);
  await serve(({ socket }) => {
    openStream(socket, 'content-encoding: gzip\r\n');
    chunk(socket, coded.subarray(0, -4));
    lastChunk(socket);
  });
  const { body } = committed(await upstream.send(outbound(server.url)));
  expect(await collect(body as Source)).toMatchObject({ ended: true, error: undefined });
});
