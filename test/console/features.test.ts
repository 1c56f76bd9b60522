import { expect, it } from 'vitest';
import { keptRecordsOf } from '../../src/addons/console/settings/kept-records-settings.ts';
import { FEATURES } from '../../src/addons/console/ui/parts/features.ts';
import { budgetLines, PERIODS } from '../../src/addons/console/ui/screens/keys/tree.ts';
import { samples } from '../../src/core/commands/samples.generated.ts';
import { loadSettings, type Settings } from '../../src/core/settings/read/load.ts';
import { valueAt } from '../../src/core/settings/schema/pointer.ts';
import { describe as tell } from '../../src/core/settings/source/diagnostic.ts';
import { memoryFiles } from '../../src/core/settings/source/files.ts';
import { storeSettings } from '../../src/core/settings/source/stored-objects.ts';

/** Whether settings have a feature on. */
const IS_ON: Readonly<Record<keyof typeof FEATURES, (settings: Settings) => boolean>> = {
  store: ({ server }) => storeSettings(server) !== undefined,
  records: ({ server }) => keptRecordsOf(server) !== undefined,
  plugins: ({ server }) => valueAt(server, ['telemetry', 'metrics', 'plugins']) === 'all',
  webhooks: ({ server }) => valueAt(server, ['alerts', 'webhooks']) !== undefined,
  'prefix hashes': ({ server }) => server.telemetry?.prefix_hashes === true,
  explain: ({ server }) => valueAt(server, ['admin', 'explain']) === 'all',
};

const env = { OPS_WEBHOOK_URL: 'https://ops.example.com/alerts', OPS_WEBHOOK_SECRET: `whsec_${'c'.repeat(43)}=` };

const loaded = (server: string, more: Readonly<Record<string, string>> = {}) => {
  const files = Object.entries({ ...samples, ...more, 'server.yaml': server }).filter(
    ([name]) => !name.endsWith('.test.yaml'),
  );
  const inFolder = files.map(([name, text]) => [`configs/${name}`, text]);
  return loadSettings('configs', { env, files: memoryFiles(Object.fromEntries(inFolder)) });
};

it.each(Object.entries(FEATURES))(
  'The lines that the page offers where %s is off are valid in the settings of a new gateway, and turn it on',
  async (name, lines) => {
    const isOn = IS_ON[name as keyof typeof FEATURES];
    expect(isOn((await loaded('')).settings!)).toBe(false);
    const { settings, diagnostics } = await loaded(`${lines}\n`);
    expect(diagnostics.map(tell)).toEqual([]);
    expect(isOn(settings!)).toBe(true);
  },
);

const CAPS = ['500 USD', '0.5 USD', '1000000 tokens'];
it.each(CAPS.flatMap((cap) => PERIODS.map((period) => [cap, period] as const)))(
  'The lines of a budget of %s for each %s are valid for a team and a key',
  async (cap, period) => {
    const lines = budgetLines(cap, period).replaceAll('\n', '\n      ');
    const { settings, diagnostics } = await loaded(`${FEATURES.store}\n`, {
      'teams.yaml': `teams:\n  search:\n      ${lines}\n`,
      'keys.yaml': `keys:\n    - id: batch\n      team: search\n      digest: sha256:${'0'.repeat(64)}\n      ${lines}\n`,
    });
    // A warning says that the sample's models have no price.
    expect(diagnostics.filter(({ severity }) => severity === 'error').map(tell)).toEqual([]);
    for (const owner of [settings?.keys.keys?.[0], settings?.teams?.teams?.['search']])
      expect(owner?.budgets).toEqual([{ cap, period }]);
  },
);
