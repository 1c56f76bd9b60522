import { readFileSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import OpenAI, { BadRequestError, RateLimitError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { checkSettings } from '../../src/core/dry-run/check-settings.ts';
import { loadSettings } from '../../src/core/settings/read/load.ts';
import { KEY, startTestGateway, until, writeSettings, type TestGateway } from '../support/gateway.ts';
import {
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from '../support/upstream.ts';

/** OpenAI, servers that speak its API, and Azure: what arrives there and what comes back, to the byte. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;
let script: Script = () => {};

beforeAll(async () => {
  upstream = await startUpstream((request, res, index) => script(request, res, index));
  const { url } = upstream;
  const common = { allow_insecure: true, base_url: `${url}/v1` };
  const key = '${env:OPENAI_KEY}';
  gateway = await startTestGateway(
    {
      catalog: {
        providers: [
          {
            slug: 'openai',
            provider: 'openai',
            api_key: key,
            organization: 'org-1',
            project: 'proj_1',
            headers: { 'X-Title': 'Acme' },
            secret_headers: { 'X-Proxy-Token': '${env:PROXY_TOKEN}' },
            ...common,
          },
          { slug: 'ollama', provider: 'openai', ...common },
          { slug: 'mistral', provider: 'openai', api_key: key, stream_usage: false, ...common },
          { slug: 'azure', provider: 'azure-openai', api_key: key, allow_insecure: true, base_url: url },
          {
            slug: 'azure-dated',
            provider: 'azure-openai',
            api_key: key,
            allow_insecure: true,
            base_url: url,
            api_version: '2024-10-21',
            deployments: { 'gpt-4o': 'prod-4o' },
          },
        ],
      },
      gateway: { cool: { provider: '@openai', override_params: { temperature: 0.5 } } },
    },
    { env: { OPENAI_KEY: 'sk-proj-upstream-CANARY', PROXY_TOKEN: 'proxy-CANARY' } },
  );
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const headers = { 'x-gateway-api-key': KEY, 'content-type': 'application/json' };

/** Sends these bytes and gives back the reply's, and what the upstream was sent. */
async function send(body: string, more: Record<string, string> = {}) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers, ...more },
    body,
  });
  return { status: response.status, text: await response.text(), seen: upstream.seen.at(-1)! };
}

const chat = (model: string, more: object = {}): string =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], ...more });

/** Written as no serializer would: spaces, escapes, numbers beyond a double, unknown fields. */
const ODD = (model: string, rest = '') =>
  `{ "messages":[ {"role":"user", "content":"Gr\\u00fc\\u00dfe \\ud83c\\udf0d 🌍", "x_cache":{"b":1,"a":[ ]}} ],\n` +
  `  "model" : ${JSON.stringify(model)},"guided_choice":["a","b"], "seed":12345678901234567890123, "temperature":1.0,` +
  `"repetition_penalty":1.10e0, "chat_template_kwargs":{"enable_thinking":false,"n":null}${rest} }`;

/** Bytes in two writes, cut inside an event. */
function raw(res: ServerResponse, type: string, text: string): void {
  res.writeHead(200, { 'content-type': type });
  const bytes = Buffer.from(text);
  const middle = Math.floor(bytes.length / 2);
  res.write(bytes.subarray(0, middle));
  setImmediate(() => res.end(bytes.subarray(middle)));
}

const REPLY =
  `{"id":"cmpl-1", "object":"chat.completion","created":1795132800,"model":"m","x_groq":{"id":"req_1","usage":null},\n` +
  ` "choices":[ {"index":0,"message":{"role":"assistant","content":"Gr\\u00fc\\u00dfe 🌍","x_note":[1.0, 1e2]},` +
  `"finish_reason":"stop","stop_reason":128009,"logprobs":null} ],"timings":{"predicted_per_second":10.50},` +
  `"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"prompt_time":0.10},"system_fingerprint":null}\n`;

const chunk = (rest: string): string =>
  `data: {"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m", ${rest}}\n\n`;
const OPENING =
  ': ping\n\n' +
  chunk(
    `"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"x_groq":{"id":"req_1"}`,
  ) +
  chunk(`"choices":[{"index":0,"delta":{"content":"Gr\\u00fc\\u00dfe 🌍","x_token":[1.0]},"finish_reason":null}]`);
const FINISH = chunk(`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}], "timings":{"ms":1.50}`);
const USAGE = chunk(`"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}`);
const DONE = 'data: [DONE]\n\n';
/** Mistral and Groq send usage with the finish, asked or not. */
const FINISH_WITH_USAGE = chunk(
  `"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}`,
);

