import type { CatalogEntry, Retry, ServerFile, Timeouts } from '../../../../schemas/types.generated.ts';
import { firstByteOf, readTimeouts } from '../../kernel/timeouts.ts';
import { parseDuration } from '../../kernel/units.ts';
import { parseSeconds, type RetrySettings, type TimeoutSettings } from '../../kernel/index.ts';
import type { Report } from '../../kernel/report.ts';
import { compileServerSettings } from '../compile/server-settings.ts';
import { isInside, within, type Check, type CheckedConfig, type ConfigNode } from './check.ts';
import { entryOfTarget } from './entries.ts';

/** Reports times that end every request, that another time makes useless, or that were meant in another unit. */
export const checkTimes: Check = ({ server, catalog }) => {
  const ofServer = server ? compileServerSettings(server).timeouts : {};
  const timeoutsOf = (node: ConfigNode): TimeoutSettings => effectiveTimeouts(node, ofServer, catalog?.providers);
  return {
    server: checkServerTimes,
    entry({ timeouts }, report) {
      checkTimeouts(timeouts, { ...ofServer, ...readTimeouts(timeouts ?? {}) }, within(report, 'timeouts'));
    },
    node(node, report) {
      const { request_timeout, timeouts, remote_media, cache } = node.file;
      const effective = timeoutsOf(node);
      if (request_timeout !== undefined) checkOne('request_timeout', request_timeout, report);
      checkTimeouts(timeouts, effective, within(report, 'timeouts'));
      checkMediaTimeout(remote_media?.timeout, effective.total, within(report, 'remote_media'));
      checkMaxAge(cache?.max_age, within(report, 'cache'));
      if (request_timeout === undefined || timeouts?.total === undefined) return;
      const message = '`request_timeout` and `timeouts.total` set the same time; keep one of them';
      report({ path: ['request_timeout'], on: 'key', message });
    },
    target: ({ file, route }, report) => checkDelays(file.retry, route.retry, within(report, 'retry')),
    config: (config, report) => checkDeadline(config, timeoutsOf, report),
  };
};

function effectiveTimeouts(
  { file, route }: ConfigNode,
  ofServer: TimeoutSettings,
  entries: readonly CatalogEntry[] | undefined,
): TimeoutSettings {
  const target = route.kind === 'target' ? route : undefined;
  const entry = target && entryOfTarget(target, entries);
  const { request_timeout, timeouts } = file;
  return {
    ...ofServer,
    ...readTimeouts(entry?.timeouts ?? {}),
    ...(target?.timeouts ?? readTimeouts({ total: request_timeout, ...timeouts })),
  };
}

function checkServerTimes(file: ServerFile, report: Report): void {
  const { timeouts, deadlineMs } = compileServerSettings(file);
  checkTimeouts(file.timeouts, timeouts, within(report, 'timeouts'));
  for (const key of ['header_time', 'body_time', 'form_idle_time', 'plugin_time', 'commit_time'] as const)
    checkUnit(key, file.limits?.[key], within(report, 'limits'));
  for (const key of ['delay', 'timeout'] as const) checkUnit(key, file.drain?.[key], within(report, 'drain'));
  if (file.deadline === undefined) return;
  checkOne('deadline', file.deadline, report);
  const firstByte = firstByteOf(true, timeouts);
  // The limit of streams: such a silence of a stream is a fault, but a plain reply may need as long.
  if (deadlineMs === 0 || deadlineMs > firstByte) return;
  const message = `\`deadline\` (${deadlineMs} ms) passes before \`timeouts.first_byte\` (${firstByte} ms): when a target stays silent, no time is left for a fallback`;
  report({ path: ['deadline'], severity: 'warning', message });
}

/** In other gateways 0 means "no limit"; here it would end every request at once. */
const NO_TIME = 'would end every request at once; leave it out for the default, or give a long time';

/**
 * Each timeout with the timeouts that bound it: they count from the same moment, so the longer of the two has no effect.
 * `first_content` applies to streams only, so it does not bound `first_byte` of a plain reply.
 */
const WITHIN = [
  ['connect', 'connect', ['first_byte', 'total']],
  ['first_byte', 'firstByteOfStream', ['total']],
  ['first_content', 'firstContent', ['total']],
  ['idle', 'idle', ['total']],
] as const;
const NAMES = { first_byte: 'firstByteOfStream', first_content: 'firstContent', total: 'total' } as const;

