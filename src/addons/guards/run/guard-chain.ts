import type { Guard as GuardFile } from '../../../../schemas/types.generated.ts';
import { hooked, type HookTools } from '../../../core/hooks/hooked.ts';
import { wholeBody } from '../../../core/hooks/whole-body.ts';
import type { GatewayContext, GuardSettings, GuardVerdict } from '../../../core/kernel/index.ts';
import { compileGuard, hasOwnTexts, type CompiledGuard, matchesAnywhere, metadataOf, modelsOf } from '../guard.ts';
import { searchFor } from '../search/index.ts';
import { holdsOf } from '../plugins/words.ts';
import { jwtStep } from './jwt.ts';
import type { GuardNext, GuardStep, GuardTools } from './step.ts';
import { textHooks, type GuardHooks } from './text-hooks.ts';
import { CHECKS } from '../settings/check-options.ts';
import { countAll, Verdict, verdictOf } from './verdicts.ts';
import { GuardWebhook } from './webhook.ts';
import { webhookSteps } from './webhook-hooks.ts';
import { Globs } from '../../../core/catalog/globs.ts';
import type { TextSearch } from '../search/text-search.ts';

type Guards = readonly GuardSettings[] | undefined;

/** Middleware that runs the guards of a request, or of an attempt: the first one is outermost, and sees the reply last. */
export function openGuards(
  level: 'request' | 'attempt',
  ofServer: readonly GuardFile[] | undefined,
  tools: GuardTools,
): GuardStep {
  const compiled = new WeakMap<readonly GuardSettings[], readonly GuardStep[]>();
  const runsOf = (list: Guards): readonly GuardStep[] => {
    if (!list) return NONE;
    let runs = compiled.get(list);
    // Keys of the state store come while the chains stay, so that lists are compiled at their first use.
    if (!runs) compiled.set(list, (runs = (list as readonly GuardFile[]).map((file) => runOf(file, tools))));
    return runs;
  };
  runsOf(ofServer);
  return (ctx, next) => {
    const { exchange, attempt } = ctx;
    if (!exchange.guards) {
      const verdicts: GuardVerdict[] = [];
      exchange.guards = verdicts;
      const { count } = tools;
      const ended = (some: readonly GuardVerdict[]): void => {
        count?.(some);
        for (const one of some)
          if (one instanceof Verdict && one.skippedFor !== undefined)
            tools.log.warn(
              { request_id: exchange.id, guard: one.guard, on: one.on, err: one.skippedFor },
              'a guard could not check, and let it pass',
            );
      };
      if (count) exchange.onEnd(() => countAll(verdicts, ended));
    }
    const lists: readonly Guards[] =
      level === 'attempt' ? [attempt?.target.guards] : [ofServer, exchange.caller?.guards, exchange.config?.guards];
    const run = inOrder(lists.flatMap(runsOf), ctx, next);
    return level === 'request' && tools.wholeReplies ? run.then(() => readWhole(ctx, tools.maxBytes)) : run;
  };
}

async function readWhole({ exchange: { reply, cancellation } }: GatewayContext, most: number): Promise<void> {
  if (reply?.form === 'json' && !Buffer.isBuffer(reply.body))
    reply.body = await wholeBody(reply.body, most, cancellation);
}

const NONE: readonly GuardStep[] = [];

function inOrder(runs: readonly GuardStep[], ctx: GatewayContext, next: GuardNext, at = 0): Promise<void> {
  const run = runs[at];
  return run ? run(ctx, () => inOrder(runs, ctx, next, at + 1)) : next();
}

function runOf(file: GuardFile, tools: GuardTools): GuardStep {
  const guard = compileGuard(file);
  const steps = stepsOf(guard, tools);
  const readsTexts = guard.input && !CHECKS[guard.check].ofRequest;
  return (ctx, next) => {
    if (!guard.includes(ctx)) return next();
    // A guard of a target reads them in the body of its attempt.
    if (readsTexts && !ctx.attempt && hasOwnTexts(ctx.exchange.config))
      verdictOf(ctx.exchange, guard, 'input').unseen(OWN_TEXTS, guard.action !== 'observe');
    return inOrder(steps, ctx, next);
  };
}

