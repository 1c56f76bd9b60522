import { isCreated, type Middleware } from '../../core/kernel/define.ts';
import { readsFault } from '../../core/hooks/reads.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import type { Plugin } from '../define.ts';
import { GatewayError } from '../errors.ts';
import type { Reply } from '../reply.ts';
import type { CheckSetup } from './check-setup.ts';
import { checkSplits } from './check-splits.ts';
import { createAttempt, createContext, createExchange } from './exchange.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { finding, type PluginFinding } from './finding.ts';
import { keptAfter, Leftovers, watchEffects } from './leftovers.ts';
import { createReply, readBody } from './reply.ts';
import { BrokenRule, makePlugin, optionProblems, runGuarded, withDefaults } from './run-plugin.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';
import { createCaller } from './settings.ts';

/** Capabilities that a plugin of an author may need: each does as little as it can. */
const NEEDS: NonNullable<CheckSetup['needs']> = {
  keys: { find: () => createCaller() },
  attempts: { run: ({ exchange }) => Promise.resolve(void (exchange.reply = createReply('{}'))) },
  limits: { reserve: () => undefined },
};

interface Made {
  readonly plugin: Plugin;
  readonly middleware: Middleware;
  readonly clock: FakeClock;
  readonly setup: CheckSetup;
  /** Found after the run that they belong to. */
  readonly late: PluginFinding[];
}

/** The rules for how a plugin is made, runs and is closed. */
export async function checkRuns(plugin: Plugin, setup: CheckSetup): Promise<readonly PluginFinding[]> {
  const clock = setup.clock ?? createFakeClock();
  const options = withDefaults(plugin.options, setup.options ?? {});
  const leftovers = new Leftovers(plugin.name);
  const found: PluginFinding[] = [];
  try {
    const problems = optionProblems(plugin.options, options);
    // `options-default` reports a default that its own schema refuses.
    if (problems && optionProblems(plugin.options, setup.options ?? {}) === undefined) return [];
    if (problems) return [finding('options-given', 'options', `the schema refuses those of this check: ${problems}`)];
    const needs = { ...NEEDS, ...setup.needs };
    const { made, middleware, close } = await makePlugin(plugin, { ...setup, needs, clock });
    const fault = readsFault(plugin, made);
    if (fault === undefined && (plugin.reads !== undefined || isCreated(made))) {
      found.push(...(await checkMade({ plugin, middleware, clock, setup, late: [] }, made)));
    } else found.push(finding('create', 'create', fault ?? 'it returned no middleware'));
    found.push(...(await closed(close, clock)));
  } catch (error) {
    found.push(finding('create', 'create', `it fails: ${messageOf(error)}`));
  }
  if (clock.pending.length > 0) found.push(finding('leaks', 'host.clock', 'a timer is left after the close'));
  return firstOfEach([...found, ...(await leftovers.findings())]);
}

async function checkMade(made: Made, hooks: unknown): Promise<readonly PluginFinding[]> {
  const { plugin, setup } = made;
  const effects = watchEffects(plugin.name);
  const found: PluginFinding[] = [];
  try {
    for (const scenario of SCENARIOS) {
      const [first, second] = [await run(made, scenario), await run(made, scenario)];
      found.push(...first.findings);
      // Each further run of a plugin that does not end would wait as long.
      if (first.findings.some(({ rule }) => rule === 'ends')) return found;
      if (plugin.pure && first.reply !== second.reply)
        found.push(finding('pure', scenario.name, 'the same request twice gets two replies'));
    }
  } finally {
    const seen = effects.end();
    if (plugin.pure && seen !== undefined) found.push(finding('pure', 'the middleware', `it calls ${seen}`));
  }
  found.push(...(await checkCancellation(made)));
  const kept = await keptAfter(async () => (await run(made, SCENARIOS[0]!)).exchange);
  if (kept !== undefined) found.push(finding('growth', 'the middleware', kept));
  return [...found, ...made.late, ...checkSplits(plugin, hooks, setup.texts)];
}

interface Ran {
  readonly exchange: object;
  readonly findings: readonly PluginFinding[];
  /** Everything that the client would get, as one text. */
  readonly reply: string;
}

/** Time for a run that waits for something outside the check. */
const RUN_LIMIT_MS = 5000;

async function run(made: Made, scenario: Scenario, onWait?: (how: Waiting) => void): Promise<Ran> {
  const { plugin, middleware, clock, setup } = made;
  const findings: PluginFinding[] = [];
  const add = (rule: Parameters<typeof finding>[0], message: string): void =>
    void findings.push(finding(rule, scenario.name, message));
  const exchange = createExchange({ ...scenario.request, startedAt: clock.now(), ...setup.request });
  const attempt = plugin.level === 'attempt' ? createAttempt(exchange, { startedAt: clock.now() }) : undefined;
  const ctx = createContext(exchange, attempt);
  let calls = 0;
  let thrown: unknown;
  const next = (): void => {
    calls += 1;
    (attempt ?? exchange).reply = scenario.reply();
  };
  const work = runGuarded(plugin, middleware, {
    ctx,
    next,
    onLate: ({ rule, message }) => void made.late.push(finding(rule, scenario.name, message)),
  });
  const ended = await finish(
    work,
    clock,
    () => onWait?.({ exchange, attempt }),
    (error) => (thrown = error),
  );
  if (!ended) add('ends', `it has not ended after ${RUN_LIMIT_MS / 1000} s`);
  if (thrown instanceof BrokenRule) add(thrown.rule, thrown.message);
  else if (thrown !== undefined && !(thrown instanceof GatewayError)) addError(thrown, add);
  const { reply = exchange.reply } = attempt ?? {};
  const isAnswered = reply !== undefined || ctx.status !== 404 || ctx.body !== undefined;
  if (ended && thrown === undefined && calls === 0 && !isAnswered)
    add('replies', 'it neither calls `next()` nor replies');
  const body = ended && reply ? await readReply(reply, scenario, add) : '';
  exchange.end();
  // A call of `next()` after the end.
  await clock.advance(0);
  const code = thrown instanceof GatewayError ? thrown.code : '';
  return { exchange, findings, reply: JSON.stringify([code, reply?.status, reply?.headers, body]) };
}

