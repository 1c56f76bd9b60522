import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { testPrivateKey } from '../../src/core/providers/setup.testkit.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import { validateCommand } from '../../src/core/commands/validate.ts';
import { startTestGateway, writeSettings } from '../support/gateway.ts';
import { anthropicEvents, geminiReply, json, sse, startUpstream } from '../support/upstream.ts';
import { connect, refusal } from './websockets/kit.testkit.ts';

/** Every secret a request meets is a word of its own here; none may be found in anything that comes out. */
const privateKey = testPrivateKey();
const CANARIES = {
  gatewayKey: 'canary-gateway-key-7f3a91',
  vendorKey: 'canary-vendor-key-55ab02',
  accessToken: 'canary-access-token-e10c77',
  callerToken: 'canary-caller-token-90dd4e',
  mcpToken: 'canary-mcp-token-3b81fa',
  privateKey: privateKey.split('\n')[3]!,
};

describe('secrets', () => {
  it('are in no log line, span, metric, header, error or diagnostic, however a request goes', async () => {
    const spans: string[] = [];
    const collector = await startUpstream((request, res) => {
      spans.push(request.text);
      json(res, {});
    });
    let failing = false;
    const upstream = await startUpstream((request, res) => {
      if (request.url === '/token')
        return failing
          ? json(res, { error: 'invalid_grant', error_description: `assertion ${request.text}` }, 400)
          : json(res, { access_token: CANARIES.accessToken, expires_in: 3600, token_type: 'Bearer' });
      // An upstream that repeats what it was sent must not make us repeat it, before its reply has begun or after.
      const quoted = /"authorization(?:_token)?":"[^"]*"/.exec(request.text)?.[0] ?? '';
      const bare = quoted.split('"')[3] ?? '';
      const message = `bad header ${request.headers.authorization ?? request.headers['x-api-key']} or ${quoted} ${bare}`;
      if (request.url.includes('echo') || request.text.includes('echo'))
        return json(
          res,
          { error: { code: 400, message, type: 'invalid_request_error', status: 'INVALID_ARGUMENT' } },
          400,
        );
      if (request.text.includes('late'))
        return sse(res, [
          ...(request.url.includes('google') ? [geminiReply('hi')] : anthropicEvents('hi').slice(0, 3)),
          { type: 'error', error: { code: 400, message, type: 'invalid_request_error', status: 'INVALID_ARGUMENT' } },
        ]);
      if (request.url.includes('countTokens')) return json(res, { totalTokens: 3 });
      if (request.url.includes(':predict'))
        return json(res, {
          predictions: [
            {
              bytesBase64Encoded: 'AAAA',
              mimeType: 'image/png',
              embeddings: { values: [0.1], statistics: { token_count: 1 } },
            },
          ],
        });
      if (request.url.includes('messages'))
        return json(res, { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }, 401);
      return json(res, geminiReply('hi'));
    });
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-canary-'));
    const account = join(folder, 'account.json');
    writeFileSync(
      account,
      JSON.stringify({
        type: 'service_account',
        project_id: 'test-project',
        private_key_id: 'k1',
        private_key: privateKey,
        client_email: 'a@test-project.iam.gserviceaccount.com',
        token_uri: `${upstream.url}/token`,
      }),
    );
    const settings = {
      server: {
        telemetry: {
          traces: { endpoint: `${collector.url}/v1/traces`, protocol: 'http/json' },
          log: { level: 'debug' },
        },
        egress: { token_uris: [`${upstream.url}/token`] },
      },
      catalog: {
        providers: [
          {
            slug: 'vertex',
            provider: 'vertex-ai',
            region: 'us-central1',
            service_account: `\${file:${account}}`,
            base_url: upstream.url,
            allow_insecure: true,
          },
          {
            slug: 'own',
            provider: 'vertex-ai',
            region: 'us-central1',
            project_id: 'test-project',
            base_url: upstream.url,
            allow_insecure: true,
          },
          {
            slug: 'claude',
            provider: 'anthropic',
            api_key: '${env:CANARY_VENDOR}',
            base_url: upstream.url,
            allow_insecure: true,
          },
        ],
      },
      keys: { keys: [{ id: 'k', key: '${env:CANARY_KEY}' }] },
    };
    const env = { CANARY_VENDOR: CANARIES.vendorKey, CANARY_KEY: CANARIES.gatewayKey };
    const gateway = await startTestGateway(settings, { env });
    const outputs: string[] = [];
    const ask = async (path: string, body: object | undefined, headers: Record<string, string> = {}) => {
      const response = await fetch(`${gateway.url}${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { 'content-type': 'application/json', 'x-gateway-api-key': CANARIES.gatewayKey, ...headers },
        ...(body && { body: JSON.stringify(body) }),
      });
      outputs.push(await response.text(), inspect(response.headers));
      return response.status;
    };
    const turn = (model: string, content = 'hi') => ({ model, max_tokens: 5, messages: [{ role: 'user', content }] });
    const chat = (model: string, headers?: Record<string, string>) => ask('/v1/chat/completions', turn(model), headers);
    const places = ['@vertex/gemini-2.5-flash', '@vertex/anthropic.claude-haiku-4-5', '@claude/claude-haiku-4-5'];
    try {
      const authorization = `Bearer ${CANARIES.callerToken}`;
      expect(await chat('@vertex/gemini-2.5-flash')).toBe(200);
      expect(await chat('@own/gemini-2.5-flash', { authorization })).toBe(200);
      expect(await chat('@claude/claude-3-5-haiku-20241022')).toBe(502);
      expect(await chat('@own/echo', { authorization })).toBe(400);
      expect(await chat('@nobody/x', { authorization })).toBe(400);
      expect(await chat('@vertex/x', { 'x-gateway-api-key': `${CANARIES.gatewayKey}x` })).toBe(401);
      for (const model of places) {
        expect(await ask('/v1/messages', turn(model, 'echo'))).toBe(400);
        expect(await ask('/v1/messages', { ...turn(model, 'late'), stream: true })).toBe(200);
        expect(await ask('/v1/chat/completions', { ...turn(model, 'late'), stream: true })).toBe(200);
        expect(await ask('/v1/messages/count_tokens', turn(model, 'echo'))).toBe(400);
      }
      for (const model of places) {
        const input = (text: string): object => ({ model, input: text, max_output_tokens: 5 });
        expect(await ask('/v1/responses', input('echo'))).toBe(400);
        expect(await ask('/v1/responses', { ...input('late'), stream: true })).toBe(200);
        expect(await ask('/v1/responses/input_tokens', input('echo'))).toBe(400);
        const headers = { authorization: '', 'x-gateway-api-key': CANARIES.gatewayKey };
        const socket = await connect(gateway, { headers });
        for (const body of [input('echo'), input('late'), { ...input('hi'), generate: false }])
          outputs.push(JSON.stringify(await socket.turn(body)));
        for (const more of [
          { path: `/v1/responses?key=${CANARIES.gatewayKey}` },
          { headers, origin: 'https://evil.example' },
        ])
          outputs.push(inspect(await refusal(gateway, more)));
      }
      // Tokens of MCP servers, as both vendors have them in bodies.
      const server = { type: 'url', url: 'https://mcp.example', name: 'docs', authorization_token: CANARIES.mcpToken };
      const servers = { mcp_servers: [server], tools: [{ type: 'mcp_toolset', mcp_server_name: 'docs' }] };
      const mcp = { type: 'mcp', server_label: 'docs', server_url: 'https://mcp.example', require_approval: 'never' };
      const tools = [{ ...mcp, authorization: CANARIES.mcpToken }];
      for (const said of ['echo', 'late']) {
        const stream = said === 'late';
        const status = stream ? 200 : 400;
        const more = { stream, ...servers };
        expect(await ask('/v1/messages', { ...turn('@claude/claude-haiku-4-5', said), ...more })).toBe(status);
        const body = { model: '@claude/claude-haiku-4-5', input: said, max_output_tokens: 5, stream };
        expect(await ask('/v1/responses', { ...body, tools })).toBe(status);
        const headers = { authorization: `Bearer ${CANARIES.mcpToken}` };
        expect(await ask('/v1/responses', { ...body, tools: [{ ...mcp, headers }] })).toBe(status);
        expect(await ask('/v1/responses', { ...body, model: places[0], tools })).toBe(status);
      }
      const refused = { ...mcp, authorization: CANARIES.mcpToken, require_approval: 'always' };
      expect(await ask('/v1/responses', { model: places[2], input: 'hi', tools: [refused] })).toBe(400);
      expect(await ask('/v1/messages', turn('@vertex/gemini-2.5-flash'))).toBe(200);
      expect(await ask('/v1/messages/count_tokens', turn('@vertex/gemini-2.5-flash'))).toBe(200);
      for (const [input, status] of [
        ['hi', 200],
        ['echo', 400],
      ] as const) {
        expect(await ask('/v1/embeddings', { model: '@vertex/gemini-embedding-001', input })).toBe(status);
        const image = { model: '@vertex/imagen-4.0-generate-001', prompt: input };
        expect(await ask('/v1/images/generations', image)).toBe(status);
        const path = '/v1/projects/p-1/locations/us-central1/publishers/google/models/gemini-2.5-flash:countTokens';
        const count = { contents: [{ role: 'user', parts: [{ text: input }] }] };
        expect(await ask(path, count, { 'x-gateway-provider': '@own', authorization })).toBe(status);
      }
      // Kept responses, and their streams that break.
      const lastId = (): string => /"id":"(resp_\w+)"/.exec(outputs.at(-2)!)![1]!;
      expect(await ask('/v1/responses', { model: places[0], input: 'hi' })).toBe(200);
      const kept = [lastId()];
      for (const model of places) {
        const late = { model, input: 'late', stream: true };
        expect(await ask('/v1/responses', late)).toBe(200);
        kept.push(lastId());
        expect(await ask('/v1/responses', { model, previous_response_id: kept.at(-1), input: 'echo' })).toBe(400);
        expect(await ask('/v1/responses/compact', { model, input: 'echo' })).toBe(400);
      }
      for (const path of [...kept, `${kept[0]}/input_items`])
        expect(await ask(`/v1/responses/${path}`, undefined)).toBe(200);
      // Where Google's SDKs put their key.
      const question = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };
      const asked = '/v1beta/models/@vertex/gemini-2.5-flash';
      const inHeader = { 'x-gateway-api-key': '', 'x-goog-api-key': CANARIES.gatewayKey };
      const inQuery = { 'x-gateway-api-key': '' };
      expect(await ask(`${asked}:generateContent?key=${CANARIES.gatewayKey}`, question, inQuery)).toBe(200);
      expect(await ask(`${asked}:generateContent?key=${CANARIES.gatewayKey}x`, question, inQuery)).toBe(401);
      expect(await ask(`${asked}:generateContent`, question, inHeader)).toBe(200);
      expect(await ask(`/v1beta/nowhere?key=${CANARIES.gatewayKey}`, question, inQuery)).toBe(404);
      expect(await ask(`/v1beta/models?key=${CANARIES.gatewayKey}`, undefined, inQuery)).toBe(200);
      for (const path of ['/v1/models', '/v1/models/@claude/x', '/v1/models/@nobody/x', '/v1/nothing']) {
        const status = await ask(path, undefined, { 'anthropic-version': '2023-06-01', authorization });
        expect(status).toBe(path.includes('no') ? 404 : 200);
        // Where the SDKs of both APIs put their key.
        await ask(path, undefined, { 'x-api-key': CANARIES.gatewayKey, 'x-gateway-api-key': '', authorization });
      }
      outputs.push(await (await fetch(`${gateway.statusUrl}/metrics`)).text());
      outputs.push(inspect(gateway.gateway.settings, { depth: 20 }), JSON.stringify(gateway.gateway.settings));
    } finally {
      await gateway.close();
    }

    failing = true;
    const broken = await startTestGateway(settings, { env });
    try {
      const response = await fetch(`${broken.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gateway-api-key': CANARIES.gatewayKey },
        body: JSON.stringify({ model: '@vertex/gemini-2.5-flash', messages: [{ role: 'user', content: 'hi' }] }),
      });
      const text = await response.text();
      expect([response.status, text]).toEqual([
        502,
        expect.stringMatching(/credentials_failed.*|.*vertex.*invalid_grant/),
      ]);
      outputs.push(text);
    } finally {
      await broken.close();
    }

    // Settings that are wrong in every place that holds a secret.
    const dir = writeSettings({
      ...settings,
      keys: { keys: [{ id: 'k', key: '${env:CANARY_KEY}', digest: 'sha256:no' }] },
      catalog: {
        providers: [
          { slug: 'claude', provider: 'anthropic', api_key: CANARIES.vendorKey, extra: CANARIES.vendorKey },
          {
            slug: 'v',
            provider: 'vertex-ai',
            region: 'X',
            service_account: { client_email: 7, private_key: CANARIES.privateKey },
          },
        ],
      },
    });
    for (const format of ['pretty', 'json', 'github'] as const)
      expect(await validateCommand({ dir, format, env, out: (text) => outputs.push(text) })).toBe(1);
    const refused = await startGateway({
      configs: dir,
      env,
      logTo: { write: (line) => void outputs.push(line) },
    }).catch((error: unknown) => error);
    outputs.push(inspect(refused, { depth: 20 }));

    await collector.close();
    await upstream.close();
    for (const path of [folder, dir]) rmSync(path, { recursive: true, force: true });
    expect(spans.length).toBeGreaterThan(0);
    const everything = [gateway.logText(), broken.logText(), ...spans, ...outputs].join('\n');
    for (const [name, canary] of Object.entries(CANARIES))
      expect(everything.includes(canary), `${name} came out`).toBe(false);
    // The canaries were really in play: the upstream saw those that belong to it, and only those.
    const sent = JSON.stringify(upstream.seen.map(({ headers }) => headers));
    expect(
      [CANARIES.accessToken, CANARIES.callerToken, CANARIES.vendorKey, CANARIES.gatewayKey].map((canary) =>
        sent.includes(canary),
      ),
    ).toEqual([true, true, true, false]);
    const bodies = upstream.seen.map(({ text }) => text).filter((text) => text.includes(CANARIES.mcpToken));
    for (const field of ['"authorization"', '"authorization_token"'])
      expect(bodies.some((text) => text.includes(field))).toBe(field.includes('_token'));
  });
});