describe('a request to an openai entry', () => {
  it('arrives as it was written but for the model', async () => {
    script = (_, res) => raw(res, 'application/json', REPLY);
    const { seen } = await send(ODD('@openai/meta-llama/Llama-3.1-8B-Instruct'));
    expect(seen.text).toBe(ODD('meta-llama/Llama-3.1-8B-Instruct'));
    expect([seen.method, seen.url]).toEqual(['POST', '/v1/chat/completions']);
  });

  it('is left alone where even the model stands as the upstream knows it', async () => {
    script = (_, res) => raw(res, 'application/json', REPLY);
    const body = ODD('qwen2.5:7b');
    expect((await send(body, { 'x-gateway-provider': '@ollama' })).seen.text).toBe(body);
  });

  it('changes where the config says so, and stays as it was elsewhere', async () => {
    script = (_, res) => raw(res, 'application/json', REPLY);
    const { seen } = await send(ODD('gpt-4o'), { 'x-gateway-config': 'cool' });
    expect(seen.text).toBe(ODD('gpt-4o').replace('"temperature":1.0', '"temperature":0.5'));
  });

  it('to stream asks for usage, in front of what the caller wrote', async () => {
    script = (_, res) => raw(res, 'text/event-stream', OPENING + FINISH + USAGE + DONE);
    const { seen } = await send(ODD('@openai/gpt-4o', ', "stream":true'));
    expect(seen.text).toBe(ODD('gpt-4o', ', "stream":true').replace('{', '{"stream_options":{"include_usage":true},'));
    const own = ', "stream":true,"stream_options":{ "include_usage":true,"x":1 }';
    expect((await send(ODD('@openai/gpt-4o', own))).seen.text).toBe(ODD('gpt-4o', own));
  });

  it('carries the entry’s headers and key, and nothing of the caller’s', async () => {
    script = (_, res) => json(res, openaiReply('hi'));
    const { seen } = await send(chat('@openai/gpt-4o'), { 'x-tenant': 'acme', 'openai-organization': 'org-theirs' });
    expect(seen.headers).toMatchObject({
      authorization: 'Bearer sk-proj-upstream-CANARY',
      'openai-organization': 'org-1',
      'openai-project': 'proj_1',
      'x-title': 'Acme',
      'x-proxy-token': 'proxy-CANARY',
      'content-type': 'application/json',
    });
    expect(Object.keys(seen.headers)).not.toContain('x-tenant');
    expect(JSON.stringify(seen.headers)).not.toContain(KEY);
  });

  it('needs no key where the server asks for none', async () => {
    script = (_, res) => json(res, openaiReply('hi'));
    const { status, seen } = await send(chat('@ollama/qwen2.5:7b'));
    expect([status, seen.json['model']]).toEqual([200, 'qwen2.5:7b']);
    expect(seen.headers).not.toHaveProperty('authorization');
  });

  it.each(['@openai/../secrets', '@openai/a\\b', '@azure-dated/a/b', '@azure-dated/.', '@azure/a?b'])(
    'for a model no server has is a 400 that never leaves: %s',
    async (model) => {
      const before = upstream.seen.length;
      const { status, text } = await send(chat(model));
      expect([status, JSON.parse(text)]).toMatchObject([400, { error: { code: 'invalid_model', param: 'model' } }]);
      expect(upstream.seen.length).toBe(before);
    },
  );
});

