import type { Logger } from 'pino';
import { builtinPlugins } from '../../../plugins/index.ts';
import { ModelLabels } from '../../catalog/model-labels.ts';
import { PluginRegistry } from '../../chain/registry.ts';
import type { Explanation } from '../../explain/explanation.ts';
import { toGatewayError, type Clock, type Exchange, type GatewayConfig, type Target } from '../../plugin/index.ts';
import type { SettingsFiles } from '../../settings/files.ts';
import { loadSettings, type LoadResult, type Settings } from '../../settings/load.ts';
import type { Environment } from '../../settings/resolve-references.ts';
import { compileServerSettings } from '../../settings/server-settings.ts';
import { HealthStore } from '../../state/target-health.ts';
import { ReplyStores } from '../cached-replies.ts';
import { HttpExchange } from '../exchange.ts';
import { InFlight } from '../in-flight.ts';
import { answerByStatus } from '../koa-reply.ts';
import { loadPluginModules } from '../plugin-modules.ts';
import { compileSnapshot, type Snapshot } from '../snapshot.ts';
import type { ListedPlugin } from '../workshop.ts';
import { ExplainedRun } from './explained-run.ts';
import { FrozenClock } from './frozen-clock.ts';
import { WELL, type FrozenHealth, type HealthThen } from './frozen-health.ts';
import { inboundContext, routed } from './inbound.ts';
import type { Observation } from './observation.ts';
import type { Question } from './question.ts';
import { NO_RECORDER, NO_UPSTREAM, NoTokens, standIns } from './stand-ins.ts';
import { expired, suppose, withKey, type Supposed } from './supposed-caller.ts';
import { tellExplanation } from './tell/index.ts';
import { watchPlugins } from './watch.ts';
import { SettingsRefused } from '../../settings/refused.ts';

export interface ExplainerSetup {
  /** Folder of the settings. */
  readonly configs: string;
  readonly env: Environment;
  /** The files as they were when the settings came into force, or as they are. */
  readonly files: SettingsFiles;
  readonly clock: Clock;
  readonly log: Logger;
  /** Secrets that this machine does not have are stood in for, and told in a note. Default: they are errors. */
  readonly standIns?: boolean;
  /** How the gateway's targets do. Default: all are well. */
  readonly health?: Pick<HealthStore, 'peek'>;
  /** The gateway's kept replies. Default: none. */
  readonly replies?: ReplyStores;
  /** The plugins that serve with these settings. Default: those of the modules as they are now. */
  readonly registry?: PluginRegistry;
}

/** Settings compiled to be asked, not to serve. */
interface Compiled {
  readonly loaded: LoadResult;
  readonly settings: Settings;
  readonly snapshot: Snapshot;
  readonly listed: readonly ListedPlugin[];
}

/**
 * Says what would become of a request, by running it: through the same chains, compiled by the same code from the same files, with
 * stand-ins for what leaves the process. The settings are compiled anew, when first asked: the snapshot that serves
 * knows nothing of it. Opens no socket.
 */
export class Explainer {
  readonly #setup: ExplainerSetup;
  readonly #clock: FrozenClock;
  readonly #inFlight = new InFlight();
  readonly #runs = new WeakMap<Exchange, ExplainedRun>();
  #compiled: Promise<Compiled> | undefined;
  #busy: Promise<unknown> = Promise.resolve();
  // Of the question that is being answered: there is one at a time.
  #draws: readonly number[] = [];
  #supposed: Supposed | undefined;
  #health: FrozenHealth | undefined;

  constructor(setup: ExplainerSetup) {
    this.#setup = setup;
    this.#clock = new FrozenClock(setup.clock);
  }

  /** Rejects with SettingsRefused. */
  async explain(question: Question): Promise<Explanation> {
    return tellExplanation(await this.observe(question));
  }

  /** What was seen, as the objects of the request path themselves. One at a time: they share plugins in which requests meet. */
  observe(question: Question): Promise<Observation> {
    const observation = this.#busy.then(() => this.#observe(question));
    this.#busy = observation.catch(() => {});
    return observation;
  }

  /** Lets go of what plugins have opened. */
  async close(): Promise<void> {
    await this.#busy;
    const compiled = await this.#compiled?.catch(() => undefined);
    await compiled?.snapshot.close();
  }

