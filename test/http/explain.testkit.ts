import { request, type IncomingHttpHeaders } from 'node:http';
import { expect, onTestFinished } from 'vitest';
import type { Explanation } from '../../src/addons/explain/explanation/explanation.ts';
import { memoryFiles } from '../../src/core/settings/source/files.ts';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startPair, type Pair, type PairSetup } from '../support/pair.ts';
import {
  anthropicReply,
  entriesFor,
  json,
  openaiReply,
  startUpstream,
  type Script,
  type SeenRequest,
} from '../support/upstream.ts';
import type { ExplainedRequest } from '../../src/addons/explain/explain/explanation-text.ts';

/** Questions to the admin listener, and requests that can be explained, against a gateway before a scripted upstream. */
export const EXPLAIN = '/admin/v1/explain';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

export function admin({ gateway }: TestGateway, path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  return new Promise<Answer>((resolve, reject) => {
    request(gateway.admin!.url + path, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>,
        }),
      );
    })
      .on('error', reject)
      .end(body);
  });
}

export const JSON_TYPE = { 'content-type': 'application/json' };

export const ask = (
  gateway: TestGateway,
  question: object | string,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  admin(gateway, EXPLAIN, {
    method: 'POST',
    headers: { ...JSON_TYPE, ...headers },
    body: typeof question === 'string' ? question : JSON.stringify(question),
  });

export const explainedAs = async (gateway: TestGateway, id: string): Promise<ExplainedRequest> => {
  const { status, text } = await admin(gateway, `${EXPLAIN}/${id}?texts=true`);
  expect(status, text).toBe(200);
  return JSON.parse(text) as ExplainedRequest;
};

export interface Call {
  readonly path?: string;
  readonly config?: string;
  readonly headers?: Record<string, string>;
  readonly body?: object;
}

export const begin = (
  { url }: TestGateway,
  { path = '/v1/chat/completions', config, headers, body }: Call = {},
): Promise<Response> =>
  fetch(url + path, {
    method: 'POST',
    headers: {
      ...JSON_TYPE,
      'x-gateway-api-key': KEY,
      ...(config !== undefined && { 'x-gateway-config': config }),
      ...headers,
    },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }),
  });

export async function call(gateway: TestGateway, parts: Call = {}) {
  const response = await begin(gateway, parts);
  await response.arrayBuffer();
  return { status: response.status, id: response.headers.get('x-gateway-explain-id')! };
}

/** Answers in the format of the path; the models named `busy…` fail. */
export const answering: Script = (seen, res) => {
  if (String(seen.json['model']).startsWith('busy')) return json(res, { error: { message: 'busy' } }, 503);
  return json(res, seen.url.includes('/messages') ? anthropicReply('hi') : openaiReply('hi'));
};

export const target = (provider: string, model: string, more: object = {}): object => ({
  provider,
  override_params: { model },
  ...more,
});

export const asked = (config: object): object => ({ reply_headers: ['explain_id'], ...config });
export const single = asked(target('@openai', 'gpt-5'));

export const startWith = (setup: PairSetup, script: Script = answering): Promise<Pair> => startPair(script, setup);

/** Headers of the connection, and those whose value differs each time. */
const UNTOLD = new Set([
  'host',
  'connection',
  'content-length',
  'accept-encoding',
  'authorization',
  'x-api-key',
  'traceparent',
]);

const headersSeen = ({ headers }: SeenRequest): Record<string, unknown> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !UNTOLD.has(name)));

const headersTold = ({ outbound }: Explanation['targets'][number]): Record<string, unknown> =>
  Object.fromEntries(outbound!.headers.flatMap(({ name, value }) => (UNTOLD.has(name) ? [] : [[name, value]])));

/** The explanation's targets begin with those that were really asked, each with what it was really sent. */
export function expectSame(
  { targets }: Explanation,
  { upstream }: Pair,
  seen: readonly SeenRequest[] = upstream.seen,
): void {
  expect(seen.length).toBeGreaterThan(0);
  for (const [index, sent] of seen.entries()) {
    const reported = targets[index]!;
    const { method, url, body } = reported.outbound!;
    expect({ method, url, body }).toEqual({ method: sent.method, url: upstream.url + sent.url, body: sent.json });
    expect(headersTold(reported)).toEqual(headersSeen(sent));
  }
}

export const two = [target('@openai', 'busy-1'), target('@openai', 'gpt-5')];
export const three = ['a', 'b', 'c'].map((model) => target('@openai', model));

/** A gateway whose one config is written anew by the test. */
export async function startWritable() {
  const texts: Record<string, string> = {};
  const upstream = await startUpstream(answering);
  onTestFinished(() => upstream.close());
  const loopback = { host: '127.0.0.1', port: 0 };
  const write = (model: string, server: object = {}, comment = ''): void => {
    const files = {
      server: {
        listen: loopback,
        status: loopback,
        admin: { port: 0, content: true },
        reload: { watch: false, debounce: '1ms' },
        ...server,
      },
      catalog: { providers: entriesFor(upstream.url) },
      keys: { keys: [{ id: 'test', key: KEY }] },
      'gateway/it': asked(target('@openai', model)),
    };
    for (const [name, value] of Object.entries(files)) texts[`configs/${name}.yaml`] = comment + JSON.stringify(value);
  };
  write('m');
  const gateway = await startTestGateway({}, { configs: 'configs', files: memoryFiles(texts) });
  onTestFinished(() => gateway.close());
  return { upstream, gateway, write };
}
