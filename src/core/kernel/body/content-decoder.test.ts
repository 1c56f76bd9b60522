import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
  constants,
  createGzip,
  createZstdCompress,
} from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { codingOf, ContentDecoder, decoderOf, DecodeFault } from './content-decoder.ts';

const CODINGS = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  'deflate without its header': deflateRawSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
} as const;
const named = (name: string): ContentDecoder => decoderOf(name.split(' ')[0]!)!;

const TEXT = JSON.stringify(Array.from({ length: 3000 }, (_, n) => `word ${(n * 7919) % 1001}`));

/** The decoded bytes, or the kind of fault and how much came before it. */
function decode(name: string, pieces: readonly Buffer[]): Promise<string | { kind: string; bytes: number }> {
  const decoder = named(name);
  const out: Buffer[] = [];
  decoder.on('data', (piece: Buffer) => void out.push(piece));
  const { promise, resolve } = Promise.withResolvers<string | { kind: string; bytes: number }>();
  decoder.on('end', () => resolve(Buffer.concat(out).toString()));
  decoder.on('error', (error) => {
    resolve({ kind: error instanceof DecodeFault ? error.kind : String(error), bytes: Buffer.concat(out).length });
  });
  for (const piece of pieces) decoder.write(piece);
  decoder.end();
  return promise;
}

describe.each(Object.entries(CODINGS))('a body in %s', (name, encode) => {
  const coded = encode(TEXT);

  it('is decoded, whole or a byte at a time', async () => {
    expect(await decode(name, [coded])).toBe(TEXT);
    expect(
      await decode(
        name,
        [...coded].map((byte) => Buffer.from([byte])),
      ),
    ).toBe(TEXT);
  });

  it('is empty without bytes', async () => {
    expect(await decode(name, [])).toBe('');
  });

  it('is cut without its last byte', async () => {
    expect(await decode(name, [coded.subarray(0, -1)])).toMatchObject({ kind: 'cut' });
  });

  it('is corrupt with bytes behind its end, in the same piece or the next', async () => {
    const behind = Buffer.from('hello');
    expect(await decode(name, [Buffer.concat([coded, behind])])).toMatchObject({ kind: 'corrupt' });
    expect(await decode(name, [coded, behind])).toMatchObject({ kind: 'corrupt' });
  });

  it('is corrupt as plain text', async () => {
    expect(await decode(name, [Buffer.from('{"model":"x"}'.repeat(10))])).toMatchObject({ kind: 'corrupt' });
  });

  it('is refused as a bomb soon after its first MiB', async () => {
    const bomb = encode(Buffer.alloc(64 * 1024 * 1024));
    const { kind, bytes } = (await decode(name, [bomb])) as { kind: string; bytes: number };
    expect(kind).toBe('dense');
    expect(bytes).toBeLessThan(1.2 * 1024 * 1024 + 100 * bomb.length);
  });

  it('is decoded if it is small, however dense', async () => {
    expect(await decode(name, [encode('hello '.repeat(100_000))])).toHaveLength(600_000);
  });
});

it('an event is decoded before the next one comes', async () => {
  const zip = createGzip();
  const decoder = named('gzip');
  const events: string[] = [];
  zip.on('data', (piece: Buffer) => decoder.write(piece));
  decoder.on('data', (piece: Buffer) => events.push(piece.toString()));
  for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
    zip.write(event);
    zip.flush(constants.Z_SYNC_FLUSH);
    await expect.poll(() => events.at(-1)).toBe(event);
  }
});

it('a body of empty members that never ends is corrupt', async () => {
  const empties = Buffer.concat(Array.from({ length: 3000 }, () => gzipSync('')));
  expect(await decode('gzip', [gzipSync('{}'), ...Array.from({ length: 20 }, () => empties)])).toMatchObject({
    kind: 'corrupt',
  });
});

it('waits for its reader', async () => {
  const decoder = named('br');
  decoder.write(brotliCompressSync(Buffer.alloc(1024 * 1024)));
  await expect.poll(() => decoder.readableLength).toBeGreaterThan(0);
  await new Promise((resolve) => setImmediate(resolve));
  expect(decoder.readableLength).toBeLessThan(256 * 1024);
  decoder.destroy();
});

it('a zstd frame whose window is larger than 8 MiB is corrupt', async () => {
  const encoder = createZstdCompress({ params: { [constants.ZSTD_c_windowLog]: 24 } });
  encoder.end('{}');
  const pieces = (await encoder.toArray()) as Buffer[];
  expect(await decode('zstd', pieces)).toMatchObject({ kind: 'corrupt' });
});

it.each([
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  [' GZip ', 'gzip'],
  ['identity, br', 'br'],
  ['gzip, gzip', 'gzip, gzip'],
])('the coding of %j is %j', (header, coding) => {
  expect(codingOf(header)).toBe(coding);
});

it.each(['compress', 'gzip, gzip', 'constructor'])('%s is not decoded', (coding) => {
  expect(decoderOf(coding)).toBeUndefined();
});
