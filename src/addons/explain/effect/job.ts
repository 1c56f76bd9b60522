import { relative } from 'node:path';
import { builtinPlugins } from '../../../../plugins/index.ts';
import { loadPluginModules } from '../../../core/compose/plugin-modules.ts';
import { PluginRegistry } from '../../../core/http/chain/registry.ts';
import { systemClock } from '../../../core/kernel/system-clock.ts';
import { filesOf, type SettingsTrial } from '../../../core/process/settings-trial.ts';
import { loadSettings } from '../../../core/settings/read/load.ts';
import { describe, SettingsRefused } from '../../../core/settings/source/diagnostic.ts';
import { openReferences } from '../../../core/settings/read/edited-files.ts';
import { effectOf, type EffectEvent } from './effect.ts';
import { sampleOfRecord } from './record-sample.ts';
import { openPair, readingOf } from './settings-pair.ts';

interface EffectInput extends SettingsTrial {
  /** As `GET /requests/{id}` has them. */
  readonly records: readonly Readonly<Record<string, unknown>>[];
}

/** The effect of texts in the place of settings in force on the requests of records. */
export async function* effectJob(input: unknown): AsyncGenerator<EffectEvent> {
  // The gateway that asks is of this build.
  const trial = input as EffectInput;
  const { folder: configs, records } = trial;
  const { env, contents } = await openReferences(configs, trial);
  const { before, after } = filesOf({ ...trial, contents });
  try {
    // The plugins in force for both: a text of a caller loads no module.
    const loaded = await loadSettings(configs, { env, files: before, fakeMissing: true });
    const registry = await loadPluginModules(new PluginRegistry(builtinPlugins), loaded, {
      folder: configs,
      clock: systemClock,
    });
    const version = { configs, env, registry };
    const pair = await openPair({ ...version, files: before }, { ...version, files: after }, systemClock);
    const reading = readingOf(pair);
    const samples = records.map((record) => sampleOfRecord(record, reading));
    yield* effectOf({ samples, pair, clock: systemClock });
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error;
    yield refused(error, configs, records.length);
  }
}

function refused({ diagnostics }: SettingsRefused, folder: string, count: number): EffectEvent {
  const [first] = diagnostics.filter(({ severity }) => severity === 'error');
  const problem = first && describe({ ...first, file: relative(folder, first.file) });
  const reason = `the settings do not load${problem === undefined ? '' : `: ${problem}`}`;
  const reasons = [{ reason, count, sample: '' }];
  return { event: 'done', data: { same: 0, changed: 0, unknown: count, reasons, cases: 0 } };
}
