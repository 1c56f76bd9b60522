import { join, relative } from 'node:path';
import type { WrittenSettings } from '../../../core/process/console-port.ts';
import type { InForce } from '../../../core/process/reload.ts';
import { loadSettings, type LoadResult } from '../../../core/settings/read/load.ts';
import type { JsonPath } from '../../../core/settings/schema/pointer.ts';
import { sentFiles, withStoredObjects } from '../../../core/settings/source/files.ts';
import { storedConfigs, storedName } from '../../../core/settings/source/stored-objects.ts';
import type { GatewayFile, Target } from '../../../../schemas/types.generated.ts';
import { maskSecrets } from './mask-secrets.ts';

const MAX_PLACES = 5_000;

export type SettingsSources = Pick<InForce, 'files' | 'settings'>;

/** Reads the settings in force again, as they were written: without the environment, so that no secret of it is there. */
export function createWrittenReader(folder: string): (inForce: SettingsSources) => Promise<WrittenSettings> {
  let last: { readonly of: InForce['files']; readonly read: Promise<WrittenSettings> } | undefined;
  return (inForce) => {
    const { files } = inForce;
    if (last?.of !== files) last = { of: files, read: read(folder, inForce) };
    return last.read;
  };
}

async function read(folder: string, { files, settings }: SettingsSources): Promise<WrittenSettings> {
  const { contents } = files;
  const sent = sentFiles(() => contents);
  const { stored } = settings;
  const source = stored ? withStoredObjects(sent, () => stored) : sent;
  const loaded = await loadSettings(folder, { env: {}, files: source, fakeMissing: true });
  const texts = new Map<string, string>();
  for (const [path, answer] of contents.files) {
    const name = relative(folder, path);
    // Only settings: a file that `${file:…}` names may be a secret as a whole.
    if ('text' in answer && loaded.valueOf(name) !== undefined) texts.set(name, answer.text);
  }
  for (const { kind, id, value } of storedConfigs(stored)) texts.set(storedName({ kind, id }), value.text);
  const secrets = loaded.secrets();
  const placeOf = (file: string, path: JsonPath) => ({ ...loaded.placeOf(file, path), file });
  return {
    hash: settings.hash,
    files: [...texts].map(([path, text]) => ({ path, bytes: Buffer.byteLength(text) })),
    configs: [...settings.gateway.keys()].map((id) => ({ id, file: fileOf(id, texts) })),
    nameOf: (path) => relative(folder, path),
    file(path) {
      const text = texts.get(path);
      return text === undefined ? undefined : maskSecrets(text, secrets);
    },
    places: (config) =>
      placesOf(config, loaded, { written: settings.gateway.get(config), file: fileOf(config, texts) }),
    entry(slug) {
      const index = settings.catalog.providers.findIndex((one) => one.slug === slug);
      return index < 0 || stored?.objects.has(`providers/${slug}`)
        ? undefined
        : placeOf('catalog.yaml', ['providers', index]);
    },
  };
}

/** A config of the state store is in no file. */
const fileOf = (config: string, texts: ReadonlyMap<string, string>): string => {
  const file = join('gateway', `${config}.yaml`);
  return texts.has(file) ? file : storedName({ kind: 'configs', id: config });
};

function placesOf(
  config: string,
  loaded: LoadResult,
  { written, file }: { readonly written: GatewayFile | undefined; readonly file: string },
): ReturnType<WrittenSettings['places']> {
  if (!written) return undefined;
  const fileInFolder = join('gateway', `${config}.yaml`);
  const places: Record<string, { file: string; line: number; column: number }> = {};
  const pending: { readonly name: string; readonly path: JsonPath; readonly says: GatewayFile | Target }[] = [
    { name: 'config', path: [], says: written },
  ];
  const add = (name: string, path: JsonPath): void => {
    const { line, column } = loaded.placeOf(fileInFolder, path);
    places[name] = { file, line, column };
  };
  for (let one = pending.shift(); one && Object.keys(places).length < MAX_PLACES; one = pending.shift()) {
    const { name, path, says } = one;
    add(name, path);
    const { conditions = [], default: otherwise } = says.strategy ?? {};
    for (const index of conditions.keys())
      add(`${name}.conditions[${index}]`, [...path, 'strategy', 'conditions', index]);
    if (otherwise !== undefined) add(`${name}.default`, [...path, 'strategy', 'default']);
    for (const [index, target] of (says.targets ?? []).entries())
      pending.push({ name: `${name}.targets[${index}]`, path: [...path, 'targets', index], says: target });
  }
  return places;
}
