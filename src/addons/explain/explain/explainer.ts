import type Koa from 'koa';
import type { Logger } from 'pino';
import { builtinPlugins } from '../../../../plugins/index.ts';
import { ModelLabels } from '../../../core/catalog/model-labels.ts';
import { PluginRegistry } from '../../../core/http/chain/registry.ts';
import { noReply } from '../../../core/http/chain/instance.ts';
import type { Explanation } from '../explanation/explanation.ts';
import { toGatewayError, type Exchange, type Target } from '../../../core/kernel/index.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { SettingsFiles } from '../../../core/settings/source/files.ts';
import { loadSettings, type LoadResult, type Settings } from '../../../core/settings/read/load.ts';
import type { Environment } from '../../../core/settings/values/references.ts';
import { compileServerSettings } from '../../../core/settings/compile/server-settings.ts';
import { MemoryReplyStores } from '../../../core/memory/reply-cache.ts';
import { dryParts } from '../../../core/process/add-on-parts.ts';
import type { SnapshotSource } from '../../../core/compose/snapshot-part.ts';
import { MemoryHealthStore } from '../../../core/memory/target-health.ts';
import type { HealthStore, ReplyStores } from '../../../core/memory/ports.ts';
import { HttpExchange } from '../../../core/http/gateway/exchange.ts';
import { InFlight } from '../../../core/http/gateway/admission/in-flight.ts';
import { answerByStatus } from '../../../core/http/gateway/koa-reply.ts';
import { ignorePluginFaults } from '../../../core/http/gateway/plugin-faults.ts';
import { loadPluginModules } from '../../../core/compose/plugin-modules.ts';
import { compileSnapshot, type Snapshot } from '../../../core/compose/snapshot.ts';
import type { ListedPlugin } from '../../../core/compose/chain-builder.ts';
import { inboundContext, routed } from './inbound.ts';
import { type Observation, type PluginStep, ExplainedRun } from './observation.ts';
import { ExplainHangs } from './explain-hangs.ts';
import type { ExplainQuestion } from './question.ts';
import { NO_RECORDER, NO_UPSTREAM, NO_TOKENS } from '../../../core/dry-run/fakes.ts';
import { fakeMissing } from './fakes.ts';
import { dryRunOf } from '../../../core/dry-run/dry-run.ts';
import { describeRun } from './describe/index.ts';
import { replyHeaders, watchPlugins } from './watch.ts';
import { SettingsRefused } from '../../../core/settings/source/diagnostic.ts';
import { FrozenClock, WELL, type HealthThen, type ReadHealth } from './frozen.ts';
import { expired, suppose, withKey, type Supposed } from './supposed.ts';

export interface ExplainerSetup {
  readonly configs: string;
  readonly env: Environment;
  /** The settings files, as they were when the settings were loaded or as they are now. */
  readonly files: SettingsFiles;
  readonly clock: Clock;
  readonly log: Logger;
  /** Replaces secrets that are missing on this machine by fakes, with a note. Default: they are errors. */
  readonly fakeMissing?: boolean;
  /** Health of the gateway's targets. Default: all are healthy. */
  readonly health?: Pick<HealthStore, 'peek'>;
  /** The gateway's reply cache. Default: empty. */
  readonly replies?: ReplyStores;
  /** The add-ons of the process that serves. Default: none has kept anything. */
  readonly parts?: readonly SnapshotSource[];
  /** The plugins in use with these settings. Default: loaded from the modules now. */
  readonly registry?: PluginRegistry;
}

interface CompiledSettings {
  readonly clock: FrozenClock;
  readonly asking: QuestionState;
  readonly loaded: LoadResult;
  readonly settings: Settings;
  readonly snapshot: Snapshot;
  readonly listed: readonly ListedPlugin[];
}

/** State of the current question; there is one at a time. */
interface QuestionState {
  question: Pick<ExplainQuestion, 'health' | 'supposed' | 'found' | 'limited' | 'decide'>;
  draws: readonly number[];
  supposed: Supposed | undefined;
}

/** Limit of one dry run. Built-in plugins never wait in one, but an external plugin may. */
const RUN_LIMIT_MS = 5_000;