describe('a reply of an openai entry', () => {
  it('arrives as it was sent', async () => {
    script = (_, res) => raw(res, 'application/json', REPLY);
    expect((await send(chat('@openai/gpt-4o'))).text).toBe(REPLY);
  });

  it('arrives as it was sent when it streams', async () => {
    script = (_, res) => raw(res, 'text/event-stream', OPENING + FINISH + USAGE + DONE);
    const options = { stream: true, stream_options: { include_usage: true } };
    expect((await send(chat('@openai/gpt-4o', options))).text).toBe(OPENING + FINISH + USAGE + DONE);
  });

  it('comes without the usage only the gateway asked for', async () => {
    script = (_, res) => raw(res, 'text/event-stream', OPENING + FINISH + USAGE + DONE);
    expect((await send(chat('@openai/gpt-4o', { stream: true }))).text).toBe(OPENING + FINISH + DONE);
  });

  it('keeps the message, code and parameter of an error', async () => {
    const error = {
      message: 'Filtered: “x”.',
      type: 'invalid_request_error',
      param: 'messages[0]',
      code: 'content_filter',
    };
    script = (_, res) => json(res, { error: { ...error, innererror: { code: 'ResponsibleAIPolicyViolation' } } }, 400);
    const { status, text } = await send(chat('@openai/gpt-4o'));
    expect([status, JSON.parse(text)]).toEqual([400, { error }]);
  });

  it('keeps them where a stream breaks off', async () => {
    const error = { message: 'Out of memory.', type: 'server_error', param: null, code: 'engine_overloaded' };
    const arrived = Promise.withResolvers<void>();
    script = async (_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write(OPENING);
      // Before anything has left, the error would be the whole reply.
      await arrived.promise;
      res.end(`data: ${JSON.stringify({ error })}\n\n`);
    };
    const body = chat('@openai/gpt-4o', { stream: true });
    const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body });
    let text = '';
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      arrived.resolve();
    }
    expect(text.slice(0, OPENING.length)).toBe(OPENING);
    expect(JSON.parse(text.slice(OPENING.length + 'data: '.length))).toEqual({ error });
  });

  it('says what is wrong where a server has an error shape of its own', async () => {
    for (const [body, message] of [
      ['{"object":"error","message":"no such model","type":"NotFoundError","param":null,"code":404}', 'no such model'],
      ['{"error":"model \\"x\\" not found, try pulling it first"}', 'model "x" not found, try pulling it first'],
      ['{"detail":"Not Found"}', 'Not Found'],
    ] as const) {
      script = (_, res) => void res.writeHead(404, { 'content-type': 'application/json' }).end(body);
      const { status, text } = await send(chat('@openai/gpt-4o'));
      expect([status, JSON.parse(text)]).toMatchObject([404, { error: { message, code: 'model_not_found' } }]);
    }
  });
});

describe('an entry with `stream_usage: false`', () => {
  const body = ODD('@mistral/mistral-small-latest', ', "stream":true');

  it('changes nothing but the model, both ways', async () => {
    script = (_, res) => raw(res, 'text/event-stream', OPENING + FINISH_WITH_USAGE + DONE);
    const { text, seen } = await send(body);
    expect(seen.text).toBe(ODD('mistral-small-latest', ', "stream":true'));
    expect(text).toBe(OPENING + FINISH_WITH_USAGE + DONE);
  });

  it('counts what the server sends unasked', async () => {
    script = (_, res) => raw(res, 'text/event-stream', OPENING + FINISH_WITH_USAGE + DONE);
    const id = 'counts-unasked-usage';
    await send(body, { 'x-request-id': id });
    const line = () => gateway.logs.find((entry) => entry['request_id'] === id);
    await until(() => line() !== undefined, 'the request is logged');
    expect(line()).toMatchObject({ tokens: { input: 3, output: 2 } });
  });
});

describe('an azure-openai entry', () => {
  it('speaks the v1 API: the deployment is the model', async () => {
    script = (_, res) => raw(res, 'application/json', REPLY);
    const { seen, text } = await send(ODD('@azure/prod-4o'));
    expect([seen.url, seen.text, text]).toEqual(['/openai/v1/chat/completions', ODD('prod-4o'), REPLY]);
    expect(seen.headers['api-key']).toBe('sk-proj-upstream-CANARY');
    expect(seen.headers).not.toHaveProperty('authorization');
  });

  it('speaks dated versions: the deployment is in the path', async () => {
    script = (_, res) => json(res, openaiReply('hi'));
    const query = '?api-version=2024-10-21';
    expect((await send(chat('@azure-dated/gpt-4o'))).seen).toMatchObject({
      url: `/openai/deployments/prod-4o/chat/completions${query}`,
      json: { model: 'prod-4o' },
    });
    expect((await send(chat('@azure-dated/a b;c'))).seen.url).toBe(
      `/openai/deployments/a%20b%3Bc/chat/completions${query}`,
    );
  });

  it('has its numbers and names for codes told as OpenAI’s words', async () => {
    for (const [status, code, reported] of [
      [429, '429', 'rate_limit_exceeded'],
      [404, 'DeploymentNotFound', 'model_not_found'],
      [403, '403', 'upstream_permission'],
    ] as const) {
      script = (_, res) => json(res, { error: { code, message: 'As Azure says it.' } }, status);
      const answer = await send(chat('@azure-dated/gpt-4o'));
      expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
        status,
        { error: { message: 'As Azure says it.', code: reported } },
      ]);
    }
  });
});