const OWN_TEXTS = 'the texts that the config sent with the request adds, which belong in its body,';

function stepsOf(guard: CompiledGuard, tools: GuardTools): readonly GuardStep[] {
  const breaks = factsFor(guard);
  if (breaks)
    return [
      (ctx, next) => {
        const verdict = verdictOf(ctx.exchange, guard, 'input');
        if (breaks(ctx)) verdict.found();
        return next();
      },
    ];
  if (guard.check === 'jwt') return [jwtStep(guard, tools)];
  const hookTools: HookTools = {
    instance: guard.name,
    clock: tools.clock,
    maxBytes: tools.maxBytes,
    onHeld(ms, { exchange }) {
      const verdict = verdictOf(exchange, guard, 'output');
      verdict.heldMs = Math.max(ms, verdict.heldMs ?? 0);
    },
    onFault: (error, requestId) => tools.pluginFault({ kind: 'stream', plugin: guard.name, requestId, error }),
  };
  const run = (hooks: GuardHooks | undefined): readonly GuardStep[] =>
    hooks ? [hooked({ level: 'request', reads: hooks.reads }, hooks.hooks, hookTools)] : [];
  const search = searchFor(guard.check, guard.options);
  const words = tools.dry ? holdWords(guard, search) : undefined;
  const told: readonly GuardStep[] = words === undefined ? [] : [telling(words)];
  if (search) return [...told, ...run(textHooks(guard, search))];
  const { request, reply } = webhookSteps(guard, tools.dry ? undefined : new GuardWebhook(guard.options, tools));
  return [...told, ...run(request), ...(reply ? [...run(reply.replaces), reply.asks, ...run(reply.collects)] : [])];
}

const telling =
  (words: string): GuardStep =>
  ({ exchange }, next) => {
    holdsOf.set(exchange, (holdsOf.get(exchange) ?? new Set()).add(words));
    return next();
  };

/** Whether the facts of a request break the rule of a guard. */
type Breaks = (ctx: GatewayContext) => boolean;

function models({
  allow,
  deny = [],
}: {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}): Breaks {
  const allowed = allow && new Globs(allow);
  const denied = new Globs(deny);
  const isBroken = (names: readonly string[]): boolean =>
    names.some((name) => matchesAnywhere(denied, name)) ||
    (allowed !== undefined && !names.some((name) => allowed.matches(name)));
  return (ctx) => modelsOf(ctx).some(isBroken);
}

function metadata({
  required = [],
  allowed = {},
}: {
  readonly required?: readonly string[];
  readonly allowed?: Readonly<Record<string, readonly string[]>>;
}): Breaks {
  const values = Object.entries(allowed).map(([key, list]) => [key, new Set(list)] as const);
  return (ctx) =>
    required.some((key) => metadataOf(ctx, key) === undefined) ||
    values.some(([key, list]) => {
      const value = metadataOf(ctx, key);
      return value !== undefined && !list.has(value);
    });
}

/** The rule of a check that reads no text. Undefined: the check is of another kind. */
export function factsFor({ check, options }: CompiledGuard): Breaks | undefined {
  if (check === 'models') return models(options);
  return check === 'metadata' ? metadata(options) : undefined;
}

/** How much of a reply waits for a guard, and why, for `gatehouse explain`. Undefined: nothing waits. */
function holdWords(
  { name, check, action, output, hold }: CompiledGuard,
  search: Pick<TextSearch, 'decided' | 'longest'> | undefined,
): string | undefined {
  if (!output || action === 'observe') return undefined;
  const whole = `${name} holds the whole reply, so that the client waits for its end:`;
  if (!search) return `${whole} the webhook is asked about whole texts`;
  if (!search.decided)
    return `${whole} ${check === 'regex' ? 'a match of its pattern has no longest length' : `the check ${check} decides about whole texts`}`;
  if (hold.mode === 'all') return `${whole} \`hold: { mode: all }\` lets a refusal have its status`;
  const most = Math.min(search.longest ?? Infinity, hold.bytes ?? Infinity);
  return `${name} holds the end of each text of a stream while it may be the begin of a match, at most ${most} characters: ${
    most === search.longest ? 'the longest match of its check' : '`hold: { bytes }`'
  }`;
}
