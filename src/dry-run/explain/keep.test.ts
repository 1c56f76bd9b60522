import { expect, it } from 'vitest';
import { systemClock, type GatewayContext } from '../../plugin/index.ts';
import { compileGatewayConfig } from '../../settings/compile/gateway-config.ts';
import { compileServerSettings } from '../../settings/compile/server-settings.ts';
import { HttpExchange } from '../../gateway/exchange.ts';
import { HeaderNames } from '../../gateway/header-names.ts';
import { inboundContext } from './inbound.ts';
import { createKeeper, type KeeperSetup } from './keep.ts';
import { KeptRequests } from './kept-requests.ts';

const server = compileServerSettings({ admin: { explain: 'all' } });
const CREDENTIAL = 'canary-of-the-caller-0123';

/** The stored question of a request. */
function keptOf(path: string, headers: Readonly<Record<string, string>>) {
  const kept = new KeptRequests();
  // Never called here.
  const explainer = { hold() {}, release() {} } as KeeperSetup['explainer'];
  const keep = createKeeper({ kept, explainer, health: { peek: () => undefined }, clock: systemClock }, server)!;
  const { req } = inboundContext({ method: 'POST', path, headers, body: Buffer.alloc(0) });
  const snapshot = { hash: '', headerNames: new HeaderNames(['x-gateway-']), server };
  const exchange = new HttpExchange(req, {
    operation: undefined,
    clientFormat: undefined,
    params: {},
    snapshot,
    clock: systemClock,
  });
  const config = compileGatewayConfig('it', {});
  exchange.config = config;
  keep(config, { exchange } as unknown as GatewayContext);
  return kept.find(exchange.explainId!)!.question;
}

it.each<[string, string, Readonly<Record<string, string>>]>([
  ['the query', `/v1/chat/completions?key=${CREDENTIAL}`, {}],
  ['a header for credentials', '/v1/chat/completions', { 'x-gateway-api-key': CREDENTIAL, cookie: `a=${CREDENTIAL}` }],
  [
    'another header that quotes it',
    '/v1/chat/completions',
    { 'x-api-key': CREDENTIAL, 'x-note': `I am ${CREDENTIAL}` },
  ],
])('a credential in %s is not stored with a request', (_, path, headers) => {
  const question = keptOf(path, { 'x-tenant': 'eu', ...headers });
  expect(JSON.stringify(question)).not.toContain(CREDENTIAL);
  expect(question).toMatchObject({ path: '/v1/chat/completions', headers: { 'x-tenant': 'eu' } });
});