describe('the openai SDK', () => {
  const client = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Weather in Oslo?' }];
  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }];
  const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } };

  it.each(['@openai/gpt-4o', '@ollama/qwen2.5:7b', '@azure/prod-4o', '@azure-dated/gpt-4o'])(
    'chats and streams with %s',
    async (model) => {
      script = (request, res) =>
        request.json['stream']
          ? sse(res, [
              openaiChunk({ role: 'assistant', content: 'Hel' }),
              openaiChunk({ content: 'lo.' }, 'stop'),
              DONE,
            ])
          : json(res, openaiReply('Hello.'));
      const answer = await client().chat.completions.create({ model, messages });
      expect(answer.choices[0]?.message.content).toBe('Hello.');
      let streamed = '';
      for await (const { choices } of await client().chat.completions.create({ model, messages, stream: true }))
        streamed += choices[0]?.delta.content ?? '';
      expect(streamed).toBe('Hello.');
    },
  );

  it('calls tools, plain and streamed', async () => {
    const reply = openaiReply('');
    script = (request, res) =>
      request.json['stream']
        ? sse(res, [
            openaiChunk({
              role: 'assistant',
              tool_calls: [{ index: 0, ...call, function: { name: 'weather', arguments: '' } }],
            }),
            openaiChunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
            openaiChunk({ tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] }),
            openaiChunk({}, 'tool_calls'),
            DONE,
          ])
        : json(res, {
            ...reply,
            choices: [
              {
                index: 0,
                message: { role: 'assistant', content: null, tool_calls: [call] },
                finish_reason: 'tool_calls',
              },
            ],
          });
    const model = '@openai/gpt-4o';
    const plain = await client().chat.completions.create({ model, messages, tools });
    expect(plain.choices[0]?.message.tool_calls).toEqual([call]);
    const streamed = await client().chat.completions.stream({ model, messages, tools }).finalChatCompletion();
    expect(streamed.choices[0]?.message.tool_calls).toMatchObject([call]);
    expect(upstream.seen.at(-1)?.json['tools']).toEqual(tools);
  });

  it('throws its own errors', async () => {
    const create = () => client().chat.completions.create({ model: '@openai/gpt-4o', messages });
    const error = { message: 'No.', type: 'invalid_request_error', param: 'temperature', code: 'unsupported_value' };
    script = (_, res) => json(res, { error }, 400);
    const refused = await create().catch((thrown: unknown) => thrown);
    expect(refused).toBeInstanceOf(BadRequestError);
    expect(refused).toMatchObject({ code: 'unsupported_value', param: 'temperature', message: '400 No.' });
    script = (_, res) =>
      json(res, { error: { message: 'Slow.', code: 'rate_limit_exceeded' } }, 429, { 'retry-after': '7' });
    const limited = await create().catch((thrown: unknown) => thrown);
    expect(limited).toBeInstanceOf(RateLimitError);
    expect(limited).toMatchObject({ code: 'rate_limit_exceeded' });
  });
});

it('keeps keys out of logs and out of what clients see, also where an upstream quotes them', async () => {
  const quoted = 'Incorrect key: sk-proj-upstream-CANARY, proxy-CANARY.';
  script = (_, res) => json(res, { error: { message: quoted, code: 'invalid_api_key' } }, 401);
  const { text } = await send(chat('@openai/gpt-4o'));
  expect(JSON.parse(text)).toMatchObject({
    error: { message: 'The upstream refused the credentials of the catalog entry @openai (401).' },
  });
  script = (_, res) => json(res, { error: { message: quoted } }, 403);
  expect(JSON.parse((await send(chat('@openai/gpt-4o'))).text)).toMatchObject({
    error: { message: 'Incorrect key: [secret], [secret].' },
  });
  const ofAzure = 'Incorrect key: sk-proj-upstream-CANARY.';
  script = (_, res) => json(res, { error: { message: ofAzure } }, 403);
  await send(chat('@azure/prod-4o'));
  expect(gateway.logText()).not.toContain('CANARY');
  const status = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
  expect(status).not.toContain('CANARY');
});

describe('the README', () => {
  const text = readFileSync(packageFile('docs/providers/openai.md'), 'utf8');
  const examples = [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, yaml = '']) => yaml);

  it('has examples', () => expect(examples.length).toBeGreaterThan(3));

  it.each(examples)('has an example without mistakes: %#', async (catalog) => {
    expect(catalog).toMatch(/^# configs\/catalog\.yaml\n/);
    const env = Object.fromEntries([...catalog.matchAll(/\$\{env:(\w+)\}/g)].map(([, name]) => [name, 'a-key']));
    const folder = writeSettings({ catalog });
    try {
      const loaded = await loadSettings(folder, { env });
      await checkSettings(loaded, folder);
      expect(loaded.diagnostics).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
