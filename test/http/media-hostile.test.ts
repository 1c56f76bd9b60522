import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import { anthropicReply, entriesFor, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

/** Media URLs of an attacker: forbidden addresses, endless waits, memory exhaustion. */

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from('pixels')]);

let upstream: ScriptedUpstream;
let media: ScriptedUpstream;
let gateway: TestGateway;
let files: Record<string, (res: ServerResponse) => unknown> = {};
/** Addresses of a name, one answer after the other; the last for ever. */
let answers: string[] = [];
/** Lines of the log before the test. */
let logged = 0;

beforeAll(async () => {
  upstream = await startUpstream(({ url }, res) =>
    json(res, url.includes('count') ? { input_tokens: 7 } : anthropicReply('Seen.')),
  );
  media = await startUpstream(
    ({ url }, res) => void (files[url] ?? ((other: ServerResponse) => other.writeHead(404).end()))(res),
  );
  gateway = await startTestGateway(
    {
      catalog: { providers: entriesFor(upstream.url) },
      gateway: {
        /** As careless as a config can be. */
        open: { remote_media: { hosts: ['*', '*:*'], allow_insecure: true } },
        careful: { remote_media: { hosts: ['*', '*:*'] } },
        listed: { remote_media: { hosts: ['cdn.example', '*.img.example'], allow_insecure: true } },
        small: { remote_media: { hosts: ['*:*'], allow_insecure: true, max_bytes: 1000, max_items: 20 } },
        hasty: { remote_media: { hosts: ['*:*'], allow_insecure: true, timeout: '80ms' } },
      },
    },
    { lookup: async () => [answers.length > 1 ? answers.shift()! : (answers[0] ?? '127.0.0.1')] },
  );
});
afterAll(async () => {
  await gateway.close();
  await media.close();
  await upstream.close();
});
beforeEach(() => {
  files = { '/a.png': (res) => res.writeHead(200, { 'content-type': 'image/png' }).end(PNG) };
  answers = [];
  logged = gateway.logs.length;
});

const at = (path: string): string => `${media.url}${path}`;
const CLAUDE = '@gemini/anthropic.claude-sonnet-4-5@20250929';

async function ask(urls: readonly string[], config: string, path = '/v1/messages') {
  const block = (url: string) =>
    path.startsWith('/v1/messages')
      ? { type: 'image', source: { type: 'url', url } }
      : { type: 'image_url', image_url: { url } };
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      authorization: 'Bearer ya29.of-the-caller',
      'x-gateway-config': config,
    },
    body: JSON.stringify({ model: CLAUDE, max_tokens: 10, messages: [{ role: 'user', content: urls.map(block) }] }),
  });
  const { error } = (await response.json()) as { error?: { message: string } };
  return { status: response.status, message: error?.message ?? '' };
}

/** The reason of the last failure in the log; the caller's error omits it. */
const lastCause = (): unknown =>
  (
    gateway.logs.slice(logged).findLast(({ msg }) => msg === 'media of a request cannot be fetched')?.['err'] as {
      code?: string;
    }
  )?.code;

describe('a URL that leads to a metadata server', () => {
  it.each([
    'http://169.254.169.254/computeMetadata/v1/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://0xa9.0xfe.0xa9.0xfe/',
    'http://0251.0376.0251.0376/',
    'http://169.254.43518/',
    'http://169.254.169.254./',
    'http://１６９.254.169.254/',
    'http://169。254。169。254/',
    'http://[::ffff:169.254.169.254]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::169.254.169.254]/',
    'http://[2002:a9fe:a9fe::]/',
    'http://[fd00:ec2::254]/',
    'http://[fd20:ce::254]/',
    'http://100.100.100.200/latest/meta-data/',
    'https://169.254.170.2/v2/credentials',
  ])('is refused however it is written: %s', async (url) => {
    expect(await ask([url], 'open')).toMatchObject({
      status: 400,
      message: expect.stringMatching(/cannot be reached\.$/),
    });
    expect(lastCause()).toBe('egress_refused');
  });

  it('is refused by whatever name, and where a name has come to lead there', async () => {
    const url = at('/a.png').replace('127.0.0.1', 'rebinding.example');
    answers = ['127.0.0.1', '169.254.169.254'];
    expect((await ask([url], 'open')).status).toBe(200);
    expect(await ask([url], 'open')).toEqual({
      status: 400,
      message: expect.stringMatching(/rebinding\.example:\d+ cannot be reached\.$/),
    });
    expect(lastCause()).toBe('egress_refused');
  });

  it('is refused behind a redirect of a host that may be asked, and it is not told which', async () => {
    files['/away'] = (res) => res.writeHead(302, { location: 'http://169.254.169.254/token' }).end();
    const { status, message } = await ask([at('/away')], 'open');
    expect([status, message]).toEqual([400, expect.stringContaining('the redirect target cannot be reached')]);
    expect(message).not.toContain('169.254');
    expect(lastCause()).toBe('egress_refused');
  });
});

describe('a URL that leads inside', () => {
  it.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://0/',
    'https://localhost/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::127.0.0.1]/',
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://[64:ff9b::10.0.0.1]/',
    'https://[64:ff9b:1::10.0.0.1]/',
    'https://10.0.0.1/',
    'https://db.internal:5432/',
  ])('is refused where no config allows the inside: %s', async (url) => {
    expect(await ask([url], 'careful')).toMatchObject({
      status: 400,
      message: expect.stringMatching(/cannot be reached\.$/),
    });
    expect(lastCause()).toBe('egress_refused');
  });
});

