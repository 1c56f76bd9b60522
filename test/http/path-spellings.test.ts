import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicReply,
  entriesFor,
  json,
  openaiReply,
  startUpstream,
  type ScriptedUpstream,
} from '../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

const target = (name: string) => ({ name, provider: '@openai', override_params: { model: name } });
// oxlint-disable-next-line unicorn/no-thenable -- conditions have the key `then`, and nothing awaits one
const when = (path: unknown, then: string) => ({ query: { path }, then });

beforeAll(async () => {
  upstream = await startUpstream((request, res) => json(res, replyAt(request.url)));
  gateway = await startTestGateway({
    catalog: { providers: entriesFor(upstream.url, {}) },
    keys: { keys: [{ id: 'test', key: KEY, default_config: 'it' }] },
    gateway: {
      it: {
        strategy: {
          mode: 'conditional',
          conditions: [
            when('/v1/chat/completions', 'chat'),
            when({ $regex: '^/v1/messages$' }, 'messages'),
            when({ $in: ['/v1/embeddings'] }, 'embeddings'),
          ],
          default: 'evaded',
        },
        targets: ['chat', 'messages', 'embeddings', 'evaded'].map(target),
      },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const BODY = JSON.stringify({ model: 'm', max_tokens: 5, input: 'hi', messages: [{ role: 'user', content: 'hi' }] });

interface Answered {
  readonly status: number;
  readonly model: unknown;
  /** The path in the access line. */
  readonly logged: unknown;
  readonly route: unknown;
}

const replyAt = (url: string): object => {
  if (url.includes('messages')) return anthropicReply('claude');
  if (url.includes('embeddings'))
    return { object: 'list', model: 'm', data: [{ object: 'embedding', index: 0, embedding: [1] }] };
  return openaiReply('openai');
};

/** On a bare socket: clients of HTTP rewrite what they send. */
async function post(target: string): Promise<Answered> {
  const { port, host } = gateway.gateway.data;
  const seen = upstream.seen.length;
  const lines = gateway.logs.filter((line) => 'route' in line).length;
  const socket = connect(port, host);
  const head = `POST ${target} HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\nx-gateway-api-key: ${KEY}\r\n`;
  socket.write(Buffer.from(`${head}content-length: ${BODY.length}\r\nconnection: close\r\n\r\n${BODY}`, 'latin1'));
  let text = '';
  for await (const piece of socket) text += String(piece);
  const line = gateway.logs.filter((one) => 'route' in one)[lines];
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]),
    model: upstream.seen[seen]?.json['model'],
    logged: (await recordOf(text))?.path,
    route: line?.['route'],
  };
}

async function recordOf(text: string): Promise<{ readonly path: string } | undefined> {
  const id = /x-gateway-request-id: (\S+)/i.exec(text)?.[1];
  if (id === undefined) return undefined;
  return gateway.gateway.record(id) as { readonly path: string } | undefined;
}

const CHAT = '/v1/chat/completions';

describe('a condition on the path holds for every spelling that is served', () => {
  it.each([
    [CHAT, 'chat', CHAT],
    ['/V1/Chat/Completions', 'chat', CHAT],
    ['/v1/chat/completions/', 'chat', CHAT],
    ['/v1/chat/completions#f', 'chat', CHAT],
    ['/v1/chat/completions/#', 'chat', CHAT],
    ['/v1/chat/completions?x=1#f', 'chat', CHAT],
    ['/v1/chat/completions?', 'chat', CHAT],
    ['/v1/chat/completions?/v1/messages', 'chat', CHAT],
    ['/V1/CHAT/COMPLETIONS/?path=/v1/messages', 'chat', CHAT],
    ['http://gateway/v1/chat/completions', 'chat', CHAT],
    ['HTTP://other:99/V1/chat/completions/?x#f', 'chat', CHAT],
    ['https://gateway/v1/chat/completions', 'chat', CHAT],
    ['http://user@gateway/v1/chat/completions', 'chat', CHAT],
    ['/V1/Messages/', 'messages', '/v1/messages'],
    ['/v1/messages?beta=true', 'messages', '/v1/messages'],
    ['/v1/EMBEDDINGS#', 'embeddings', '/v1/embeddings'],
  ])('%s', async (target, model, path) => {
    expect(await post(target)).toEqual({ status: 200, model, logged: path, route: path });
  });

  it.each([
    '//v1/chat/completions',
    '/v1//chat/completions',
    '/v1/chat/completions//',
    '/v1/%63hat/completions',
    '/%76%31/chat/completions',
    '/v1/chat%2Fcompletions',
    '/v1/chat/completions%23f',
    '/v1/./chat/completions',
    '/v1/messages/../chat/completions',
    '/v1/messages/%2e%2e/chat/completions',
    '/v1/chat/completions/.',
    '/v1/chat/completions;x=1',
    '/v1/chat;x/completions',
    '/v1\\chat\\completions',
    '/v1\\chat\\completions#f',
    '/v1/chat/completions\u00a0',
    '/v1/chat/completions\t',
    '/v1/chat/completions%00',
    '/v1/ſ',
    'http://gateway//v1/chat/completions',
    'http://gateway',
    'ftp://gateway/v1/chat/completions',
  ])('%j is another path, and a 404 or no HTTP', async (target) => {
    const { status, model } = await post(target);
    expect([400, 404]).toContain(status);
    expect(model).toBeUndefined();
  });
});
