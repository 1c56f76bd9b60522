import { isObject, type GatewayConfig, type KeyPath, type Route } from '../../src/core/kernel/index.ts';

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
