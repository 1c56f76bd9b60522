import { request as httpRequest, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import {
  anthropicReply,
  entriesFor,
  geminiReply,
  json,
  openaiReply,
  startUpstream,
  type ScriptedUpstream,
} from '../support/upstream.ts';

/** Media that requests name by URL: fetched for targets that take them only as data, where the config allows it. */

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from('pixels')]);
const JPEG = Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), Buffer.from('pixels')]);
const PDF = Buffer.from('%PDF-1.7 pages');
const b64 = (bytes: Buffer) => bytes.toString('base64');

let upstream: ScriptedUpstream;
let media: ScriptedUpstream;
let gateway: TestGateway;
/** What the media server does with a path; reset before each test. */
let files: Record<string, (res: ServerResponse) => unknown> = {};

const file = (type: string, bytes: Buffer) => (res: ServerResponse) =>
  res.writeHead(200, { 'content-type': type }).end(bytes);
const redirect = (location: string) => (res: ServerResponse) => res.writeHead(302, { location }).end('moved');

/** A server with OpenAI's fields alone, as OpenAI itself. */
const OWN = { slug: 'own', provider: 'openai', allow_insecure: true, api_key: 'sk-of-the-entry', extensions: 'drop' };

beforeAll(async () => {
  upstream = await startUpstream(({ url }, res) => {
    if (url.includes('count')) return json(res, { input_tokens: 7 });
    if (url.includes('generateContent')) return json(res, geminiReply('Seen.'));
    return json(res, url.includes('chat/completions') ? openaiReply('Seen.') : anthropicReply('Seen.'));
  });
  media = await startUpstream(
    ({ url }, res) => void (files[url] ?? ((other: ServerResponse) => other.writeHead(404).end()))(res),
  );
  const { host } = new URL(media.url);
  const hosts = [host];
  gateway = await startTestGateway(
    {
      catalog: { providers: [...entriesFor(upstream.url), { ...OWN, base_url: `${upstream.url}/v1` }] },
      gateway: {
        none: {},
        // No longer than a test: nothing here waits for it but the one test that does.
        media: { remote_media: { hosts, allow_insecure: true, max_bytes: 1000, max_items: 5 } },
        hasty: { remote_media: { hosts, allow_insecure: true, timeout: '50ms' } },
        short: { remote_media: { hosts, allow_insecure: true }, request_timeout: 60 },
        guarded: { remote_media: { hosts: ['media.example', '*.inside.example', 'nowhere.example'] } },
        elsewhere: { remote_media: { hosts: ['other.example'], allow_insecure: true } },
        cached: { cache: { mode: 'exact' }, remote_media: { hosts, allow_insecure: true } },
        second: {
          strategy: { mode: 'fallback' },
          targets: [{ provider: '@gemini', remote_media: { hosts, allow_insecure: true } }],
        },
      },
      keys: { keys: [{ id: 'test', key: KEY, inline_configs: true }] },
    },
    {
      lookup: async (name) => {
        if (name === 'nowhere.example') throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
        return name.endsWith('.example') ? ['10.1.2.3'] : ['127.0.0.1'];
      },
    },
  );
});
afterAll(async () => {
  await gateway.close();
  await media.close();
  await upstream.close();
});
beforeEach(() => {
  files = {
    '/a.png': file('image/png', PNG),
    '/a.jpg': file('image/jpeg', JPEG),
    '/a.pdf': file('application/pdf', PDF),
  };
});

const VERTEX_CLAUDE = '@gemini/anthropic.claude-sonnet-4-5@20250929';
const DIRECT_CLAUDE = '@claude/claude-sonnet-4-5-20250929';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly error: { readonly message: string; readonly param?: string; readonly code?: string; readonly type?: string };
}

async function post(path: string, body: object, config: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      authorization: 'Bearer ya29.of-the-caller',
      'x-gateway-config': config,
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const { error = { message: '' } } = JSON.parse(text) as Partial<Answer>;
  return { status: response.status, headers: response.headers, text, error };
}

