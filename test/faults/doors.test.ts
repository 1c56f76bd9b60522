import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DOORS, featuresOf, knock, showsAnswer, type Door } from '../operations/doors.ts';
import { PROBE_PROMPT } from '../operations/probes.ts';
import { catalogFor } from '../operations/upstreams.ts';
import { answer, streamBegun } from '../operations/wires.ts';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startUpstream, type ScriptedUpstream, type SeenRequest } from '../support/upstream.ts';

/**
 * Every operation that asks a model, at each of its paths, plain and as a stream, while its upstream misbehaves: alone, and with a second
 * target.
 */

const SECOND = '/second';
type Fault = (res: ServerResponse, request: SeenRequest) => void;
const FAULTS: Readonly<Record<string, Fault>> = {
  'refuses with a 503': (res) => res.writeHead(503, { 'content-type': 'text/plain' }).end('out of order'),
  'resets the connection': (res) => void res.socket?.resetAndDestroy(),
  'ends a JSON body in its middle': (res) => {
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': '50' });
    res.write('{"id": ', () => res.destroy());
  },
  'answers with a page of HTML': (res) =>
    res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><h1>Just a moment…</h1>'),
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let fault: Fault;

interface Entry {
  readonly slug: string;
  readonly base_url: string;
}

beforeAll(async () => {
  upstream = await startUpstream((request, res) =>
    request.url.startsWith(SECOND)
      ? answer({ ...request, url: request.url.slice(SECOND.length) }, res)
      : fault(res, request),
  );
  const entries = (catalogFor(upstream.url) as { readonly providers: readonly Entry[] }).providers;
  const seconds = entries.map((entry) => ({
    ...entry,
    slug: `second-${entry.slug}`,
    base_url: entry.base_url.replace(upstream.url, upstream.url + SECOND),
  }));
  const pair = ({ place: { slug, model } }: Door) => ({
    strategy: { mode: 'fallback' },
    targets: [`@${slug}`, `@second-${slug}`].map((provider) => ({ provider, override_params: { model } })),
  });
  gateway = await startTestGateway({
    catalog: { providers: [...entries, ...seconds] },
    prompts: { probe: PROBE_PROMPT },
    gateway: Object.fromEntries(ASKING.map((door, at) => [`pair-${at}`, pair(door)])),
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** Each door with its two forms of reply. */
const ASKING: readonly Door[] = DOORS.flatMap((door) =>
  featuresOf(door)
    .filter((feature) => feature === 'plain' || feature === 'stream')
    .map((feature) => ({ ...door, feature })),
);
const titled = (doors: readonly Door[]) =>
  doors.map((door) => [`${door.title}, ${door.feature}`, door, `pair-${ASKING.indexOf(door)}`] as const);

/** @param hears is called with the first bytes of a reply */
async function ask(door: Door, more: Record<string, string>, hears = (): void => {}) {
  const from = upstream.seen.length;
  const headers = { 'x-gateway-api-key': KEY, authorization: 'Bearer caller-token', ...more };
  const reply = await knock(gateway.url, door, { headers });
  const [first, rest] = reply.body!.tee();
  void first.getReader().read().then(hears, hears);
  const text = await new Response(rest).text();
  const id = reply.headers.get('x-gateway-request-id')!;
  const record = gateway.gateway.record(id);
  return { status: reply.status, text, record, sent: upstream.seen.slice(from) };
}

const keysOf = (text: string): readonly string[] => {
  const value = JSON.parse(text) as object;
  return Object.keys(Array.isArray(value) ? (value[0] as object) : value);
};

describe.each(titled(ASKING))('%s', (_, door, pair) => {
  it.each(Object.entries(FAULTS))('its upstream %s', async (_name, does) => {
    fault = does;
    const alone = await ask(door, {});
    // 529 is the overload of Anthropic's API.
    expect([502, 503, 529], alone.text).toContain(alone.status);
    // A reused connection that breaks is no answer: one more is opened.
    expect(alone.sent.length).toBeGreaterThan(0);
    expect(alone.sent.length).toBeLessThanOrEqual(2);
    const { format } = door.operation;
    const error = { status: 502, message: '', type: '', code: null, param: null, requestId: '' };
    expect(keysOf(alone.text)).toEqual(keysOf(JSON.stringify(format.encodeError(error).body)));
    expect(alone.record).toMatchObject({ state: 'failed', status: alone.status });

    const rescued = await ask(door, { 'x-gateway-config': pair });
    expect(rescued.sent.map(({ url }) => url.startsWith(SECOND)).slice(-2)).toEqual([false, true]);
    expect([rescued.status, showsAnswer(door, rescued.text)], rescued.text).toEqual([200, true]);
    expect(rescued.record).toMatchObject({ state: 'complete', status: 200 });
  });
});

/** A stream of images has no content before its last event. */
const BREAKABLE = ASKING.filter(
  ({ feature, operation: { id } }) => feature === 'stream' && id !== 'images.generations',
);

describe.each(titled(BREAKABLE))('%s', (_, door, pair) => {
  it.each([
    ['alone', {}],
    ['with a second target', { 'x-gateway-config': pair }],
  ] as const)('its upstream breaks after its first content: %s', async (_name, headers) => {
    const { promise: heard, resolve: hears } = Promise.withResolvers<void>();
    fault = (res, { url }) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write(streamBegun(url));
      void heard.then(() => res.destroy());
    };
    const { status, text, record, sent } = await ask(door, headers, hears);
    expect([status, sent.length, showsAnswer(door, text)], text).toEqual([200, 1, false]);
    expect(text).toContain('"error":{');
    expect(record).toMatchObject({ state: 'failed', error: { code: 'stream_interrupted' } });
  });
});