  async #observe(question: Question): Promise<Observation> {
    const { clock } = this.#setup;
    this.#clock.stand(question.at ?? { now: clock.now(), wall: clock.wall() });
    const { loaded, settings, snapshot, listed } = await (this.#compiled ??= this.#compile());
    this.#draws = question.draws ?? [];
    this.#health = question.health;
    this.#supposed = suppose(question, { settings, snapshot });
    const ctx = inboundContext(this.#supposed ? withKey(question, this.#supposed.key, snapshot) : question);
    const { operation, params, format, refusal } = routed(ctx);
    const exchange = new HttpExchange(ctx.req, {
      operation,
      clientFormat: format,
      params,
      snapshot,
      clock: this.#clock,
      id: question.id,
    });
    const run = new ExplainedRun(exchange, question, (target) => this.#healthOf(exchange, target));
    this.#runs.set(exchange, run);
    this.#inFlight.enter({ exchange, res: ctx.res, refused: false, settle() {} });
    exchange.error = refusal;
    this.#clock.freeze();
    try {
      await snapshot.entry(Object.assign(ctx, { exchange, attempt: undefined }));
      if (!exchange.reply) answerByStatus(ctx.response);
    } catch (thrown) {
      exchange.error = toGatewayError(thrown);
    } finally {
      this.#clock.thaw();
      this.#inFlight.leave(exchange);
    }
    return {
      question,
      exchange,
      loaded,
      settings,
      server: snapshot.server,
      headerNames: snapshot.headerNames,
      supposedCaller: this.#supposed?.how,
      steps: run.steps,
      listed,
      attempts: exchange.attempts.map((attempt) => run.seen(attempt)),
      notes: [
        ...stoodIn(loaded),
        ...expired(question, settings, this.#clock.wall()),
        ...elsewhere(question, exchange),
        ...run.notes,
      ],
    };
  }

  async #compile(): Promise<Compiled> {
    const { configs, env, files, log, clock } = this.#setup;
    const loaded = await loadSettings(configs, {
      env,
      files,
      now: this.#clock.wall(),
      standIns: this.#setup.standIns ?? false,
    });
    const { settings } = loaded;
    if (!settings || !loaded.ok) throw new SettingsRefused(loaded.diagnostics);
    const registry =
      this.#setup.registry ??
      (await loadPluginModules(new PluginRegistry(builtinPlugins), loaded, { folder: configs, clock }));
    const listed: ListedPlugin[] = [];
    const snapshot = await compileSnapshot(loaded, {
      clock: this.#clock,
      env,
      log,
      random: () => this.#draw(),
      upstream: NO_UPSTREAM,
      tokens: new NoTokens(this.#clock),
      replies: this.#setup.replies ?? new ReplyStores({ clock }),
      health: new HealthStore({ clock: this.#clock }),
      inFlight: this.#inFlight,
      tokenFetched() {},
      recorder: NO_RECORDER,
      labels: new ModelLabels(),
      registry,
      selfTest: false,
      watch: {
        instantiate: watchPlugins(
          (exchange) => this.#runOf(exchange),
          (place) => void listed.push(place),
        ),
        grant: standIns({
          clock: this.#clock,
          server: compileServerSettings(settings.server),
          runOf: (exchange) => this.#runOf(exchange),
          supposedCaller: (key) => (this.#supposed?.key === key ? this.#supposed.caller : undefined),
          health: (config, target) => this.#read(config, target),
        }),
      },
    });
    if (!snapshot) throw new SettingsRefused(loaded.diagnostics);
    return { loaded, settings, snapshot, listed };
  }

  #runOf(exchange: Exchange): ExplainedRun {
    return this.#runs.get(exchange)!;
  }

  #draw(): number {
    const [next = 0, ...others] = this.#draws;
    if (others.length > 0) this.#draws = others;
    return next;
  }

  #healthOf({ config }: Exchange, target: Target): HealthThen {
    return (config && this.#read(config, target)) ?? WELL;
  }

  #read(config: GatewayConfig, target: Target): HealthThen | undefined {
    if (this.#health) return this.#health.get(target.path);
    return this.#setup.health?.peek(config, target);
  }
}

/** Nobody has said where the request comes from. */
const elsewhere = ({ remoteAddress }: Question, { error, request }: Exchange): readonly string[] =>
  error?.code === 'network_not_allowed' && remoteAddress === undefined
    ? [`explained as if it came from ${request.remoteAddress}; a key that is named is explained from anywhere`]
    : [];

/** One line, however many there are. */
const stoodIn = ({ stoodIn: names }: LoadResult): readonly string[] =>
  names.length === 0 ? [] : [`not set here, so stood in for: ${names.join(', ')}`];
