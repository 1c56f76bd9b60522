import { expect, it } from 'vitest';
import { keptRecordsOf } from '../../src/addons/console/settings/kept-records-settings.ts';
import { FEATURES } from '../../src/addons/console/ui/parts/features.ts';
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
  explain: ({ server }) => valueAt(server, ['admin', 'explain']) === 'all',
};

const loaded = (server: string) => {
  const files = Object.entries({ ...samples, 'server.yaml': server }).filter(([name]) => !name.endsWith('.test.yaml'));
  const inFolder = files.map(([name, text]) => [`configs/${name}`, text]);
  return loadSettings('configs', { env: {}, files: memoryFiles(Object.fromEntries(inFolder)) });
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
