/** Settings of the bench with something more: a plugin, a guard, many keys or configs. */
import { appendFileSync, cpSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import type { WITH_MORE, WITH_PLUGIN } from './workloads.ts';

type PluginId = (typeof WITH_PLUGIN)[number];
type MoreId = (typeof WITH_MORE)[number];

/** Beside Gatehouse at 8800. */
export const PORT_BESIDE = 8810;

/** The chain of a plugin, and the entry before which it stands. */
const PLACES = {
  entry: ['entry', 'auth'],
  request: ['request', 'route'],
  attempt: ['attempt', 'transform'],
} as const;

const EMPTY = 'create: () => async (ctx, next) => { await next(); }';
const reading = (reply: string, hooks: string): string => `reads: { reply: '${reply}' }, create: () => ({ ${hooks} })`;

const PLUGINS: Readonly<Record<Exclude<PluginId, 'texts' | 'pii'>, readonly [keyof typeof PLACES, string]>> = {
  'empty-entry': ['entry', EMPTY],
  'empty-request': ['request', EMPTY],
  'empty-attempt': ['attempt', EMPTY],
  observe: ['request', reading('observe', 'reply: () => (text) => text')],
  mask: ['request', reading('texts', "reply: () => replacing(/naïve/g, '[WORD]', { longest: 5 })")],
  events: ['request', reading('events', 'events: () => (event) => event')],
};

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at + 1);

const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex');

/** Writes into the folder of settings what is more than those of the bench. */
const MORE: Readonly<Record<MoreId, (settings: string) => void>> = {
  'keys-10k': (settings) =>
    appendFileSync(
      join(settings, 'keys.yaml'),
      numbers(10_000)
        .map((at) => `  - { id: key-${at}, digest: "sha256:${digestOf(`key ${at}`)}" }\n`)
        .join(''),
    ),
  'configs-5k': (settings) => {
    for (const at of numbers(5000)) config(settings, `config-${at}`, 'provider: "@oai9001"\n');
  },
  'headers-40': () => {},
  metadata: () => {},
  'targets-10': (settings) => {
    const targets = numbers(10).map((at) => `  - { name: target-${at}, provider: "@oai9001" }\n`);
    config(settings, 'ten', `strategy: { mode: loadbalance }\ntargets:\n${targets.join('')}`);
  },
  'budgets-5': (settings) => {
    const two = 'budgets: [{ cap: 1000000 USD, period: month }, { cap: 1000000 USD, period: day }]';
    const teams = `organizations: { acme: { ${two} } }\nteams: { search: { organization: acme, ${two} } }\n`;
    writeFileSync(join(settings, 'teams.yaml'), teams);
    writeFileSync(join(settings, 'prices.yaml'), 'prices: [{ model: "*", usd: { input: 1, output: 10 } }]\n');
    const keys = join(settings, 'keys.yaml');
    const own = 'team: search, budgets: [{ cap: 1000000 USD, period: month }]';
    writeFileSync(keys, readFileSync(keys, 'utf8').replace('id: bench,', `id: bench, ${own},`));
    const store = `{ type: sqlite, dir: ${JSON.stringify(join(settings, 'state'))} }`;
    appendFileSync(join(settings, 'server.yaml'), `state: { store: ${store} }\n`);
  },
};

function config(settings: string, name: string, text: string): void {
  const folder = join(settings, 'gateway');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.yaml`), text);
}

/** The request's headers beyond those of all rows. */
export const MORE_HEADERS: Readonly<Record<MoreId, Readonly<Record<string, string>>>> = {
  'keys-10k': {},
  'configs-5k': { 'x-gateway-config': 'config-2500' },
  'headers-40': Object.fromEntries(numbers(40).map((at) => [`x-trace-part-${at}`, `value of the header ${at}`])),
  metadata: { 'x-gateway-metadata': '{"team":"search","user":"u-1","feature":"chat","env":"prod"}' },
  'targets-10': { 'x-gateway-config': 'ten' },
  'budgets-5': {},
};

const isMore = (id: PluginId | MoreId): id is MoreId => Object.hasOwn(MORE, id);

/** Returns the folder of the settings, in the folder of the run. */
export function writeSettingsBeside(folder: string, id: PluginId | MoreId | 'before'): string {
  const settings = join(folder, `settings-${id}`);
  cpSync(packageFile('test/bench/settings'), settings, { recursive: true });
  const server = join(settings, 'server.yaml');
  writeFileSync(server, readFileSync(server, 'utf8').replaceAll('880', '881'));
  if (id === 'before') return settings;
  if (isMore(id)) MORE[id](settings);
  else appendFileSync(server, id === 'pii' ? guard() : plugin(settings, id));
  return settings;
}

const guard = (): string =>
  'guards:\n  - { name: personal, check: pii, on: [input, output], action: mask, on_unseen: allow }\n';

function plugin(settings: string, id: Exclude<PluginId, 'pii'>): string {
  const module = join(settings, 'plugin.mjs');
  const [level, rest] = id === 'texts' ? (['request', undefined] as const) : PLUGINS[id];
  if (rest === undefined) copyFileSync(packageFile('docs/plugins/examples/mask/index.js'), module);
  else
    writeFileSync(
      module,
      `import { definePlugin, replacing } from 'gatehouse-gateway/plugin';
void replacing;
export default definePlugin({ name: '${id}', level: '${level}', ${rest} });
`,
    );
  const [chain, before] = PLACES[level];
  const name = id === 'texts' ? 'mask' : id;
  return `plugins: [./plugin.mjs]\nchains: { ${chain}: { add: [{ plugin: ${name}, before: ${before} }] } }\n`;
}
