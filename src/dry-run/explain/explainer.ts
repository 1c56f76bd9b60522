import type Koa from 'koa';
import type { Logger } from 'pino';
import { builtinPlugins } from '../../../plugins/index.ts';
import { ModelLabels } from '../../catalog/model-labels.ts';
import { PluginRegistry } from '../../chain/registry.ts';
import { noReply } from '../../chain/unanswered.ts';
import type { Explanation } from '../explanation/explanation.ts';
import { toGatewayError, type Clock, type Exchange, type Target } from '../../plugin/index.ts';
import type { SettingsFiles } from '../../settings/source/files.ts';
import { loadSettings, type LoadResult, type Settings } from '../../settings/read/load.ts';
import type { Environment } from '../../settings/read/resolve-references.ts';
import { compileServerSettings } from '../../settings/compile/server-settings.ts';
import { HealthStore } from '../../state/memory/target-health.ts';
import { ReplyStores } from '../../translate/cached-replies.ts';
import { HttpExchange } from '../../gateway/exchange.ts';
import { InFlight } from '../../gateway/admission/in-flight.ts';
import { answerByStatus } from '../../gateway/koa-reply.ts';
import { ignorePluginFaults } from '../../gateway/plugin-faults.ts';
import { loadPluginModules } from '../../compose/plugin-modules.ts';
import { compileSnapshot, type Snapshot } from '../../compose/snapshot.ts';
import type { ListedPlugin } from '../../compose/chain-builder.ts';
import { ExplainedRun } from './explained-run.ts';
import { FrozenClock } from './frozen-clock.ts';
import { WELL, type FrozenHealth, type HealthThen, type ReadHealth } from './frozen-health.ts';
import { inSlices } from './in-slices.ts';
import { inboundContext, routed } from './inbound.ts';
import type { Observation, PluginStep } from './observation.ts';
import type { ExplainQuestion } from './question.ts';
import { NO_RECORDER, NO_UPSTREAM, NoTokens, fakeMissing } from './fakes.ts';
import { expired, suppose, withKey, type Supposed } from './supposed-caller.ts';
import { describeRun } from './describe/index.ts';
import { findOrigins } from './describe/outbound-fields.ts';
import { watchPlugins } from './watch.ts';
import { SettingsRefused } from '../../settings/problems/refused.ts';

export interface ExplainerSetup {
  /** Folder of the settings. */
  readonly configs: string;
  readonly env: Environment;
  /** The files as they were when the settings came into force, or as they are. */
  readonly files: SettingsFiles;
  readonly clock: Clock;
  readonly log: Logger;
  /** Secrets that this machine does not have are stood in for, and told in a note. Default: they are errors. */
  readonly fakeMissing?: boolean;
  /** How the gateway's targets do. Default: all are well. */
  readonly health?: Pick<HealthStore, 'peek'>;
  /** The gateway's kept replies. Default: none. */
  readonly replies?: ReplyStores;
  /** The plugins that serve with these settings. Default: those of the modules as they are now. */
  readonly registry?: PluginRegistry;
}

/** Settings compiled to be asked, not to serve. */
interface Compiled {
  readonly clock: FrozenClock;
  readonly asking: Asking;
  readonly loaded: LoadResult;
  readonly settings: Settings;
  readonly snapshot: Snapshot;
  readonly listed: readonly ListedPlugin[];
}

/** Of the question that is being answered: there is one at a time. */
interface Asking {
  draws: readonly number[];
  supposed: Supposed | undefined;
  health: FrozenHealth | undefined;
}

/** Nothing waits for anything while a request is explained, but a plugin from outside may. */
const RUN_LIMIT_MS = 5_000;

/** A plugin does not come to an end. Who asked is told which. */
export class ExplainHangs extends Error {
  override readonly name = 'ExplainHangs';
}

/**
 * Says what would become of a request, by running it: through the same chains, compiled by the same code from the same files, with
 * stand-ins for what leaves the process. The settings are compiled anew, when first asked: the snapshot that serves
 * knows nothing of it. Opens no socket.
 */
export class Explainer {
  readonly #setup: ExplainerSetup;
  readonly #inFlight = new InFlight();
  readonly #runs = new WeakMap<Exchange, ExplainedRun>();
  #compiled: Promise<Compiled> | undefined;
  #busy: Promise<unknown> = Promise.resolve();

  constructor(setup: ExplainerSetup) {
    this.#setup = setup;
  }

