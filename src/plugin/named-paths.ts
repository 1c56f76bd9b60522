import type { FieldTable } from '../formats/fields/field-table.ts';
import { FieldNames } from './field-names.ts';
import type { GatewayConfig, Route } from './settings.ts';
import { spellingsOf, type KeyPath } from './spellings.ts';
import { isObject } from '../formats/json/object.ts';

/** The paths with every other spelling that bodies of an API have for them, as far as no free map is entered. */
export function namesOf(paths: Iterable<KeyPath>, table: FieldTable | undefined): FieldNames {
  const spellings = spellingsOf(table);
  const maps = (table?.freeMaps ?? []).filter((place) => !place.includes('[]')).map((place) => place.split('.'));
  const freeMaps = [...maps, ...(table?.lifted ?? []).flatMap((object) => maps.map((place) => [object, ...place]))];
  const all: KeyPath[] = [];
  for (const path of paths) {
    for (const field of [path, ...spellings.synonymsOf(path)]) {
      const map = freeMaps.find((place) => spellings.beginsWith(field, place));
      // What a caller calls the entries of a map differs in case as it likes.
      all.push(map ?? field);
    }
  }
  return new FieldNames(all, (key) => spellings.ofKey(key));
}

/** Paths of a request's body that a config names: those it sets or takes out anywhere, and those its conditions ask for. */
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
  if (route.kind === 'conditional') for (const { query } of route.branches) asked(query, paths);
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
function asked(query: unknown, paths: KeyPath[]): void {
  if (typeof query !== 'object' || query === null) return;
  for (const [key, value] of Object.entries(query)) {
    if (key.startsWith(PARAMS)) paths.push(key.slice(PARAMS.length).split('.'));
    else asked(value, paths);
  }
}
