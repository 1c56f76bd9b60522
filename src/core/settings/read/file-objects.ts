import { isMap, isScalar } from 'yaml';
import { isObject } from '../../kernel/index.ts';
import { valueAt, type JsonPath } from '../schema/pointer.ts';
import type { CompiledKind } from '../source/stored-objects.ts';
import type { YamlFile } from '../source/yaml-file.ts';

/** An object that a settings file holds and that a state store could hold instead. */
export interface FileObject {
  readonly kind: 'keys' | 'teams' | 'organizations' | 'prices' | 'alerts' | CompiledKind;
  readonly id: string;
  /** `keys.yaml:12` */
  readonly place: string;
  /** As in the file; secrets are wrapped. */
  readonly value: Readonly<Record<string, unknown>>;
}

/** Lists of objects with ids in files, and where they are. */
const LISTS: Readonly<
  Record<string, { readonly kind: FileObject['kind']; readonly path: JsonPath; readonly idOf: 'id' | 'slug' }>
> = {
  'catalog.yaml': { kind: 'providers', path: ['providers'], idOf: 'slug' },
  'keys.yaml': { kind: 'keys', path: ['keys'], idOf: 'id' },
  'prices.yaml': { kind: 'prices', path: ['prices'], idOf: 'id' },
  'server.yaml': { kind: 'alerts', path: ['alerts', 'webhooks'], idOf: 'id' },
};
export const FILES_WITH_OBJECTS: readonly string[] = [...Object.keys(LISTS), 'teams.yaml'];

/** @param name one of `FILES_WITH_OBJECTS` */
export function fileObjectsOf(name: string, yaml: YamlFile | undefined, value: unknown): FileObject[] {
  if (!yaml || !isObject(value)) return [];
  const list = LISTS[name];
  if (list) return listed(name, yaml, value, list);
  return (['organizations', 'teams'] as const).flatMap((kind) => namedOf(name, yaml, kind, value[kind]));
}

/** A rule of prices.yaml without an id is no object: nothing can name it. */
function listed(
  name: string,
  yaml: YamlFile,
  file: Readonly<Record<string, unknown>>,
  { kind, path, idOf }: (typeof LISTS)[string],
): FileObject[] {
  const items = valueAt(file, path);
  if (!Array.isArray(items)) return [];
  return items.flatMap((value: unknown, index) => {
    const id = isObject(value) ? (value[idOf] ?? (idOf === 'slug' ? value['provider'] : undefined)) : undefined;
    if (!isObject(value) || typeof id !== 'string') return [];
    const { line } = yaml.locate([...path, index]);
    return { kind, id, place: `${name}:${line}`, value };
  });
}

/** The names are walked once: looking each of 10,000 up would walk them 10,000 times. */
function namedOf(name: string, yaml: YamlFile, kind: 'organizations' | 'teams', named: unknown): FileObject[] {
  const map = isMap(yaml.document.contents) ? yaml.resolve(yaml.document.contents.get(kind, true)) : undefined;
  if (!isMap(map) || !isObject(named)) return [];
  return map.items.flatMap(({ key }) => {
    const id = isScalar(key) ? String(key.value) : '';
    const value = named[id];
    if (!isObject(value)) return [];
    const { line } = yaml.positionAt(isScalar(key) ? (key.range?.[0] ?? 0) : 0);
    return { kind, id, place: `${name}:${line}`, value };
  });
}
