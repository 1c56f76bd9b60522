import { streamOf, type Recorded } from '../page.ts';
import { HASH, SETTINGS } from './configs.ts';
import { promptCache, usage } from './costs.ts';
import explanation from './explanation.json' with { type: 'json' };
import { auditRows, fired, plugins, prompts, tokens, webhooks } from './govern.ts';
import { budgets, costs, keyList, providers, stats, teams } from './objects.ts';
import { idOf, lines, places, request, session } from './requests.ts';

const ID = idOf(0);
const RECORD = `GET /requests/${ID}`;
const LIST = { items: [], oldest: null, partial: [] };
const NONE = { items: [] };

export const SCREENS = {
  overview: '#/',
  requests: '#/requests',
  request: `#/requests?row=${ID}`,
  case: `#/requests?row=${ID}&case=1`,
  capture: '#/requests?capture=1',
  why: `#/requests/${ID}/why`,
  sent: `#/requests/${ID}/why?tab=sent`,
  costs: `#/requests/${ID}/why?tab=costs`,
  'what-if': `#/requests/${ID}/why?tab=what-if`,
  ask: '#/why',
  cost: '#/cost?month=2026-11',
  drilled: '#/cost?month=2026-11&by=key&team=search',
  price: '#/cost?month=2026-11&price=@simulator/sim-steady',
  cache: '#/cost?tab=cache',
  providers: '#/providers',
  entry: '#/providers?entry=vertex',
  stored: '#/providers?entry=anthropic',
  add: '#/providers?add=1&kind=vertex-ai',
  keys: '#/keys',
  key: '#/keys?key=search',
  team: '#/keys?node=team:search',
  create: '#/keys?add=1',
  configs: '#/configs',
  config: '#/configs?file=gateway/production.yaml',
  'config history': '#/configs?file=gateway/production.yaml&tab=history',
  'config effect': '#/configs?file=gateway/production.yaml&tab=effect',
  'config tests': '#/configs?file=gateway/production.yaml&tab=tests',
  'stored config': '#/configs?file=store/configs/search',
  play: '#/play?as=search',
  prompts: '#/prompts',
  prompt: '#/prompts?row=ticket-summary',
  cases: '#/prompts?row=ticket-summary&tab=cases',
  difference: '#/prompts?row=ticket-summary&tab=diff',
  code: '#/prompts?row=ticket-summary&tab=code',
  'prompt-file': '#/prompts?row=greeting',
  'add-prompt': '#/prompts?add=1',
  alerts: '#/alerts',
  fired: `#/alerts?row=${fired[0]!.id}`,
  webhooks: '#/alerts?tab=webhooks',
  webhook: '#/alerts?tab=webhooks&row=ops',
  'add-webhook': '#/alerts?tab=webhooks&add=1',
  plugins: '#/plugins',
  people: '#/people?tab=people',
  tokens: '#/people',
  token: '#/people?row=grafana',
  'create-token': '#/people?add=1',
  audit: '#/audit',
  'audit-row': '#/audit?row=119',
} as const;
type Screen = keyof typeof SCREENS;

/** The call without which a screen shows nothing. */
const FIRST: Partial<Record<Screen, string>> = {
  overview: 'GET /stats',
  requests: 'GET /requests',
  request: RECORD,
  case: `${RECORD}/test`,
  capture: 'GET /captures',
  why: RECORD,
  costs: `${RECORD}/costs`,
  cost: 'GET /usage',
  cache: 'GET /prompt-cache',
  providers: 'GET /providers',
  add: 'GET /providers/kinds',
  keys: 'GET /keys',
  key: 'GET /keys/search',
  prompts: 'GET /prompts',
  alerts: 'GET /alerts/fired',
  webhooks: 'GET /alerts',
  plugins: 'GET /plugins',
  people: 'GET /people',
  tokens: 'GET /tokens',
  audit: 'GET /audit',
  configs: 'GET /settings',
  config: 'GET /settings/file',
  'config history': 'GET /settings/history',
  'stored config': 'GET /configs/search',
};

const off = {
  ...session,
  features: { ...session.features, store: false, owns: [], records: false, explain: 'none' },
};
const { explain_id: _, ...unkept } = request;
const young = { ...stats(null), complete_since: '2999-01-01T00:00:00Z' };
const { effective } = keyList[0] as { readonly effective?: unknown };
const LONG = 'a-very-long-name-'.repeat(16).slice(0, 256);
const target = (index: number) => ({ ...request.attempts[0]!, target: `config.targets[${index}]`, target_name: LONG });
const key = (index: number) => ({
  ...keyList[0]!,
  id: `${LONG.slice(0, 250)}-${index}`,
  spec: { team: `t${index % 200}` },
});
const many = <Item>(size: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: size }, (__, index) => make(index));

