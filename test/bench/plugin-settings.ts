/** Settings of the bench with one plugin or guard more. */
import { cpSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import type { WITH_PLUGIN } from './workloads.ts';

type PluginId = (typeof WITH_PLUGIN)[number];

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

/** Returns the folder of the settings, in the folder of the run. */
export function writePluginSettings(folder: string, id: PluginId | 'before'): string {
  const settings = join(folder, `settings-${id}`);
  cpSync(packageFile('test/bench/settings'), settings, { recursive: true });
  const server = join(settings, 'server.yaml');
  const more = id === 'before' ? '' : id === 'pii' ? guard() : plugin(settings, id);
  writeFileSync(server, readFileSync(server, 'utf8').replaceAll('880', '881') + more);
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
