import type { CatalogFile, GatewayFile, Target as TargetFile } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../kernel/report.ts';
import type { Route } from '../../kernel/index.ts';
import { parseDuration } from '../../kernel/units.ts';
import { aliasNamesOf } from '../compile/aliased-models.ts';
import { RETRYABLE_STATUS_CODES } from '../compile/gateway-config.ts';
import { type Check, type CheckedConfig, type ConfigNode, within } from './check.ts';
import { checkUnit } from './times.ts';

/** Checks the keys of targets and groups: weights, retries, statuses, how many targets there are. */
export const checkTargets: Check = ({ catalog, inline }) => ({
  target({ path, route }, report, { targets }) {
    const model = route.overrideParams?.['model'] ?? route.defaultParams?.['model'];
    if (inline || path.length === 0 || route.provider !== undefined || isPlaced(model, catalog)) return;
    // The requests of a config may name the provider for all of its targets.
    if (model === undefined && targets.every((other) => other.route.provider === undefined)) return;
    const message =
      'this target names no provider: only requests for `@slug/model`, or with `x-gateway-provider`, reach one; write `provider: "@slug"`';
    report({ path: [], severity: 'warning', message });
  },
  node(node, report) {
    checkWeights(node.file, report);
    checkStatusCodes(node.file, report);
    checkContextWindow(node, report);
    checkAttempts(node, report);
    checkTwins(node, report);
  },
  config: checkBounds,
});

const isPlaced = (model: unknown, catalog: CatalogFile | undefined): boolean =>
  typeof model === 'string' && (model.startsWith('@') || (catalog && aliasNamesOf(catalog).find(model)) !== undefined);

const MAX_TARGETS = 20;
const MAX_DEPTH = 5;

function checkBounds({ nodes, targets }: CheckedConfig, report: Report): void {
  const place = { path: ['targets'], on: 'key' } as const;
  const depth = Math.max(...nodes.map(({ path }) => path.length / 2));
  if (depth > MAX_DEPTH)
    report({ ...place, message: `targets nest ${depth} levels deep; at most ${MAX_DEPTH} are allowed` });
  if (targets.length > MAX_TARGETS)
    report({ ...place, message: `there are ${targets.length} targets in all; at most ${MAX_TARGETS} are allowed` });
}

/** Checks weights: a load balance needs one above 0, and other modes ignore them. */
function checkWeights({ strategy, targets = [] }: GatewayFile | TargetFile, report: Report): void {
  const balanced = strategy?.mode === 'loadbalance';
  const weights = targets.map(({ weight = 1 }) => weight);
  if (balanced && weights.length > 0 && weights.every((weight) => weight === 0)) {
    report({ path: ['targets', 0, 'weight'], message: 'all weights are 0: no target would ever be used' });
    return;
  }
  for (const [index, { weight }] of targets.entries()) {
    const at = { path: ['targets', index, 'weight'], severity: 'warning' } as const;
    if (weight !== undefined && !balanced)
      report({ ...at, on: 'key', message: '`weight` has no effect without `mode: loadbalance` around it' });
    else if (weight === 0) report({ ...at, message: 'a target with the weight 0 is never used' });
  }
  // Shares of 1 or of 100: beside them 1 is not meant.
  const given = targets.find(({ weight = 1 }) => (weight > 0 && weight < 1) || weight >= 10)?.weight;
  const bare = targets.findIndex(({ weight }) => weight === undefined);
  if (!balanced || given === undefined || bare < 0) return;
  const share = Math.round(100 / weights.reduce((sum, weight) => sum + weight, 0));
  const message = `this target has no \`weight\`, which counts as 1 beside ${given}: it gets ${share} % of the requests; give each target its weight`;
  report({ path: ['targets', bare], severity: 'warning', message });
}

/** Statuses that mean the request itself is wrong: a retry gets the same answer. */
const NOT_RETRYABLE: ReadonlySet<number> = new Set([
  400, 401, 402, 403, 404, 405, 410, 411, 413, 414, 415, 422, 431, 451, 501,
]);
/** nginx's status for a client that disconnected: a retry would have no recipient. */
const CLIENT_LEFT = 499;

