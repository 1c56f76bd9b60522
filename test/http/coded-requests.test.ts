import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

/** Request bodies with a content coding, as Codex sends them, at the doors of a gateway. */

const CODINGS = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  'deflate, raw': deflateRawSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
} as const;
type Coding = keyof typeof CODINGS;
const headerOf = (coding: string): string => coding.replace(', raw', '');

const BOMB = 'x'.repeat(16 * 1024 * 1024);

interface Sent {
  readonly path: string;
  readonly type: string;
  readonly body: Buffer;
}
type Door = (text: string) => Promise<Sent>;

const asJson =
  (path: string, body: (text: string) => object): Door =>
  (text) =>
    Promise.resolve({ path, type: 'application/json', body: Buffer.from(JSON.stringify(body(text))) });

const asForm =
  (path: string, fields: Readonly<Record<string, string>>): Door =>
  async (text) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set('file', new Blob([`%PDF-1.7\n${text}`]), 'a.pdf');
    const whole = new Response(form);
    return { path, type: whole.headers.get('content-type')!, body: Buffer.from(await whole.arrayBuffer()) };
  };

const model = '@open/m';
const DOORS: Readonly<Record<string, Door>> = {
  chat: asJson('/v1/chat/completions', (content) => ({ model, messages: [{ role: 'user', content }] })),
  Messages: asJson('/v1/messages', (content) => ({ model, max_tokens: 9, messages: [{ role: 'user', content }] })),
  Responses: asJson('/v1/responses', (input) => ({ model, input })),
  Gemini: asJson(`/v1beta/models/${model}:generateContent`, (text) => ({
    contents: [{ role: 'user', parts: [{ text }] }],
  })),
  embeddings: asJson('/v1/embeddings', (input) => ({ model, input })),
  transcriptions: asForm('/v1/audio/transcriptions', { model }),
  files: asForm('/v1/files', { purpose: 'user_data' }),
};

let folder: string;
let upstream: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-coded-'));
  upstream = await startUpstream(({ url }, res) => {
    if (url.includes('embeddings'))
      return json(res, { object: 'list', model: 'm', data: [{ object: 'embedding', index: 0, embedding: [0.5] }] });
    return json(res, url.includes('audio') ? { text: 'hello' } : openaiReply('hello'));
  });
  gateway = await startTestGateway({
    server: {
      limits: { body: '2MiB', form: '2MiB', in_flight_bytes: '64MiB' },
      files: { dir: folder, max_file_bytes: '2MiB' },
    },
    catalog: {
      providers: [
        {
          slug: 'open',
          provider: 'openai',
          api: 'chat',
          api_key: '${env:NONE:-sk-x}',
          base_url: `${upstream.url}/v1`,
          allow_insecure: true,
        },
      ],
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** In one write, so that a refusal cannot cut what is sent. */
const send = ({ path, type }: Sent, coding: string, body: Buffer): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = {
      'content-type': type,
      'content-encoding': headerOf(coding),
      'content-length': body.length,
      'x-gateway-api-key': KEY,
    };
    const request = httpRequest(`${gateway.url}${path}`, { method: 'POST', headers }, (reply) => {
      let text = '';
      reply.on('data', (piece: Buffer) => void (text += piece.toString()));
      reply.on('end', () => resolve({ status: reply.statusCode!, text }));
      reply.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });

/** A text that no coding makes much smaller. */
const noise = (bytes: number): string => {
  let seed = 1;
  return Array.from({ length: bytes }, () =>
    String.fromCharCode(97 + ((seed = (seed * 48_271) % 2_147_483_647) % 26)),
  ).join('');
};

const cells = Object.keys(DOORS).flatMap((door) =>
  Object.keys(CODINGS).map((coding) => [door, coding as Coding] as const),
);

describe.each(cells)('a request to %s in %s', (door, coding) => {
  const encode = CODINGS[coding];
  const isFile = door === 'files';
  const ask = async (text: string, change: (coded: Buffer) => Buffer = (coded) => coded, name: string = coding) => {
    const before = upstream.seen.length;
    const sent = await DOORS[door]!(text);
    const { status, text: reply } = await send(sent, name, change(encode(sent.body)));
    return { status, reply, asked: upstream.seen.slice(before) };
  };

  it('is decoded, and leaves without its coding', async () => {
    const { status, reply, asked } = await ask('a word of é');
    expect([status, reply]).toEqual([200, expect.stringMatching(isFile ? /"bytes": ?21\b/ : /hello|embedding/)]);
    if (isFile) return;
    expect(asked).toHaveLength(1);
    expect([asked[0]!.headers['content-encoding'], asked[0]!.text]).toEqual([
      undefined,
      expect.stringContaining('a word of é'),
    ]);
  });

  it('counts decoded for the limit of bodies: coded bytes of half its size do not help', async () => {
    const half = 'word '.repeat(20_000) + noise(200_000);
    expect((await ask(half)).status).toBe(200);
    const { status, reply, asked } = await ask(half.repeat(10));
    expect([status, asked.length, /too.large|exceeds|larger|at most/i.test(reply)]).toEqual([413, 0, true]);
  });

  it('is refused as a bomb with a thousandfold of its bytes', async () => {
    const { status, asked } = await ask(BOMB);
    expect([status, asked]).toEqual([413, []]);
  });

  it.each<[string, (coded: Buffer) => Buffer, number, RegExp]>([
    ['cut', (coded) => coded.subarray(0, -2), 400, /The body ends before its/],
    ['plain', () => Buffer.from('{"plain":true}'.repeat(20)), 400, /The body (?:is not readable|ends before)/],
    [
      'longer than its coding',
      (coded) => Buffer.concat([coded, Buffer.from('more')]),
      400,
      /The body (?:goes on|is not)/,
    ],
  ])('is refused by name if it is %s', async (_, change, expected, message) => {
    const { status, reply, asked } = await ask('a word', change);
    expect([status, reply, asked.length]).toEqual([expected, expect.stringMatching(message), 0]);
  });
});

describe.each(Object.keys(DOORS))('a request to %s', (door) => {
  it.each(['compress', 'gzip, gzip', 'zstd, br'])(
    'is refused in the coding %s, which its error names',
    async (coding) => {
      const before = upstream.seen.length;
      const sent = await DOORS[door]!('a word');
      const { status, text } = await send(sent, coding, gzipSync(gzipSync(sent.body)));
      expect([status, text]).toEqual([415, expect.stringContaining(`Content-Encoding ${coding} is not accepted`)]);
      expect(upstream.seen).toHaveLength(before);
    },
  );

  it('is taken in the coding identity', async () => {
    const sent = await DOORS[door]!('a word');
    expect((await send(sent, 'identity', sent.body)).status).toBe(200);
  });
});
