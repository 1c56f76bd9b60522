import { onTestFinished } from 'vitest';
import { startTestGateway, until, type TestGateway, type TestSettings } from '../support/gateway.ts';
import { startRedis, type RedisServer } from '../support/redis.ts';
import { entriesFor, startUpstream, type Script, type ScriptedUpstream } from '../support/upstream.ts';

export const KEYS = { free: 'key-free-0123456789', other: 'key-other-0123456789', limited: 'key-limited-0123456789' };

interface FleetSetup extends TestSettings {
  /** Limits of the key `limited`. */
  readonly limits?: object;
  /** Beside `store` and `shared` in `state`. */
  readonly state?: object;
  /** Number of gateways. */
  readonly size?: number;
  /** Flags of redis-server. */
  readonly flags?: readonly string[];
  /** The server refuses the gateways. */
  readonly isRefused?: boolean;
  /** The address that a gateway uses. */
  readonly url?: (redis: RedisServer, at: number) => string | Promise<string>;
}

export interface Fleet {
  readonly redis: RedisServer;
  readonly upstream: ScriptedUpstream;
  readonly a: TestGateway;
  readonly b: TestGateway;
  readonly gateways: readonly TestGateway[];
}

/** Two gateways, or more, with the same settings before one upstream and one server; all end with the test. */
export async function startFleet(script: Script, setup: FleetSetup = {}): Promise<Fleet> {
  const { limits, state, flags, url, isRefused, server, size = 2, ...settings } = setup;
  const redis = await startRedis(() => flags ?? []);
  onTestFinished(() => redis.stop());
  const upstream = await startUpstream(script);
  onTestFinished(() => upstream.close());
  const all = {
    catalog: { providers: entriesFor(upstream.url) },
    keys: {
      keys: Object.entries(KEYS).map(([id, key]) => ({
        id,
        key: `\${env:NONE:-${key}}`,
        ...(id === 'limited' && limits && { limits }),
      })),
    },
    ...settings,
  };
  const gateways: TestGateway[] = [];
  for (let at = 0; at < size; at += 1) {
    const shared = { type: 'redis', url: `\${env:NONE:-${(await url?.(redis, at)) ?? redis.url}}` };
    const own = { ...(typeof server === 'object' && server), state: { store: { type: 'memory' }, ...state, shared } };
    const gateway = await startTestGateway({ ...all, server: own });
    onTestFinished(() => gateway.close());
    gateways.push(gateway);
  }
  for (const one of isRefused ? [] : gateways)
    await until(async () => (await metricOf(one, 'gatehouse_shared_up')) === 1, 'the server answers');
  return { redis, upstream, a: gateways[0]!, b: gateways[1]!, gateways };
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

export async function ask(
  { url }: Pick<TestGateway, 'url'>,
  path: string,
  { key = KEYS.free, body, method }: { readonly key?: string; readonly body?: object; readonly method?: string } = {},
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method: method ?? (body ? 'POST' : 'GET'),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

export const chat = (gateway: TestGateway, content: string, key?: string): Promise<Answer> =>
  ask(gateway, '/v1/chat/completions', {
    ...(key !== undefined && { key }),
    body: { model: '@openai/gpt-x', messages: [{ role: 'user', content }] },
  });

/** The sum of the series of a metric that have these labels. */
export async function metricOf({ statusUrl }: TestGateway, name: string, labels = ''): Promise<number> {
  const text = await (await fetch(`${statusUrl}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith(name) && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** Answers that did not come within 100 ms: on a machine that stands still for so long, each gateway falls back to its own part. */
export const slowAnswers = async (...gateways: readonly TestGateway[]): Promise<number> =>
  (await Promise.all(gateways.map((one) => metricOf(one, 'gatehouse_shared_commands_total', 'result="slow"')))).reduce(
    (sum, one) => sum + one,
    0,
  );
