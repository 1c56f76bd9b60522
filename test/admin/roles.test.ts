import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROLES, type Role } from '../../src/addons/admin/api/roles.ts';
import {
  byOperation,
  OPERATIONS,
  resourceOf,
  ROUTES,
  type ObjectKind,
  type OperationId,
} from '../../src/addons/admin/api/routes.ts';
import { CALLS } from './calls.ts';
import { chat, startAdmin, type AdminGateway } from './kit.ts';
import { openStream } from './live.testkit.ts';

const reads = ['200', '200', '200'] as const;
const absent = ['404 not_found', '404 not_found', '404 not_found'] as const;
const ofStore = ['409 no_store', '409 no_store', '409 no_store'] as const;
const asks = ['403 forbidden', '200', '200'] as const;
const creates = ['403 forbidden', '403 forbidden', '409 no_store'] as const;
const changes = ['403 forbidden', '403 forbidden', '404 not_found'] as const;
const changesFile = ['403 forbidden', '403 forbidden', '409 owned_by_files'] as const;
const withoutContent = ['403 forbidden', '403 forbidden', '403 forbidden'] as const;
const turnsFile = ['403 forbidden', '409 owned_by_files', '409 owned_by_files'] as const;

type Cells = readonly [viewer: string, operator: string, admin: string];

const ofKind = <const Kind extends ObjectKind>(kind: Kind, get: Cells, change: Cells) =>
  byOperation<Kind, Cells>(kind, { list: reads, get, create: creates, patch: change, delete: change });

/** The outcome for each role on this machine, without a token, at a gateway without a store. The type leaves no cell empty. */
const TABLE: Readonly<Record<OperationId, Cells>> = {
  ...ofKind('organizations', absent, changes),
  ...ofKind('teams', reads, changesFile),
  ...ofKind('keys', reads, changesFile),
  ...ofKind('limits', absent, changes),
  ...ofKind('budgets', absent, changes),
  ...ofKind('prices', absent, changes),
  ...ofKind('alerts', absent, changes),
  ...ofKind('providers', reads, changesFile),
  ...ofKind('prompts', absent, changes),
  'prompts.release': changes,
  'prompts.promote': changes,
  'prompts.render': ['200', '200', '200'],
  'prompts.run': asks,
  'prompts.draft': asks,
  ...ofKind('configs', reads, changesFile),
  'keys.rotate': turnsFile,
  'keys.revoke': turnsFile,
  'budgets.adjust': ['403 forbidden', '409 no_store', '409 no_store'],
  'usage.list': ofStore,
  'ledger.list': ofStore,
  'audit.list': ofStore,
  'audit.verify': ofStore,
  'tokens.list': ['403 forbidden', '403 forbidden', '200'],
  'tokens.get': changes,
  'tokens.create': creates,
  'tokens.delete': changes,
  'whoami.get': reads,
  'replicas.list': reads,
  'requests.list': reads,
  'requests.get': reads,
  'requests.costs': reads,
  'requests.explain': reads,
  'requests.explained': reads,
  'requests.test': reads,
  'requests.curl': reads,
  'captures.list': withoutContent,
  'captures.get': ['403', '403', '403'],
  'captures.start': withoutContent,
  'captures.delete': withoutContent,
  'session.get': reads,
  'session.create': ['401 unauthorized', '401 unauthorized', '401 unauthorized'],
  'session.delete': ['204', '204', '204'],
  'settings.get': reads,
  'settings.file': reads,
  'settings.places': reads,
  'settings.names': reads,
  'settings.history': reads,
  'settings.validate': reads,
  'settings.patch': reads,
  'schemas.get': reads,
  'settings.effect': reads,
  'settings.tests': asks,
  'find.list': reads,
  'stream.get': reads,
  'stats.get': reads,
  'providers.kinds': reads,
  'providers.test': asks,
  'providers.draft': asks,
  'keys.draft': asks,
  'prices.draft': asks,
  'prompt-cache.get': reads,
  'playground.create': asks,
  'alerts.fired': reads,
  'alerts.test': ['403 forbidden', '404 not_found', '404 not_found'],
  'plugins.list': reads,
  'people.list': ['403 forbidden', '403 forbidden', '200'],
  'openapi.get': reads,
};

/** Objects of the files; others are absent. */
const IDS: Readonly<Record<string, string>> = { teams: 'search', keys: 'test', providers: 'sim', configs: 'default' };

const gateways = new Map<Role, AdminGateway>();
const explainIds = new Map<Role, string>();

beforeAll(async () => {
  for (const role of ROLES) {
    const admin = await startAdmin({
      state: null,
      admin: { role, explain: 'all' },
      teams: { teams: { search: { budgets: [{ cap: '5 USD', period: 'month' }] } } },
      gateway: { default: { provider: '@sim', reply_headers: ['explain_id'] } },
    });
    gateways.set(role, admin);
    const served = await chat(admin, { 'x-request-id': 'served' });
    explainIds.set(role, served.headers.get('x-gateway-explain-id')!);
  }
});
afterAll(() => Promise.all([...gateways.values()].map((admin) => admin.close())));

async function outcome(id: OperationId, role: Role): Promise<string> {
  const admin = gateways.get(role)!;
  const { path, body } = CALLS[id];
  const target = path.replace('EXPLAIN_ID', explainIds.get(role)!).replace('ID', IDS[resourceOf(id)] ?? 'none');
  const { method, changes: isChange, streams } = ROUTES[id];
  if (streams !== undefined && method === 'GET') {
    const stream = await openStream(`${admin.gateway.admin!.url}/admin/v1${target}`);
    stream.close();
    return String(stream.status);
  }
  const sent: unknown = body && JSON.parse(JSON.stringify(body).replace('NEW', 'fresh'));
  const headers = isChange ? { 'if-match': '*' } : {};
  const { status, json } = await admin.ask(method, target, { body: sent, headers });
  return status < 300 ? String(status) : `${status} ${json.code}`;
}

describe.each(OPERATIONS)('%s', (id) => {
  it('has the outcome of the table for each role', async () => {
    const found: string[] = [];
    for (const role of ROLES) found.push(await outcome(id, role));
    expect(found).toEqual(TABLE[id]);
  });
});
