import type { AdminRoute } from './admin-route.ts';
import { OPERATIONS, type OperationId } from './routes.ts';

interface Pattern {
  readonly operation: OperationId;
  readonly route: AdminRoute;
  readonly prefix: string;
  /** Undefined: the path has no id. */
  readonly suffix: string | undefined;
}

const PATTERNS: readonly Pattern[] = OPERATIONS.map(([operation, route]) => {
  const [prefix = '', suffix] = route.path.split('{id}', 2);
  return { operation, route, prefix, suffix };
});

type Match =
  | { readonly operation: OperationId; readonly route: AdminRoute; readonly id: string }
  /** The path has other methods. */
  | { readonly allow: string };

/** Finds the route of a path below `/admin/v1`. Undefined: there is none. */
export function findRoute(method: string, path: string): Match | undefined {
  const fitting = PATTERNS.flatMap((pattern) => {
    const id = idIn(path, pattern);
    return id === undefined ? [] : [{ ...pattern, id }];
  });
  // `/keys/search:rotate` is the action of a key, not the key of this name.
  const isAction = fitting.some(({ suffix }) => suffix !== undefined && suffix !== '');
  // `/providers/kinds` is the list of kinds, not the entry of this name.
  const isExact = fitting.some(({ suffix }) => suffix === undefined);
  const own = fitting.filter(({ suffix }) => (isExact ? suffix === undefined : !isAction || suffix !== ''));
  if (own.length === 0) return undefined;
  const wanted = method === 'HEAD' ? 'GET' : method;
  const found = own.find(({ route }) => route.method === wanted);
  if (found) return found;
  const methods = own.map(({ route }) => route.method);
  return { allow: [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ') };
}

function idIn(path: string, { prefix, suffix }: Pattern): string | undefined {
  if (suffix === undefined) return path === prefix ? '' : undefined;
  if (!path.startsWith(prefix) || !path.endsWith(suffix) || path.length <= prefix.length + suffix.length)
    return undefined;
  const segment = path.slice(prefix.length, path.length - suffix.length);
  if (segment.includes('/')) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
