import { streamOf, type Recorded } from '../page.ts';
import explanation from './explanation.json' with { type: 'json' };
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
  providers: '#/providers',
  entry: '#/providers?entry=vertex',
  stored: '#/providers?entry=anthropic',
  add: '#/providers?add=1&kind=vertex-ai',
  keys: '#/keys',
  key: '#/keys?key=search',
  team: '#/keys?node=team:search',
  create: '#/keys?add=1',
  play: '#/play?as=search',
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
  providers: 'GET /providers',
  add: 'GET /providers/kinds',
  keys: 'GET /keys',
  key: 'GET /keys/search',
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
      'GET /providers': NONE,
      'GET /keys': NONE,
      'GET /teams': NONE,
      'GET /budgets': NONE,
      'GET /keys/search': { ...keyList[0]!, effective: [] },
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
      providers: '.middle a:has-text("Add a provider")',
      keys: '.middle a:has-text("Create a key")',
      key: 'text=No budget, limit or rule',
      team: 'text=There is no team',
    },
  },
  'nothing matches': {
    answers: () => ({ 'GET /requests': LIST }),
    addresses: { requests: '#/requests?key=nobody', providers: '#/providers?q=nobody', keys: '#/keys?q=nobody' },
    signs: { requests: 'text=Clear the filter', providers: 'text=Clear the search', keys: 'text=Clear the search' },
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
      case: 'input[type=checkbox]:disabled',
      capture: '[aria-disabled=true]:has-text("Start the capture")',
      entry: '[aria-disabled=true]:has-text("Test")',
      stored: '[aria-disabled=true]:has-text("Delete the entry")',
      add: '[aria-disabled=true]:has-text("Save the entry")',
      key: '[aria-disabled=true]:has-text("Rotate the key")',
      team: '[aria-disabled=true]:has-text("Adjust")',
      create: '[aria-disabled=true]:has-text("Create the key")',
      play: '[aria-disabled=true]:has-text("Send")',
    },
  },
  'a feature that is off': {
    answers: () => ({
      'GET /session': off,
      'GET /stats': young,
      [RECORD]: unkept,
    }),
    signs: {
      overview: 'summary:has-text("Keep counts in a store")',
      requests: 'summary:has-text("Keep them on disk")',
      request: 'summary:has-text("Keep those of the last 100 requests")',
      why: 'summary:has-text("Keep the last 100 requests")',
      keys: 'summary:has-text("Keep a store")',
      add: 'button:has-text("Propose a patch")',
      create: 'text=Keys are in keys.yaml',
    },
  },
  'settings that have changed': {
    answers: () => ({ 'GET /settings/file': 404 }),
    signs: { why: 'text=The settings have changed since' },
  },
  'signed out': {
    answers: () => ({ 'GET /session': 401 }),
    signs: everywhere('dialog input[type=password]', ['overview', 'requests', 'why', 'providers', 'keys', 'play']),
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
      'GET /providers': {
        items: many(64, (index) => ({ ...providers[index % 3]!, slug: `${LONG.slice(0, 60)}${index}` })),
      },
      'GET /keys': { items: many(200, key), next: undefined },
      'GET /keys/search': { ...key(0), id: LONG, effective },
      'GET /teams': { items: many(200, (index) => ({ ...teams[0]!, id: `t${index}` })) },
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
      providers: '.entries [role=cell]',
      keys: '.keys [role=cell]',
      key: '.drawer .effective',
      create: 'dialog select',
    },
  },
};
