import type { CatalogEntry, GatewayFile, Target as TargetFile } from '../../../schemas/types.generated.ts';
import { Globs } from '../../catalog/globs.ts';
import type { Report, Target } from '../../plugin/index.ts';
import { RETRYABLE_STATUS_CODES } from '../gateway-config.ts';
import type { Path } from '../pointer.ts';
import { showValue } from '../show.ts';
import type { Known } from './known.ts';

interface Place {
  readonly path: Path;
  readonly report: Report;
}

/** Weights of a load balance: somebody must be drawn, and weights elsewhere mean nothing. */
export function checkWeights({ strategy, targets = [] }: GatewayFile | TargetFile, { path, report }: Place): void {
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

/** Statuses by which an upstream says that the request itself is wrong: it gets the same answer again. */
const NEVER_CURED: ReadonlySet<number> = new Set([
  400, 401, 402, 403, 404, 405, 410, 411, 413, 414, 415, 422, 431, 451, 501,
]);
/** nginx's word for a client that left. There is nobody to try again for. */
const CLIENT_LEFT = 499;

export function checkStatusCodes({ strategy, retry }: GatewayFile | TargetFile, { path, report }: Place): void {
  const giveWay = strategy?.on_status_codes ?? [];
  const lists = [
    { codes: retry?.on_status_codes ?? [], at: [...path, 'retry', 'on_status_codes'], retry: true },
    { codes: giveWay, at: [...path, 'strategy', 'on_status_codes'], retry: false },
  ];
  for (const list of lists) {
    for (const [index, code] of list.codes.entries()) {
      const message = pointless(code, list.retry);
      if (message !== undefined) report({ path: [...list.at, index], severity: 'warning', message });
    }
  }
  if (strategy?.mode === 'single' || giveWay.length === 0) return;
  if (giveWay.some((code) => RETRYABLE_STATUS_CODES.has(code))) return;
  const message =
    'no outage has one of these statuses, so none gives way to the next target: an overloaded upstream answers 429, 503 or 529, a failed connection counts as 502, a timeout as 504';
  report({ path: [...path, 'strategy', 'on_status_codes'], on: 'key', severity: 'warning', message });
}

function pointless(code: number, retry: boolean): string | undefined {
  if (code === CLIENT_LEFT) return 'no upstream answers 499: it stands for a client that left';
  if (retry && NEVER_CURED.has(code))
    return `a ${code} says that the request is wrong: the same request gets the same answer`;
  return undefined;
}

/** What a target's catalog entry is asked for: a model it serves, and credentials that somebody has. */
export function checkEntryUse(target: Target, { entries }: Known, { path, report }: Place): void {
  const entry = entryOf(target, entries ?? []);
  // Where the model names another entry than the target that is the mistake, and has been told.
  if (!entry || (target.provider?.startsWith('@') && target.provider !== `@${entry.slug}`)) return;
  const model = target.overrideParams?.['model'];
  const name = typeof model === 'string' ? model.replace(/^@[^/]*\//, '') : undefined;
  if (name !== undefined && entry.models && !new Globs(entry.models).matches(name)) {
    const message = `@${entry.slug} does not serve the model ${showValue(name, undefined)}: this target can never answer`;
    report({ path: [...path, 'override_params', 'model'], message });
  }
  if (!bringsOwnCredentials(entry)) return;
  const message = `@${entry.slug} has no credentials of its own: every request to this target must bring a Google OAuth token in \`Authorization\`, and its gateway key in \`x-gateway-api-key\``;
  const at = target.provider === undefined ? ['override_params', 'model'] : ['provider'];
  report({ path: [...path, ...at], severity: 'warning', message });
}

function entryOf({ provider, overrideParams }: Target, entries: readonly CatalogEntry[]): CatalogEntry | undefined {
  const model = overrideParams?.['model'];
  const slug = (typeof model === 'string' ? /^@([^/]*)\//.exec(model)?.[1] : undefined) ?? provider?.replace(/^@/, '');
  const bySlug = entries.find((entry) => entry.slug === slug);
  if (bySlug || provider === undefined || provider.startsWith('@')) return bySlug;
  const ofProvider = entries.filter((entry) => entry.provider === provider);
  return ofProvider.length === 1 ? ofProvider[0] : undefined;
}

const CREDENTIALS = ['service_account', 'credentials', 'credentials_json', 'api_key'];

const bringsOwnCredentials = (entry: CatalogEntry): boolean =>
  entry.provider === 'vertex-ai' && !CREDENTIALS.some((key) => key in entry);
