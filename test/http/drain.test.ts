import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../support/gateway.ts';
import { json, openaiChunk, openaiReply } from '../support/upstream.ts';
import {
  answer,
  ask,
  bodyOf,
  codes,
  fill,
  flood,
  headOf,
  metric,
  start,
  Wire,
  type Place,
} from './overload.testkit.ts';

const DRAIN = { drain: { delay: '0s', timeout: '200ms' } };

const word = (res: ServerResponse, content: string): boolean => {
  if (!res.headersSent) res.writeHead(200, { 'content-type': 'text/event-stream' });
  return res.write(`data: ${JSON.stringify(openaiChunk({ content }))}\n\n`);
};

/** A stream on a bare socket. */
async function stream(place: Place): Promise<Wire> {
  const wire = new Wire(place);
  const body = bodyOf(0, true);
  wire.socket.write(`${headOf(body.length)}\r\n${body}`);
  await until(() => place.replies.length > 0, 'the upstream is asked');
  return wire;
}

it('nothing under way: it is over at once, idle connections and all', async () => {
  const place = await start({ drain: { delay: '0s', timeout: '1h' } });
  await (await fetch(`${place.gateway.url}/nowhere`)).text();
  expect(await place.gateway.gateway.drain()).toEqual({ cut: 0 });
});

it('tells that it drains, in readiness and metrics, and again gives the same answer', async () => {
  const place = await start({ drain: { delay: '0s', timeout: '1h' } });
  expect(await metric(place, 'gatehouse_draining')).toBe(0);
  const {
    asked: [waiting],
  } = await fill(place, 1);
  const over = place.gateway.gateway.drain();
  expect(await metric(place, 'gatehouse_draining')).toBe(1);
  const probe = await fetch(`${place.gateway.statusUrl}/readyz?verbose`);
  expect([probe.status, await probe.text()]).toEqual([503, expect.stringContaining('- draining\n')]);
  expect((await fetch(`${place.gateway.statusUrl}/livez`)).status).toBe(200);
  const health = await fetch(`${place.gateway.statusUrl}/health`);
  expect([health.status, await health.json()]).toEqual([503, { status: 'not ready' }]);
  answer(place.replies[0]!);
  expect((await waiting!).status).toBe(200);
  expect(await over).toEqual({ cut: 0 });
  expect(await place.gateway.gateway.drain({ delay: false })).toEqual({ cut: 0 });
  await place.gateway.gateway.close();
});

it('serves on during the delay', async () => {
  const place = await start({ drain: { delay: '500ms', timeout: '1m' } });
  const over = place.gateway.gateway.drain();
  const reply = await ask(place, { key: 'nobody' });
  expect([reply.status, reply.headers.get('connection')]).toEqual([401, 'close']);
  expect((await fetch(`${place.gateway.url}/health`)).status).toBe(503);
  expect(await over).toEqual({ cut: 0 });
  await expect(ask(place)).rejects.toThrow('fetch failed');
});

it('a connection whose last reply came before the drain is used once more', async () => {
  const place = await start({ drain: { delay: '0s', timeout: '1m' } });
  const wire = new Wire(place);
  const get = 'GET /nowhere HTTP/1.1\r\nhost: gateway\r\n\r\n';
  wire.socket.write(get);
  await until(() => wire.text.includes('"not_found"'), 'it has its reply');
  expect(wire.text.toLowerCase()).toContain('connection: keep-alive');
  const over = place.gateway.gateway.drain();
  await new Promise((resolve) => setTimeout(resolve, 300));
  wire.text = '';
  wire.socket.write(get);
  await wire.closed;
  expect(wire.text).toContain('"not_found"');
  expect(wire.text).toContain('connection: close');
  expect(await over).toEqual({ cut: 0 });
});

it('a connection whose stream began before the drain is used once more, however old the drain is', async () => {
  const place = await start({ drain: { delay: '0s', timeout: '1m' } });
  const wire = await stream(place);
  word(place.replies[0]!, 'first');
  await until(() => wire.text.includes('"first"'), 'its reply has begun');
  const over = place.gateway.gateway.drain();
  // All connections that were idle when the drain began are closed by then.
  await new Promise((resolve) => setTimeout(resolve, 1200));
  word(place.replies[0]!, 'last');
  place.replies[0]!.end('data: [DONE]\n\n');
  await until(() => wire.text.includes('\r\n0\r\n\r\n'), 'the stream has ended');
  await new Promise((resolve) => setTimeout(resolve, 300));
  wire.text = '';
  wire.socket.write('GET /nowhere HTTP/1.1\r\nhost: gateway\r\n\r\n');
  await until(() => wire.text.includes('"not_found"'), 'it has its reply');
  expect(wire.text.toLowerCase()).toContain('connection: close');
  expect(await over).toEqual({ cut: 0 });
});

