import { describe, expect, it } from 'vitest';
import { Cancellation, GatewayError, UpstreamError } from '../../plugin/index.ts';
import type { RemoteMediaSettings } from '../kernel/index.ts';
import { createFakeClock } from '../../plugin/testing/index.ts';
import type { Download, DownloadRequest } from '../upstream/types.ts';
import { ByteBudget } from '../upstream/bounded-body.ts';
import { fetchMedia, MediaRefused, type FetchContext, readMedia } from './media-fetch.ts';
import { AllowedHosts } from '../catalog/custom-host.ts';

const SETTINGS: RemoteMediaSettings = {
  hosts: ['a.example', 'b.example'],
  maxBytes: 100,
  maxItems: 10,
  timeoutMs: 1000,
  allowInsecure: false,
};
const OK: Download = { status: 200, headers: {}, body: Buffer.from('x') };
const to = (location: string, status = 302): Download => ({ status, headers: { location }, body: Buffer.alloc(0) });

type Answer = Download | Error | ((request: DownloadRequest) => Download | Error);

/** Fetches with these replies, one per hop. */
async function fetching(
  url: string,
  answers: readonly Answer[],
  parts: Partial<FetchContext> & { places?: number } = {},
) {
  const clock = createFakeClock();
  const requests: DownloadRequest[] = [];
  const context: FetchContext = {
    async download(request) {
      const answer = answers[requests.push(request) - 1]!;
      const outcome = typeof answer === 'function' ? answer(request) : answer;
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    clock,
    settings: SETTINGS,
    hosts: new AllowedHosts(SETTINGS),
    budget: new ByteBudget(SETTINGS.maxBytes),
    until: 1000,
    deadline: 5000,
    deadlineOf: 'total',
    cancellation: new Cancellation(),
    accept: 'image/png',
    ...parts,
  };
  const outcome: unknown = await fetchMedia(url, parts.places ?? 1, context).catch((error: unknown) => error);
  return { outcome, requests, urls: requests.map(({ url: { href } }) => href) };
}

describe('media by address', () => {
  it('are requested without the caller’s headers and without content coding', async () => {
    const { outcome, requests } = await fetching('https://a.example/x?y=1#z', [OK]);
    expect(outcome).toBe(OK);
    expect(requests).toMatchObject([{ allowInsecure: false, timeoutMs: 1000 }]);
    expect(Object.keys(requests[0]!.headers)).toEqual(['accept', 'accept-encoding', 'user-agent']);
    expect(requests[0]!.headers).toMatchObject({ accept: 'image/png', 'accept-encoding': 'identity' });
  });

  it.each([
    ['http://a.example/x', 'only https URLs without credentials are allowed'],
    ['gs://bucket/x', 'only https URLs without credentials are allowed'],
    ['https://me:secret@a.example/x', 'only https URLs without credentials are allowed'],
    ['https://', 'only https URLs without credentials are allowed'],
    ['https://c.example/x', 'does not allow c.example'],
    ['https://a.example:8443/x', 'does not allow a.example:8443'],
    ['https://127.0.0.1/x', 'does not allow 127.0.0.1'],
  ])('that say %s are not requested', async (url, why) => {
    const { outcome, requests } = await fetching(url, []);
    expect(outcome).toBeInstanceOf(MediaRefused);
    expect(outcome).toMatchObject({ message: expect.stringContaining(why) as string });
    expect(requests).toEqual([]);
  });

  it('are followed over three redirects, relative ones too, each of them checked', async () => {
    const { outcome, urls } = await fetching('https://a.example/1', [
      to('/2', 301),
      to('https://b.example/3', 303),
      to('4', 308),
      OK,
    ]);
    expect(outcome).toBe(OK);
    expect(urls).toEqual(['https://a.example/1', 'https://a.example/2', 'https://b.example/3', 'https://b.example/4']);
  });

  it.each([
    [
      'a host that is not allowed',
      to('https://inside.example/secret'),
      'a host that `remote_media.hosts` does not allow',
    ],
    ['plain http', to('http://a.example/x'), 'an address that is not allowed'],
    ['another scheme', to('file:///etc/passwd'), 'an address that is not allowed'],
    ['credentials', to('https://u:p@a.example/'), 'an address that is not allowed'],
    ['no address', to('https://'), 'an address that is not allowed'],
    ['nowhere', { ...OK, status: 302 }, 'a.example replied with status 302'],
  ])('that lead to %s are not followed, and where that is stays inside', async (_, answer, why) => {
    const { outcome, requests } = await fetching('https://a.example/1', [answer]);
    expect(outcome).toBeInstanceOf(MediaRefused);
    expect(outcome).toMatchObject({ message: expect.stringContaining(why) as string });
    expect(String(outcome)).not.toMatch(/inside|passwd|u:p/);
    expect(requests).toHaveLength(1);
  });

  it.each<[string, Answer, string]>([
    ['has nothing', { ...OK, status: 404 }, 'the redirect target replied with status 404'],
    ['cannot be reached', new UpstreamError('egress_refused', 'b.example is inside'), 'the redirect target cannot'],
  ])('that are redirected to a host that %s do not tell which', async (_, answer, why) => {
    const { outcome } = await fetching('https://a.example/1', [to('https://b.example/inside'), answer]);
    expect(outcome).toBeInstanceOf(MediaRefused);
    expect(outcome).toMatchObject({ message: expect.stringContaining(why) as string });
    expect(String(outcome)).not.toMatch(/b\.example|inside/);
  });

  it('fail at the fourth redirect', async () => {
    const { outcome, requests } = await fetching(
      'https://a.example/1',
      Array.from({ length: 9 }, () => to('/again')),
    );
    expect(outcome).toMatchObject({ message: expect.stringContaining('more than 3 times') as string });
    expect(requests).toHaveLength(4);
  });

  it.each([404, 403, 500, 204, 206, 304])('that are answered with %i are not there', async (status) => {
    const { outcome } = await fetching('https://a.example/1', [{ ...OK, status }]);
    expect(outcome).toMatchObject({ message: `cannot be fetched: a.example replied with status ${status}` });
  });

  it.each([
    ['egress_refused', 'a.example resolves to a special-purpose address (private use, RFC 1918)'],
    ['connection_failed', 'No connection to a.example:443 (ECONNREFUSED).'],
    ['connection_failed', 'a.example cannot be resolved (ENOTFOUND).'],
    ['tls_failed', 'TLS with a.example failed: certificate of db.internal'],
    ['stream_interrupted', 'The connection to a.example broke'],
  ] as const)('that fail by %s say the same, whatever it is inside: %s', async (code, message) => {
    const cause = new UpstreamError(code, message);
    const { outcome } = await fetching('https://a.example/1', [cause]);
    expect(outcome).toBeInstanceOf(MediaRefused);
    expect(outcome).toMatchObject({ message: 'cannot be fetched: a.example cannot be reached', cause });
  });

  it('that are too large fail with the limit in the message', async () => {
    const { outcome } = await fetching('https://a.example/1', [new UpstreamError('reply_too_large', 'x')]);
    expect(outcome).toMatchObject({ message: expect.stringContaining('100 bytes (remote_media.max_bytes)') as string });
  });

  it('that are late are refused, with the total timeout of the target if that came first', async () => {
    const late = new UpstreamError('timeout_total', 'x');
    const own = await fetching('https://a.example/1', [late]);
    expect(own.outcome).toBeInstanceOf(MediaRefused);
    expect(own.outcome).toMatchObject({ message: expect.stringContaining('remote_media.timeout') as string });
    const total = await fetching('https://a.example/1', [late], { deadline: 900 });
    expect(total.requests).toMatchObject([{ timeoutMs: 900 }]);
    expect(total.outcome).toBeInstanceOf(GatewayError);
    expect(total.outcome).toMatchObject({ code: 'timeout_total', status: 504 });
    const request = await fetching('https://a.example/1', [late], { deadline: 900, deadlineOf: 'request' });
    expect(request.outcome).toMatchObject({ code: 'timeout_request', status: 504 });
    const over = await fetching('https://a.example/1', [], { until: 0 });
    expect([over.requests, over.outcome]).toMatchObject([
      [],
      { message: expect.stringContaining('did not arrive in time') as string },
    ]);
  });

  it('fail with the reason that cancels their request', async () => {
    const gone = new GatewayError('client_closed', 'The client left.');
    expect((await fetching('https://a.example/1', [gone])).outcome).toBe(gone);
  });

  it('count against the budget once per part that holds them', async () => {
    const budget = new ByteBudget(100);
    const { requests } = await fetching('https://a.example/1', [OK], { budget, places: 3 });
    const { room, admit } = requests[0]!;
    expect([room(), admit(30), room(), admit(4), admit(3), budget.left]).toEqual([33, true, 3, false, true, 1]);
  });
});

const TYPES = new Set(['image/jpeg', 'image/png', 'application/pdf', 'text/plain']);
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const JPEG = Buffer.from('ffd8ffe0', 'hex');
const GIF = Buffer.from('GIF89a');
const PDF = Buffer.from('%PDF-1.7');

const read = (contentType: string | undefined, body: Buffer, more: Record<string, string> = {}) =>
  readMedia(
    { status: 200, headers: { ...(contentType !== undefined && { 'content-type': contentType }), ...more }, body },
    TYPES,
  );

describe('downloaded media', () => {
  it.each([
    ['image/png', PNG, 'image/png'],
    ['Image/PNG; foo=bar', PNG, 'image/png'],
    ['image/jpg', JPEG, 'image/jpeg'],
    ['application/pdf', PDF, 'application/pdf'],
    // The types that object stores report for uploads without a type.
    ['application/octet-stream', PNG, 'image/png'],
    ['binary/octet-stream', PDF, 'application/pdf'],
    [undefined, JPEG, 'image/jpeg'],
  ])('as %s is used when its bytes agree', (contentType, body, mime) => {
    expect(read(contentType, body)).toEqual({ mime, data: body });
  });

  it.each([
    ['text/plain', Buffer.from('Grüße'), 'Grüße'],
    ['text/plain; charset=UTF-8', Buffer.from('\u{feff}Grüße'), 'Grüße'],
    ['text/plain; charset="iso-8859-1"', Buffer.from('Grüße', 'latin1'), 'Grüße'],
    ['text/plain;charset=utf-16le', Buffer.from('Grüße', 'utf16le'), 'Grüße'],
    ['text/plain', Buffer.alloc(0), ''],
  ])('as %s is text in UTF-8', (contentType, body, text) => {
    expect(read(contentType, body)).toEqual({ mime: 'text/plain', data: Buffer.from(text) });
  });

  it.each([
    ['image/png', JPEG, 'is declared as image/png but is image/jpeg'],
    ['image/png', Buffer.from('<html>'), 'is declared as image/png but is of another type'],
    ['text/plain', PDF, 'is declared as text/plain but is application/pdf'],
    ['text/plain', Buffer.from([0xff]), 'is declared as text/plain but cannot be decoded'],
    ['text/plain; charset=klingon', Buffer.from('x'), 'is declared as text/plain but cannot be decoded'],
    ['text/plain', Buffer.from('a\0b'), 'is declared as text/plain but is binary'],
    [
      'text/html',
      Buffer.from('<html>'),
      'is text/html; the target reads image/jpeg, image/png, application/pdf, text/plain',
    ],
    ['image/gif', GIF, 'is image/gif; the target reads image/jpeg, image/png, application/pdf, text/plain'],
    ['<script>', GIF, 'is of another type; the target reads image/jpeg, image/png, application/pdf, text/plain'],
    ['application/octet-stream', GIF, 'has no media type'],
    [undefined, Buffer.from('text?'), 'has no media type'],
  ])('as %s is refused where it is not that, or not for the target', (contentType, body, why) => {
    expect(read(contentType, body)).toBe(why);
  });

  it('with a content coding are refused: none was requested, and the decoded size is unbounded', () => {
    expect(read('image/png', PNG, { 'content-encoding': 'gzip' })).toBe('has a content-encoding');
    expect(read('image/png', PNG, { 'content-encoding': 'identity' })).toEqual({ mime: 'image/png', data: PNG });
  });
});
