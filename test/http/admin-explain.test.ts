import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Explanation } from '../../src/addons/explain/explanation/explanation.ts';
import { KEY, type TestGateway } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import {
  admin,
  answering,
  ask,
  asked,
  call,
  EXPLAIN,
  JSON_TYPE,
  single,
  startWith,
  target,
  three,
  two,
} from './explain.testkit.ts';

describe('a question', () => {
  const question = {
    headers: { 'x-gateway-config': 'it' },
    body: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
  };
  const balance = { strategy: { mode: 'loadbalance' }, targets: three };

  it('is answered without asking any upstream', async () => {
    const { gateway, upstream } = await startWith({
      gateway: { it: { strategy: { mode: 'fallback' }, targets: two } },
    });
    const { status, headers, json: reported } = await ask(gateway, { ...question, key: 'test' });
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
    expect(reported).toMatchObject({
      caller: { key: 'test' },
      config: { id: 'it' },
      targets: [
        { outbound: { method: 'POST', url: `${upstream.url}/v1/chat/completions`, body: { model: 'busy-1' } } },
        { outbound: { body: { model: 'gpt-5' } } },
      ],
    });
    expect(upstream.seen).toEqual([]);
    expect(gateway.gateway.records({ limit: 10 })).toEqual([]);
  });

  it('is answered in words for people who ask for text', async () => {
    const { gateway } = await startWith({ gateway: { it: asked({ strategy: { mode: 'fallback' }, targets: two }) } });
    const accept = 'text/plain';
    const { status, headers, text } = await ask(gateway, question, { accept });
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(text).toMatch(/@openai\/busy-1\n[^\n]*then @openai\/gpt-5/);
    const { id } = await call(gateway, { config: 'it' });
    const served = await admin(gateway, `${EXPLAIN}/${id}?texts=true`, { headers: { accept } });
    expect(served.text).toContain(text.slice(0, text.indexOf('\n')));
    expect(served.text).toMatch(
      /outcome {5}complete, 200, .*\n.*targets\[0\]: error \(overloaded, 503\)\n.*targets\[1\]: success\n$/,
    );
    // Programs that take anything get JSON.
    for (const other of ['*/*', 'application/json, text/plain, */*'])
      expect((await ask(gateway, question, { accept: other })).headers['content-type']).toMatch(/^application\/json/);
  });

  it('may say what is drawn', async () => {
    const { gateway } = await startWith({ gateway: { it: balance } });
    const firstOf = async (draw: number): Promise<unknown> => {
      const { json: reported } = await ask(gateway, { ...question, draws: [draw] });
      return (reported as unknown as Explanation).targets[0]!.target;
    };
    expect(await firstOf(0)).toBe('config.targets[0]');
    expect(await firstOf(0.5)).toBe('config.targets[1]');
    expect(await firstOf(0.99)).toBe('config.targets[2]');
  });

  it('takes a body as it is written, numbers that no computer counts to among it', async () => {
    const { gateway } = await startWith({ gateway: { it: target('@openai', 'gpt-5') } });
    const body = '{"model":"m","messages":[],"seed":12345678901234567890123}';
    const { json: reported } = await ask(gateway, `{"headers":{"x-gateway-config":"it"},"body":${body}}`);
    expect(reported).toMatchObject({ request: { bytes: body.length } });
  });

  it.each<[string, object | string, string, string]>([
    ['that is no JSON', '{', 'invalid_json', 'JSON'],
    ['that is a list', '[]', 'invalid_json', 'JSON object'],
    ['without a body', {}, 'invalid_body', '`body` is required'],
    ['that is the client’s body itself', question.body, 'invalid_body', 'belongs in `body`'],
    ['with a misspelt name', { ...question, haeders: {} }, 'invalid_body', 'Did you mean `headers`?'],
    ['with a name twice', '{"body":{},"body":{}}', 'invalid_body', 'twice'],
    ['with a method that is none', { ...question, method: 'FETCH' }, 'invalid_body', '`method`'],
    ['with an address for a path', { ...question, path: 'http://host/v1' }, 'invalid_body', '`path`'],
    ['with a header that is no text', { ...question, headers: { a: 1 } }, 'invalid_body', '`headers`'],
    ['with a header of two lines', { ...question, headers: { a: 'b\r\nc: d' } }, 'invalid_body', '`headers`'],
    ['with a header twice', { ...question, headers: { a: '1', A: '2' } }, 'invalid_body', 'twice'],
    [
      'with more headers than a request may have',
      { ...question, headers: { a: 'x'.repeat(17_000) } },
      'invalid_body',
      'limits.header',
    ],
    ['with a draw of one', { ...question, draws: [1] }, 'invalid_body', '`draws`'],
    ['with a time that is none', { ...question, at: 'yesterday' }, 'invalid_body', '`at`'],
    ['with an unknown key', { ...question, key: 'tset' }, 'unknown_key', 'Did you mean "test"?'],
  ])('%s is refused, with what is wrong', async (_, asked_, code, message) => {
    const { gateway } = await startWith({ gateway: { it: single } });
    const { status, json: body } = await ask(gateway, asked_);
    const wanted = code === 'invalid_body' ? 422 : 400;
    expect([status, body]).toMatchObject([wanted, { code, detail: expect.stringContaining(message) }]);
  });

  it('comes as JSON, by POST alone: no page in a browser can ask it', async () => {
    const { gateway } = await startWith({ gateway: { it: single } });
    const body = JSON.stringify(question);
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonp',
      '',
    ]) {
      const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
      expect([type, (await admin(gateway, EXPLAIN, { method: 'POST', headers, body })).status]).toEqual([type, 415]);
    }
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      expect(await admin(gateway, EXPLAIN, { method })).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      expect(await admin(gateway, `${EXPLAIN}/some-id`, { method, headers: JSON_TYPE })).toMatchObject({
        status: 405,
        headers: { allow: 'GET, HEAD' },
      });
    expect((await ask(gateway, question, { 'content-type': 'Application/JSON; charset=utf-8' })).status).toBe(200);
  });

  it('is read only of those who may ask', async () => {
    const token = 'admin-token-0123456789';
    const { gateway } = await startWith({ gateway: { it: single }, server: { admin: { port: 0, token } } });
    const authorization = `Bearer ${token}`;
    expect((await ask(gateway, '{', {})).status).toBe(401);
    expect((await ask(gateway, '{', { authorization, host: 'evil.example' })).status).toBe(421);
    expect((await ask(gateway, question, { authorization })).status).toBe(200);
  });

  it('is no larger than a megabyte', async () => {
    const { gateway } = await startWith({ gateway: { it: single } });
    const user = 'x'.repeat(1024 * 1024);
    const { status, json } = await ask(gateway, { ...question, body: { ...question.body, user } });
    expect([status, json]).toMatchObject([413, { code: 'too_large', detail: 'The body exceeds 1048576 bytes.' }]);
  });

  it('is no larger than a request may be', async () => {
    const { gateway } = await startWith({ gateway: { it: single }, server: { limits: { body: 1000 } } });
    const withText = (length: number): object => ({
      ...question,
      body: { ...question.body, user: 'x'.repeat(length) },
    });
    expect((await ask(gateway, withText(100))).status).toBe(200);
    const large = await ask(gateway, withText(1000));
    expect(large).toMatchObject({ status: 413, json: { code: 'too_large' } });
    // Unannounced, too.
    expect((await ask(gateway, withText(1000), { 'transfer-encoding': 'chunked' })).status).toBe(413);
  });

  it('waits with a few others, and is refused where many wait', async () => {
    const { gateway } = await startWith({ gateway: { it: single } });
    const body = JSON.stringify(question);
    const waiting = Array.from({ length: 4 }, () => half(gateway, body));
    await Promise.all(waiting.map(({ begun }) => begun));
    await expect
      .poll(() => ask(gateway, question))
      .toMatchObject({ status: 503, headers: { 'retry-after': '1' }, json: { code: 'busy' } });
    expect(await admin(gateway, `${EXPLAIN}/some-id`)).toMatchObject({ status: 503 });
    // Information without a cost is included anyway.
    expect(await admin(gateway, '/admin/v1/requests')).toMatchObject({ status: 200 });
    expect(await Promise.all(waiting.map(({ finish }) => finish()))).toEqual([200, 200, 200, 200]);
    expect((await ask(gateway, question)).status).toBe(200);
  });

  it('is given up when its sender leaves in the middle of it', async () => {
    const { gateway } = await startWith({ gateway: { it: single } });
    for (let round = 0; round < 8; round += 1) await leaveInTheMiddle(gateway);
    await expect.poll(async () => (await ask(gateway, question)).status).toBe(200);
  });
});