const chat = (content: readonly object[], config: string, model = VERTEX_CLAUDE) =>
  post('/v1/chat/completions', { model, max_tokens: 10, messages: [{ role: 'user', content }] }, config);
const message = (content: readonly object[], config: string, path = '/v1/messages', model = VERTEX_CLAUDE) =>
  post(path, { model, max_tokens: 10, messages: [{ role: 'user', content }] }, config);

const image = (url: string) => ({ type: 'image_url', image_url: { url } });
const at = (path: string) => `${media.url}${path}`;
const sent = () => upstream.seen.at(-1)!.json as { messages: { content: Record<string, unknown>[] }[] };
const blocks = () => sent().messages[0]!.content;
const base64 = (media_type: string, bytes: Buffer) => ({ type: 'base64', media_type, data: b64(bytes) });

describe('a PDF by its address for OpenAI', () => {
  it('is fetched where the config allows it', async () => {
    const pdf = [{ type: 'document', source: { type: 'url', url: at('/a.pdf') } }];
    const { status } = await message(pdf, 'media', '/v1/messages', '@own/gpt-5');
    expect(status).toBe(200);
    expect(JSON.stringify(blocks())).toContain(`data:application/pdf;base64,${b64(PDF)}`);
    expect(JSON.stringify(blocks())).not.toContain('image_url');
  });
});

