import { describe, expect, it } from 'vitest';
import { chatCompletions } from '../operations/openai.ts';
import { messages } from '../operations/messages.ts';
import { GatewayError, UpstreamError } from '../../plugin/index.ts';
import { RequestBody, type RemoteMediaSettings, type ResolvedTarget } from '../kernel/index.ts';
import { createAttempt, createExchange, createFakeClock } from '../../plugin/testing/index.ts';
import type { Download, DownloadRequest } from '../upstream/types.ts';
import { createMediaInliner } from './inline-media.ts';

const PNG: Download = {
  status: 200,
  headers: { 'content-type': 'image/png' },
  body: Buffer.from('89504e470d0a1a0a', 'hex'),
};
const DATA = PNG.body.toString('base64');

const REMOTE: RemoteMediaSettings = {
  hosts: ['h.example'],
  maxBytes: 1000,
  maxItems: 20,
  timeoutMs: 1000,
  allowInsecure: false,
};

const claudeOnVertex: ResolvedTarget = {
  slug: 'v',
  provider: 'vertex-ai',
  semconvName: 'gcp.vertex_ai',
  model: 'claude-x',
  modelLabel: 'claude-x',
  origin: 'https://v.example',
  path: '/',
  headers: {},
  format: 'anthropic-messages',
  host: 'vertex',
  timeouts: {},
};

interface Setup {
  readonly operation?: typeof messages;
  readonly resolved?: Partial<ResolvedTarget>;
  readonly remoteMedia?: RemoteMediaSettings | undefined;
  readonly download?: (request: DownloadRequest) => Promise<Download>;
}

/** Inlines the media of a body that is given as text. */
async function inlined(text: string, setup: Setup = {}) {
  const { operation = messages, resolved = {}, download = () => Promise.resolve(PNG) } = setup;
  const remoteMedia = 'remoteMedia' in setup ? setup.remoteMedia : REMOTE;
  const fetched: string[] = [];
  const logged: unknown[] = [];
  const body = RequestBody.read(Buffer.from(text), 64);
  const exchange = createExchange({ operation });
  const attempt = createAttempt(exchange, { body, target: { remoteMedia } });
  const inliner = createMediaInliner({
    clock: createFakeClock(),
    download: (request) => (fetched.push(request.url.pathname), download(request)),
    log: { warn: (...line: unknown[]) => void logged.push(line) },
  });
  let result: RequestBody | undefined;
  let failure: unknown;
  try {
    result = await inliner.inline(exchange, attempt, { ...claudeOnVertex, ...resolved });
  } catch (error) {
    failure = error;
  }
  return { fetched, logged, failure, text: result?.encode().toString(), attempt, body };
}

const image = (path: string) => `{"type":"image","source":{"type":"url","url":"https://h.example${path}"}}`;
const request = (...blocks: string[]) => `{"messages":[{"role":"user","content":[${blocks.join(',')}]}]}`;

describe('media by address', () => {
  it('are inlined into a passed-through body, whose other bytes stay unchanged', async () => {
    const { text, attempt, body } = await inlined(
      `{ "model" : "m", "n": 1.0, "messages":[{"role":"user","content":[{"big":12345678901234567891},${image('/a')}]}] }`,
    );
    expect(text).toBe(
      `{ "model" : "m", "n": 1.0, "messages":[{"role":"user","content":[{"big":12345678901234567891},` +
        `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${DATA}"}}]}] }`,
    );
    // Only the caller of the inliner changes the attempt's body.
    expect(attempt.body).toBe(body);
  });

  it('are found whatever escapes their keys use', async () => {
    const { fetched } = await inlined(request(image('/a').replace('"url":', String.raw`"\u0075rl":`)));
    expect(fetched).toEqual(['/a']);
  });

  it.each([
    ['holds none', request('{"type":"text","text":"https://h.example/a"}'), {}],
    ['holds none but has a key url', request('{"type":"text","text":"x","url":"https://h.example/a"}'), {}],
    ['goes to a target that accepts addresses', request(image('/a')), { resolved: { format: 'openai-chat' } }],
    ['goes to Gemini', request(image('/a')), { resolved: { format: 'gemini' } }],
    ['goes to Anthropic’s own API', request(image('/a')), { resolved: { host: 'direct' } }],
    [
      'has a video, which the format refuses',
      request('{"type":"image_url","image_url":{"url":"https://h.example/a.mp4"}}'),
      { operation: chatCompletions },
    ],
  ] satisfies [string, string, Setup][])('are left alone in a request that %s', async (_, text, setup) => {
    expect(await inlined(text, setup)).toMatchObject({ fetched: [], text: undefined, failure: undefined });
  });

  it.each([undefined, { ...REMOTE, hosts: [] }])(
    'are refused if the target allows no host: %j',
    async (remoteMedia) => {
      const { failure, fetched } = await inlined(request('{"type":"text","text":"x"}', image('/a')), { remoteMedia });
      expect(failure).toMatchObject({ code: 'invalid_value', status: 400, param: 'messages[0].content[1]' });
      expect(String(failure)).toMatch(/in base64, or allow its host in `remote_media` of the gateway config/);
      expect(fetched).toEqual([]);
    },
  );

  it('with a scheme that no gateway fetches are refused without a hint at remote_media', async () => {
    const { failure } = await inlined(request(image('/a').replace('https://', 'gs://')), {
      remoteMedia: { ...REMOTE, hosts: [] },
    });
    expect(String(failure)).toMatch(/Send it in base64\.$/);
  });

  it('are fetched four at a time, each address once', async () => {
    let running = 0;
    let most = 0;
    const download = async () => {
      most = Math.max(most, (running += 1));
      await new Promise(setImmediate);
      running -= 1;
      return PNG;
    };
    const paths = Array.from({ length: 10 }, (_, index) => `/${index % 7}`);
    const { fetched, text } = await inlined(request(...paths.map(image)), { download });
    expect(fetched).toEqual(['/0', '/1', '/2', '/3', '/4', '/5', '/6']);
    expect(most).toBe(4);
    expect(text?.split(DATA)).toHaveLength(11);
  });

  it('cancel each other when one fails, and log the cause that the caller does not get', async () => {
    const cause = new UpstreamError('egress_refused', 'h.example resolves to a private address');
    const others: (GatewayError | undefined)[] = [];
    const download = ({ url, cancellation }: DownloadRequest) =>
      url.pathname === '/bad'
        ? Promise.reject(cause)
        : new Promise<Download>((_, reject) => {
            cancellation.onCancel((reason) => (others.push(reason), reject(reason)));
          });
    const { failure, logged } = await inlined(request(image('/slow'), image('/bad')), { download });
    expect(failure).toMatchObject({
      code: 'invalid_value',
      param: 'messages[0].content[1]',
      message: '`messages[0].content[1]` cannot be fetched: h.example cannot be reached.',
    });
    expect(others).toEqual([failure]);
    expect(logged).toMatchObject([
      [{ err: cause, request_id: 'test-request', param: 'messages[0].content[1]' }, expect.any(String)],
    ]);
  });

  it('are not logged if the caller gets the whole reason', async () => {
    const download = () => Promise.resolve({ ...PNG, status: 404 });
    const { failure, logged } = await inlined(request(image('/a')), { download });
    expect([failure, logged]).toMatchObject([{ code: 'invalid_value' }, []]);
  });
});
