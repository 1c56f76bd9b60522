import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { KEY, startTestGateway, until } from '../support/gateway.ts';
import { startPair, type Pair } from '../support/pair.ts';
import { json, openaiReply, startUpstream, type SeenRequest, type ScriptedUpstream } from '../support/upstream.ts';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
/** USD per million tokens: each answer costs 0.01 USD. */
const prices = { prices: [{ model: 'm*', usd: { input: 0, output: 10 } }] };
const usage = { usage: { prompt_tokens: 10, completion_tokens: 1000, total_tokens: 1010 } };

async function startReceiver(script: (res: ServerResponse) => void): Promise<ScriptedUpstream> {
  const receiver = await startUpstream((_, res) => script(res));
  onTestFinished(() => receiver.close());
  return receiver;
}

const webhook = (id: string, { url }: { readonly url: string }, more: object = {}) => ({
  id,
  url: `\${env:NONE:-${url}/hook/secret-path}`,
  secret: `\${env:NONE:-${SECRET}}`,
  allow_insecure: true,
  ...more,
});

const startSpender = (alerts: object): Promise<Pair> =>
  startPair((_, res) => json(res, openaiReply('ok', usage)), {
    prices,
    server: { alerts },
    keys: { keys: [{ id: 'test', key: `\${env:NONE:-${KEY}}`, team: 'search' }] },
    teams: {
      organizations: { acme: {} },
      teams: { search: { organization: 'acme', budgets: [{ cap: '0.024 USD', period: 'month' }] } },
    },
  });

const ask = async ({ gateway }: Pair, model = '@openai/m'): Promise<number> => {
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
    body: JSON.stringify({ model, max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }] }),
  });
  await reply.arrayBuffer();
  return reply.status;
};

type Verify = (headers: SeenRequest['headers'], body: string, secret: string) => object | undefined;

/** The example of docs/operate/alerts.md. */
async function documentedVerifier(): Promise<Verify> {
  const text = readFileSync(packageFile('docs/operate/alerts.md'), 'utf8');
  const [, code = ''] = /^```js\n([\s\S]*?)^```/m.exec(text) ?? [];
  const file = packageFile('node_modules/.cache/gatehouse-docs/verified-event.mjs');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, code);
  const { verifiedEvent } = (await import(pathToFileURL(file).href)) as { verifiedEvent: Verify };
  return verifiedEvent;
}

it('A webhook gets the alert of a budget once, as docs/operate/alerts.md describes it, and its signature holds', async () => {
  const receiver = await startReceiver((res) => res.writeHead(204).end());
  const pair = await startSpender({ webhooks: [webhook('ops', receiver)] });
  expect([await ask(pair), await ask(pair)]).toEqual([200, 200]);
  await until(() => receiver.seen.length > 0, 'the alert has come');
  const [{ headers, text }] = receiver.seen as [SeenRequest];
  const verify = await documentedVerifier();
  expect(verify(headers, text, SECRET)).toMatchObject({
    id: headers['webhook-id'],
    type: 'budget',
    nodes: ['team:search', 'organization:acme'],
    text: 'The budget team:search:month:usd has reached 80 % of 0.024 USD.',
    data: {
      budget: 'team:search:month:usd',
      percent: 80,
      unit: 'usd',
      cap: 0.024,
      spent: 0.02,
      held: 0,
      period: 'month',
    },
  });
  expect(verify(headers, `${text} `, SECRET)).toBeUndefined();
  expect(verify(headers, text, OTHER_SECRET)).toBeUndefined();
  expect(verify({ ...headers, 'webhook-timestamp': '1700000000' }, text, SECRET)).toBeUndefined();
  expect(pair.gateway.logs.filter(({ alert }) => alert === 'budget')).toMatchObject([{ percent: 80 }]);
  expect(pair.gateway.logText()).not.toMatch(/secret-path|whsec_/);
  const metrics = await (await fetch(`${pair.gateway.statusUrl}/metrics`)).text();
  expect(metrics).toContain('gatehouse_budget_alerts_total{budget="team:search:month:usd",percent="80"} 1');
  expect(metrics).toContain('gatehouse_webhook_tries_total{webhook="ops",result="success"} 1');
}, 20_000);

