import { pino, type Logger } from 'pino';
import type { Attempt } from '../../core/kernel/attempt.ts';
import { readOptions } from '../../core/settings/compile/plugin-options.ts';
import type { Capabilities, CapabilityName } from '../../core/kernel/capabilities.ts';
import { hooked } from '../../core/hooks/hooked.ts';
import { toMiddleware, type CreatedPlugin, type PluginHost, type Middleware } from '../../core/kernel/define.ts';
import type { Exchange, GatewayContext } from '../../core/kernel/exchange.ts';
import { subjectOf } from '../../core/http/chain/compose.ts';
import type { Plugin, PluginWords } from '../define.ts';
import type { CallerMaker, HostServices } from '../services.ts';
import { addServices } from '../../core/host/services.ts';
import { UpstreamError } from '../errors.ts';
import { runForPlugin } from '../../core/kernel/outside/plugin-work.ts';
import { NO_TURNS } from '../../core/kernel/turns.ts';
import { createAttempt, createContext, createExchange } from './exchange.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createCaller } from './settings.ts';

export interface HostSetup {
  /** Fakes for the capabilities that the plugin names in `needs`. */
  readonly needs?: { readonly [Name in CapabilityName]?: Partial<Capabilities[Name]> };
  readonly clock?: FakeClock;
  /** Default: always 0.5. */
  readonly random?: () => number;
  /** Default: `serve`. */
  readonly mode?: 'serve' | 'dry';
  /** Answers `host.fetch`. Default: it fails. */
  readonly fetch?: HostServices['fetch'];
  /** Makes the callers of `host.callers`. Default: any, without a check of the team. */
  readonly callers?: Partial<CallerMaker>;
}

export interface RunSetup extends HostSetup {
  /** Default: none. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly exchange?: Exchange;
  /** For plugins of the attempt chain. Default: a first attempt of the exchange. */
  readonly attempt?: Attempt;
  /** Default: created from `exchange` and `attempt`. */
  readonly context?: GatewayContext;
  /** The rest of the chain. Default: does nothing. */
  readonly next?: (ctx: GatewayContext) => Promise<void> | void;
}

export interface PluginRun {
  readonly ctx: GatewayContext;
  /** Number of calls of `next`. */
  readonly nextCalls: number;
  /** Log lines of the plugin. */
  readonly log: readonly Record<string, unknown>[];
  /** The plugin's description of this run for `gatehouse explain`. */
  explain(): PluginWords | undefined;
  /** Runs the tasks that the plugin passed to `host.onClose`, last first; again when it is called again. */
  close(): Promise<void>;
}

/**
 * Creates a plugin with valid options and runs it once, under the rules of a chain. Throws TypeError for invalid
 * options, and any error of the plugin.
 */
export async function runPlugin(plugin: Plugin, setup: RunSetup = {}): Promise<PluginRun> {
  const { exchange = createExchange(), next = () => {} } = setup;
  const { options, middleware, log, close } = await makePlugin(plugin, setup);
  const attempt = plugin.level === 'attempt' && !setup.context ? (setup.attempt ?? createAttempt(exchange)) : undefined;
  const ctx = setup.context ?? createContext(exchange, attempt);
  const isIdle = plugin.idleFor?.(subjectOf[plugin.level](ctx), options) ?? false;
  const nextCalls = await runGuarded(plugin, isIdle ? (_, rest) => rest() : middleware, { ctx, next });
  return { ctx, nextCalls, log, explain: () => plugin.explain?.(ctx, options), close };
}

/** A plugin with valid options, made once for any number of runs. */
export async function makePlugin(plugin: Plugin, setup: HostSetup & Pick<RunSetup, 'options'>) {
  const { options, problems } = readOptionsOf(plugin.options, setup.options ?? {});
  if (problems) throw new TypeError(`the options of "${plugin.name}": ${problems}`);
  const { host, log, close } = createHost(plugin, setup);
  const made: unknown = await runForPlugin(plugin.name, () => plugin.create({ options, host }));
  const tools = { instance: plugin.name, clock: host.clock, maxBytes: Infinity, onFault: rethrow };
  const middleware = plugin.reads ? hooked(plugin, made, tools) : toMiddleware(made as CreatedPlugin);
  return { options, made, middleware, log, close };
}

const rethrow = (thrown: unknown): never => {
  throw thrown;
};