describe('a URL that looks like an allowed one', () => {
  it.each([
    'http://cdn.example.evil.example/a.png',
    'http://evil.example/cdn.example',
    'http://evil.example#cdn.example',
    'http://evil.example?cdn.example',
    'http://cdn.example@evil.example/a.png',
    'http://cdn.example%2eevil.example/a.png',
    String.raw`http://evil.example\@cdn.example/a.png`,
    'http://cdn.example./a.png',
    'http://cdn.example:81/a.png',
    'http://evilimg.example/a.png',
    'http://img.example/a.png',
    'http://cdn.exаmple/a.png',
    'http://cdn。example.evil.example/a.png',
    'file:///etc/passwd',
    'gopher://cdn.example/',
    'ftp://cdn.example/a.png',
    'javascript://cdn.example/%0aalert(1)',
    'http://',
  ])('is not asked for: %s', async (url) => {
    const before = media.seen.length;
    const { status, message } = await ask([url], 'listed');
    expect([status, media.seen.length]).toEqual([400, before]);
    expect(message).not.toContain('cannot be reached');
  });
});

describe('a media server that means harm', () => {
  it.each<[string, string, (res: ServerResponse) => unknown, RegExp]>([
    [
      'sends a bomb in a content coding',
      'small',
      (res) =>
        res
          .writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip' })
          .end(gzipSync(Buffer.concat([PNG, Buffer.alloc(100_000)]))),
      /may have at most 1000 bytes/,
    ],
    [
      'drips',
      'hasty',
      (res) => {
        res.writeHead(200, { 'content-type': 'image/png' }).write(PNG);
        const more = setInterval(() => res.write('x'), 10);
        res.on('close', () => clearInterval(more));
      },
      /did not arrive in time/,
    ],
    [
      'drips headers of no reply',
      'hasty',
      (res) => {
        const more = setInterval(() => res.socket?.write('HTTP/1.1 102 Processing\r\n\r\n'), 10);
        res.on('close', () => clearInterval(more));
      },
      /did not arrive in time/,
    ],
    [
      'says less than it sends',
      'small',
      (res) => res.socket?.end('HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 3\r\n\r\n'),
      /cannot be reached/,
    ],
    [
      'has two types',
      'small',
      (res) =>
        res.socket?.end(
          `HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-type: text/html\r\ncontent-length: ${PNG.length}\r\n\r\n${PNG.toString('latin1')}`,
        ),
      /of another type/,
    ],
    [
      'has a type that would be markup',
      'small',
      (res) => res.writeHead(200, { 'content-type': '<script>alert(1)</script>' }).end(PNG),
      /it is of another type/,
    ],
    [
      'sends a picture with scripts',
      'small',
      (res) => res.writeHead(200, { 'content-type': 'image/svg+xml' }).end('<svg/>'),
      /image\/svg\+xml/,
    ],
    [
      'sends a page as a picture',
      'small',
      (res) => res.writeHead(200, { 'content-type': 'image/png' }).end('<html>'),
      /of another type/,
    ],
    ['sends nothing', 'small', (res) => res.writeHead(200, { 'content-type': 'image/png' }).end(), /of another type/],
    ['sends a part', 'small', (res) => res.writeHead(206, { 'content-type': 'image/png' }).end(PNG), /status 206/],
    [
      'has headers without end',
      'small',
      (res) => res.socket?.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`),
      /cannot be reached/,
    ],
  ])('and %s is left', async (_, config, script, message) => {
    files['/hostile.png'] = script;
    const before = upstream.seen.length;
    const answer = await ask([at('/hostile.png')], config);
    expect(answer).toEqual({ status: 400, message: expect.stringMatching(message) });
    expect(answer.message).not.toMatch(/ECONN|HPE_|UND_|undici|<script/);
    expect(upstream.seen).toHaveLength(before);
    await until(() => media.sockets.size === 0, 'its connection is closed');
  });

  it('and one of many URLs ends all the others', async () => {
    const before = media.seen.length;
    const urls = ['/silent.png?1', '/silent.png?2', '/missing.png', '/silent.png?3', '/silent.png?4'].map(at);
    for (const number of [1, 2, 3, 4]) files[`/silent.png?${number}`] = () => {};
    expect(await ask(urls, 'open')).toEqual({ status: 400, message: expect.stringContaining('status 404') });
    await until(() => media.sockets.size === 0, 'all are given up');
    expect(media.seen.length - before).toBeLessThanOrEqual(4);
  });

  it('named again and again is asked once, and every place counts', async () => {
    const before = media.seen.length;
    const many = (count: number) =>
      ask(
        Array.from({ length: count }, () => at('/a.png')),
        'small',
      );
    expect((await many(20)).status).toBe(200);
    expect(media.seen.length - before).toBe(1);
    expect((await many(21)).message).toContain('remote_media.max_items');
  });
});

describe('the other ways in', () => {
  it.each(['/v1/chat/completions', '/v1/messages', '/v1/messages/count_tokens'])(
    'hold the same rules: %s',
    async (path) => {
      expect((await ask([at('/a.png')], 'open', path)).status).toBe(200);
      expect(await ask(['http://169.254.169.254/'], 'open', path)).toMatchObject({ status: 400 });
      expect(await ask([at('/a.png')], 'listed', path)).toEqual({
        status: 400,
        message: expect.stringContaining('does not allow 127.0.0.1'),
      });
    },
  );
});
