import { GatewayError, UpstreamError, type ErrorCode, type FailureKind } from '../../../plugin/index.ts';
import {
  fallsThroughTo,
  type Attempt,
  type Exchange,
  type Group,
  type Route,
  type Target,
} from '../../../core/kernel/index.ts';
import { targetsOf } from '../../../core/memory/ports.ts';
import { isInUse, wayTo } from './way-to-target.ts';

const CODES = {
  server_error: 'upstream_error',
  overloaded: 'overloaded',
  rate_limit: 'rate_limit_exceeded',
  timeout_first_byte: 'timeout_first_byte',
  timeout_first_content: 'timeout_first_content',
  timeout_connect: 'timeout_connect',
  timeout_idle: 'timeout_idle',
  timeout_total: 'timeout_total',
  connection: 'connection_failed',
  credentials: 'credentials_failed',
  conflict: 'upstream_conflict',
  quota: 'insufficient_quota',
  stream_error: 'stream_interrupted',
  gateway_full: 'pool_exhausted',
  auth: 'upstream_permission',
  not_found: 'model_not_found',
  invalid_request: 'upstream_rejected',
  context_length: 'context_length_exceeded',
  content_filter: 'content_filter',
  empty: 'empty_reply',
  finish_reason: 'unwanted_finish',
  unsupported: 'unsupported_task',
} as const satisfies Record<FailureKind, ErrorCode>;

/** One failure of each kind; first those that depend least on the request. None is retried at its target. */
export const EXAMPLE_FAILURES: ReadonlyMap<FailureKind, GatewayError> = new Map(
  Object.entries(CODES).map(([kind, code]) => {
    const details = { shouldRetry: false };
    const error =
      code === 'unsupported_task'
        ? new GatewayError(code, 'supposed', details)
        : new UpstreamError(code, 'supposed', details);
    return [kind as FailureKind, error];
  }),
);

/** A failure for rules that match by status. */
export const exampleOfStatus = (status: number): UpstreamError =>
  new UpstreamError('upstream_rejected', 'supposed', { status, shouldRetry: false });

/** Failure kinds and statuses that fall through to another target. */
export interface NextAfter {
  readonly kinds: readonly FailureKind[];
  readonly statusCodes: readonly number[];
}

/** The failures of an attempt that would fall through, as far as known before it starts. */
export function nextAfterOf({ config }: Exchange, { choice, target }: Attempt): NextAfter {
  const kinds = [...EXAMPLE_FAILURES].flatMap(([kind, error]) =>
    occursAt(kind, target) && choice.fallsThrough(error) ? [kind] : [],
  );
  const statuses = config ? statusCodesIn(config.route) : [];
  return { kinds, statusCodes: statuses.filter((status) => choice.fallsThrough(exampleOfStatus(status))) };
}

/** A complete reply is a failure only where the config says so, whatever rule on statuses would match it. */
function occursAt(kind: FailureKind, { unwanted }: Target): boolean {
  if (kind === 'empty') return unwanted?.empty ?? false;
  return kind !== 'finish_reason' || (unwanted?.finishReasons.size ?? 0) > 0;
}

function statusCodesIn(route: Route): readonly number[] {
  const codes = new Set(groupsIn(route).flatMap(({ fallsThrough }) => [...fallsThrough.statusCodes]));
  return [...codes].toSorted((a, b) => a - b);
}

/**
 * Selects the failure that falls through to the nearest remaining target: an inner group has rules of its own, and a
 * failure that it stops may fall through in the outer one.
 */
export function nearestFailure(
  failures: readonly GatewayError[],
  { config, attempts, skipped }: Exchange,
  target: Target,
): GatewayError | undefined {
  const met = new Set([...attempts, ...skipped].map((each) => each.target));
  const isOpen = (group: Group, member: Route): boolean =>
    isInUse(group, member) && targetsOf(member).every((each) => !met.has(each));
  for (const { around } of config ? wayTo(config.route, target).toReversed() : []) {
    if (around.kind !== 'group' || !around.members.some((member) => isOpen(around, member))) continue;
    const found = failures.find((error) => fallsThroughTo(around.fallsThrough, error));
    if (found) return found;
  }
  return failures[0];
}

const groupsIn = (route: Route): readonly Group[] =>
  route.kind === 'target'
    ? []
    : [...(route.kind === 'group' ? [route] : []), ...route.members.flatMap((member) => groupsIn(member))];
