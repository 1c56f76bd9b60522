import { isAbsolute, relative } from 'node:path';
import type { Clock } from '../../../plugin/index.ts';
import { createLogger } from '../../../core/record/log/logger.ts';
import { headerPrefixes } from '../../../core/settings/compile/server-settings.ts';
import { callerOf } from '../../../core/settings/compile/key-ring.ts';
import type { LoadResult, Settings } from '../../../core/settings/read/load.ts';
import type { ReadPlaces } from '../../../core/settings/source/files.ts';
import { RecordedFiles } from '../../../core/settings/source/recorded-files.ts';
import { storedConfigs, storedName } from '../../../core/settings/source/stored-objects.ts';
import { Explainer, type ExplainerSetup } from '../explain/explainer.ts';
import type { RecordReading } from './record-sample.ts';

export interface SettingsPair {
  readonly before: Explainer;
  readonly after: Explainer;
  readonly loaded: { readonly before: LoadResult; readonly after: LoadResult };
  readonly settings: { readonly before: Settings; readonly after: Settings };
  readonly changed: ChangedFiles;
  close(): Promise<void>;
}

/** Files that differ. A request depends on its own config and on all other files. */
interface ChangedFiles {
  readonly shared: boolean;
  readonly configs: ReadonlySet<string>;
}

type Version = Pick<ExplainerSetup, 'configs' | 'files' | 'env'> & Partial<ExplainerSetup>;

/** Rejects with SettingsRefused. */
export async function openPair(before: Version, after: Version, clock: Clock): Promise<SettingsPair> {
  const log = createLogger({ level: 'silent' });
  const read = [before, after].map(({ files }) => new RecordedFiles(files));
  const [old, now] = [before, after].map(
    (version, index) => new Explainer({ ...version, files: read[index]!, clock, log, fakeMissing: true }),
  );
  const close = async (): Promise<void> => void (await Promise.all([old!.close(), now!.close()]));
  try {
    const loaded = { before: await old!.loaded(), after: await now!.loaded() };
    const settings = { before: loaded.before.settings!, after: loaded.after.settings! };
    const was = textsOf(before.configs, read[0]!.contents, settings.before);
    const is = textsOf(after.configs, read[1]!.contents, settings.after);
    return { before: old!, after: now!, loaded, settings, changed: changedFiles(was, is), close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Texts = ReadonlyMap<string, string>;

/** By their names in the folder; configs of the store among them. */
function textsOf(folder: string, { files, folders }: ReadPlaces, { stored }: Settings): Texts {
  const nameOf = (path: string): string => {
    const name = relative(folder, path);
    return name.startsWith('..') || isAbsolute(name) ? path : name;
  };
  const ofFiles = [...files, ...folders].map(([path, read]) => [nameOf(path), JSON.stringify(read)] as const);
  return new Map([...ofFiles, ...storedConfigs(stored).map((one) => [storedName(one), one.value.text] as const)]);
}

const CONFIG = /^(?:gateway\/(.+)\.yaml|store\/configs\/(.+))$/;

function changedFiles(before: Texts, after: Texts): ChangedFiles {
  const names = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => before.get(name) !== after.get(name),
  );
  // A list of names: each file of it is compared itself.
  const files = names.filter((name) => name !== 'gateway' && name !== '');
  const configs = files.flatMap((name) => {
    const [, file, stored] = CONFIG.exec(name) ?? [];
    return file ?? stored ?? [];
  });
  return { shared: files.length > configs.length, configs: new Set(configs) };
}

export function readingOf({ settings: { before, after }, changed }: SettingsPair): RecordReading {
  const [prefix = 'x-gateway-'] = headerPrefixes(before.server);
  const keys = new Map(before.keys.keys.map((key) => [key.id, key]));
  return {
    prefix,
    metadataOfKey: (id) => {
      const key = keys.get(id);
      return key ? Object.keys(callerOf(key, before.teams).metadata ?? {}) : [];
    },
    needsCaller: changed.shared,
    needsTime: [before, after].some(({ gateway }) => JSON.stringify([...gateway.values()]).includes('"sticky"')),
  };
}