function checkStatusCodes({ strategy, retry }: GatewayFile | TargetFile, report: Report): void {
  const fallThrough = strategy?.on_status_codes ?? [];
  for (const [key, codes] of [['retry', retry?.on_status_codes ?? []] as const, ['strategy', fallThrough] as const]) {
    for (const [index, code] of codes.entries()) {
      const message = pointless(code, key === 'retry');
      if (message !== undefined) report({ path: [key, 'on_status_codes', index], severity: 'warning', message });
    }
  }
  if (strategy?.mode === 'single' || strategy?.mode === 'conditional') return;
  // `on_errors` names outages more precisely; checkStrategy checks it.
  if (fallThrough.length === 0 || strategy?.on_errors) return;
  if (fallThrough.some((code) => RETRYABLE_STATUS_CODES.has(code))) return;
  const message =
    'no outage has one of these statuses, so none falls through to the next target: an overloaded upstream answers 429, 503 or 529, a failed connection counts as 502, a timeout as 504';
  report({ path: ['strategy', 'on_status_codes'], on: 'key', severity: 'warning', message });
}

function pointless(code: number, retry: boolean): string | undefined {
  if (code === CLIENT_LEFT) return 'no upstream answers 499: it stands for a client that disconnected';
  if (retry && NOT_RETRYABLE.has(code))
    return `a ${code} means that the request itself is wrong: a retry gets the same answer`;
  return undefined;
}

/** Warns of `context_window` on a group, which has no model. */
function checkContextWindow({ file, route }: ConfigNode, report: Report): void {
  if (route.kind === 'target' || !('context_window' in file) || file.context_window === undefined) return;
  const message = '`context_window` has no effect on a group: set it in the targets inside';
  report({ path: ['context_window'], on: 'key', severity: 'warning', message });
}

/** Warns of `retry` settings without `attempts`: the default is no retry. */
function checkAttempts({ file: { retry }, route }: ConfigNode, report: Report): void {
  if (!retry || retry.attempts !== undefined || Object.keys(retry).length === 0 || attemptsIn(route)) return;
  const message = '`retry` has no effect without `attempts`, which is 0 by default';
  report({ path: ['retry'], on: 'key', severity: 'warning', message });
}

const attemptsIn = (route: Route): boolean =>
  route.kind === 'target' ? route.retry.attempts > 0 : route.members.some(attemptsIn);

/** Warns of a target equal to another one beside it: it fails in the same way. */
function checkTwins({ file, route }: ConfigNode, report: Report): void {
  if (route.kind !== 'group' || route.mode === 'single') return;
  const seen = new Map<string, number>();
  for (const [index, member] of route.members.entries()) {
    if (member.kind !== 'target') continue;
    const plugins = file.targets?.[index]?.plugins;
    const content = JSON.stringify({ ...member, path: '', name: undefined, plugins }, (_, value: unknown) =>
      value instanceof Set ? [...value] : value,
    );
    const twin = seen.get(content);
    seen.set(content, twin ?? index);
    if (twin === undefined) continue;
    const message = `this target is the same as \`targets[${twin}]\`; use \`retry\` for more attempts at one target`;
    report({ path: ['targets', index], severity: 'warning', message });
    return;
  }
}

/** Statuses that reject one request. A breaker that counts them lets one caller open it for all callers. */
const OF_THE_REQUEST: ReadonlySet<number> = new Set([400, 411, 413, 414, 415, 422, 431]);

export const checkBreaker: Check = () => ({
  node({ file: { circuit_breaker: breaker } }, atNode, { nodes }) {
    if (!breaker) return;
    const report = within(atNode, 'circuit_breaker');
    for (const key of ['window', 'cooldown'] as const) {
      const value = breaker[key];
      checkUnit(key, value, report);
      if (value === undefined || parseDuration(value) > 0) continue;
      const effect = key === 'window' ? 'counts no failures' : 'never skips a target';
      report({ path: [key], message: `\`${key}: ${value}\` ${effect}; leave it out for the default` });
    }
    for (const [index, code] of (breaker.on_status_codes ?? []).entries()) {
      if (!OF_THE_REQUEST.has(code)) continue;
      const message = `a ${code} rejects one request: a caller that sends many such requests would open the breaker for all callers`;
      report({ path: ['on_status_codes', index], severity: 'warning', message });
    }
    // Requests can fall through in a group with more than one member.
    if (nodes.some(({ route }) => route.kind === 'group' && route.members.length > 1)) return;
    const message =
      'there is no other target to fall through to, so this one is always called: the breaker only reports its health';
    report({ path: [], on: 'key', severity: 'warning', message });
  },
});