describe('a chat request with media by URL for Claude on Vertex AI', () => {
  it('has them inlined, whatever the part they are named in', async () => {
    const parts = [
      image(at('/a.png')),
      image(at('/a.pdf')),
      { type: 'file', file: { file_url: at('/a.pdf'), filename: 'report.pdf' } },
      { type: 'file', file: { file_id: at('/a.jpg') } },
      { type: 'text', text: 'What are they?' },
    ];
    expect((await chat(parts, 'media')).status).toBe(200);
    expect(blocks()).toEqual([
      { type: 'image', source: base64('image/png', PNG) },
      { type: 'document', source: base64('application/pdf', PDF) },
      { type: 'document', source: base64('application/pdf', PDF), title: 'report.pdf' },
      { type: 'image', source: base64('image/jpeg', JPEG) },
      { type: 'text', text: 'What are they?' },
    ]);
  });

  it('asks for each address once, and sends no header of the caller’s there', async () => {
    const before = media.seen.length;
    expect((await chat([image(at('/a.png')), image(at('/a.png'))], 'media')).status).toBe(200);
    expect(blocks()).toHaveLength(2);
    expect(media.seen.slice(before).map(({ url }) => url)).toEqual(['/a.png']);
    const { headers } = media.seen.at(-1)!;
    expect(Object.keys(headers).toSorted()).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
    expect(JSON.stringify(headers)).not.toMatch(/ya29|gatehouse-test-key/);
  });

  it('is refused where no config allows it, and told what would', async () => {
    for (const config of ['none', 'media'] as const) {
      const before = media.seen.length;
      const { status, error } = await chat([{ type: 'text', text: 'x' }, image(at('/a.png'))], config);
      if (config === 'media') expect(status).toBe(200);
      else {
        expect([status, error.code, error.param]).toEqual([400, 'invalid_value', 'messages[0].content[1]']);
        expect(error.message).toMatch(/`messages\[0\]\.content\[1\]` is a URL.*data URI.*`remote_media`/);
        expect(media.seen).toHaveLength(before);
      }
    }
  });

  it.each([
    [
      'a host that is not allowed',
      'elsewhere',
      () => at('/a.png'),
      /`remote_media\.hosts` of the gateway config does not allow 127\.0\.0\.1/,
    ],
    ['a bucket', 'media', () => 'gs://bucket/a.png', /only http and https URLs/],
    ['credentials', 'media', () => at('/a.png').replace('//', '//user:pass@'), /without credentials/],
    ['plain http without allow_insecure', 'guarded', () => 'http://media.example/a.png', /only https URLs/],
    [
      'a name that leads inside',
      'guarded',
      () => 'https://db.inside.example/a.png',
      /db\.inside\.example cannot be reached\.$/,
    ],
    [
      'a name that leads nowhere',
      'guarded',
      () => 'https://nowhere.example/a.png',
      /nowhere\.example cannot be reached\.$/,
    ],
    ['nothing', 'media', () => at('/missing.png'), /replied with status 404/],
    [
      'a file of another type than declared',
      'media',
      () => at('/fake.png'),
      /declared as image\/png but is image\/jpeg/,
    ],
    ['a page', 'media', () => at('/page'), /it is text\/html/],
    ['too much', 'media', () => at('/large.png'), /1000 bytes \(remote_media\.max_bytes\)/],
    ['too much that does not say so', 'media', () => at('/endless.png'), /1000 bytes \(remote_media\.max_bytes\)/],
    [
      'a redirect to another host',
      'media',
      () => at('/away'),
      /redirected to a host that `remote_media\.hosts` does not allow/,
    ],
    ['a redirect in a circle', 'media', () => at('/circle'), /redirected more than 3 times/],
    ['silence', 'hasty', () => at('/silent.png'), /did not arrive in time \(remote_media\.timeout\)/],
    ['a connection that breaks', 'media', () => at('/broken.png'), /cannot be reached/],
  ])('that leads to %s is a 400 that names the part, and no upstream is asked', async (_, config, url, message) => {
    files['/fake.png'] = file('image/png', JPEG);
    files['/page'] = file('text/html', Buffer.from('<html>'));
    files['/large.png'] = file('image/png', Buffer.concat([PNG, Buffer.alloc(2000)]));
    files['/endless.png'] = (res) => {
      res.writeHead(200, { 'content-type': 'image/png' });
      const more = (): void => {
        while (!res.destroyed && res.write(Buffer.alloc(100)));
        if (!res.destroyed) res.once('drain', more);
      };
      more();
    };
    files['/away'] = redirect('https://metadata.inside.example/computeMetadata/v1/secret');
    files['/circle'] = redirect('/circle');
    files['/silent.png'] = () => {};
    files['/broken.png'] = (res) =>
      res.writeHead(200, { 'content-type': 'image/png', 'content-length': 500 }).write('x', () => res.destroy());
    const before = upstream.seen.length;
    const { status, error } = await chat([image(url())], config);
    expect([status, error.code, error.param, error.message]).toEqual([
      400,
      'invalid_value',
      'messages[0].content[0]',
      expect.stringMatching(message),
    ]);
    // Nothing of the network inside.
    expect(error.message).not.toMatch(/10\.1\.2\.3|private|RFC|ENOTFOUND|ECONN|metadata/);
    expect(upstream.seen).toHaveLength(before);
  });

  it('follows redirects to where it may', async () => {
    files['/first'] = redirect('/second');
    files['/second'] = redirect(at('/a.png'));
    expect((await chat([image(at('/first'))], 'media')).status).toBe(200);
    expect(blocks()).toEqual([{ type: 'image', source: base64('image/png', PNG) }]);
  });

  it('counts all of a request together, in bytes and in parts', async () => {
    files['/half.png'] = file('image/png', Buffer.concat([PNG, Buffer.alloc(600)]));
    const bytes = await chat([image(at('/half.png')), image(at('/half.png'))], 'media');
    expect([bytes.status, bytes.error.message]).toEqual([400, expect.stringContaining('remote_media.max_bytes')]);
    const parts = await chat(
      Array.from({ length: 6 }, () => image(at('/a.png'))),
      'media',
    );
    expect([parts.status, parts.error.param, parts.error.message]).toEqual([
      400,
      'messages[0].content[5]',
      expect.stringContaining('remote_media.max_items'),
    ]);
  });

  it('ends with the total time of its target, and says so', async () => {
    files['/silent.png'] = () => {};
    const { status, error } = await chat([image(at('/silent.png'))], 'short');
    expect([status, error.code]).toEqual([504, 'timeout_total']);
  });

  it('stops fetching when its client leaves', async () => {
    files['/silent.png'] = () => {};
    const before = media.seen.length;
    const request = httpRequest(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-gateway-api-key': KEY,
        'x-gateway-config': 'media',
        authorization: 'Bearer t',
      },
    });
    request.on('error', () => {});
    const messages = [{ role: 'user', content: [image(at('/silent.png'))] }];
    request.end(JSON.stringify({ model: VERTEX_CLAUDE, max_tokens: 10, messages }));
    await until(() => media.seen.length > before, 'the media were asked for');
    request.destroy();
    await until(() => media.seen.at(-1)!.aborted, 'the download was given up');
    await until(() => media.sockets.size === 0, 'its connection was closed');
  });

  it('obeys the setting of the target that is tried', async () => {
    expect((await chat([image(at('/a.png'))], 'second', 'anthropic.claude-sonnet-4-5@20250929')).status).toBe(200);
    expect(blocks()).toEqual([{ type: 'image', source: base64('image/png', PNG) }]);
  });

  it('cannot bring the permission itself', async () => {
    const config = JSON.stringify({ remote_media: { hosts: ['*:*'], allow_insecure: true } });
    const { status, error } = await chat([image(at('/a.png'))], config);
    expect([status, error.code, error.message]).toEqual([
      400,
      'invalid_config',
      expect.stringContaining('remote_media'),
    ]);
  });

  it('is cached by its URL: a second one calls no server, even if the content of the URL has changed', async () => {
    const counts = () => [media.seen.length, upstream.seen.length];
    const first = await chat([image(at('/a.png'))], 'cached');
    const before = counts();
    files['/a.png'] = file('image/png', Buffer.concat([PNG, Buffer.from('new')]));
    const second = await chat([image(at('/a.png'))], 'cached');
    expect([first, second].map(({ headers }) => headers.get('x-gateway-cache-status'))).toEqual(['MISS', 'HIT']);
    expect(counts()).toEqual(before);
  });
});