  /** Rejects with SettingsRefused and ExplainHangs. Requests that are served meanwhile have their turn. */
  explain(question: ExplainQuestion): Promise<Explanation> {
    return this.#inTurn(async () => {
      const seen = await this.#observe(question);
      await inSlices(findOrigins(seen), this.#setup.clock);
      return describeRun(seen);
    });
  }

  /** What was seen, as the objects of the request path themselves. */
  observe(question: ExplainQuestion): Promise<Observation> {
    return this.#inTurn(() => this.#observe(question));
  }

  /** One at a time: they share plugins in which requests meet. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#busy.then(work);
    this.#busy = done.catch(() => {});
    return done;
  }

  /** Lets go of what plugins have opened. */
  async close(): Promise<void> {
    await this.#busy;
    const compiled = await this.#compiled?.catch(() => undefined);
    await compiled?.snapshot.close();
  }

  async #observe(question: ExplainQuestion): Promise<Observation> {
    const { clock: real } = this.#setup;
    const moment = question.at ?? { now: real.now(), wall: real.wall() };
    const compiled = await (this.#compiled ??= this.#compile(moment.wall));
    const { clock, asking, loaded, settings, snapshot, listed } = compiled;
    clock.stand(moment);
    asking.draws = question.draws ?? [];
    asking.health = question.health;
    const supposed = (asking.supposed = suppose(question, { settings, snapshot }));
    const ctx = inboundContext(supposed ? withKey(question, supposed.key, snapshot) : question);
    const { operation, params, format, refusal } = routed(ctx);
    const exchange = new HttpExchange(ctx.req, {
      operation,
      clientFormat: format,
      params,
      snapshot,
      clock,
      id: question.id,
    });
    const run = new ExplainedRun(exchange, question, (target) => this.#healthOf(asking, exchange, target));
    this.#runs.set(exchange, run);
    exchange.error = refusal;
    await this.#run(compiled, ctx, run);
    return {
      question,
      exchange,
      loaded,
      settings,
      server: snapshot.server,
      headerNames: snapshot.headerNames,
      supposedCaller: supposed?.how,
      steps: run.steps,
      listed,
      attempts: exchange.attempts.map((attempt) => run.seen(attempt)),
      notes: [
        ...fakedNames(loaded),
        ...expired(question, settings, clock.wall()),
        ...elsewhere(question, exchange),
        ...run.notes,
      ],
    };
  }

  /** Through the chains. Rejects with ExplainHangs alone. */
  async #run({ clock, snapshot }: Compiled, ctx: Koa.Context, { exchange, steps }: ExplainedRun): Promise<void> {
    this.#inFlight.enter({ exchange, res: ctx.res, refused: false, settle() {} });
    clock.freeze();
    const hangs = Promise.withResolvers<never>();
    // Not `withinTime`: a gateway that stops does not stay for who asks something.
    const giveUp = this.#setup.clock.after(RUN_LIMIT_MS, () => hangs.reject(this.#abandon(snapshot, steps)));
    try {
      await Promise.race([snapshot.entry(Object.assign(ctx, { exchange, attempt: undefined })), hangs.promise]);
      if (!exchange.reply) answerByStatus(ctx.response);
      if (!exchange.reply) throw noReply(exchange);
    } catch (thrown) {
      if (thrown instanceof ExplainHangs) throw thrown;
      exchange.error = toGatewayError(thrown);
    } finally {
      giveUp();
      clock.thaw();
      this.#inFlight.leave(exchange);
    }
  }

  /** What hangs may go on at any moment, and must not meet another question: the next one has chains of its own. */
  #abandon(snapshot: Snapshot, steps: readonly PluginStep[]): ExplainHangs {
    this.#compiled = undefined;
    void snapshot.close().catch(() => {});
    const hangs = steps.findLast(({ running }) => running)?.place.instance ?? 'nobody knows which';
    return new ExplainHangs(`The plugin "${hangs}" did not end within ${RUN_LIMIT_MS / 1000} s.`);
  }

  async #compile(wall: number): Promise<Compiled> {
    const { configs, env, files, log, clock: real } = this.#setup;
    const clock = new FrozenClock(real);
    clock.stand({ now: real.now(), wall });
    const asking: Asking = { draws: [], supposed: undefined, health: undefined };
    const loaded = await loadSettings(configs, {
      env,
      files,
      now: wall,
      fakeMissing: this.#setup.fakeMissing ?? false,
    });
    const { settings } = loaded;
    if (!settings || !loaded.ok) throw new SettingsRefused(loaded.diagnostics);
    const registry =
      this.#setup.registry ??
      (await loadPluginModules(new PluginRegistry(builtinPlugins), loaded, { folder: configs, clock: real }));
    const listed: ListedPlugin[] = [];
    const snapshot = await compileSnapshot(loaded, {
      clock,
      env,
      log,
      random: () => draw(asking),
      upstream: NO_UPSTREAM,
      tokens: new NoTokens(clock),
      replies: this.#setup.replies ?? new ReplyStores({ clock: real }),
      health: new HealthStore({ clock }),
      inFlight: this.#inFlight,
      tokenFetched() {},
      recorder: NO_RECORDER,
      labels: new ModelLabels(),
      registry,
      pluginFault: ignorePluginFaults,
      watch: {
        instantiate: watchPlugins(
          (exchange) => this.#runOf(exchange),
          (place) => void listed.push(place),
        ),
        grant: fakeMissing({
          clock,
          server: compileServerSettings(settings.server),
          runOf: (exchange) => this.#runOf(exchange),
          supposedCaller: (key) => (asking.supposed?.key === key ? asking.supposed.caller : undefined),
          health: this.#healthIn(asking),
        }),
      },
    });
    if (!snapshot) throw new SettingsRefused(loaded.diagnostics);
    return { clock, asking, loaded, settings, snapshot, listed };
  }

  #runOf(exchange: Exchange): ExplainedRun {
    return this.#runs.get(exchange)!;
  }

  #healthOf(asking: Asking, exchange: Exchange, target: Target): HealthThen {
    const { config } = exchange;
    return (config && this.#healthIn(asking)(config, target, exchange)) ?? WELL;
  }

  #healthIn(asking: Asking): ReadHealth {
    return (config, target, exchange) => {
      if (asking.health) return asking.health.get(target.path);
      return this.#setup.health?.peek(config, target, exchange);
    };
  }
}

function draw(asking: Asking): number {
  const [next = 0, ...others] = asking.draws;
  if (others.length > 0) asking.draws = others;
  return next;
}

/** Nobody has said where the request comes from. */
const elsewhere = ({ remoteAddress }: ExplainQuestion, { error, request }: Exchange): readonly string[] =>
  error?.code === 'network_not_allowed' && remoteAddress === undefined
    ? [`explained as if it came from ${request.remoteAddress}; a key that is named is explained from anywhere`]
    : [];

/** One line, however many there are. */
const fakedNames = ({ fakedNames: names }: LoadResult): readonly string[] =>
  names.length === 0 ? [] : [`not set here, so stood in for: ${names.join(', ')}`];