/**
 * Explains a request by a dry run: the same chains, compiled anew from the same files on the first question, with fakes
 * for everything that leaves the process. Opens no socket.
 */
export class Explainer {
  readonly #setup: ExplainerSetup;
  readonly #inFlight = new InFlight();
  readonly #runs = new WeakMap<Exchange, ExplainedRun>();
  #compiled: Promise<CompiledSettings> | undefined;
  #busy: Promise<unknown> = Promise.resolve();

  constructor(setup: ExplainerSetup) {
    this.#setup = setup;
  }

  /** Rejects with SettingsRefused and ExplainHangs. */
  explain(question: ExplainQuestion): Promise<Explanation> {
    return this.#inTurn(async () => {
      const seen = await this.#observe(question);
      // The request fails at each target, so that all are seen. Plugins set headers of a reply if there is one.
      const isSent = seen.attempts.some(({ supposed }) => supposed);
      return describeRun(seen, isSent ? await this.#observe(question, { answers: true }) : seen);
    });
  }

  /**
   * The observation itself, with the objects of the request path.
   * @param how `answers`: the first request that is sent, and whose failure is not known, gets an empty reply
   */
  readonly observe = (question: ExplainQuestion, how: { readonly answers?: boolean } = {}): Promise<Observation> =>
    this.#inTurn(() => this.#observe(question, how));
  readonly loaded = (): Promise<LoadResult> =>
    this.#inTurn(async () => (await (this.#compiled ??= this.#compile(this.#setup.clock.wall()))).loaded);

  /** Runs one question at a time, because they share plugin instances with state. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#busy.then(work);
    this.#busy = done.catch(() => {});
    return done;
  }

  async close(): Promise<void> {
    await this.#busy;
    const compiled = await this.#compiled?.catch(() => undefined);
    await compiled?.snapshot.close();
  }

  async #observe(question: ExplainQuestion, { answers = false } = {}): Promise<Observation> {
    const { clock: real } = this.#setup;
    const moment = question.at ?? { now: real.now(), wall: real.wall() };
    const compiled = await (this.#compiled ??= this.#compile(moment.wall));
    const { clock, asking, loaded, settings, snapshot, listed } = compiled;
    clock.stand(moment);
    asking.question = question;
    asking.draws = question.draws ?? [];
    const supposed = (asking.supposed = suppose(question, { settings, snapshot }));
    const { ctx, exchange } = arrived(supposed ? withKey(question, supposed.key, snapshot) : question, compiled);
    const run = new ExplainedRun(exchange, { ...question, answers }, (target) =>
      this.#healthOf(asking, exchange, target),
    );
    this.#runs.set(exchange, run);
    if (question.continues !== undefined)
      exchange.kept = { keeps: false, continues: question.continues, references: 0 };
    await this.#run(compiled, ctx, run);
    const status = exchange.error?.clientStatus ?? exchange.reply?.status ?? 0;
    const dryRun = dryRunOf({
      exchange,
      loaded,
      settings,
      calls: run.calls,
      end: { state: 'complete', status, bytes: 0, error: undefined },
      times: { endedAt: clock.now(), receivedAt: clock.wall() },
    });
    return {
      ...dryRun,
      question,
      server: snapshot.server,
      prices: snapshot.prices?.(),
      supposedCaller: supposed?.how,
      steps: run.steps,
      listed,
      attempts: dryRun.attempts.map((one) => ({ ...run.notesOf(one.attempt), ...one })),
      requestHeaders: run.requestHeaders,
      reply: {
        headers: replyHeaders({ exchange, attempt: undefined, response: ctx.response }),
        marks: run.replyHeaders,
      },
      notes: [
        ...fakedNames(loaded),
        ...expired(question, settings, clock.wall()),
        ...elsewhere(question, exchange),
        ...run.notes,
      ],
    };
  }

  /** Runs the chains. Rejects only with ExplainHangs. */
  async #run(
    { clock, snapshot }: CompiledSettings,
    ctx: Koa.Context,
    { exchange, steps }: ExplainedRun,
  ): Promise<void> {
    this.#inFlight.enter({ exchange, res: ctx.res, refused: false, settle() {} });
    clock.freeze();
    const hangs = Promise.withResolvers<never>();
    // Not `withinTime`, which would keep a stopping gateway alive for a question.
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

  /** A hanging plugin may continue and must not affect another question: the next one compiles new chains. */
  #abandon(snapshot: Snapshot, steps: readonly PluginStep[]): ExplainHangs {
    this.#compiled = undefined;
    void snapshot.close().catch(() => {});
    const hangs = steps.findLast(({ running }) => running)?.place.instance ?? 'unknown';
    return new ExplainHangs(`The plugin "${hangs}" did not end within ${RUN_LIMIT_MS / 1000} s.`);
  }

  async #compile(wall: number): Promise<CompiledSettings> {
    const { configs, env, files, log, clock: real } = this.#setup;
    const clock = new FrozenClock(real);
    clock.stand({ now: real.now(), wall });
    const asking: QuestionState = { question: {}, draws: [], supposed: undefined };
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
      dry: true,
      random: () => draw(asking),
      upstream: NO_UPSTREAM,
      tokens: NO_TOKENS,
      replies: this.#setup.replies ?? new MemoryReplyStores({ clock: real }),
      health: new MemoryHealthStore({ clock }),
      parts: this.#setup.parts ?? dryParts(clock),
      inFlight: this.#inFlight,
      tokenFetched() {},
      recorder: NO_RECORDER,
      labels: new ModelLabels(),
      registry,
      pluginFault: ignorePluginFaults,
      watch: {
        instantiate: watchPlugins(
          (exchange) => this.#runOf(exchange),
          (place) => {
            if (place.file === 'server.yaml') listed.push(place);
          },
        ),
        separate: true,
        grant: fakeMissing({
          clock,
          server: compileServerSettings(settings.server),
          runOf: (exchange) => this.#runOf(exchange),
          supposedCaller: (key) => (asking.supposed?.key === key ? asking.supposed.caller : undefined),
          health: this.#healthIn(asking),
          found: () => asking.question.found,
          limited: () => asking.question.limited,
          decide: () => asking.question.decide,
          knowsResponses: this.#setup.parts !== undefined,
        }),
      },
    });
    if (!snapshot) throw new SettingsRefused(loaded.diagnostics);
    return { clock, asking, loaded, settings, snapshot, listed };
  }

  readonly #runOf = (exchange: Exchange): ExplainedRun => this.#runs.get(exchange)!;

  #healthOf(asking: QuestionState, exchange: Exchange, target: Target): HealthThen {
    const { config } = exchange;
    return (config && this.#healthIn(asking)(config, target, exchange)) ?? WELL;
  }

  readonly #healthIn =
    (asking: QuestionState): ReadHealth =>
    (config, target, exchange) => {
      const supposed = asking.question.supposed?.get(target.path);
      if (supposed) return supposed;
      if (asking.question.health) return asking.question.health.get(target.path);
      return this.#setup.health?.peek(config, target, exchange);
    };
}

function arrived(question: ExplainQuestion, { snapshot, clock }: CompiledSettings) {
  const ctx = inboundContext(question);
  const { operation, params, format, refusal } = routed(ctx);
  const { id } = question;
  const exchange = new HttpExchange(ctx.req, { operation, clientFormat: format, params, snapshot, clock, id });
  exchange.error = refusal;
  return { ctx, exchange };
}

function draw(asking: QuestionState): number {
  const [next = 0, ...others] = asking.draws;
  if (others.length > 0) asking.draws = others;
  return next;
}

/** A note when the question has no client address. */
const elsewhere = ({ remoteAddress }: ExplainQuestion, { error, request }: Exchange): readonly string[] =>
  error?.code === 'network_not_allowed' && remoteAddress === undefined
    ? [`explained as a request from ${request.remoteAddress}; the network of a key given by id is not checked`]
    : [];

const fakedNames = ({ fakedNames: names }: LoadResult): readonly string[] =>
  names.length === 0 ? [] : [`replaced by fakes because not set here: ${names.join(', ')}`];