/** @param effective the timeouts that apply here, including inherited ones */
function checkTimeouts(timeouts: Timeouts = {}, effective: TimeoutSettings, report: Report): void {
  for (const [name, value] of Object.entries(timeouts)) checkOne(name, value, report);
  const own = readTimeouts(timeouts);
  for (const [name, key, outer] of WITHIN) {
    const time = own[key];
    const sooner = outer.find((other) => time !== undefined && time > (effective[NAMES[other]] || Infinity));
    if (sooner === undefined) continue;
    const message = `\`${name}\` (${time} ms) has no effect: \`${sooner}\` (${effective[NAMES[sooner]]} ms) ends the request first`;
    report({ path: [name], severity: 'warning', message });
  }
}

function checkOne(name: string, value: string | number, report: Report): void {
  if (parseDuration(value) === 0) report({ path: [name], message: `\`${name}: ${value}\` ${NO_TIME}` });
  else checkUnit(name, value, report);
}

/** @param below a smaller number was likely meant as seconds, in which other tools count */
export function checkUnit(name: string, value: string | number | undefined, report: Report, below = 1000): void {
  if (typeof value !== 'number' || value === 0 || value >= below) return;
  const message = `a number without a unit counts milliseconds: this is ${value} ms`;
  report({ path: [name], severity: 'warning', message, suggestion: `${value}s` });
}

/** The schema limits numbers only. */
function checkMaxAge(age: string | number | undefined, report: Report): void {
  if (typeof age !== 'string' || parseSeconds(age) <= YEAR_MS) return;
  report({ path: ['max_age'], message: '`max_age` must be at most 8760h' });
}

const YEAR_MS = 8760 * 3_600_000;

function checkMediaTimeout(timeout: string | number | undefined, totalMs: number | undefined, report: Report): void {
  const time = timeout === undefined ? 0 : parseDuration(timeout);
  if (totalMs === undefined || time <= totalMs) return;
  const message = `\`timeout\` (${time} ms) has no effect: \`total\` (${totalMs} ms) ends the request first`;
  report({ path: ['timeout'], severity: 'warning', message });
}

/** Warns of a target that can stay silent until the deadline and leave no time for the targets after it. Reports the first only. */
function checkDeadline(
  { file: { deadline }, nodes, targets }: CheckedConfig,
  timeoutsOf: (node: ConfigNode) => TimeoutSettings,
  report: Report,
): void {
  if (deadline === undefined) return;
  checkOne('deadline', deadline, report);
  const time = parseDuration(deadline);
  for (const target of targets.filter((one) => hasNext(one, nodes))) {
    const { firstByteOfStream: silence, total = Infinity } = timeoutsOf(target);
    if (silence === undefined || Math.min(silence, total) < time || time === 0) continue;
    const message = `\`deadline\` (${time} ms) passes before \`first_byte\` (${silence} ms) of \`${target.route.path.replace('config.', '')}\`: when that target stays silent, no time is left for the fallback`;
    report({ path: ['deadline'], severity: 'warning', message });
    return;
  }
}

/** True for a target with another one after it, to which a failure would fall through. */
const hasNext = ({ path }: ConfigNode, nodes: CheckedConfig['nodes']): boolean =>
  nodes.some(({ route, path: around }) => {
    const index = path[around.length + 1];
    if (!isInside(path, around) || route.kind !== 'group' || typeof index !== 'number') return false;
    return route.mode === 'loadbalance' ? route.members.length > 1 : index < route.members.length - 1;
  });

/** Reports a `min_delay` above `max_delay`, at the key that is set; the other may be a default. */
function checkDelays(retry: Retry | undefined, compiled: RetrySettings, report: Report): void {
  if (retry?.min_delay === undefined && retry?.max_delay === undefined) return;
  const { minDelayMs, maxDelayMs } = compiled;
  if (minDelayMs <= maxDelayMs) return;
  const key = retry.min_delay === undefined ? 'max_delay' : 'min_delay';
  report({ path: [key], message: `\`min_delay\` (${minDelayMs} ms) is longer than \`max_delay\` (${maxDelayMs} ms)` });
}
