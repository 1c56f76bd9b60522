import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { startPair, type Pair } from '../support/pair.ts';
import { json, openaiReply } from '../support/upstream.ts';
import { KEY } from '../support/gateway.ts';

const KEYS = { here: 'here-key-0123456789', office: 'office-key-0123456789' };

const start = (server: object) =>
  startPair(
    (_, res) => json(res, openaiReply('hi')),
    (url) => ({
      server,
      catalog: {
        providers: [
          { slug: 'up', provider: 'openai', base_url: `${url}/v1`, allow_insecure: true, api_key: 'vendor-key-0123' },
        ],
      },
      keys: {
        keys: [
          { id: 'any', key: KEY },
          { id: 'here', key: KEYS.here, networks: ['127.0.0.0/8', '::1/128'] },
          { id: 'office', key: KEYS.office, networks: ['198.51.100.0/24', '2001:db8:9::/48'] },
        ],
      },
    }),
  );

/** Headers as pairs, so that one name can have several lines. */
function ask({ gateway }: Pair, key: string, headers: readonly [string, string][]): Promise<number> {
  const body = JSON.stringify({ model: '@up/m', messages: [{ role: 'user', content: 'hi' }] });
  const { hostname, port } = new URL(gateway.url);
  const own: [string, string][] = [
    ['Host', `${hostname}:${port}`],
    ['content-type', 'application/json'],
    ['content-length', String(body.length)],
    ['x-gateway-api-key', key],
  ];
  return new Promise((resolve, reject) => {
    request({
      hostname,
      port,
      path: '/v1/chat/completions',
      method: 'POST',
      agent: false,
      headers: [...own, ...headers].flat(),
    })
      .on('error', reject)
      .on('response', (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      })
      .end(body);
  });
}

const clientIps = ({ gateway }: Pair): unknown[] =>
  gateway.logs.filter(({ route }) => route !== undefined).map(({ client_ip: ip }) => ip);

describe('behind a trusted proxy', () => {
  // The test's own connections come from 127.0.0.1, which stands for the proxy.
  const TRUSTED = { trusted_proxies: ['127.0.0.1/32', '10.0.0.0/24'] };

  it('networks of keys and the access log go by the address of the client', async () => {
    const pair = await start(TRUSTED);
    const asked: [string, [string, string][], number, string][] = [
      [KEYS.office, [['X-Forwarded-For', '198.51.100.7']], 200, '198.51.100.7'],
      [KEYS.office, [['X-Forwarded-For', '6.6.6.6, 198.51.100.7, 10.0.0.3']], 200, '198.51.100.7'],
      [KEYS.office, [['Forwarded', 'for="[2001:db8:9::1]:4711";proto=https']], 200, '2001:db8:9::1'],
      // Two lines of one name are one list, in their order.
      [
        KEYS.office,
        [
          ['X-Forwarded-For', '6.6.6.6'],
          ['x-forwarded-for', '198.51.100.7'],
        ],
        200,
        '198.51.100.7',
      ],
      [
        KEYS.office,
        [
          ['X-Forwarded-For', '198.51.100.7'],
          ['x-forwarded-for', '6.6.6.6'],
        ],
        403,
        '6.6.6.6',
      ],
      [KEYS.office, [['X-Forwarded-For', '198.51.100.7, 203.0.113.9']], 403, '203.0.113.9'],
      [
        KEYS.office,
        [
          ['X-Forwarded-For', '198.51.100.7'],
          ['Forwarded', 'for=203.0.113.9'],
        ],
        403,
        'unknown',
      ],
      [KEYS.office, [['X-Forwarded-For', 'nonsense']], 403, 'unknown'],
      [KEY, [['X-Forwarded-For', 'nonsense']], 200, 'unknown'],
      [KEYS.office, [], 403, '127.0.0.1'],
      [KEYS.here, [], 200, '127.0.0.1'],
    ];
    for (const [key, headers, status] of asked) expect(await ask(pair, key, headers), String(headers)).toBe(status);
    await expect.poll(() => clientIps(pair)).toEqual(asked.map(([, , , ip]) => ip));
  });

  it('a key that is for this machine only is not opened by a header', async () => {
    const pair = await start(TRUSTED);
    for (const claim of [
      '127.0.0.1',
      '::1',
      '[::1]:80',
      '::ffff:127.0.0.1',
      '127.0.0.1, 127.0.0.1',
      '127.0.0.1, 6.6.6.6',
      '0.0.0.0',
      'localhost',
    ])
      expect(await ask(pair, KEYS.here, [['X-Forwarded-For', claim]]), claim).toBe(403);
    for (const claim of ['for=127.0.0.1', 'for="[::1]"', 'for=127.0.0.1, for=6.6.6.6', 'for=unknown'])
      expect(await ask(pair, KEYS.here, [['Forwarded', claim]]), claim).toBe(403);
  });

  it('the header counts although `connection` names it, which would hide the client', async () => {
    const pair = await start(TRUSTED);
    const headers: [string, string][] = [
      ['connection', 'close, x-forwarded-for'],
      ['x-forwarded-for', '6.6.6.6'],
    ];
    expect(await ask(pair, KEYS.here, headers)).toBe(403);
  });
});

describe('without trusted proxies', () => {
  it('no header says where a request comes from', async () => {
    const pair = await start({});
    for (const name of ['X-Forwarded-For', 'Forwarded', 'X-Real-IP']) {
      expect(await ask(pair, KEYS.office, [[name, name === 'Forwarded' ? 'for=198.51.100.7' : '198.51.100.7']])).toBe(
        403,
      );
      expect(await ask(pair, KEYS.here, [[name, '6.6.6.6']])).toBe(200);
    }
    await expect.poll(() => clientIps(pair)).toEqual(Array.from({ length: 6 }, () => '127.0.0.1'));
  });
});
