import { ModelLabels } from '../../core/catalog/model-labels.ts';
import { systemClock } from '../../core/kernel/system-clock.ts';
import type { Clock, ReplyEnd } from '../../plugin/index.ts';
import type { Exchange, KeyRing, Sender } from '../../core/kernel/index.ts';
import { createDataServer } from '../../core/http/listener/data-server.ts';
import { NO_UPSTREAM, supposingKeys, NO_TOKENS } from '../../core/dry-run/fakes.ts';
import { createDrySender } from '../../core/dry-run/calls.ts';
import { InFlight, type Arrival } from '../../core/http/gateway/admission/in-flight.ts';
import { compileWith, createProcessState } from '../../core/process/process-state.ts';
import type { ProcessParts } from '../../core/process/process-part.ts';
import { LiveSnapshot } from '../../core/compose/live-snapshot.ts';
import { createRequestPath } from '../../core/http/gateway/request-path.ts';
import type { Snapshot } from '../../core/compose/snapshot.ts';
import { TimeLimitPassed, withinTime } from '../../core/compose/time-limit.ts';
import { version } from '../../core/kernel/version.ts';
import type { Watch } from '../../core/compose/chain-builder.ts';
import { memoryFiles } from '../../core/settings/source/files.ts';
import type { LoadResult } from '../../core/settings/read/load.ts';
import { RecordedFiles } from '../../core/settings/source/recorded-files.ts';
import { metadataLabels } from '../../core/settings/compile/metadata-labels.ts';
import { compileServerSettings, type ServerSettings } from '../../core/settings/compile/server-settings.ts';
import { gatedSender } from '../../core/send/send.ts';
import { createLogger } from '../../core/record/log/logger.ts';
import { EndedRequests } from '../../core/record/ended-requests.ts';
import { createMetrics, type Metrics } from '../../core/record/metrics/registry.ts';
import { createUpstream } from '../../core/upstream/index.ts';
import { type Upstream } from '../../core/upstream/types.ts';
import type { Calls } from './calls.ts';
import type { CaseTime } from './case-time.ts';
import { createScriptedUpstream, lookUpAnything } from './scripted-upstream.ts';
import type { Server } from 'node:http';

/** Limit for starting the plugins of the settings, in real time, because they do not use the test clock yet. */
const START_LIMIT_MS = 10_000;

interface CaseGatewaySetup {
  readonly loaded: LoadResult;
  readonly configs: string;
  readonly env: Readonly<Record<string, string>>;
  readonly time: CaseTime;
  readonly calls: () => Calls;
  readonly draw: () => number;
  readonly newId: () => string | undefined;
  /** Consulted before the key ring of the settings. */
  readonly keys: KeyRing;
  /** Called when an external plugin that is not pure is created. */
  readonly onForeignPlugin: () => void;
}

interface Served {
  readonly exchange: Exchange;
  end: ReplyEnd | undefined;
  endedAt: number;
}

/** A complete gateway that does not listen. */
export interface CaseGateway {
  readonly server: Server;
  readonly snapshot: Snapshot;
  readonly metrics: Metrics;
  readonly served: readonly Served[];
  close(): Promise<void>;
}

/** Turns pause in real time. A config test runs one request at a time and needs no turns. */
const DRY = { turns: undefined, tokens: NO_TOKENS, dry: true };