it('Receivers that hang, answer without end, redirect, fail or are refused addresses hold up no request, no other receiver and no shutdown', async () => {
  const target = await startReceiver((res) => res.end());
  const endless = (res: ServerResponse): void => {
    res.writeHead(200);
    const more = (): void => void (res.destroyed || res.write('x'.repeat(65_536), () => setImmediate(more)));
    more();
  };
  const receivers = {
    hangs: await startReceiver(() => {}),
    drips: await startReceiver((res) => void setInterval(() => res.write(' '), 100).unref()),
    endless: await startReceiver(endless),
    redirects: await startReceiver((res) => res.writeHead(307, { location: target.url }).end()),
    fails: await startReceiver((res) => res.writeHead(503).end()),
    good: await startReceiver((res) => res.end('thanks')),
  };
  // Without `allow_insecure`, an address of the own network is refused when it is connected to, whatever its name.
  const refused = { ...webhook('refused', { url: 'https://alerts.example' }), allow_insecure: false };
  const upstream = await startUpstream((_, res) => json(res, openaiReply('ok', usage)));
  onTestFinished(() => upstream.close());
  const gateway = await startTestGateway(
    {
      prices,
      catalog: {
        providers: [
          {
            slug: 'openai',
            provider: 'openai',
            api_key: '${env:NONE:-k}',
            base_url: `${upstream.url}/v1`,
            allow_insecure: true,
          },
        ],
      },
      server: { alerts: { webhooks: [...Object.entries(receivers).map(([id, one]) => webhook(id, one)), refused] } },
      keys: { keys: [{ id: 'test', key: `\${env:NONE:-${KEY}}`, budgets: [{ cap: '0.024 USD', period: 'month' }] }] },
    },
    { lookup: () => Promise.resolve(['127.0.0.1']) },
  );
  const pair = { gateway, upstream };
  expect([await ask(pair), await ask(pair)]).toEqual([200, 200]);
  await until(() => Object.values(receivers).every(({ seen }) => seen.length > 0), 'all were tried');
  const from = performance.now();
  expect(await ask(pair, '@openai/m-free')).toBe(429);
  const delivered = 'gatehouse_webhook_tries_total{webhook="good",result="success"} 2';
  await until(
    async () => (await (await fetch(`${gateway.statusUrl}/metrics`)).text()).includes(delivered),
    'the good one has the alert and the refusal',
  );
  await gateway.gateway.close();
  // A receiver that hangs has 10 s for each try.
  expect(performance.now() - from).toBeLessThan(9_000);
  const dead = gateway.logs.filter(({ msg }) => msg === 'an alert could not be delivered to its webhook');
  const failures = new Map(dead.map(({ webhook: id, failure }) => [id, failure]));
  expect([...failures.keys()].toSorted()).toEqual(['drips', 'endless', 'fails', 'hangs', 'redirects', 'refused']);
  expect([failures.get('redirects'), failures.get('fails')]).toEqual(['HTTP 307', 'HTTP 503']);
  expect(failures.get('refused')).toMatch(/special-purpose address \(loopback/);
  expect(failures.get('endless')).toMatch(/exceeds 16384 bytes/);
  expect([target.seen.length, receivers.good.seen.length]).toEqual([0, 2]);
  expect(dead[0]).toMatchObject({ reason: 'shutdown', event: { type: 'budget', data: { percent: 80 } } });
  await gateway.close();
}, 30_000);

it('A model without a known price is alerted where a webhook asks for it', async () => {
  const receiver = await startReceiver((res) => res.end());
  const pair = await startPair((_, res) => json(res, openaiReply('ok', usage)), {
    server: { alerts: { webhooks: [webhook('ops', receiver, { kinds: ['unknown_price'] })] } },
  });
  for (let at = 0; at < 3; at += 1) expect(await ask(pair, '@openai/without-a-price')).toBe(200);
  await until(() => receiver.seen.length > 0, 'the alert has come');
  expect(receiver.seen.map(({ json: event }) => event)).toMatchObject([
    { type: 'unknown_price', nodes: [], data: { entry: 'openai', model: 'without-a-price', reason: 'model' } },
  ]);
});

it('Settings of webhooks that cannot work are refused at their place, without the address', async () => {
  const wrong = (more: object) => webhook('w', { url: 'http://127.0.0.1:1' }, more);
  const server = {
    alerts: {
      webhooks: [
        wrong({ allow_insecure: false }),
        { ...wrong({ secret: '${env:NONE:-short}' }), id: 'x' },
        { ...wrong({ url: '${env:NONE:-nowhere}' }), id: 'y' },
        { ...wrong({}), id: 'w', nodes: ['team:serch'] },
      ],
    },
  };
  const refused: unknown = await startTestGateway({ server, teams: { teams: { search: {} } } }).catch(
    (error: unknown) => error,
  );
  const { diagnostics } = refused as {
    diagnostics: readonly { readonly message: string; readonly severity: string }[];
  };
  const messages = diagnostics.map(({ message }) => message);
  expect(messages).toEqual([
    'the address of the webhook is plain http: use https, or set `allow_insecure: true`',
    expect.stringContaining('the secret is not `whsec_`') as string,
    'the address of the webhook is not a URL such as https://hooks.example.com/alerts',
    'two webhooks have the id `w`: give each its own',
    'there is no team `serch` in teams.yaml, so this webhook gets no alert of it',
  ]);
  expect(messages.join(' ')).not.toMatch(/127\.0\.0\.1|secret-path/);
});
