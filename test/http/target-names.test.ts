import { expect, it, onTestFinished } from 'vitest';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import { entriesFor, json, openaiChunk, openaiReply, sse, startUpstream } from '../support/upstream.ts';

async function start(): Promise<TestGateway> {
  const upstream = await startUpstream(({ json: { model, stream } }, res) => {
    if (model === 'busy') return json(res, { error: { message: 'busy' } }, 503);
    if (stream !== true) return json(res, openaiReply('hi'));
    return sse(res, [openaiChunk({ content: 'hi' }), openaiChunk({}, 'stop')]);
  });
  onTestFinished(() => upstream.close());
  const target = (name: string, model: string): object => ({
    name,
    provider: '@openai',
    override_params: { model },
  });
  const gateway = await startTestGateway({
    catalog: { providers: entriesFor(upstream.url) },
    keys: { keys: [{ id: 'test', key: KEY, inline_configs: true }] },
    gateway: {
      named: {
        name: 'the config',
        strategy: { mode: 'fallback' },
        targets: [
          target('primary', 'busy'),
          { name: 'backup', targets: [{ provider: '@openai', override_params: { model: 'good' } }] },
        ],
      },
      unnamed: { provider: '@openai', override_params: { model: 'good' } },
    },
  });
  onTestFinished(() => gateway.close());
  return gateway;
}

const messages = [{ role: 'user', content: 'hi' }];
const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
/** Path and body of a generation in each API. */
const DOORS: readonly (readonly [string, string, object])[] = [
  ['chat', '/v1/chat/completions', { model: 'm', messages }],
  ['chat, streamed', '/v1/chat/completions', { model: 'm', messages, stream: true }],
  ['Messages', '/v1/messages', { model: 'm', max_tokens: 9, messages }],
  ['Messages, streamed', '/v1/messages', { model: 'm', max_tokens: 9, messages, stream: true }],
  ['Responses', '/v1/responses', { model: 'm', input: 'hi' }],
  ['Responses, streamed', '/v1/responses', { model: 'm', input: 'hi', stream: true }],
  ['Gemini', '/v1beta/models/m:generateContent', { contents }],
  ['Gemini, streamed', '/v1beta/models/m:streamGenerateContent?alt=sse', { contents }],
];

async function send(gateway: TestGateway, path: string, body: object, config = 'named'): Promise<Response> {
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-config': config },
    body: JSON.stringify(body),
  });
  await reply.arrayBuffer();
  return reply;
}

it.each(DOORS)('The reply header, the record and the log of %s name the targets', async (_, path, body) => {
  const gateway = await start();
  const { status, headers } = await send(gateway, path, body);
  expect([status, headers.get('x-gateway-last-used-option-index'), headers.get('x-gateway-target-name')]).toEqual([
    200,
    'config.targets[1].targets[0]',
    'backup',
  ]);
  const names = { attempts: [{ target_name: 'primary' }, { target_name: 'backup' }] };
  await until(() => gateway.logs.some(({ attempts }) => attempts !== undefined), 'its line');
  expect(gateway.logs.find(({ attempts }) => attempts !== undefined)).toMatchObject(names);
  expect(gateway.gateway.record(headers.get('x-gateway-request-id')!)).toMatchObject(names);
});

it('Health lines and metrics name the targets that have a name', async () => {
  const gateway = await start();
  await send(gateway, '/v1/chat/completions', { model: 'm', messages });
  const ask = async (path: string): Promise<string> => (await fetch(gateway.gateway.status.url + path)).text();
  const ready = await ask('/readyz?verbose');
  expect(ready).toMatch(/^target named config\.targets\[0\] "primary" openai: closed \(no circuit_breaker\), 1 of 1 /m);
  expect(ready).toMatch(/^target unnamed config openai: closed/m);
  const metrics = await ask('/metrics');
  expect(metrics).toContain(
    'gatehouse_upstream_target_healthy{config="named",target="config.targets[0]",target_name="primary",provider="openai"} 1',
  );
  expect(metrics).toContain('{config="unnamed",target="config",target_name="",provider="openai"} 1');
});

it('A target without a name has no header, and any name of a caller is one line of ASCII', async () => {
  const gateway = await start();
  const none = await send(gateway, '/v1/chat/completions', { model: 'm', messages }, 'unnamed');
  expect([none.status, none.headers.get('x-gateway-target-name')]).toEqual([200, null]);
  const name = 'a\r\nx-evil: 1 Süd \ud800';
  const own = { targets: [{ name, provider: '@openai', override_params: { model: 'good' } }] };
  const odd = await send(gateway, '/v1/chat/completions', { model: 'm', messages }, JSON.stringify(own));
  expect([odd.status, odd.headers.get('x-evil'), odd.headers.get('x-gateway-target-name')]).toEqual([
    200,
    null,
    'a%0D%0Ax-evil: 1 S%C3%BCd %EF%BF%BD',
  ]);
});
