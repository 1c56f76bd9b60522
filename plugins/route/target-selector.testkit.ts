import type { Condition, GatewayFile } from '../../schemas/types.generated.ts';
import { compileGatewayConfig } from '../../src/core/settings/compile/gateway-config.ts';
import { failureKinds, GatewayError, UpstreamError, type ErrorCode, type FailureKind } from '../../src/plugin/index.ts';
import { toGatewayError, type ChoiceReason, type HealthDirectory, type Route } from '../../src/core/kernel/index.ts';
import type { ErrorDetails } from '../../src/plugin/errors.ts';
import {
  createAttempt,
  createConfig,
  createExchange,
  createFakeClock,
  createTry,
  runPlugin,
  type ExchangeParts,
  type FakeClock,
  type TestExchange,
} from '../../src/plugin/testing/index.ts';
import route from './index.ts';

/** A failure of each kind, as an upstream would cause it. */
const CODES: Readonly<Record<FailureKind, readonly [ErrorCode, ErrorDetails?]>> = {
  rate_limit: ['rate_limit_exceeded'],
  overloaded: ['overloaded'],
  server_error: ['upstream_error', { status: 500 }],
  conflict: ['upstream_conflict'],
  quota: ['insufficient_quota'],
  connection: ['connection_failed'],
  credentials: ['credentials_failed'],
  timeout_connect: ['timeout_connect'],
  timeout_first_byte: ['timeout_first_byte'],
  timeout_first_content: ['timeout_first_content'],
  timeout_idle: ['timeout_idle'],
  timeout_total: ['timeout_total'],
  stream_error: ['stream_interrupted', { inStream: true }],
  context_length: ['context_length_exceeded'],
  content_filter: ['content_filter'],
  empty: ['empty_reply'],
  finish_reason: ['unwanted_finish'],
  gateway_full: ['pool_exhausted', { ofGateway: true }],
  auth: ['invalid_api_key'],
  not_found: ['model_not_found'],
  invalid_request: ['upstream_rejected'],
  unsupported: ['unsupported_task'],
};

export function failureOf(kind: FailureKind, details: ErrorDetails = {}): GatewayError {
  const [code, own] = CODES[kind];
  // The gateway itself refuses what no target can do: no upstream has failed.
  const Failure = kind === 'unsupported' ? GatewayError : UpstreamError;
  return new Failure(code, `a ${kind}`, { ...own, ...details });
}

/** The condition of a conditional: this model goes to the target with this name. */
// oxlint-disable-next-line unicorn/no-thenable -- the schema's own word
export const condition = (model: string, then: string): Condition => ({ query: { model }, then });

/** A strategy tree, written as an operator writes it. */
export const treeOf = (file: GatewayFile): Route => compileGatewayConfig('test', file).route;

export interface Health {
  /** Breakers that are open, by the target's name: the moment from which they may be tried again. */
  readonly open?: Readonly<Record<string, number>>;
  readonly probing?: readonly string[];
}

export interface SelectorSetup extends Health {
  /** The failure of the target with this name; others answer. */
  readonly failures?: Readonly<Record<string, unknown>>;
  readonly exchange?: ExchangeParts;
  readonly clock?: FakeClock;
  readonly random?: () => number;
  /** Answers come from the cache, without a try at an upstream. */
  readonly cached?: boolean;
  /** Called during the attempt at a target. */
  readonly during?: (name: string, exchange: TestExchange) => void | Promise<void>;
}

/** The name of a target in these tests: its provider without `@`. */
export const nameOf = (target: { readonly provider: string | undefined; readonly path: string }): string =>
  target.provider?.slice(1) ?? target.path;

/** Sends a request through a tree whose targets fail as `failures` names them. */
export async function walk(tree: Route, setup: SelectorSetup = {}) {
  const { failures = {}, during, cached = false, clock = createFakeClock(), random } = setup;
  const exchange = createExchange({ config: createConfig({ route: tree }), ...setup.exchange });
  const tried: string[] = [];
  const reasons: ChoiceReason[] = [];
  /** Whether `choice.fallsThrough` announced another target, for each failure. */
  const fallsThrough: boolean[] = [];
  const { reported, health } = healthOf(setup);
  let nextCalls = 0;
  const failure: unknown = await runPlugin(route, {
    exchange,
    clock,
    ...(random && { random }),
    needs: {
      health,
      attempts: {
        async run(ctx, target, choice) {
          if (ctx.exchange !== exchange) throw new Error('another exchange');
          const name = nameOf(target);
          const attempt = createAttempt(exchange, { target, choice });
          tried.push(name);
          reasons.push(choice.reason);
          await during?.(name, exchange);
          if (!cached) attempt.tries.push(createTry());
          if (!(name in failures)) return;
          const error = failures[name];
          fallsThrough.push(choice.fallsThrough(toGatewayError(error)));
          throw error;
        },
      },
    },
    next: () => void (nextCalls += 1),
  }).then(
    () => undefined,
    (error: unknown) => error,
  );
  const skipped = exchange.skipped.map(({ target, reason, after }) => [nameOf(target), reason, after]);
  return { tried, failure, nextCalls, reasons, fallsThrough, skipped, health: reported, exchange };
}

/** Breakers in the given states, and what the walk reports to them: `a failed overloaded`. */
function healthOf({ open = {}, probing = [] }: Health) {
  const reported: string[] = [];
  const health: HealthDirectory = {
    of(_, target) {
      const name = nameOf(target);
      const retryAt = open[name];
      return {
        state: retryAt === undefined ? 'closed' : 'open',
        retryAt: retryAt ?? 0,
        admits: retryAt === undefined,
        begin: () => ({
          probe: probing.includes(name),
          succeeded: () => void reported.push(`${name} succeeded`),
          failed: (error) => void reported.push([name, 'failed', ...failureKinds(error)].join(' ')),
          abandoned: () => void reported.push(`${name} abandoned`),
        }),
      };
    },
  };
  return { reported, health };
}