it('requests that come while the listener waits for the last connections are served', async () => {
  const place = await start({ drain: { delay: '0s', timeout: '1m' } });
  const wire = new Wire(place);
  await until(() => wire.socket.readyState === 'open', 'it is connected');
  const over = place.gateway.gateway.drain();
  wire.socket.write(`${headOf(bodyOf().length)}\r\n${bodyOf()}`);
  await until(() => place.replies.length === 1, 'the upstream is asked');
  answer(place.replies[0]!);
  await wire.closed;
  expect(wire.text).toMatch(/^HTTP\/1\.1 200 /);
  expect(await over).toEqual({ cut: 0 });
});

it('a stream gets an error event, and its upstream request is cancelled', async () => {
  const place = await start(DRAIN);
  const wire = await stream(place);
  word(place.replies[0]!, 'one');
  await until(() => wire.text.includes('"one"'), 'it has begun');
  expect(await place.gateway.gateway.drain()).toEqual({ cut: 1 });
  await wire.closed;
  expect(wire.text.match(/"code":"shutting_down"/g)).toHaveLength(1);
  // The last chunk of a whole HTTP body.
  expect(wire.text).toMatch(/\r\n0\r\n\r\n$/);
  await until(() => place.upstream.seen[0]!.aborted, 'the upstream is let go');
  expect(codes(place.gateway)).toEqual(['shutting_down']);
});

it('a plain reply that is not read to its end has its connection cut: anything else would look complete', async () => {
  const place = await start(DRAIN);
  const wire = new Wire(place);
  wire.socket.pause();
  wire.socket.write(`${headOf(bodyOf().length)}\r\n${bodyOf()}`);
  await until(() => place.replies.length > 0, 'the upstream is asked');
  json(place.replies[0]!, openaiReply('x'.repeat(30_000_000)));
  await until(() => wire.socket.bytesRead > 0, 'the reply has begun');
  expect(await place.gateway.gateway.drain()).toEqual({ cut: 1 });
  // What had left by then was a 200.
  expect(place.gateway.logs.filter((line) => 'route' in line)).toMatchObject([
    { status: 200, error_code: 'shutting_down', bytes_out: expect.any(Number) },
  ]);
  wire.socket.resume();
  await wire.closed;
  expect(wire.text).not.toContain('"usage"');
});

it('a client that does not read is not waited for', async () => {
  const place = await start(DRAIN);
  const wire = await stream(place);
  wire.socket.pause();
  await flood(place.replies[0]!);
  expect(await place.gateway.gateway.drain()).toEqual({ cut: 1 });
  expect(codes(place.gateway)).toEqual(['shutting_down']);
});

it('a request that is still arriving when all else has ended is waited for no longer than a second', async () => {
  const place = await start({ drain: { delay: '0s', timeout: '1h' } });
  const wire = new Wire(place);
  wire.socket.write('POST /v1/chat/completions HTTP/1.1\r\nhost: gat');
  await until(() => wire.socket.bytesWritten > 0 && wire.socket.readyState === 'open', 'it has begun');
  expect(await place.gateway.gateway.drain()).toEqual({ cut: 0 });
  await wire.closed;
});

it('a body that is still arriving when the time is over gets its answer', async () => {
  const place = await start(DRAIN);
  const wire = new Wire(place);
  wire.socket.write(`${headOf(1000)}\r\n{"model":`);
  const name = 'gatehouse_requests_in_flight{route="/v1/chat/completions"}';
  while (!((await metric(place, name)) > 0));
  expect(await place.gateway.gateway.drain()).toEqual({ cut: 1 });
  await wire.closed;
  expect(wire.text).toMatch(/^HTTP\/1\.1 503 /);
  expect(wire.text.toLowerCase()).toContain('\r\nretry-after: 1\r\n');
  expect(codes(place.gateway)).toEqual(['shutting_down']);
});

it('a plugin that never ends does not keep the gateway, and its request has a record', async () => {
  const place = await start(DRAIN, {});
  const chains = { entry: ['telemetry', 'errors', 'auth', 'hang', 'models', 'body', 'config'] };
  await place.rewrite({ ...DRAIN, chains, plugins: ['./hang.mjs'] }, (dir) =>
    writeFileSync(
      join(dir, 'hang.mjs'),
      `export default { name: 'hang', level: 'entry', options: { type: 'object', additionalProperties: false, properties: {} },
         needs: [], requires: [], provides: [], create: () => () => new Promise(() => {}) };`,
    ),
  );
  const reply = ask(place);
  while (!((await metric(place, 'gatehouse_requests_in_flight{route="/v1/chat/completions"}')) > 0));
  expect(await place.gateway.gateway.drain()).toEqual({ cut: 1 });
  // The plugin is given up, and its request answered.
  expect((await reply).status).toBe(503);
  expect(codes(place.gateway)).toEqual(['shutting_down']);
});