describe('a messages request with media by URL', () => {
  it('reaches Vertex AI with the bytes in their places and everything else as it came', async () => {
    const source = (path: string) => ({ type: 'url', url: at(path) });
    const result = { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'image', source: source('/a.png') }] };
    const body = {
      model: VERTEX_CLAUDE,
      max_tokens: 10,
      system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }],
      unknown_field: { deep: [1, { two: null }] },
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 't1', name: 'n', input: { url: 'https://not.ours', big: 1 } }],
        },
        {
          role: 'user',
          content: [
            result,
            { type: 'document', source: source('/a.pdf'), title: 'T', citations: { enabled: true }, odd: 1 },
          ],
        },
      ],
      tools: [{ name: 'n', input_schema: { type: 'object', properties: { url: { type: 'string' } } } }],
    };
    expect((await post('/v1/messages', body, 'media')).status).toBe(200);
    const { model: _, ...rest } = body;
    expect(sent()).toEqual({
      ...rest,
      anthropic_version: 'vertex-2023-10-16',
      messages: [
        ...body.messages.slice(0, 2),
        {
          role: 'user',
          content: [
            { ...result, content: [{ type: 'image', source: base64('image/png', PNG) }] },
            {
              type: 'document',
              source: base64('application/pdf', PDF),
              title: 'T',
              citations: { enabled: true },
              odd: 1,
            },
          ],
        },
      ],
    });
  });

  it('keeps every digit of the numbers beside them', async () => {
    const messages = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: { id: 'DIGITS' } }] },
      { role: 'user', content: [{ type: 'image', source: { type: 'url', url: at('/a.png') } }] },
    ];
    const text = JSON.stringify({ model: VERTEX_CLAUDE, max_tokens: 10, messages }).replace(
      '"DIGITS"',
      '12345678901234567891',
    );
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-gateway-api-key': KEY,
        'x-gateway-config': 'media',
        authorization: 'Bearer t',
      },
      body: text,
    });
    expect(response.status).toBe(200);
    expect(upstream.seen.at(-1)!.text).toContain('"id":12345678901234567891');
    expect(upstream.seen.at(-1)!.text).toContain(b64(PNG));
  });

  it('is refused for Vertex AI in its own words where the config does not allow it', async () => {
    const { status, text } = await message([{ type: 'image', source: { type: 'url', url: at('/a.png') } }], 'none');
    expect([status, JSON.parse(text)]).toMatchObject([
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: expect.stringMatching(/content\[0\]` is a URL.*in base64.*`remote_media`/) as string,
        },
      },
    ]);
  });

  it('is refused when the block cannot hold what was found', async () => {
    const { status, text } = await message([{ type: 'image', source: { type: 'url', url: at('/a.pdf') } }], 'media');
    expect([status, text]).toEqual([400, expect.stringContaining('is application/pdf, which this part cannot hold')]);
  });

  it('is counted with the bytes in it, too', async () => {
    const path = '/v1/messages/count_tokens';
    const { status } = await message([{ type: 'image', source: { type: 'url', url: at('/a.png') } }], 'media', path);
    expect(status).toBe(200);
    expect(blocks()).toEqual([{ type: 'image', source: base64('image/png', PNG) }]);
  });

  it('goes to Anthropic’s own API as it is: that one fetches', async () => {
    const before = media.seen.length;
    const content = [{ type: 'image', source: { type: 'url', url: at('/a.png') } }];
    expect((await message(content, 'media', '/v1/messages', DIRECT_CLAUDE)).status).toBe(200);
    expect(blocks()).toEqual(content);
    expect(media.seen).toHaveLength(before);
  });
});

describe('other targets', () => {
  it('at Anthropic’s own API get images inlined, and PDFs by the URL it fetches itself', async () => {
    const parts = [image(at('/a.png')), { type: 'file', file: { file_url: at('/a.pdf') } }];
    expect((await chat(parts, 'media', DIRECT_CLAUDE)).status).toBe(200);
    expect(blocks()).toEqual([
      { type: 'image', source: base64('image/png', PNG) },
      { type: 'document', source: { type: 'url', url: at('/a.pdf') } },
    ]);
    const refused = await chat(parts, 'none', DIRECT_CLAUDE);
    expect([refused.status, refused.error.param]).toEqual([400, 'messages[0].content[0]']);
  });

  it.each([
    ['@gemini/gemini-2.5-flash', '"fileData":{'],
    ['@openai/m', '"type":"image_url"'],
  ])('such as %s get the URL as it is', async (model, part) => {
    const before = media.seen.length;
    expect((await chat([image(at('/a.png'))], 'media', model)).status).toBe(200);
    expect(upstream.seen.at(-1)!.text).toContain(part);
    expect(upstream.seen.at(-1)!.text).toContain(at('/a.png'));
    expect(media.seen).toHaveLength(before);
  });
});

describe('closing the gateway', () => {
  it('ends what is being fetched', async () => {
    const own = await startTestGateway({
      catalog: { providers: entriesFor(upstream.url) },
      gateway: { media: { remote_media: { hosts: [new URL(media.url).host], allow_insecure: true } } },
    });
    files['/silent.png'] = () => {};
    const before = media.seen.length;
    const messages = [{ role: 'user', content: [image(at('/silent.png'))] }];
    const request = httpRequest(`${own.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-gateway-api-key': KEY,
        'x-gateway-config': 'media',
        authorization: 'Bearer t',
      },
    });
    request.on('error', () => {});
    request.end(JSON.stringify({ model: VERTEX_CLAUDE, max_tokens: 10, messages }));
    await until(() => media.seen.length > before, 'the media were asked for');
    const ended = new Promise((resolve) => request.once('close', resolve));
    await own.gateway.close(0);
    await ended;
    await until(() => media.sockets.size === 0, 'no connection was left');
    await own.close();
  });
});