type Add = (rule: Parameters<typeof finding>[0], message: string) => void;

function addError(thrown: unknown, add: Add): void {
  const message = messageOf(thrown);
  const isFrozen =
    thrown instanceof TypeError && /read only property|not extensible|Cannot delete property/.test(message);
  add(isFrozen ? 'frozen-body' : 'errors', isFrozen ? `it writes into the body: ${message}` : `it throws ${message}`);
}

async function readReply(reply: Reply, scenario: Scenario, add: Add): Promise<string> {
  const { status, headers, body } = reply;
  const isValid =
    Number.isInteger(status) &&
    status >= 200 &&
    status <= 999 &&
    Object.values(headers).every((value) => typeof value === 'string' && !/[\r\n\0]/.test(value)) &&
    (Buffer.isBuffer(body) || typeof (body as { readonly open?: unknown } | undefined)?.open === 'function');
  if (!isValid) {
    add('reply', 'its reply cannot be sent');
    return '';
  }
  try {
    let text: string | undefined;
    const reading = readBody(body).then((read) => (text = read));
    const limit = after(RUN_LIMIT_MS);
    await Promise.race([reading, limit.passed]);
    limit.stop();
    if (text === undefined) add('reply-passes', 'the body of its reply does not end');
    else if (text === '' && status === 200 && scenario.name !== 'the failure of an upstream')
      add('reply-passes', 'the body of its reply is empty');
    return text ?? '';
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown.code;
    addError(thrown, add);
    return '';
  }
}

function after(ms: number): { readonly passed: Promise<void>; readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  return { passed, stop: () => clearTimeout(timer) };
}

/** Moves the clock from wait to wait until the work has ended. @returns false: it waits for something else, for too long */
async function finish(
  work: Promise<unknown>,
  clock: FakeClock,
  onWait: () => void,
  onThrown: (thrown: unknown) => void,
): Promise<boolean> {
  const state = { isDone: false };
  work.catch(onThrown).finally(() => (state.isDone = true));
  const end = performance.now() + RUN_LIMIT_MS;
  for (let turns = 0; !state.isDone; turns += 1) {
    await clock.advance(0);
    if (state.isDone) break;
    onWait();
    if (performance.now() > end && turns > 100) return false;
    const [due] = clock.pending;
    if (due === undefined) await after(2).passed;
    else await clock.advance(due);
  }
  return true;
}

interface Waiting {
  readonly exchange: ReturnType<typeof createExchange>;
  readonly attempt: ReturnType<typeof createAttempt> | undefined;
}

/** After a cancellation a plugin has this time; on a slow machine, as many turns of the event loop. */
const CANCEL_MS = 100;
const CANCEL_TURNS = 60;
/** Waits of a run at which the client leaves, each in a run of its own. */
const MOST_WAITS = 4;

async function checkCancellation(made: Made): Promise<readonly PluginFinding[]> {
  for (let wait = 0; wait < MOST_WAITS; wait += 1) {
    let seen = 0;
    let turns = 0;
    let left: number | undefined;
    let isLate = false;
    const { findings } = await run(
      { ...made, clock: stopped(made.clock, () => left !== undefined) },
      SCENARIOS[0]!,
      ({ exchange, attempt }) => {
        if (left !== undefined) {
          turns += 1;
          isLate ||= turns > CANCEL_TURNS && performance.now() - left > CANCEL_MS;
          return;
        }
        if (seen++ < wait) return;
        left = performance.now();
        const gone = new GatewayError('client_closed', 'The client has left.');
        attempt?.cancellation.cancel(gone);
        exchange.cancellation.cancel(gone);
      },
    );
    if (left === undefined) return [];
    if (isLate || findings.some(({ rule }) => rule === 'ends'))
      return [
        finding(
          'cancellation',
          `wait ${wait + 1}`,
          `it goes on for more than ${CANCEL_MS} ms after the client has left`,
        ),
      ];
  }
  return [];
}

/** A clock whose timers are not moved along once the client has left: a wait that ends only with its time is too long. */
const stopped = (clock: FakeClock, isStopped: () => boolean): FakeClock => ({
  ...clock,
  advance: (ms) => clock.advance(isStopped() ? 0 : ms),
  get pending() {
    return isStopped() ? [] : clock.pending;
  },
  get started() {
    return clock.started;
  },
});

async function closed(close: () => Promise<void>, clock: FakeClock): Promise<readonly PluginFinding[]> {
  const found: PluginFinding[] = [];
  for (const time of ['first', 'second']) {
    const ended = await finish(
      close(),
      clock,
      () => {},
      (thrown) => found.push(finding('close', 'host.onClose', `the ${time} close fails: ${messageOf(thrown)}`)),
    );
    if (!ended) found.push(finding('close', 'host.onClose', `the ${time} close does not end`));
    if (found.length > 0) return found;
  }
  return found;
}

/** The same rule breaks in most scenarios at once. */
const firstOfEach = (found: readonly PluginFinding[]): readonly PluginFinding[] =>
  found.filter((one, index) => found.findIndex(({ rule }) => rule === one.rule) === index);
