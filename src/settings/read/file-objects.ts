import { isMap, isScalar } from 'yaml';
import { isObject } from '../../plugin/index.ts';
import type { YamlFile } from '../source/yaml-file.ts';

/** An object that a settings file holds and that a state store could hold instead. */
export interface FileObject {
  readonly kind: 'keys' | 'teams' | 'organizations';
  readonly id: string;
  /** `keys.yaml:12` */
  readonly place: string;
  /** As in the file; secrets are wrapped. */
  readonly value: Readonly<Record<string, unknown>>;
}

/** @param name `keys.yaml` or `teams.yaml` */
export function fileObjectsOf(name: string, yaml: YamlFile | undefined, value: unknown): FileObject[] {
  if (!yaml || !isObject(value)) return [];
  if (name === 'keys.yaml') return keysOf(name, yaml, value['keys']);
  return (['organizations', 'teams'] as const).flatMap((kind) => namedOf(name, yaml, kind, value[kind]));
}

function keysOf(name: string, yaml: YamlFile, keys: unknown): FileObject[] {
  if (!Array.isArray(keys)) return [];
  return keys.flatMap((value: unknown, index) => {
    if (!isObject(value) || typeof value['id'] !== 'string') return [];
    const { line } = yaml.locate(['keys', index]);
    return { kind: 'keys', id: value['id'], place: `${name}:${line}`, value };
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
