import type { FieldTable } from '../formats/fields/field-tables.ts';
import { FieldNames } from './field-names.ts';
import type { GatewayConfig, Route } from './settings.ts';
import { spellingsOf, type KeyPath } from './spellings.ts';
import { isObject } from '../formats/json/object.ts';

/**
 * The paths in every spelling that bodies of an API allow, up to the first free map (an object whose keys the caller
 * chooses).
 */
export function namesOf(paths: Iterable<KeyPath>, table: FieldTable | undefined): FieldNames {
  const spellings = spellingsOf(table);
  const maps = (table?.freeMaps ?? []).filter((place) => !place.includes('[]')).map((place) => place.split('.'));
  const freeMaps = [...maps, ...(table?.lifted ?? []).flatMap((object) => maps.map((place) => [object, ...place]))];
  const all: KeyPath[] = [];
  for (const path of paths) {
    for (const field of [path, ...spellings.synonymsOf(path)]) {
      const map = freeMaps.find((place) => spellings.beginsWith(field, place));
      // The caller chooses a map's keys, which may differ only in case.
      all.push(map ?? field);
    }
  }
  return new FieldNames(all, (key) => spellings.ofKey(key));
}

/** Body paths that a config names: those that it sets or deletes anywhere, and those that its conditions read. */
export function pathsOf({ route }: Pick<GatewayConfig, 'route'>): KeyPath[] {
  const paths: KeyPath[] = [];
  collect(route, paths);
  return paths;
}

function collect(route: Route, paths: KeyPath[]): void {
  if (route.kind === 'target') {
    const { defaultParams = {}, overrideLevels, dropParams } = route;
    for (const params of [defaultParams, ...overrideLevels]) leaves(params, [], paths);
    paths.push(...dropParams);
    return;
  }
  if (route.kind === 'conditional') for (const { query } of route.branches) collectQueryPaths(query, paths);
  for (const member of route.members) collect(member, paths);
}

function leaves(value: unknown, path: KeyPath, paths: KeyPath[]): void {
  if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) leaves(inner, [...path, key], paths);
  }
  if (path.length > 0) paths.push(path);
}

const PARAMS = 'params.';

/** Queries nest in `$and`, `$or` and `$not`; fields of the body begin with `params.`. */
function collectQueryPaths(query: unknown, paths: KeyPath[]): void {
  if (typeof query !== 'object' || query === null) return;
  for (const [key, value] of Object.entries(query)) {
    if (key.startsWith(PARAMS)) paths.push(key.slice(PARAMS.length).split('.'));
    else collectQueryPaths(value, paths);
  }
}