/** Starts a gateway for a case. Undefined: the settings have errors, which are in their diagnostics. */
export async function startCaseGateway(setup: CaseGatewaySetup): Promise<CaseGateway | undefined> {
  const { loaded, configs, env, time, calls } = setup;
  const { clock } = time;
  if (!loaded.settings) return undefined;
  const settings = compileServerSettings(loaded.settings.server);
  const upstream = createUpstream({ clock, lookup: lookUpAnything, wire: createScriptedUpstream(calls, time) });
  const ended = new EndedRequests(clock);
  const metrics = createMetrics({ clock, build: version(), process: false, flush: ended.flush });
  const log = createLogger({ level: 'silent', clock, destination: NOWHERE });
  const random = (plugin: string): number => (plugin === DRAWS ? setup.draw() : 0);
  // Media exist at every address; no credentials are fetched.
  const outwards: Upstream = { ...upstream, exchange: NO_UPSTREAM.exchange, download: NO_UPSTREAM.download };
  const parts: ProcessParts = {
    configs,
    env,
    clock,
    log,
    accessLines: NOWHERE,
    random,
    metrics,
    ended,
    models: new ModelLabels(),
    upstream: outwards,
    otel: undefined,
    role: 'alone',
    settings: loaded.settings,
    store: undefined,
    shared: undefined,
    stored: undefined,
  };
  const served: Served[] = [];
  const inFlight = new WatchedInFlight(served, clock);
  inFlight.apply(settings.limits);
  const processState = createProcessState(parts);
  processState.callers.apply(metadataLabels(loaded.settings.server, loaded.settings.keys));
  const watch = watchOf(setup, { upstream, settings, inFlight });
  const addOns = processState.parts.map((part) => part.isolated?.() ?? part);
  const shared = { ...processState.shared, ...DRY, parts: addOns, inFlight, watch };
  const snapshot = await started(compileWith({ ...processState, shared }, loaded, configs, NOTHING_READ), time);
  if (!snapshot) return undefined;
  await withinTime(snapshot.open(needsOpening), START_LIMIT_MS, systemClock);
  const live = new LiveSnapshot(snapshot, () => {});
  const { newId } = setup;
  const path = createRequestPath({ live, inFlight, clock, log, newId, pluginFault: shared.pluginFault });
  const { server } = createDataServer(path, settings, {
    clock,
    inFlight,
    current: () => settings,
  });
  return {
    server,
    snapshot,
    metrics,
    served,
    async close() {
      await Promise.all([live.close(), upstream.close()]);
    },
  };
}

/** Awaits the compilation. Advancing the test clock lets a plugin that never starts report its own limit. */
export async function started<T>(compiling: Promise<T>, { clock }: CaseTime, real: Clock = systemClock): Promise<T> {
  try {
    return await withinTime(compiling, START_LIMIT_MS, real);
  } catch (error) {
    if (error instanceof TimeLimitPassed) await clock.advance(START_LIMIT_MS);
    return withinTime(compiling, START_LIMIT_MS, real);
  }
}

const NOWHERE = { write() {} };

/** Files of the explainer, which no case uses: a reply only has the id under which it could be explained. */
const NOTHING_READ = new RecordedFiles(memoryFiles({}));

/** A build may lack it. */
const SIMULATOR: string = 'simulator';

/** `draws` of a case are for this plugin only: a retry that draws its waiting time takes none of them. */
const DRAWS = 'route';

/** Opens only entries that find their credentials by opening, with fake tokens; the simulator would listen. */
const needsOpening: Parameters<Snapshot['open']>[0] = ({ provider, tokenKey }) =>
  provider !== SIMULATOR && tokenKey === undefined;

interface Inside {
  readonly upstream: Upstream;
  readonly settings: ServerSettings;
  readonly inFlight: InFlight;
}

/** Grants the real capabilities, except that a case may name its caller and that every call is noted before it is made. */
const watchOf = (setup: CaseGatewaySetup, inside: Inside): Watch => ({
  instantiate({ builtin, plugin }, create) {
    // A pure plugin does no work outside the test's memory.
    if (!builtin && !plugin.pure) setup.onForeignPlugin();
    return create();
  },
  grant: (granted) => {
    const noting = granted.send && notingSender(setup, inside);
    const send = noting && granted.gates ? gatedSender(noting, granted.gates) : noting;
    return {
      ...granted,
      ...(granted.keys && { keys: supposingKeys(granted.keys, (...key) => setup.keys.find(...key)) }),
      ...(send && { send }),
      ...(send && granted.semantic && { semantic: granted.semantic.through(send) }),
    };
  },
});

function notingSender({ calls, time }: CaseGatewaySetup, { upstream, settings, inFlight }: Inside): Sender {
  const hold = inFlight.hold.bind(inFlight);
  return createDrySender({ clock: time.clock, limits: settings.limits, hold }, async (call, exchange, timings) => {
    const leave = calls().place(exchange, call);
    try {
      return await upstream.send(call.request, timings);
    } finally {
      leave();
    }
  });
}

/** Records the exchanges, which are not accessible otherwise. */
class WatchedInFlight extends InFlight {
  readonly #served: Served[];
  readonly #clock: CaseTime['clock'];

  constructor(served: Served[], clock: CaseTime['clock']) {
    super();
    this.#served = served;
    this.#clock = clock;
  }

  override enter(arrival: Arrival): ReturnType<InFlight['enter']> {
    const served: Served = { exchange: arrival.exchange, end: undefined, endedAt: 0 };
    this.#served.push(served);
    arrival.exchange.onEnd((end) => {
      served.end = end;
      served.endedAt = this.#clock.now();
    });
    return super.enter(arrival);
  }
}
