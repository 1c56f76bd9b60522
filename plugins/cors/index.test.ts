import { describe, expect, it } from 'vitest';
import { HeaderNames } from '../../src/core/http/gateway/header-names.ts';
import { GatewayError } from '../../src/plugin/index.ts';
import { createExchange, runPlugin } from '../../src/plugin/testing/index.ts';
import cors from './index.ts';

const PAGE = 'https://chat.example.com';
const noRoute = (): GatewayError => new GatewayError('method_not_allowed', 'no');

async function preflight(origin: string, { options = {}, error = noRoute(), asked = 'authorization, x-own' } = {}) {
  const headers = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': asked };
  const exchange = createExchange({ headers, error });
  Object.assign(exchange.request, { method: 'OPTIONS' });
  const run = await runPlugin(cors, { exchange, options: { origins: [PAGE], ...options } });
  return { run, exchange, reply: exchange.reply };
}

async function replyTo(origin: string | undefined, headers: Record<string, string> = {}, options = {}) {
  const exchange = createExchange({ headers: origin === undefined ? {} : { origin } });
  const run = await runPlugin(cors, {
    exchange,
    options: { origins: [PAGE], ...options },
    next: () => void (exchange.reply = { status: 200, headers, body: Buffer.alloc(0), stream: false }),
  });
  return { run, headers: exchange.reply!.headers };
}

describe('cors', () => {
  it('answers the preflight of a listed origin and calls nothing after it', async () => {
    const { run, exchange, reply } = await preflight(PAGE);
    expect(run.nextCalls).toBe(0);
    expect(exchange.error).toBeUndefined();
    expect(reply).toMatchObject({ status: 204, body: Buffer.alloc(0) });
    expect(reply?.headers).toEqual({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': 'authorization, x-own',
      'access-control-max-age': '600',
      vary: 'Access-Control-Request-Headers, Origin',
    });
    expect(run.explain()?.does).toBe(`answers the preflight of ${PAGE}`);
  });

  it.each([
    ['another origin', 'https://evil.example.com'],
    ['a subdomain', 'https://a.chat.example.com'],
    ['another scheme', 'http://chat.example.com'],
    ['another port', 'https://chat.example.com:8443'],
    ['an origin that begins with a listed one', `${PAGE}.evil.example`],
    ['the opaque origin', 'null'],
  ])('leaves the preflight of %s to the chain', async (_, origin) => {
    const { run, reply } = await preflight(origin);
    expect(run.nextCalls).toBe(1);
    expect(reply?.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('takes back no refusal but that of a missing route', async () => {
    const { run } = await preflight(PAGE, { error: new GatewayError('shutting_down', 'The gateway stops.') });
    expect(run.nextCalls).toBe(1);
  });

  it('names the methods, headers and age of its options, and repeats nothing that is no list of names', async () => {
    const options = { methods: ['POST'], headers: ['authorization'], max_age: '2h', credentials: true };
    const { reply } = await preflight(PAGE, { options });
    expect(reply?.headers).toMatchObject({
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization',
      'access-control-allow-credentials': 'true',
      'access-control-max-age': '7200',
    });
    await expect(preflight(PAGE, { options: { max_age: '25h' } })).rejects.toThrow('`max_age` must be at most 24h');
    const odd = await preflight(PAGE, { asked: 'a, b: c' });
    expect(odd.reply?.headers).not.toHaveProperty('access-control-allow-headers');
  });

  it('lets a listed page read the reply and every header of the gateway', async () => {
    const { headers, run } = await replyTo(PAGE, { vary: 'accept' }, { expose: ['x-own'] });
    expect(headers).toMatchObject({ 'access-control-allow-origin': PAGE, vary: 'accept, Origin' });
    const exposed = headers['access-control-expose-headers']!.split(', ');
    const own = Object.values(new HeaderNames(['x-gateway-']).response({}));
    expect(exposed).toEqual(expect.arrayContaining([...own, 'x-request-id', 'request-id', 'retry-after', 'x-own']));
    expect(new Set(exposed).size).toBe(exposed.length);
    expect(run.explain()?.does).toBe(`lets pages of ${PAGE} read the reply`);
  });

  it('gives no page an upstream’s permission, and varies every reply by origin', async () => {
    const upstream = { 'access-control-allow-origin': '*', 'access-control-allow-credentials': 'true' };
    for (const origin of ['https://evil.example.com', undefined]) {
      const { headers } = await replyTo(origin, upstream);
      expect(headers).toEqual({ vary: 'Origin' });
    }
    expect((await replyTo(undefined, { vary: 'Accept, Origin' })).headers).toEqual({ vary: 'Accept, Origin' });
  });

  it('allows cookies only with `credentials`', async () => {
    const name = 'access-control-allow-credentials';
    expect((await replyTo(PAGE, {}, { credentials: true })).headers[name]).toBe('true');
    expect((await replyTo(PAGE)).headers).not.toHaveProperty(name);
  });

  it.each(['*', 'chat.example.com', 'https://Chat.example.com', 'https://chat.example.com/', 'null'])(
    'refuses %s as an origin',
    async (origin) => {
      const exchange = createExchange();
      await expect(runPlugin(cors, { exchange, options: { origins: [origin] } })).rejects.toThrow();
    },
  );
});