/** A plugin breaks a rule of a chain. */
export class BrokenRule extends Error {
  readonly rule: 'next-once' | 'next-awaited' | 'next-late';

  constructor(rule: BrokenRule['rule'], message: string) {
    super(message);
    this.rule = rule;
  }
}

interface Chain {
  readonly ctx: GatewayContext;
  readonly next: (ctx: GatewayContext) => Promise<void> | void;
  /** Called for a `next()` after the end of the plugin, which then has no effect. Default: it rejects. */
  readonly onLate?: ((broken: BrokenRule) => void) | undefined;
}

/**
 * Enforces the rules that src/core/http/chain enforces in production: `next` is called once unless the plugin repeats, awaited,
 * and never after the plugin has finished.
 */
export async function runGuarded(
  { name, repeats }: Plugin,
  middleware: Middleware,
  { ctx, next, onLate }: Chain,
): Promise<number> {
  let calls = 0;
  let running = 0;
  let finished = false;
  const downstream = async (): Promise<void> => {
    if (finished) {
      const late = new BrokenRule('next-late', `plugin "${name}" called next() after it had finished`);
      if (!onLate) throw late;
      return onLate(late);
    }
    calls += 1;
    if (calls > 1 && !repeats)
      throw new BrokenRule('next-once', `plugin "${name}" called next() twice without declaring repeats`);
    running += 1;
    try {
      // A real chain never completes synchronously; without this, a missing `await` would go unnoticed.
      await Promise.resolve();
      await next(ctx);
    } finally {
      running -= 1;
    }
  };
  // Of an external plugin, which gets bodies frozen.
  await runForPlugin(name, () => middleware(ctx, downstream));
  finished = true;
  if (running > 0) throw new BrokenRule('next-awaited', `plugin "${name}" did not await next()`);
  return calls;
}

export function createHost({ name, needs, errors = {}, state }: Plugin, setup: HostSetup) {
  const { needs: wanted = {}, clock = createFakeClock(), random = () => 0.5, mode = 'serve' } = setup;
  // Without turns from the test, large bodies do not wait.
  const given: Readonly<Record<string, object>> = { turns: NO_TURNS, ...wanted };
  for (const need of needs)
    if (!given[need]) throw new TypeError(`plugin "${name}" needs "${need}": give it one in \`needs\``);
  const log: Record<string, unknown>[] = [];
  const closers: (() => void | Promise<void>)[] = [];
  let logger: Logger | undefined;
  const capabilities = Object.fromEntries(needs.map((need) => [need, given[need]]));
  // A test fakes only the parts of a capability that its plugin uses.
  const host = {
    ...capabilities,
    clock,
    random,
    mode,
    // Most plugins never log, and a logger takes a third of the time of a run.
    get log(): Logger {
      return (logger ??= pino(
        { level: 'trace', base: null },
        { write: (line: string) => void log.push(JSON.parse(line) as Record<string, unknown>) },
      ));
    },
    onClose: (task: () => void | Promise<void>) => void closers.push(task),
  } as unknown as PluginHost<CapabilityName>;
  const close = async (): Promise<void> => {
    for (const task of closers.toReversed()) await task();
  };
  // The built-in plugin `cache` has a capability of the name of a service, and no services.
  if (needs.includes('cache')) return { host, log, close };
  const served = addServices(
    host,
    { instance: name, errors, keeps: state, onClose: host.onClose },
    {
      dry: mode === 'dry',
      clock,
      exchange: () => Promise.reject(new UpstreamError('connection_failed', 'give `fetch` to answer it')),
      callers: () => ({
        byId: (id) => createCaller({ keyId: id }),
        // A Caller of the API does not show its limits.
        make: ({ id, limits: _, ...parts }) => createCaller({ ...parts, keyId: id }),
        ...setup.callers,
      }),
      state: undefined,
    },
  );
  if (setup.fetch) Object.defineProperty(served, 'fetch', { value: setup.fetch });
  return { host: served, log, close };
}

/** Options as the gateway reads them, with the defaults of the schema, or their problems in its words: also a wrong schema. */
export function readOptionsOf(schema: object, written: object) {
  const problems: string[] = [];
  const note = ({ message }: { readonly message: string }): void => void problems.push(message);
  const options = readOptions({ schema, trusted: false }, { ...written }, [], note);
  return { options: options ?? {}, problems: problems.length === 0 ? undefined : problems.join('; ') };
}
