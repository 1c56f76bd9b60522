import type { CatalogEntry, GatewayFile, Target as TargetFile } from '../../../schemas/types.generated.ts';
import { Globs } from '../../catalog/globs.ts';
import type { Route, Target } from '../../plugin/index.ts';
import { PROVIDERS } from '../../providers/index.ts';
import { RETRYABLE_STATUS_CODES } from '../compile/gateway-config.ts';
import type { JsonPath } from '../read/pointer.ts';
import { showValue } from '../problems/show.ts';
import { slugOf, type KnownNames } from './known.ts';
import type { ReportPlace } from './report-place.ts';

/** Checks weights: a load balance needs one above 0, and other modes ignore them. */
export function checkWeights(
  { strategy, targets = [] }: GatewayFile | TargetFile,
  { path, report }: ReportPlace,
): void {
  const balanced = strategy?.mode === 'loadbalance';
  const weights = targets.map(({ weight = 1 }) => weight);
  if (balanced && weights.length > 0 && weights.every((weight) => weight === 0)) {
    const message = 'all weights are 0: no target would ever be used';
    report({ path: [...path, 'targets', 0, 'weight'], message });
    return;
  }
  for (const [index, { weight }] of targets.entries()) {
    const at = { path: [...path, 'targets', index, 'weight'], severity: 'warning' } as const;
    if (weight !== undefined && !balanced)
      report({ ...at, on: 'key', message: '`weight` has no effect without `mode: loadbalance` around it' });
    else if (weight === 0) report({ ...at, message: 'a target with the weight 0 is never used' });
  }
}

/** Statuses that mean the request itself is wrong: a retry gets the same answer. */
const NOT_RETRYABLE: ReadonlySet<number> = new Set([
  400, 401, 402, 403, 404, 405, 410, 411, 413, 414, 415, 422, 431, 451, 501,
]);
/** nginx's status for a client that disconnected: a retry would have no recipient. */
const CLIENT_LEFT = 499;

export function checkStatusCodes({ strategy, retry }: GatewayFile | TargetFile, { path, report }: ReportPlace): void {
  const fallThrough = strategy?.on_status_codes ?? [];
  const lists = [
    { codes: retry?.on_status_codes ?? [], at: [...path, 'retry', 'on_status_codes'], retry: true },
    { codes: fallThrough, at: [...path, 'strategy', 'on_status_codes'], retry: false },
  ];
  for (const list of lists) {
    for (const [index, code] of list.codes.entries()) {
      const message = pointless(code, list.retry);
      if (message !== undefined) report({ path: [...list.at, index], severity: 'warning', message });
    }
  }
  if (strategy?.mode === 'single' || strategy?.mode === 'conditional') return;
  // `on_errors` names outages more precisely; checkStrategy checks it.
  if (fallThrough.length === 0 || strategy?.on_errors) return;
  if (fallThrough.some((code) => RETRYABLE_STATUS_CODES.has(code))) return;
  const message =
    'no outage has one of these statuses, so none falls through to the next target: an overloaded upstream answers 429, 503 or 529, a failed connection counts as 502, a timeout as 504';
  report({ path: [...path, 'strategy', 'on_status_codes'], on: 'key', severity: 'warning', message });
}

function pointless(code: number, retry: boolean): string | undefined {
  if (code === CLIENT_LEFT) return 'no upstream answers 499: it stands for a client that disconnected';
  if (retry && NOT_RETRYABLE.has(code))
    return `a ${code} means that the request itself is wrong: a retry gets the same answer`;
  return undefined;
}

/** Warns of `context_window` on a group, which has no model. */
export function checkContextWindow({ file, route }: Written, { path, report }: ReportPlace): void {
  if (route.kind === 'target' || !('context_window' in file) || file.context_window === undefined) return;
  const message = '`context_window` has no effect on a group: set it in the targets inside';
  report({ path: [...path, 'context_window'], on: 'key', severity: 'warning', message });
}

/** Warns of `retry` settings without `attempts`: the default is no retry. */
export function checkAttempts({ file, route }: Written, { path, report }: ReportPlace): void {
  const { retry } = file;
  if (!retry || retry.attempts !== undefined || Object.keys(retry).length === 0 || attemptsIn(route)) return;
  const message = '`retry` has no effect without `attempts`, which is 0 by default';
  report({ path: [...path, 'retry'], on: 'key', severity: 'warning', message });
}

const attemptsIn = (route: Route): boolean =>
  route.kind === 'target' ? route.retry.attempts > 0 : route.members.some(attemptsIn);

interface Written {
  readonly file: GatewayFile | TargetFile;
  readonly route: Route;
}

/** Warns of a target equal to another one beside it: it fails in the same way. */
export function checkTwins(route: Route, { path, report }: ReportPlace): void {
  if (route.kind !== 'group' || route.mode === 'single') return;
  const seen = new Map<string, number>();
  for (const [index, member] of route.members.entries()) {
    if (member.kind !== 'target') continue;
    const content = JSON.stringify({ ...member, path: '' }, (_, value: unknown) =>
      value instanceof Set ? [...value] : value,
    );
    const twin = seen.get(content);
    seen.set(content, twin ?? index);
    if (twin === undefined) continue;
    const message = `this target is the same as \`targets[${twin}]\`; use \`retry\` for more attempts at one target`;
    report({ path: [...path, 'targets', index], severity: 'warning', message });
    return;
  }
}

/** The catalog entry of a target, where the files determine it. */
export function entryOfTarget(target: Target, { entries }: KnownNames): CatalogEntry | undefined {
  const entry = entryOf(target, entries ?? []);
  // A model that names another entry than its target is already reported.
  return target.provider?.startsWith('@') && target.provider !== `@${entry?.slug}` ? undefined : entry;
}

/**
 * Checks a target against its catalog entry: the entry must serve the model, and warns where it has no credentials of its own.
 * @param placeOf finds the path at which a parameter, possibly inherited, is written
 */
export function checkEntryUse(
  target: Target,
  entry: CatalogEntry,
  { path, report, placeOf }: ReportPlace & { readonly placeOf: (param: JsonPath) => JsonPath },
): void {
  const { model, ...params } = target.overrideParams ?? {};
  const name = typeof model === 'string' && model !== '' ? model.replace(/^@[^/]*\//, '') : undefined;
  PROVIDERS[entry.provider].checkParams(entry, { ...params, model: name }, (problem) => {
    report({ ...problem, path: placeOf(problem.path) });
  });
  if (name !== undefined && entry.models && !new Globs(entry.models).matches(name)) {
    const message = `@${entry.slug} does not serve the model ${showValue(name, undefined)}: this target can never answer`;
    report({ path: placeOf(['model']), message });
  }
  if (!PROVIDERS[entry.provider].needsCallerToken(entry)) return;
  const message = `@${entry.slug} has no credentials of its own: every request to this target must bring a Google OAuth token in \`Authorization\`, and its gateway key in \`x-gateway-api-key\``;
  const at = target.provider === undefined ? ['override_params', 'model'] : ['provider'];
  report({ path: [...path, ...at], severity: 'warning', message });
}

function entryOf({ provider, overrideParams }: Target, entries: readonly CatalogEntry[]): CatalogEntry | undefined {
  const name = slugOf(overrideParams) ?? provider;
  const bySlug = entries.find(({ slug }) => `@${slug}` === name);
  if (bySlug || provider === undefined || provider.startsWith('@')) return bySlug;
  const ofProvider = entries.filter((entry) => entry.provider === provider);
  return ofProvider.length === 1 ? ofProvider[0] : undefined;
}