interface ShownState {
  readonly answers: (screen: Screen) => Readonly<Record<string, Recorded>>;
  /** What shows it, by screen. */
  readonly signs: Partial<Record<Screen, string>>;
  /** In place of the screen's address. */
  readonly addresses?: Partial<Record<Screen, string>>;
}

const first = (screen: Screen, answer: Recorded): Record<string, Recorded> => ({ [FIRST[screen] ?? '']: answer });
const everywhere = (sign: string, screens: readonly Screen[]): Partial<Record<Screen, string>> =>
  Object.fromEntries(screens.map((screen) => [screen, sign]));
const LOADED = Object.keys(FIRST) as Screen[];

/** The states of section 7 of a screen: what the gateway answers, and what shows the state. */
export const STATES: Readonly<Record<string, ShownState>> = {
  loading: { answers: (screen) => first(screen, () => {}), signs: everywhere('.skeleton i', LOADED) },
  error: { answers: (screen) => first(screen, 503), signs: everywhere('button:has-text("Retry")', LOADED) },
  empty: {
    answers: () => ({
      'GET /stats': { ...stats('nothing'), series: [] },
      'GET /requests': LIST,
      'GET /usage': NONE,
      'GET /prompt-cache': { ...promptCache, examined: 0, since: null, items: [] },
      'GET /providers': NONE,
      'GET /settings': { ...SETTINGS, files: [] },
      'GET /settings/file': 404,
      'GET /settings/history': NONE,
      'GET /configs/search': 404,
      'GET /keys': NONE,
      'GET /teams': NONE,
      'GET /budgets': NONE,
      'GET /keys/search': { ...keyList[0]!, effective: [] },
      'GET /audit': NONE,
      'GET /prompts': NONE,
      'GET /alerts': NONE,
      'GET /alerts/fired': NONE,
      'GET /plugins': NONE,
      'GET /people': NONE,
      'GET /tokens': NONE,
      [RECORD]: { ...unkept, config: undefined, conditions: [], attempts: [], error: { code: 'busy' } },
      [`${RECORD}/costs`]: { ...costs, tokens: null },
      'GET /captures': NONE,
    }),
    signs: {
      overview: 'text=First steps',
      requests: 'text=Waiting for the first request',
      request: 'text=No target was tried',
      why: 'text=No line of the settings decided',
      capture: 'text=It takes all requests',
      sent: 'text=Only the body of a request tells this',
      costs: 'text=no tokens that can be priced',
      cost: 'text=No cost in 2026-11',
      cache: 'text=No provider has told what it cached',
      providers: '.middle a:has-text("Add a provider")',
      keys: '.middle a:has-text("Create a key")',
      key: 'text=No budget, limit or rule',
      team: 'text=There is no team',
      prompts: '.middle a:has-text("Create a prompt")',
      alerts: 'text=No alert has fired',
      webhooks: '[aria-label="Lines of server.yaml"]',
      plugins: 'text=No plugin yet',
      people: 'text=No caller yet',
      tokens: '.middle a:has-text("Create a token")',
      audit: 'text=No row yet',
      configs: 'text=No file yet',
      config: 'text=No route yet',
      'config history': 'text=No change yet',
      'stored config': 'text=(new)',
    },
  },
  'nothing matches': {
    answers: () => ({ 'GET /requests': LIST, 'GET /audit': NONE, 'GET /usage': NONE }),
    addresses: {
      cost: '#/cost?month=2026-11&team=absent',
      requests: '#/requests?key=absent',
      providers: '#/providers?q=absent',
      keys: '#/keys?q=absent',
      audit: '#/audit?q=absent',
      prompts: '#/prompts?q=absent',
      plugins: '#/plugins?q=absent',
      tokens: '#/people?q=absent',
      people: '#/people?tab=people&q=absent',
      configs: '#/configs?q=absent',
    },
    signs: {
      cost: 'text=Clear the filter',
      requests: 'text=Clear the filter',
      providers: 'text=Clear the search',
      keys: 'text=Clear the search',
      prompts: 'text=Clear the search',
      plugins: 'text=Clear the search',
      tokens: 'text=Clear the search',
      people: 'text=Clear the search',
      audit: 'text=Clear the filter',
      configs: 'text=Clear the search',
    },
  },
  'a lost connection': {
    answers: () => ({ 'GET /stream': 503 }),
    signs: { requests: 'text=Live updates stopped', overview: '.figures.six' },
  },
  'lines left out': {
    answers: () => ({ 'GET /stream': streamOf([{ event: 'gap', data: { missed: 37 } }]) }),
    signs: { requests: 'text=37 requests not shown' },
  },
  'a silent worker': {
    answers: () => ({ 'GET /requests': { items: lines(3), oldest: null, partial: [2] } }),
    signs: { requests: 'text=Requests of worker 2 are missing' },
  },
  'no right': {
    answers: () => ({
      'GET /session': { ...session, role: 'viewer', content: false },
      'GET /stats': { ...stats('nothing'), series: [] },
    }),
    signs: {
      overview: '[aria-disabled=true]:has-text("Send it from here")',
      request: '[aria-disabled=true]:has-text("Show texts")',
      price: '[aria-disabled=true]:has-text("Propose a patch")',
      case: 'input[type=checkbox]:disabled',
      capture: '[aria-disabled=true]:has-text("Start the capture")',
      entry: '[aria-disabled=true]:has-text("Test")',
      stored: '[aria-disabled=true]:has-text("Delete the entry")',
      add: '[aria-disabled=true]:has-text("Save the entry")',
      key: '[aria-disabled=true]:has-text("Rotate the key")',
      team: '[aria-disabled=true]:has-text("Adjust")',
      create: '[aria-disabled=true]:has-text("Create the key")',
      play: '[aria-disabled=true]:has-text("Send")',
      prompt: '[aria-disabled=true]:has-text("Release version 3")',
      cases: '[aria-disabled=true]:has-text("Run the cases")',
      'prompt-file': '[aria-disabled=true]:has-text("Propose version 1")',
      'add-prompt': '[aria-disabled=true]:has-text("Create the prompt")',
      webhook: '[aria-disabled=true]:has-text("Test")',
      'add-webhook': '[aria-disabled=true]:has-text("Save the webhook")',
      tokens: 'text=Tokens and callers are shown to admins',
      'create-token': '[aria-disabled=true]:has-text("Create the token")',
      'config tests': '[aria-disabled=true]:has-text("Run the tests")',
      'stored config': '[aria-disabled=true]:has-text("Save")',
    },
  },
  'a feature that is off': {
    answers: () => ({
      'GET /session': off,
      'GET /stats': young,
      'GET /plugins': { items: plugins.map((one) => ({ ...one, own: one.external ? one.own : null })) },
      [RECORD]: unkept,
      'GET /prompt-cache': { ...promptCache, prefix_hashes: false },
    }),
    signs: {
      overview: 'summary:has-text("Keep counts in a store")',
      requests: 'summary:has-text("Keep them on disk")',
      request: 'summary:has-text("Keep those of the last 100 requests")',
      why: 'summary:has-text("Keep the last 100 requests")',
      cost: 'summary:has-text("Keep a store")',
      cache: 'summary:has-text("Compare keyed hashes")',
      keys: 'summary:has-text("Keep a store")',
      add: 'button:has-text("Propose a patch")',
      create: 'text=Keys are in keys.yaml',
      'add-prompt': 'button:has-text("Propose a patch")',
      tokens: 'summary:has-text("Keep a store")',
      plugins: 'summary:has-text("Measure all of them")',
      audit: 'summary:has-text("Keep a store")',
    },
  },
  'settings that have changed': {
    answers: () => ({ 'GET /settings/file': 404 }),
    signs: { why: 'text=The settings have changed since' },
  },
  'signed out': {
    answers: () => ({ 'GET /session': 401 }),
    signs: everywhere('dialog input[type=password]', [
      'overview',
      'requests',
      'why',
      'cost',
      'providers',
      'keys',
      'configs',
      'play',
    ]),
  },
  'days without hours': {
    answers: () => ({}),
    signs: { cost: 'text=Days to 2026-11-05 are UTC days', drilled: 'a:has-text("nightly-reports")' },
  },
  'long lists and names': {
    answers: () => ({
      'GET /requests': {
        items: many(200, (index) => ({ ...lines(1)[0], request_id: idOf(index), key_id: LONG, request_model: LONG })),
        oldest: null,
        partial: [],
      },
      [RECORD]: {
        ...request,
        key_id: LONG,
        metadata: { app: LONG },
        attempts: [...many(63, target), request.attempts[1]],
        skipped: many(8, (index) => ({
          target: `config.targets[${index}]`,
          target_name: LONG,
          reason: 'circuit_open',
          after: 0,
        })),
      },
      'GET /explain/exp1': {
        ...explanation,
        targets: many(64, (number) => ({ ...explanation.targets[0], name: LONG, number })),
      },
      'GET /settings/places': {
        ...places,
        places: Object.fromEntries(
          many(64, (index) => [`config.targets[${index}]`, { file: LONG, line: index + 1, column: 1 }]),
        ),
      },
      'GET /usage': (_, response, query) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(
          JSON.stringify(
            usage(
              query,
              many(200, (index) => `${LONG.slice(0, 240)}${index}`),
            ),
          ),
        ),
      'GET /prompt-cache': {
        ...promptCache,
        items: many(200, (index) => ({ ...promptCache.items[index % 2]!, key: LONG, model: LONG })),
      },
      'GET /providers': {
        items: many(64, (index) => ({ ...providers[index % 3]!, slug: `${LONG.slice(0, 60)}${index}` })),
      },
      'GET /keys': { items: many(200, key), next: undefined },
      'GET /keys/search': { ...key(0), id: LONG, effective },
      'GET /settings': {
        ...SETTINGS,
        files: many(500, (index) => ({ path: `gateway/${LONG.slice(0, 60)}${index}.yaml`, bytes: 9 })),
      },
      'GET /settings/file': {
        path: 'x',
        hash: HASH,
        text: `targets:\n${many(64, () => `  - { name: ${LONG}, provider: "@${LONG}" }\n`).join('')}`,
        masked: [],
      },
      'GET /settings/history': {
        items: many(100, (index) => ({
          hash: `${index}`,
          at: '2026-11-28T18:00:00Z',
          by: LONG,
          files: [{ path: 'gateway/production.yaml', patch: `+${LONG}\n` }],
        })),
      },
      'POST /settings/validate': {
        hash: null,
        unchecked: [LONG],
        diagnostics: many(50, (line) => ({
          file: 'gateway/production.yaml',
          line,
          column: 1,
          severity: 'error',
          message: LONG,
        })),
      },
      'GET /teams': { items: many(200, (index) => ({ ...teams[0]!, id: `t${index}` })) },
      'GET /prompts': {
        items: [
          {
            ...prompts[0]!,
            spec: {
              labels: Object.fromEntries(many(30, (index) => [`l${index}-${LONG.slice(0, 50)}`, index + 1])),
              versions: Object.fromEntries(
                many(40, (index) => [
                  index + 1,
                  { text: `${LONG} {{a}}\n`.repeat(20), variables: { a: { description: LONG } } },
                ]),
              ),
            },
          },
          ...many(200, (index) => ({ ...prompts[1]!, id: `${LONG.slice(0, 60)}${index}` })),
        ],
      },
      'GET /alerts': { items: many(60, (index) => ({ ...webhooks[0]!, id: `${LONG.slice(0, 60)}${index}` })) },
      'GET /alerts/fired': {
        items: many(200, (index) => ({
          ...fired[0]!,
          id: index === 0 ? fired[0]!.id : `fired-${index}`,
          nodes: many(50, () => `team:${LONG.slice(0, 60)}`),
          text: LONG,
        })),
      },
      'GET /plugins': { items: many(30, (index) => ({ ...plugins[index % 5]!, name: LONG })) },
      'GET /tokens': { items: many(200, (index) => ({ ...tokens[1]!, id: `${LONG.slice(0, 60)}${index}` })) },
      'GET /audit': {
        items: many(200, (index) => ({
          ...auditRows[1]!,
          seq: 300 - index,
          id: LONG,
          actor: LONG,
          reason: LONG,
          after: { name: LONG },
        })),
      },
      'GET /budgets': {
        items: many(200, (index) => ({ ...budgets[0]!, id: `b${index}`, node: `team:t${index}`, name: LONG })),
      },
    }),
    signs: {
      overview: '.notice.warning',
      requests: '.table-body .table-row',
      request: '.timeline .lane',
      why: '.step.decides',
      sent: 'td:has-text("model")',
      'what-if': '.ways li',
      cost: '.cost td',
      cache: 'td:has-text("the tools changed")',
      providers: '.table-body [role=cell]:visible',
      keys: '.table-body [role=cell]:visible',
      key: '.drawer .effective',
      create: 'dialog select',
      prompts: '.table-body [role=cell]:visible',
      prompt: '.versions li',
      difference: '.prompt .notice, .prompt .diff, .prompt .second',
      code: '.command',
      alerts: '.table-body [role=cell]:visible',
      fired: '.drawer table',
      webhooks: '.table-body [role=cell]:visible',
      plugins: 'td:has-text("a-very-long")',
      tokens: '.table-body [role=cell]:visible',
      audit: '.table-body [role=cell]:visible',
      'audit-row': '.drawer .diff',
      configs: '.table-body [role=cell]:visible',
      config: '.marks li:nth-child(50)',
      'config history': '.panels li:nth-child(100)',
    },
  },
};
