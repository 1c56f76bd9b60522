import { request, type IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { createStatusServer, type Readiness } from '../../src/core/status/status-listener.ts';
import { createStillClock } from '../../src/core/record/exchange.testkit.ts';
import { createMetrics, type Metrics } from '../../src/core/record/metrics/registry.ts';
import { listen, type Listening } from './listen.testkit.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

const open: Listening[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function start(
  readiness: Readiness = { ready: true, reasons: [] },
  metrics?: Pick<Metrics, 'scrape'>,
): Promise<(path: string, headers?: Record<string, string>, method?: string) => Promise<Answer>> {
  const clock = createStillClock();
  const own = createMetrics({ clock, build: { version: '0.1.0', revision: '' }, process: false });
  const server = createStatusServer({ metrics: metrics ?? own, isReady: () => readiness, clock, host: '127.0.0.1' });
  clock.set(12_345);
  const listening = await listen(server);
  open.push(listening);
  return (path, headers = {}, method = 'GET') =>
    new Promise((resolve, reject) => {
      request(listening.url + path, { method, headers, agent: false }, (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('end', () => {
          const body = Buffer.concat(pieces);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body, text: body.toString('utf8') });
        });
      })
        .on('error', reject)
        .end();
    });
}

describe('the status listener', () => {
  it('serves metrics as text, and as OpenMetrics to those who name it', async () => {
    const get = await start();
    const plain = await get('/metrics');
    expect(plain).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
    });
    expect(plain.text).toContain('# TYPE gatehouse_requests_total counter\n');
    const prometheus =
      'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
    const openMetrics = await get('/metrics', { accept: prometheus });
    expect(openMetrics.headers['content-type']).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(openMetrics.text.endsWith('# EOF\n')).toBe(true);
    expect((await get('/metrics', { accept: '*/*' })).text).toBe(plain.text);
  });

  it.each([
    ['gzip', true],
    ['deflate, gzip;q=0.5', true],
    ['gzip;q=0', false],
    ['gzip;q=0.0, identity', false],
    ['br', false],
  ])('compresses for accept-encoding %s: %s', async (coding, zipped) => {
    const get = await start();
    const answer = await get('/metrics', { 'accept-encoding': coding });
    expect(answer.headers['content-encoding']).toBe(zipped ? 'gzip' : undefined);
    expect((zipped ? gunzipSync(answer.body) : answer.body).toString()).toContain('gatehouse_build_info');
    expect(answer.headers['content-length']).toBe(String(answer.body.length));
  });

  it('is alive as long as it answers, ready or not', async () => {
    const get = await start({ ready: false, reasons: ['draining'] });
    expect(await get('/livez')).toMatchObject({ status: 200, text: 'ok\n' });
  });

  it.each([
    [{ ready: true, reasons: [] }, '/readyz', 200, 'ok\n'],
    [{ ready: false, reasons: ['draining'] }, '/readyz', 503, 'not ready\n'],
    [
      { ready: false, reasons: ['no settings loaded', 'draining'] },
      '/readyz?verbose',
      503,
      'not ready\n- no settings loaded\n- draining\nup for 12 s\n',
    ],
    [
      { ready: true, reasons: ['the last reload failed'] },
      '/readyz?verbose=1',
      200,
      'ok\n- the last reload failed\nup for 12 s\n',
    ],
  ])('says %j at %s', async (readiness, path, status, text) => {
    const get = await start(readiness);
    expect(await get(path)).toMatchObject({ status, text });
  });

  it.each([
    [{ ready: true, reasons: [] }, 200, 'ok'],
    [{ ready: false, reasons: ['draining'] }, 503, 'not ready'],
  ])('says %j at /health in JSON', async (readiness, status, word) => {
    const get = await start(readiness);
    const { text, ...answer } = await get('/health');
    expect(answer).toMatchObject({ status, headers: { 'content-type': 'application/json' } });
    expect(JSON.parse(text)).toEqual({ status: word });
  });

  it('knows no other path and no other method', async () => {
    const get = await start();
    for (const path of ['/x', '//', '/health/', '/Health'])
      expect(await get(path)).toMatchObject({ status: 404, text: 'not found\n' });
    expect(await get('/metrics/../etc/passwd')).toMatchObject({ status: 404 });
    expect(await get('/metrics', {}, 'POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });

  it('answers HEAD without a body', async () => {
    const get = await start();
    expect(await get('/livez', {}, 'HEAD')).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': '3' },
    });
  });

  it('says no more than 500 when the metrics cannot be rendered', async () => {
    const get = await start(undefined, { scrape: () => Promise.reject(new Error('canary')) });
    expect(await get('/metrics')).toMatchObject({ status: 500, text: 'the metrics could not be rendered\n' });
  });
});