describe('what is explained', () => {
  it('contains no credential, for any caller and any served request', async () => {
    const canaries = {
      admin: 'canary-admin-token-0123456789',
      vendor: 'canary-vendor-key-0123456789',
      caller: 'canary-caller-token-0123456789',
      cookie: 'canary-cookie-0123456789',
      other: 'canary-other-key-0123456789',
      query: 'canary-query-key-0123456789',
    };
    const pair = await startPair(answering, (url) => ({
      catalog: {
        providers: [
          {
            slug: 'openai',
            provider: 'openai',
            base_url: url,
            allow_insecure: true,
            api_key: `\${env:NONE:-${canaries.vendor}}`,
          },
        ],
      },
      server: { admin: { port: 0, token: canaries.admin } },
      gateway: { it: asked({ ...target('@openai', 'gpt-5'), forward_headers: ['x-tenant'] }) },
    }));
    const headers = {
      authorization: `Bearer ${canaries.caller}`,
      cookie: `session=${canaries.cookie}`,
      'x-api-key': canaries.other,
      // A caller's mistake: a gateway key in a forwarded header.
      'x-tenant': `eu ${KEY}`,
    };
    const path = `/v1/chat/completions?key=${canaries.query}`;
    const { id } = await call(pair.gateway, { config: 'it', headers, path });
    expect(JSON.stringify(pair.upstream.seen)).toContain(canaries.vendor);
    const authorization = `Bearer ${canaries.admin}`;
    const answers = [
      await admin(pair.gateway, `${EXPLAIN}/${id}`, { headers: { authorization } }),
      await ask(
        pair.gateway,
        { key: 'test', headers: { 'x-gateway-config': 'it' }, body: { model: 'm', messages: [] } },
        { authorization },
      ),
    ];
    for (const { status, text } of answers) {
      expect(status).toBe(200);
      for (const canary of [KEY, ...Object.values(canaries)]) expect(text).not.toContain(canary);
    }
    expect(answers[0]!.json).toMatchObject({ caller: { ownUpstreamToken: true } });
  });
});

/** A question of which one half has been sent. */
function half({ gateway }: TestGateway, body: string) {
  const headers = { ...JSON_TYPE, 'content-length': Buffer.byteLength(body) };
  const sent = request(gateway.admin!.url + EXPLAIN, { method: 'POST', agent: false, headers });
  const begun = new Promise<void>((resolve) =>
    sent.on('socket', (socket) => socket.on('connect', () => sent.write(body.slice(0, 9), () => resolve()))),
  );
  const finish = (): Promise<number> =>
    new Promise((resolve) => {
      sent.on('response', (response) => resolve(response.resume().statusCode ?? 0));
      sent.end(body.slice(9));
    });
  return { begun, finish };
}

/** Begins a question, and closes the connection before its end. */
function leaveInTheMiddle({ gateway }: TestGateway): Promise<void> {
  return new Promise((resolve) => {
    const sent = request(gateway.admin!.url + EXPLAIN, {
      method: 'POST',
      agent: false,
      headers: { ...JSON_TYPE, 'content-length': 1000 },
    });
    sent.on('error', () => {}).on('close', resolve);
    sent.on('socket', (socket) => socket.on('connect', () => sent.write('{"body":', () => sent.destroy())));
  });
}
